"""In a process of its own: the memory of a map beyond its arguments and results, in bytes."""

import resource

import numpy as np

import lanewise.compat.tf as tf

from . import programs

COUNT = 100_000


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    function = programs.repeat_sum(tf)
    small = tf.map_fn(function, tf.constant(np.zeros(10, np.float32)))
    assert small.shape == (10,)
    values = tf.constant(np.arange(COUNT, dtype=np.float32))
    before = peak()
    result = tf.map_fn(function, values)
    after = peak()
    assert np.array_equal(result.numpy(), np.arange(COUNT, dtype=np.float32) * 10000)
    print(max(after - before - result.numpy().nbytes, 0))


if __name__ == "__main__":
    main()
