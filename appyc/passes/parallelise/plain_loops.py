"""Predicate for loops that may be distributed or vectorised: innermost, without exits, raising nothing."""

from __future__ import annotations

from appyc.analysis.accesses.accesses import own_statements
from appyc.ir.nodes import Assign, For, If, Load, Node, Store, Update
from appyc.ir.visit import scalars_read, scalars_written, walk
from appyc.passes.simplify.dead_code_elimination import can_raise


def is_plain(loop: For) -> bool:
    """Whether the body is assignments and conditions that cannot raise."""
    return all(
        isinstance(stmt, Assign | Store | Update | If) for stmt in own_statements(loop.body)
    ) and not any(_raises(node) for node in walk(loop.body))


def is_asked(loop: For) -> bool:
    """Whether a pragma asks for the iterations to run in parallel, or in lanes."""
    return loop.clauses is not None and loop.clauses.request in ("parallel", "simd")


def has_fixed_bounds(loop: For) -> bool:
    """Whether the bounds are loop-invariant, and read no array element."""
    bounds = (loop.lo, loop.hi)
    if any(isinstance(n, Load) for n in walk(bounds)):
        return False
    return not (scalars_read(bounds) & scalars_written(loop.body))


def _raises(node: Node) -> bool:
    match node:
        case Assign():
            return can_raise(node.value)
        case If():
            return can_raise(node.cond)
        case Store() | Update():
            is_element = isinstance(node, Store) or node.target.is_array
            traps = isinstance(node, Update) and node.trap
            return (
                traps or (is_element and node.checked) or any(can_raise(e) for e in (*node.index, node.value))
            )
        case _:
            return False
