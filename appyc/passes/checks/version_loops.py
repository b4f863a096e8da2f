"""Loop versioning: a run-time test of the condition under which a loop is parallel, and both versions behind it.

    for i in range(0, n - k):           if k == 0 or (k > 0 and 2 * k >= n):
        a[i] = a[i + k]          ->         for i in range(0, n - k):       # free
                                                a[i] = a[i + k]
                                        else:
                                            for i in range(0, n - k):
                                                a[i] = a[i + k]

The condition is exact: the loop runs in parallel whenever it may. Under a pragma there is no
second version. Where the condition fails, the call raises the DependenceError that the
compiler would have raised, had it known the arguments:

    #pragma parallel for                if not (k == 0 or ...):
    for i in range(0, n - k):    ->         raise DependenceError("... independent if k == 0 ...")
        a[i] = a[i + k]                 for i in range(0, n - k):       # parallel

With `exact` a pragma too gets a second version, which runs in order.

Requires: `check_parallel` has judged the loops, and let a pragma on a testable one pass.

Does not handle: a loop inside one that got two versions; conditions on values that are
computed in the function.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.dependences.verdicts import LoopVerdict, Verdict
from appyc.ir.blocks import replace_outermost
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Fail, For, Function, If, Stmt
from appyc.ir.visit import loops_of, rewrite_all
from appyc.passes.node_builders import in_order, negated
from appyc.passes.parallelise.plain_loops import is_asked
from appyc.passes.pass_context import PassContext


def version_loops(fn: Function, ctx: PassContext) -> Function:
    """The function with two versions of its conditionally independent loops."""
    if not any(_is_testable(v) for v in ctx.verdicts.values()):
        return fn
    names = NameSupply.after(fn)
    return replace(fn, body=replace_outermost(fn.body, lambda stmt: _versions(stmt, ctx, names)))


def _is_testable(verdict: LoopVerdict) -> bool:
    return verdict.verdict is Verdict.CONDITIONAL and verdict.guard is not None


def _versions(stmt: Stmt, ctx: PassContext, supply: NameSupply) -> list[Stmt] | None:
    verdict = ctx.verdicts.get(stmt.var) if isinstance(stmt, For) else None
    if not isinstance(stmt, For) or verdict is None or not _is_testable(verdict):
        return None
    if is_asked(stmt) and ctx.options.exact:
        return [_or_in_order(stmt, verdict, ctx, supply)]
    if is_asked(stmt):
        return [_refusal(stmt, verdict), stmt]
    if stmt.clauses is None and ctx.options.auto and not any(is_asked(n) for n in loops_of(stmt.body)):
        return [_two_versions(stmt, verdict, ctx, supply)]
    return None


def _refusal(loop: For, verdict: LoopVerdict) -> If:
    assert verdict.guard is not None
    loc = loop.clauses.loc if loop.clauses is not None else loop.loc
    fail = Fail("DependenceError", verdict.reason, loc=loc)
    return If(negated(verdict.guard), (fail,), loc=loop.loc)


def _or_in_order(loop: For, verdict: LoopVerdict, ctx: PassContext, supply: NameSupply) -> If:
    """The loop as requested, or sequential where the condition fails: Python would not raise here."""

    both = _two_versions(loop, verdict, ctx, supply)
    plain = rewrite_all(both.orelse, lambda node: in_order(node) if isinstance(node, For) else node)
    return replace(both, orelse=plain)


def _two_versions(loop: For, verdict: LoopVerdict, ctx: PassContext, supply: NameSupply) -> If:
    """The free version has loops, and so verdicts, of its own; scalars are shared."""
    assert verdict.guard is not None
    free = ctx.version(loop, supply)
    reason = f"independent where {verdict.condition}, which is tested at each call"
    freed = Verdict.REDUCTION if verdict.reductions else Verdict.INDEPENDENT
    ctx.verdicts[free.var] = replace(verdict, var=free.var, verdict=freed, reason=reason)
    return If(verdict.guard, (free,), (loop,), loc=loop.loc)
