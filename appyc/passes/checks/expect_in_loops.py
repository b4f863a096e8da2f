"""Loop versioning for conditions that nearly always hold (`Likely`): one test in front of a loop, for all iterations.

    for i in range(1, m):                             if row < count and 1 - 1 >= 0 and m - 1 - 1 < lengths[row]:
        if not row < count: (raise)                       n = lengths[row]
        n = lengths[row]                                  for i in range(1, m):
        if not likely(0 <= i - 1 and i - 1 < n):              u[s + i - 1] = 0.0
            (raise)                          ->       else:
        at = i - 1 if likely(...) else i - 1 + n          (the loop as it was)
        u[s + at] = 0.0

Such conditions are about views whose lengths the run shows, as of parts of arrays and of lists of arrays. Where guards
state them, `guard_assumptions` has removed them. What does not change in the loop is computed in front of it.

Requires: each condition of the loop can be stated in front of it: it compares integers that are linear in the variables
of the loop and of loops inside, and otherwise do not change.

Does not handle: conditions under other conditions, which are tested where they stand; loops with pragmas; GPUs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace

from appyc.ir import nodes as ir
from appyc.ir import visit
from appyc.ir.affine import LinearForm, difference, linear_form, terms_with, written
from appyc.ir.blocks import replace_outermost
from appyc.ir.invariance import changed_in, is_invariant
from appyc.ir.names import NameSupply
from appyc.ir.types import DType
from appyc.passes.node_builders import conjunction, has_iterations, let, truth
from appyc.passes.parallelise.plain_loops import is_asked
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.constant_conditions import folded

MAX_NODES = 600
"""A larger loop is not written twice."""

MAX_TESTS = 24
"""The most comparisons in front of a loop."""


def expect_in_loops(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with two versions of such loops."""
    if ctx.options.on_gpu or not any(visit.contains(loop, ir.Likely) for loop in visit.loops_of(fn.body)):
        return fn
    names = NameSupply.after(fn)
    reads = Counter(visit.scalar_reads(fn.body))

    def rule(stmt: ir.Stmt) -> list[ir.Stmt] | None:
        if not isinstance(stmt, ir.For) or not visit.contains(stmt, ir.Likely):
            return None
        own = {
            symbol for symbol, count in Counter(visit.scalar_reads(stmt)).items() if count == reads[symbol]
        }
        return _versions(stmt, own, ctx, names)

    return replace(fn, body=replace_outermost(fn.body, rule))


def _versions(loop: ir.For, own: Set[ir.Symbol], ctx: PassContext, names: NameSupply) -> list[ir.Stmt] | None:
    """own: the scalars that nothing outside the loop reads."""
    if any(map(is_asked, visit.loops_of(loop))) or sum(1 for _ in visit.walk(loop)) > MAX_NODES:
        return None
    before: list[ir.Stmt] = []
    lo, hi = (e if is_invariant(e, set()) else let("bound", e, names, before) for e in loop.bounds)
    loop = replace(loop, lo=lo, hi=hi)
    found = _Expected(loop, own)
    if not found.read((loop,), ()) or not 0 < len(found.tests) <= MAX_TESTS:
        return None

    def rule(node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
        if isinstance(node, ir.Assign) and node.target in found.values:
            return ()
        return truth(True, node.loc) if isinstance(node, ir.Likely) and node in found.known else folded(node)

    slow = ctx.copied(loop, names)
    fast = replace(loop, body=visit.rewrite_all(visit.rewrite_all(loop.body, found.without_tests), rule))
    return [*before, ir.If(conjunction(found.tests), (*found.moved, fast), (slow,), loc=loop.loc)]


class _Expected:
    """The tests and assignments of a loop body, collected in program order, with those that can be moved in
    front of the loop.

    known: conditions that the tests imply. failures: tests in the loop that do not fail then. moved: loop-invariant
    assignments. values: the values of their targets, as expressions over what is known in front of the loop.
    """

    def __init__(self, loop: ir.For, own: Set[ir.Symbol]) -> None:
        self.changed, self.own = changed_in(loop), own
        self.stored = visit.arrays_written(loop) | self.changed
        self.writes = Counter(visit.scalar_writes(loop))
        self.seen: set[ir.Symbol] = set()
        self.tests: list[ir.Expr] = []
        self.known: set[ir.Likely] = set()
        self.failures: set[ir.Expr] = set()
        self.moved: list[ir.Assign] = []
        self.values: dict[ir.Symbol, ir.Expr] = {}
        self.is_safe = True  # whether all tests so far are among those in front

    def without_tests(self, node: ir.Node) -> ir.Node | tuple[ir.Node, ...]:
        return () if isinstance(node, ir.If) and node.cond in self.failures else node

    def read(self, body: Sequence[ir.Stmt], loops: tuple[ir.For, ...]) -> bool:
        """Notes what statements do; False where a condition that is likely cannot be stated in front."""
        for stmt in body:
            match stmt:
                case ir.For():
                    self.seen |= visit.scalars_read(stmt.bounds)
                    if not self.read(stmt.body, (*loops, stmt)):
                        return False
                    continue
                case ir.Assign() if self._is_fixed(stmt) and self._is_reached(stmt, loops):
                    self.moved.append(stmt)
                    self.values[stmt.target] = visit.substitute(stmt.value, self.values)
                    self.changed.discard(stmt.target)
                    continue
                case ir.If(cond=cond):
                    if not self._ask(cond, loops):
                        return False
                    if all(isinstance(s, ir.Fail) for s in stmt.then) and not stmt.orelse:
                        self._expect_none(cond, loops)
                    elif visit.contains(stmt, ir.Fail | ir.BoundsCheck):
                        self.is_safe = False
                case ir.While():
                    self.is_safe = False
                case _:
                    if not self._ask(stmt, loops):
                        return False
                    self.is_safe = self.is_safe and not isinstance(stmt, ir.BoundsCheck)
            self.seen |= visit.scalars_read(stmt)
        return True

    def _is_fixed(self, stmt: ir.Assign) -> bool:
        """Whether an assignment gives the same in each iteration, and may be done in front of all."""
        if stmt.target in self.seen or self.writes[stmt.target] > 1 or stmt.target not in self.own:
            return False
        stored = self.stored if self.is_safe else None
        return is_invariant(stmt.value, self.changed, stored)

    def _is_reached(self, stmt: ir.Assign, loops: Sequence[ir.For]) -> bool:
        """Whether an assignment that reads memory is executed where the tests hold: in a loop without iterations
        nothing shows that the element is there. Adds tests of the loops' iterations."""
        if not visit.contains(stmt.value, ir.Load):
            return True
        bounds = [bound for loop in loops for bound in loop.bounds]
        if not is_invariant(bounds, self.changed):
            return False
        self._require([has_iterations(loop) for loop in loops])
        return True

    def _ask(self, node: ir.Node, loops: Sequence[ir.For]) -> bool:
        """Notes the likely conditions of a statement; False if one cannot be stated."""
        for cond in visit.walk(node):
            if not isinstance(cond, ir.Likely) or cond in self.known:
                continue
            tests = _in_front(cond.arg, loops, self.changed)
            if tests is None:
                return False
            self._require(tests)
            self.known.add(cond)
        return True

    def _expect_none(self, cond: ir.Expr, loops: Sequence[ir.For]) -> None:
        """Notes a test that raises where a condition holds."""
        if isinstance(cond, ir.Unary) and isinstance(cond.arg, ir.Likely):
            return
        tests = _in_front(ir.Unary("~", cond, loc=cond.loc), loops, self.changed)
        if tests is None:
            self.is_safe = False
            return
        self._require(tests)
        self.failures.add(cond)

    def _require(self, tests: Sequence[ir.Expr]) -> None:
        for test in tests:
            inlined = visit.substitute(test, self.values)
            if inlined not in self.tests:
                self.tests.append(inlined)


def _in_front(cond: ir.Expr, loops: Sequence[ir.For], changed: Set[ir.Symbol]) -> list[ir.Expr] | None:
    """Tests in front of the outermost loop under which a condition holds in all iterations; None if none can be
    stated."""
    match cond:
        case ir.Logical(op="and") | ir.Binary(op="&"):
            parts = _in_front(cond.lhs, loops, changed), _in_front(cond.rhs, loops, changed)
            return None if parts[0] is None or parts[1] is None else [*parts[0], *parts[1]]
        case ir.Compare(op="<" | "<=" | ">" | ">=", lhs=lhs, rhs=rhs) if (
            lhs.dtype is rhs.dtype is DType.INT64
        ):
            low, high = (lhs, rhs) if cond.op in ("<", "<=") else (rhs, lhs)
            least = _least(difference(high, low), loops, changed)
            if least is None:
                return None
            zero = ir.Const(0, DType.INT64, loc=cond.loc)
            if not least.terms:
                return [] if least.constant >= (cond.op in ("<", ">")) else None
            return [
                ir.Compare(
                    ">" if cond.op in ("<", ">") else ">=", written(least, cond.loc), zero, loc=cond.loc
                )
            ]
        case _:
            return [cond] if is_invariant(cond, changed) else None


def _least(
    form: LinearForm[ir.Expr], loops: Sequence[ir.For], changed: Set[ir.Symbol]
) -> LinearForm[ir.Expr] | None:
    """The least value of a linear form in all iterations of the loops."""
    for loop in reversed(loops):
        found = terms_with(form, frozenset({loop.var}))
        if not found:
            continue
        ((term, factor), *others) = found.items()
        if others or not isinstance(term, ir.Var) or abs(loop.step) != 1:
            return None
        is_first = (factor > 0) == (loop.step > 0)
        extreme = linear_form(loop.lo if is_first else loop.hi)
        if not is_first:
            extreme = extreme.plus(LinearForm({}, -loop.step))
        form = form.plus(LinearForm({term: factor}), -1).plus(extreme, factor)
    return form if is_invariant(form.terms, changed) else None
