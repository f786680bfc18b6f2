"""Ordinary Python functions made ones whose control flow can be recorded."""

from .build import SUSPENDS, convert, has_branches, may_branch, reason, refuse_generators

__all__ = ["SUSPENDS", "convert", "has_branches", "may_branch", "reason", "refuse_generators"]
