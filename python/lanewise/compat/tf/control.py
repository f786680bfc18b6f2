"""``tf.cond``, ``tf.case``, ``tf.switch_case`` and ``tf.while_loop``.

Inside of a function that is being recorded they are branches and loops of the program. Elsewhere
branches are what Python does, and a loop is one program. In a graph a node keeps the functions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import flow
from ...errors import InvalidArgumentError
from ...flow.checks import check
from ...flow.choices import ternary
from ...loops import while_loop as record_loop
from ...recorder import current
from ...trees import Structure, flatten, split_result, unflatten
from . import graph, sampling
from .arguments import split
from .bindings import has_symbols, is_node
from .dialect import settled
from .names import listed
from .ops import plain
from .recording import NotRecordedError, run_recorded
from .tensor import Tensor, array_of
from .tensor_arrays import Kind, TensorArray

Function = Callable[..., Any]


def _check_callable(call: str, name: str, function: Any) -> None:
    if not callable(function):
        raise TypeError(
            f"{call}: {name} is not a function; got {type(function).__name__}, expected a callable "
            "without arguments."
        )


def as_results(value: Any) -> Any:
    """Return what a function gave, eagerly: numbers of Python as tensors."""
    leaves: list[Any] = []
    structure = flatten(value, leaves, split_result)
    return unflatten(structure, iter([_as_tensor(leaf) for leaf in leaves]))


def _as_tensor(leaf: Any) -> Any:
    is_plain = isinstance(leaf, (bool, int, float, complex, np.ndarray, np.generic))
    return Tensor(np.asarray(array_of(leaf))) if is_plain else leaf


# --- branches ---


def cond(
    pred: Any,
    true_fn: Function | None = None,
    false_fn: Function | None = None,
    name: Any = None,
    **others: Any,
) -> Any:
    """Return what one of two functions gives, by a condition.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> x = tf.constant(3.0)
    >>> tf.cond(x > 2, lambda: x * 10, lambda: x)
    <tf.Tensor: shape=(), dtype=float32, numpy=30.0>
    """
    true_fn, false_fn = others.get("fn1", true_fn), others.get("fn2", false_fn)
    _check_callable("cond", "true_fn", true_fn)
    _check_callable("cond", "false_fn", false_fn)
    return _choose("cond", pred, true_fn, false_fn)


def _choose(call: str, pred: Any, then: Any, otherwise: Any) -> Any:
    """Do what one of two functions does."""
    pred = plain(pred) if not is_node(pred) else pred
    if is_node(pred):
        return graph.record(_choose, (call, pred, then, otherwise), {})
    if np.ndim(pred) != 0:
        raise ValueError(
            f"{call}: the condition is not one number; got the shape {np.shape(pred)}, expected "
            "(). Use tf.where, or tf.reduce_all."
        )
    if current() is not None:
        return ternary(
            pred, lambda: settled(flow.call(then)), lambda: settled(flow.call(otherwise))
        )
    if sampling.is_on():
        return _both(call, then, otherwise)
    return as_results(then() if pred else otherwise())


def _both(call: str, then: Function, otherwise: Function) -> Any:
    """Return what one of two branches gives, which have to be alike."""
    found = [as_results(function()) for function in (then, otherwise)]
    leaves: list[list[Any]] = [[], []]
    structures = [flatten(one, own, split_result) for one, own in zip(found, leaves, strict=True)]
    kinds = [[getattr(leaf, "dtype", None) for leaf in own] for own in leaves]
    if structures[0] != structures[1] or kinds[0] != kinds[1]:
        raise TypeError(
            f"{call}: branches give different things; got {_shown(structures[0], kinds[0])} and "
            f"{_shown(structures[1], kinds[1])}, expected the same types, nested alike."
        )
    return found[0]


def _shown(structure: Structure, kinds: list[Any]) -> str:
    names = iter([getattr(kind, "name", "nothing") for kind in kinds])
    return str(unflatten(structure, names)) if structure is not None else str(next(names))


def case(
    pred_fn_pairs: Any,
    default: Function | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: Any = "case",
) -> Any:
    """Return what the function of the first condition that holds gives.

    Without a default one of them has to hold; with ``exclusive`` not more than one may.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> x = tf.constant(3)
    >>> tf.case([(x < 2, lambda: 1), (x < 5, lambda: 2)], default=lambda: 3).numpy()
    np.int32(2)
    """
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if not pairs:
        raise ValueError("case: no pairs; got an empty list, expected (condition, function).")
    tests = [key.deref() if hasattr(key, "deref") else key for key, _ in pairs]
    functions = [function for _, function in pairs]
    for function in functions if default is None else [*functions, default]:
        _check_callable("case", "a branch", function)
    checks = []
    if exclusive:
        text = "case: more than one condition holds; got exclusive=True"
        checks.append(_require(_count(tests) <= 1, text))
    if default is None:
        checks.append(_require(_count(tests) >= 1, "case: no condition holds; got no default"))
        default = functions.pop()
        tests.pop()

    def rest(at: int) -> Any:
        if at == len(functions):
            return default()
        return _choose("case", tests[at], functions[at], lambda: rest(at + 1))

    with graph.control_dependencies(checks):
        return rest(0)


def _count(tests: list[Any]) -> Any:
    """Return how many conditions hold."""
    from .making import cast

    total: Any = 0
    for test in tests:
        total = total + cast(test, "int32")
    return total


def _require(condition: Any, message: str) -> Any:
    """Fail where a condition does not hold."""
    if has_symbols(condition):
        return graph.record_effect(_require, (condition, message), {})
    if current() is not None:
        check(plain(condition), f"{message}, expected another number of them")
    elif not sampling.holds_back() and not bool(condition):
        raise InvalidArgumentError(f"{message}, expected another number of them.")
    return graph.DONE


def switch_case(
    branch_index: Any, branch_fns: Any, default: Function | None = None, name: Any = "switch_case"
) -> Any:
    """Return what the function of a number gives; of no number that is there, the default.

    Without a default the last function is it.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.switch_case(tf.constant(1), [lambda: 10, lambda: 20]).numpy()
    np.int32(20)
    """
    if isinstance(branch_fns, dict):
        pairs = list(branch_fns.items())
    elif all(isinstance(one, tuple) for one in branch_fns):
        pairs = list(branch_fns)
    else:
        pairs = list(enumerate(branch_fns))
    if not pairs:
        raise ValueError("switch_case: no branches; got an empty list, expected functions.")
    pairs.sort(key=lambda pair: int(pair[0]))
    for _, function in pairs:
        _check_callable("switch_case", "a branch", function)
    last = pairs.pop()[1] if default is None else default

    def rest(at: int) -> Any:
        if at == len(pairs):
            return last()
        return _choose(
            "switch_case", branch_index == pairs[at][0], pairs[at][1], lambda: rest(at + 1)
        )

    return as_results(rest(0)) if current() is None else rest(0)


# --- loops ---


def while_loop(
    cond: Function,
    body: Function,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: Any = None,
) -> Any:
    """Call a function on its own results while a condition holds.

    In a map every element leaves the loop by itself. ``parallel_iterations``, ``back_prop`` and
    ``swap_memory`` have nothing to change.

    Parameters
    ----------
    cond, body : callable
        Functions of the variables; the second returns them for the next step.
    loop_vars : list or tuple
        Tensors, `TensorArray` and nested ones.
    shape_invariants : nested shapes, optional
        What is known of shapes that change from step to step.
    maximum_iterations : int, optional
        How many steps there may be.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i), [0, 0])[1].numpy()
    np.int32(10)
    """
    for given, function in (("cond", cond), ("body", body)):
        _check_callable("while_loop", given, function)
    is_list = isinstance(loop_vars, (list, tuple))
    state = list(loop_vars) if is_list else [loop_vars]
    if not state:
        raise ValueError("while_loop: no variables; got an empty list, expected loop_vars.")
    result = _loop(cond, body, state, maximum_iterations, shape_invariants)
    if not is_list:
        return result[0]
    if hasattr(loop_vars, "_fields"):
        return type(loop_vars)(*result)
    return tuple(result) if isinstance(loop_vars, tuple) else result


def _while_loop_v1(
    cond: Function,
    body: Function,
    loop_vars: Any,
    *args: Any,
    return_same_structure: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a function on its own results while a condition holds; one variable is no list."""
    result = while_loop(cond, body, loop_vars, *args, **kwargs)
    is_one = isinstance(loop_vars, (list, tuple)) and len(loop_vars) == 1
    return result[0] if is_one and not return_same_structure else result


def _loop(cond: Function, body: Function, state: list[Any], most: Any, shapes: Any) -> list[Any]:
    if current() is not None:
        return _loop_inside(cond, body, state, most)
    if graph.building() is not None or has_symbols((cond, body, state, most)):
        return _loop_in_graph(cond, body, state, most, shapes)
    return _loop_now(cond, body, state, most)


def _following(result: Any, count: int) -> list[Any]:
    """Return what a step gave as a list of as many values as there are variables."""
    following = list(result) if isinstance(result, (list, tuple)) else [result]
    if len(following) != count:
        raise ValueError(
            f"while_loop: body does not return all variables; got {len(following)}, expected "
            f"{count}, as in loop_vars."
        )
    return following


def _loop_inside(cond: Function, body: Function, state: list[Any], most: Any) -> list[Any]:
    """Record a loop."""
    first = [settled(plain_parts(part)) for part in state]
    if most is None:
        return list(record_loop(cond, lambda *parts: _step_inside(body, parts), first))
    counted = record_loop(
        lambda step, *parts: flow.and_(step < plain(most), lambda: flow.call(cond, *parts)),
        lambda step, *parts: [step + 1, *_step_inside(body, parts)],
        [np.int32(0), *first],
    )
    return list(counted[1:])


def plain_parts(value: Any) -> Any:
    """Return nested tensors as the recorder knows them."""
    leaves: list[Any] = []
    structure = flatten(value, leaves, split_result)
    return unflatten(structure, iter([plain(leaf) for leaf in leaves]))


def _step_inside(body: Function, parts: tuple[Any, ...]) -> list[Any]:
    return [settled(part) for part in _following(flow.call(body, *parts), len(parts))]


def _loop_now(cond: Function, body: Function, state: list[Any], most: Any) -> list[Any]:
    """Run a loop: as one program or, where that cannot be, in Python."""
    leaves: list[Any] = []
    structure = flatten(state, leaves, split)
    leaves = [leaf if isinstance(leaf, TensorArray) else array_of(leaf) for leaf in leaves]
    if sampling.is_on():
        values = unflatten(structure, iter([_as_tensor(leaf) for leaf in leaves]))
        return [as_results(part) for part in _following(body(*values), len(values))]
    arrays = [leaf.passed() if isinstance(leaf, TensorArray) else leaf for leaf in leaves]
    kinds = [tuple(leaf.kind) if isinstance(leaf, TensorArray) else None for leaf in leaves]

    def recorded(fixed: Any, *given: Any) -> Any:
        return _loop_of_arrays(cond, body, fixed, given)

    try:
        bound = None if most is None else int(array_of(most))
        fixed = None, structure, tuple(kinds), bound
        result = run_recorded("while_loop", recorded, (cond, body), fixed, arrays)
        return list(_restored(state, result))
    except NotRecordedError:
        values = unflatten(structure, iter([_as_tensor(leaf) for leaf in leaves]))
        return _loop_in_python(cond, body, values, bound)


def _loop_of_arrays(
    cond: Function, body: Function, fixed: tuple[Any, ...], given: tuple[Any, ...]
) -> list[Any]:
    """Record a loop whose variables are passed as arrays."""
    _, structure, kinds, most = fixed
    parts = [
        one if kind is None else TensorArray.of_kind(Kind(*kind), one)
        for one, kind in zip(given, kinds, strict=True)
    ]
    found = _loop_inside(cond, body, unflatten(structure, iter(parts)), most)
    return [_stacked(part) for part in found]


def _loop_in_python(
    cond: Function, body: Function, state: list[Any], most: int | None
) -> list[Any]:
    steps = 0
    while (most is None or steps < most) and bool(cond(*state)):
        state = [as_results(part) for part in _following(body(*state), len(state))]
        steps += 1
    return state


def _stacked(value: Any) -> Any:
    """Return nested variables with tensors in place of arrays of them."""
    leaves: list[Any] = []
    structure = flatten(value, leaves, split_result)
    stacks = (leaf.stack() if isinstance(leaf, TensorArray) else leaf for leaf in leaves)
    return unflatten(structure, iter(list(stacks)))


def _restored(state: Any, result: Any) -> Any:
    """Return what a loop gave with arrays of tensors where they were."""
    leaves: list[Any] = []
    structure = flatten(result, leaves, split_result)
    before: list[Any] = []
    flatten(state, before, split)
    pairs = zip(before, leaves, strict=True)
    made = [new if not isinstance(old, TensorArray) else old.holding(new) for old, new in pairs]
    return unflatten(structure, iter(made))


def _loop_in_graph(
    cond: Function, body: Function, state: list[Any], most: Any, shapes: Any
) -> list[Any]:
    result = graph.record(_loop_of_node, (cond, body, state, most), {})
    if shapes is not None:
        _set_shapes(result, shapes)
    return list(_restored(state, result))


def _loop_of_node(cond: Function, body: Function, state: list[Any], most: Any) -> list[Any]:
    return [_stacked(part) for part in _loop_now(cond, body, state, most)]


def _set_shapes(result: Any, shapes: Any) -> None:
    """Let nodes have the shapes that their user says they have."""
    from .shapes import TensorShape
    from .specs import TensorSpec

    symbols: list[Any] = []
    flatten(result, symbols, split_result)
    said: list[Any] = []
    flatten(
        shapes, said, lambda one: None if isinstance(one, (TensorShape, TensorSpec)) else split(one)
    )
    for symbol, shape in zip(symbols, said, strict=False):
        if isinstance(shape, (TensorShape, TensorSpec)):
            symbol.be_of_shape(getattr(shape, "shape", shape))


NAMES = {
    **listed("", [cond, case, switch_case, while_loop]),
    "compat.v1.while_loop": _while_loop_v1,
}
