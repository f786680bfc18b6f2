"""One row of a structured array or of a table with columns, while its function is recorded."""

from typing import Any

from .errors import UsageError
from .source import at_line


class Record:
    """The fields of an element, by item or attribute: ``row["mass"]`` or ``row.mass``."""

    __slots__ = ("_fields",)

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> Any:
        if name in self._fields:
            return self._fields[name]
        raise UsageError(
            at_line(
                f"record: no such field of numbers; got {name!r}, expected "
                f"{', '.join(repr(field) for field in self._fields)}."
            )
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __repr__(self) -> str:
        return f"<record {', '.join(self._fields)}>"
