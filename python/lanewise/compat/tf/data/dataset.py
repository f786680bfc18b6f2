"""``tf.data.Dataset``: what users call; stages do it."""

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ....errors import InvalidArgumentError
from ....trees import flatten
from ..dtypes import as_dtype
from ..names import unsupported
from ..tensor import Tensor, array_of
from . import batching, counting, mapping, sources
from .blocks import Block, arrays, block_of, split, tensors
from .checks import (
    AUTOTUNE,
    check_iterable,
    check_parallel,
    checked_count,
    function_of,
    seed_of,
)
from .flattening import Interleave
from .functions import ElementFunction
from .generators import Generated, checked_signature, signature_of
from .iterators import Iterator, elements
from .options import Options
from .padding import PaddedBatch
from .passes import Passes
from .shuffling import Shuffle
from .stages import INFINITE, Run, Stage
from .windows import Windows

Function = Callable[..., Any]


class _Kind(type):
    """Says which names of ``tf.data.Dataset`` there are when one is not."""

    def __getattr__(cls, name: str) -> Any:
        raise _unknown(name)


def _unknown(name: str) -> AttributeError:
    if name.startswith("_"):
        return AttributeError(name)
    known = [f"data.Dataset.{one}" for one in vars(Dataset) if not one.startswith("_")]
    return unsupported(f"data.Dataset.{name}", known)


class Dataset(metaclass=_Kind):
    """Elements that are computed when somebody iterates; each may be nested tensors.

    A function that is mapped runs as one program over blocks of elements, although it is written
    for one, and elements are handed out one by one.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> ds = tf.data.Dataset.range(5).map(lambda x: x * x).batch(2)
    >>> for batch in ds:
    ...     print(batch.numpy())
    [0 1]
    [4 9]
    [16]
    """

    is_dataset = True

    def __init__(self, stage: Stage, options: Options | None = None) -> None:
        self.stage = stage
        self._options = options  # None: nobody has said anything

    def __getattr__(self, name: str) -> Any:
        raise _unknown(name)

    def _then(self, stage: Stage) -> "Dataset":
        return Dataset(stage, self._options)

    # --- where elements come from ---

    @staticmethod
    def from_tensor_slices(tensors: Any, name: Any = None) -> "Dataset":
        """Return what nested tensors have along their first axis; arrays are read where they are.

        Examples
        --------
        >>> import lanewise.compat.tf as tf
        >>> ds = tf.data.Dataset.from_tensor_slices({"x": [1, 2], "y": [0.5, 1.5]})
        >>> [(row["x"].numpy().item(), row["y"].numpy().item()) for row in ds]
        [(1, 0.5), (2, 1.5)]
        """
        return Dataset(sources.slices_of("Dataset.from_tensor_slices", tensors))

    @staticmethod
    def from_tensors(tensors: Any, name: Any = None) -> "Dataset":
        """Return nested tensors as the only element."""
        return Dataset(sources.whole_of("Dataset.from_tensors", tensors))

    @staticmethod
    def from_generator(
        generator: Callable[..., Iterable[Any]],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: Any = None,
    ) -> "Dataset":
        """Return what a generator yields; it is called anew for every pass.

        Without types or a signature, elements are what they are.
        """
        if not callable(generator):
            raise TypeError(
                "Dataset.from_generator: not a function; got "
                f"{type(generator).__name__}, expected a function that returns an iterator."
            )
        if output_signature is not None:
            signature = checked_signature(output_signature)
        else:
            is_known = output_types is not None
            signature = signature_of(output_types, output_shapes) if is_known else None
        given = tuple(array_of(one)[()] for one in args or ())
        return Dataset(Generated(generator, given, signature))

    @staticmethod
    def range(*args: Any, output_type: Any = "int64", name: Any = None) -> "Dataset":
        """Return numbers: up to one, from one to another, or these with a step."""
        if not 1 <= len(args) <= 3:
            raise ValueError(
                f"Dataset.range: another number of bounds; got {len(args)}, expected 1 to 3."
            )
        bounds = [int(array_of(one)) for one in args]
        found = range(*bounds)
        dtype = as_dtype(output_type)

        def make(first: int, count: int) -> Any:
            numbers = np.arange(first, first + count, dtype=np.int64)
            return (found.start + found.step * numbers).astype(dtype.dtype)

        return Dataset(sources.Numbers(make, dtype, len(found)))

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = "int64", name: Any = None) -> "Dataset":
        """Return numbers without end."""
        kind = as_dtype(dtype)

        def make(first: int, count: int) -> Any:
            numbers = np.arange(first, first + count, dtype=np.int64)
            return (array_of(start) + array_of(step) * numbers).astype(kind.dtype)

        return Dataset(sources.Numbers(make, kind))

    @staticmethod
    def random(
        seed: Any = None, rerandomize_each_iteration: Any = None, name: Any = None
    ) -> "Dataset":
        """Return random integers of 32 bits without end."""
        drawn = Passes(seed_of(seed), bool(rerandomize_each_iteration))
        return Dataset(sources.Drawn(drawn.next))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: Any = None) -> "Dataset":
        """Return elements of several datasets side by side, nested as these are."""
        given = args[0] if len(args) == 1 else args or datasets
        given = tuple(given) if isinstance(given, list) else given
        leaves: list[Any] = []
        structure = flatten(given, leaves, split)
        return Dataset(
            counting.Zip(structure, [_dataset("Dataset.zip", leaf).stage for leaf in leaves])
        )

    # --- what a function makes of them ---

    def map(
        self,
        map_func: Function,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        synchronous: Any = None,
        use_unbounded_threadpool: Any = None,
        name: Any = None,
    ) -> "Dataset":
        """Return what a function makes of each element; a tuple is several arguments.

        Elements run in SIMD lanes on all cores and stay in their order, so the other arguments have
        nothing to change. What the function draws depends on the number of an element.
        """
        check_parallel("Dataset.map", num_parallel_calls)
        function = function_of("Dataset.map", map_func)
        if isinstance(self.stage, mapping.Map):
            return self._then(self.stage.then(function))
        return self._then(mapping.Map(self.stage, ElementFunction("Dataset.map", (function,))))

    def filter(self, predicate: Function, name: Any = None) -> "Dataset":
        """Return the elements for which a condition holds."""
        function = ElementFunction("Dataset.filter", (function_of("Dataset.filter", predicate),))
        return self._then(mapping.Filter(self.stage, function))

    def take_while(self, predicate: Function, name: Any = None) -> "Dataset":
        """Return the elements before the first for which a condition does not hold."""
        call = "Dataset.take_while"
        function = ElementFunction(call, (function_of(call, predicate),))
        return self._then(mapping.TakeWhile(self.stage, function))

    def flat_map(self, map_func: Function, name: Any = None) -> "Dataset":
        """Return the elements of the datasets that a function makes of elements."""
        call = "Dataset.flat_map"
        return self._then(Interleave(call, self.stage, function_of(call, map_func), 1, None))

    def interleave(
        self,
        map_func: Function,
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: Any = None,
    ) -> "Dataset":
        """Return the elements of such datasets in turns: of so many at a time so many each."""
        call = "Dataset.interleave"
        check_parallel(call, num_parallel_calls)
        is_given = cycle_length is not None and cycle_length != AUTOTUNE
        cycle = checked_count(call, "cycle_length", cycle_length) if is_given else _CYCLE
        length = checked_count(call, "block_length", 1 if block_length is None else block_length)
        return self._then(Interleave(call, self.stage, function_of(call, map_func), cycle, length))

    def scan(self, initial_state: Any, scan_func: Function, name: Any = None) -> "Dataset":
        """Return what a function of a state and an element gives beside the new state."""
        function = function_of("Dataset.scan", scan_func)
        return self._then(mapping.Scan(self.stage, _element(initial_state), function))

    def reduce(self, initial_state: Any, reduce_func: Function, name: Any = None) -> Any:
        """Return the last state that a function of a state and an element gives."""
        function_of("Dataset.reduce", reduce_func)
        state = _element(initial_state)
        for element in self:
            state = _element(reduce_func(state, element))
        return state

    def apply(self, transformation_func: Function, name: Any = None) -> "Dataset":
        """Return what a function makes of the dataset."""
        return _dataset("Dataset.apply", transformation_func(self))

    # --- several as one, and one as several ---

    def batch(
        self,
        batch_size: Any,
        drop_remainder: Any = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: Any = None,
    ) -> "Dataset":
        """Return so many elements stacked; the last ones may be fewer, unless they are dropped."""
        size = checked_count("Dataset.batch", "batch_size", batch_size)
        return self._then(batching.Batch(self.stage, size, bool(drop_remainder)))

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: Any = False,
        name: Any = None,
    ) -> "Dataset":
        """Return so many elements stacked, padded to one shape: the largest, or a given one."""
        size = checked_count("Dataset.padded_batch", "batch_size", batch_size)
        drops = bool(drop_remainder)
        return self._then(PaddedBatch(self.stage, size, drops, padded_shapes, padding_values))

    def unbatch(self, name: Any = None) -> "Dataset":
        """Return what elements have along their first axis."""
        return self._then(batching.Unbatch(self.stage))

    def rebatch(self, batch_size: Any, drop_remainder: Any = False, name: Any = None) -> "Dataset":
        """Return batches of another size."""
        return self.unbatch().batch(batch_size, drop_remainder)

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: Any = False,
        name: Any = None,
    ) -> "Dataset":
        """Return datasets of so many elements each, nested as elements are."""
        call = "Dataset.window"
        counts = checked_count(call, "size", size)
        step = counts if shift is None else checked_count(call, "shift", shift)
        sizes = counts, step, checked_count(call, "stride", stride)
        return self._then(Windows(self.stage, sizes, bool(drop_remainder), _of_blocks))

    # --- which, how often, and in which order ---

    def take(self, count: Any, name: Any = None) -> "Dataset":
        """Return the first elements; all of them for -1."""
        return self._then(
            counting.Take(self.stage, checked_count("Dataset.take", "count", count, -1))
        )

    def skip(self, count: Any, name: Any = None) -> "Dataset":
        """Return all elements but the first ones, for which nothing is computed; none for -1."""
        return self._then(
            counting.Skip(self.stage, checked_count("Dataset.skip", "count", count, -1))
        )

    def repeat(self, count: Any = None, name: Any = None) -> "Dataset":
        """Return all elements so many times; without end for None or -1."""
        times = -1 if count is None else checked_count("Dataset.repeat", "count", count, -1)
        return self._then(counting.Repeat(self.stage, times))

    def shard(self, num_shards: Any, index: Any, name: Any = None) -> "Dataset":
        """Return every n-th element, from one number on."""
        count = checked_count("Dataset.shard", "num_shards", num_shards)
        first = checked_count("Dataset.shard", "index", index, 0)
        if first >= count:
            raise InvalidArgumentError(
                f"Dataset.shard: no such shard; got index {first}, expected below {count}."
            )
        return self._then(counting.Shard(self.stage, count, first))

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: Any = None,
        name: Any = None,
    ) -> "Dataset":
        """Return elements in another order: the next is a random one of so many."""
        size = checked_count("Dataset.shuffle", "buffer_size", buffer_size)
        changes = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        return self._then(Shuffle(self.stage, size, Passes(seed_of(seed), changes)))

    def enumerate(self, start: Any = 0, name: Any = None) -> "Dataset":
        """Return elements with their numbers in front."""
        return self._then(counting.Enumerated(self.stage, int(array_of(start))))

    def concatenate(self, dataset: Any, name: Any = None) -> "Dataset":
        """Return these elements, and then those of another dataset."""
        other = _dataset("Dataset.concatenate", dataset)
        return self._then(counting.Concatenated(self.stage, other.stage))

    def cache(self, filename: Any = "", name: Any = None) -> "Dataset":
        """Return these elements, which are kept in memory when all have been there once."""
        if filename:
            raise NotImplementedError(
                f"Dataset.cache: files are not written; got {filename!r}, expected no name, which "
                "keeps elements in memory."
            )
        return self._then(counting.Cache(self.stage))

    def prefetch(self, buffer_size: Any, name: Any = None) -> "Dataset":
        """Return these elements: they are computed in blocks, on all cores, anyway."""
        checked_count("Dataset.prefetch", "buffer_size", buffer_size, -1)
        return self

    # --- what is known, and going through them ---

    @property
    def element_spec(self) -> Any:
        """Specs, nested as elements are; of what functions give, from a sample of zeros."""
        return self.stage.spec()

    def cardinality(self) -> Tensor:
        """Return how many elements there are; or INFINITE_CARDINALITY, or UNKNOWN_CARDINALITY."""
        return Tensor(np.int64(self.stage.cardinality()))

    def options(self) -> Options:
        """Return how it is computed."""
        return Options() if self._options is None else self._options.merged(Options())

    def with_options(self, options: Options, name: Any = None) -> "Dataset":
        """Return it with options, which win over those that it has."""
        return Dataset(self.stage, self.options().merged(options))

    def __iter__(self) -> Iterator:
        return self._iterated(tensors)

    def as_numpy_iterator(self) -> Iterator:
        """Return what iterates over it, with arrays and numbers of NumPy in place of tensors."""
        return self._iterated(arrays)

    def _iterated(self, hand_out: Any) -> Iterator:
        check_iterable()
        run = _PLAIN_RUN if self._options is None else self._options.run()
        return elements(self.stage, run, hand_out)

    def get_single_element(self, name: Any = None) -> Any:
        """Return the only element."""
        found = list(self.take(2))
        if len(found) != 1:
            raise InvalidArgumentError(
                "Dataset.get_single_element: another number of elements; got "
                f"{'more than one' if found else 'none'}, expected one."
            )
        return found[0]

    def __len__(self) -> int:
        size = self.stage.cardinality()
        if size < 0:
            raise TypeError(
                f"len: the number of elements is {'infinite' if size == INFINITE else 'unknown'}; "
                f"got {self!r}, expected a known one. Use cardinality()."
            )
        return size

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{type(self.stage).__name__}Dataset>"


_PLAIN_RUN = Run()
_CYCLE = min(os.cpu_count() or 1, 16)  # datasets that `interleave` goes through at a time


def _of_blocks(blocks: list[Block]) -> Dataset:
    return Dataset(counting.Blocks(blocks))


def _dataset(call: str, value: Any) -> Dataset:
    if isinstance(value, Dataset):
        return value
    raise TypeError(
        f"{call}: not a dataset; got {type(value).__name__}, expected a tf.data.Dataset."
    )


def _element(value: Any) -> Any:
    """Return nested values as tensors."""
    return value if type(value) is Tensor else next(block_of(value).rows(tensors))


def cardinality(dataset: Dataset) -> Tensor:
    """Return how many elements a dataset has."""
    return dataset.cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """Return the only element of a dataset."""
    return dataset.get_single_element()
