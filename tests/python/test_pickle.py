"""Vectorized functions go through pickles, to other processes."""

import copy
import pickle
import textwrap

import numpy as np
import pytest
from samples import assert_same
from scripts import run

import lanewise as lw

X = np.arange(5.0)
SHIFT = 1.5


@lw.vectorize(threads=1)
def importable(x, k=2.0):
    return x * k + SHIFT


class Holder:
    @lw.vectorize
    def method(self, x):
        return x + self.by

    by = 3.0


def plain(x):
    return x - SHIFT


def test_a_function_that_can_be_imported_is_taken_by_name():
    assert pickle.loads(pickle.dumps(importable)) is importable
    assert pickle.loads(pickle.dumps(Holder.method)) is Holder.method
    assert copy.deepcopy(importable) is importable
    assert_same(pickle.loads(pickle.dumps(Holder().method))(X), X + 3)
    other = pickle.loads(pickle.dumps(lw.vectorize(plain, math="fast")))
    assert other.__wrapped__ is plain
    assert_same(other(X), X - 1.5)
    assert other.explain(X).math == "fast"


def test_a_closure_takes_its_programs_and_what_it_captures_along():
    scale, table = 3.0, np.array([5.0, 6.0, 7.0])
    f = lw.vectorize(lambda i: {"a": table[i] * scale, "b": (i, 1)}, max_steps=10)
    i = np.array([2, 0])
    expected = f(i)
    text = pickle.dumps(f)
    scale, table = 0.0, None
    g = pickle.loads(text)
    for _ in range(2):
        assert_same(g(i)["a"], expected["a"])
        assert_same(g(i)["b"][0], i)
    with pytest.raises(lw.UsageError, match=r"^lambda: there is no program for such arguments; g"):
        g(i.astype(np.int8))
    assert_same(pickle.loads(pickle.dumps(g))(i)["a"], expected["a"])


def test_a_function_that_was_never_called_is_empty():
    g = pickle.loads(pickle.dumps(lw.vectorize(lambda x: x)))
    with pytest.raises(lw.UsageError, match=r"Call it with such arguments first, or put the f"):
        g(X)


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_processes_of_each_kind_take_functions(start, tmp_path):
    module = tmp_path / "functions.py"
    module.write_text(
        "import numpy as np, lanewise as lw\n@lw.vectorize\ndef f(x):\n    return np.sqrt(x) + 1\n"
    )
    path = tmp_path / "main.py"
    path.write_text(
        textwrap.dedent(
            f"""
            import sys
            sys.path.insert(0, {str(tmp_path)!r})
            import multiprocessing
            import numpy as np, lanewise as lw
            import functions

            if __name__ == "__main__":
                k = 3.0
                g = lw.vectorize(lambda x: x * k)
                parts = [np.arange(4.0), np.arange(4.0) + 1]
                g(parts[0])
                with multiprocessing.get_context({start!r}).Pool(2) as pool:
                    print(*[float(y.sum()) for y in pool.map(functions.f, parts)])
                    print(*[float(y.sum()) for y in pool.map(g, parts)])
            """
        )
    )
    got = run("import runpy; runpy.run_path({path!r}, run_name='__main__')", path=str(path))
    of_f, of_g = ([float(number) for number in line.split()] for line in got.splitlines())
    assert of_f == [(np.sqrt(np.arange(4.0) + i) + 1).sum() for i in range(2)]
    assert of_g == [18, 30]
