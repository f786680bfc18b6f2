"""Ordinary Python functions made ones whose control flow can be recorded."""

from .build import convert, has_branches, reason

__all__ = ["convert", "has_branches", "reason"]
