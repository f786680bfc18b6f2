"""Functions of whole tensors that NumPy does not have. On plain arrays they compute."""

from typing import Any

import numpy as np

from .element import Varying
from .mapping import map as _map
from .recorder import current


def _call(name: str, arrays: tuple[Any, ...], **options: Any) -> Any:
    """Record a function of tensors; elsewhere map it over the one element there is."""
    if isinstance(arrays[0], Varying):
        return arrays[0].composite(name, **options)
    from . import tensors  # seldom needed, and long to import

    function = tensors.COMPOSITES[name]
    if current() is not None:
        return function(*arrays, **options)
    one = [np.asarray(array)[None] for array in arrays]
    return _map(lambda *parts: function(*parts, **options), *one)[0]


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Logarithm of the sum of exponentials along axes, without overflow.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.map(lambda x: lw.logsumexp(x), np.array([[0.0, 0.0], [0.0, 1000.0]])).round(4)
    array([6.931e-01, 1.000e+03])
    """
    return _call("logsumexp", (x,), axis=axis, keepdims=keepdims)


def softmax(x: Any, axis: Any = -1) -> Any:
    """Exponentials along an axis over their sum, without overflow.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> lw.map(lambda row: lw.softmax(row), np.array([[0.0, 0.0], [1000.0, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    return _call("softmax", (x,), axis=axis)


def conv2d(image: Any, kernel: Any, stride: Any = 1, padding: Any = 0) -> Any:
    """Slide kernels over an image, and sum the products; no kernel is turned round.

    Parameters
    ----------
    image : tensor
        Of shape (height, width), or (channels, height, width).
    kernel : tensor
        Of shape (rows, columns); with channels (outputs, channels, rows, columns).
    stride, padding : int or two of them, or "same" for padding
        Steps of the kernel, and zeros around the image.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> images = np.arange(32.0).reshape(2, 4, 4)
    >>> blur = np.full((3, 3), 1 / 9)
    >>> lw.map(lambda image: lw.conv2d(image, blur), images).round(3)[0]
    array([[ 5.,  6.],
           [ 9., 10.]])
    """
    return _call("conv2d", (image, kernel), stride=stride, padding=padding)


def max_pool(image: Any, size: Any = 2, stride: Any = None) -> Any:
    """Largest number of every window of the last two axes.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> images = np.arange(32.0).reshape(2, 4, 4)
    >>> lw.map(lambda image: lw.max_pool(image, 2), images)[0]
    array([[ 5.,  7.],
           [13., 15.]])
    """
    return _call("max_pool", (image,), size=size, stride=stride)


def mean_pool(image: Any, size: Any = 2, stride: Any = None) -> Any:
    """Mean of every window of the last two axes.

    Examples
    --------
    >>> import lanewise as lw, numpy as np
    >>> images = np.arange(32.0).reshape(2, 4, 4)
    >>> lw.map(lambda image: lw.mean_pool(image, 2), images)[0]
    array([[ 2.5,  4.5],
           [10.5, 12.5]])
    """
    return _call("mean_pool", (image,), size=size, stride=stride)
