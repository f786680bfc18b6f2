"""``tf.debugging`` and ``tf.Assert``: what has to hold.

On arrays a check raises at once; in a graph it does when it runs; inside of a function that is
being recorded, the elements fail for which it does not hold, and the error names the first one.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...flow import checks
from ...options import config
from ...recorder import current
from . import graph, sampling
from .dtypes import as_dtype
from .names import listed
from .ops import held, inside, is_later, moving, plain, static_of
from .tensor import Tensor, array_of, is_symbol, is_tensor


def require(condition: Any, message: str) -> None:
    """Raise an error if a condition does not hold for all numbers, or let elements fail."""
    if sampling.is_on():
        return
    holds = np.all(condition)
    if is_symbol(holds):
        checks.check(holds, message)
    elif not holds:
        raise InvalidArgumentError(message)


def effect(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that checks something one that graphs write down."""

    @functools.wraps(function)
    def call(*args: Any, name: Any = None, **kwargs: Any) -> Any:
        if current() is not None:
            return function(*inside(args), **{key: plain(value) for key, value in kwargs.items()})
        if is_later(args, kwargs):
            return graph.record(call, args, kwargs)
        if sampling.holds_back():
            return graph.DONE
        return function(*args, **kwargs)

    call.is_of_tensorflow = True  # type: ignore[attr-defined]
    return call


def _first_bad(condition: Any, *arrays: Any) -> str:
    """Return the numbers for which a condition does not hold first, as a text."""
    if is_symbol(condition):
        return ""
    bad = np.argwhere(~np.asarray(condition))
    if not len(bad):
        return ""
    at = tuple(bad[0].tolist())
    numbers = [np.broadcast_to(array, np.shape(condition))[at].item() for array in arrays]
    where = f" at {list(at)}" if at else ""
    return f"got {' and '.join(map(str, numbers))}{where}, "


# --- two tensors ---


def _holding(name: str, rule: str, holds: Callable[[Any, Any], Any]) -> Callable[..., None]:
    def compare(x: Any, y: Any, message: Any = None, summarize: Any = None) -> None:
        x, y = held(x), held(y)
        condition = holds(x, y)
        about = f"{message}; " if message else "it does not hold; "
        require(condition, f"{name}: {about}{_first_bad(condition, x, y)}expected {rule}.")

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = f"Raise an error if not {rule} for all numbers."
    return compare


def _comparison(name: str, rule: str, holds: Callable[[Any, Any], Any]) -> Any:
    return effect(_holding(name, rule, holds))


_none_equal = _holding("assert_none_equal", "x != y", lambda x, y: x != y)


@effect
def assert_none_equal(x: Any, y: Any, summarize: Any = None, message: Any = None) -> None:
    """Raise an error if not x != y for all numbers."""
    _none_equal(x, y, message)


assert_equal = _comparison("assert_equal", "x == y", lambda x, y: x == y)
assert_less = _comparison("assert_less", "x < y", lambda x, y: x < y)
assert_less_equal = _comparison("assert_less_equal", "x <= y", lambda x, y: x <= y)
assert_greater = _comparison("assert_greater", "x > y", lambda x, y: x > y)
assert_greater_equal = _comparison("assert_greater_equal", "x >= y", lambda x, y: x >= y)


@effect
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: Any = None,
    summarize: Any = None,
) -> None:
    """Raise an error if numbers are not near: ``abs(x - y) <= atol + rtol * abs(y)``."""
    x, y = held(x), held(y)
    kind = np.result_type(x.dtype, y.dtype)
    narrow = 10 * np.finfo(kind).eps if kind.kind == "f" else 0
    relative, absolute = (narrow if bound is None else static_of(bound) for bound in (rtol, atol))
    condition = np.absolute(x - y) <= absolute + relative * np.absolute(y)
    about = f"{message}; " if message else "it does not hold; "
    require(condition, f"assert_near: {about}{_first_bad(condition, x, y)}expected near numbers.")


# --- one tensor ---


def _sign(name: str, rule: str, holds: Callable[[Any], Any]) -> Any:
    def compare(x: Any, message: Any = None, summarize: Any = None) -> None:
        x = held(x)
        condition = holds(x)
        about = f"{message}; " if message else "it does not hold; "
        require(condition, f"{name}: {about}{_first_bad(condition, x)}expected {rule}.")

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = f"Raise an error if not {rule} for all numbers."
    return effect(compare)


assert_positive = _sign("assert_positive", "x > 0", lambda x: x > 0)
assert_negative = _sign("assert_negative", "x < 0", lambda x: x < 0)
assert_non_negative = _sign("assert_non_negative", "x >= 0", lambda x: x >= 0)
assert_non_positive = _sign("assert_non_positive", "x <= 0", lambda x: x <= 0)


@effect
def Assert(condition: Any, data: Any = (), summarize: Any = None) -> None:  # noqa: N802
    """Raise an error if a condition does not hold; `data` is said with it."""
    said = [value for value in data if not is_symbol(value)]
    texts = [_text(value) for value in said]
    require(held(condition), f"Assert: it does not hold; got {' '.join(texts)}, expected True.")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(array_of(value))


@moving
def check_numerics(tensor: Any, message: Any) -> Any:
    """Return a tensor as it is, whose numbers have to be finite.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.debugging.check_numerics(tf.constant([1.0, 2.0]), "no root").numpy()
    array([1., 2.], dtype=float32)
    """
    x = held(tensor)
    if is_symbol(x):
        return checks.check_numerics(x, f"check_numerics: {message}")
    if x.dtype.kind in "fc" and not sampling.is_on():
        kinds = [name for name, test in (("Inf", np.isinf), ("NaN", np.isnan)) if test(x).any()]
        if kinds:
            raise InvalidArgumentError(
                f"check_numerics: {message}; got {' and '.join(kinds)} values, expected finite "
                "numbers."
            )
    return x


def assert_all_finite(x: Any, message: Any, name: Any = None) -> Any:
    """Return a tensor as it is, whose numbers have to be finite."""
    return check_numerics(x, message)


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Let elements of maps fail whose results are not finite."""
    config.check_numerics = True


def disable_check_numerics() -> None:
    """Let numbers be what they are."""
    del config.check_numerics


# --- shapes and types, which are known at once ---


def _shape(x: Any) -> tuple[Any, ...]:
    if getattr(x, "is_graph", False) is True:
        return tuple(x.shape)
    return tuple(np.shape(held(plain(x))))


def _refuse(call: str, message: Any, problem: str) -> None:
    said = f"{message}; {problem}" if message else problem
    raise ValueError(f"{call}: {said}")


def assert_rank(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """Raise an error if a tensor has not so many dimensions."""
    found, wanted = len(_shape(x)), static_of(rank)
    if found != wanted:
        _refuse("assert_rank", message, f"got {found} dimensions, expected {wanted}.")


def assert_rank_at_least(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """Raise an error if a tensor has fewer dimensions."""
    found, wanted = len(_shape(x)), static_of(rank)
    if found < wanted:
        _refuse("assert_rank_at_least", message, f"got {found} dimensions, expected {wanted}.")


def assert_rank_in(x: Any, ranks: Any, message: Any = None, name: Any = None) -> None:
    """Raise an error if the number of dimensions is none of these."""
    found, wanted = len(_shape(x)), [static_of(rank) for rank in ranks]
    if found not in wanted:
        _refuse("assert_rank_in", message, f"got {found} dimensions, expected one of {wanted}.")


def assert_scalar(tensor: Any, message: Any = None, name: Any = None) -> Any:
    """Return a tensor as it is, which has to be one number."""
    if _shape(tensor):
        _refuse("assert_scalar", message, f"got the shape {_shape(tensor)}, expected ().")
    return tensor


def _type(tensor: Any) -> Any:
    return as_dtype(tensor.dtype if hasattr(tensor, "dtype") else array_of(tensor).dtype)


def assert_type(tensor: Any, tf_type: Any, message: Any = None, name: Any = None) -> None:
    """Raise an error if the numbers have another type."""
    found, wanted = _type(tensor), as_dtype(tf_type)
    if found != wanted:
        said = f"{message}; " if message else ""
        raise TypeError(f"assert_type: {said}got {found.name}, expected {wanted.name}.")


def assert_integer(x: Any, message: Any = None, name: Any = None) -> None:
    """Raise an error if the numbers are no integers."""
    if not _type(x).is_integer:
        said = f"{message}; " if message else ""
        raise TypeError(f"assert_integer: {said}got {_type(x).name}, expected integers.")


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """Return the float type that all tensors have in common."""
    kinds = {_type(one) for one in tensors or ()} | ({as_dtype(dtype)} if dtype else set())
    if len(kinds) > 1 or not all(kind.is_floating for kind in kinds):
        names = ", ".join(sorted(kind.name for kind in kinds))
        raise ValueError(
            f"assert_same_float_dtype: types differ; got {names}, expected one type of floats."
        )
    return kinds.pop() if kinds else as_dtype("float32")


def assert_proper_iterable(values: Any) -> None:
    """Raise an error if a value is a tensor, or cannot be gone through."""
    if is_tensor(values) or isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(
            f"assert_proper_iterable: got {type(values).__name__}, expected a list or the like."
        )


def assert_shapes(
    shapes: Any, data: Any = None, summarize: Any = None, message: Any = None, name: Any = None
) -> None:
    """Raise an error if tensors have not these shapes; a name stands for one size everywhere."""
    sizes: dict[Any, int] = {}
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    for tensor, wanted in pairs:
        tensor = tensor.deref() if hasattr(tensor, "deref") else tensor
        found = _shape(tensor)
        names = tuple(wanted) if isinstance(wanted, (tuple, list, str)) else (wanted,)
        fits = len(found) == len(names) and all(
            _fits(sizes, one, size) for one, size in zip(names, found, strict=True)
        )
        if not fits:
            known = f" with {sizes}" if sizes else ""
            _refuse("assert_shapes", message, f"got {found}, expected {names}{known}.")


def _fits(sizes: dict[Any, int], name: Any, size: int | None) -> bool:
    if name in (None, ".") or size is None:
        return True
    if isinstance(name, int):
        return name == size
    return sizes.setdefault(name, size) == size


def is_numeric_tensor(tensor: Any) -> bool:
    """Say whether something is a tensor of numbers."""
    return is_tensor(tensor) and isinstance(tensor, Tensor) and _type(tensor).is_numeric


_ASSERTS = [
    *(assert_equal, assert_none_equal, assert_less, assert_less_equal, assert_greater),
    *(assert_greater_equal, assert_near, assert_positive, assert_negative, assert_non_negative),
    *(assert_non_positive, assert_all_finite, assert_rank, assert_rank_at_least, assert_rank_in),
    *(assert_scalar, assert_type, assert_integer, assert_same_float_dtype),
    *(assert_proper_iterable, assert_shapes, check_numerics, enable_check_numerics),
    *(disable_check_numerics, is_numeric_tensor, Assert),
]

NAMES = {
    **listed("debugging", _ASSERTS, top=False),
    **listed("", [assert_equal, assert_less, assert_greater, assert_rank, Assert]),
}
