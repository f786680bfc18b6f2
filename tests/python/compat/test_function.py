"""``tf.function``: how often Python is called, how it runs, and what is said of it."""

import collections
import functools
import gc
import weakref

import numpy as np
import pytest

import lanewise as lw
import lanewise.compat.tf as tf

SCALE = 2.0
COUNTED = 0


def says(error, words, function):
    with pytest.raises(error) as caught:
        function()
    assert words in str(caught.value)


def mode_of(function):
    """Return how the last trace of a function runs."""
    lines = [line for line in function.explain().splitlines() if ": (" in line]
    return [line.split(":")[0].strip() for line in lines if line[2] != " "][-1]


# --- how often it is traced ---


def test_five_hundred_batch_sizes_need_one_trace():
    seen = []

    @tf.function
    def f(x):
        seen.append(1)
        return tf.sin(x) + tf.reduce_sum(x, axis=1, keepdims=True)

    for n in range(1, 501):
        x = np.full((n, 3), 0.5, np.float32)
        np.testing.assert_array_equal(f(tf.constant(x)), np.sin(x) + np.float32(1.5))
    assert len(seen) == 1
    assert f.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("kind", [int, float])
def test_numbers_of_python_need_no_trace(kind):
    seen = []

    @tf.function
    def f(x, n, k=3.0):
        seen.append(1)
        return tf.reduce_sum(x) * n + n * k

    x = tf.constant([1.0, 2.0])
    for i in range(50):
        assert f(x, kind(i)).numpy() == 3 * i + 3 * i
        assert f(x, kind(i), k=5.0).numpy() == 3 * i + 5 * i
    assert len(seen) == 1


def test_numbers_may_be_where_shapes_and_axes_are():
    seen = []

    @tf.function
    def f(x, rows, axis):
        seen.append(1)
        return tf.reduce_sum(tf.reshape(x, [rows, -1]), axis=axis)

    x = np.arange(12.0)
    for rows, axis in ((2, 0), (3, 1), (4, 0)):
        np.testing.assert_array_equal(f(x, rows, axis), x.reshape(rows, -1).sum(axis))
    assert len(seen) == 1


def test_a_number_whose_value_python_needs_is_a_part_of_the_trace():
    seen = []

    @tf.function
    def power(x, n):
        seen.append(1)
        result = tf.ones_like(x)
        for _ in range(n):
            result = result * x
        return result

    x = tf.constant([2.0, 3.0])
    assert power(x, 2).numpy().tolist() == [4, 9]
    assert power(x, 3).numpy().tolist() == [8, 27]
    assert power(x, 2).numpy().tolist() == [4, 9]
    assert len(seen) == 3  # the first shows that n is needed
    assert "Python needs the value of n (index)" in power.explain()
    assert "n changed from 2 to 3" in power.explain()


@pytest.mark.parametrize(
    "use",
    [
        lambda n: {1: 10.0, 2: 20.0}[n],
        lambda n: float(f"{n}0"),
        lambda n: 10.0 if n == 1 else 20.0,
        lambda n: [0.0, 10.0, 20.0][n],
        lambda n: round(n * 1.0) * 10.0 if isinstance(n, int) else int(n) * 10.0,
    ],
)
def test_whatever_python_does_with_a_number_it_finds_its_value(use):
    f = tf.function(lambda x, n: x * use(n))
    assert [f(tf.constant(1.0), n).numpy() for n in (1, 2, 1)] == [10, 20, 10]


def test_another_type_or_rank_is_another_trace():
    f = tf.function(lambda x: x + x)
    f(tf.constant([1.0]))
    f(tf.constant([1]))
    f(tf.constant([[1]]))
    assert f.experimental_get_tracing_count() == 3
    text = f.explain()
    assert (
        "x changed from a tensor of float32 with 1 dimensions to a tensor of int32 with 1 "
        "dimensions" in text
    )
    assert (
        "x changed from a tensor of int32 with 1 dimensions to a tensor of int32 with 2 "
        "dimensions" in text
    )


def test_other_arguments_are_parts_of_the_trace():
    seen = []

    @tf.function
    def f(x, how, flag=None):
        seen.append(how)
        return {"double": x * 2, "square": x * x}[how] + (1 if flag else 0)

    x = tf.constant(3.0)
    assert [f(x, "double").numpy(), f(x, "square").numpy()] == [6, 9]
    assert [f(x, "double", True).numpy(), f(x, "double").numpy()] == [7, 6]
    assert seen == ["double", "square", "double"]
    assert "how changed from 'double' to 'square'" in f.explain()


def test_sizes_that_python_asks_for_are_parts_of_the_trace_and_then_vary():
    seen = []

    @tf.function
    def f(x):
        seen.append(x.shape.as_list())
        columns = x.shape[1] or 1
        return x * columns

    assert f(tf.ones([4, 3])).numpy()[0, 0] == 3
    assert f(tf.ones([5, 3])).numpy()[0, 0] == 3
    assert seen == [[None, 3]]
    f(tf.ones([5, 2]))
    assert seen == [[None, 3], [None, None]]
    assert "the shape of x changed from (None, 3) to (5, 2)" in f.explain()


def test_large_tensors_are_traced_with_small_samples():
    w = tf.Variable(np.ones((100, 3), np.float32))
    f = tf.function(lambda x: tf.matmul(x, w))
    assert f(tf.ones([1000, 100])).shape == (1000, 3)
    assert f(tf.ones([100, 100])).shape == (100, 3)
    vector = tf.function(lambda x: tf.reduce_sum(x * big))
    big = np.ones(100_000, np.float32)
    assert vector(tf.ones([100_000])).numpy() == 100_000


def test_weights_may_be_arguments():
    f = tf.function(lambda x, w, b: tf.nn.relu(x @ w + b))
    w, b = tf.ones([4, 3]), tf.constant([-3.0, 0.0, 3.0])
    for n in (1, 4, 3, 32):
        assert f(tf.ones([n, 4]), w, b).numpy().tolist() == [[1, 4, 7]] * n
    assert f.experimental_get_tracing_count() == 1


# --- what it captures ---


def test_what_is_captured_is_never_stale(monkeypatch):
    seen = []
    scale = 2.0

    @tf.function
    def f(x):
        seen.append(1)
        return x * scale + SCALE + helper(x)

    def helper(x):
        return x * offset

    offset = 1
    x = tf.constant(3.0)
    assert f(x).numpy() == 6 + 2 + 3
    scale, offset = 10.0, 0
    assert f(x).numpy() == 30 + 2
    monkeypatch.setitem(globals(), "SCALE", -1.0)
    assert f(x).numpy() == 30 - 1
    assert len(seen) == 1
    monkeypatch.setitem(globals(), "SCALE", -1)
    assert f(x).numpy() == 30 - 1
    assert len(seen) == 2
    assert "SCALE, which it captures, is of another type or shape: -1" in f.explain()


def test_captured_tensors_may_be_replaced():
    seen = []
    weights = tf.constant([1.0, 2.0])

    @tf.function
    def f(x):
        seen.append(1)
        return x * weights

    assert f(3.0).numpy().tolist() == [3, 6]
    weights = tf.constant([5.0, 6.0])
    assert f(3.0).numpy().tolist() == [15, 18]
    assert len(seen) == 1
    weights = tf.constant([5.0, 6.0, 7.0])
    assert f(3.0).numpy().tolist() == [15, 18, 21]


def test_a_captured_number_that_python_needs_is_looked_at():
    steps = 2

    @tf.function
    def f(x):
        for _ in range(steps):
            x = x * 2
        return x

    assert f(tf.constant(1.0)).numpy() == 4
    steps = 5
    assert f(tf.constant(1.0)).numpy() == 32
    assert "steps, which it captures, changed from 2 to 5" in f.explain()


def test_a_function_may_change_what_is_outside_while_it_is_traced():
    count = 0

    @tf.function
    def f(x):
        nonlocal count
        global COUNTED
        count += 1
        COUNTED += 1
        return x + 1

    for n in range(1, 5):
        f(tf.zeros([n]))
    assert count == 1
    assert COUNTED == 1


def test_a_function_inside_a_map_reads_what_it_captures_anew():
    scale = 2.0

    @tf.function
    def inner(x):
        if x > 2:
            return x * scale
        return x

    @tf.function
    def outer(x):
        return inner(x) + 1

    x = tf.constant([1.0, 3.0])
    for scale in (2.0, 5.0):
        expected = [2, 3 * scale + 1]
        assert tf.map_fn(outer, x).numpy().tolist() == expected
        assert tf.map_fn(lambda v: inner(v) + 1, x).numpy().tolist() == expected
        assert lw.map(lambda v: inner(v) + 1, x.numpy()).tolist() == expected
        assert tf.vectorized_map(functools.partial(outer), x).numpy().tolist() == expected


# --- Python's statements on tensors ---


@tf.function
def branching(x):
    if tf.reduce_sum(x) > 5:
        return x * 2
    return -x


@tf.function
def looping(x):
    total = 0.0
    for i in range(tf.shape(x)[0]):
        if x[i] < 0:
            continue
        total += x[i]
    return total


@tf.function
def iterating(x):
    total = 0.0
    for value in x:
        total += value * value
    return total


@tf.function
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def test_branches_and_loops_on_tensors():
    assert branching(tf.constant([1.0, 2.0])).numpy().tolist() == [-1, -2]
    assert branching(tf.constant([3.0, 4.0])).numpy().tolist() == [6, 8]
    assert looping(tf.constant([1.0, -2.0, 3.0])).numpy() == 4
    assert looping(tf.range(20.0)).numpy() == 190
    assert iterating(tf.constant([1.0, 2.0, 3.0])).numpy() == 14
    assert collatz(tf.constant(27)).numpy() == 111
    assert collatz(tf.constant(1)).numpy() == 0
    for function in (branching, looping, iterating, collatz):
        assert mode_of(function) == "program"
    text = branching.explain()
    assert "it cannot be a graph (bool: the value of a tensor is not known while its graph" in text


def test_functions_in_functions_with_branches():
    @tf.function
    def outer(x):
        return branching(x) + 1

    assert outer(tf.constant([1.0, 2.0])).numpy().tolist() == [0, -1]
    assert outer(tf.constant([3.0, 4.0])).numpy().tolist() == [7, 9]


def test_what_cannot_be_recorded_is_called_as_it_is():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        while v < 100:
            v.assign(v * x)
        return str(v.numpy())

    assert f(tf.constant(2.0)) == "128.0"
    assert mode_of(f) == "Python"
    assert "nor a program" in f.explain()


def test_errors_of_the_function_are_raised_as_they_are():
    @tf.function
    def f(x):
        raise KeyError("no such thing")

    with pytest.raises(KeyError, match="no such thing"):
        f(tf.constant(1.0))


def test_functions_may_run_as_python():
    seen = []

    @tf.function
    def f(x):
        seen.append(type(x).__name__)
        return x + 1

    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
        f(tf.constant(1.0))
        f(tf.constant(1.0))
    finally:
        tf.config.run_functions_eagerly(False)
    assert seen == ["Tensor", "Tensor"]


# --- variables and effects ---


def test_variables_are_read_and_assigned_in_every_call():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        before = v * 10
        v.assign_add(x)
        return before, v * 1

    assert [part.numpy() for part in f(tf.constant(2.0))] == [10, 3]
    assert [part.numpy() for part in f(tf.constant(3.0))] == [30, 6]
    v.assign(0.0)
    assert [part.numpy() for part in f(tf.constant(3.0))] == [0, 3]


def test_a_variable_that_is_returned_is_read_at_the_end():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        v.assign(v + 1)
        return v

    first = f()
    assert f().numpy() == 3
    assert first.numpy() == 2


def test_what_is_done_is_done_in_order_though_nobody_uses_it(capfd):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(v * 2)
        tf.print("first", x)
        v.assign(v + 1)
        tf.print("second", v)
        tf.map_fn(lambda y: [v.assign_add(y), y][1], tf.ones([3]))

    assert f(tf.constant(5.0)) is None
    assert v.numpy() == 6
    f(tf.constant(7.0))
    assert v.numpy() == 16
    shown = capfd.readouterr()
    lines = (shown.out + shown.err).split("\n")
    assert lines[:4] == ["first 5", "second 3", "first 7", "second 13"]


def test_a_variable_that_the_first_call_makes_stays():
    class Counter:
        def __init__(self):
            self.count = None

        @tf.function
        def add(self, x):
            if self.count is None:
                self.count = tf.Variable(tf.zeros_like(x))
            return self.count.assign_add(x)

    counter = Counter()
    assert counter.add(tf.constant([1.0, 2.0])).numpy().tolist() == [1, 2]
    assert counter.add(tf.constant([1.0, 2.0])).numpy().tolist() == [2, 4]
    assert counter.count.numpy().tolist() == [2, 4]


def test_a_variable_that_every_call_makes_begins_anew():
    @tf.function
    def f(x):
        total = tf.Variable(10.0)
        total.assign_add(tf.reduce_sum(x))
        return total

    assert [f(tf.constant([1.0, 2.0])).numpy() for _ in range(3)] == [13, 13, 13]

    @tf.function
    def error(labels, predictions):
        total = tf.Variable(0.0, dtype=tf.float32)
        for i in range(tf.shape(labels)[0]):
            total.assign_add(tf.reduce_sum(tf.abs(labels[i] - predictions[i])))
        return total

    labels, predictions = tf.ones([20, 3]), tf.zeros([20, 3])
    assert [error(labels, predictions).numpy() for _ in range(3)] == [60, 60, 60]


def test_draws_are_others_in_every_call():
    f = tf.function(lambda: tf.random.normal([4]))
    assert len({tuple(f().numpy().tolist()) for _ in range(5)}) == 5
    tf.random.set_seed(3)
    first = [f().numpy().tolist() for _ in range(2)]
    tf.random.set_seed(3)
    assert [f().numpy().tolist() for _ in range(2)] == first


# --- methods, and what functions take and give ---


class Layer:
    def __init__(self, scale):
        self.scale = scale

    @tf.function
    def call(self, x):
        return x * self.scale


def test_methods_are_traced_for_their_object():
    a, b = Layer(2.0), Layer(3.0)
    x = tf.constant([1.0, 2.0])
    assert a.call(x).numpy().tolist() == [2, 4]
    assert b.call(x).numpy().tolist() == [3, 6]
    a.scale = 10.0
    assert a.call(x).numpy().tolist() == [10, 20]
    assert tf.map_fn(b.call, x).numpy().tolist() == [3, 6]
    assert tf.map_fn(lambda v: a.call(v) + 1, x).numpy().tolist() == [11, 21]
    assert "self.scale" in Layer.call.explain() or "scale" in Layer.call.explain()


def test_a_method_does_not_keep_its_object():
    layer = Layer(2.0)
    layer.call(tf.constant(1.0))
    gone = weakref.ref(layer)
    del layer
    gc.collect()
    assert gone() is None


def test_arguments_and_results_are_nested():
    Pair = collections.namedtuple("Pair", ["a", "b"])

    @tf.function
    def f(parts, *more, key, **others):
        total = parts["x"] + parts["y"][0] * more[0] + key + others["z"]
        return {"total": total, "pair": Pair(parts["x"], 7), "none": None}

    given = {"x": tf.constant([1.0]), "y": (np.float32([2]), None)}
    for _ in range(2):
        found = f(given, 3.0, key=tf.constant(10.0), z=100)
        assert found["total"].numpy().tolist() == [117]
        assert isinstance(found["pair"], Pair)
        assert found["pair"].b.numpy() == 7
        assert found["none"] is None


def test_lambdas_partials_and_objects_are_functions_too():
    class Adder:
        def __call__(self, x):
            return x + 1

    assert tf.function(lambda x: x * 2)(3.0).numpy() == 6
    assert tf.function(functools.partial(lambda k, x: x * k, 4.0))(3.0).numpy() == 12
    assert tf.function(Adder())(3.0).numpy() == 4
    assert tf.function(autograph=False, jit_compile=True)(lambda x: -x)(3.0).numpy() == -3
    f = tf.function(lambda x: x)
    assert tf.function(f) is f


def test_a_function_looks_like_the_one_that_it_was_made_of():
    @tf.function(reduce_retracing=True, experimental_relax_shapes=True)
    def named(x):
        """Say something."""
        return x

    assert named.__name__ == "named"
    assert named.__doc__ == "Say something."
    assert named.python_function(3) == 3
    assert repr(named) == "<tf.function named>"
    says(
        TypeError,
        "tf.function: not a function; got int, expected a callable.",
        lambda: tf.function(3),
    )


def test_composites_are_arguments():
    rows = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    f = tf.function(lambda r: tf.reduce_sum(r, axis=1))
    assert f(rows).numpy().tolist() == [3, 0, 3]
    assert f(tf.ragged.constant([[5.0]])).numpy().tolist() == [5]


# --- signatures ---


def test_an_input_signature_is_one_trace():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.int32)])
    def f(x, n):
        seen.append(x.shape.as_list())
        return x * tf.cast(n, tf.float32)

    assert f(tf.ones([3, 2]), 2).shape == (3, 2)
    assert f([[1, 2]], tf.constant(3)).numpy().tolist() == [[3, 6]]
    assert f(n=1, x=np.ones((5, 2), np.float32)).shape == (5, 2)
    assert seen == [[None, 2]]
    says(
        TypeError,
        "f: an argument is not what input_signature says; got float32 of shape (3,) (x), expected "
        "float32 of shape (None, 2).",
        lambda: f(tf.ones([3]), 2),
    )
    says(
        TypeError,
        "f: an argument is not what input_signature says; got float32 of shape () (n), expected "
        "int32 of shape ().",
        lambda: f(tf.ones([3, 2]), tf.constant(2.0)),
    )
    says(
        TypeError,
        "f: the arguments do not fit the function; got missing a required argument: 'n', expected "
        "f(x, n).",
        lambda: f(tf.ones([3, 2])),
    )


def test_a_nested_input_signature():
    @tf.function(input_signature=[{"a": tf.TensorSpec([None]), "b": tf.TensorSpec([])}])
    def f(parts):
        return parts["a"] + parts["b"]

    assert f({"a": [1.0, 2.0], "b": 3.0}).numpy().tolist() == [4, 5]
    says(
        TypeError,
        "f: an argument is nested otherwise than input_signature says; got [1.0] (parts), expected",
        lambda: f([1.0]),
    )
    says(
        TypeError,
        "f: input_signature is not a list; got TensorSpec, expected a list of TensorSpec, one for "
        "each argument.",
        lambda: tf.function(f.python_function, input_signature=tf.TensorSpec([])),
    )


def test_a_concrete_function_is_for_some_arguments_only():
    v = tf.Variable(0.0)

    @tf.function
    def f(x, n):
        v.assign_add(1.0)
        return x * n

    concrete = f.get_concrete_function(tf.TensorSpec([None, 2]), 3.0)
    assert v.numpy() == 0
    assert concrete(tf.ones([4, 2]), 5.0).numpy().tolist() == [[5, 5]] * 4
    assert v.numpy() == 1
    assert concrete.structured_outputs == tf.TensorSpec([None, 2])
    assert concrete.pretty_printed_signature().startswith("f(x: float32(None, 2), n: a number")
    says(
        TypeError,
        "f: the arguments are not those of the concrete function; got x changed from a tensor of "
        "float32 with 2 dimensions to a tensor of int32 with 2 dimensions, expected",
        lambda: concrete(tf.ones([4, 2], tf.int32), 5.0),
    )
    f(tf.ones([1, 2]), 1.0)
    assert f.pretty_printed_concrete_signatures().startswith("f(x: float32(None, None), n: a n")


# --- how it runs ---


def test_calls_number_by_number_are_one_program():
    @tf.function
    def f(x, y):
        return tf.sin(x) * y + tf.cos(x) * 2.0, x - y

    x, y = tf.constant([[1.0], [2.0]]), tf.constant([3.0, 4.0, 5.0])
    first, second = f(x, y)
    np.testing.assert_array_equal(first, tf.sin(x) * y + tf.cos(x) * 2.0)
    np.testing.assert_array_equal(second, x - y)
    assert "one program of 5 calls" in f.explain()


def test_results_keep_their_own_shapes():
    f = tf.function(lambda x, y, n: (tf.sin(x) + 1, tf.cos(y) * 2 + x, n * 2 + 1))
    for x, y in (([1.0], [2.0]), ([1.0], [[2.0, 3.0]]), ([[1.0], [2.0]], [3.0, 4.0])):
        x, y = tf.constant(x), tf.constant(y)
        a, b, c = f(x, y, 3)
        np.testing.assert_array_equal(a, tf.sin(x) + 1)
        np.testing.assert_array_equal(b, tf.cos(y) * 2 + x)
        assert c.numpy() == 7
        assert c.dtype == tf.int32


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.int64])
def test_types_are_those_of_single_calls(dtype):
    def f(x, n):
        return x * 2, x * 0.5 + n, n * 2.0, n * 3, (n + 1) * x

    x = tf.constant(np.array([1, 2, 3], dtype))
    for n in (2, 2.5):
        for ours, expected in zip(tf.function(f)(x, n), f(x, n), strict=True):
            assert tf.convert_to_tensor(ours).dtype == tf.convert_to_tensor(expected).dtype
            np.testing.assert_array_equal(ours, expected)


def test_effects_stay_between_what_is_joined():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        a = tf.sin(x) * v + 1
        v.assign(5.0)
        b = tf.sin(x) * v + 1
        return a, b

    a, b = f(tf.constant([1.0]))
    np.testing.assert_array_equal(a, np.sin(np.float32([1])) + 1)
    np.testing.assert_array_equal(b, np.sin(np.float32([1])) * 5 + 1)


def test_empty_tensors_and_texts():
    f = tf.function(lambda x: (x * 2, tf.reduce_sum(x)))
    assert f(tf.zeros([0])).__len__() == 2
    assert f(tf.zeros([0]))[1].numpy() == 0
    joined = tf.function(lambda a: tf.strings.join([a, "!"]))
    assert joined(tf.constant("hello")).numpy() == b"hello!"


def test_functions_call_functions():
    @tf.function
    def inner(x, k):
        return x * k

    @tf.function
    def outer(x):
        return inner(inner(x, 2.0), 3.0) + inner(x, k=1.0)

    assert outer(tf.constant(1.0)).numpy() == 7
    assert inner.experimental_get_tracing_count() == 0


def test_threads_trace_once():
    import threading

    seen = []

    @tf.function
    def f(x):
        seen.append(1)
        return tf.sin(x) + 1

    results = []
    threads = [
        threading.Thread(target=lambda: results.append(f(tf.zeros([3])).numpy().tolist()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[1, 1, 1]] * 8
    assert len(seen) == 1


def test_traces_are_not_kept_without_end():
    f = tf.function(lambda x, how: x)
    for i in range(200):
        f(tf.constant(1.0), str(i))
    assert f.explain().count("graph:") <= 64
