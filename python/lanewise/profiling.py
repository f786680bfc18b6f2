"""Profiles: where the time of calls goes, as a table and as a file for a viewer."""

import os
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from . import _core
from .errors import UsageError


class Profile:
    """What `profile` gives: all calls of the process, on any thread, while it is entered."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = path
        self._file: IO[str] | None = None
        self._taken: _core.Profile | None = None
        self._process = 0

    def __enter__(self) -> Self:
        """Begin; the file is opened now, so that a wrong path is found before the work."""
        if self._taken is not None:
            raise UsageError("profile: entered twice; expected once. Make another one.")
        self._taken = _core.Profile()
        self._process = os.getpid()
        if self._path is not None:
            try:
                self._file = Path(self._path).open("w", encoding="utf-8")
            except OSError:
                self._taken.stop()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End, and write the file."""
        taken = self._begun()
        taken.stop()
        if self._file is None or os.getpid() != self._process:
            return  # the file is the parent's, where this is a child
        with self._file:
            self._file.write(taken.json())

    def summary(self) -> _core.ProfileSummary:
        """Return what was spent on each function, as data that prints as a table.

        Its ``rows`` have ``name``, ``calls``, ``elements``, ``seconds``, their ``share`` of the
        time that the profile was taken, ``ns_an_element``, the ``workers`` that were busy in the
        mean, the share of elements that ``machine_code`` ran, and ``compile_seconds``.
        """
        return self._begun().summary()

    def json(self) -> str:
        """Return what is written to the file: events as Chrome and Perfetto read them."""
        return self._begun().json()

    def __str__(self) -> str:
        """Return the table."""
        return str(self.summary())

    def _begun(self) -> _core.Profile:
        if self._taken is None:
            raise UsageError("profile: not begun; expected a with statement around the calls.")
        return self._taken


def profile(path: str | os.PathLike[str] | None = None) -> Profile:
    """Take a profile of all calls in a with statement.

    Parameters
    ----------
    path : str or path, optional
        Where a trace is written at the end, for https://ui.perfetto.dev or chrome://tracing: a
        track for each thread with calls, chunks and their elements, compiling and waiting.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> square = lw.vectorize(lambda x: x * x, name="square")
    >>> with lw.profile() as p:
    ...     y = square(np.arange(1000.0))
    >>> [(row.name, row.calls, row.elements) for row in p.summary().rows if row.calls]
    [('square', 1, 1000)]
    """
    return Profile(path)
