"""Graphs and sessions: what is written down now, and run later."""

import subprocess
import sys

import numpy as np
import pytest

import lanewise.compat.tf as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def fresh_graph():
    """Let every test begin with a graph of its own, and leave eager execution on."""
    v1.reset_default_graph()
    yield
    v1.enable_eager_execution()
    v1.reset_default_graph()


@pytest.fixture
def lazy():
    v1.disable_eager_execution()


def says(error, words, function):
    with pytest.raises(error) as caught:
        function()
    assert words in str(caught.value)


# --- sessions ---


def test_a_session_hands_out_what_is_there_already():
    y = tf.map_fn(lambda x: x * 2, tf.constant([1, 2, 3]))
    with v1.Session() as session:
        result = session.run(y)
    assert isinstance(result, np.ndarray)
    assert result.tolist() == [2, 4, 6]


def test_a_session_gives_values_nested_as_they_are_asked_for():
    x = v1.placeholder(tf.float32, [None], name="x")
    v = tf.Variable([1.0, 2.0])
    wanted = {"a": x + 1, "b": (tf.reduce_sum(x), [v, tf.constant(7)]), "none": None}
    with v1.Session() as session:
        found = session.run(wanted, {x: [1.0, 2.0]})
        assert session.run(x, {"x:0": [5.0]}).tolist() == [5]
        assert session.run("x:0", {x: [5.0]}).tolist() == [5]
        assert session.run([], {x: [5.0]}) == []
    assert found["a"].tolist() == [2, 3]
    assert found["b"][0] == 3
    assert isinstance(found["b"][0], np.float32)
    assert found["b"][1][0].tolist() == [1, 2]
    assert found["b"][1][1] == 7
    assert found["none"] is None


def test_one_graph_serves_all_sizes():
    x = v1.placeholder(tf.float32, [None, 2])
    y = tf.map_fn(lambda row: tf.reduce_sum(row) * 2, x) + tf.reduce_mean(x)
    assert y.shape.as_list() == [None]
    with v1.Session() as session:
        for n in (1, 2, 5, 100):
            rows = np.ones((n, 2))
            assert session.run(y, feed_dict={x: rows}).tolist() == [5.0] * n


def test_any_tensor_may_be_fed():
    x = v1.placeholder(tf.float32, [])
    y = x * 2
    z = y + 1
    with v1.Session() as session:
        assert session.run(z, {x: 3}) == 7
        assert session.run(z, {y: 10}) == 11


def test_what_is_fed_takes_the_type_of_its_placeholder():
    x = v1.placeholder(tf.int64, [2])
    with v1.Session() as session:
        result = session.run(x, {x: (1, 2)})
        assert result.dtype == np.int64
        assert session.run(x, {x: tf.constant([3, 4])}).tolist() == [3, 4]


def test_a_placeholder_may_have_a_value_where_none_is_fed():
    x = v1.placeholder_with_default([1.0, 2.0], [None])
    y = x * 2
    with v1.Session() as session:
        assert session.run(y).tolist() == [2, 4]
        assert session.run(y, {x: [5.0]}).tolist() == [10]
        assert session.run(y).tolist() == [2, 4]


def test_what_a_session_refuses():
    x = v1.placeholder(tf.float32, [None, 2], name="pairs")
    y = x + 1
    session = v1.Session()
    says(
        ValueError,
        "Session.run: a tensor was not fed; got no value for <tf.Tensor 'pairs:0' shape=(None, 2) "
        "dtype=float32>, expected feed_dict={pairs: ...}.",
        lambda: session.run(y),
    )
    says(
        ValueError,
        "Session.run: what is fed has another shape; got (3,) for pairs:0, expected (None, 2).",
        lambda: session.run(y, {x: [1.0, 2.0, 3.0]}),
    )
    says(
        ValueError,
        "Session.run: what is fed is no tensor; got 'text' for pairs:0, expected float32 of shape "
        "(None, 2).",
        lambda: session.run(y, {x: "text"}),
    )
    says(
        TypeError,
        "Session.run: what is fed is no placeholder; got 3, expected a tensor of a graph as a key.",
        lambda: session.run(y, {3: 4}),
    )
    says(
        TypeError,
        "Session.run: cannot be fetched; got <object object at",
        lambda: session.run(object()),
    )
    says(
        KeyError,
        "get_tensor_by_name: no tensor has this name; got 'nothing:0', expected one of: pairs.",
        lambda: session.run("nothing:0"),
    )
    session.close()
    says(
        RuntimeError,
        "Session.run: the session is closed; got a call, expected it open.",
        lambda: session.run(tf.constant(1)),
    )


def test_tensors_evaluate_themselves_in_the_default_session():
    x = v1.placeholder(tf.float32, [])
    y = x * 2
    assert v1.get_default_session() is None
    says(
        ValueError,
        "eval: no session is the default one; got none, expected `with Session():` around it, or "
        "session=.",
        y.eval,
    )
    with v1.Session().as_default() as session:
        assert v1.get_default_session() is session
        assert y.eval({x: 4.0}) == 8
        assert tf.constant(3).eval() == 3
    interactive = v1.InteractiveSession()
    assert y.eval(feed_dict={x: 1.0}) == 2
    interactive.close()
    assert v1.get_default_session() is None
    other = v1.Session(graph=v1.get_default_graph(), config=v1.ConfigProto())
    assert y.eval({x: 1.0}, session=other) == 2
    call = other.make_callable(y, [x])
    assert [call(1.0), call(2.0)] == [2, 4]


def test_settings_are_accepted():
    config = v1.ConfigProto(allow_soft_placement=True, device_count={"GPU": 0})
    config.gpu_options.allow_growth = True
    config.intra_op_parallelism_threads = 2
    assert config.allow_soft_placement is True
    options = v1.GPUOptions(per_process_gpu_memory_fraction=0.5)
    with v1.Session("", config=config) as session:
        result = session.run(tf.constant(1), options=v1.RunOptions(), run_metadata=v1.RunMetadata())
    assert result == 1
    assert options.per_process_gpu_memory_fraction == 0.5
    v1.logging.set_verbosity(v1.logging.ERROR)
    assert v1.logging.get_verbosity() == v1.logging.WARN


# --- eager execution is off ---


def test_constants_are_nodes_where_eager_execution_is_off(lazy):
    assert not tf.executing_eagerly()
    x = tf.constant([1.0, 2.0])
    y = x * 2 + 1
    assert repr(y).startswith("<tf.Tensor 'add")
    assert y.shape.as_list() == [2]
    assert y.dtype == tf.float32
    says(
        TypeError,
        "bool: the value of a tensor is not known while its graph is built; got <tf.Tensor "
        "'greater",
        lambda: bool(y[0] > 0),
    )
    says(
        TypeError,
        "expected a plain value. Use tf.cond, tf.while_loop or tf.map_fn, or a tf.function; "
        "Session.run gives values.",
        lambda: y.numpy(),
    )
    with v1.Session() as session:
        assert session.run(y).tolist() == [3, 5]


def test_variables_of_a_graph(lazy):
    v = tf.Variable([1.0, 2.0], name="weights")
    add = v1.assign_add(v, [10.0, 10.0])
    double = v * 2
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        assert session.run(double).tolist() == [2, 4]
        assert session.run(add).tolist() == [11, 12]
        assert session.run(double).tolist() == [22, 24]
        assert v.eval().tolist() == [11, 12]
        assert session.run([v1.assign(v, [0.0, 1.0]), v])[1].tolist() == [0, 1]
        session.run(v1.assign_sub(v, [1.0, 1.0]))
        assert session.run(v).tolist() == [-1, 0]
        assert session.run(v.initializer) is None
        assert session.run(v).tolist() == [1, 2]
    assert [one.name for one in v1.global_variables()] == ["weights:0"]


def test_a_variable_begins_with_what_a_node_gives(lazy):
    v = tf.Variable(tf.random.normal([3]))
    twice = tf.Variable(v.initial_value * 0 + 5.0)
    with v1.Session() as session:
        first = session.run(v)
        session.run(v1.global_variables_initializer())
        assert session.run(v).tolist() != first.tolist()
        assert session.run(twice).tolist() == [5, 5, 5]


def test_a_map_adds_to_a_variable_when_it_runs(lazy):
    total = tf.Variable(0.0)
    mapped = tf.map_fn(lambda x: [total.assign_add(x), x * 2][1], tf.constant([1.0, 2.0]))
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        assert session.run(total) == 0
        assert session.run(mapped).tolist() == [2, 4]
        assert session.run(total) == 3


def test_nodes_run_after_those_that_they_have_to(lazy):
    v = tf.Variable(1.0)
    change = v1.assign(v, 5.0)
    with tf.control_dependencies([change]):
        after = v * 10
        done = tf.no_op()
    both = tf.group(change, done)
    with v1.Session() as session:
        session.run(v1.variables_initializer([v]))
        assert session.run(after) == 50
        session.run(v.initializer)
        assert session.run(done) is None
        assert session.run(v) == 5
        session.run(v.initializer)
        assert session.run([both, v1.local_variables_initializer()]) == [None, None]
        assert session.run(v) == 5


def test_only_what_is_needed_runs(lazy):
    v = tf.Variable(0.0)
    changed = v1.assign_add(v, 1.0)
    other = tf.constant(3.0) * 2
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        session.run(other)
        assert session.run(v) == 0
        session.run(changed)
        assert session.run(v) == 1


def test_functions_are_parts_of_a_graph(lazy):
    f = tf.function(lambda x: tf.sin(x) * 2)
    y = f(tf.constant([1.0]))
    with v1.Session() as session:
        np.testing.assert_array_equal(session.run(y), np.sin(np.float32([1])) * 2)


def test_graphs_are_apart():
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        x = v1.placeholder(tf.float32, [], name="x")
        y = x + 1
        assert v1.get_default_graph() is first
        w = v1.get_variable("w", initializer=3.0)
    with second.as_default():
        v1.placeholder(tf.float32, [], name="x")
        assert v1.get_variable("w", initializer=4.0) is not w
        assert not tf.executing_eagerly()
    assert tf.executing_eagerly()
    assert first.get_tensor_by_name("x:0") is x
    with v1.Session(graph=first) as session:
        assert v1.get_default_graph() is first
        assert session.run(y, {"x:0": 2.0}) == 3
        assert [one.name for one in v1.global_variables()] == ["w:0"]
    assert v1.global_variables() == []


def test_collections_of_a_graph():
    v1.add_to_collection("losses", 1.0)
    v1.add_to_collection("losses", 2.0)
    assert v1.get_collection("losses") == [1.0, 2.0]
    v = v1.get_variable("v", [2], trainable=False)
    w = v1.get_variable("w", [2])
    assert v1.get_collection(v1.GraphKeys.GLOBAL_VARIABLES) == [v, w]
    assert v1.trainable_variables() == [w]
    assert v1.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES) == [w]


# --- variables by name ---


def test_variables_have_the_names_of_their_scopes():
    with v1.variable_scope("outer") as outer, v1.variable_scope("inner"):
        v = v1.get_variable("v", [2, 3], initializer=tf.ones_initializer())
    assert v.name == "outer/inner/v:0"
    assert v.numpy().tolist() == [[1, 1, 1]] * 2
    assert outer.global_variables() == [v]
    assert outer.trainable_variables() == [v]
    with tf.name_scope("anything") as name:
        assert name == "anything/"
        assert v1.get_variable("w", [1]).name == "w:0"


def test_variables_are_used_again_only_where_that_is_said():
    with v1.variable_scope("scope"):
        v = v1.get_variable("v", [2])
        says(
            ValueError,
            "get_variable: there is such a variable; got 'scope/v', expected a new name. Use "
            "variable_scope(..., reuse=tf.AUTO_REUSE) to find it again.",
            lambda: v1.get_variable("v", [2]),
        )
    with v1.variable_scope("scope", reuse=True) as scope:
        assert v1.get_variable("v", [2]) is v
        assert v1.get_variable_scope() is scope
        says(
            ValueError,
            "get_variable: there is no such variable; got 'scope/w', expected one of: scope/v. "
            "Make it first, or use reuse=tf.AUTO_REUSE.",
            lambda: v1.get_variable("w", [2]),
        )
        says(
            ValueError,
            "get_variable: the variable 'scope/v' is another one; got shape (3,), expected (2,) of "
            "float32.",
            lambda: v1.get_variable("v", [3]),
        )
    with v1.variable_scope(scope, reuse=v1.AUTO_REUSE):
        assert v1.get_variable("v") is v
        assert v1.get_variable("w", [1]).name == "scope/w:0"
    with v1.variable_scope("scope") as again:
        again.reuse_variables()
        assert v1.get_variable("v") is v
    says(
        ValueError,
        "get_variable: the shape of a new variable is not known; got None for 'u', expected all "
        "sizes, or an initializer that is a tensor.",
        lambda: v1.get_variable("u"),
    )
    with (
        pytest.raises(ValueError, match="variable_scope: no name; got None, expected a text"),
        v1.variable_scope(None),
    ):
        pass


def test_a_variable_in_the_body_of_a_map_is_made_once():
    def doubled(x):
        with v1.variable_scope("body"):
            two = v1.get_variable("two", [], tf.int32, tf.constant_initializer(2))
            return x * two

    with v1.variable_scope("root") as scope:
        elems = tf.constant([1, 2, 3])
        for _ in range(2):
            assert tf.map_fn(doubled, elems).numpy().tolist() == [2, 4, 6]
            assert [v.name for v in v1.trainable_variables()] == ["root/body/two:0"]
            scope.reuse_variables()


@pytest.mark.parametrize(
    ("initializer", "check"),
    [
        (tf.zeros_initializer(), lambda x: (x == 0).all()),
        (tf.ones_initializer(), lambda x: (x == 1).all()),
        (tf.constant_initializer(2.5), lambda x: (x == 2.5).all()),
        (tf.constant_initializer(list(range(2000))), lambda x: x[0, 1] == 1 and x[39, 49] == 1999),
        (tf.random_uniform_initializer(1, 2), lambda x: (x >= 1).all() and (x < 2).all()),
        (tf.random_normal_initializer(5, 0.1), lambda x: abs(x.mean() - 5) < 0.05),
        (v1.truncated_normal_initializer(0, 1), lambda x: (abs(x) <= 2).all() and x.std() > 0.5),
        (v1.glorot_uniform_initializer(), lambda x: abs(x).max() <= (6 / 90) ** 0.5),
        (v1.glorot_normal_initializer(), lambda x: 0.1 < x.std() < 0.2),
        (v1.variance_scaling_initializer(2.0), lambda x: 0.15 < x.std() < 0.3),
        (tf.zeros_initializer, lambda x: (x == 0).all()),
    ],
)
def test_what_variables_begin_with(initializer, check):
    v = v1.get_variable("v", [40, 50], initializer=initializer)
    assert v.dtype == tf.float32
    assert check(v.numpy())


def test_initializers_give_tensors():
    assert tf.ones_initializer()([2], dtype=tf.int32).numpy().tolist() == [1, 1]
    assert tf.random_uniform_initializer(0, 9)([3], tf.int64).dtype == tf.int64
    a = tf.random_normal_initializer(seed=1)([3]).numpy()
    assert a.shape == (3,)
    says(
        ValueError,
        "constant_initializer: another number of values than the shape has; got 3, expected 1 or "
        "2.",
        lambda: tf.constant_initializer([1, 2, 3])([2]),
    )


# --- names ---


def test_all_of_tf_is_found_below_compat():
    assert v1.map_fn is tf.map_fn
    assert v1.math.sin is tf.math.sin
    assert v1.random.normal is tf.random.normal
    assert v1.random.set_random_seed is tf.random.set_seed
    assert tf.compat.v2.constant is tf.constant
    assert tf.placeholder is v1.placeholder
    assert tf.Session is v1.Session
    assert tf.global_variables_initializer is v1.global_variables_initializer
    with pytest.raises(NotImplementedError, match=r"tf\.compat\.v1\.layers: not supported"):
        v1.layers.dense(1)


PROGRAM = """
import {name} as tf
tf.disable_v2_behavior()
x = tf.placeholder(tf.float32, [None])
v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
step = tf.assign_add(v, tf.reduce_sum(x))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(step, feed_dict={{x: [1.0, 2.0]}})
    print(session.run(v), tf.math.sin(tf.constant(0.0)).shape)


def main(argv):
    return len(argv) - 1


tf.app.run()
"""


@pytest.mark.parametrize("name", ["lanewise.compat.tf.compat.v1", "lanewise.compat.tf.v1"])
def test_programs_change_their_import_line(name):
    program = [sys.executable, "-c", PROGRAM.format(name=name), "one", "two"]
    found = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr, found.returncode) == ("9.0 ()\n", "", 2)


def test_prints_of_a_graph(lazy, capsys):
    x = tf.constant([1, 2])
    y = v1.Print(x, [x * 2], "doubled: ") + 1
    with v1.Session() as session:
        assert capsys.readouterr().err == ""
        assert session.run(y).tolist() == [2, 3]
    assert capsys.readouterr().err == "doubled: [[2 4]]\n"


# --- functions that nodes keep ---


def test_functions_of_nodes_find_values_where_they_found_nodes():
    x = v1.placeholder(tf.float32, [])
    scale = x * 10

    def recursive(n, value):
        return value if n == 0 else recursive(n - 1, value + scale)

    def default(row, offset=scale):
        return row + offset

    rows = tf.constant([1.0, 2.0])
    wanted = [
        tf.map_fn(lambda row: row * scale, rows),
        tf.map_fn(lambda row: recursive(2, row), rows),
        tf.map_fn(default, rows),
        tf.cond(x > 0, lambda: recursive(3, x), lambda: x),
    ]
    with v1.Session() as session:
        for value in (1.0, 2.0):
            found = session.run(wanted, {x: value})
            expected = [
                [value * 10, value * 20],
                [1 + 20 * value, 2 + 20 * value],
                [1 + 10 * value, 2 + 10 * value],
                31 * value,
            ]
            assert [part.tolist() for part in found] == expected


def test_numbers_of_results_may_not_depend_on_sizes_that_are_not_known():
    x = v1.placeholder(tf.float32, [3, None])
    a, _, c = tf.unstack(x)
    with v1.Session() as session:
        found = session.run([c, a], {x: [[1.0], [2.0], [3.0]]})
    assert [part.tolist() for part in found] == [[3], [1]]
    f = tf.function(lambda x: tf.add_n(tf.unstack(x)))
    assert f(tf.ones([4, 2])).numpy().tolist() == [4, 4]
    assert f(tf.ones([5, 2])).numpy().tolist() == [5, 5]
