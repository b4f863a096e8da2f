"""Tensor statements become loops.

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

Every value is read before any is stored. Where the statement reads the array that it writes
at another element than the one it writes there, or reads another array that may share memory
with it, the values go into a new array first. `fuse_loops` takes that array out again where
the dependences allow it: this pass serves arguments that overlap as well.

Requires: a `Reduce` stands in what an assignment or a tensor statement assigns, nowhere else.
Runs first, and leaves neither node.

Does not handle: the order of the loops, which is that of the axes; whether they run in
parallel, which later passes decide as for any loop.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Const,
    Expr,
    For,
    ForAll,
    Function,
    If,
    Load,
    Node,
    Reduce,
    Stmt,
    Store,
    Symbol,
    Update,
    Var,
    While,
)
from appyc.ir.types import ArrayType
from appyc.ir.visit import substitute, walk
from appyc.passes.build import integer
from appyc.passes.context import PassContext


def expand_tensors(fn: Function, ctx: PassContext) -> Function:
    """The function without tensor statements and expressions."""
    if not any(isinstance(n, ForAll | Reduce) for n in walk(fn)):
        return fn
    return replace(fn, body=_Expansion(fn).block(fn.body))


class _Expansion:
    def __init__(self, fn: Function) -> None:
        self.names = NameSupply.after(fn)
        self.own = {n.array for n in walk(fn) if isinstance(n, Alloc)}
        """Arrays made in the function: they share memory with no other."""

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for stmt in body:
            self.statement(stmt, out)
        return tuple(out)

    def statement(self, stmt: Stmt, out: list[Stmt]) -> None:
        match stmt:
            case ForAll():
                self._for_all(stmt, out)
            case Assign():
                out.append(replace(stmt, value=self.expr(stmt.value, out)))
            case For() | While():
                out.append(replace(stmt, body=self.block(stmt.body)))
            case If():
                out.append(replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse)))
            case _:
                out.append(stmt)

    # ------------------------------------------------------------ expressions

    def expr(self, expr: Expr, out: list[Stmt]) -> Expr:
        """The expression with its reductions in scalars, which `out` computes before it."""
        if isinstance(expr, Reduce):
            return self._reduce(expr, out)
        changes: dict[str, object] = {}
        for name in type(expr).__match_args__:
            old = getattr(expr, name)
            if isinstance(old, Node):
                changes[name] = self.expr(old, out)  # type: ignore[arg-type]
            elif isinstance(old, tuple) and old and isinstance(old[0], Node):
                changes[name] = tuple(self.expr(item, out) for item in old)
        changed = any(getattr(expr, name) != new for name, new in changes.items())
        return replace(expr, **changes) if changed else expr  # type: ignore[arg-type]

    def _reduce(self, expr: Reduce, out: list[Stmt]) -> Var:
        loc = expr.loc
        total = self.names.fresh("total", expr.dtype)
        out.append(Assign(total, self.expr(expr.start, out), loc=loc))
        extents = [self.expr(n, out) for n in expr.extents]
        # The same expression may stand in several places, and a loop's variable belongs to one.
        axes = [self.names.fresh(axis.name, axis.type) for axis in expr.axes]
        fresh: dict[Symbol, Expr] = {
            axis: Var(new, loc=loc) for axis, new in zip(expr.axes, axes, strict=True)
        }
        body: list[Stmt] = []
        value = self.expr(substitute(expr.value, fresh), body)
        body.append(Update(total, (), expr.op, value, loc=loc))
        out += _nest(axes, extents, tuple(body), expr)
        return Var(total, loc=loc)

    # ------------------------------------------------------------ statements

    def _for_all(self, stmt: ForAll, out: list[Stmt]) -> None:
        extents = [self.expr(n, out) for n in stmt.extents]
        if not self._reads_others(stmt):
            self._stores(stmt, stmt.array, stmt.index, extents, out)
            return
        loc = stmt.loc
        new = self.names.fresh("new", ArrayType(stmt.array.dtype, len(extents)))
        self.own.add(new)
        out.append(Alloc(new, tuple(extents), zero=False, loc=loc))
        self._stores(stmt, new, tuple(Var(axis, loc=loc) for axis in stmt.axes), extents, out)
        again = {axis: self.names.fresh(axis.name, axis.type) for axis in stmt.axes}
        places: dict[Symbol, Expr] = {axis: Var(symbol, loc=loc) for axis, symbol in again.items()}
        index = tuple(substitute(i, places) for i in stmt.index)
        value = Load(new, tuple(places.values()), checked=False, loc=loc)
        store = Store(stmt.array, index, value, loc=loc)
        out += _nest(list(again.values()), extents, (store,), stmt)

    def _stores(
        self, stmt: ForAll, array: Symbol, index: tuple[Expr, ...], extents: list[Expr], out: list[Stmt]
    ) -> None:
        body: list[Stmt] = []
        value = self.expr(stmt.value, body)
        body.append(Store(array, index, value, checked=array is stmt.array, loc=stmt.loc))
        out += _nest(list(stmt.axes), extents, tuple(body), stmt)

    def _reads_others(self, stmt: ForAll) -> bool:
        """Whether what is read may be an element that an earlier place of the statement wrote."""
        is_gathered = any(isinstance(n, Load) for n in walk(stmt.index))  # two places may be one
        for node in walk(stmt.value):
            if isinstance(node, Load):
                is_same = node.array == stmt.array
                moved = is_gathered or node.index != stmt.index or _is_inside_reduction(node, stmt.value)
                if is_same and moved:
                    return True
                if not is_same and stmt.array not in self.own and node.array not in self.own:
                    return True
        return False


def _is_inside_reduction(node: Load, value: Expr) -> bool:
    """Whether other iterations of a reduction come between the read and the store."""
    return any(isinstance(n, Reduce) and any(m is node for m in walk(n)) for n in walk(value))


def _nest(axes: list[Symbol], extents: list[Expr], body: tuple[Stmt, ...], node: Node) -> tuple[Stmt, ...]:
    """Loops over the axes, the first outermost; an axis of length 1 needs none."""
    zero = integer(0, node.loc)
    for axis, extent in zip(reversed(axes), reversed(extents), strict=True):
        if isinstance(extent, Const) and extent.value == 1:
            body = tuple(substitute(stmt, {axis: zero}) for stmt in body)
            continue
        body = (For(axis, zero, extent, 1, body, loc=node.loc),)
    return body
