"""Build a wheel from a clean clone, and check it.

What is committed is cloned, built with pip, installed into an environment of its own and used
there; the wheel is left in dist/. With a wheel as argument only that is checked.
"""

import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_BYTES = 20_000_000
NEEDED = ("__init__.py", "_core.pyi", "py.typed", "cli/__init__.py", "dask.py")


def run(*words: object) -> str:
    """Run a command, which must end well, and return what it prints."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"check_wheel: {' '.join(map(str, words))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def build(directory: Path) -> Path:
    """Build a wheel of what is committed."""
    source = directory / "source"
    run("git", "clone", "--quiet", ROOT, source)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", directory, source)
    (built,) = directory.glob("*.whl")
    (ROOT / "dist").mkdir(exist_ok=True)
    return Path(shutil.copy(built, ROOT / "dist"))


def check_contents(wheel: Path) -> None:
    """Check that all is in it, once, and that it is small."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    missing = [name for name in NEEDED if f"lanewise/{name}" not in names]
    modules = [name for name in names if name.endswith(".so")]
    strangers = [name for name in names if not name.startswith(("lanewise/", "lanewise-"))]
    size = wheel.stat().st_size
    if missing or strangers or len(modules) != 1 or size > MOST_BYTES:
        sys.exit(
            f"check_wheel: {wheel.name} is not as it should be; got {size} bytes, modules "
            f"{modules}, without {missing}, with {strangers}, expected at most {MOST_BYTES} bytes, "
            "one module, and nothing but the package."
        )
    print(f"{wheel.name}: {len(names)} files, {size / 1e6:.1f} MB")


def check_installed(wheel: Path, directory: Path) -> None:
    """Install it into a new environment, and use it there."""
    venv.create(directory / "user", with_pip=True)
    commands = directory / "user" / "bin"
    run(commands / "pip", "install", "--quiet", wheel, "auditwheel")
    print(run(commands / "lanewise", "doctor"), end="")
    policy = run(commands / "auditwheel", "show", wheel)
    if "manylinux" not in policy:
        sys.exit(f"check_wheel: it needs libraries that others may not have:\n{policy}")
    print(next(part for part in policy.split('"') if "manylinux" in part))


def main() -> None:
    """Build and check."""
    with tempfile.TemporaryDirectory(prefix="lanewise-wheel-") as name:
        directory = Path(name)
        wheel = Path(sys.argv[1]) if len(sys.argv) > 1 else build(directory)
        check_contents(wheel)
        check_installed(wheel, directory)


if __name__ == "__main__":
    main()
