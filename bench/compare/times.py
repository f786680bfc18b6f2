"""A figure, and the times that figures are computed from."""

from dataclasses import dataclass

from .driver import Result


@dataclass(frozen=True)
class Figure:
    """A value against its bar. No value: what it needs has not been measured."""

    what: str
    value: float | None
    bar: float
    at_least: bool = True
    unit: str = "x"
    exempt: str = ""  # why the bar does not count here

    @property
    def is_missed(self) -> bool:
        if self.value is None or self.exempt:
            return False
        return self.value < self.bar if self.at_least else self.value > self.bar


class Times:
    """Looks results up; a figure about a case that was not run is left out."""

    def __init__(self, results: list[Result], wide: bool) -> None:
        self._results = {
            (r.case.workload, r.case.dtype, r.case.size, r.case.threads): r for r in results
        }
        self.wide = wide  # AVX-512

    def results(self) -> list[Result]:
        return list(self._results.values())

    def has(self, workload: str, dtype: str, size: int, threads: int = 1) -> bool:
        return (workload, dtype, size, threads) in self._results

    def get(self, name: str, workload: str, dtype: str, size: int, threads: int) -> float | None:
        result = self._results.get((workload, dtype, size, threads))
        return None if result is None else result.seconds.get(name)

    def first(self, name: str, workload: str, dtype: str, size: int) -> float | None:
        """Return the bytes that the first call needed, on one thread."""
        result = self._results[workload, dtype, size, 1]
        return result.first[name] if name in result.seconds else None

    def has_failed(self, name: str, workload: str, dtype: str, size: int) -> bool:
        """Say if it was to be timed on one thread and was not: wrong, slow or not able to."""
        return name in self._results[workload, dtype, size, 1].missing

    def speed(
        self,
        others: tuple[str, ...],
        workload: str,
        dtype: str,
        size: int,
        threads: int = 1,
        ours: str = "lanewise",
    ) -> float | None:
        """Return how many times as fast as the best of the others we are.

        None if one of them is missing: it might have been the best.
        """
        mine = self.get(ours, workload, dtype, size, threads)
        theirs = [self.get(name, workload, dtype, size, threads) for name in others]
        known = [seconds for seconds in theirs if seconds is not None]
        return None if mine is None or len(known) < len(theirs) else min(known) / mine
