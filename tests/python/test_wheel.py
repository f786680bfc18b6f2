"""What a wheel needs of the compiled module and of the project; tools/check_wheel.py builds one."""

import importlib.machinery
import re
import shutil
import subprocess
import tomllib
import zlib
from pathlib import Path

import pytest

import lanewise as lw
from lanewise import _core

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MODULE = Path(_core.__file__)
# What every Linux has, by the rules for wheels.
SYSTEM = {"libc.so.6", "libm.so.6", "libz.so.1", "libstdc++.so.6", "libgcc_s.so.1"}


@pytest.fixture
def readelf():
    if shutil.which("readelf") is None:
        pytest.skip("readelf is not installed")

    def read(*options: str) -> str:
        words = ["readelf", "--wide", *options, str(MODULE)]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    return read


def test_the_version_is_written_once():
    rule = PROJECT["tool"]["scikit-build"]["metadata"]["version"]
    found = re.findall(rule["regex"], (ROOT / rule["input"]).read_text())
    assert found == [lw.__version__]
    assert "version" in PROJECT["project"]["dynamic"]
    assert lw.__version__ not in (ROOT / "pyproject.toml").read_text()


def test_the_module_shows_nothing_but_its_start(readelf):
    symbols = readelf("--dyn-syms").splitlines()
    shown = [line.split()[-1] for line in symbols if re.search(r"GLOBAL|WEAK|UNIQUE", line)]
    defined = [
        line.split()[-1]
        for line in symbols
        if re.search(r"(GLOBAL|WEAK|UNIQUE)", line) and "UND" not in line
    ]
    assert defined == ["PyInit__core"]
    assert any("Py" in name for name in shown)  # those of Python are taken from outside


def test_the_module_needs_only_libraries_that_every_linux_has(readelf):
    needed = set(re.findall(r"NEEDED.*\[(.+)\]", readelf("--dynamic")))
    assert {name for name in needed if not name.startswith("ld-linux")} <= SYSTEM
    assert "TEXTREL" not in readelf("--dynamic")


def test_the_module_is_stripped_and_fits_a_wheel(readelf):
    assert ".debug_info" not in readelf("--sections")
    assert ".symtab" not in readelf("--sections")
    assert len(zlib.compress(MODULE.read_bytes(), 6)) < 20_000_000


def test_the_module_has_the_name_of_this_python():
    assert MODULE.name == f"_core{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    assert (MODULE.parent / "py.typed").exists()
    assert (MODULE.parent / "_core.pyi").exists()


def test_the_command_is_the_one_that_is_tested():
    assert PROJECT["project"]["scripts"] == {"lanewise": "lanewise.cli:main"}
