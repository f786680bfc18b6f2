"""Threads, forks, and the end of the process."""

import threading
import weakref

import numpy as np
from scripts import run

import lanewise as lw


def test_one_function_is_called_from_several_threads():
    traces = []

    @lw.vectorize
    def f(x, k):
        traces.append(1)
        return lw.while_loop(lambda v, n: v < 100, lambda v, n: (v * 1.5 + k, n + 1), (x, 0))[1]

    x = np.linspace(1, 50, 10_000)
    expected = {k: lw.vectorize(f.__wrapped__)(x, float(k)) for k in range(4)}
    traces.clear()
    wrong = []

    def work(k):
        for _ in range(20):
            if not np.array_equal(f(x, float(k)), expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(traces) == 1


def test_two_functions_are_recorded_at_once():
    first, second = threading.Event(), threading.Event()

    def waiting(mine, other):
        def f(x):
            mine.set()
            assert other.wait(10)
            return x + 1

        return lw.vectorize(f)

    results = []
    functions = [waiting(first, second), waiting(second, first)]
    threads = [
        threading.Thread(target=lambda f=f: results.append(f(np.zeros(3)).sum())) for f in functions
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [3, 3]


def test_python_runs_on_while_a_map_does():
    script = """
    import threading, time
    import numpy as np
    import lanewise as lw
    f = lw.vectorize(lambda x: lw.while_loop(lambda v: v > 0, lambda v: v - 1, x), compile="never")
    f(np.ones(2))
    ends = []
    thread = threading.Thread(target=lambda: ends.append(f(np.full(2, 3e6))) or ends.append(1))
    thread.start()
    steps = 0
    while not ends:
        time.sleep(0.001)
        steps += 1
    thread.join()
    print(steps > 5)
    """
    assert run(script) == "True\n"


def test_a_fork_after_use_works():
    script = """
    import os
    import numpy as np
    import lanewise as lw
    f = lw.vectorize(lambda x: lw.while_loop(lambda v: v > 1, lambda v: v * 0.5, x) + lw.sin(x))
    x = np.linspace(1, 1000, 500_000)
    expected = f(x)
    for child in range(3):
        pid = os.fork()
        if pid == 0:
            same = np.array_equal(f(x), expected)
            new = lw.vectorize(lambda x: x * 3, compile="now")(x)[0] == 3
            os._exit(0 if same and new else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    print(np.array_equal(f(x), expected))
    """
    assert run(script) == "True\n"


def test_a_fork_while_machine_code_is_made_works():
    script = """
    import os
    import numpy as np
    import lanewise as lw
    for child in range(10):
        f = lw.vectorize(lambda x: x * child + 1)
        f(np.ones(100))
        pid = os.fork()
        if pid == 0:
            os._exit(0 if f(np.ones(100_000))[0] == child + 1 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    print("fine")
    """
    assert run(script) == "fine\n"


def test_the_process_ends_quietly_with_functions_and_elements_alive():
    script = """
    import numpy as np
    import lanewise as lw
    kept = []

    @lw.vectorize
    def f(x):
        kept.append(x)
        return f.__wrapped__ and x + 1

    f(np.ones(3))
    try:
        lw.vectorize(lambda x: kept.append(x) or bool(x))(np.ones(3))
    except TypeError as error:
        kept.append(error)
    """
    assert run(script) == ""


def test_functions_that_nothing_refers_to_are_collected(is_collected):
    def make():
        @lw.vectorize
        def f(x):
            return x + (0 if f else 1)  # refers to itself

        f(np.ones(3))
        return weakref.ref(f)

    assert is_collected(make())
