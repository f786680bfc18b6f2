"""What variables begin with: ``tf.zeros_initializer`` and the like. All give arrays of NumPy."""

import math
from typing import Any

import numpy as np

from .dtypes import as_dtype
from .names import listed
from .seeds import next_seed
from .tensor import Tensor, array_of

Array = Any


class Initializer:
    """Gives the first value of a variable of a shape."""

    def __init__(self, dtype: Any = "float32") -> None:
        self._dtype = dtype

    def __call__(self, shape: Any, dtype: Any = None, **_: Any) -> Tensor:
        """Return a tensor of a shape."""
        kind = as_dtype(self._dtype if dtype is None else dtype).dtype
        return Tensor(np.asarray(self.array(tuple(map(int, shape)), kind)).astype(kind))

    def array(self, shape: tuple[int, ...], kind: Any) -> Array:
        """Return an array of a shape."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Initializer":
        """Return one with these arguments."""
        return cls(**config)


class zeros_initializer(Initializer):  # noqa: N801  # TensorFlow's name
    """Zeros."""

    def array(self, shape: tuple[int, ...], kind: Any) -> Array:
        """Return an array of a shape."""
        return np.zeros(shape, kind)


class ones_initializer(Initializer):  # noqa: N801
    """Ones."""

    def array(self, shape: tuple[int, ...], kind: Any) -> Array:
        """Return an array of a shape."""
        return np.ones(shape, kind)


class constant_initializer(Initializer):  # noqa: N801
    """One number, or those of an array."""

    def __init__(
        self,
        value: Any = 0,
        dtype: Any = "float32",
        verify_shape: bool = False,
        support_partition: bool = False,
    ) -> None:
        super().__init__(dtype)
        self._value = value

    def array(self, shape: tuple[int, ...], kind: Any) -> Array:
        """Return an array of a shape."""
        value = array_of(self._value)
        if np.size(value) not in (1, math.prod(shape)):
            raise ValueError(
                f"constant_initializer: another number of values than the shape has; got "
                f"{np.size(value)}, expected 1 or {math.prod(shape)}."
            )
        return np.full(shape, value) if np.size(value) == 1 else np.reshape(value, shape)


class _Random(Initializer):
    """Draws; with a seed the same for every shape."""

    def __init__(self, seed: Any = None, dtype: Any = "float32") -> None:
        super().__init__(dtype)
        self._seed = seed

    def generator(self) -> np.random.Generator:
        """Return what draws."""
        return np.random.default_rng(next_seed(self._seed))


class random_uniform_initializer(_Random):  # noqa: N801
    """Numbers that are evenly spread."""

    def __init__(
        self, minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None, dtype: Any = "float32"
    ) -> None:
        super().__init__(seed, dtype)
        self._bounds = minval, 1.0 if maxval is None else maxval

    def array(self, shape: tuple[int, ...], kind: Any) -> Array:
        """Return an array of a shape."""
        if np.dtype(kind).kind in "iu":
            low, high = map(int, self._bounds)
            return self.generator().integers(low, high, shape)
        return self.generator().uniform(*self._bounds, shape)


class random_normal_initializer(_Random):  # noqa: N801
    """Numbers of a normal distribution."""

    def __init__(
        self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None, dtype: Any = "float32"
    ) -> None:
        super().__init__(seed, dtype)
        self._mean, self._deviation = mean, stddev

    def array(self, shape: tuple[int, ...], kind: Any) -> Array:
        """Return an array of a shape."""
        return self.generator().normal(self._mean, self._deviation, shape)


class truncated_normal_initializer(random_normal_initializer):  # noqa: N801
    """Numbers of a normal distribution, those beyond two deviations drawn again."""

    def array(self, shape: tuple[int, ...], kind: Any) -> Array:
        """Return an array of a shape."""
        return self._mean + self._deviation * _within_two(self.generator(), shape)


def _within_two(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    drawn = generator.standard_normal(shape)
    while (far := np.abs(drawn) > 2).any():
        drawn = np.where(far, generator.standard_normal(shape), drawn)
    return drawn


class variance_scaling_initializer(_Random):  # noqa: N801
    """Numbers whose spread depends on how many meet in a sum."""

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: Any = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(seed, dtype)
        self._scale, self._mode, self._distribution = scale, mode, distribution

    def array(self, shape: tuple[int, ...], kind: Any) -> Array:
        """Return an array of a shape."""
        fans = _fans(shape)
        counts = {"fan_in": fans[0], "fan_out": fans[1], "fan_avg": sum(fans) / 2}
        variance = self._scale / max(1.0, counts[self._mode])
        generator = self.generator()
        if "uniform" in self._distribution:
            limit = math.sqrt(3 * variance)
            return generator.uniform(-limit, limit, shape)
        if self._distribution == "untruncated_normal":
            return generator.normal(0, math.sqrt(variance), shape)
        # What is cut off at two deviations has a smaller one.
        return math.sqrt(variance) / 0.87962566103423978 * _within_two(generator, shape)


def _fans(shape: tuple[int, ...]) -> tuple[float, float]:
    """Return how many numbers go in, and out, of weights of this shape."""
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class glorot_uniform_initializer(variance_scaling_initializer):  # noqa: N801
    """Evenly spread numbers, by what goes in and out."""

    def __init__(self, seed: Any = None, dtype: Any = "float32") -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


class glorot_normal_initializer(variance_scaling_initializer):  # noqa: N801
    """Numbers of a normal distribution, by what goes in and out."""

    def __init__(self, seed: Any = None, dtype: Any = "float32") -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)


_ALL = [
    *(zeros_initializer, ones_initializer, constant_initializer, random_uniform_initializer),
    *(random_normal_initializer, truncated_normal_initializer, variance_scaling_initializer),
    *(glorot_uniform_initializer, glorot_normal_initializer),
]
NAMES = {
    **listed("compat.v1", _ALL),
    "initializers.zeros": zeros_initializer,
    "initializers.ones": ones_initializer,
    "initializers.constant": constant_initializer,
    "initializers.random_uniform": random_uniform_initializer,
    "initializers.random_normal": random_normal_initializer,
    "initializers.truncated_normal": truncated_normal_initializer,
    "initializers.variance_scaling": variance_scaling_initializer,
    "initializers.glorot_uniform": glorot_uniform_initializer,
    "initializers.glorot_normal": glorot_normal_initializer,
}
