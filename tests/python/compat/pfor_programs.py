"""Bodies of maps with networks, bits, memory of their own, and control flow."""

import numpy as np
from pfor_bodies import I8, SQUARE, TABLE, WEIGHTS, B, Body, K, M, N, P, V, _numbers

import lanewise.compat.tf as tf

IMAGES = _numbers(3, 1, 6, 6, 2)
FILTERS = tf.constant(_numbers(3, 3, 2, 4, seed=5))
DEEP = tf.constant(_numbers(3, 3, 2, 2, seed=6))
LABELS = np.array([1, 0, 5, 2], np.int32)
TRIPS = np.array([4, 0, 2], np.int32)
SIGNED = np.array([4, -1, 2, -2, 2], np.int32)

NN = [
    Body(
        "activations",
        lambda x: [
            function(x)
            for function in (
                *(tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.selu, tf.nn.gelu, tf.nn.silu),
                *(tf.nn.leaky_relu, tf.nn.softplus, tf.nn.softsign, tf.nn.tanh, tf.nn.sigmoid),
            )
        ],
        V,
    ),
    Body("crelu", lambda x: tf.nn.crelu(x), V),
    Body("softmax", lambda x: (tf.nn.softmax(x), tf.nn.softmax(x, axis=0)), M),
    Body("log_softmax", lambda x: tf.nn.log_softmax(x), M),
    Body(
        "softmax_cross_entropy",
        lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(x * 2), x),
        M,
    ),
    Body(
        "sparse_softmax_cross_entropy",
        lambda e: tf.nn.sparse_softmax_cross_entropy_with_logits(e[0], e[1]),
        (LABELS, V),
    ),
    Body(
        "sigmoid_cross_entropy",
        lambda x: tf.nn.sigmoid_cross_entropy_with_logits(tf.nn.sigmoid(x), x),
        V,
    ),
    Body("conv2d", lambda x: tf.nn.conv2d(x, FILTERS, 1, "SAME"), IMAGES, 1e-5),
    Body("conv2d with strides", lambda x: tf.nn.conv2d(x, FILTERS, 2, "VALID"), IMAGES, 1e-5),
    Body(
        "conv2d with own filters",
        lambda e: tf.nn.conv2d(e[0], e[1], 1, "VALID"),
        (IMAGES, _numbers(3, 3, 3, 2, 2)),
        1e-5,
    ),
    Body(
        "depthwise_conv2d",
        lambda x: tf.nn.depthwise_conv2d(x, DEEP, [1, 1, 1, 1], "SAME"),
        IMAGES,
        1e-5,
    ),
    Body("conv1d", lambda x: tf.nn.conv1d(x[:, 0], FILTERS[0], 1, "SAME"), IMAGES, 1e-5),
    Body("max_pool", lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), IMAGES),
    Body("avg_pool", lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME"), IMAGES),
    Body("moments", lambda x: tf.nn.moments(x, [0, 1, 2]), IMAGES),
    Body(
        "batch_normalization",
        lambda x: tf.nn.batch_normalization(x, x[0], P[0, 0] + x[1] ** 2, 0.5, 2.0, 1e-3),
        M,
    ),
    Body("l2_normalize", lambda x: tf.nn.l2_normalize(x, axis=-1), M),
    Body("local_response_normalization", lambda x: tf.nn.lrn(x), IMAGES, 1e-6),
    Body("l2_loss", lambda x: tf.nn.l2_loss(x), M),
    Body("embedding_lookup", lambda k: tf.nn.embedding_lookup(TABLE, k), K),
    Body("dense layer", lambda x: tf.nn.relu(x @ WEIGHTS + [0.5, -0.5]), M),
]

BITWISE = [
    Body("and", lambda k: tf.bitwise.bitwise_and(k, k[::-1]), I8),
    Body("or", lambda k: tf.bitwise.bitwise_or(k, 12), I8),
    Body("xor", lambda k: tf.bitwise.bitwise_xor(k, k[0]), I8),
    Body("invert", lambda k: tf.bitwise.invert(k), I8),
    Body("shifts", lambda k: (tf.bitwise.left_shift(k, 2), tf.bitwise.right_shift(k, 1)), I8),
    Body("bitcast", lambda x: tf.bitcast(x, tf.int32), V, falls_back=True),
]

SCATTER = [
    Body("update at own places", lambda k: tf.tensor_scatter_nd_update(k, k[:1, None], [9]), K),
    Body(
        "update where all write the same number",
        lambda i: tf.tensor_scatter_nd_update(tf.zeros([5]), [[i]], [1.0]),
        N,
    ),
    Body(
        "update rows",
        lambda e: tf.tensor_scatter_nd_update(e[0], e[1][:1, None], [[1.0] * 5]),
        (M, K),
    ),
    Body(
        "update of several dimensions",
        lambda e: tf.tensor_scatter_nd_update(e[0], [[e[1][0], 1], [e[1][1], 2]], [5.0, 6.0]),
        (M, K),
    ),
    Body(
        "add at places that come twice",
        lambda k: tf.tensor_scatter_nd_add(tf.zeros([4], tf.int32), k[:, None], k + 1),
        K,
    ),
    Body(
        "extremes at places",
        lambda e: (
            tf.tensor_scatter_nd_max(tf.zeros([4]), e[1][:, None], e[0][:4]),
            tf.tensor_scatter_nd_min(tf.zeros([4]), e[1][:, None], e[0][:4]),
        ),
        (V[:3], K),
    ),
    Body("scatter_nd", lambda k: tf.scatter_nd(k[:, None], tf.ones([4]), [4]), K),
]


def _written(x):
    array = tf.TensorArray(tf.float32, size=6)
    for at in range(6):
        array = array.write(at, x[at] * at)
    return array.stack()


def _written_in_a_loop(x):
    array = tf.TensorArray(tf.float32, size=6)
    _, array = tf.while_loop(
        lambda at, array: at < 6,
        lambda at, array: (at + 1, array.write(at, x[5 - at])),
        (0, array),
    )
    return array.stack()


def _pushed(x):
    array = tf.TensorArray(tf.float32, size=3)
    array = array.unstack(x[:3])
    return array.read(0) + array.read(2)


ARRAYS_OF_TENSORS = [
    Body("write and stack", _written, V),
    Body("write in a loop", _written_in_a_loop, V),
    Body("unstack and read", _pushed, V),
    Body(
        "read at the element's place",
        lambda i: tf.TensorArray(tf.float32, 5).unstack(TABLE).read(i),
        N,
    ),
    Body(
        "gather",
        lambda x: tf.TensorArray(tf.float32, 6).unstack(x).gather([4, 0]),
        V,
    ),
    Body(
        "scatter",
        lambda x: tf.TensorArray(tf.float32, 4).scatter([3, 1, 0, 2], x[:4]).stack(),
        V,
    ),
    Body(
        "write at own places",
        lambda k: tf.TensorArray(tf.int32, 4, element_shape=[]).scatter([3, 1, 0, 2], k).stack(),
        K,
    ),
    Body("concat", lambda x: tf.TensorArray(tf.float32, 2).unstack([x, -x]).concat(), V),
]


def _python_while(n):
    total, i = 0, 0
    while i < n:
        total += i * i + 1
        i += 1
    return total


def _python_for(n):
    total = 0
    for i in tf.range(n):
        if i % 2 == 0:
            continue
        total += i
    return total


def _cond_of_while(n):
    def loop():
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (0, 0))[1]

    return tf.cond(n > 0, loop, lambda: n * 10)


def _while_of_cond(n):
    def step(i, s):
        return i + 1, tf.cond(i % 2 == 0, lambda: s + i, lambda: s - 1)

    return tf.while_loop(lambda i, s: i < n, step, (0, 0))[1]


def _while_of_while(n):
    def outer(i, s):
        inner = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j * n), (0, s))[1]
        return i + 1, inner

    return tf.while_loop(lambda i, s: i < n, outer, (0, 0))[1]


def _cond_of_cond(n):
    return tf.cond(
        n > 0,
        lambda: tf.cond(n > 2, lambda: n * 100, lambda: n * 10),
        lambda: tf.cond(n < -1, lambda: n - 1, lambda: n + 1),
    )


def _state_of_several(x):
    def step(i, state, rows):
        return i + 1, (state[0] * 0.5 + x, state[1] + 1), rows + x[i]

    return tf.while_loop(
        lambda i, state, rows: (i < 6) & (tf.reduce_max(state[0]) < 3.0),
        step,
        (0, (x, 0), tf.zeros([2])),
    )


def _becomes_own(x):
    """What is one for all before the loop is not after its first step."""
    return tf.while_loop(
        lambda i, a, b: i < 3, lambda i, a, b: (i + 1, b, b + x), (0, tf.zeros([6]), tf.ones([6]))
    )[1:]


VARIABLE = tf.Variable([1.0, 2.0, 3.0], name="pfor_variable")
MATRIX = tf.Variable(np.float32(TABLE.numpy()[:3, :3]), name="pfor_matrix")

CONTROL = [
    Body("while with own trip counts", _python_while, TRIPS),
    Body(
        "while_loop with own trip counts",
        lambda n: tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * 2 + i), (0, 1)),
        TRIPS,
    ),
    Body("for over own ranges", _python_for, TRIPS),
    Body(
        "while with one trip count",
        lambda x: tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * x + 1), (0, x)),
        V,
    ),
    Body(
        "while that does not depend on the element",
        lambda x: x + tf.while_loop(lambda a: a < 100.0, lambda a: a * 3, (tf.constant(1.0),))[0],
        V,
    ),
    Body("while over several things", _state_of_several, V),
    Body("while in which shared values become own", _becomes_own, V),
    Body(
        "while that reads a variable",
        lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + VARIABLE[i]), (0, x)),
        V,
    ),
    Body("cond of while", _cond_of_while, SIGNED),
    Body("while of cond", _while_of_cond, SIGNED),
    Body("while of while", _while_of_while, SIGNED),
    Body("cond of cond", _cond_of_cond, SIGNED),
    Body(
        "cond with own and shared results",
        lambda x: tf.cond(x[0] > 0, lambda: (x, 1.0), lambda: (tf.zeros([6]), x[1])),
        V,
    ),
    Body(
        "cond with one condition for all",
        lambda x: tf.cond(tf.constant(True), lambda: x * 2, lambda: x - 1),
        V,
    ),
    Body("cond that nobody takes", lambda i: tf.cond(i < 0, lambda: i // 0, lambda: i + 1), N),
    Body(
        "cond that reads a variable",
        lambda i: tf.cond(i > 2, lambda: VARIABLE[0] + 1, lambda: VARIABLE[2]),
        N,
    ),
    Body(
        "case",
        lambda i: tf.case([(i < 1, lambda: 10), (i < 3, lambda: 20 + i)], default=lambda: -1),
        N,
    ),
    Body(
        "switch_case",
        lambda i: tf.switch_case(i, [lambda: i * 2, lambda: i - 7, lambda: 5, lambda: i]),
        N,
    ),
    Body(
        "switch_case with one index for all",
        lambda x: tf.switch_case(tf.constant(1), [lambda: x, lambda: x * 2]),
        V,
    ),
    Body("scan", lambda x: tf.scan(lambda a, e: a * 0.5 + e, x), V),
    Body(
        "scan with a variable",
        lambda x: tf.scan(lambda a, e: a + e * VARIABLE[1], x, initializer=tf.constant(1.0)),
        V,
    ),
    Body("foldl and foldr", lambda x: (tf.foldl(_fold, x), tf.foldr(_fold, x)), V),
    Body("map in a map", lambda x: tf.map_fn(lambda row: tf.reduce_sum(row) * row, x), M),
    Body(
        "map over elements of a map",
        lambda x: tf.vectorized_map(lambda row: row / tf.reduce_max(row), x),
        M,
    ),
]


def _fold(a, e):
    return a * 0.9 - e


def _rnn(x):
    def step(state, e):
        return tf.tanh(tf.linalg.matvec(MATRIX, state) + e * VARIABLE)

    return tf.scan(step, x, initializer=tf.zeros([3]))


def _lstm(x):
    def step(i, c, h):
        gates = tf.linalg.matvec(MATRIX, h) + x[i]
        forget, write, read = (tf.sigmoid(gates[at]) for at in range(3))
        c = forget * c + write * tf.tanh(gates)
        return i + 1, c, read * tf.tanh(c)

    return tf.while_loop(lambda i, c, h: i < 6, step, (0, tf.zeros([3]), tf.zeros([3])))[1:]


def _lstm_to_own_length(e):
    x, length = e

    def step(i, h):
        return i + 1, tf.tanh(tf.linalg.matvec(MATRIX, h) + x[i])

    return tf.while_loop(lambda i, h: i < length, step, (0, tf.zeros([3])))[1]


@tf.function
def _called(x):
    return x * x + 1


@tf.function
def _calls_with_if(x):
    if tf.reduce_sum(x) > 0:
        return _called(x)
    return -_called(x)


class _Layer:
    def __init__(self):
        self.scale = 3.0

    def __call__(self, x):
        return _called(x) * self.scale


_LAYER = _Layer()

CALLS = [
    Body("recurrent network", _rnn, V),
    Body("long memory", _lstm, V),
    Body("recurrent network to own lengths", _lstm_to_own_length, (V[:3], TRIPS)),
    Body("function", lambda x: _called(x), V),
    Body("function in a function, with if", lambda x: _calls_with_if(x), V),
    Body("function defined inside", lambda x: tf.function(lambda y: y - x[0])(x), V),
    Body("object that is called", lambda x: _LAYER(x), V),
    Body("variable", lambda x: x[:3] * VARIABLE + tf.cast(tf.shape(VARIABLE)[0], tf.float32), V),
    Body("variable as a matrix", lambda x: tf.linalg.matvec(MATRIX, x[:3]), V),
    Body(
        "assert that holds",
        lambda x: [tf.debugging.assert_less(x, 10.0), x + 1][1],
        V,
    ),
    Body("structures", lambda e: {"a": e[0] + 1, "b": [e[1], (e[0],)]}, (V, B)),
    Body("early return", lambda n: _early(n), SIGNED),
    Body("sum of squares of a symmetric matrix", lambda x: tf.reduce_sum(x**2), SQUARE),
]


def _early(n):
    if n < 0:
        return n * 2
    for i in tf.range(n):
        if i == 3:
            return i * 100
    return n
