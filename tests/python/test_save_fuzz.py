"""Files of programs with anything in them are refused, or are programs that can be called.

A few hundred files in each run; with LANEWISE_FUZZ_SECONDS as many as fit into that time.
"""

import copy
import io
import itertools
import json
import os
import random
import time
import warnings

import numpy as np
import pytest

import lanewise as lw

FEW = 300
NUMBERS = [0, -1, 1, 7, 2**31, 2**63, 2**70, 1e308]
OTHERS = [None, "", "F64", True, [], {}, [[]], [-1, -5], [2**40, 2**40], [5, 5], *NUMBERS]

scale, table = 2.5, np.array([1.0, 5.0, 7.0, 9.0])
FUNCTIONS = {
    "nested": (
        lw.vectorize(lambda i, x: {"a": table[i] * scale, "b": (np.sin(x), x > 1)}),
        (np.array([0, 1, 2]), np.arange(3.0)),
    ),
    "rows": (lw.vectorize(lambda r: r / r.sum(), signature="(n)->(n)"), (np.ones((4, 5)),)),
    "complex": (lw.vectorize(lambda z: z * z + 1j), (np.ones(3, complex),)),
    "loops": (
        lw.vectorize(lambda x: lw.while_loop(lambda v: v > 1, lambda v: v / 2, x)),
        (np.arange(4.0),),
    ),
}


def bytes_with(arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def places_in(value, place=()):
    """Say where everything in lists and dicts stands."""
    parts = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    for key, part in parts:
        yield (*place, key)
        yield from places_in(part, (*place, key))


def other_text(text, choose):
    """Return text with letters or lines that have gone, changed or come."""
    at = choose.randrange(len(text))
    way = choose.randrange(3)
    if way == 0:
        return text[:at] + text[at + 1 :]
    if way == 1:
        return text[:at] + choose.choice("0123456789%,(){}\n xf-") + text[at + 1 :]
    lines = text.split("\n")
    lines[choose.randrange(len(lines))] = choose.choice(lines)
    return "\n".join(lines)


def other(value, choose):
    """Return something else for the place of a part of a description, with no part of that."""
    if isinstance(value, str) and len(value) > 20 and choose.random() < 0.9:
        for _ in range(choose.randint(1, 3)):
            value = other_text(value, choose)
        return value
    if isinstance(value, int) and choose.random() < 0.5:
        return value + choose.choice([-1, 1, 7])
    if isinstance(value, list) and value and choose.random() < 0.5:
        return copy.deepcopy(choose.choice([value[:-1], [*value, value[0]]]))
    return copy.deepcopy(choose.choice(OTHERS))


def other_description(file, choose):
    """Return the file with another description of its programs."""
    with np.load(io.BytesIO(file)) as opened:
        arrays = dict(opened)
    description = json.loads(arrays["header"].tobytes())
    for _ in range(choose.randint(1, 3)):
        *place, last = choose.choice(list(places_in(description)))
        part = description
        for key in place:
            part = part[key]
        part[last] = other(part[last], choose)
    arrays["header"] = np.frombuffer(json.dumps(description).encode(), np.uint8)
    return bytes_with(arrays)


def other_bytes(file, choose):
    """Return the file with bytes that have changed, gone or come."""
    data = bytearray(file)
    for _ in range(choose.randint(1, 4)):
        at, way = choose.randrange(len(data)), choose.randrange(3)
        if way == 0:
            data[at] = choose.randrange(256)
        elif way == 1:
            del data[at : at + choose.randint(1, 50)]
        else:
            data[at:at] = data[choose.randrange(len(data)) :][:20]
    return bytes(data)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files of all functions."""
    path = tmp_path_factory.mktemp("saved") / "f.npz"
    found = {}
    for name, (function, arguments) in FUNCTIONS.items():
        function(*arguments)
        function.save(path)
        found[name] = path.read_bytes()
    return found


def seeds():
    seconds = float(os.environ.get("LANEWISE_FUZZ_SECONDS", "0"))
    if seconds == 0:
        return range(FEW)
    end = time.monotonic() + seconds
    return itertools.takewhile(lambda _: time.monotonic() < end, itertools.count())


def test_what_is_in_a_file_is_refused_or_can_be_called(files, tmp_path):
    path = tmp_path / "f.npz"
    refused = called = 0
    for seed in seeds():
        choose = random.Random(seed)
        name = choose.choice(list(files))
        change = other_bytes if choose.random() < 0.3 else other_description
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what is no JSON or no header of NumPy
                path.write_bytes(change(files[name], choose))
                loaded = lw.Vectorized.load(path, max_steps=1000)
        except lw.UsageError:
            refused += 1
            continue
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
        try:
            loaded(*FUNCTIONS[name][1])
            called += 1
        except (lw.UsageError, lw.ElementError):
            pass  # no program for such arguments, or one that fails
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
    print(f"{refused} refused, {called} called")
    assert refused > 0
    assert called > 0
