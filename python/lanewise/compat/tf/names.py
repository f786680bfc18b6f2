"""The names of TensorFlow that there are, and what is said of those that there are not.

Each file of this folder lists its own in ``NAMES``, by the path that users write without ``tf.``:
``{"math.sin": sin, "sin": sin}``. ``__init__.py`` makes modules of them.
"""

import difflib
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any


class UnsupportedError(NotImplementedError, AttributeError):
    """A name of TensorFlow that is not supported."""


def listed(space: str, functions: Iterable[Any], top: bool = True) -> dict[str, Any]:
    """Return the names of functions, by their own name in a module and, with `top`, in ``tf``."""
    found: dict[str, Any] = {}
    for function in functions:
        if space:
            found[f"{space}.{function.__name__}"] = function
        if top:
            found[function.__name__] = function
    return found


def unsupported(path: str, known: Iterable[str]) -> UnsupportedError:
    """Return the error for a name that is not there: it names the nearest that is."""
    last = path.rpartition(".")[2]
    near = difflib.get_close_matches(path, list(known), 1, 0.6) or [
        one for one in known if one.rpartition(".")[2] == last
    ]
    near = near or difflib.get_close_matches(last, [one.rpartition(".")[2] for one in known], 1, 0)
    return UnsupportedError(
        f"tf.{path}: not supported by lanewise.compat.tf; got a name outside of what is listed in "
        f"docs/reference/tensorflow.md, expected one of these. The nearest is tf.{near[0]}."
    )


class Space(types.ModuleType):
    """A module of TensorFlow's: ``tf.math``."""

    def __init__(self, path: str, known: Mapping[str, Any], top: Mapping[str, Any]) -> None:
        super().__init__(f"tf.{path}", f"What there is of tf.{path}.")
        self._path = path
        self._known = known
        self._top = top

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self._path}.{name}"
        compat, _, rest = path.partition(".")
        below = rest.partition(".")[2]
        if compat == "compat" and below:  # tf.compat.v1 has all of tf
            found: Any = self._top
            for part in below.split("."):
                found = found.get(part) if isinstance(found, Mapping) else vars(found).get(part)
                if found is None:
                    break
            else:
                return found
        raise unsupported(path, self._known)

    def __dir__(self) -> list[str]:
        return [name for name in vars(self) if not name.startswith("_")]


def spaces(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``tf`` has: names, and modules of names."""
    top: dict[str, Any] = {}
    modules: dict[str, Space] = {}

    def module(path: str) -> Space:
        if path not in modules:
            modules[path] = Space(path, known, top)
            put(path, modules[path])
        return modules[path]

    def put(path: str, value: Any) -> None:
        space, _, name = path.rpartition(".")
        if space:
            setattr(module(space), name, value)
        else:
            top[name] = value

    for path, value in known.items():
        put(path, value)
    module("compat.v2")
    return top


def register(package: str, top: Mapping[str, Any]) -> None:
    """Let ``import tensorflow.compat.v1 as tf`` be written with another package."""
    compat = top["compat"]
    sys.modules[f"{package}.compat"] = compat
    for name in ("v1", "v2"):
        sys.modules[f"{package}.compat.{name}"] = getattr(compat, name)


def fallback(known: Mapping[str, Any]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of ``tf`` itself."""

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise unsupported(name, known)

    return find
