"""Rows of different lengths: ``array.py`` has what holds them, ``rows.py`` what a function sees."""

from .array import Ragged

__all__ = ["Ragged"]
