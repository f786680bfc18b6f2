"""``get_variable`` and the scopes of names: ``variable_scope``, ``name_scope``."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...recorder import current
from . import graph, sampling
from .dtypes import as_dtype
from .initializers import glorot_uniform_initializer, zeros_initializer
from .names import listed
from .shapes import TensorShape
from .tensor import array_of, is_tensor
from .variables import Variable


class _AutoReuse:
    """Lets a variable be made, or be found if it is there."""

    def __repr__(self) -> str:
        return "AUTO_REUSE"


AUTO_REUSE = _AutoReuse()
_state = threading.local()
_VARIABLES = "variables by name"  # the collection of a graph


class VariableScope:
    """Where variables get their names: ``outer/inner``."""

    def __init__(self, name: str, reuse: Any, initializer: Any, dtype: Any) -> None:
        self.name = name
        self.reuse = reuse
        self.initializer = initializer
        self.dtype = dtype

    original_name_scope = property(lambda self: f"{self.name}/")

    def reuse_variables(self) -> None:
        """Let variables from now on be those that are there."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Let variables begin with what this gives."""
        self.initializer = initializer

    def global_variables(self) -> list[Variable]:
        """Return the variables that were made in it."""
        return [v for v in global_variables() if v.name.startswith(f"{self.name}/")]

    def trainable_variables(self) -> list[Variable]:
        """Return those that are trained."""
        return [v for v in self.global_variables() if v.trainable]


def _scopes() -> list[VariableScope]:
    found: list[VariableScope] | None = getattr(_state, "scopes", None)
    if found is None:
        found = _state.scopes = [VariableScope("", False, None, "float32")]
    return found


def get_variable_scope() -> VariableScope:
    """Return the scope that is open."""
    return _scopes()[-1]


@contextmanager
def variable_scope(
    name_or_scope: Any = None,
    default_name: str | None = None,
    values: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: Any = None,
    constraint: Any = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:
    """Let `get_variable` put a name in front: ``with variable_scope("layer"): ...``."""
    outer = get_variable_scope()
    if isinstance(name_or_scope, VariableScope):
        name = name_or_scope.name
        outer = name_or_scope
    else:
        own = name_or_scope or default_name
        if not isinstance(own, str):
            raise ValueError(
                f"variable_scope: no name; got {own!r}, expected a text, or a scope that was open."
            )
        name = f"{outer.name}/{own}" if outer.name else own
    scope = VariableScope(
        name,
        outer.reuse if reuse is None else reuse,
        outer.initializer if initializer is None else initializer,
        outer.dtype if dtype is None else dtype,
    )
    _scopes().append(scope)
    try:
        yield scope
    finally:
        _scopes().remove(scope)


@contextmanager
def name_scope(name: Any, default_name: Any = None, values: Any = None) -> Iterator[str]:
    """Do nothing: nodes have names of their own."""
    yield f"{name or default_name}/"


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Any = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Variable:
    """Return the variable of a name, in the scope that is open; it is made if it is new.

    Where ``reuse`` of the scope is True it has to be there, where it is False it must not; a
    function that is being recorded or traced finds its own again.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> with tf.compat.v1.variable_scope("layer"):
    ...     tf.compat.v1.get_variable("bias", [2], initializer=tf.zeros_initializer()).name
    'layer/bias:0'
    """
    scope = get_variable_scope()
    full = f"{scope.name}/{name}" if scope.name else name
    known = _known()
    reuse = AUTO_REUSE if _is_again() else scope.reuse
    if full in known:
        if not reuse:
            raise ValueError(
                f"get_variable: there is such a variable; got {full!r}, expected a new name. Use "
                "variable_scope(..., reuse=tf.AUTO_REUSE) to find it again."
            )
        return _checked(full, known[full], shape, dtype)
    if reuse is True:
        raise ValueError(
            f"get_variable: there is no such variable; got {full!r}, expected one of: "
            f"{', '.join(known) or 'none'}. Make it first, or use reuse=tf.AUTO_REUSE."
        )
    kind = scope.dtype if dtype is None else dtype
    value = _first_value(full, shape, kind, initializer or scope.initializer)
    made = object.__new__(Variable)  # also while something is being recorded
    with graph.eagerly():
        made.__init__(  # type: ignore[misc]
            value, True if trainable is None else trainable, name=full, dtype=as_dtype(kind)
        )
    known[full] = made
    graph.default_graph().initial.append(made)
    for one in collections or ():
        graph.default_graph().add_to_collection(one, made)
    return made


def _known() -> dict[str, Variable]:
    collections: dict[Any, Any] = graph.default_graph().collections
    found: dict[str, Variable] = collections.setdefault(_VARIABLES, {})
    return found


def _is_again() -> bool:
    """Say whether the function that is running may have run before, to be recorded or traced."""
    building = graph.building()
    is_traced = building is not None and building.is_function
    return current() is not None or sampling.is_on() or is_traced


def _checked(name: str, variable: Variable, shape: Any, dtype: Any) -> Variable:
    is_shape = shape is None or TensorShape(shape).is_compatible_with(variable.shape)
    if not is_shape or (dtype is not None and as_dtype(dtype) != variable.dtype):
        raise ValueError(
            f"get_variable: the variable {name!r} is another one; got shape "
            f"{None if shape is None else TensorShape(shape)}, expected {variable.shape} of "
            f"{variable.dtype.name}."
        )
    return variable


def _first_value(name: str, shape: Any, dtype: Any, initializer: Any) -> Any:
    if is_tensor(initializer) or isinstance(initializer, (np.ndarray, int, float, list)):
        return initializer
    if shape is None or not TensorShape(shape).is_fully_defined():
        raise ValueError(
            f"get_variable: the shape of a new variable is not known; got {shape} for {name!r}, "
            "expected all sizes, or an initializer that is a tensor."
        )
    sizes = tuple(TensorShape(shape))
    if initializer is None:
        is_float = as_dtype(dtype).is_floating
        initializer = glorot_uniform_initializer() if is_float else zeros_initializer()
    elif isinstance(initializer, type):
        initializer = initializer()
    try:
        return initializer(sizes, dtype=dtype)
    except TypeError:
        return array_of(initializer(sizes), dtype)


def global_variables(scope: str | None = None) -> list[Variable]:
    """Return the variables of the graph; with a scope, those whose names begin so."""
    found: list[Variable] = list(dict.fromkeys(graph.default_graph().initial))
    return [v for v in found if scope is None or v.name.startswith(scope)]


def trainable_variables(scope: str | None = None) -> list[Variable]:
    """Return those of them that are trained."""
    return [v for v in global_variables(scope) if v.trainable]


def local_variables(scope: str | None = None) -> list[Variable]:
    """Return none: variables are of the graph."""
    return []


NAMES = {
    **listed("compat.v1", [variable_scope, get_variable, get_variable_scope]),
    **listed("compat.v1", [global_variables, trainable_variables, local_variables]),
    "name_scope": name_scope,
    "compat.v1.name_scope": name_scope,
    "AUTO_REUSE": AUTO_REUSE,
    "compat.v1.AUTO_REUSE": AUTO_REUSE,
    "compat.v1.VariableScope": VariableScope,
}
