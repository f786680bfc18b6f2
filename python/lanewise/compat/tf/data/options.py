"""``tf.data.Options``: what is said of how a dataset is to be computed."""

from typing import Any

from .stages import Run


class _Group:
    """Options by name, of which none need be given."""

    _NAMES: tuple[str, ...] = ()

    def __init__(self) -> None:
        for name in self._NAMES:
            object.__setattr__(self, name, None)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._NAMES:
            raise AttributeError(
                f"{type(self).__name__}: no such option; got {name}, expected one of "
                f"{', '.join(self._NAMES)}."
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        given = {name: value for name, value in vars(self).items() if value is not None}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in given.items())})"

    def merged(self, later: Any) -> Any:
        """Return these options with others, which win."""
        result = type(self)()
        for name in self._NAMES:
            mine, its = getattr(self, name), getattr(later, name)
            both = mine.merged(its) if isinstance(mine, _Group) else mine if its is None else its
            object.__setattr__(result, name, both)
        return result


class AutotuneOptions(_Group):
    """How results are computed: blocks of elements take at most `ram_budget` bytes."""

    ram_budget: int | None
    _NAMES = (
        *("enabled", "cpu_budget", "ram_budget", "autotune_algorithm"),
        *("initial_parallelism", "min_parallelism"),
    )


class ThreadingOptions(_Group):
    """How many threads compute: `private_threadpool_size`."""

    private_threadpool_size: int | None
    _NAMES = ("max_intra_op_parallelism", "private_threadpool_size")


class OptimizationOptions(_Group):
    """Without effect: functions that follow one another are one program anyway."""

    _NAMES = (
        *("apply_default_optimizations", "filter_fusion", "filter_parallelization"),
        *("inject_prefetch", "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion"),
        *("map_parallelization", "map_vectorization", "noop_elimination", "parallel_batch"),
        *("seq_interleave_prefetch", "shuffle_and_repeat_fusion"),
    )


class DistributeOptions(_Group):
    """Without effect: there is one machine."""

    _NAMES = ("auto_shard_policy", "num_devices")


class Options(_Group):
    """What is said of how a dataset is to be computed.

    Examples
    --------
    >>> import lanewise.compat.tf as tf
    >>> options = tf.data.Options()
    >>> options.autotune.ram_budget = 1 << 20
    >>> ds = tf.data.Dataset.range(3).with_options(options)
    >>> ds.options().autotune
    AutotuneOptions(ram_budget=1048576)
    """

    _NAMES = (
        *("autotune", "dataset_name", "deterministic", "experimental_deterministic"),
        *("experimental_distribute", "experimental_external_state_policy"),
        *("experimental_optimization", "experimental_slack", "experimental_symbolic_checkpoint"),
        *("experimental_threading", "experimental_warm_start", "framework_type", "threading"),
    )

    def __init__(self) -> None:
        super().__init__()
        self.autotune = AutotuneOptions()
        self.threading = ThreadingOptions()
        self.experimental_threading = self.threading
        self.experimental_optimization = OptimizationOptions()
        self.experimental_distribute = DistributeOptions()

    def run(self) -> Run:
        """Return how a dataset with these options is iterated over."""
        run = Run()
        if self.autotune.ram_budget:
            run = run._replace(memory=int(self.autotune.ram_budget))
        if self.threading.private_threadpool_size:
            run = run._replace(threads=int(self.threading.private_threadpool_size))
        return run
