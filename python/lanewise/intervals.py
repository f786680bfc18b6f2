"""What is known of whole numbers while a function is recorded: how small and how large they are.

Loop counters have bounds, and sums and products of them too. A Python integer that surely fits
int32 is computed as one, though Python's do not end there; an index that is surely not negative
does not count from the end.
"""

from typing import NamedTuple


class Interval(NamedTuple):
    """The least and the greatest that a whole number can be."""

    low: int
    high: int

    def fits(self, bits: int) -> bool:
        """Say whether a signed integer of so many bits holds every one of them."""
        return -(1 << bits - 1) <= self.low and self.high < 1 << bits - 1


INT32 = Interval(-(2**31), 2**31 - 1)
INT64 = Interval(-(2**63), 2**63 - 1)


def of_operation(name: str, a: Interval, b: Interval) -> Interval | None:
    """Return the bounds of a sum, difference or product; None for other operations."""
    if name == "add":
        return Interval(a.low + b.low, a.high + b.high)
    if name == "subtract":
        return Interval(a.low - b.high, a.high - b.low)
    if name == "multiply":
        corners = [x * y for x in a for y in b]
        return Interval(min(corners), max(corners))
    return None


def of_range(start: Interval, stop: Interval, step: int) -> Interval:
    """Return the bounds of the numbers in a range."""
    return Interval(start.low, stop.high - 1) if step > 0 else Interval(stop.low + 1, start.high)
