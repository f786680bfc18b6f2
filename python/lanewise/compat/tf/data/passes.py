"""Seeds of what a dataset draws: another one for every pass over it."""

import itertools

from .. import seeds


class Passes:
    """A seed for each pass: from one that was given, that of the program, or any."""

    def __init__(self, seed: int | None = None, changes: bool = True) -> None:
        program = seeds.program_seed()
        if seed is not None:
            self.seed = seeds.mixed(program, seed)
        else:
            self.seed = seeds.next_seed(None if program is None else "Dataset")
        self._changes = changes
        self._numbers = itertools.count()

    def next(self) -> int:
        """Return the seed of the next pass; always the same one where it does not change."""
        return seeds.mixed(self.seed, next(self._numbers) if self._changes else 0)
