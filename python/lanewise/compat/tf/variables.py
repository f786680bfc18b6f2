"""``tf.Variable``: an array that stays, and is assigned to.

Inside of a function that is being recorded a variable from outside is read anew at every call. What
elements of a map add to it is summed in an order that depends on their numbers alone. A variable
that is made inside is one of the element's own.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np

from ...accumulators import Sum
from ...element import Whole
from ...errors import UsageError
from ...recorder import Recorder, current
from ...source import at_line
from . import graph, sampling
from .dtypes import DType, as_dtype
from .shapes import TensorShape
from .tensor import Array, Reference, Tensor, array_of, has_graph, inside_repr

_numbers = itertools.count()


class _Added(Sum):
    """What the elements of a map add to a variable."""

    def __init__(self, variable: "Variable") -> None:
        dtype = variable.held_array.dtype
        super().__init__(None if dtype == np.float16 else dtype)
        self._array = variable.held_array

    def total(self, part: Any) -> Any:
        """Return memory for the total of a part."""
        return part.new_total()

    def take(self, totals: list[Any], fold: Any) -> None:
        """Add the total of a call."""
        if sampling.holds_back():
            return
        self.reset()
        super().take(totals, fold)
        with np.errstate(all="ignore"):
            np.add(self._array, self._state, out=self._array, casting="unsafe")

    @property
    def _call(self) -> str:
        return "Variable.assign_add"


class Variable:
    """An array that stays, and is assigned to.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> total = tf.Variable(0.0)
    >>> _ = tf.map_fn(lambda x: [total.assign_add(x), x][1], tf.constant([1.0, 2.0, 3.0]))
    >>> total.numpy()
    np.float32(6.0)
    """

    is_tensor_like = True
    __array_priority__ = 200

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make one; inside of a function that is being recorded, one of the element's own."""
        recorder = current()
        if recorder is not None and cls is Variable:
            return Local(recorder, *args, **kwargs)
        return super().__new__(cls)

    def __init__(
        self,
        initial_value: Any = None,
        trainable: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        **options: Any,
    ) -> None:
        if initial_value is None:
            raise ValueError(
                "Variable: no initial value; got None, expected numbers, a tensor or a function "
                "that gives them."
            )
        given = initial_value() if callable(initial_value) else initial_value
        self._initial = given
        self.begin(array_of(graph.first_of(given) if has_graph(given) else given, dtype))
        self.trainable = True if trainable is None else bool(trainable)
        self._name = f"{name or 'Variable'}:{0}" if name else f"Variable_{next(_numbers)}:0"
        self._adding: _Added | None = None
        building = graph.building()
        if building is not None:
            building.initial.append(self)
            if building.is_function:  # every call makes it anew
                graph.record_effect(_begin, (self, given, dtype), {})

    @property
    def initial_value(self) -> Any:
        """What it begins with."""
        return self._initial

    def begin(self, value: Any) -> None:
        """Let it have a first value, of any shape."""
        array = np.array(array_of(value))
        # A scalar stands in an array of one number, by which programs read it.
        self._base = array.reshape(1) if array.ndim == 0 else array
        self._array = self._base.reshape(array.shape)

    def reset(self) -> None:
        """Let it have its first value again."""
        value = array_of(graph.value_of(self._initial), self.dtype)
        if value.shape == self._array.shape:
            self._array[...] = value
        else:
            self.begin(value)

    # --- what it is ---

    @property
    def held_array(self) -> Array:
        """The array as it is at present."""
        return self._array

    @property
    def dtype(self) -> DType:
        """The type of its numbers."""
        return as_dtype(self._array.dtype)

    @property
    def shape(self) -> TensorShape:
        """The sizes of its dimensions."""
        return TensorShape(self._array.shape)

    def get_shape(self) -> TensorShape:
        """Return the sizes of its dimensions."""
        return self.shape

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def device(self) -> str:
        """Where it is."""
        return _read_array(self).device

    def set_shape(self, shape: Any) -> None:
        """Raise an error if the shape is another one."""
        self.shape.assert_is_compatible_with(shape)

    def is_initialized(self, name: Any = None) -> bool:
        """Say that it has a value: every one has from the beginning."""
        return True

    def initialized_value(self) -> Any:
        """Return its value as a tensor."""
        return _read(self)

    @property
    def initializer(self) -> Any:
        """What gives it its first value again, in a session."""
        return graph.record_effect(_reset, (self,), {})

    def numpy(self) -> Any:
        """Return a copy of its value."""
        return self._array.copy()[()]

    def read_value(self) -> Any:
        """Return its value as a tensor."""
        return _read(self)

    value = read_value

    def eval(self, session: Any = None) -> Any:
        """Return its value, as `Session.run` does."""
        return self.numpy()

    def ref(self) -> Reference:
        """Return something that can be a key."""
        return Reference(self)

    def read_inside(self) -> Any:
        """Return the value inside of a function that is being recorded."""
        recorder = current()
        if recorder is None:
            return self._array
        known = recorder.notes.get(id(self))
        if known is None or recorder.is_gone(known._base.value):
            from ...tensors import as_tensor

            tensor = as_tensor(recorder, self._base)
            recorder.notes[id(self)] = tensor
            known = tensor
        return known[0] if self._array.ndim == 0 else known

    # --- assignments ---

    def assign(self, value: Any, use_locking: Any = None, name: Any = None, **_: Any) -> Any:
        """Give it another value."""
        return self._change("assign", _assign, value)

    def assign_add(self, delta: Any, use_locking: Any = None, name: Any = None, **_: Any) -> Any:
        """Add to it; in a map each element does, and none sees what others have added."""
        recorder = current()
        if recorder is not None:
            return self._add(recorder, delta)
        return self._change("assign_add", _assign_add, delta)

    def assign_sub(self, delta: Any, use_locking: Any = None, name: Any = None, **_: Any) -> Any:
        """Subtract from it, as `assign_add` adds."""
        recorder = current()
        if recorder is not None:
            from .ops import plain

            return self._add(recorder, -plain(delta))
        return self._change("assign_sub", _assign_sub, delta)

    def _add(self, recorder: Recorder, delta: Any) -> "Unordered":
        from .ops import plain

        if id(self) in recorder.notes:
            raise UsageError(at_line(_ORDER.format("a value that was read before")))
        if self._adding is None:
            self._adding = _Added(self)
        value = plain(delta)
        if self._array.ndim and not isinstance(value, Whole):
            value = np.broadcast_to(value, self._array.shape) + np.zeros_like(self._array)
        self._adding.add(value)
        return Unordered()

    def _change(self, what: str, function: Any, value: Any) -> Any:
        if current() is not None:
            raise UsageError(at_line(_ORDER.format(f"Variable.{what}")))
        if graph.building() is not None or has_graph(value):
            return graph.record_effect(function, (self, value), {})
        return function(self, value)

    def gather_nd(self, indices: Any, name: Any = None) -> Any:
        """Return the parts that indices name."""
        return selecting().gather_nd(self, indices)

    def sparse_read(self, indices: Any, name: Any = None) -> Any:
        """Return the rows that indices name."""
        return selecting().gather(self, indices)

    # --- as a tensor ---

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self._array, dtype)

    def __getitem__(self, index: Any) -> Any:
        return _read(self)[index]

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Any:
        return iter(_read(self))

    def __bool__(self) -> bool:
        return bool(self._array)

    def __int__(self) -> int:
        return int(self._array)

    def __float__(self) -> float:
        return float(self._array)

    def __index__(self) -> int:
        return self._array.item().__index__()  # type: ignore[no-any-return]

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> "Variable":
        return Variable(self._array, self.trainable)

    def __deepcopy__(self, memo: Any) -> "Variable":
        return Variable(self._array, self.trainable)

    def __reduce__(self) -> Any:
        return Variable, (np.array(self._array), self.trainable)

    def __repr__(self) -> str:
        return (
            f"<tf.Variable '{self._name}' shape={self.shape} dtype={self.dtype.name}, "
            f"numpy={inside_repr(self.numpy())}>"
        )


_ORDER = (
    "{}: elements of a map have no order among them; got an assignment to a variable from outside "
    "that depends on one, expected assign_add, or results that are returned. Use tf.scan."
)


class Unordered:
    """What `assign_add` gives inside of a map: nobody may look at it."""

    def __getattr__(self, name: str) -> Any:
        raise UsageError(at_line(_ORDER.format("assign_add")))


def _new_value(variable: Variable, array: Any) -> Any:
    """Give a variable another value, which has to have its shape."""
    if sampling.holds_back():
        return Tensor(variable.held_array.copy())
    if np.shape(array) != variable.held_array.shape:
        raise ValueError(
            f"Variable.assign: another shape; got {np.shape(array)}, expected "
            f"{variable.held_array.shape}, that of {variable.name}."
        )
    variable.held_array[...] = array
    return variable


def _assign(variable: Variable, value: Any) -> Any:
    return _new_value(variable, array_of(value, variable.dtype))


def _assign_add(variable: Variable, delta: Any) -> Any:
    from .elementwise import add

    return _new_value(variable, array_of(add(variable, array_of(delta, variable.dtype))))


def _assign_sub(variable: Variable, delta: Any) -> Any:
    from .elementwise import subtract

    return _new_value(variable, array_of(subtract(variable, array_of(delta, variable.dtype))))


def _reset(variable: Variable) -> Any:
    if not sampling.holds_back():
        variable.reset()
    return graph.DONE


def _begin(variable: Variable, value: Any, dtype: Any) -> Any:
    if not sampling.holds_back():
        variable.begin(array_of(value, dtype))
    return graph.DONE


def _read(variable: Variable) -> Any:
    if current() is not None:
        return variable.read_inside()
    if graph.building() is not None:
        return graph.record(_read_array, (variable,), {})
    return _read_array(variable)


def _read_array(variable: Variable) -> Tensor:
    return Tensor(variable.held_array.copy())


class Local:
    """A variable of an element's own, made inside of a function that is being recorded."""

    is_tensor_like = True

    def __init__(
        self,
        recorder: Recorder,
        initial_value: Any = None,
        trainable: Any = None,
        *_: Any,
        dtype: Any = None,
        name: str | None = None,
        **__: Any,
    ) -> None:
        from ...tensors import as_tensor
        from ...tensors.making import new_array
        from .dialect import settled
        from .ops import plain

        value = settled(plain(initial_value() if callable(initial_value) else initial_value))
        if dtype is not None:
            value = value.astype(as_dtype(dtype).dtype)
        tensor = as_tensor(recorder, value)
        self._is_number = not tensor.shape
        self._array = new_array(recorder, tensor.shape or (1,), tensor.element_type)
        self._array[...] = tensor
        self.trainable = False

    def read_inside(self) -> Any:
        """Return the value that it has here."""
        return self._array[0] if self._is_number else self._array.copy()

    read_value = value = read_inside

    @property
    def dtype(self) -> DType:
        """The type of its numbers."""
        return as_dtype(self._array.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its dimensions."""
        shape: tuple[int, ...] = () if self._is_number else self._array.shape
        return shape

    def assign(self, value: Any, *_: Any, **__: Any) -> "Local":
        """Give it another value."""
        from .ops import plain

        self._array[...] = plain(value)
        return self

    def assign_add(self, delta: Any, *_: Any, **__: Any) -> "Local":
        """Add to it."""
        from .ops import plain

        return self.assign(self.read_inside() + plain(delta))

    def assign_sub(self, delta: Any, *_: Any, **__: Any) -> "Local":
        """Subtract from it."""
        from .ops import plain

        return self.assign(self.read_inside() - plain(delta))

    def __getitem__(self, index: Any) -> Any:
        return self.read_inside()[index]


def _operators() -> None:
    """Let variables have the operators of tensors."""
    names = [
        *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv"),
        *("rfloordiv", "mod", "rmod", "pow", "rpow", "and", "rand", "or", "ror", "xor", "rxor"),
        *("lt", "le", "gt", "ge", "neg", "abs", "invert", "pos", "matmul", "rmatmul"),
    ]

    def of(name: str) -> Any:
        def operate(self: Variable, *others: Any) -> Any:
            return getattr(_read(self), name)(*others)

        def operate_inside(self: Local, *others: Any) -> Any:
            from .ops import plain

            return getattr(self.read_inside(), name)(*map(plain, others))

        setattr(Variable, name, operate)
        setattr(Local, name, operate_inside)

    for name in names:
        of(f"__{name}__")


_operators()


def _comparisons() -> None:
    """Let variables be compared by value; while a graph is built for a session, by identity."""

    def of(name: str, is_equal: bool) -> Any:
        def compare(self: Variable, other: Any) -> Any:
            building = graph.building()
            if current() is None and building is not None and not building.is_function:
                return (self is other) == is_equal
            return getattr(_read(self), name)(other)

        def compare_inside(self: Local, other: Any) -> Any:
            from .ops import plain

            return getattr(self.read_inside(), name)(plain(other))

        setattr(Variable, name, compare)
        setattr(Local, name, compare_inside)

    of("__eq__", True)
    of("__ne__", False)
    setattr(Local, "__hash__", lambda self: id(self))  # noqa: B010  # beside the others


_comparisons()


def selecting() -> Any:
    """Return the functions by places, which are made of variables, too."""
    from . import selecting as functions

    return functions


def _scattering() -> None:
    """Let variables have ``scatter_nd_add`` and the like, and those that take slices."""

    def of(what: str) -> None:
        def scatter_nd(self: Variable, indices: Any, updates: Any, name: Any = None) -> Any:
            changed = getattr(selecting(), f"tensor_scatter_nd_{what}")
            return self.assign(changed(_read(self), indices, updates))

        def scatter(
            self: Variable, sparse_delta: Any, use_locking: bool = False, name: Any = None
        ) -> Any:
            places = array_of(sparse_delta.indices)[..., None]
            return scatter_nd(self, places, sparse_delta.values)

        scatter_nd.__doc__ = f"Assign what `tensor_scatter_nd_{what}` gives."
        scatter.__doc__ = f"Assign what `tensor_scatter_nd_{what}` gives for rows."
        setattr(Variable, f"scatter_nd_{what}", scatter_nd)
        setattr(Variable, f"scatter_{what}", scatter)

    for what in ("update", "add", "sub", "max", "min"):
        of(what)


_scattering()


class IndexedSlices(NamedTuple):
    """Rows of a tensor, and where they are."""

    values: Any
    indices: Any
    dense_shape: Any = None


def is_variable(value: Any) -> bool:
    """Say whether a value is a variable."""
    return isinstance(value, (Variable, Local))


NAMES = {"Variable": Variable, "IndexedSlices": IndexedSlices}
