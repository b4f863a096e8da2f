"""Value numbering of integers: equal expressions get one name.

    count = min(r ** i, n)                      count = min(r ** i, n)
    more = min(r ** i, n)                       more = count
    if not likely(count == more): fail   ->
    if not more > 1: fail                       if not count > 1: fail
    if not count > 1: fail
    for j in range(more):                       for j in range(count):

Two slices with the same bounds have the same length. If that length is not affine in parameters and loop variables
(a power, an element of an index array), no other analysis can prove that the two are equal. The guard for equality
would then fail in every call except for empty arrays, and a select for broadcasting would stay in every loop.
Conditions that this decides are folded, and a test that the path has passed before is not repeated: of a program with
whole arrays half of the nodes that the front end makes are such.

Requires: for `common_subexpressions`, that written arrays share no memory with others, as a value may be read from an
array; `equal_lengths` has no values of arrays. The assignments stay as copies; `dead_code_elimination` removes the dead
ones.

Does not handle: values of other types than integers and bools (-0.0 and 0.0 are equal floats); values that are equal
but have different expressions; scalars with several definitions; elements of arrays that the function writes.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from appyc.analysis.accesses.set_once import set_once
from appyc.ir import nodes as ir
from appyc.ir import visit
from appyc.ir.blocks import blocks_of, map_blocks
from appyc.ir.invariance import arrays_made
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.constant_conditions import folded

_PURE = (
    ir.Var,
    ir.Extent,
    ir.Const,
    ir.Cast,
    ir.Unary,
    ir.Binary,
    ir.Compare,
    ir.Logical,
    ir.Select,
    ir.Intrinsic,
    ir.Likely,
)


def common_subexpressions(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with later scalars read from the first one that has their value."""
    return _numbered(fn, (ir.Load, *_PURE))


def equal_lengths(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with later scalars read from the first one that has their value, among integers that no
    store changes. It is valid where arguments may share memory."""
    return _numbered(fn, _PURE)


def _numbered(fn: ir.Function, pure: tuple[Any, ...]) -> ir.Function:
    computed = {id(stmt) for stmt in visit.statements(fn.body) if _is_of_integers(stmt, pure)}
    if len(computed) < 2:
        return fn
    private = {
        s for loop in visit.loops_of(fn.body) if loop.clauses is not None for s in loop.clauses.private
    }
    once = set_once(fn.body) - {*fn.params} - private
    varying = (visit.scalars_written(fn.body) - once) | arrays_made(fn.body)
    stored = visit.arrays_written(fn.body)
    names: dict[ir.Symbol, ir.Expr] = {}

    def is_fixed(node: ir.Node) -> bool:
        loaded = {n.array for n in visit.walk(node) if isinstance(n, ir.Load)}
        return varying.isdisjoint(visit.symbols_of(node)) and stored.isdisjoint(loaded)

    def look(body: tuple[ir.Stmt, ...], known: dict[ir.Expr, ir.Symbol]) -> None:
        """known: the scalars with the values of the blocks around."""
        for stmt in body:
            if isinstance(stmt, ir.Assign) and stmt.target in once and id(stmt) in computed:
                value = visit.rewrite(visit.substitute(stmt.value, names), folded)
                if is_fixed(value):
                    first = (
                        value.symbol if isinstance(value, ir.Var) else known.setdefault(value, stmt.target)
                    )
                    if first != stmt.target and first.type == stmt.target.type:
                        names[stmt.target] = ir.Var(first, loc=stmt.loc)
            for block in blocks_of(stmt):
                look(block, dict(known))

    look(fn.body, {})
    asked: dict[ir.Likely, ir.Likely] = {}

    def rule(node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
        match node:
            case ir.Var(symbol=symbol):
                return names.get(symbol, node)
            case ir.Assign(target=target) if target in names:
                return replace(node, value=names[target])
            case ir.Likely() if isinstance(found := folded(node), ir.Likely):
                return asked.setdefault(found, found)  # as one decision is made for each node
            case _:
                return folded(node)

    def passed(body: tuple[ir.Stmt, ...], around: Collection[ir.Stmt]) -> tuple[ir.Stmt, ...]:
        """The statements without tests that were passed before. around: those ahead of the block."""
        tests, out = {*around}, list[ir.Stmt]()
        for stmt in body:
            if not (_only_fails(stmt) and is_fixed(stmt)):
                out.append(map_blocks(stmt, lambda block: passed(block, tests)))
            elif stmt not in tests:
                tests.add(stmt)
                out.append(stmt)
        return tuple(out)

    return replace(fn, body=passed(visit.rewrite_all(fn.body, rule), ())) if names else fn


def _only_fails(stmt: ir.Stmt) -> bool:
    """Whether it is a test that raises, or does nothing."""
    if isinstance(stmt, ir.If):
        return all(isinstance(s, ir.Fail) or _only_fails(s) for s in (*stmt.then, *stmt.orelse))
    return False


def _is_of_integers(stmt: ir.Node, pure: tuple[Any, ...]) -> bool:
    """Whether it assigns an integer that takes computing, of integers."""
    if not isinstance(stmt, ir.Assign) or isinstance(stmt.value, ir.Const | ir.Var | ir.Extent):
        return False
    return all(isinstance(n, pure) and n.dtype.kind in "iub" for n in visit.walk(stmt.value))
