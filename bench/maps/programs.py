"""The programs, written for a module ``tf`` that is either of the two."""

from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[[], Any]


def square(x: Any) -> Any:
    return x**2


def wave(tf: Any) -> Callable[[Any], Any]:
    def complex_op(x: Any) -> Any:
        return tf.math.sin(x) + tf.math.cos(x) * tf.math.exp(x)

    return complex_op


def repeat_sum(tf: Any) -> Callable[[Any], Any]:
    def process_element(element: Any) -> Any:
        large_tensor = tf.repeat(element, repeats=10000)
        return tf.reduce_sum(large_tensor)

    return process_element


def pixel_loop(tf: Any) -> Callable[[Any], Any]:
    """Items are assigned to, which TensorFlow does not have."""

    def process_image(image: Any) -> Any:
        for i in range(image.shape[0]):
            for j in range(image.shape[1]):
                image[i, j] = tf.math.sqrt(image[i, j])
        return image

    return process_image


def stacked_pixel_loop(tf: Any) -> Callable[[Any], Any]:
    """The same loop in a form that TensorFlow takes."""

    def process_image(image: Any) -> Any:
        rows = []
        for i in range(image.shape[0]):
            pixels = [tf.math.sqrt(image[i, j]) for j in range(image.shape[1])]
            rows.append(tf.stack(pixels))
        return tf.stack(rows)

    return process_image


def whole_images(tf: Any) -> Callable[[Any], Any]:
    def process_image_vectorized(image: Any) -> Any:
        return tf.math.sqrt(image)

    return process_image_vectorized


def numbers(count: int) -> Any:
    return np.random.default_rng(1).random(count)


def images(count: int) -> Any:
    return np.random.default_rng(2).random((count, 64, 64, 3)).astype(np.float32)


def dataset(tf: Any, count: int) -> Any:
    """A dataset of so many numbers, with a function over it."""
    made = tf.data.Dataset.from_tensor_slices(np.arange(count, dtype=np.float32))
    return made.map(lambda x: x * 2 + 1)


def drain(made: Any) -> int:
    """Take all elements of a dataset."""
    count = 0
    for _ in made:
        count += 1
    return count
