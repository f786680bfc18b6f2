"""The seeds of random draws: which one is next, and ``tf.random.set_seed``.

A draw depends on the seed of the program, if there is one, the seed of the call, if it has one, and
on how often such calls were made since the program's was set. Without either, seeds are drawn
themselves and no two programs get the same numbers.
"""

import hashlib
import secrets
import threading
from collections import Counter
from collections.abc import Hashable

_lock = threading.Lock()
_BITS = 64


class _State:
    def __init__(self) -> None:
        self.own = secrets.randbits(_BITS)  # of this process, where nobody has set one
        self.program: int | None = None
        self.calls: Counter[Hashable] = Counter()


_state = _State()


def set_seed(seed: int) -> None:
    """Let the draws that follow be those of a seed.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.random.set_seed(1)
    >>> first = tf.random.normal([2])
    >>> tf.random.set_seed(1)
    >>> bool(tf.reduce_all(first == tf.random.normal([2])))
    True
    """
    with _lock:
        _state.program = int(seed)
        _state.calls.clear()


def program_seed() -> int | None:
    """Return what `set_seed` was given; None where nobody has."""
    return _state.program


def mixed(*parts: Hashable) -> int:
    """Return 64 bits that depend on numbers and texts."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=_BITS // 8).digest()
    return int.from_bytes(digest, "little")


def next_seed(seed: Hashable = None) -> int:
    """Return the seed of the next call that draws; `seed` is its own."""
    with _lock:
        number = _state.calls[seed]
        _state.calls[seed] += 1
        if _state.program is None and seed is None:
            return mixed(_state.own, number)
        return mixed(_state.program, seed, number)
