"""Predicates for passes that distribute, vectorise or reorder loops."""

from __future__ import annotations

from appyc.analysis.algebra.strides import Strides
from appyc.analysis.dependences.legality import Legality
from appyc.ir.array_accesses import accesses_in
from appyc.ir.blocks import own_statements
from appyc.ir.nodes import Assign, For, If, Load, Store, Update
from appyc.ir.raising import may_raise
from appyc.ir.visit import contains, scalars_read, scalars_written


def is_plain(loop: For) -> bool:
    """Whether the loop is an innermost one without exits: its body is assignments and conditions that cannot raise."""
    plain = all(isinstance(stmt, Assign | Store | Update | If) for stmt in own_statements(loop.body))
    return plain and not may_raise(loop.body)


def is_asked(loop: For) -> bool:
    """Whether a pragma asks for the iterations to run in parallel, or in lanes."""
    return loop.request in ("parallel", "simd")


def has_fixed_bounds(loop: For) -> bool:
    """Whether the bounds are loop-invariant, and read no array element."""
    return not contains(loop.bounds, Load) and not scalars_read(loop.bounds) & scalars_written(loop.body)


def is_unordered(loop: For, legality: Legality) -> bool:
    """Whether the iterations may run in any order, by a pragma or as they are."""
    return is_asked(loop) or (loop.clauses is None and legality.judge(loop).may_run_in_any_order)


def walks_as_memory_lies(loop: For) -> bool:
    """Whether each access names the same element in all iterations, or the next one in the next: vectors load them."""
    strides = Strides.of(loop)
    return all(strides.is_adjacent(array, index, loop) for array, index, _ in accesses_in(loop.body))
