"""``tf.compat.v1``: the habits of TensorFlow 1. Everything of ``tf`` is found here too.

>>> import lanewise.compat.tf.v1 as tf
>>> tf.disable_v2_behavior()
>>> total = tf.get_variable("total", [], initializer=tf.zeros_initializer())
>>> step = tf.assign_add(total, 2.0)
>>> with tf.Session() as session:
...     session.run(tf.global_variables_initializer())
...     session.run([step, step, total * 10])
[np.float32(2.0), np.float32(2.0), np.float32(20.0)]
>>> tf.enable_v2_behavior()
"""

import sys
import types
from collections.abc import Iterable
from typing import Any

from ...recorder import current
from . import graph, sampling
from .bindings import has_symbols, symbols_in
from .graph import DONE, Graph, control_dependencies
from .names import listed
from .scopes import global_variables
from .seeds import set_seed
from .variables import Variable


def disable_eager_execution() -> None:
    """Let calls be written down from now on; a `Session` runs them."""
    graph.be_lazy(True)


def enable_eager_execution(*_: Any, **__: Any) -> None:
    """Let calls be done from now on."""
    graph.be_lazy(False)


def executing_eagerly() -> bool:
    """Say whether calls are done, and not written down or recorded."""
    return graph.building() is None and current() is None


def executing_eagerly_outside_functions() -> bool:
    """Say whether calls outside of any function are done, and not written down."""
    return not graph.is_lazy()


def disable_v2_behavior() -> None:
    """Let calls be written down from now on, as in TensorFlow 1; a `Session` runs them."""
    graph.be_lazy(True)


def enable_v2_behavior() -> None:
    """Let calls be done from now on, as in TensorFlow 2."""
    graph.be_lazy(False)


def _nothing() -> None:
    """Do nothing: this is so already."""


def get_default_graph() -> Graph:
    """Return the graph that calls are written down in."""
    return graph.default_graph()


def reset_default_graph() -> None:
    """Begin another graph; variables of the one before are found no more."""
    graph.reset_default_graph()


# --- operations ---


def _all_done(*_: Any) -> Any:
    return DONE


def group(*inputs: Any, name: str | None = None, **_: Any) -> Any:
    """Return an operation that does what others do."""
    return graph.record(_all_done, tuple(symbols_in(inputs)), {})


def no_op(name: str | None = None) -> Any:
    """Return an operation that does nothing."""
    return graph.record(_all_done, (), {})


def _begin_all(variables: list[Variable]) -> Any:
    if not sampling.holds_back():
        for variable in variables:
            variable.reset()
    return DONE


def variables_initializer(var_list: Iterable[Any], name: str | None = None) -> Any:
    """Return an operation by which variables get their first value."""
    return graph.record_effect(_begin_all, (list(var_list),), {})


def global_variables_initializer() -> Any:
    """Return an operation by which all variables get their first value."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Any:
    """Return an operation that does nothing: variables are of the graph."""
    return no_op()


def tables_initializer(name: str | None = None) -> Any:
    """Return an operation that does nothing: tables are there when they are made."""
    return no_op()


def assign(ref: Any, value: Any, *_: Any, **__: Any) -> Any:
    """Give a variable another value."""
    return ref.assign(value)


def assign_add(ref: Any, value: Any, *_: Any, **__: Any) -> Any:
    """Add to a variable."""
    return ref.assign_add(value)


def assign_sub(ref: Any, value: Any, *_: Any, **__: Any) -> Any:
    """Subtract from a variable."""
    return ref.assign_sub(value)


def add_to_collection(name: Any, value: Any) -> None:
    """Append a value to those of a name."""
    graph.default_graph().add_to_collection(name, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """Return the values of a name."""
    if key == GraphKeys.GLOBAL_VARIABLES:
        return list(global_variables(scope))
    if key == GraphKeys.TRAINABLE_VARIABLES:
        return [v for v in global_variables(scope) if v.trainable]
    return graph.default_graph().get_collection(key, scope)


class GraphKeys:
    """The names of collections that there always are."""

    GLOBAL_VARIABLES = "variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    LOCAL_VARIABLES = "local_variables"
    LOSSES = "losses"
    REGULARIZATION_LOSSES = "regularization_losses"
    UPDATE_OPS = "update_ops"
    SUMMARIES = "summaries"


# --- settings ---


class Options(types.SimpleNamespace):
    """Settings that TensorFlow's sessions take: anything may be set, and has nothing to change."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = Options()
        setattr(self, name, value)
        return value


class ConfigProto(Options):
    """The settings of a session, without effect: all cores are used, and memory as needed."""


class GPUOptions(Options):
    """The settings of GPUs, without effect: there are none."""


class RunOptions(Options):
    """The settings of a run, without effect."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = range(4)


class RunMetadata(Options):
    """What is told of a run: nothing."""


def set_verbosity(v: Any) -> None:
    """Do nothing: there is no log."""


def get_verbosity() -> int:
    """Return the level of warnings."""
    return _LEVELS["WARN"]


_LEVELS = {"DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50}


def run(main: Any = None, argv: list[str] | None = None) -> None:
    """Call ``main(argv)``, of the program if none is given, and end with what it returns."""
    if main is None:
        main = sys.modules["__main__"].main
    sys.exit(main(sys.argv if argv is None else argv))


def Print(  # noqa: N802  # TensorFlow's name
    input_: Any, data: Any, message: str = "", first_n: Any = None, summarize: Any = None, **_: Any
) -> Any:
    """Return a tensor; where it is computed, others are printed."""
    if has_symbols((input_, data)):
        return graph.record_effect(Print, (input_, data, message), {})
    if not sampling.holds_back():
        values = [str(getattr(part, "_value", part)) for part in data]
        print(message + "".join(f"[{value}]" for value in values), file=sys.stderr)
    return input_


_BOTH = [
    *(global_variables_initializer, local_variables_initializer, variables_initializer),
    *(tables_initializer, assign, assign_add, assign_sub, group, no_op, control_dependencies),
    *(get_default_graph, reset_default_graph, disable_eager_execution, disable_v2_behavior),
    *(enable_eager_execution, enable_v2_behavior, executing_eagerly, add_to_collection),
    *(get_collection, ConfigProto, GPUOptions, RunOptions, RunMetadata, GraphKeys, Graph, Print),
]
NAMES: dict[str, Any] = {
    **listed("compat.v1", _BOTH),
    "compat.v1.set_random_seed": set_seed,
    "set_random_seed": set_seed,
    "compat.v1.random.set_random_seed": set_seed,
    "compat.v1.disable_tensor_equality": _nothing,
    "compat.v1.enable_tensor_equality": _nothing,
    "compat.v1.enable_resource_variables": _nothing,
    "compat.v1.disable_resource_variables": _nothing,
    "compat.v1.disable_control_flow_v2": _nothing,
    "compat.v1.enable_control_flow_v2": _nothing,
    "compat.v1.executing_eagerly_outside_functions": executing_eagerly_outside_functions,
    "compat.v1.logging.set_verbosity": set_verbosity,
    "compat.v1.logging.get_verbosity": get_verbosity,
    "compat.v1.app.run": run,
    **{f"compat.v1.logging.{name}": level for name, level in _LEVELS.items()},
}
globals().update(
    {
        path.rpartition(".")[2]: value
        for path, value in NAMES.items()
        if path.startswith("compat.v1.") and path.count(".") == 2
    }
)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(sys.modules[f"{__package__}.compat.v1"], name)
