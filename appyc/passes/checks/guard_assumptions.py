"""Moves conditions that nearly every call fulfils (`Likely`) into the function's guards.

    stop = n - 1 if likely(n >= 1) else 0           guard a.shape[0] >= 1
    count = max(stop, 0)                      ->    stop = n - 1
    if not likely(a.shape[0] == b.shape[0]):        guard a.shape[0] == b.shape[0]
        ...                                         (gone)

Where a guard fails at a call, the plain version runs, which tests every condition where it stands. An extent
that is guarded to be equal to another one, or an integer parameter that is, is replaced by that one, so that two
loops over both have the same trip count syntactically.

Requires: nothing. A condition in a loop is guarded for all iterations of the loop.

Does not handle: conditions on values that are computed in the function and not affine in its
parameters; they are tested where they stand.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from appyc.analysis.accesses.accesses import Assumption, FunctionAccesses
from appyc.analysis.accesses.assumptions import assumptions_of
from appyc.analysis.sets.allowance import Allowance
from appyc.analysis.sets.lazy_isl import isl
from appyc.analysis.sets.presburger import Presburger
from appyc.ir import nodes as ir
from appyc.ir.types import DType
from appyc.ir.visit import contains, rewrite, scalars_read, scalars_written, substitute
from appyc.passes.checks.guards import GuardWriter, asked_in_order
from appyc.passes.node_builders import truth
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.constant_conditions import folded
from appyc.passes.simplify.copy_propagation import known_values

MAX_CASES = 4
"""Alternatives in one condition."""

LARGE = 1024
"""An extent that a condition keeps below this is taken for one that it fixes."""

USUAL = "shapes and bounds are as in nearly every call"


def guard_assumptions(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function guarded with its `Likely` conditions, which are then known to hold."""
    if not contains(fn, ir.Likely):
        return fn
    known, guards, anywhere = _decide(fn, ctx.allowance)
    # First what is known, as the nodes that were asked about, then what follows from it.
    fn = rewrite(fn, lambda n: truth(True, n.loc) if id(n) in known else n)
    fn = rewrite(fn, folded)
    # A length that only a branch set anew which is gone now is the one that it was given first.
    values = known_values(fn)
    tests = [substitute(n.arg, values) for n in anywhere]
    same = _equal_lengths(fn, tests)
    fn = rewrite(fn, lambda n: same.get(n, n) if isinstance(n, ir.Extent | ir.Var) else n)
    return replace(fn, guards=asked_in_order((*fn.guards, *guards)))


_Decided: TypeAlias = tuple[dict[int, ir.Likely], tuple[ir.Guard, ...], tuple[ir.Likely, ...]]


def _decide(fn: ir.Function, allowance: Allowance) -> _Decided:
    """The nodes that need not be asked, by identity, the guards that make it so, and those of the nodes
    whose condition holds in the whole function: in a loop that never runs anything does.

    What a condition is about may depend on others that hold. Where some of those cannot be
    guarded, all are looked at again without them.
    """
    refused: frozenset[int] = frozenset()
    while True:
        found = assumptions_of(fn, Presburger(allowance), refused)
        asked: dict[int, list[Assumption]] = {}
        for assumption in found.assumptions:
            if id(assumption.node) not in refused:
                asked.setdefault(id(assumption.node), []).append(assumption)
        decided = _guarded(found, asked, fn.params)
        if isinstance(decided, tuple):
            return decided
        refused |= decided


def _guarded(
    found: FunctionAccesses, asked: dict[int, list[Assumption]], params: Sequence[ir.Symbol]
) -> _Decided | frozenset[int]:
    """Guards for all that is asked, or the nodes that none can be stated for, by identity.

    They are not looked for one by one: a condition that asks too much where others hold asks no less
    where these may fail.
    """
    writer = GuardWriter(found.affine, params)
    known: dict[int, ir.Likely] = {}
    guards: list[ir.Guard] = []
    refused: set[int] = set()
    so_far = found.sets.everything
    for key, same in asked.items():
        node = same[0].node
        holds = found.sets.bounded(partial(_holds, writer, so_far, same), None)
        if holds is None:
            refused.add(key)
            continue
        if not so_far.is_subset(holds):
            stated = writer.guards(holds.gist(so_far), USUAL, node.loc)
            if stated is None:
                refused.add(key)
                continue
            guards += stated
            so_far = so_far.intersect(holds)
        known[key] = node
    if refused:
        return frozenset(refused)
    anywhere = tuple(
        node
        for key, node in known.items()
        if all(so_far.intersect(assumption.truth.may_fail).is_empty() for assumption in asked[key])
    )
    return known, (*guards, *(writer.sizes(guards) if known else ())), anywhere


def _holds(writer: GuardWriter, so_far: isl.Set, same: list[Assumption]) -> isl.Set | None:
    """For which parameters the condition holds wherever it is asked; None where that is not known."""
    affine = writer.affine
    out = so_far
    for assumption in same:
        domain = assumption.domain.intersect(affine.context_of(assumption.domain, assumption.truth.may_fail))
        fails = domain.intersect(assumption.truth.may_fail)
        if fails.intersect(out).is_empty():
            continue
        holds = writer.without(domain, fails)
        if holds is None:
            return None
        out = _usual(out.intersect(holds).coalesce(), writer)
    return None if out.n_basic_set() > MAX_CASES or affine.in_context(out).is_empty() else out


def _equal_lengths(fn: ir.Function, tests: list[ir.Expr]) -> dict[ir.Expr, ir.Extent]:
    """One extent for all extents and integer parameters that are guarded to be equal: the first parameter's."""
    written = scalars_written(fn.body)
    order = {s: number for number, s in enumerate(fn.params) if s not in written}
    first: dict[ir.Expr, ir.Expr] = {}

    def found(length: ir.Expr) -> ir.Expr:
        while length in first:
            length = first[length]
        return length

    def rank(length: ir.Expr) -> tuple[bool, int, int]:
        """Extents before numbers: they are known not to be negative."""
        match length:
            case ir.Extent(array=array, axis=axis):
                return False, order[array], axis
            case _:
                return True, min(order[s] for s in scalars_read(length)), 0

    for test in tests:
        if isinstance(test, ir.Compare) and test.op == "==" and _are_given(test, order):
            one, other = found(test.lhs), found(test.rhs)
            if one != other:
                low, high = sorted((one, other), key=rank)
                first[high] = low
    lengths = {length: found(length) for length in first}
    return {length: same for length, same in lengths.items() if isinstance(same, ir.Extent)}


def _are_given(test: ir.Compare, given: Collection[ir.Symbol]) -> bool:
    """Whether both sides are extents of parameters, or integers that are parameters."""
    sides = (test.lhs, test.rhs)
    return all(
        side.array in given if isinstance(side, ir.Extent)
        else isinstance(side, ir.Var) and side.symbol in given and side.dtype is DType.INT64
        for side in sides
    )  # fmt: skip


def _usual(holds: isl.Set, writer: GuardWriter) -> isl.Set:
    """The cases that leave all extents free to be large, if there are any.

    `a[1:-1] + b[1:-1]` is right for two arrays of equal length from three on, and for two that have
    two elements or fewer. Nearly every call is of the first kind; the second would double what the
    conditions after it are asked for.
    """
    names = writer.affine.names
    sets = writer.affine.sets
    extents = [name for name in sets.names(holds) if isinstance(names[name].origin, ir.Extent)]
    return sets.reaching(holds, extents, LARGE)
