"""Build the outside project in one of three ways and run it.

install       with an install tree of the build directory, found by find_package
configure     with the sources by add_subdirectory, configured only: that takes seconds
subdirectory  the same, built: compiles all of lanewise again, which takes minutes
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    parser = argparse.ArgumentParser(epilog="Other arguments are given to CMake.")
    parser.add_argument("way", choices=["install", "configure", "subdirectory"])
    parser.add_argument("--build", type=Path, required=True, help="of lanewise")
    options, definitions = parser.parse_known_args()
    work = options.build / "outside" / options.way
    shutil.rmtree(work, ignore_errors=True)
    # Debug compiles faster.
    configure = ["cmake", "-G", "Ninja", "-S", HERE, "-B", work, "-DCMAKE_BUILD_TYPE=Debug"]
    if options.way == "install":
        run("cmake", "--install", options.build, "--prefix", work / "prefix")
        configure.append(f"-DCMAKE_PREFIX_PATH={work / 'prefix'}")
    else:
        configure.append(f"-DLANEWISE_SOURCE={HERE.parent.parent}")
    run(*configure, *definitions)
    if options.way == "configure":
        return
    run("cmake", "--build", work, "--target", "outside")
    run(sys.executable, HERE.parent / "check_output.py", work / "outside", HERE / "expected.txt")


def run(*command: str | Path) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
