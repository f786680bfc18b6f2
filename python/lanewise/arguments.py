"""From the arguments of a call to arrays and numbers, and the signature they have.

Arrays are mapped; numbers and arrays of rank 0 are shared by all elements. Containers are taken
apart. Only kinds are part of the signature, never values or sizes.
"""

import numbers
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ._core import DType, ParamKind
from .cores import ROWS, stand_together
from .dtypes import (
    BOUNDS,
    FROM_NUMPY,
    PARTS,
    SUPPORTED,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    Kind,
)
from .errors import UsageError, UsageOverflowError, UsageTypeError
from .ragged import Ragged
from .records import Record
from .trees import Structure, flatten, leaf_names, parts_of

Array = np.ndarray[Any, np.dtype[Any]]


class Parameter(NamedTuple):
    """What is known of an argument while its function is recorded."""

    kind: Kind
    role: ParamKind
    row: tuple[int, ...] = ()  # the dimensions of an element; of a table all but the first


class RaggedParameter(NamedTuple):
    """What is known of rows of different lengths."""

    kind: Kind
    indices: tuple[DType, ...]  # types of the offsets, outermost first
    number: int  # among the ragged arguments
    space: int  # the first one with the same offsets


class Static:
    """An argument that is neither mapped nor a number: it is a part of the signature."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key: Hashable = (type(value), value)
        try:
            hash(self._key)
        except TypeError:
            self._key = id(value)  # and `value` keeps it from being given to another

    def __reduce__(self) -> Any:
        return Static, (self.value,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


Leaf = Parameter | RaggedParameter | Static


class Signature(NamedTuple):
    """Everything about arguments that a recorded program depends on."""

    structures: tuple[Structure, ...]  # of each argument
    leaves: tuple["Leaf", ...]  # of all of them

    @property
    def parameters(self) -> int:
        """How many parameters a program has for them: two for a single complex number."""
        return sum(
            2 if leaf.kind.dtype in PARTS and not (leaf.role is ParamKind.Table or leaf.row) else 1
            for leaf in self.values
        )

    @property
    def values(self) -> list[Parameter]:
        """What the values of a call are, one after another; of ragged arguments there are more."""
        found: list[Parameter] = []
        for leaf in self.leaves:
            if isinstance(leaf, Parameter):
                found.append(leaf)
            elif isinstance(leaf, RaggedParameter):
                if leaf.space == leaf.number:
                    found += [Parameter(Kind(leaf.indices[0]), ParamKind.Mapped)] * 2
                found += [Parameter(Kind(one), ParamKind.Table) for one in leaf.indices[1:]]
                found.append(Parameter(leaf.kind, ParamKind.Table))
        return found


class Arguments(NamedTuple):
    """The arguments of a call, ready for the map."""

    values: list[Any]  # arrays and numbers, those of `Static` left out
    shape: tuple[int, ...]
    signature: Signature
    is_plain: bool  # each is an array or number as it was given
    copied: list[str]  # which were copied, and why
    sizes: tuple[int, ...] = ()  # of the first dimensions of tables
    core: Any = None  # which dimensions belong to elements
    ragged: tuple[Ragged, ...] = ()  # the arguments that are


def describe(
    call: str,
    arguments: tuple[Any, ...],
    shared: frozenset[int] = frozenset(),
    core: Any = None,
    count: int | None = None,
) -> Arguments:
    """Return the arguments as arrays and numbers; `call` is named in errors.

    Those at the positions `shared` are not mapped: arrays among them are read by index. `core` says
    which dimensions of the others belong to an element. `count` is given where none is mapped.
    """
    is_simple = count is None and core is None and not shared
    if is_simple and (plain := _describe_plain(arguments)) is not None:
        return plain
    values: list[Any] = []
    leaves: list[Leaf] = []
    ragged: list[Ragged] = []
    of_rows: set[int] = set()  # which values are of ragged arguments
    structures: list[Structure] = []
    names: list[str] = []  # of values
    copied: list[str] = []
    mapped: list[tuple[int, ...]] = []  # the shapes that are mapped over
    sizes: list[int] = []
    is_plain = True
    place = -1  # among those that are mapped
    for position, argument in enumerate(arguments):
        if position in shared:
            structures.append(None)
            value, leaf = _describe_shared(argument)
            leaves.append(leaf)
            if not isinstance(leaf, Static):
                values.append(value)
                names.append(f"argument {position}")
                mapped.append(())
                if leaf.role is ParamKind.Table:
                    sizes.append(value.shape[0])
            is_plain = False
            continue
        place += 1
        if _is_plain(argument):
            structure: Structure = None
            parts = [argument]
        else:
            parts = []
            structure = flatten(argument, parts, split_argument)
        structures.append(structure)
        part_names = _names(structure, position)
        for part, name in zip(parts, part_names, strict=True):
            if isinstance(part, Ragged):
                if core not in (None, ROWS):
                    raise UsageTypeError(
                        f"{call}: a signature with rows of different lengths; got a Ragged "
                        f"({name}), expected arrays. Leave the signature away."
                    )
                of_part, rows = _describe_ragged(call, part, ragged)
                leaves.append(rows)
                of_rows.update(range(len(values), len(values) + len(of_part)))
                values += of_part
                names += [name] * len(of_part)
                mapped += [(len(part),)] * 2 if rows.space == rows.number else []
                mapped += [()] * (len(names) - len(mapped))
                is_plain = False
                continue
            value, kind = _describe(call, name, part)
            if isinstance(value, np.ndarray) and not value.dtype.isnative:
                copied.append(f"{name}: byte-swapped")
                value = value.astype(value.dtype.newbyteorder("="))
            row: tuple[int, ...] = ()
            if core is not None:
                rank = core.rank(call, name, place, np.shape(value))
                if rank:
                    value, row = _in_rows(call, name, value, rank, copied)
            is_mapped = isinstance(value, np.ndarray) and value.ndim > 0
            role = ParamKind.Mapped if is_mapped else ParamKind.Shared
            leaves.append(Parameter(kind, role, row))
            mapped.append(value.shape[: value.ndim - len(row)] if is_mapped else ())
            values.append(woven(value) if row and kind.dtype in PARTS else value)
            names.append(name)
            is_plain = is_plain and values[-1] is argument
    if not values and count is None:
        raise UsageError(
            f"{call}: nothing to map over; got no arguments, expected at least one, or count=."
        )
    others = [at for at in range(len(values)) if at not in of_rows]
    _check_literals(call, [values[at] for at in others], [names[at] for at in others])
    signature = Signature(tuple(structures), tuple(leaves))
    shape = _common_shape(call, mapped, names)
    if count is not None:
        shape = _counted(call, signature.values, values, names, count)
    if any((len(one),) != shape for one in ragged):
        raise UsageError(
            f"{call}: ragged arguments have one row for each element; got {len(ragged[0])} rows "
            f"and the mapped shape {shape}, expected the same number in one dimension."
        )
    return Arguments(values, shape, signature, is_plain, copied, tuple(sizes), core, tuple(ragged))


def _describe_ragged(
    call: str, value: Ragged, before: list[Ragged]
) -> tuple[list[Any], RaggedParameter]:
    """Describe rows of different lengths, and append them to those before."""
    value.check(call)
    number = len(before)
    space = next((n for n, one in enumerate(before) if one.offsets is value.offsets), number)
    before.append(value)
    values = [value.offsets[:-1], value.offsets[1:]] if space == number else []
    indices = [_INDICES[value.offsets.dtype]]
    inner = value.values
    while isinstance(inner, Ragged):
        values.append(inner.offsets)
        indices.append(_INDICES[inner.offsets.dtype])
        inner = inner.values
    values.append(inner if inner.size else np.zeros(1, inner.dtype))  # there are no empty tables
    return values, RaggedParameter(Kind(FROM_NUMPY[inner.dtype]), tuple(indices), number, space)


_INDICES = {np.dtype(np.int32): DType.I32, np.dtype(np.int64): DType.I64}


def _in_rows(
    call: str, name: str, value: Array, rank: int, copied: list[str]
) -> tuple[Array, tuple[int, ...]]:
    """Return an array whose last dimensions belong to an element, and these."""
    row = value.shape[value.ndim - rank :]
    if 0 in row:
        raise UsageError(
            f"{call}: elements of {name} are empty; got the shape {row} of an element, expected at "
            "least one value in each."
        )
    if not stand_together(value, rank):
        copied.append(f"{name}: the values of an element stand apart")
        value = np.ascontiguousarray(value)
    return value, row


def woven(array: Array) -> Array:
    """Return an array of complex numbers as one of their parts, which are its last dimension."""
    real = array.real
    strides = (*array.strides, real.itemsize)
    return np.lib.stride_tricks.as_strided(real, (*array.shape, 2), strides)


def _counted(
    call: str, leaves: list[Parameter], values: list[Any], names: list[str], count: int
) -> tuple[int, ...]:
    """Return the shape of a map without arrays; one row is an array, too."""
    for leaf, value, name in zip(leaves, values, names, strict=True):
        if leaf.role == ParamKind.Mapped:
            shape = np.shape(value)
            raise UsageError(
                f"{call}: count and an array; got {count} and the shape {shape} ({name}), expected "
                "one of them. Leave count away where an argument is mapped."
            )
    return (count,)


def _describe_plain(arguments: tuple[Any, ...]) -> Arguments | None:
    """Describe native arrays of one shape and floats; None: there is something else."""
    shape: tuple[int, ...] = ()
    leaves = []
    for value in arguments:
        if type(value) is float:
            leaves.append(_FLOAT)
            continue
        leaf = _MAPPED.get(value.dtype) if type(value) is np.ndarray and value.ndim else None
        if leaf is None or (shape and value.shape != shape):
            return None
        shape = value.shape
        leaves.append(leaf)
    if not shape:
        return None
    signature = Signature((None,) * len(arguments), tuple(leaves))
    return Arguments(list(arguments), shape, signature, True, [])


_FLOAT = Parameter(WEAK_FLOAT, ParamKind.Shared)
_MAPPED = {numpy: Parameter(Kind(ours), ParamKind.Mapped) for numpy, ours in FROM_NUMPY.items()}


def _is_plain(argument: Any) -> bool:
    kind = type(argument)
    return (kind is np.ndarray and argument.dtype.names is None) or kind in (
        float,
        int,
        bool,
        complex,
    )


def _names(structure: Structure, position: int) -> list[str]:
    return leaf_names(structure, f"argument {position}")


def split_argument(value: Any) -> tuple[type, tuple[Any, ...], list[Any]] | None:
    """Take a container apart. Lists and tuples of numbers only are arrays, as for NumPy."""
    if isinstance(value, np.ndarray):
        if value.dtype.names is None:
            return None
        names = tuple(
            name for name in value.dtype.names if value.dtype[name].newbyteorder("=") in FROM_NUMPY
        )
        plain = value.view(np.ndarray)
        return Record, names, [plain[name] for name in names]
    columns = _columns(value)
    if columns is not None:
        return Record, tuple(columns), list(columns.values())
    found = parts_of(value)
    if found is None:
        return None
    if type(value) in (tuple, list) and _is_array_like(value):
        return None
    return type(value), *found


def _is_array_like(value: Any) -> bool:
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return all(_is_array_like(part) for part in value)
    return isinstance(value, (numbers.Number, np.generic, str, bytes)) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    )


def _columns(value: Any) -> dict[str, Any] | None:
    """Return the columns of numbers of a data frame (pandas, polars); None for anything else."""
    if not (hasattr(value, "columns") and hasattr(value, "dtypes") and hasattr(value, "shape")):
        return None
    columns = {str(name): np.asarray(value[name]) for name in value.columns}
    return {name: column for name, column in columns.items() if column.dtype in FROM_NUMPY}


def _describe_shared(value: Any) -> tuple[Any, Parameter | Static]:
    """Describe an argument that is not mapped."""
    if isinstance(value, float) and not isinstance(value, np.generic):
        return float(value), Parameter(WEAK_FLOAT, ParamKind.Shared)
    if isinstance(value, int) and not isinstance(value, bool):
        bounds = BOUNDS[DType.I64]
        if bounds.min <= value <= bounds.max:
            return int(value), Parameter(WEAK_INT, ParamKind.Shared)
    if isinstance(value, complex) and not isinstance(value, np.generic):
        return complex(value), Parameter(WEAK_COMPLEX, ParamKind.Shared)
    is_array = isinstance(value, (np.ndarray, np.generic)) or (
        type(value) in (tuple, list) and _is_array_like(value) and len(value) > 0
    )
    if is_array or hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        array = as_array(value)
        dtype = FROM_NUMPY.get(array.dtype.newbyteorder("="))
        if dtype is not None and array.size > 0:
            if array.ndim == 0:
                return array, Parameter(Kind(dtype), ParamKind.Shared)
            array = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).view(np.ndarray)
            return array, Parameter(Kind(dtype), ParamKind.Table, array.shape[1:])
    return None, Static(value)


def _describe(call: str, name: str, value: Any) -> tuple[Any, Kind]:
    if type(value) is np.ndarray and (dtype := FROM_NUMPY.get(value.dtype)) is not None:
        return value, Kind(dtype)
    if isinstance(value, float) and not isinstance(value, np.generic):
        return float(value), WEAK_FLOAT
    if type(value) is bool:
        return value, Kind(DType.Bool)
    if isinstance(value, int):
        return int(_fitting(call, name, value)), WEAK_INT
    if isinstance(value, np.generic) and (dtype := FROM_NUMPY.get(value.dtype)) is not None:
        return value, Kind(dtype)
    if isinstance(value, complex):
        return complex(value), WEAK_COMPLEX
    return _describe_array(call, name, value)


def _fitting(call: str, name: str, value: int) -> int:
    bounds = BOUNDS[DType.I64]
    if bounds.min <= value <= bounds.max:
        return value
    raise UsageOverflowError(
        f"{call}: {name} does not fit int64; got {value}, expected {bounds.min} to "
        f"{bounds.max}. Pass a float."
    )


def as_array(value: Any) -> Array:
    """Return what has a buffer, an array interface or DLPack as an array, without a copy."""
    has_own = hasattr(value, "__array__") or hasattr(value, "__array_interface__")
    if hasattr(value, "__dlpack__") and not has_own:
        return np.from_dlpack(value)
    return np.asarray(value)


def _describe_array(call: str, name: str, value: Any) -> tuple[Array, Kind]:
    if isinstance(value, np.ma.MaskedArray):
        raise UsageTypeError(
            f"{call}: {name} is a masked array; got a mask, expected plain values. "
            "Pass argument.filled(value)."
        )
    try:
        array = as_array(value).view(np.ndarray)
    except (ValueError, BufferError) as error:
        raise UsageError(
            f"{call}: {name} is not an array; got {type(value).__name__}, expected "
            f"numbers in rows of equal length ({error})."
        ) from None
    dtype = FROM_NUMPY.get(array.dtype.newbyteorder("="))
    if dtype is None:
        got = f"an object ({type(value).__name__})" if array.dtype == object else array.dtype
        hint = (
            "Convert it with .astype." if array.dtype.kind in "iuf" else "Pass arrays of numbers."
        )
        raise UsageTypeError(
            f"{call}: {name} has an unsupported type; got {got}, expected {SUPPORTED}. {hint}"
        )
    return array, Kind(dtype)


def _common_shape(call: str, shapes: list[tuple[int, ...]], names: list[str]) -> tuple[int, ...]:
    ranked = [shape for shape in shapes if shape]
    if all(shape == ranked[0] for shape in ranked):
        return ranked[0] if ranked else ()
    try:
        return np.broadcast_shapes(*ranked)
    except ValueError:
        got = ", ".join(f"{shape} ({name})" for shape, name in zip(shapes, names, strict=True))
        raise UsageError(
            f"{call}: arguments disagree on the mapped shape; got {got}, expected shapes that "
            "broadcast: equal, or 1, in every dimension. Pass a plain number to share it."
        ) from None


def _check_literals(call: str, values: list[Any], names: list[str]) -> None:
    """Refuse Python integers that would not fit the int32 arrays they may meet."""
    bounds = BOUNDS[DType.I32]
    if not any(isinstance(v, np.ndarray) and v.ndim and v.dtype == np.int32 for v in values):
        return
    for value, name in zip(values, names, strict=True):
        if type(value) is int and not bounds.min <= value <= bounds.max:
            raise UsageOverflowError(
                f"{call}: {name} does not fit int32, the type of an array beside it; got "
                f"{value}, expected {bounds.min} to {bounds.max}. "
                "Pass np.int64(value) to widen."
            )
