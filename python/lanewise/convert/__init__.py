"""Ordinary Python functions made ones whose control flow can be recorded."""

from .build import convert, may_branch, reason, refuse_generators

__all__ = ["convert", "may_branch", "reason", "refuse_generators"]
