"""Accumulators with functions of the user's: order, nesting, types."""

import functools
import pickle
from typing import NamedTuple

import numpy as np
import pytest

import lanewise as lw

WAYS = [{"threads": threads, "compile": tier} for threads in (1, 2) for tier in ("now", "never")]


def folded(values, combine, first=0):
    """Return what `combine` makes of the values that are not None, in the documented order."""
    blocks = {}
    for number, value in enumerate(values, first):
        block = blocks.setdefault(number // 1024, [None] * 64)
        block[number % 64] = both(combine, block[number % 64], value)
    nodes = {}
    for number, stripes in blocks.items():
        half = 32
        while half:
            for s in range(half):
                stripes[s] = both(combine, stripes[s], stripes[s + half])
            half //= 2
        nodes[number] = stripes[0]
    while len(nodes) > 1:
        parents = {}
        for number, value in sorted(nodes.items()):
            parents[number // 2] = both(combine, parents.get(number // 2), value)
        nodes = parents
    return next(iter(nodes.values()), None)


def both(combine, a, b):
    if a is None or b is None:
        return b if a is None else a
    return combine(a, b)


def odd(a, b):
    """Return something for which the order matters."""
    return a - b / 2


@pytest.mark.parametrize("size", [0, 1, 7, 1023, 1025, 5000, 17_000, 40_000])
def test_what_is_not_associative_has_the_documented_order(size):
    x = np.random.default_rng(0).normal(size=size)
    expected = folded(x, odd)
    f = lw.Fold(odd)
    add = lw.vectorize(lambda x: f.add(x))
    for way in WAYS:
        f.reset()
        add(x, **way)
        assert f.value == expected
    f.reset()
    add(x, first_element=3333)
    assert f.value == folded(x, odd, 3333)


def test_many_elements_on_several_threads():
    x = np.random.default_rng(0).normal(size=600_000)
    f = lw.Fold(odd)
    add = lw.vectorize(lambda x: f.add(np.sin(x)), threads=2)
    add(x)
    assert f.value == folded(lw.map(np.sin, x), odd)
    assert add.explain(x).last_run["workers"] == 2


def test_elements_that_do_not_add_are_skipped():
    x = np.random.default_rng(1).normal(size=20_000).astype(np.float32)
    f = lw.Fold(odd)

    @lw.vectorize
    def add(x):
        if x > 1:
            f.add(x)

    expected = folded([v if v > 1 else None for v in x], odd)
    for way in WAYS:
        f.reset()
        add(x, **way)
        assert f.value == expected
        assert f.value.dtype == np.float32
    f.reset()
    add(np.zeros(5))
    assert f.value is None


def test_an_element_that_adds_several_times_combines_its_own_first():
    f = lw.Fold(odd)

    @lw.vectorize
    def add(x, n):
        while n > 0:
            f.add(x + n)
            n -= 1
        if x > 0:
            f.add(x)

    rng = np.random.default_rng(2)
    x, n = rng.normal(size=3000), rng.integers(0, 5, 3000).astype(float)
    partials = []
    for a, b in zip(x, n, strict=True):
        mine = None
        while b > 0:
            mine = both(odd, mine, a + b)
            b -= 1
        partials.append(both(odd, mine, a) if a > 0 else mine)
    for way in WAYS:
        f.reset()
        add(x, n, **way)
        assert f.value == folded(partials, odd)


class Moments(NamedTuple):
    n: float
    mean: float
    squares: float


def join(a, b):
    n, shift = a.n + b.n, b.mean - a.mean
    mean = a.mean + shift * b.n / n
    return Moments(n, mean, a.squares + b.squares + shift * shift * a.n * b.n / n)


def test_values_may_be_nested_and_types_widen():
    x = np.random.default_rng(3).normal(size=30_000).astype(np.float32)
    f = lw.Fold(join)
    lw.map(lambda x: f.add(Moments(1, x, 0)), x)
    n, mean, squares = f.value
    assert type(f.value) is Moments
    assert n == 30_000
    assert mean.dtype == squares.dtype == np.float64
    assert np.isclose(mean, x.mean(dtype=np.float64))
    assert np.isclose(squares / n, x.var(dtype=np.float64))


def test_dicts_and_complex_numbers():
    z = np.exp(1j * np.random.default_rng(4).normal(size=2000))
    f = lw.Fold(lambda a, b: {"z": a["z"] * b["z"], "n": a["n"] + b["n"]})
    lw.map(lambda z: f.add({"z": z, "n": 1}), z)
    assert np.isclose(f.value["z"], np.prod(z))
    assert f.value["n"] == 2000


def test_calls_go_on_from_the_start():
    f = lw.Fold(lambda a, b: a * 10 + b, 7)
    add = lw.vectorize(lambda n: f.add(n))
    assert f.value == 7
    add(np.array([1]))
    assert f.value == 71
    add(np.array([2]))
    assert f.value == 712
    f.reset()
    assert f.value == 7


def test_the_function_may_branch_loop_and_capture():
    weight, table = 3.0, np.array([1.0, 2.0])

    def combine(a, b):
        if a > b:
            return a * weight + table[1]
        while b > 100:
            b = b / weight
        return b + a

    x = np.random.default_rng(5).normal(size=3000)
    f = lw.Fold(combine)
    lw.map(lambda x: f.add(x), x)
    assert f.value == folded(x, combine)
    weight = 4.0
    f.reset()
    lw.map(lambda x: f.add(x), x)
    assert f.value == folded(x, combine)


def test_beside_other_accumulators_and_results():
    total, f, low = lw.Sum(), lw.Fold(odd), lw.ArgMin()

    @lw.vectorize
    def add(x):
        f.add(x)
        total.add(x)
        low.add(x)
        return -x

    x = np.arange(5000.0)[::-1].copy()
    assert np.array_equal(add(x), -x)
    assert f.value == folded(x, odd)
    assert total.value == x.sum()
    assert low.value == 4999


def test_the_function_may_fail():
    f = lw.Fold(lambda a, b: a // b)
    with pytest.raises(lw.ElementError, match=r"combining what elements add failed; got .*zero"):
        lw.map(lambda n: f.add(n), np.zeros(100, int))
    assert f.value is None


def test_folds_travel_with_functions_that_do():
    f = lw.Fold(odd, 1.0)
    lw.map(lambda x: f.add(x), np.ones(1))
    copy = pickle.loads(pickle.dumps(f))
    lw.map(lambda x: copy.add(x), np.ones(1))
    assert (f.value, copy.value) == (0.5, 0.0)


def test_what_cannot_be_combined_is_refused():
    with pytest.raises(lw.UsageTypeError, match="Fold: not a function; got int"):
        lw.Fold(3)
    f = lw.Fold(lambda a, b: (a, b))
    with pytest.raises(
        lw.UsageTypeError, match="Fold: combine returns something else than it takes"
    ):
        lw.map(lambda x: f.add(x), np.ones(3))
    g = lw.Fold(functools.partial(lambda k, a, b: a, 1))

    @lw.vectorize
    def add(x):
        g.add(x)
        g.add((x, x))

    with pytest.raises(lw.UsageTypeError, match=r"Fold.add: nested in another way than elsewhere"):
        add(np.ones(3))
    with pytest.raises(lw.UsageTypeError, match=r"Fold.add: wrong kind of value; got str"):
        lw.map(lambda x: g.add(("a", x)), np.ones(3))


def test_types_that_change_are_refused():
    scale = 2
    f = lw.Fold(lambda a, b: a * scale + b)
    add = lw.vectorize(lambda n: f.add(n))
    add(np.arange(3))
    assert f.value.dtype == np.int64
    scale = 0.5
    with pytest.raises(lw.UsageError, match="Fold: combine gives other types than before"):
        add(np.arange(3))


def turned(a, b):
    """Return something of rows for which order and place matter."""
    return a[::-1] - b / 2


@pytest.mark.parametrize("size", [0, 1, 70, 3000])
def test_rows_have_the_documented_order(size):
    x = np.random.default_rng(1).normal(size=(size, 5))
    expected = folded(x, turned)
    f = lw.Fold(turned)
    for way in WAYS:
        f.reset()
        lw.map(lambda row: f.add(row), x, **way)
        assert np.array_equal(f.value, expected) if size else f.value is None


def test_rows_and_numbers_are_folded_together_and_over_calls():
    def join(a, b):
        n = a["n"] + b["n"]
        if n % 3 == 0:
            return {"n": n, "u": a["u"], "v": b["v"]}
        return {"n": n, "u": a["v"], "v": a["u"] + b["u"]}

    x = np.random.default_rng(2).normal(size=(2100, 2, 2))
    start = {"n": 1, "u": np.ones((2, 2)), "v": np.zeros((2, 2))}
    plain = lw.Fold(join, start)
    f = lw.Fold(join, start)

    def add(image):
        if image[0, 0] > 0:
            f.add({"n": 1, "u": image, "v": image.T})
            f.add({"n": 2, "u": image * 2, "v": image})

    def both_of(image):
        if image[0, 0] <= 0:
            return None
        first = {"n": 1, "u": image, "v": image.T}
        return join(first, {"n": 2, "u": image * 2, "v": image})

    expected = join(join(start, folded(map(both_of, x), join)), folded(map(both_of, x[:9]), join))
    for way in WAYS:
        f.reset()
        lw.map(add, x, **way)
        lw.map(add, x[:9], **way)
        assert f.value["n"] == expected["n"]
        assert np.array_equal(f.value["u"], expected["u"])
        assert np.array_equal(f.value["v"], expected["v"])
    assert plain.value is start


def test_rows_of_other_shapes_are_refused():
    x = np.ones((4, 3))
    f = lw.Fold(lambda a, b: a + b)

    def add(row):
        f.add(row)
        f.add(row[:2])

    with pytest.raises(
        lw.UsageTypeError,
        match=r"Fold.add: another shape than elsewhere; got \(2,\), expected \(3,\)",
    ):
        lw.map(add, x)
    shorter = lw.Fold(lambda a, b: a[1:] + b[1:])
    with pytest.raises(
        lw.UsageTypeError,
        match=r"Fold: combine gives another shape than it takes; got \(2,\), expected \(3,\)",
    ):
        lw.map(lambda row: shorter.add(row), x)
