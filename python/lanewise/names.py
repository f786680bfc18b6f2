"""Which globals a function reads, and which attributes of globals, cells and its first parameter.

Read from the bytecode, with that of functions defined inside.
"""

import opcode
import sys
from collections import defaultdict
from types import CodeType
from typing import NamedTuple

Chain = tuple[str, ...]  # a.b.c of a: ("b", "c"); a itself: ()


class Names(NamedTuple):
    """What a function looks up by name."""

    globals: tuple[str, ...]
    attributes: dict[str, set[Chain]]  # that are read of a name, and of those in turn


_GLOBAL = opcode.opmap["LOAD_GLOBAL"]
_GLOBALS = {_GLOBAL, opcode.opmap["LOAD_NAME"]}
_LOCALS = {
    opcode.opmap[name]
    for name in ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FAST_BORROW")
    if name in opcode.opmap
}
_ATTRIBUTES = {opcode.opmap[name] for name in ("LOAD_ATTR", "LOAD_METHOD") if name in opcode.opmap}
_LOOKED_AT = _GLOBALS | _LOCALS | _ATTRIBUTES | {opcode.EXTENDED_ARG}
_EXTENDED = opcode.EXTENDED_ARG
_CACHE = opcode.opmap.get("CACHE", 0)
# The lowest bit of an argument says something else.
_SHIFT_GLOBAL = 1
_SHIFT_ATTRIBUTE = 1 if sys.version_info >= (3, 12) else 0


def names_of(code: CodeType) -> Names:
    """Return the names that a function with this code looks up."""
    found: dict[str, None] = {}
    attributes: defaultdict[str, set[Chain]] = defaultdict(set)
    _scan(code, found, attributes)
    return Names(tuple(found), attributes)


def _scan(code: CodeType, found: dict[str, None], attributes: defaultdict[str, set[Chain]]) -> None:
    names = code.co_names
    # Cells that are parameters have one place among all variables.
    locals_ = (
        *code.co_varnames,
        *(name for name in code.co_cellvars if name not in code.co_varnames),
        *code.co_freevars,
    )
    owner: str | None = None  # the name that the instructions before have read
    chain: Chain = ()  # and its attributes
    high = 0
    bytecode = code.co_code
    for op, low in zip(bytecode[::2], bytecode[1::2], strict=True):
        if op == _CACHE:
            continue
        if owner is not None and not chain and op not in _ATTRIBUTES and op != _EXTENDED:
            attributes[owner].add(())
        if op not in _LOOKED_AT:
            owner, high = None, 0
            continue
        argument = high | low
        high = 0
        if op == _EXTENDED:
            high = argument << 8
        elif op in _GLOBALS:
            owner = names[argument >> _SHIFT_GLOBAL if op == _GLOBAL else argument]
            found[owner] = None
            chain = ()
        elif op in _LOCALS:
            owner = locals_[argument] if argument < len(locals_) else None
            chain = ()
        elif owner is not None:
            chain = (*chain, names[argument >> _SHIFT_ATTRIBUTE])
            attributes[owner].add(chain)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _scan(constant, found, attributes)
