"""Counting `while` loops become `for` loops."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.patterns.early_exits import carries_its_exit
from appyc.ir import nodes as ir
from appyc.ir.affine import distance
from appyc.ir.blocks import has_own, map_blocks
from appyc.ir.invariance import changed_in, is_invariant
from appyc.ir.names import NameSupply
from appyc.ir.types import DType
from appyc.ir.visit import scalars_read, scalars_written, substitute
from appyc.passes.node_builders import iteration, negated, shifted, trip_count
from appyc.passes.pass_context import PassContext

_LARGEST = (1 << 63) - 1


def while_to_for(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """A `while` on a counter that each iteration moves by one step is a `for`.

    Before:                                   After:
        i = 0                                     i = 0
        while i < n:                              for i_2 in range(0, n):
            b[i] = a[i]                               b[i_2] = a[i_2]
            i = i + 1
            c[i] = 0.0                                c[i_2 + 1] = 0.0
                                                  i = n if 0 < n else 0

        while i < n and a[i] <= t:                for i_2 in range(i, n):
            i = i + 1                                 i = i_2
                                                      if not a[i_2] <= t: break
                                                      i = i_2 + 1

    The counter is an int64 that is assigned once in the body, not under a condition; its bound
    comes first in the loop's condition and is the same in every iteration.

    Runs first: `copy_propagation` replaces the counter and its bound by their values later. A loop with
    an early exit becomes a `for` only if the result is a search loop, whose exit condition is not loop-carried.
    A loop-carried exit condition is better tested at the head of the `while`.

    Does not handle: loop-variant bounds; `!=`; counters that are reset; a bound that is tested behind
    another condition, which might raise where the counter has reached the bound.
    """
    return replace(fn, body=_Counting(NameSupply.after(fn)).block(fn.body))


@dataclass(frozen=True, slots=True)
class _Counter:
    """The counter in `while symbol <relation> bound and rest`. at: the index of its step in the body."""

    symbol: ir.Symbol
    step: int
    at: int
    hi: ir.Expr
    rest: ir.Expr | None


class _Counting:
    def __init__(self, names: NameSupply) -> None:
        self.names = names

    def block(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        out: list[ir.Stmt] = []
        for stmt in body:
            match stmt:
                case ir.While():
                    inner = replace(stmt, body=self.block(stmt.body))
                    counter = _counter_of(inner)
                    out += [inner] if counter is None else self._counted(inner, counter, out)
                case _:
                    out.append(map_blocks(stmt, self.block))
        return tuple(out)

    def _counted(self, loop: ir.While, counter: _Counter, before: list[ir.Stmt]) -> list[ir.Stmt]:
        """The loop as a `for`, and the counter's value after it. before: the block up to it."""
        loc, symbol = loop.loc, counter.symbol
        start = _value_before(symbol, before) or ir.Var(symbol, loc=loc)
        var = self.names.fresh(symbol.name, DType.INT64)
        here: ir.Expr = ir.Var(var, loc=loc)
        moved = shifted(here, counter.step)
        upper = [substitute(stmt, {symbol: here}) for stmt in loop.body[: counter.at]]
        lower = [substitute(stmt, {symbol: moved}) for stmt in loop.body[counter.at + 1 :]]
        if counter.rest is not None:
            rest = substitute(counter.rest, {symbol: here})
            upper.insert(0, ir.If(negated(rest), (ir.Break(loc=loc),), loc=loc))
        if not has_own((*upper, *lower), ir.Break):
            new = ir.For(var, start, counter.hi, counter.step, (*upper, *lower), loc=loc)
            return [new, ir.Assign(symbol, _final(start, counter), loc=loc)]
        body = (ir.Assign(symbol, here, loc=loc), *upper, ir.Assign(symbol, moved, loc=loc), *lower)
        new = ir.For(var, start, counter.hi, counter.step, body, loc=loc)
        return [loop] if carries_its_exit(new) else [new]


def _counter_of(loop: ir.While) -> _Counter | None:
    first, rest = _conjuncts(loop.cond)
    if not isinstance(first, ir.Compare) or first.op in ("==", "!="):
        return None
    changed = changed_in(loop.body)
    for value, op, bound in ((first.lhs, first.op, first.rhs), (first.rhs, ir.MIRRORED[first.op], first.lhs)):
        if isinstance(value, ir.Var) and value.dtype is DType.INT64 and is_invariant(bound, changed):
            found = _step_of(value.symbol, loop.body)
            hi = _end(op, bound)
            if found is not None and hi is not None and (found[1] > 0) == (op in ("<", "<=")):
                return _Counter(value.symbol, found[1], found[0], hi, rest)
    return None


def _conjuncts(cond: ir.Expr) -> tuple[ir.Expr, ir.Expr | None]:
    """The first conjunct of a condition, and the conjunction of the others; None where it is the only one."""
    if not isinstance(cond, ir.Logical) or cond.op != "and":
        return cond, None
    first, rest = _conjuncts(cond.lhs)
    return first, cond.rhs if rest is None else replace(cond, lhs=rest)


def _end(op: str, bound: ir.Expr) -> ir.Expr | None:
    """The first value of the counter that no longer fulfils the condition."""
    if op in ("<", ">"):
        return bound
    if isinstance(bound, ir.Const) and abs(int(bound.value.real)) >= _LARGEST:
        return None
    return shifted(bound, 1 if op == "<=" else -1)


def _step_of(symbol: ir.Symbol, body: tuple[ir.Stmt, ...]) -> tuple[int, int] | None:
    """The position of the statement that increments the counter, and the increment; None unless every
    iteration that continues executes it exactly once."""
    for at, stmt in enumerate(body):
        if symbol not in scalars_written((stmt,)):
            if has_own((stmt,), ir.Continue):
                return None
            continue
        step = distance(stmt.value, symbol) if isinstance(stmt, ir.Assign) else None
        if not step or abs(step) >= 1 << 31 or symbol in scalars_written(body[at + 1 :]):
            return None
        return at, step
    return None


def _value_before(symbol: ir.Symbol, before: list[ir.Stmt]) -> ir.Expr | None:
    """The start value of the counter, where a preceding assignment in the block reaches the loop; None else."""
    changed: set[ir.Symbol] = {symbol}
    for stmt in reversed(before):
        match stmt:
            case ir.Assign(target=target, value=ir.Const() | ir.Var() | ir.Extent() as value) if (
                target == symbol
            ):
                return value if not scalars_read(value) & changed else None
            case ir.For() | ir.While() | ir.If() | ir.Assign() | ir.Update():
                changed |= scalars_written((stmt,))
                if symbol in scalars_written((stmt,)):
                    return None
    return None


def _final(start: ir.Expr, counter: _Counter) -> ir.Expr:
    """The counter's value after a loop without an early exit."""
    loc, hi = start.loc, counter.hi
    runs = ir.Compare("<" if counter.step > 0 else ">", start, hi, loc=loc)
    end = (
        hi if abs(counter.step) == 1 else iteration(start, counter.step, trip_count(start, hi, counter.step))
    )
    return ir.Select(runs, end, start, loc=loc)
