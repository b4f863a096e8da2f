"""Scans (prefix sums) and linear recurrences: loops whose loop-carried scalars change by associative steps.

    for i in range(n):              t: a scan (+), the steps are x[i]
        t = t + x[i]                y: a linear recurrence, the steps are y -> a[i] * y + b[i]
        s[i] = t                    k: a scan (+), a step of 1 where x[i] > 0, of 0 elsewhere
        y = a[i] * y + b[i]
        if x[i] > 0.0:
            out[k] = y
            k += 1

The steps of a row of iterations together are one step of the same kind: sums add up, maps
y -> a * y + b follow each other as (a2 * a1, a2 * b1 + b2). So what each scalar holds where an
iteration starts can be had before the iterations before it have run, from their steps alone.
`backward_slice` is the part of a body that they take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from appyc.ir import nodes as ir
from appyc.ir.array_accesses import array_of, is_numbered
from appyc.ir.blocks import map_blocks, own_statements
from appyc.ir.names import ordered
from appyc.ir.raising import may_raise
from appyc.ir.schedule import Scan
from appyc.ir.types import DType
from appyc.ir.visit import arrays_written, children, contains, scalars_read, walk

LINEAR = "linear"


def scans_of(loop: ir.For, symbols: Iterable[ir.Symbol]) -> tuple[Scan, ...] | None:
    """The scans of a loop, one for each loop-carried scalar; None where one of these is no scan."""
    carried = frozenset(symbols)
    if contains(loop.body, ir.While | ir.Break | ir.Continue | ir.Alloc | ir.Fail):
        return None  # which iterations run, or how far, is not known beforehand
    scans: list[Scan] = []
    for symbol in ordered(carried):
        op = _operator(loop, symbol, carried)
        if op is None:
            return None
        scans.append(Scan(op, symbol))
    steps = backward_slice(loop.body, carried)
    if _reads_carried(steps, carried) or may_raise(steps) or _reads_what_was_written(loop.body, steps):
        return None
    return tuple(scans)


@dataclass(frozen=True, slots=True)
class Linear:
    """`factor * symbol + value`. None stands for a factor of 1, and for a value of 0."""

    factor: ir.Expr | None
    value: ir.Expr | None


def step_of(stmt: ir.Assign | ir.Update) -> Linear | None:
    """A change of a scalar as a linear one; None where it is none."""
    if isinstance(stmt, ir.Update):
        if stmt.op == "+":
            return Linear(None, stmt.value)
        return Linear(stmt.value, None) if stmt.op == "*" else None
    if stmt.target in scalars_read(stmt.value):
        return linear_in(stmt.value, stmt.target)
    if not stmt.target.dtype.is_integer:
        return None  # of floats, 0 times an infinity would be carried on
    return Linear(ir.Const(0, stmt.target.dtype, loc=stmt.loc), stmt.value)


def linear_in(expr: ir.Expr, symbol: ir.Symbol) -> Linear | None:
    """An expression that reads a scalar as a linear function of it; None where it is none."""
    match expr:
        case ir.Var(symbol=read) if read == symbol:
            return Linear(None, None)
        case ir.Unary(op="-"):
            inner = linear_in(expr.arg, symbol)
            return None if inner is None else _each(inner, expr, lambda e: replace(expr, arg=e))
        case ir.Binary(trap=True) if expr.dtype is DType.INT64:
            return None
        case ir.Binary(op="+" | "-"):
            return _sum(expr, symbol)
        case ir.Binary(op="*") if symbol not in scalars_read(expr.rhs):
            return _product(linear_in(expr.lhs, symbol), expr.rhs, expr)
        case ir.Binary(op="*") if symbol not in scalars_read(expr.lhs):
            return _product(linear_in(expr.rhs, symbol), expr.lhs, expr)
        case ir.Binary(op="/") if symbol not in scalars_read(expr.rhs):
            inner = linear_in(expr.lhs, symbol)
            return None if inner is None else _each(inner, expr, lambda e: replace(expr, lhs=e))
        case _:
            return None


def _each(inner: Linear, expr: ir.Expr, wrap: Callable[[ir.Expr], ir.Expr]) -> Linear:
    return Linear(wrap(_factor(inner, expr)), None if inner.value is None else wrap(inner.value))


def _factor(part: Linear, expr: ir.Expr) -> ir.Expr:
    one: dict[str, int | float | complex] = {"i": 1, "u": 1, "f": 1.0, "c": 1 + 0j}
    return (
        part.factor if part.factor is not None else ir.Const(one[expr.dtype.kind], expr.dtype, loc=expr.loc)
    )


def _product(inner: Linear | None, by: ir.Expr, expr: ir.Binary) -> Linear | None:
    if inner is None:
        return None
    factor, value = (None if e is None else replace(expr, lhs=e, rhs=by) for e in (inner.factor, inner.value))
    return Linear(by if factor is None else factor, value)


def _sum(expr: ir.Binary, symbol: ir.Symbol) -> Linear | None:
    in_lhs, in_rhs = (symbol in scalars_read(side) for side in (expr.lhs, expr.rhs))
    lhs = linear_in(expr.lhs, symbol) if in_lhs else None
    rhs = linear_in(expr.rhs, symbol) if in_rhs else None
    if (in_lhs and lhs is None) or (in_rhs and rhs is None):
        return None
    minus = expr.op == "-"
    if lhs is not None and rhs is not None:
        factor: ir.Expr | None = replace(expr, lhs=_factor(lhs, expr), rhs=_factor(rhs, expr))
    elif lhs is not None:
        factor = lhs.factor
    else:
        assert rhs is not None
        factor = ir.Unary("-", _factor(rhs, expr), loc=expr.loc) if minus else rhs.factor
    left = lhs.value if lhs is not None else expr.lhs
    right = rhs.value if rhs is not None else expr.rhs
    if left is None and right is None and not expr.dtype.is_integer:
        # No product: of an infinity, `t - t * x` is NaN where `t * (1 - x)` is none.
        return Linear(factor, ir.Const(0.0 if expr.dtype.is_float else 0j, expr.dtype, loc=expr.loc))
    if right is None:
        return Linear(factor, left)
    if left is None:
        return Linear(factor, ir.Unary("-", right, loc=expr.loc) if minus else right)
    return Linear(factor, replace(expr, lhs=left, rhs=right))


def _kinds(step: Linear) -> set[str]:
    if step.factor is None:
        return set() if step.value is None else {"+"}
    return {"*"} if step.value is None else {LINEAR}


def _operator(loop: ir.For, symbol: ir.Symbol, carried: frozenset[ir.Symbol]) -> str | None:
    """The operator of the scan that all changes of a scalar make, None where they make none."""
    ops: set[str] = set()
    for node in walk(loop.body):
        if not isinstance(node, ir.Assign | ir.Update) or node.target != symbol:
            continue
        if isinstance(node, ir.Update):
            if scalars_read(node.value) & carried:
                return None
            ops.add(node.op)
            continue
        step = step_of(node)
        if step is None or any(
            e is not None and scalars_read(e) & carried for e in (step.factor, step.value)
        ):
            return None
        ops |= _kinds(step)
    if len(ops) > 1 and ops <= {"+", "*", LINEAR}:
        ops = {LINEAR}
    if len(ops) != 1 or (LINEAR in ops and symbol.dtype is DType.BOOL):
        return None
    return ops.pop()


def backward_slice(
    body: tuple[ir.Stmt, ...], symbols: Iterable[ir.Symbol], *, effects: bool = False
) -> tuple[ir.Stmt, ...]:
    """The statements that jump or set these scalars, with what those need: conditions, and other scalars. effects:
    those that have effects, too."""
    needed = frozenset(symbols)
    while True:
        kept = _kept(body, needed, effects)
        more = needed | scalars_read(kept)
        if more == needed:
            return kept
        needed = more


def _kept(body: tuple[ir.Stmt, ...], needed: frozenset[ir.Symbol], effects: bool) -> tuple[ir.Stmt, ...]:
    out: list[ir.Stmt] = []
    for stmt in body:
        stmt = map_blocks(stmt, lambda block: _kept(block, needed, effects))
        match stmt:
            case ir.If():
                keep = bool(stmt.then or stmt.orelse) or (effects and may_raise(stmt.cond))
            case ir.For() | ir.While():
                # A loop inside is kept for what it sets, not for its jumps.
                own = own_statements(stmt.body)
                keep = any(not isinstance(s, ir.If | ir.Break | ir.Continue) for s in own)
                keep |= effects and may_raise(stmt)
            case ir.Assign() | ir.Update() if not stmt.target.is_array:
                keep = stmt.target in needed or (effects and may_raise(stmt))
            case ir.Break() | ir.Continue():
                keep = True
            case _:
                keep = effects
        if keep:
            out.append(stmt)
    return tuple(out)


def _reads_carried(steps: tuple[ir.Stmt, ...], carried: frozenset[ir.Symbol]) -> bool:
    """Whether what the steps need depends on what a carried scalar holds; the steps themselves apart."""
    for node in walk(steps):
        match node:
            case ir.Assign() | ir.Update() if node.target in carried:
                continue
            case ir.Assign() | ir.Update():
                read = scalars_read(node.value)
            case ir.If():
                read = scalars_read(node.cond)
            case ir.For():
                read = scalars_read(node.bounds)
            case _:
                continue
        if read & carried:
            return True
    return False


def _reads_what_was_written(body: tuple[ir.Stmt, ...], steps: tuple[ir.Stmt, ...]) -> bool:
    """Whether the steps read elements that their own iteration may have written before: the steps
    alone would read what was there. That other iterations do not write them is not asked here."""
    reads = {id(n) for n in walk(steps) if isinstance(n, ir.Load)}
    written: set[ir.Symbol] = set()
    for node in in_order(body):
        if isinstance(node, ir.For):
            written |= arrays_written(node.body)  # by an earlier turn of this inner loop
        elif isinstance(node, ir.Load) and id(node) in reads and node.array in written:
            return True
        elif is_numbered(node) and not isinstance(node, ir.Load):
            written.add(array_of(node))
    return False


def in_order(nodes: Iterable[ir.Node]) -> Iterator[ir.Node]:
    """The nodes and all below in the order in which they are evaluated; a loop comes before what is in it."""
    for node in nodes:
        if isinstance(node, ir.For):
            yield node
        yield from in_order(children(node))
        if not isinstance(node, ir.For):
            yield node
