"""Rows of different lengths: ``tf.RaggedTensor`` and ``tf.ragged``.

``tensor.py`` has the class, ``factories.py`` the ways to make one, ``partitions.py`` how values are
divided into rows, ``shaping.py`` parts of rows and rows put together, ``operations.py`` the
functions of TensorFlow on them, ``making.py`` what is in ``tf.ragged``, and ``mapping.py`` how rows
go to lanewise's own maps and come back.
"""

from .tensor import RaggedTensor

__all__ = ["RaggedTensor"]
