"""Recognises reductions: `s = s + e` becomes an `Update`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from appyc.errors import Loc
from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.raising import may_raise
from appyc.ir.visit import arrays_read, rewrite, scalar_writes, scalars_read, substitute, walk, with_body
from appyc.passes.node_builders import zero
from appyc.passes.pass_context import PassContext

_COMMUTING = ("+", "*", "&", "|", "^", "minimum", "maximum")


def recognise_reductions(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """Assignments that combine a variable with something become `Update`s.

    Before:                                   After:
        s = s + a[i]                              s += a[i]
        s = s - a[i]                              s += -a[i]
        C[i, j] = C[i, j] + x * y                 C[i, j] += x * y
        s = (s + x) - y                           s += x; s += -y
        s = s + x if c else s                     if c: s += x
        if a[i] > best: best = a[i]               best = max(best, a[i])
        ok = b & ok                               ok &= b
        t = h[k]; h[k] = t + x                    h[k] += x

    An operation that traps (`check_integer_overflow`) becomes an update that does. Partial sums may then be beyond 64
    bits where the sum in order is not: Python runs the call, or it raises OverflowError.

    The value of every scalar and element stays what it was, NaN and rounding included; that a
    loop may then combine in another order is decided elsewhere (`check_parallel`). With `exact`, so does the
    sign of zeros: `if a[i] >= best: best = a[i]` is no update then.

    Does not handle: `min(e, s)` and `max(e, s)` on floats, where Python's builtins keep `e`
    if it is a NaN but `min(s, e)` keeps `s` (NumPy's minimum and maximum commute); `ok and e`
    where evaluating `e` can fail, since an update always evaluates it; values that read what
    they update; several variables at once (argmax).

    Runs after `check_bounds`, so that loads which cannot fail are known as such.
    """

    return _with_updates(_without_kept_elements(fn), ctx)


def _with_updates(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with an update for each statement that is one."""
    exact = ctx.options.exact

    def rule(node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
        match node:
            case ir.Assign() | ir.Store() | ir.If() if exact and _takes_later_zeros(node):
                return node
            case ir.Assign() | ir.Store():
                return as_updates(node)
            case ir.If(then=(ir.Assign() | ir.Store() as only,), orelse=()):
                return _from_comparison(node, only)
            case _:
                return node

    return rewrite(fn, rule)


def with_updates(body: tuple[ir.Stmt, ...], ctx: PassContext) -> tuple[ir.Stmt, ...]:
    """The statements with assignments and stores of the form of a reduction as updates."""
    return _with_updates(ir.Function("part", (), body, loc=body[0].loc), ctx).body


def _without_kept_elements(fn: ir.Function) -> ir.Function:
    """The function with each element that is loaded for its own store alone loaded in it. The front end keeps the
    element while it evaluates what may raise, which has moved away."""
    read = Counter(n.symbol for n in walk(fn) if isinstance(n, ir.Var))
    once = {s for s, times in Counter(scalar_writes(fn.body)).items() if times == 1 == read[s]} - {*fn.params}

    def block(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        out: list[ir.Stmt] = []
        for stmt in body:
            at = _kept_for(stmt, out, once) if isinstance(stmt, ir.Store) else None
            if isinstance(stmt, ir.Store) and at is not None:
                kept = out.pop(at)
                assert isinstance(kept, ir.Assign)
                assert isinstance(kept.value, ir.Load)
                value = substitute(stmt.value, {kept.target: kept.value})
                out.append(replace(stmt, value=value, checked=stmt.checked or kept.value.checked))
            else:
                out.append(map_blocks(stmt, block))
        return tuple(out)

    return with_body(fn, block(fn.body))


def _kept_for(store: ir.Store, before: Sequence[ir.Stmt], once: Set[ir.Symbol]) -> int | None:
    """The position, among the statements before a store, of the load of its element into a scalar that only
    the store reads; None where there is none that can be moved to the store."""
    used, fixed = once & scalars_read(store.value), scalars_read(store.index)
    raises = may_raise(store.value)
    for at in reversed(range(len(before))):
        stmt = before[at]
        if not isinstance(stmt, ir.Assign) or isinstance(stmt.value, ir.Call) or stmt.target in fixed:
            return None
        load = stmt.value
        if (
            stmt.target in used
            and isinstance(load, ir.Load)
            and (load.array, load.index) == (store.array, store.index)
        ):
            return None if load.checked and raises else at
        raises = raises or may_raise(load)
    return None


def _takes_later_zeros(node: ir.Node) -> bool:
    """Whether floats are compared by `>=` or `<=`: of zeros with different signs, an update keeps the first."""
    return any(
        isinstance(n, ir.Compare) and n.op in (">=", "<=") and n.lhs.dtype.is_float for n in walk(node)
    )


def as_updates(stmt: ir.Assign | ir.Store) -> tuple[ir.Stmt, ...]:
    """An assignment, or a store, as the updates that it stands for, or as it is."""
    return _updates(_Target.of(stmt), stmt.value, stmt.loc) or (stmt,)


@dataclass(frozen=True, slots=True)
class _Target:
    """A scalar (no index) or an array element that is written."""

    symbol: ir.Symbol
    index: tuple[ir.Expr, ...]
    checked: bool
    mask: ir.Expr | None

    @classmethod
    def of(cls, stmt: ir.Assign | ir.Store) -> _Target:
        if isinstance(stmt, ir.Assign):
            return cls(stmt.target, (), True, None)
        return cls(stmt.array, stmt.index, stmt.checked, stmt.mask)

    def is_read_by(self, expr: ir.Expr) -> bool:
        """Whether an expression is the target's value."""
        if self.index:
            same = isinstance(expr, ir.Load) and expr.array == self.symbol and expr.index == self.index
            return same and expr.mask in (None, self.mask)  # type: ignore[union-attr]
        return isinstance(expr, ir.Var) and expr.symbol == self.symbol

    def is_read_within(self, expr: ir.Expr) -> bool:
        return any(self.is_read_by(part) for part in walk(expr) if isinstance(part, ir.Var | ir.Load))

    def update(self, op: str, value: ir.Expr, loc: Loc, of: ir.Binary | None = None) -> ir.Update:
        """of: the operation, if it is one of numbers."""
        trap, python = (of.trap, of.python) if of is not None else (False, False)
        return ir.Update(self.symbol, self.index, op, value, checked=self.checked, mask=self.mask, trap=trap,
                         python=python, loc=loc)  # fmt: skip


def _updates(target: _Target, value: ir.Expr, loc: Loc) -> tuple[ir.Stmt, ...] | None:
    """The statements that stand for `target = value`; None where it is no update."""
    match value:
        case ir.Binary(trap=True) if target.index:
            return None
        case ir.Select():
            return _from_select(target, value, loc)
        case ir.Logical():
            return _from_logical(target, value, loc)
        case ir.Binary(op="+" | "-"):
            return _from_sum(target, value, loc)
        case ir.Binary(op="min" | "max") if target.is_read_by(value.lhs):
            return _one(target, value.op, value.rhs, loc)
        case ir.Binary(op="min" | "max") if target.is_read_by(value.rhs) and value.dtype.kind in "biu":
            return _one(target, value.op, value.lhs, loc)
        case ir.Binary() if value.op in _COMMUTING and target.is_read_by(value.lhs):
            return _one(target, value.op, value.rhs, loc, value)
        case ir.Binary() if value.op in _COMMUTING and target.is_read_by(value.rhs):
            return _one(target, value.op, value.lhs, loc, value)
        case _:
            return None


def _one(
    target: _Target, op: str, value: ir.Expr, loc: Loc, of: ir.Binary | None = None
) -> tuple[ir.Stmt, ...] | None:
    return None if target.is_read_within(value) else (target.update(op, value, loc, of),)


def _from_sum(target: _Target, value: ir.Binary, loc: Loc) -> tuple[ir.Stmt, ...] | None:
    """`((s + x) - y) + z`: one update for each term, in order, so that rounding stays the same."""
    if value.op == "+" and target.is_read_by(value.rhs):
        return _one(target, "+", value.lhs, loc, value)
    terms: list[tuple[ir.Expr, ir.Binary]] = []
    rest: ir.Expr = value
    while isinstance(rest, ir.Binary) and rest.op in ("+", "-") and not (rest.trap and target.index):
        term = rest.rhs if rest.op == "+" else _negative(rest)
        if target.is_read_within(term):
            return None
        terms.append((term, rest))
        if target.is_read_by(rest.lhs):
            # All terms but the innermost are evaluated after an update: none may read the element.
            if target.index and target.symbol in arrays_read(term for term, _ in terms[:-1]):
                return None
            return tuple(target.update("+", term, loc, of) for term, of in reversed(terms))
        rest = rest.lhs
    return None


def _negative(difference: ir.Binary) -> ir.Expr:
    """The negated subtrahend of a difference: the value to add instead."""
    term = difference.rhs
    if not difference.trap:
        return ir.Unary("-", term, loc=term.loc)
    return ir.Binary("-", zero(term.dtype, term.loc), term, trap=True, python=True, loc=term.loc)


def _from_select(target: _Target, value: ir.Select, loc: Loc) -> tuple[ir.Stmt, ...] | None:
    op = _comparison_operator(target, value.cond, value.then)
    if op is not None and target.is_read_by(value.orelse):
        return _one(target, op, value.then, loc)
    if target.index:
        return None  # the element was always touched, and its index tested
    if target.is_read_by(value.orelse):
        inner = _updates(target, value.then, loc)
        return None if inner is None else (ir.If(value.cond, inner, loc=loc),)
    if target.is_read_by(value.then):
        inner = _updates(target, value.orelse, loc)
        return None if inner is None else (ir.If(value.cond, (), inner, loc=loc),)
    return None


def _from_logical(target: _Target, value: ir.Logical, loc: Loc) -> tuple[ir.Stmt, ...] | None:
    if target.is_read_by(value.rhs):
        return _one(target, value.op, value.lhs, loc)
    if target.is_read_by(value.lhs) and not may_raise(value.rhs):
        return _one(target, value.op, value.rhs, loc)
    return None


def _from_comparison(node: ir.If, only: ir.Assign | ir.Store) -> ir.Node:
    """`if x > best: best = x` is `best = max(best, x)`."""
    target = _Target.of(only)
    op = _comparison_operator(target, node.cond, only.value)
    if op is None or target.is_read_within(only.value):
        return node
    return target.update(op, only.value, only.loc)


def _comparison_operator(target: _Target, cond: ir.Expr, value: ir.Expr) -> str | None:
    """ "max" where the condition is `value > target` (or `target < value`), "min" for the reverse."""
    match cond:
        case ir.Compare(op=">" | ">="):
            larger, smaller = cond.lhs, cond.rhs
        case ir.Compare(op="<" | "<="):
            larger, smaller = cond.rhs, cond.lhs
        case _:
            return None
    if larger == value and target.is_read_by(smaller):
        return "max"
    if smaller == value and target.is_read_by(larger):
        return "min"
    return None
