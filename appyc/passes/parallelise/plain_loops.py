"""Predicate for loops that may be distributed or vectorised: innermost, without exits, raising nothing."""

from __future__ import annotations

from appyc.ir.blocks import own_statements
from appyc.ir.nodes import Assign, For, If, Load, Store, Update
from appyc.ir.raising import may_raise
from appyc.ir.visit import contains, scalars_read, scalars_written


def is_plain(loop: For) -> bool:
    """Whether the body is assignments and conditions that cannot raise."""
    plain = all(isinstance(stmt, Assign | Store | Update | If) for stmt in own_statements(loop.body))
    return plain and not may_raise(loop.body)


def is_asked(loop: For) -> bool:
    """Whether a pragma asks for the iterations to run in parallel, or in lanes."""
    return loop.request in ("parallel", "simd")


def has_fixed_bounds(loop: For) -> bool:
    """Whether the bounds are loop-invariant, and read no array element."""
    return not contains(loop.bounds, Load) and not scalars_read(loop.bounds) & scalars_written(loop.body)
