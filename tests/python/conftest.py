import gc
import os
import weakref

import numpy as np
import pytest
from hypothesis import settings

os.environ["LANEWISE_DISK_CACHE"] = "0"  # nobody's real cache is touched

settings.register_profile("untimed", deadline=None)  # no test asserts a time
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def quiet_numpy():
    """NumPy computes the expected values, overflow and invalid ones too."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture
def is_collected():
    """Say whether the last reference to an object is gone."""

    def check(reference: weakref.ref) -> bool:
        gc.collect()
        return reference() is None

    return check
