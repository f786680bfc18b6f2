"""Local lists, dicts and arrays.

They begin as the plain ones they are. What cannot be done with a plain one makes the function be
recorded again with another sort: a list or dict that only some elements change keeps its numbers in
slots; a list or array with an element as index is memory of the program.
"""

from collections.abc import Callable, Iterator
from typing import Any, NoReturn, SupportsIndex

import numpy as np

from ..dtypes import FROM_NUMPY, promote, promote_all
from ..element import Element, Whole, kind_of
from ..errors import UsageError, UsageTypeError
from ..recorder import Recorder, Retrace, current
from ..source import at_line
from .memory import Memory
from .slots import Slot, new_slot, read, write
from .state import has_element, is_number

_SLOTS, _MEMORY = "slots", "memory"
MOST_STEPS = 64


class Place:
    """Where in a function a container was made."""

    def __init__(self, recorder: Recorder, site: Any, thing: Any = None) -> None:
        self.recorder = recorder
        self._thing = thing  # keeps its address its own
        self.passage = recorder.visit((site, "container"))
        self._regions = len(recorder.regions)
        self._blocks = len(recorder.blocks)

    @property
    def mode(self) -> Any:
        """What earlier trials say it has to be."""
        return self.recorder.session.mode(self.passage)

    def require(self, mode: str) -> NoReturn:
        """Record the function again with another sort of container."""
        self.recorder.session.require_mode(self.passage, mode)

    def is_for_all(self) -> bool:
        """Say whether all elements that were where it was made are here too."""
        recorder = self.recorder
        if not recorder.is_open:
            return True
        return len(recorder.regions) <= self._regions and not any(
            block.is_left for block in recorder.blocks[self._blocks :]
        )

    def require_for_all(self, what: str) -> None:
        """Refuse a change of size that not all elements make."""
        if self.is_for_all():
            return
        error = UsageError(
            at_line(
                f"{what}: changes the size of a list or dict for some elements only; got a call "
                "inside a branch or loop on elements, expected a fixed size. Make it with all its "
                "places before, [0.0] * n or np.zeros(n), and assign to them."
            )
        )
        for region in reversed(self.recorder.regions[self._regions :]):
            region.unroll(error)
        raise error


class _Slots:
    """Numbers that live in slots."""

    def __init__(self, place: Place, numbers: list[Any]) -> None:
        self._place = place
        self._slots = [self._make(index, number) for index, number in enumerate(numbers)]

    def _make(self, index: int, number: Any) -> Slot:
        recorder = self._place.recorder
        kind = recorder.session.kind(self._place.passage, index, kind_of(number))
        recorder.locate()
        return new_slot(recorder, number, kind)

    def read(self, index: int) -> Any:
        return read(self._place.recorder, self._slots[index])

    def write(self, index: int, number: Any) -> None:
        slot, recorder = self._slots[index], self._place.recorder
        kind = kind_of(number)
        if promote(slot.kind, kind) != slot.kind:
            recorder.session.widen(self._place.passage, index, promote(slot.kind, kind))
            raise Retrace
        recorder.locate()
        write(recorder, slot, number)


class LocalList(list[Any]):
    """A list that a rewritten function makes."""

    def __init__(self, recorder: Recorder, site: Any, values: list[Any]) -> None:
        super().__init__(values)
        self._site = site
        self._place = Place(recorder, site)
        self._store: _Slots | Memory | None = None
        if self._place.mode is not None and values and all(map(is_number, values)):
            if self._place.mode == _SLOTS:
                self._store = _Slots(self._place, values)
            else:
                kind = promote_all([kind_of(value) for value in values])
                self._store = Memory(recorder, values, kind, self._place.passage)

    @property
    def is_plain(self) -> bool:
        """Whether it is an ordinary list up to now."""
        return self._store is None

    def _index(self, index: Any) -> int:
        at = index.__index__()
        if not -len(self) <= at < len(self):
            raise IndexError(
                at_line(f"index: out of range; got {at}, expected {-len(self)} to {len(self) - 1}.")
            )
        return int(at) % len(self)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, Element):
            return self._memory(index).read(index)
        if self._store is None:
            return super().__getitem__(index)
        if isinstance(index, slice):
            return [self._store.read(i) for i in range(len(self))[index]]
        return self._store.read(self._index(index))

    def _memory(self, index: Element) -> Memory:
        if not isinstance(self._store, Memory):
            self._place.recorder.make_plain(index.value, _no_index(), self._few_steps())
            _require_numbers(list(super().__iter__()))
            self._place.require(_MEMORY)
        return self._store

    def _few_steps(self) -> int | None:
        """Return how many steps of loops are better recorded one by one than memory is read."""
        is_numbers = len(self) > 0 and all(map(is_number, super().__iter__()))
        return MOST_STEPS if is_numbers else None

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, Element):
            self._memory(index).write(index, value)
        elif self._store is not None and not isinstance(index, slice):
            self._store.write(self._index(index), value)
        elif self._place.is_for_all() and self._store is None:
            super().__setitem__(index, value)
        else:
            self._require_slots("list")

    def _require_slots(self, what: str) -> None:
        if self._place.mode is None and all(map(is_number, super().__iter__())):
            self._place.require(_SLOTS)
        self._place.require_for_all(what)

    def __iter__(self) -> Iterator[Any]:
        store = self._store
        if store is None:
            return list.__iter__(self)
        return (store.read(index) for index in range(len(self)))

    def __reversed__(self) -> Iterator[Any]:
        return iter(list(self)[::-1])

    def _new(self, values: list[Any]) -> "LocalList":
        return LocalList(self._place.recorder, (self._site, "new"), values)

    def __add__(self, other: Any) -> Any:
        return self._new(list(self) + list(other))

    def __mul__(self, times: SupportsIndex) -> Any:
        return self._new(list(self) * times)

    __rmul__ = __mul__

    def copy(self) -> Any:
        """Return a list with the same values."""
        return self._new(list(self))


def _changing(name: str) -> Callable[..., Any]:
    """Return a method that changes the size, or the order, of a list."""
    plain = getattr(list, name)

    def method(self: LocalList, *args: Any, **kwargs: Any) -> Any:
        if self.is_plain:
            self._place.require_for_all(name.strip("_"))
            return plain(self, *args, **kwargs)
        raise UsageError(
            at_line(
                f"{name.strip('_')}: changes the size or order of a list that elements index or "
                "change by themselves; got a call on such a list, expected a fixed size. Assign to "
                "its places."
            )
        )

    return method


for _name in (
    *("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"),
    *("__delitem__", "__iadd__", "__imul__"),
):
    setattr(LocalList, _name, _changing(_name))


class LocalDict(dict[Any, Any]):
    """A dict that a rewritten function makes."""

    def __init__(self, recorder: Recorder, site: Any, values: dict[Any, Any]) -> None:
        super().__init__(values)
        self._place = Place(recorder, site)
        self._slots: _Slots | None = None
        self._order = {key: index for index, key in enumerate(values)}
        if self._place.mode is not None:
            self._slots = _Slots(self._place, list(values.values()))

    @property
    def is_plain(self) -> bool:
        """Whether it is an ordinary dict up to now."""
        return self._slots is None

    def __getitem__(self, key: Any) -> Any:
        if self._slots is None or key not in self._order:
            return super().__getitem__(key)
        return self._slots.read(self._order[key])

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key, or the default."""
        try:
            return self[key]
        except KeyError:
            return default

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._slots is not None and key in self._order:
            self._slots.write(self._order[key], value)
        elif self._place.is_for_all():
            super().__setitem__(key, value)
        else:
            is_fixed = key in self._order and len(self._order) == len(self)
            if self._slots is None and is_fixed and all(map(is_number, super().values())):
                self._place.require(_SLOTS)
            self._place.require_for_all("dict")

    def values(self) -> Any:
        """Return the values."""
        return [self[key] for key in self]

    def items(self) -> Any:
        """Return keys and values."""
        return [(key, self[key]) for key in self]


class PlainArray(np.ndarray[Any, np.dtype[Any]]):
    """A NumPy array that a rewritten function makes, as long as it is an ordinary one."""

    _place: Place | None = None
    numbers: range | None = None  # which it has, where a loop over it may be one over these

    def __getitem__(self, index: Any) -> Any:
        self._require_memory(index)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._place
        is_symbol = isinstance(value, (Element, Whole))
        if is_symbol or (place is not None and not place.is_for_all()):
            self.require_memory()
        self._require_memory(index)
        self.numbers = None
        super().__setitem__(index, value)

    def require_memory(self) -> None:
        """Record the function again with this as an array of elements."""
        if self._place is not None:
            self._place.require(_MEMORY)

    def _require_memory(self, index: Any) -> None:
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, (Element, Whole)) for part in parts):
            self.require_memory()


LOCAL = (LocalList, LocalDict, PlainArray, Whole)


def local_list(site: int, values: list[Any]) -> list[Any]:
    """Return a list that a rewritten function makes."""
    recorder = current()
    return values if recorder is None else LocalList(recorder, site, values)


def local_dict(site: int, values: dict[Any, Any]) -> dict[Any, Any]:
    """Return a dict that a rewritten function makes."""
    recorder = current()
    return values if recorder is None else LocalDict(recorder, site, values)


def local_array(make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return an array that a rewritten function makes by calling a function of NumPy."""
    recorder = current()
    if recorder is None:
        return make(*args, **kwargs)
    if make in (np.array, np.asarray) and args and isinstance(args[0], Element):
        return args[0].astype(kwargs["dtype"]) if "dtype" in kwargs else args[0]
    if make in (np.array, np.asarray) and isinstance(args[0], Whole):
        array = args[0] if make is np.asarray else args[0].copy()
        return array.astype(kwargs["dtype"]) if "dtype" in kwargs else array
    if make in (np.array, np.asarray) and _holds_elements(args[0]):
        return _array_of_elements(recorder, *args, **kwargs)
    if make is np.full and _holds_elements(args):
        from ..tensors.making import full  # seldom needed, and long to import

        return full(recorder, *args, **kwargs)
    made = make(*args, **kwargs)
    if type(made) is not np.ndarray or made.dtype not in FROM_NUMPY or made.ndim == 0:
        return made
    place = Place(recorder, (make.__name__, made.shape))
    if place.mode is not None:
        from ..tensors.making import array_of_numbers

        return array_of_numbers(recorder, made)
    plain: PlainArray = made.view(PlainArray)
    plain._place = place
    return plain


def _holds_elements(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and any(
        isinstance(value, (Element, Whole)) or _holds_elements(value) for value in values
    )


def _array_of_elements(recorder: Recorder, values: Any, dtype: Any = None) -> Any:
    from ..tensors.making import nested

    made = nested(recorder, values)
    return made if dtype is None else made.astype(dtype)


def item(container: Any, index: Any) -> Any:
    """Do `container[index]`; sequences that others have made are read as they are."""
    if isinstance(container, Element):
        return container.whole()[index]
    is_ours = isinstance(container, (LocalList, PlainArray))
    elements = [part for part in _parts(index) if isinstance(part, Element)]
    if is_ours or not elements or not isinstance(container, (list, tuple, np.ndarray)):
        return container[index]
    recorder = elements[0].recorder
    if isinstance(container, np.ndarray):
        raise UsageError(
            at_line(
                "index: an element as index into an array that was neither captured by name nor "
                f"made in the function; got an array of shape {container.shape}, expected one of "
                "those. Give it a name outside of the function, or pass it as an excluded argument."
            )
        )
    is_numbers = len(container) > 0 and all(map(is_number, container))
    recorder.make_plain(index.value, _no_index(), MOST_STEPS if is_numbers else None)
    _require_numbers(list(container))
    return _memory_of(recorder, container).read(index)


def _memory_of(recorder: Recorder, container: Any) -> Memory:
    """Return the memory for a sequence from outside, which is filled where the function begins."""
    key = _key(container)
    known: Memory | None = recorder.sequences.get(key)
    if known is not None:
        return known
    if recorder.is_everybody_here() and not has_element(container):
        recorder.sequences[key] = made = memory_of_numbers(recorder, container)
        return made
    if has_element(container):
        return memory_of_numbers(recorder, container)
    recorder.session.sequences.append(container)
    raise Retrace


def _key(numbers: Any) -> tuple[str, ...]:
    """Return what sequences with the same numbers have in common."""
    return tuple(map(repr, numbers))


def memory_of_numbers(recorder: Recorder, numbers: Any) -> Memory:
    """Make memory with these numbers."""
    kind = promote_all([kind_of(number) for number in numbers])
    return Memory(recorder, list(numbers), kind, None)


def fill_sequences(recorder: Recorder) -> None:
    """Make the memory of sequences that earlier trials have met, where a function begins."""
    for sequence in recorder.session.sequences:
        recorder.sequences[_key(sequence)] = memory_of_numbers(recorder, sequence)


def _require_numbers(values: list[Any]) -> None:
    if not values or not all(map(is_number, values)):
        raise _no_index()


def _no_index() -> UsageTypeError:
    return UsageTypeError(
        at_line(
            "index: an element cannot choose among other things than numbers; got an element as "
            "index into a list of such, expected a list or array of numbers, or a plain index. "
            "Choose with if and elif."
        )
    )


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)
