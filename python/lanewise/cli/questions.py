"""The part of the tour for those who come from TensorFlow: their questions, with programs.

Each program is written for a module ``tf``, which is `lanewise.compat.tf` and, where it is
installed, TensorFlow too.
"""

import importlib
import importlib.util
import inspect
import os
import textwrap
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .workloads import pixels, repeat_sum, square

_WHILE = 0.3  # seconds in which calls are repeated
_CHANGED = "import lanewise.compat.tf as tf  # was: import tensorflow as tf"


class Question(NamedTuple):
    """What people ask, the program they have, and what happens with it here."""

    asked: str
    program: Callable[[Any], Callable[[], Any]]
    answer: str
    plain: Callable[[], Any]  # the loop of Python that does the same
    runs_there: bool = True  # TensorFlow takes the program


def _plain_square() -> Any:
    return [x**2 for x in np.random.default_rng(1).random(1000)]


def _plain_pixels() -> Any:
    images = np.random.default_rng(2).random((100, 64, 64, 3), np.float32)
    for image in images:
        for i in range(64):
            for j in range(64):
                image[i, j] = np.sqrt(image[i, j])
    return images


def _plain_repeat() -> Any:
    return [np.repeat(x, 10000).sum() for x in np.arange(1000, dtype=np.float32)]


QUESTIONS = (
    Question(
        "Why is map_fn slower than a Python loop?",
        square,
        "The function is called once and recorded; one program runs over all elements.",
        _plain_square,
    ),
    Question(
        "How do I make map_fn fast?",
        pixels,
        "Loops that write every place once are done in any order, with all lanes.",
        _plain_pixels,
        runs_there=False,
    ),
    Question(
        "How do I stop it eating memory?",
        repeat_sum,
        "What is only summed is never made; memory does not grow with the elements.",
        _plain_repeat,
    ),
)


def _best(call: Callable[[], Any]) -> float:
    """Return the least time of a call in seconds."""
    best = float("inf")
    end = perf_counter() + _WHILE
    while True:
        start = perf_counter()
        call()
        now = perf_counter()
        best = min(best, now - start)
        if now > end:
            return best


def answer_all() -> None:
    """Print the questions with programs, and how long these take here and elsewhere."""
    from ..compat import tf as ours  # seldom needed

    print(f"For those who come from TensorFlow, one line changes:\n\n  {_CHANGED}\n")
    theirs = None
    if importlib.util.find_spec("tensorflow") is not None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        theirs = importlib.import_module("tensorflow")
    for question in QUESTIONS:
        _answer(question, ours, theirs)
    print("docs/coming_from_tensorflow.md goes on from here; python -m bench.maps measures it all.")


def _answer(question: Question, ours: Any, theirs: Any) -> None:
    call = question.program(ours)
    start = perf_counter()
    result = call()
    first = perf_counter() - start
    expected = np.asarray(question.plain())
    is_right = np.allclose(np.asarray(result), expected, rtol=1e-4)
    best = _best(call)
    plain = _best(question.plain)
    print(f"{question.asked}\n\n{_source(question.program)}")
    print(f"  {question.answer}")
    print(f"  first call    {first * 1e3:9.3f} ms; {'right' if is_right else 'WRONG'}")
    print(f"  best call     {best * 1e3:9.3f} ms")
    print(f"  plain Python  {plain * 1e3:9.3f} ms, {plain / best:.0f} times as long")
    if theirs is not None and question.runs_there:
        there = _best(question.program(theirs))
        print(f"  TensorFlow    {there * 1e3:9.0f} ms, {there / best:.0f} times as long")
    print()


def _source(program: Callable[..., Any]) -> str:
    """Return the body of a program as a user would write it."""
    lines = inspect.getsource(program).splitlines()[2:]
    body = textwrap.dedent("\n".join(lines)).replace("  # type: ignore[no-untyped-def]", "")
    return textwrap.indent(body.replace("return lambda: ", "result = ").strip() + "\n", "    ")
