"""Maps over files that are larger than their budget."""

import sys
from pathlib import Path

import numpy as np
import pytest

import lanewise as lw

ROWS, LENGTH = 64, 128 * 1024  # 32 MB
BUDGET = 4 << 20

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def _resident_files():
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssFile"))


@pytest.fixture
def path(tmp_path):
    x = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (ROWS, LENGTH))
    x[:] = np.arange(ROWS, dtype=np.float32)[:, None]
    return tmp_path


@pytest.mark.parametrize("threads", [1, 2])
def test_files_do_not_stay_in_memory(path, threads):
    f = lw.vectorize(lambda row: row / 2 + row.max(), signature="(n)->(n)", threads=threads)
    x = np.load(path / "x.npy", mmap_mode="r")
    out = np.lib.format.open_memmap(path / "y.npy", "w+", np.float32, x.shape)
    f(x[:2], compile="now")
    before = _resident_files()
    f(x, out=out, memory=BUDGET, compile="now")
    assert _resident_files() - before < 2 * BUDGET
    out.flush()
    written = np.load(path / "y.npy")
    assert np.array_equal(written, np.repeat(np.arange(ROWS) * 1.5, LENGTH).reshape(x.shape))


def test_changes_that_no_file_has_stay(path):
    x = np.load(path / "x.npy", mmap_mode="c")  # changes are the process's own
    lw.map(lambda row: row + 1, np.array(x), out=x, memory=BUDGET, compile="now")
    assert np.array_equal(x[:, -1], np.arange(ROWS) + 1)
    assert np.load(path / "x.npy", mmap_mode="r")[3, 0] == 3
