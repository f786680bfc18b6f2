"""`print` inside a function: what np.vectorize would print, element by element."""

import contextlib
import dataclasses
import io
import pickle
import subprocess
import sys
import textwrap
import weakref
from typing import NamedTuple

import numpy as np
import pytest

import lanewise as lw

X = np.array([0.5, -1.5, 2.5, 3.0, -4.0])
N = np.arange(5)


def printed(call):
    """Return what a call prints, and gives."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        result = call()
    return out.getvalue(), result


def plain(function, *columns):
    """Return what the plain function prints on one element after another, and gives."""
    return printed(lambda: [function(*row) for row in zip(*columns, strict=True)])


def same(function, *columns, **options):
    """Expect that a map prints and gives what the plain function does."""
    expected, results = plain(function, *columns)
    assert expected
    got, result = printed(lambda: lw.vectorize(function, **options)(*columns))
    assert got == expected
    np.testing.assert_array_equal(result, results)


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Pair:
    a: float
    b: float


class Named:
    def __init__(self, value):
        self.value = value

    def __str__(self):
        return f"Named {self.value:.1f}"


class Represented:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return "R%s" % self.value  # noqa: UP031


def everywhere(x):
    print("x is", x)
    return x


def in_branches(x):
    if x > 1:
        print("large", x)
    elif x > 0:
        print("small", x)
    return x


def in_loops(x):
    i = 0
    while x > 0:
        for k in range(3):
            if k == 1:
                continue
            print(i, k, x)
        x -= 1
        i += 1
    print("end", i)
    return x


def before_a_return(x):
    print("begin")
    if x < 0:
        print("negative")
        return 0
    print("not negative")
    return 1


def inside_expressions(x):
    return (print("yes", x) or 1) if x > 0 else (print("no", x) or 2)


def behind_and(x):
    return x > 0 and print(x) is None


def called(x):
    def inner(y):
        print("inner", y)
        return y * 2

    return inner(x) + inner(x + 1)


def nothing(x):
    print()
    return x


def separated(x):
    print(x, 1, "a", sep=", ", end="!\n")
    print(x, x, sep=None, end=None)
    return x


def structures(x):
    p = Point(x, 2 * x)
    print((x,), [x, 1], {"k": x}, p, Pair(x, 1))
    return x


def f_strings(x):
    width = 9
    print(f"{x} {x:.3f} {x:>{width}} {x!r} {x=} {x * 2 + 1=:.1e} {[x]} {'plain'}")
    return x


def formats(x):
    text = "{:6.2f} {a}".format(x, a=x + 1)  # noqa: UP032
    print(text + ";", "%s %5.1f %d" % (x, x, 3))  # noqa: UP031
    print("%g" % x, format(x, "+.2f"), str(x), repr(x))  # noqa: UP031
    print(", ".join(str(v) for v in [x, x + 1]))
    print(f"{x!s:>8}|{format(x, '.1f'):<8}|")
    return x


def objects(x):
    print(Named(x), Represented(x), f"{Named(x)} {Named(x)!s:>12}")
    print(str(Named(x)))
    return x


@pytest.mark.parametrize(
    "function",
    [
        everywhere,
        in_branches,
        in_loops,
        before_a_return,
        inside_expressions,
        behind_and,
        called,
        nothing,
        separated,
        structures,
        f_strings,
        formats,
        objects,
    ],
    ids=lambda function: function.__name__,
)
@pytest.mark.parametrize("compile", ["never", "now"])
def test_elements_print_what_the_plain_function_does(function, compile):
    same(function, X, compile=compile)


@pytest.mark.parametrize("dtype", [dtype.name for dtype in lw.dtypes.TO_NUMPY.values()])
def test_values_are_shown_as_scalars_of_their_type(dtype):
    def f(x):
        print(x, [x])
        return x

    values = [0, 1, 0.1, 1e4, np.inf, -np.inf, np.nan, -0.0, 100]
    if np.dtype(dtype).kind in "iu":
        bounds = np.iinfo(dtype)
        values = [bounds.min, bounds.max, 0, 7]
    same(f, np.array(values, dtype))


def test_python_numbers_are_shown_as_such():
    scale = 2.5

    def f(x):
        n = 0
        for i in range(20):
            n += i
        print([n, scale, n * scale, True])
        return x

    same(f, X)


def test_a_captured_number_that_is_printed_is_read_at_every_call():
    scale = 1.0
    traces = []

    @lw.vectorize
    def f(x):
        traces.append(1)
        print(scale)
        return x

    f(X)
    before = len(traces)
    scale = 7.0
    assert printed(lambda: f(X[:2]))[0] == "7.0\n7.0\n"
    assert len(traces) == before


def test_objects_from_outside_are_shown_as_they_are_at_the_call():
    named = Named(1.0)
    f = lw.vectorize(lambda x: print(named) or x)
    assert printed(lambda: f(X[:1]))[0] == "Named 1.0\n"
    named.value = 2.0
    assert printed(lambda: f(X[:1]))[0] == "Named 2.0\n"


def test_a_function_that_prints_keeps_nothing_of_another_alive(is_collected):
    def used():
        thing = Named(1.0)
        assert printed(lambda: lw.vectorize(lambda x: print(thing) or x)(X[:1]))[0] == "Named 1.0\n"
        return weakref.ref(thing)

    assert is_collected(used())


def test_arrays_and_lists_of_an_element():
    def f(n):
        a = np.zeros((2, 2))
        a[n % 2, 1] = n
        items = [1, 2, 3]
        items[n % 3] = 9
        print(a, items, f"{a}")
        return a[1, 1]

    def plain_f(n):
        a = np.zeros((2, 2))
        a[n % 2, 1] = n
        items = [1, 2, 3]
        items[n % 3] = 9
        print(a, items, f"{a}")
        return a[1, 1]

    expected, _ = plain(plain_f, N)
    got, _ = printed(lambda: lw.vectorize(f)(N))
    assert got == expected


def test_elements_print_in_c_order_whatever_the_layout():
    x = np.asfortranarray(np.arange(6).reshape(2, 3))
    y = np.arange(3)
    f = lw.vectorize(lambda x, y: print(x, y) or x)
    got, result = printed(lambda: f(x, y))
    assert got == "0 0\n1 1\n2 2\n3 0\n4 1\n5 2\n"
    np.testing.assert_array_equal(result, x)


def test_a_number_alone():
    got, result = printed(lambda: lw.vectorize(everywhere)(2.0))
    assert (got, result) == ("x is 2.0\n", 2.0)
    assert isinstance(result, np.float64)


def test_no_elements_print_nothing():
    assert printed(lambda: lw.vectorize(everywhere)(X[:0]))[0] == ""


def test_every_call_prints():
    f = lw.vectorize(everywhere)
    for _ in range(3):
        assert printed(lambda: f(X[:1]))[0] == "x is 0.5\n"


def test_map_nested_results_and_shared_arguments():
    def f(x, table, n):
        print(table[n], x)
        return {"a": (x, n)}

    got, result = printed(
        lambda: lw.map(f, X, np.arange(10) * 10, N, in_axes=(0, None, 0), max_prints=3)
    )
    assert got == "0 0.5\n10 -1.5\n20 2.5\nf: 2 more lines; max_prints is 3.\n"
    np.testing.assert_array_equal(result["a"][0], X)


def test_results_into_given_arrays_and_masks():
    out = np.full(5, -9.0)
    f = lw.vectorize(lambda x: print("at", x) or x + 1)
    got, result = printed(lambda: f(X, out=out))
    assert got.count("at") == 5
    assert result is out
    np.testing.assert_array_equal(out, X + 1)
    out[:] = -9
    got, _ = printed(lambda: f(X, out=out, where=X > 1))
    assert got == "at 2.5\nat 3.0\n"
    np.testing.assert_array_equal(out, [-9, -9, 3.5, 4, -9])


def test_structured_arrays_and_dataclasses():
    rows = np.array([(1, 2.5), (3, 4.5)], [("n", np.int32), ("v", np.float32)])
    got, _ = printed(lambda: lw.vectorize(lambda r: print(r.n, r["v"]) or r.n)(rows))
    assert got == "1 2.5\n3 4.5\n"


def test_a_vectorized_function_inside_another():
    inner = lw.vectorize(everywhere)
    got, _ = printed(lambda: lw.vectorize(lambda x: inner(x) + inner(x * 2))(X[:2]))
    assert got == "x is 0.5\nx is 1.0\nx is -1.5\nx is -3.0\n"


def test_draws_are_those_of_the_map():
    @lw.vectorize
    def f(x):
        while lw.random.uniform() < 0.7:
            u = lw.random.uniform()
            print(x, u)
            x += u
        return x

    x = np.zeros(20)
    got, result = printed(lambda: f(x, seed=5, first_element=100))
    lines = [[float(v) for v in line.split()] for line in got.splitlines()]
    ends = [a + u for (a, u), (b, _) in zip(lines, [*lines[1:], [0.0, 0]], strict=True) if b == 0.0]
    assert ends == result[result > 0].tolist()
    part = printed(lambda: f(x[10:], seed=5, first_element=110))[0]
    assert part
    assert got.endswith(part)


def test_integers_that_are_drawn():
    f = lw.vectorize(lambda x: (lambda k: print(k) or k)(lw.random.integers(0, 1000)))
    got, result = printed(lambda: f(X, seed=1))
    assert [int(line) for line in got.split()] == result.tolist()


# --- limits ---


def test_lines_beyond_the_limit_are_counted():
    def f(n):
        for i in range(n):
            print(n, i)
        return n

    f = lw.vectorize(f)
    got, _ = printed(lambda: f(np.array([2, 0, 3]), max_prints=3))
    assert got == "2 0\n2 1\n3 0\nf: 2 more lines; max_prints is 3.\n"
    assert printed(lambda: f(np.array([2, 0, 3]), max_prints=0))[0] == ""
    assert printed(lambda: f(np.array([2, 0, 3]), max_prints=5))[0].count("\n") == 5
    got, _ = printed(lambda: f(np.array([0, 5000])))
    assert len(got.splitlines()) == 1001
    assert got.endswith("5000 999\nf: 4000 more lines; max_prints is 1000.\n")


def test_very_many_lines():
    def f(n):
        for i in range(n):
            print(i)
        return n

    n = np.array([3, 0, 5000, 1, 0, 4096])
    got, _ = printed(lambda: lw.vectorize(f)(n, max_prints=2**63 - 1))
    assert [int(line) for line in got.split()] == [i for k in n for i in range(k)]


def test_the_limit_of_the_function_and_of_the_process():
    f = lw.vectorize(lambda x: print(x) or x, name="f", max_prints=1)
    assert printed(lambda: f(X))[0] == "0.5\nf: 4 more lines; max_prints is 1.\n"
    g = lw.vectorize(lambda x: print(x) or x, name="g")
    lw.config.max_prints = 2
    try:
        assert printed(lambda: g(X))[0] == "0.5\n-1.5\ng: 3 more lines; max_prints is 2.\n"
    finally:
        del lw.config.max_prints
    assert printed(lambda: g(X))[0].count("\n") == 5


def test_an_element_that_would_take_forever_prints_its_first_lines():
    def f(x):
        i = 0
        while i < 10_000_000:
            if i < 3:
                print(i)
            i += 1
        return x

    got, _ = printed(lambda: lw.vectorize(f, max_prints=2)(np.ones(1)))
    assert got == "0\n1\nf: 1 more lines; max_prints is 2.\n"


# --- failures ---


@pytest.mark.parametrize("compile", ["never", "now"])
def test_a_map_that_fails_prints_what_came_before(compile):
    def f(x):
        print("a", x)
        if x > 2:
            print("b")
        assert x < 3, f"too large: {x}"
        print("c")
        return x

    f = lw.vectorize(f, compile=compile)

    def call():
        with pytest.raises(lw.ElementError, match=r": too large: <element float64>;") as error:
            f(X)
        assert error.value.element == 3

    assert printed(call)[0] == "a 0.5\nc\na -1.5\nc\na 2.5\nb\nc\na 3.0\nb\n"


@pytest.mark.parametrize("lines", [0, 1, 2, 3, 7, 8])
def test_all_lines_of_an_element_before_it_fails(lines):
    def f(n):
        for i in range(n):
            print(i)
        return 1 // (n - n)

    def call():
        with pytest.raises(lw.ElementError, match="divides an integer by zero"):
            lw.vectorize(f)(np.array([lines]))

    assert printed(call)[0] == "".join(f"{i}\n" for i in range(lines))


def test_an_element_beyond_the_step_limit_prints():
    def f(n):
        while n >= 0:
            print(n)
            n += 1
        return n

    def call():
        with pytest.raises(lw.ElementError, match="more loop steps than allowed"):
            lw.vectorize(f, max_steps=4)(np.array([-2, 10]))

    assert printed(call)[0] == "10\n11\n12\n13\n14\n"


def test_a_masked_map_that_fails():
    def f(x):
        print(x)
        assert x < 3
        return x

    def call():
        with pytest.raises(lw.ElementError):
            lw.vectorize(f)(X, out=np.zeros(5), where=np.array([0, 1, 0, 1, 1], bool))

    assert printed(call)[0] == "-1.5\n3.0\n"


# --- where it goes ---


def test_files_and_streams(capsys):
    file = io.StringIO()

    @lw.vectorize
    def f(x):
        print("out", x, flush=True)
        print("err", x, file=sys.stderr)
        print("file", x, file=file)
        return x

    f(X[:2])
    f(X[:1])
    captured = capsys.readouterr()
    assert captured.out == "out 0.5\nout -1.5\nout 0.5\n"
    assert captured.err == "err 0.5\nerr -1.5\nerr 0.5\n"
    assert file.getvalue() == "file 0.5\nfile -1.5\nfile 0.5\n"


def test_on_prints_plainly():
    assert printed(lambda: lw.vectorize(everywhere).on(2, X)) == ("x is 2.5\n", 2.5)


def test_a_function_without_source():
    f = lw.vectorize(eval("lambda x: print('x', x, f'{x:.2f}', str(x)) or x"))
    assert printed(lambda: f(X[:2]))[0] == "x 0.5 0.50 0.5\nx -1.5 -1.50 -1.5\n"


def test_methods_and_functions_that_are_not_captured():
    class Speaker:
        def say(self, x):
            print("said", x)
            return x

    speaker = Speaker()
    assert printed(lambda: lw.vectorize(lambda x: speaker.say(x))(X[:1]))[0] == "said 0.5\n"


def test_a_print_of_the_users_own_is_his():
    seen = []
    scope = {"print": lambda *values: seen.append(values)}
    f = lw.vectorize(eval("lambda x: print('mine') or x", scope))
    f(X)
    assert seen
    assert all(values == ("mine",) for values in seen)


def test_pickles_print_too():
    k = 3.0
    f = lw.vectorize(lambda x: print(f"{x:.1f} of", k) or x + k)
    printed(lambda: f(X))
    copy = pickle.loads(pickle.dumps(f))
    got, result = printed(lambda: copy(X[:2]))
    assert got == "0.5 of 3.0\n-1.5 of 3.0\n"
    np.testing.assert_array_equal(result, X[:2] + 3)
    assert printed(lambda: pickle.loads(pickle.dumps(copy))(X[:1]))[0] == "0.5 of 3.0\n"


def test_functions_without_print_have_no_more_results():
    f = lw.vectorize(lambda x: x + 1, name="f")
    assert "-> (f64)" in f.lower(X)
    g = lw.vectorize(lambda x: print(x) or x + 1, name="g")
    assert "-> (f64, i32)" in g.lower(X)


def test_what_is_printed_waits_for_the_end_of_the_call(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import lanewise as lw, numpy as np
            print("before")
            lw.vectorize(lambda x: print(x) or x)(np.arange(2))
            print("after")
            """
        )
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout == "before\n0\n1\nafter\n"


# --- what cannot be ---


def where(function, line):
    return f"{__file__}:{function.__code__.co_firstlineno + line}: "


def test_an_element_that_says_where_to_print():
    def f(x):
        print(x, flush=x > 0)
        return x

    with pytest.raises(lw.UsageTypeError) as error:
        lw.vectorize(f)(X)
    assert str(error.value) == where(f, 1) + (
        "print: where to print is an element; got an element as file or flush, expected plain "
        "values. Print in the two branches of an if."
    )


def test_a_whole_array_from_outside():
    table = np.arange(3)

    def f(x):
        print(table)
        return x

    with pytest.raises(lw.UsageTypeError) as error:
        lw.vectorize(f)(X)
    assert str(error.value) == where(f, 1) + (
        "print: a whole array from outside; got a table, expected its values. Print them by index, "
        "or print the array outside of the function."
    )


def test_a_name_without_a_value():
    def f(x):
        if x > 0:
            y = 1
        print(y)
        return x

    with pytest.raises(lw.UsageError, match="y: may have no value"):
        lw.vectorize(f)(X)


def test_too_many_results():
    def f(x):
        print(x)
        return (x,) * 16

    with pytest.raises(lw.UsageError) as error:
        lw.vectorize(f)(X)
    assert str(error.value) == (
        "f: returns too many values for a function that prints; got 16, expected at most 15, as "
        "the number of lines is one more. Print less, or return less."
    )


def test_a_function_that_prints_cannot_be_saved(tmp_path):
    f = lw.vectorize(everywhere, name="f")
    printed(lambda: f(X))
    with pytest.raises(lw.UsageError) as error:
        f.save(tmp_path / "f.npz")
    assert str(error.value) == (
        "f: cannot be saved; got a function that prints, expected one that does not: a file holds "
        "programs only. Save it without its print."
    )


def test_texts_of_elements_are_marks_outside_of_print():
    seen = []
    lw.vectorize(lambda x: seen.append(f"{x}") or seen.append(x) or x)(X)
    assert seen[0] == "<element float64 #0>"
    assert str(seen[1]) == repr(seen[1]) == f"{seen[1]}" == "<element float64>"


def test_the_text_of_an_element_has_no_length():
    with pytest.raises(lw.UsageError, match="len: the text of an element is not known while its "):
        lw.vectorize(lambda x: len(str(x)))(np.ones(2))
    with pytest.raises(lw.UsageError, match="len of <element float64>, expected a use in print"):
        lw.vectorize(lambda x: len(f"{x:.2f}"))(np.ones(2))
