"""Value numbering of integers: equal expressions get one name.

    count = min(r ** i, n)                      count = min(r ** i, n)
    more = min(r ** i, n)                ->     more = count
    if not likely(count == more): fail          if not likely(count == count): fail
    for j in range(more):                       for j in range(count):

Two slices with the same bounds have the same length. If that length is not affine in parameters and loop variables
(a power, an element of an index array), no other analysis can prove that the two are equal. The guard for equality
would then fail in every call except for empty arrays, and a select for broadcasting would stay in every loop.

Requires: written arrays share no memory with others, as a value may be read from an array. The assignments stay as
copies; `dead_code_elimination` removes the dead ones.

Does not handle: values of other types than integers and bools (-0.0 and 0.0 are equal floats), and
values that are equal but have different expressions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

from appyc.ir.nodes import (
    Alloc,
    Assign,
    Binary,
    Cast,
    Compare,
    Const,
    Expr,
    Extent,
    For,
    Function,
    If,
    Intrinsic,
    Likely,
    Load,
    Logical,
    Node,
    Select,
    Stmt,
    Symbol,
    Unary,
    Var,
    While,
)
from appyc.ir.visit import arrays_written, rewrite, scalars_written, statements, walk
from appyc.passes.pass_context import PassContext

N = TypeVar("N", bound=Node)


def common_subexpressions(fn: Function, ctx: PassContext) -> Function:
    """The function with later scalars read from the first one that has their value."""
    return replace(fn, body=_block(fn.body, _Known()))


@dataclass(slots=True)
class _Known:
    """The table of value numbers. values: the scalar that holds a value. names: the replacement for a scalar. asked:
    the conditions of the whole function. held: the value of a scalar in `values`. users: the scalars in `values` whose
    value has a given scalar as an operand."""

    values: dict[Expr, Symbol] = field(default_factory=dict)
    names: dict[Symbol, Expr] = field(default_factory=dict)
    asked: dict[Likely, Likely] = field(default_factory=dict)
    held: dict[Symbol, Expr] = field(default_factory=dict)
    users: dict[Symbol, tuple[Symbol, ...]] = field(default_factory=dict)

    def copy(self) -> _Known:
        return _Known(dict(self.values), dict(self.names), self.asked, dict(self.held), dict(self.users))

    def applied(self, node: N) -> N:
        """The tree in terms of these names. Equal conditions of `Likely` become one node, as one decision is
        made for each node."""
        if not self.names:
            return node

        def rule(n: Node) -> Node:
            match n:
                case Var(symbol=symbol):
                    return self.names.get(symbol, n)
                case Likely():
                    return self.asked.setdefault(n, n)
                case _:
                    return n

        return rewrite(node, rule)

    def forget(self, body: Stmt | tuple[Stmt, ...]) -> None:
        """What no longer holds once some of these statements have run, however often."""
        arrays = arrays_written(body) | {n.array for n in statements(body) if isinstance(n, Alloc)}
        changed = arrays | scalars_written(body)
        for symbol in changed:
            for target in (symbol, *self.users.pop(symbol, ())):
                self.names.pop(target, None)
                value = self.held.pop(target, None)
                if value is not None:
                    self.values.pop(value, None)

    def keep(self, target: Symbol, value: Expr) -> None:
        self.values[value] = target
        self.held[target] = value
        self._uses(target, value)

    def call(self, target: Symbol, name: Expr) -> None:
        """Reads the scalar as another one from here on."""
        self.names[target] = name
        self._uses(target, name)

    def _uses(self, target: Symbol, value: Expr) -> None:
        for symbol in _read(value):
            self.users[symbol] = (*self.users.get(symbol, ()), target)


def _block(body: tuple[Stmt, ...], known: _Known) -> tuple[Stmt, ...]:
    return tuple(_statement(stmt, known) for stmt in body)


def _statement(stmt: Stmt, known: _Known) -> Stmt:
    """The statement in terms of what is known before it; `known` is what is known behind it then."""
    match stmt:
        case For():
            bounds = known.applied(replace(stmt, body=()))
            known.forget(stmt)
            return replace(bounds, body=_block(stmt.body, known.copy()))
        case While():
            known.forget(stmt)
            return replace(known.applied(replace(stmt, body=())), body=_block(stmt.body, known.copy()))
        case If():
            cond = known.applied(stmt.cond)
            then, orelse = (_block(part, known.copy()) for part in (stmt.then, stmt.orelse))
            known.forget(stmt)
            return replace(stmt, cond=cond, then=then, orelse=orelse)
        case Assign(target=target):
            value = known.applied(stmt.value)
            found = known.values.get(value)
            known.forget(stmt)
            if found is not None and found.type == target.type:
                if found != target:
                    value = Var(found, loc=stmt.loc)
                    known.call(target, value)
            elif _is_kept(value) and target not in _read(value):
                known.keep(target, value)
            return replace(stmt, value=value)
        case _:
            out = known.applied(stmt)
            known.forget(stmt)
            return out


def _is_kept(value: Expr) -> bool:
    """Whether it is an integer that takes computing, of integers."""
    if isinstance(value, Const | Var | Extent):
        return False
    return all(_is_of_integers(n) for n in walk(value))


def _is_of_integers(node: Node) -> bool:
    match node:
        case (
            Var()
            | Extent()
            | Load()
            | Const()
            | Cast()
            | Unary()
            | Binary()
            | Compare()
            | Logical()
            | Select()
            | Intrinsic()
            | Likely()
        ):
            return node.dtype.kind in "iub"
        case _:
            return False


def _read(value: Expr) -> set[Symbol]:
    """The scalars and arrays that a value is made of."""
    out: set[Symbol] = set()
    for n in walk(value):
        match n:
            case Var(symbol=symbol):
                out.add(symbol)
            case Extent(array=array) | Load(array=array):
                out.add(array)
    return out
