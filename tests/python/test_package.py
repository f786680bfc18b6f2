"""The package as a whole: documentation, stub, version."""

import ast
import doctest
import importlib
import pkgutil
from importlib import metadata
from pathlib import Path

import pytest

import lanewise as lw
from lanewise import _core

PACKAGE = Path(lw.__file__).parent
MODULES = [
    f"lanewise.{module.name}"
    for module in pkgutil.iter_modules([str(PACKAGE)])
    if module.name not in ("_core", "__main__")
]


@pytest.mark.parametrize("name", ["lanewise", *MODULES])
def test_examples_in_the_documentation_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_page_on_calls_is_true():
    page = Path(__file__).parents[2] / "docs" / "calling.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert (result.failed, result.attempted > 15) == (0, True)


def test_every_public_name_is_documented_with_an_example():
    exempt = {"__version__", "CacheInfo", "Vectorized", "where"} | {
        name for name in lw.__all__ if isinstance(getattr(lw, name), type)
    }
    without = [name for name in lw.__all__ if ">>>" not in (getattr(lw, name).__doc__ or "")]
    assert [name for name in without if name not in exempt] == []


def names(members) -> set[str]:
    return {name for name in members if not name.startswith("_")}


def test_the_stub_has_the_names_of_the_compiled_module():
    stub = ast.parse((PACKAGE / "_core.pyi").read_text())
    written = {
        node.name: node for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))
    }
    assert set(written) == names(vars(_core))
    for name, node in written.items():
        if isinstance(node, ast.ClassDef):
            members = set()
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    members.add(member.name)
                elif isinstance(member, ast.AnnAssign):
                    members.add(member.target.id)
                elif isinstance(member, ast.Assign):
                    members.add(member.targets[0].id)
            assert names(members) == names(vars(getattr(_core, name))), name


def test_the_version_is_that_of_the_build():
    assert lw.__version__.count(".") == 2
    try:
        assert metadata.version("lanewise") == lw.__version__
    except metadata.PackageNotFoundError:
        pytest.skip("not installed")
