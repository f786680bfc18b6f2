"""Programs without their function, from files and pickles: what stands for what is not there."""

import types
from typing import Any

from .captures import Captures, Source
from .errors import UsageError


class Fixed(Captures):
    """What was captured when the program was saved."""

    def __init__(self, values: list[Any]) -> None:
        super().__init__()
        self.keeps_alive = True
        self._values = values
        self._cells = [types.CellType(value) for value in values]

    def match(self, function: Any) -> tuple[list[Any], tuple[Source, ...]]:
        """Return the values."""
        del function
        sources = tuple(
            (cell, None, "value", value)
            for cell, value in zip(self._cells, self._values, strict=True)
        )
        return self._values, sources


class Missing:
    """Stands for the function of saved programs, which is not there."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *arguments: Any) -> Any:
        """Say that there is no program."""
        kinds = ", ".join(repr(argument) for argument in arguments)
        raise UsageError(
            f"{self.__name__}: there is no program for such arguments; got {kinds}, expected kinds "
            "that the function was called with before it was saved or pickled. Call it with such "
            "arguments first, or put the function where it can be imported."
        )
