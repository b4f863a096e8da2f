"""Unrolling: several iterations of a loop become one, or all of them become statements in no loop.

    for i in range(n):                        for i in range(0, n - 1, 2):
        f(i)                         ->           f(i)
                                                  f(i + 1)
                                              for i in range(n // 2 * 2, n):
                                                  f(i)

The iterations keep their order: legal for any loop that runs to its end.

Does not handle: loops that `break` or `continue` (of `written_out`, a `continue` that is decided by the index); arrays
that an iteration makes.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.blocks import constant_range, has_own
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Binary, Break, Const, Continue, Expr, For, Node, Stmt, Symbol, Var
from appyc.ir.types import DType
from appyc.ir.visit import contains, rewrite_all, substitute
from appyc.passes.node_builders import binary, copy_of, integer, iteration, scaled, shifted, trip_count
from appyc.passes.parallelise.plain_loops import has_fixed_bounds
from appyc.passes.simplify.constant_conditions import folded


def why_not_unroll(loop: For) -> str | None:
    if has_own(loop.body, Break | Continue):
        return "an iteration may end early"
    if contains(loop.body, Alloc):
        return "an iteration makes an array"
    return None if has_fixed_bounds(loop) else "its bounds change while it runs"


def unroll(loop: For, factor: int, names: NameSupply) -> tuple[For, For]:
    """The loop with `factor` iterations in each, and the loop over the rest."""
    here = Var(loop.var, loc=loop.loc)
    copies = [again(loop.body, {loop.var: shifted(here, at * loop.step)}, names) for at in range(1, factor)]
    main, rest = split_rest(loop, factor)
    unrolled = replace(main, body=(*loop.body, *(stmt for copy in copies for stmt in copy)))
    return unrolled, copy_of(rest, names)


def split_rest(loop: For, factor: int) -> tuple[For, For]:
    """The loop with a step of `factor` iterations as far as these are whole, and the loop over the rest."""
    end = shifted(loop.hi, -(factor - 1) * loop.step)
    whole = binary("//", trip_count(loop.lo, loop.hi, loop.step), integer(factor, loop.loc))
    start = iteration(loop.lo, loop.step, scaled(binary("max", whole, integer(0, loop.loc)), factor))
    return replace(loop, hi=end, step=factor * loop.step), replace(loop, lo=start)


def again(body: tuple[Stmt, ...], values: dict[Symbol, Expr], names: NameSupply) -> tuple[Stmt, ...]:
    """A copy of the statements with loops of their own, in which these variables have other values."""
    return copy_of(rewrite_all(substitute(body, values), _put_together), names)


def written_out(loop: For, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """A body for each value of the loop variable; conditions on it are folded, and dead branches removed."""
    out: list[Stmt] = []
    for value in constant_range(loop) or ():
        for stmt in body:
            new = rewrite_all((substitute(stmt, {loop.var: integer(value, stmt.loc)}),), _put_together)
            jump = next((at for at, part in enumerate(new) if isinstance(part, Continue)), None)
            out += new[:jump]
            if jump is not None:
                break
    return tuple(out)


def _put_together(node: Node) -> Node | tuple[Node, ...]:
    """Constants that a constant index brings together, and what follows from conditions that it decides."""
    match node:
        case Binary("+" | "-" as op, lhs, Const(value=int(number))) if node.dtype is DType.INT64:
            return shifted(lhs, number if op == "+" else -number)
        case Binary("+", Const(value=int(number)), rhs) if node.dtype is DType.INT64:
            return shifted(rhs, number)
        case _:
            return folded(node)
