"""Beside others: modules with a compiler of their own, worker processes, and the time of import."""

import importlib.util
import subprocess
import sys

import pytest

OURS = """
import lanewise as lw, numpy as np
x = np.linspace(0.1, 9.0, 10_000)
f = lw.vectorize(
    lambda x: lw.while_loop(lambda v: v > 0.5, lambda v: v * 0.5, x) + np.sin(x) * np.exp(-x),
    compile="now",
)
expected = f(x)
def ours():
    g = lw.vectorize(f.__wrapped__, compile="now")
    lw.clear_cache()
    assert np.array_equal(g(x), expected)
    assert g.explain(x).last_run["tier1_elements"] == x.size
"""
# Each defines theirs(), which compiles something new and checks its result.
THEIRS = {
    "numba": """
import numba, numpy as np
def theirs():
    g = numba.njit(lambda x: np.sin(x) * 2)
    assert np.allclose(g(np.ones(100)), np.sin(1.0) * 2)
""",
    "jax": """
import jax, numpy as np
def theirs():
    g = jax.jit(lambda x: jax.numpy.sin(x) * 2)
    assert np.allclose(g(np.ones(100, np.float32)), np.sin(1.0) * 2, rtol=1e-6)
""",
    "torch": """
import torch
def theirs():
    assert torch.allclose(torch.sin(torch.ones(100_000)) * 2, torch.tensor(1.682942))
""",
    "tensorflow": """
import tensorflow as tf, numpy as np
def theirs():
    g = tf.function(lambda x: tf.sin(x) * 2, jit_compile=True)
    assert np.allclose(g(tf.ones(100)), 1.682942)
""",
    "drjit": """
import drjit, numpy as np
def theirs():
    if drjit.has_backend(drjit.JitBackend.LLVM):
        from drjit.llvm import Float
        assert np.allclose(np.array(drjit.sin(drjit.full(Float, 1.0, 100)) * 2), 1.682942)
""",
    "taichi": """
import taichi
def theirs():
    taichi.init(arch=taichi.cpu, log_level=taichi.ERROR)
    field = taichi.field(taichi.f32, 100)
    field.fill(1.5)
    assert field[7] == 1.5
""",
}


def python(script: str, timeout: int = 180) -> str:
    """Run a script, which must end well; others may write to stderr."""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("name", THEIRS)
def test_it_works_beside(name, order):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    parts = [OURS, THEIRS[name]] if order == "before" else [THEIRS[name], OURS]
    assert python("".join(parts) + "theirs(); ours(); theirs(); ours(); print('fine')").endswith(
        "fine\n"
    )


EXCHANGE = {
    "torch": "import torch\nthere = torch.arange(1000.0, dtype=torch.float64)\n"
    "address = there.data_ptr()\nback = torch.from_dlpack\n",
    "jax": "import jax\njax.config.update('jax_enable_x64', True)\n"
    "there = jax.numpy.arange(1000.0)\naddress = there.unsafe_buffer_pointer()\n"
    "back = jax.numpy.from_dlpack\n",
}


@pytest.mark.parametrize("name", EXCHANGE)
def test_arrays_of_others_go_in_and_out_without_a_copy(name):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    script = """
import lanewise as lw, numpy as np
from lanewise.arguments import as_array
assert as_array(there).ctypes.data == address
f = lw.vectorize(lambda x: x * 2 + 1)
y = f(there)
assert f.explain(there).copied == []
assert np.array_equal(y, np.arange(1000.0) * 2 + 1)
assert float(back(y)[-1]) == 1999
print("fine")
"""
    assert python(EXCHANGE[name] + script) == "fine\n"


def test_it_works_beside_all_at_once():
    there = [name for name in THEIRS if importlib.util.find_spec(name) is not None]
    if not there:
        pytest.skip("none of them is installed")
    # drjit before tensorflow: those two clash by themselves
    there.sort(key=lambda name: name != "drjit")
    script = OURS + "".join(f"{THEIRS[name]}theirs(); ours()\n" for name in there)
    assert python(script + "print('fine')").endswith("fine\n")


WORKERS = """
import multiprocessing, os, sys
import numpy as np
import lanewise as lw

@lw.vectorize
def steps(x, k):
    return lw.while_loop(lambda v, n: v > 1, lambda v, n: (v * k, n + 1), (x, 0))[1]

def part(begin):
    return os.getpid(), steps(np.arange(begin, begin + 50_000.0), 0.5)

if __name__ == "__main__":
    expected = steps(np.arange(0.0, 400_000.0), 0.5)
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        done = pool.map(part, range(0, 400_000, 50_000))
    assert os.getpid() not in {{pid for pid, _ in done}}
    assert np.array_equal(np.concatenate([result for _, result in done]), expected)
    assert np.array_equal(steps(np.arange(0.0, 400_000.0), 0.5), expected)
    print("fine")
"""


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_functions_run_in_worker_processes(tmp_path, method):
    script = tmp_path / "workers.py"
    script.write_text(WORKERS.format(method=method))
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")


def test_functions_run_in_joblib(tmp_path):
    pytest.importorskip("joblib")
    (tmp_path / "functions.py").write_text(WORKERS.split("if __name__")[0])
    script = tmp_path / "jobs.py"
    script.write_text(
        "import joblib, numpy as np\nfrom functions import part, steps\n"
        "done = joblib.Parallel(n_jobs=2)(joblib.delayed(part)(b) for b in (0, 50_000))\n"
        "assert np.array_equal(done[1][1], steps(np.arange(50_000.0, 100_000.0), 0.5))\n"
        "print('fine')\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr


HEAVY = ("multiprocessing", "asyncio", "unittest", "argparse", "dask", "tqdm", "pandas", "zipfile")


def test_import_takes_nothing_heavy_along():
    script = (
        "import sys, numpy; before = set(sys.modules); import lanewise\n"
        "print(*(set(sys.modules) - before))"
    )
    new = set(python(script).split())
    assert "lanewise.vectorize" in new
    assert not new & {*HEAVY, "lanewise.cli", "lanewise.dask", "lanewise.blocks"}
