"""What goes wrong where a whole batch is one array, and must not here.

Intermediates of all elements at once; loops that go on for all until the slowest ends; rare
branches that run for everybody; programs that end for each element and never for the batch.
"""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from modes import MODES, TIERS, listed, run, tier

import lanewise as lw
import lanewise.compat.tf as tf


@pytest.fixture(params=TIERS)
def compiled(request):
    with tier(request.param):
        yield


@pytest.fixture(params=["map_fn", "vectorized_map"])
def mapping(request):
    return getattr(tf, request.param)


pytestmark = pytest.mark.usefixtures("compiled")
in_all_modes = pytest.mark.parametrize("mode", MODES)


# --- intermediates ---

LARGE = {
    "repeat and sum": """
        result = tf.map_fn(lambda x: tf.reduce_sum(tf.repeat(x, 10_000)), x)
        expected = x.numpy() * 10_000
    """,
    "one entry of many": """
        def entry(x):
            row = tf.zeros([10_000])
            row = tf.tensor_scatter_nd_update(row, [[7]], [x])
            return tf.reduce_sum(row)

        result = tf.vectorized_map(entry, x)
        expected = x.numpy()
    """,
    "a matrix of all pairs": """
        points = tf.range(2000, dtype=tf.float32)
        result = tf.map_fn(lambda x: tf.reduce_max(tf.abs(points[:, None] - x)[:, 0]), x)
        expected = np.maximum(np.abs(x.numpy()), np.abs(1999 - x.numpy()))
    """,
}


@pytest.mark.parametrize("name", LARGE)
def test_intermediates_of_all_elements_are_never_there_at_once(name):
    program = f"""
        import resource
        import numpy as np
        import lanewise.compat.tf as tf

        x = tf.range(30_000, dtype=tf.float32)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        {textwrap.indent(textwrap.dedent(LARGE[name]), " " * 8).strip()}
        np.testing.assert_array_equal(result.numpy(), expected)
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 150  # MB; together they would be 240 to 1200


# --- loops ---


@in_all_modes
def test_each_element_makes_its_own_steps_and_no_more(mode, mapping):
    steps = tf.Variable(0)

    def halvings(x):
        count = 0
        while x > 1:
            x = x // 2
            count += 1
            steps.assign_add(1)
        return count

    numbers = np.array([1, 2**20, 5, 0, 100], np.int32)
    result = run(mode, lambda t: mapping(halvings, t), numbers)
    assert listed(result) == [0, 20, 2, 0, 6]
    assert steps.numpy() == 28


@in_all_modes
def test_what_ends_for_each_element_ends_for_the_map(mode, mapping):
    """Of elements that do not take the branch, its loop would never end."""

    def count_up(n):
        def loop():
            return tf.while_loop(lambda i: i != n, lambda i: i + 1, (tf.constant(0),))[0]

        return tf.cond(n >= 0, loop, lambda: -1)

    result = run(mode, lambda t: mapping(count_up, t), np.array([3, -1, 0, -7, 12], np.int32))
    assert listed(result) == [3, -1, 0, -1, 12]


@in_all_modes
def test_finished_elements_do_not_go_on_to_infinity(mode, mapping):
    """What has converged would become NaN in further steps, for which no condition ever fails."""

    def doubled(x):
        while not x >= 1:
            x = x * 2 + 0.0 / (1 - x)  # of 1 that is NaN
        return x

    values = np.float32([0.25, 1.0, 0.0625, 3.0])
    assert listed(run(mode, lambda t: mapping(doubled, t), values)) == [1.0, 1.0, 1.0, 3.0]


@in_all_modes
def test_a_step_limit_that_one_element_needs_is_not_that_of_all(mode, mapping):
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    result = run(mode, lambda t: mapping(collatz, t), np.array([1, 27, 97, 2], np.int64))
    assert listed(result) == [0, 111, 118, 1]


@in_all_modes
def test_checks_in_loops_hold_for_those_that_are_in_them(mode, mapping):
    def checked(n):
        i = tf.constant(0)
        while i < n:
            tf.debugging.assert_less(i, 4)
            i += 1
        return i

    result = run(mode, lambda t: mapping(checked, t), np.array([0, 4, -9, 2], np.int32))
    assert listed(result) == [0, 4, 0, 2]


# --- branches ---


@in_all_modes
def test_a_rare_branch_runs_for_those_that_take_it(mode, mapping):
    taken = tf.Variable(0)

    def rarely(x):
        if x == 500:
            taken.assign_add(1)
            for i in tf.range(10_000):
                x += i % 3
        return x

    result = np.asarray(run(mode, lambda t: mapping(rarely, t), np.arange(1000, dtype=np.int32)))
    assert taken.numpy() == 1
    assert result[500] == 500 + sum(i % 3 for i in range(10_000))
    assert (np.delete(result, 500) == np.delete(np.arange(1000), 500)).all()


@in_all_modes
def test_a_branch_that_is_not_taken_has_no_effect(mode, mapping, capfd):
    table = tf.constant([10, 20, 30])

    def guarded(i):
        if i < 3:
            return tf.gather(table, i)  # out of range for others
        tf.print("beyond:", i)
        return 100 // (i - 2)  # divides by zero for others

    result = run(mode, lambda t: mapping(guarded, t), np.array([0, 4, 2, 3], np.int32))
    assert listed(result) == [10, 50, 30, 100]
    told = capfd.readouterr()
    assert (told.out + told.err).splitlines() == ["beyond: 4", "beyond: 3"]


@in_all_modes
def test_all_branches_of_a_switch_run_for_their_own(mode, mapping):
    counts = tf.Variable([0, 0, 0])

    def branch(at):
        def run_branch():
            counts.assign_add(tf.one_hot(at, 3, dtype=tf.int32))
            return at * 10

        return run_branch

    def switched(i):
        return tf.switch_case(i, [branch(at) for at in range(3)])

    result = run(mode, lambda t: mapping(switched, t), np.array([0, 2, 2, 1, 2], np.int32))
    assert listed(result) == [0, 20, 20, 10, 20]
    assert listed(counts) == [1, 1, 3]


# --- what else a batch changes ---


@in_all_modes
def test_results_do_not_depend_on_threads_or_on_the_number_of_elements(mode, mapping):
    values = np.random.default_rng(3).normal(size=(20_011, 9)).astype(np.float32)

    def one(x):
        return tf.reduce_sum(tf.sin(x) * x) / (1 + tf.reduce_max(x))

    found = []
    for threads in (1, 2):
        lw.set_num_threads(threads)
        found.append(np.asarray(run(mode, lambda t: mapping(one, t), values)))
    lw.set_num_threads(0)
    part = np.asarray(run(mode, lambda t: mapping(one, t), values[:13]))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0][:13], part)


@in_all_modes
def test_elements_draw_different_numbers_whatever_the_threads(mode, mapping):
    def drawn(threads):
        lw.set_num_threads(threads)
        tf.random.set_seed(11)
        result = run(mode, lambda t: mapping(lambda x: x + tf.random.normal([]), t), np.zeros(9999))
        lw.set_num_threads(0)
        return np.asarray(result)

    first = drawn(1)
    assert len(np.unique(first)) > 9000
    np.testing.assert_array_equal(first, drawn(2))


@in_all_modes
def test_an_empty_batch_has_no_elements_and_their_shape(mode, mapping):
    def loop(x):
        return tf.while_loop(lambda a: tf.reduce_sum(a) < 10, lambda a: a + 1, (x,))[0]

    assert np.shape(run(mode, lambda t: mapping(loop, t), np.zeros((0, 3), np.float32))) == (0, 3)


@in_all_modes
def test_a_function_that_ignores_its_input_gives_a_result_for_each_element(mode, mapping):
    result = run(mode, lambda t: mapping(lambda x: tf.eye(2), t), np.arange(3))
    np.testing.assert_array_equal(np.asarray(result), np.stack([np.eye(2)] * 3))


@in_all_modes
def test_a_guarded_update_in_a_scan_stays_one_number(mode, mapping):
    """An update that not all elements make does not copy what they hold."""

    def histogram(x):
        counts = tf.zeros([64], tf.int32)
        for i in tf.range(200):
            at = (x * 7 + i) % 64
            if at > 31:
                counts = tf.tensor_scatter_nd_add(counts, [[at]], [1])
        return counts

    result = np.asarray(run(mode, lambda t: mapping(histogram, t), np.arange(3, dtype=np.int32)))
    for x in range(3):
        at = (x * 7 + np.arange(200)) % 64
        np.testing.assert_array_equal(result[x], np.bincount(at[at > 31], minlength=64))
