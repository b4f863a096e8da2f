"""Loop versioning for bounds checks that seldom fail: a fast loop, then the checked loop for the other iterations.

Before, each load depends on the result of its check:

    for (k = lo; k < hi; k += 1) { s += val[at(k)] * x[at(col[at(k)])]; if (failed) goto leave; }

After:

    int64_t k = lo;
    if (lo >= 0 && hi - 1 < val_n0 && lo >= 0 && hi - 1 < col_n0)
        for (; k < hi; k += 1) { if (col[k] is out of range) break; s += val[k] * x[col[k]]; }
    for (; k < hi; k += 1) ...              // as before, from the iteration that left the fast loop

An index that is the loop variable plus an invariant is tested once, before the loop, for the first and
the last iteration. Other indices are tested where they are used, by a branch that is well predicted. The
fast loop exits before the iteration has a side effect. The checked loop also does the iterations with a
negative index, which counts from the end. The operations and their order stay the same.

Where no test remains in the fast loop, and its iterations are independent, it is vectorised.

Does not handle: loops that may raise for another reason, or exit early; tests after a side effect
in the same iteration; negative steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.lanes.simd import declare_scalars, simd_directive, simd_private, why_not_simd
from appyc.c_gen.text.c_expressions import expression
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Binary,
    Break,
    Expr,
    Fail,
    For,
    If,
    Load,
    Node,
    Stmt,
    Store,
    Symbol,
    Update,
    Var,
    While,
)
from appyc.ir.raising import can_fault, is_invariant
from appyc.ir.visit import rewrite_all, scalars_written, walk


@dataclass(frozen=True, slots=True)
class FastLoop:
    """body: with the tests that stay in it. ends: array, axis and index of the others, in range
    throughout if they are so in the first iteration and in the last. lanes: it needs no test."""

    body: tuple[Stmt, ...]
    ends: tuple[tuple[Symbol, int, Expr], ...]
    lanes: bool


def plan_fast_loop(loop: For) -> FastLoop | None:
    """The fast loop; None where it gains nothing, or could not exit before a side effect."""
    if loop.step < 1 or not can_fault(loop.body):
        return None
    if any(isinstance(n, For | While | Break | Alloc | Fail) for n in walk(loop.body)):
        return None
    written = scalars_written(loop.body)
    ends: dict[tuple[Symbol, int, Expr], None] = {}

    def tested_by_ends(node: Node) -> Node:
        if not isinstance(node, Load | Store | Update) or not (node.checked and node.index):
            return node
        if not all(_is_between_its_ends(index, loop.var, written) for index in node.index):
            return node
        array = node.target if isinstance(node, Update) else node.array
        ends.update({(array, axis, index): None for axis, index in enumerate(node.index)})
        return replace(node, checked=False)

    body = rewrite_all(loop.body, tested_by_ends)
    bare = rewrite_all(body, _unchecked)
    if can_fault(bare) or not _Order(loop).is_kept(body):
        return None
    lanes = not can_fault(body) and why_not_simd(replace(loop, body=body)) is None
    return FastLoop(body, tuple(ends), lanes)


def _unchecked(node: Node) -> Node:
    return replace(node, checked=False) if isinstance(node, Load | Store | Update) else node


def _is_between_its_ends(index: Expr, var: Symbol, written: set[Symbol]) -> bool:
    """Whether an index is the loop variable plus an invariant, or invariant as a whole."""
    match index:
        case Var(symbol=symbol) if symbol == var:
            return True
        case Binary(op="+", lhs=lhs, rhs=rhs) if is_invariant(lhs, written | {var}):
            return _is_between_its_ends(rhs, var, written)
        case Binary(op="+" | "-", lhs=lhs, rhs=rhs) if is_invariant(rhs, written | {var}):
            return _is_between_its_ends(lhs, var, written)
        case _:
            return is_invariant(index, written | {var})


class _Order:
    """Whether all tests of an iteration precede its side effects: stores, and assignments to scalars that live on."""

    def __init__(self, loop: For) -> None:
        self.own = set(loop.private)
        self.lasts = False

    def is_kept(self, body: tuple[Stmt, ...]) -> bool:
        return all(self._statement(stmt) for stmt in body)

    def _statement(self, stmt: Stmt) -> bool:
        if isinstance(stmt, If):
            if self.lasts and can_fault(stmt.cond):
                return False
            return self.is_kept(stmt.then) and self.is_kept(stmt.orelse)
        if self.lasts and can_fault(stmt):
            return False
        written = stmt.target if isinstance(stmt, Assign | Update) else None
        self.lasts |= isinstance(stmt, Store) or (written is not None and written not in self.own)
        return True


def emit_fast_loop(
    ctx: FunctionContext,
    loop: For,
    fast: FastLoop,
    lo: str,
    hi: str,
    body: Callable[[FunctionContext, tuple[Stmt, ...]], None],
) -> None:
    """Writes both loops; `lo` and `hi` are terms that do not change while they run."""
    writer, var = ctx.writer, ctx.name(loop.var)
    careful = f"for (; {var} < {hi}; {var} += {loop.step})"
    writer.line(f"int64_t {var} = {lo};")
    with writer.block(f"if ({' && '.join(_in_range(ctx, loop, fast, lo, hi)) or 'true'})"):
        if fast.lanes:
            writer.line(simd_directive(ctx, loop))
            with writer.block(f"for (int64_t {var} = {lo}; {var} < {hi}; {var} += {loop.step})"):
                declare_scalars(ctx, simd_private(loop))
                body(ctx, fast.body)
            writer.line(f"{var} = {hi};")
        else:
            with writer.block(careful):
                body(replace(ctx, leaves_fast_loop=True), fast.body)
    with writer.block(careful):
        body(ctx, loop.body)


def _in_range(ctx: FunctionContext, loop: For, fast: FastLoop, lo: str, hi: str) -> list[str]:
    first = replace(ctx, renamed={**ctx.renamed, loop.var: f"({lo})"})
    last = replace(ctx, renamed={**ctx.renamed, loop.var: f"({hi} - 1)"})
    tests: dict[str, None] = {}
    for array, axis, index in fast.ends:
        tests[f"{expression(first, index)} >= 0"] = None
        tests[f"{expression(last, index)} < {ctx.extent(array, axis)}"] = None
    return list(tests)
