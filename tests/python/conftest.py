import gc
import weakref

import numpy as np
import pytest


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
