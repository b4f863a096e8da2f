"""Store-to-load forwarding inside fused loops.

    for i in range(0, n):                       for i in range(0, n):
        y[i] = a * x[i]                             y_2 = a * x[i]
        z[i] = y[i] + 1.0              ->           y[i] = y_2
                                                    z[i] = y_2 + 1.0

Nor is stored what it stores again, before anything can have read it.

C compilers find this out for themselves, where they see that arrays are apart; a kernel on a GPU
would wait for memory. Only loops that `fuse_loops` has joined are looked at: in others it would
take from later passes the accesses that they know recurrences by.

Requires: accesses cannot raise any more (`check_bounds` has run).

Does not handle: elements that are named in two ways; what is stored on one side of a branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from appyc.ir import visit
from appyc.ir.array_accesses import touches
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Assign, Expr, For, Function, Load, Node, Stmt, Store, Symbol, Update, Var
from appyc.passes.node_builders import is_simple
from appyc.passes.pass_context import PassContext

Element: TypeAlias = tuple[Symbol, tuple[Expr, ...]]


def store_to_load_forwarding(fn: Function, ctx: PassContext) -> Function:
    """The function with the values that joined loops store kept for their reads."""
    if not ctx.fusions:
        return fn
    names = NameSupply.after(fn)

    def rule(loop: For) -> For:
        if loop.var not in ctx.fusions:
            return loop
        body = _Forwarding(names).block(loop.body)
        return loop if body == loop.body else replace(loop, body=body)

    return visit.map_loops(fn, rule)


@dataclass(slots=True)
class _Forwarding:
    """held: elements whose value is at hand, as a scalar or a constant."""

    names: NameSupply
    held: dict[Element, Expr] = field(default_factory=dict)

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for number, given in enumerate(body):
            stmt = self._with_held(given)
            self._forget(stmt)
            if isinstance(stmt, Store) and not stmt.checked and stmt.mask is None:
                out += self._stored(stmt, body[number + 1 :])
            else:
                out.append(stmt)
        return tuple(out)

    def _stored(self, stmt: Store, later: Sequence[Stmt]) -> list[Stmt]:
        """The store with its value in a scalar, if it is read; without it, if it is made again."""
        element = (stmt.array, stmt.index)
        kept = () if _is_overwritten(element, later) else (stmt,)
        if not any(isinstance(n, Load) and (n.array, n.index) == element for n in visit.walk(later)):
            return list(kept)
        if is_simple(stmt.value) and not visit.scalars_read(stmt.value) & visit.scalars_written(later):
            self.held[element] = stmt.value
            return list(kept)
        scalar = self.names.fresh(stmt.array.name, stmt.array.dtype)
        value = Var(scalar, loc=stmt.loc)
        self.held[element] = value
        return [Assign(scalar, stmt.value, loc=stmt.loc), *(replace(s, value=value) for s in kept)]

    def _with_held(self, stmt: Stmt) -> Stmt:
        """The statement with reads of held elements replaced, where it cannot change them itself."""
        compound = not isinstance(stmt, Assign | Store | Update)
        usable = {e: v for e, v in self.held.items() if not (compound and _changes(stmt, e, v))}

        def rule(node: Node) -> Node:
            if isinstance(node, Load) and node.mask is None:
                return usable.get((node.array, node.index), node)
            return node

        return visit.rewrite(stmt, rule) if usable else stmt

    def _forget(self, stmt: Stmt) -> None:
        self.held = {e: v for e, v in self.held.items() if not _changes(stmt, e, v)}


def _is_overwritten(element: Element, later: Sequence[Stmt]) -> bool:
    """Whether a later statement stores the element again, and nothing before that needs it in memory."""
    array, index = element
    for stmt in later:
        if not isinstance(stmt, Assign | Store | Update):
            if array in visit.arrays_read(stmt) | visit.arrays_written(stmt) or _renames(stmt, index):
                return False
            continue
        if any(
            touches(n, array) and not (isinstance(n, Load) and n.index == index)
            for n in visit.walk(stmt.value)
        ):
            return False
        if isinstance(stmt, Store) and (stmt.array, stmt.index) == element:
            return stmt.mask is None and not stmt.checked
        if array in visit.arrays_written(stmt) or _renames(stmt, index):
            return False
    return False


def _renames(stmt: Stmt, index: tuple[Expr, ...]) -> bool:
    """Whether a statement changes what an index says."""
    return bool(visit.scalars_read(index) & visit.scalars_written(stmt))


def _changes(stmt: Stmt, element: Element, value: Expr) -> bool:
    """Whether a statement may write the element, or what it is named or held by."""
    array, index = element
    bound = {n.var for n in visit.walk(stmt) if isinstance(n, For)}
    needed = visit.scalars_read((*index, value))
    return array in visit.arrays_written(stmt) or bool(needed & (visit.scalars_written(stmt) | bound))
