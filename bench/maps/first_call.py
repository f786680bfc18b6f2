"""In a process of its own: the first call of a map beside the plain loop of the same program.

Prints both in seconds: ``python -m bench.maps.first_call square 1000``. As in the programs that ask
why maps are slow, nothing comes between the import and these two.
"""

import sys
import time

import numpy as np

import lanewise.compat.tf as tf


def main() -> None:
    name, count = sys.argv[1], int(sys.argv[2])
    array = np.random.default_rng(0).random(count)
    tensor = tf.constant(array)
    if name == "square":
        start = time.perf_counter()
        plain = [x**2 for x in array]
        end = time.perf_counter()
        mapped = tf.map_fn(lambda x: x**2, tensor)
    else:
        from .programs import wave

        function = wave(tf)
        start = time.perf_counter()
        plain = [function(x).numpy() for x in array]
        end = time.perf_counter()
        mapped = tf.map_fn(function, tensor)
    last = time.perf_counter()
    assert name == "square" or mapped.numpy().tolist() == plain
    assert np.allclose(mapped.numpy(), plain, rtol=1e-15, atol=0)
    print(end - start, last - end)


if __name__ == "__main__":
    main()
