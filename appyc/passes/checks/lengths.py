"""The tests that are left of an allocation."""

from __future__ import annotations

from appyc.ir.nodes import Alloc, Fail, If, Stmt
from appyc.ir.raising import is_never_negative, may_raise
from appyc.passes.node_builders import integer, less


def tested(alloc: Alloc) -> tuple[Stmt, ...]:
    """The residual of an allocation whose array is dead: the test that raises where a length is negative."""
    fail = Fail("ValueError", "negative dimensions are not allowed", loc=alloc.loc)
    return tuple(
        If(less(size, integer(0, alloc.loc)), (fail,), loc=alloc.loc)
        for size in alloc.shape
        if not is_never_negative(size) or may_raise(size)
    )
