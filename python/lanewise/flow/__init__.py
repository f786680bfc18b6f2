"""What rewritten functions call; ``convert/rewrite.py`` writes the calls."""

from operator import eq, ge, gt, is_, is_not, le, lt, ne

from ..recorder import Control
from . import complex_math as _complex_math  # noqa: F401  # calls know its functions now
from .branches import not_
from .calls import call
from .checks import assert_
from .choices import and_, assigning, compare, contains, contains_not, or_, ternary
from .containers import fill_sequences, item, local_dict, local_list
from .formats import formatted, percent
from .frames import Frame
from .state import UNSET, load

__all__ = [
    "UNSET",
    "Control",
    "Frame",
    "and_",
    "assert_",
    "assigning",
    "call",
    "compare",
    "contains",
    "contains_not",
    "eq",
    "fill_sequences",
    "formatted",
    "ge",
    "gt",
    "is_",
    "is_not",
    "item",
    "le",
    "load",
    "local_dict",
    "local_list",
    "lt",
    "ne",
    "not_",
    "or_",
    "percent",
    "ternary",
]
