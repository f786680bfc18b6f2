"""Products of tensors with a sum over common axes.

Every number of the result is one chain of fused multiplications and additions from 0 on, in the
order of the index that is summed over; of integers a chain of plain ones.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core import DType, Value
from ..complex_element import as_values
from ..dtypes import FLOATS, ComplexType, Type, promote
from ..element import Element
from ..errors import UsageError
from ..recorder import Recorder
from ..source import at_line
from . import spaces
from .calls import FUNCTIONS, METHODS, unsupported_tensor
from .spaces import Shape
from .tensor import (
    Tensor,
    Values,
    apply,
    as_tensor,
    element_of,
    nothing,
    of_space,
    record_numpy,
    recorder_of,
)

_MOST_STRAIGHT = 8


def _operands(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    recorder = recorder_of([a, b])
    return as_tensor(recorder, a), as_tensor(recorder, b)


Step = Callable[[Values, Values, Values], Values]


def _step(recorder: Recorder, dtype: Type) -> Step:
    """Return what adds a product to a sum; of complex numbers in four steps."""

    def fused(x: Value, y: Value, total: Value) -> Value:
        return recorder.op("fma", [x, y, total])

    def of_complex(x: Values, y: Values, total: Values) -> Values:
        minus = recorder.op("neg", [x[1]])
        real = fused(minus, y[1], fused(x[0], y[0], total[0]))
        return real, fused(x[1], y[0], fused(x[0], y[1], total[1]))

    if isinstance(dtype, ComplexType):
        return of_complex
    if dtype in FLOATS:
        return lambda x, y, total: (fused(x[0], y[0], total[0]),)
    multiply, add = ("and", "or") if dtype is DType.Bool else ("mul", "add")
    return lambda x, y, total: (recorder.op(add, [total[0], recorder.op(multiply, [x[0], y[0]])]),)


def contract(
    a: Tensor, a_axes: str, b: Tensor, b_axes: str, result: str, call: str = "einsum"
) -> Any:
    """Record the product of two tensors whose axes have names; those not in the result are summed.

    The names that are summed over go round in the order in which they appear.
    """
    recorder = a.recorder
    sizes = _sizes(call, a, a_axes, b, b_axes)
    for name in result:
        if name not in sizes:
            raise UsageError(
                at_line(
                    f"{call}: an axis of the result is in no operand; got {name}, expected one of "
                    f"{a_axes} or {b_axes}."
                )
            )
    summed = [name for name in dict.fromkeys(a_axes + b_axes) if name not in result]
    common = promote(a.kind, b.kind).dtype
    dtype: Type = DType.F32 if common is DType.F16 else common

    def steps(tensor: Tensor, axes: str, names: Sequence[str]) -> tuple[int, ...]:
        return tuple(tensor.steps[axes.index(name)] if name in axes else 0 for name in names)

    both = ((a, a_axes), (b, b_axes))
    shape = tuple(sizes[name] for name in result)
    outer = [steps(tensor, axes, result) for tensor, axes in both]
    through = tuple(
        size if outer[0][d] != 0 or outer[1][d] != 0 else 1 for d, size in enumerate(shape)
    )
    outer_sizes, outer_steps = spaces.joined(through, outer)
    inner_sizes, inner_steps = spaces.joined(
        [sizes[name] for name in summed], [steps(tensor, axes, summed) for tensor, axes in both]
    )
    add_product = _step(recorder, dtype)

    def body(outside: list[Value]) -> list[Value]:
        def values(inside: list[Value]) -> list[Values]:
            return [
                as_values(
                    recorder,
                    tensor.at([*outside, *inside], [*outer_steps[i], *inner_steps[i]]),
                    dtype,
                )
                for i, (tensor, _) in enumerate(both)
            ]

        zero = as_values(recorder, 0, dtype)
        if int(np.prod(inner_sizes)) <= _MOST_STRAIGHT:
            total = zero
            for place in np.ndindex(*inner_sizes):
                x, y = values([spaces.number(recorder, at) for at in place])
                total = add_product(x, y, total)
        else:
            recording = recorder.recording
            slots = [recording.slot(part) for part in zero]

            def step(inside: list[Value]) -> None:
                x, y = values(inside)
                now = tuple(recording.read(slot) for slot in slots)
                for slot, value in zip(slots, add_product(x, y, now), strict=True):
                    recording.write(slot, value)

            spaces.loop_over(recorder, inner_sizes, step)
            total = tuple(recording.read(slot) for slot in slots)
        return [*as_values(recorder, element_of(recorder, total), common)]

    if 0 in shape:
        return nothing(recorder, shape, common)
    kept = tuple(spaces.keep_all(recorder, outer_sizes, body))
    return of_space(recorder, kept, shape, through, bool(outer_sizes))


def _sizes(call: str, a: Tensor, a_axes: str, b: Tensor, b_axes: str) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for tensor, axes in ((a, a_axes), (b, b_axes)):
        for name, size in zip(axes, tensor.shape, strict=True):
            known = sizes.setdefault(name, size)
            if known == 1:
                sizes[name] = size
            elif size not in (known, 1):
                raise UsageError(
                    at_line(
                        f"{call}: shapes do not fit; got {a.shape} and {b.shape}, expected equal "
                        "sizes of the axes that are multiplied."
                    )
                )
    return sizes


def matmul(x1: Any, x2: Any) -> Any:
    """Do the product of matrices, or stacks of them; vectors are rows and columns."""
    a, b = _operands(x1, x2)
    if a.ndim == 0 or b.ndim == 0:
        raise UsageError(
            at_line(f"matmul: a number; got {a.shape} and {b.shape}, expected tensors. Use *.")
        )
    _require_equal("matmul", a, b, a.shape[-1], b.shape[max(b.ndim - 2, 0)])
    rank = max(a.ndim, b.ndim, 2) - 2
    front = "abcdefgh"[:rank]
    a_axes = (front[rank - max(a.ndim - 2, 0) :] + "xk")[-a.ndim :]
    b_axes = front[rank - max(b.ndim - 2, 0) :] + "ky" if b.ndim > 1 else "k"
    ends = ("x" if a.ndim > 1 else "") + ("y" if b.ndim > 1 else "")
    return contract(a, a_axes, b, b_axes, front + ends, "matmul")


def _require_equal(call: str, a: Tensor, b: Tensor, m: int, n: int) -> None:
    if m != n:
        raise UsageError(
            at_line(
                f"{call}: shapes do not fit; got {a.shape} and {b.shape}, expected the sizes of "
                f"the axes that are multiplied to be equal, not {m} and {n}."
            )
        )


def dot(a: Any, b: Any) -> Any:
    """Do NumPy's dot: the last axis of one by the last but one of the other."""
    x, y = _operands(a, b)
    if x.ndim == 0 or y.ndim == 0:
        return apply(lambda p, q: p * q, x, y)
    _require_equal("dot", x, y, x.shape[-1], y.shape[max(y.ndim - 2, 0)])
    x_axes = "abcdefgh"[: x.ndim - 1] + "k"
    y_axes = "k" if y.ndim == 1 else "pqrstuvw"[: y.ndim - 2] + "ky"
    result = (x_axes + y_axes).replace("k", "")
    return contract(x, x_axes, y, y_axes, result, "dot")


def inner(a: Any, b: Any) -> Any:
    """Do the product along both last axes."""
    x, y = _operands(a, b)
    if x.ndim == 0 or y.ndim == 0:
        return apply(lambda p, q: p * q, x, y)
    _require_equal("inner", x, y, x.shape[-1], y.shape[-1])
    x_axes, y_axes = "abcdefgh"[: x.ndim - 1] + "k", "pqrstuvw"[: y.ndim - 1] + "k"
    return contract(x, x_axes, y, y_axes, (x_axes + y_axes).replace("k", ""), "inner")


def outer(a: Any, b: Any) -> Any:
    """Return all products of two vectors."""
    x, y = _operands(a, b)
    return apply(lambda p, q: p * q, x.reshape(-1, 1), y.reshape(1, -1))


def vdot(a: Any, b: Any) -> Any:
    """Return the sum of products of all numbers."""
    x, y = _operands(a, b)
    return inner(x.reshape(-1).conjugate(), y.reshape(-1))


def vecdot(x1: Any, x2: Any, axis: int = -1) -> Any:
    """Return the sums of products along an axis."""
    a, b = _operands(x1, x2)
    a = a.conjugate()
    shape = spaces.broadcast_shapes("vecdot", a.shape, b.shape)
    a, b = a.broadcast_to("vecdot", shape), b.broadcast_to("vecdot", shape)
    names = "abcdefghijkl"[: len(shape)]
    at = spaces.normal_axis("vecdot", axis, len(shape))
    return contract(a, names, b, names, names[:at] + names[at + 1 :], "vecdot")


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Sum the products over pairs of axes."""
    x, y = _operands(a, b)
    if isinstance(axes, int):
        pairs = [(x.ndim - axes + i, i) for i in range(axes)]
    else:
        ours, theirs = (one if isinstance(one, (tuple, list)) else (one,) for one in axes)
        pairs = [
            (spaces.normal_axis("tensordot", i, x.ndim), spaces.normal_axis("tensordot", j, y.ndim))
            for i, j in zip(ours, theirs, strict=True)
        ]
    x_axes, y_axes = list("abcdefghijkl"[: x.ndim]), list("mnopqrstuvwx"[: y.ndim])
    for i, j in pairs:
        _require_equal("tensordot", x, y, x.shape[i], y.shape[j])
        y_axes[j] = x_axes[i]
    taken = {x_axes[i] for i, _ in pairs}
    result = "".join(name for name in (*x_axes, *y_axes) if name not in taken)
    return contract(x, "".join(x_axes), y, "".join(y_axes), result, "tensordot")


def einsum(subscripts: Any, *operands: Any) -> Any:
    """Sum products of one or two tensors, whose axes are named by letters."""
    if not isinstance(subscripts, str) or not 1 <= len(operands) <= 2:
        raise unsupported_tensor("np.einsum of other than one or two operands")
    text = subscripts.replace(" ", "")
    left, arrow, result = text.partition("->")
    names = left.split(",")
    recorder = recorder_of(operands)
    tensors = [as_tensor(recorder, one) for one in operands]
    if len(names) != len(tensors):
        raise UsageError(
            at_line(
                f"einsum: another number of operands; got {len(tensors)}, expected {len(names)} as "
                f"in {subscripts!r}."
            )
        )
    names, result = _without_dots(names, tensors, result, bool(arrow))
    if not arrow:
        every = "".join(names)
        own = "".join(sorted(name for name in set(every) if every.count(name) == 1))
        dots = [n for n in own if n.isupper() and n in _DOTS]
        result = "".join(dots) + "".join(n for n in own if n not in dots)
    parts = [_diagonals(tensor, name) for tensor, name in zip(tensors, names, strict=True)]
    for (tensor, name), given in zip(parts, tensors, strict=True):
        if tensor.ndim != len(name):
            raise UsageError(
                at_line(
                    f"einsum: other dimensions than letters; got {given.shape}, expected as many "
                    f"as in {subscripts!r}."
                )
            )
    if len(parts) == 2:
        (a, a_axes), (b, b_axes) = parts
        return contract(a, a_axes, b, b_axes, result)
    tensor, name = parts[0]
    summed = tuple(d for d, one in enumerate(name) if one not in result)
    if summed:
        combine = np.any if tensor.element_type is DType.Bool else np.sum
        tensor = combine(tensor, axis=summed).astype(tensor.dtype)
        name = "".join(one for one in name if one in result)
    if isinstance(tensor, Element):
        return tensor
    return tensor.transposed([name.index(one) for one in result])


_DOTS = "ZYXWVUTS"


def _without_dots(
    names: list[str], tensors: list[Tensor], result: str, has_result: bool
) -> tuple[list[str], str]:
    """Give the axes of an ellipsis names."""
    most = 0
    counts = []
    for name, tensor in zip(names, tensors, strict=True):
        hidden = tensor.ndim - len(name.replace("...", "")) if "..." in name else 0
        counts.append(hidden)
        most = max(most, hidden)
    new = [
        name.replace("...", _DOTS[most - hidden : most])
        for name, hidden in zip(names, counts, strict=True)
    ]
    return new, result.replace("...", _DOTS[:most]) if has_result else result


def _diagonals(tensor: Tensor, names: str) -> tuple[Tensor, str]:
    """Leave one of axes that have the same name."""
    for name in names:
        while names.count(name) > 1:
            i = names.index(name)
            j = names.index(name, i + 1)
            tensor = FUNCTIONS[np.diagonal](tensor, 0, i, j)
            names = names[:i] + names[i + 1 : j] + names[j + 1 :] + name
    return tensor, names


def cross(a: Any, b: Any, axis: int = -1) -> Any:
    """Return the vector at right angles to two vectors of three numbers."""
    x, y = _operands(a, b)
    x, y = (FUNCTIONS[np.moveaxis](one, axis, -1) for one in (x, y))
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise UsageError(
            at_line(f"cross: not of three numbers; got {x.shape} and {y.shape}, expected 3.")
        )
    parts = [x[..., i] * y[..., j] - x[..., j] * y[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return FUNCTIONS[np.stack](parts, axis)


def kron(a: Any, b: Any) -> Any:
    """Return all products of two matrices or vectors, as blocks."""
    x, y = _operands(a, b)
    rank = max(x.ndim, y.ndim)
    x, y = (one.reshape([1] * (rank - one.ndim) + list(one.shape)) for one in (x, y))
    spread_x = x.reshape([size for n in x.shape for size in (n, 1)])
    spread_y = y.reshape([size for n in y.shape for size in (1, n)])
    product = spread_x * spread_y
    return product.reshape([n * m for n, m in zip(x.shape, y.shape, strict=True)])


def _outer_of(ufunc: Any, a: Any, b: Any) -> Any:
    x, y = _operands(a, b)
    wide: Shape = (*x.shape, *[1] * y.ndim)
    return record_numpy(ufunc, (x.reshape(wide), y), {})


FUNCTIONS.update(
    {
        np.matmul: matmul,
        np.dot: dot,
        np.inner: inner,
        np.outer: outer,
        np.vdot: vdot,
        np.tensordot: tensordot,
        np.einsum: einsum,
        np.cross: cross,
        np.kron: kron,
    }
)


def matvec(x1: Any, x2: Any) -> Any:
    """Do the product of matrices and vectors, or stacks of them."""
    a, b = _operands(x1, x2)
    return matmul(a, b[..., None])[..., 0]


def vecmat(x1: Any, x2: Any) -> Any:
    """Do the product of vectors and matrices, or stacks of them."""
    a, b = _operands(x1, x2)
    a = a.conjugate()
    return matmul(a[..., None, :], b)[..., 0, :]


def multi_dot(arrays: Any) -> Any:
    """Do the product of several matrices, from left to right."""
    return functools.reduce(dot, arrays)


FUNCTIONS[np.linalg.multi_dot] = multi_dot
if hasattr(np, "matvec"):  # NumPy 2.2
    FUNCTIONS[np.matvec] = matvec
    FUNCTIONS[np.vecmat] = vecmat
if hasattr(np, "vecdot"):  # NumPy 2
    FUNCTIONS[np.linalg.tensordot] = tensordot
    FUNCTIONS[np.linalg.cross] = cross
    FUNCTIONS[np.vecdot] = vecdot
    FUNCTIONS[np.linalg.vecdot] = vecdot
    FUNCTIONS[np.linalg.matmul] = matmul
    FUNCTIONS[np.linalg.outer] = outer
METHODS[None, "outer"] = _outer_of
