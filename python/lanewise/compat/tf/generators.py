"""``tf.random.Generator``: draws that depend on a seed and on how many came before."""

import secrets
from typing import Any

import numpy as np

from ...recorder import current
from . import graph, stateless
from . import random as draws
from .dtypes import as_dtype
from .names import listed
from .seeds import mixed, next_seed
from .tensor import Tensor, has_graph


class Generator:
    """Draws that depend on a seed and on how many came before.

    Inside of a function that is being recorded each element draws its own numbers.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> draws = tf.random.Generator.from_seed(1)
    >>> first = draws.normal([2])
    >>> draws.reset_from_seed(1)
    >>> bool(tf.reduce_all(first == draws.normal([2])))
    True
    """

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        self._key = mixed("state", str(state)) if copy_from is None else copy_from._key
        self._count = 0 if copy_from is None else copy_from._count

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> "Generator":
        """Return one that begins with a seed."""
        made = cls()
        made.reset_from_seed(seed)
        return made

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> "Generator":
        """Return one that begins anywhere."""
        return cls.from_seed(secrets.randbits(64))

    @classmethod
    def from_state(cls, state: Any, alg: Any = None) -> "Generator":
        """Return one that goes on where another was."""
        made = cls()
        made.reset(state)
        return made

    def reset_from_seed(self, seed: Any) -> None:
        """Begin anew with a seed."""
        self._key, self._count = mixed("generator", int(seed)), 0

    def reset(self, state: Any) -> None:
        """Go on from a state."""
        words = np.asarray(state).astype(np.uint64).tolist()
        self._count, self._key = words[0], words[-1]

    @property
    def state(self) -> Tensor:
        """Where it is: how many calls there were, and its key."""
        return Tensor(np.array([self._count, 0, self._key], np.uint64).astype(np.int64))

    @property
    def key(self) -> Tensor:
        """What its draws come from."""
        return Tensor(np.uint64(self._key))

    def skip(self, delta: Any) -> None:
        """Leave so many calls out."""
        self._count += int(delta)

    def split(self, count: int = 1) -> "list[Generator]":
        """Return so many others that come from this one."""
        return [Generator.from_seed(mixed(*self._next())) for _ in range(int(count))]

    def make_seeds(self, count: int = 1) -> Any:
        """Return seeds for stateless draws, each a column."""
        seeds = [np.asarray(self._next()) for _ in range(int(count))]
        return Tensor(np.stack(seeds, 1).astype(np.int64))

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = "float32",
        name: Any = None,
    ) -> Any:
        """Return normal numbers."""
        return self._draw("normal", shape, mean, stddev, dtype)

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = "float32",
        name: Any = None,
    ) -> Any:
        """Return normal numbers within two deviations."""
        return self._draw("truncated_normal", shape, mean, stddev, dtype)

    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = "float32",
        name: Any = None,
    ) -> Any:
        """Return numbers from one to below another, each as likely."""
        return self._draw("uniform", shape, minval, maxval, dtype)

    def uniform_full_int(self, shape: Any, dtype: Any = "uint64", name: Any = None) -> Any:
        """Return integers of all that a type has, each as likely."""
        return self._draw("uniform", shape, None, None, dtype)

    def _next(self) -> tuple[int, int]:
        """Return the seed of the next call."""
        bits = mixed(self._key, self._count)
        self._count += 1
        return bits & 0x7FFFFFFF, (bits >> 31) & 0x7FFFFFFF

    def _draw(self, name: str, shape: Any, first: Any, second: Any, dtype: Any) -> Any:
        if current() is not None:
            return getattr(draws, name)(shape, first, second, dtype, self._key)
        if graph.building() is not None or has_graph((shape, first, second)):
            return graph.record(_drawn, (self, name, shape, first, second, as_dtype(dtype)), {})
        return _drawn(self, name, shape, first, second, dtype)


def _drawn(self: Generator, name: str, shape: Any, first: Any, second: Any, dtype: Any) -> Any:
    return getattr(stateless, f"stateless_{name}")(shape, self._next(), first, second, dtype)


_global: list[Generator] = []


def get_global_generator() -> Generator:
    """Return the one that is there for everybody."""
    if not _global:
        _global.append(Generator.from_seed(next_seed()))
    return _global[0]


def set_global_generator(generator: Generator) -> None:
    """Let another one be there for everybody."""
    _global[:] = [generator]


NAMES = {
    **listed("random", [Generator, get_global_generator, set_global_generator], False),
    "random.experimental.Generator": Generator,
}
