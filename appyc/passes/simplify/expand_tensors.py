"""Expands tensor statements to loops.

    for all (i) below n:                        for i in range(0, n):
        b[i] = a[i] * 2.0              ->           b[i] = a[i] * 2.0        # b: made in the function

    y[i] for all (i) below n                    for i in range(0, n):
        = sum(j below m) A[i, j] * x[j]             total = 0.0
                                       ->           for j in range(0, m):
                                                        total += A[i, j] * x[j]
                                                    y[i] = total

    for all (i) below n - 1:                    new = empty((n - 1,))
        a[i + 1] = a[i]                ->       for i in range(0, n - 1):
                                                    new[i] = a[i]
                                                for i_2 in range(0, n - 1):
                                                    a[i_2 + 1] = new[i_2]

    for all (i) below n where m[i]:             k = 0
        new[k] = a[i]                  ->       for i in range(0, n):
        (k: the position)                           if m[i]:
                                                        new[k] = a[i]
                                                        k = k + 1

Every value is read before any is stored. The statement may read the array that it writes at another element than
the one that the iteration writes, or read another array that may share memory with it. The values, and the condition,
are then stored in a temporary array first. Arguments that overlap are handled the same way. `fuse_loops` removes the
temporary where the dependences allow it.

The clauses of a pragma for an axis apply to every loop over that axis.

Requires: a `Reduce` stands in what an assignment or a tensor statement assigns, nowhere else.
Runs first, and leaves neither node.

Does not handle: the order of the loops, which is that of the axes; whether they run in
parallel without a pragma, which later passes decide as for any loop.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.invariance import arrays_made
from appyc.ir.names import NameSupply
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import children, contains, map_operands, rename, scalars_read, substitute, walk
from appyc.passes.node_builders import combine, integer, shifted
from appyc.passes.pass_context import PassContext


def expand_tensors(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function without tensor statements and expressions."""
    if not contains(fn, ir.ForAll | ir.Reduce):
        return fn
    return replace(fn, body=_Expansion(fn).block(fn.body))


class _Expansion:
    def __init__(self, fn: ir.Function) -> None:
        self.names = NameSupply.after(fn)
        self.own = arrays_made(fn)
        """Arrays made in the function: they share memory with no other."""

    def block(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        out: list[ir.Stmt] = []
        for stmt in body:
            self.statement(stmt, out)
        return tuple(out)

    def statement(self, stmt: ir.Stmt, out: list[ir.Stmt]) -> None:
        match stmt:
            case ir.ForAll():
                self._for_all(stmt, out)
            case ir.Assign():
                out.append(replace(stmt, value=self.expr(stmt.value, out)))
            case _:
                out.append(map_blocks(stmt, self.block))

    def expr(self, expr: ir.Expr, out: list[ir.Stmt]) -> ir.Expr:
        """The expression with its reductions in scalars, which `out` computes before it."""
        if isinstance(expr, ir.Reduce):
            return self._reduce(expr, out)
        return map_operands(expr, lambda part: self.expr(part, out))

    def _reduce(self, expr: ir.Reduce, out: list[ir.Stmt]) -> ir.Var:
        loc = expr.loc
        total = self.names.fresh("total", expr.dtype)
        out.append(ir.Assign(total, self.expr(expr.start, out), loc=loc))
        extents = [self.expr(n, out) for n in expr.extents]
        # The same expression may occur several times, and a loop variable belongs to one loop.
        axes = [self.names.fresh(axis.name, axis.type) for axis in expr.axes]
        fresh: dict[ir.Symbol, ir.Expr] = {
            axis: ir.Var(new, loc=loc) for axis, new in zip(expr.axes, axes, strict=True)
        }
        body: list[ir.Stmt] = []
        value = self.expr(substitute(expr.value, fresh), body)
        if expr.python and expr.dtype is DType.INT64 and expr.op in ("+", "*"):
            value = ir.Binary(expr.op, ir.Var(total, loc=loc), value, python=True, loc=loc)
            body.append(ir.Assign(total, value, loc=loc))
        else:
            body.append(ir.Update(total, (), expr.op, value, loc=loc))
        out += self._nest(axes, extents, tuple(body), expr)
        return ir.Var(total, loc=loc)

    def _for_all(self, stmt: ir.ForAll, out: list[ir.Stmt]) -> None:
        """The statement's loops. Its condition and values are stored in temporaries where a store may change them."""
        extents = tuple(self.expr(n, out) for n in stmt.extents)
        stmt = replace(stmt, extents=extents)
        if stmt.where is not None and self._may_change(stmt.where, stmt):
            holds = self._array("holds", stmt.where, stmt, out)
            self._stores(self._renamed(replace(stmt, array=holds, index=_index_of(stmt), value=stmt.where,
                                               where=None, position=None, op=None, checked=False)), out)  # fmt: skip
            stmt = replace(stmt, where=ir.Load(holds, _index_of(stmt), checked=False, loc=stmt.loc))
        stmt = replace(stmt, index=tuple(self._settled(i, stmt, out) for i in stmt.index))
        if self._may_change(stmt.value, stmt):
            new = self._array("new", stmt.value, stmt, out)
            self._stores(replace(stmt, array=new, index=_index_of(stmt), op=None, checked=False), out)
            value = ir.Load(new, _index_of(stmt), checked=False, loc=stmt.loc)
            stmt = self._renamed(replace(stmt, value=value))
        self._stores(stmt, out)

    def _settled(self, index: ir.Expr, stmt: ir.ForAll, out: list[ir.Stmt]) -> ir.Expr:
        """An index with its value before the first store, in a temporary where a store may change it."""
        if not self._may_change(index, stmt):
            return index
        at = self._array("at", index, stmt, out)
        self._stores(self._renamed(replace(stmt, array=at, index=_index_of(stmt), value=index, op=None,
                                           checked=False)), out)  # fmt: skip
        return ir.Load(at, _index_of(stmt), checked=False, loc=stmt.loc)

    def _array(self, name: str, value: ir.Expr, stmt: ir.ForAll, out: list[ir.Stmt]) -> ir.Symbol:
        """A new array with one element for each iteration of the statement."""
        array = self.names.fresh(name, ArrayType(value.dtype, len(stmt.extents)))
        self.own.add(array)
        out.append(ir.Alloc(array, stmt.extents, zero=False, loc=stmt.loc))
        return array

    def _renamed(self, stmt: ir.ForAll) -> ir.ForAll:
        """The statement with axes and a position of its own."""
        old = (*stmt.axes, *((stmt.position,) if stmt.position is not None else ()))
        return rename(stmt, {symbol: self.names.fresh(symbol.name, symbol.type) for symbol in old})

    def _stores(self, stmt: ir.ForAll, out: list[ir.Stmt]) -> None:
        loc = stmt.loc
        if stmt.position is not None and stmt.position not in scalars_read((*stmt.index, stmt.value)):
            stmt = replace(stmt, position=None)
        body: list[ir.Stmt] = []
        value = self.expr(stmt.value, body)
        if stmt.op is not None:
            old = ir.Load(stmt.array, stmt.index, checked=stmt.checked, loc=loc)
            value = combine(stmt.op, old, value)
        body.append(ir.Store(stmt.array, stmt.index, value, checked=stmt.checked, loc=loc))
        if stmt.position is not None:
            out.append(ir.Assign(stmt.position, integer(0, loc), loc=loc))
            body.append(ir.Assign(stmt.position, shifted(ir.Var(stmt.position, loc=loc), 1), loc=loc))
        if stmt.where is not None:
            body = [ir.If(stmt.where, tuple(body), loc=loc)]
        out += self._nest(list(stmt.axes), list(stmt.extents), tuple(body), stmt)

    def _nest(
        self,
        axes: list[ir.Symbol],
        extents: list[ir.Expr],
        body: tuple[ir.Stmt, ...],
        node: ir.ForAll | ir.Reduce,
    ) -> tuple[ir.Stmt, ...]:
        """Loops over the axes, the first outermost; an axis of length 1 needs none.

        Elements that are the same for all iterations are read in front of them too: NumPy tests their indices, even
        where there is no iteration.
        """
        zero = integer(0, node.loc)
        asked = node.clauses or (ir.Clauses("auto", loc=node.loc),) * len(axes)
        for axis, extent, clauses in zip(reversed(axes), reversed(extents), reversed(asked), strict=True):
            if isinstance(extent, ir.Const) and extent.value == 1:
                body = substitute(body, {axis: zero})
                continue
            says_nothing = clauses.request == "auto" and not clauses.block
            said = None if says_nothing else clauses
            body = (ir.For(axis, zero, extent, 1, body, clauses=said, implied=True, loc=node.loc),)
        if all(isinstance(extent, ir.Const) and extent.value for extent in extents):
            return body
        found = [load for load in _always_read(node.value) if not scalars_read(load) & set(node.axes)]
        tests = (ir.Assign(self.names.fresh("tested", load.dtype), load, loc=load.loc) for load in found)
        return (*tests, *body)

    def _may_change(self, expr: ir.Expr, stmt: ir.ForAll) -> bool:
        """Whether the expression may read an element that an earlier iteration of the statement wrote."""
        is_gathered = contains(stmt.index, ir.Load)  # indices may coincide
        # Other iterations of a reduction come between the read and the store.
        reduced = {id(m) for n in walk(expr) if isinstance(n, ir.Reduce) for m in walk(n)}
        for node in walk(expr):
            if isinstance(node, ir.Load):
                is_same = node.array == stmt.array
                moved = is_gathered or node.index != stmt.index or id(node) in reduced
                if is_same and moved:
                    return True
                if not is_same and stmt.array not in self.own and node.array not in self.own:
                    return True
        return False


def _index_of(stmt: ir.ForAll) -> tuple[ir.Expr, ...]:
    return tuple(ir.Var(axis, loc=stmt.loc) for axis in stmt.axes)


def _always_read(expr: ir.Node) -> list[ir.Load]:
    """The checked loads that each evaluation of the expression executes."""
    match expr:
        case ir.Load(checked=True):
            return [expr]
        case ir.Select(cond=first) | ir.Logical(lhs=first):
            return _always_read(first)
        case ir.Reduce():
            return []
        case _:
            return [load for child in children(expr) for load in _always_read(child)]
