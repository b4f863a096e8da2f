"""Gives iterations arrays of their own where they write before they read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.accesses import Access
from appyc.analysis.dependences import Conflict
from appyc.analysis.iteration_flow import IterationFlow, Sees
from appyc.analysis.legality import Legality
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Expr, For, Function, Load, Node, Stmt, Store, Symbol, Update
from appyc.ir.visit import loops_of
from appyc.passes.array_parts import Part, part_of
from appyc.passes.context import PassContext
from appyc.passes.expansion import (
    can_raise,
    conflicts_by_array,
    each_candidate,
    hands_on,
    is_asked,
    lasting_writes,
    loop_over,
    place_of,
    rewritten,
    where,
    with_loop,
)


def privatise_arrays(fn: Function, ctx: PassContext) -> Function:
    """A scratch array becomes one array for each iteration; what the last ones leave is kept.

    Before:                                   After:
        for i in range(n):                        for i in range(n):            # free
            for j in range(m):                        own = np.empty(m)
                t[j] = x[i, j] * 2                    for j in range(m):
            for j in range(m):                            own[j] = x[i, j] * 2
                y[i, j] = t[j] + 1                        if i == n - 1:
                                                              t[j] = own[j]
                                                      for j in range(m):
                                                          y[i, j] = own[j] + 1

    An array is taken where every read that is in the way of other iterations finds what its own
    iteration wrote, whatever the iteration. The iteration's array has the elements that one
    iteration touches; on an axis where that is a single one it has no axis, so that an element
    becomes a scalar. A write goes to the array too where no later iteration overwrites it: exactly
    there, and nowhere if the array is the function's own and not read outside the loop.

    Requires: `check_bounds` has run, for a body that may raise is left alone: what it had written
    would show. Runs before `check_parallel`, which finds the loop free. `rename_arrays` follows,
    for loops with a pragma that need both.

    Does not handle: loops with `break`, with `collapse`; plain loops without loops inside that need
    more than scalars, which would cost them their lanes; arrays whose lasting elements isl cannot tell.
    """
    return each_candidate(fn, ctx, _privatised)


@dataclass(frozen=True, slots=True)
class _Plan:
    """own: the places of reads and writes that go to the part. lasts: where a write goes to the
    array, by its place; empty where the array is not written any more."""

    part: Part
    own: frozenset[int]
    lasts: dict[int, Expr | bool]

    def rule(self, number: int, node: Node) -> Node | tuple[Node, ...]:
        if number not in self.own:
            return node
        if isinstance(node, Load):
            return self.part.load(node.index, node.loc)
        assert isinstance(node, Store | Update)
        result = self.part.load(node.index, node.loc)
        kept = Store(self.part.array, node.index, result, checked=False, loc=node.loc)
        return (self.part.written(node), *where(self.lasts.get(number, False), kept))


def _privatised(fn: Function, loop: For, ctx: PassContext) -> Function | None:
    legality = ctx.legality(fn)
    if legality.scalars[loop.var].carried or can_raise(loop.body):
        return None
    found = conflicts_by_array(legality, loop)
    if found is None:
        return None
    names = NameSupply.after(fn)
    flows = {array: IterationFlow(legality.dependences, loop, array) for array in found}
    plans = [
        plan
        for array, conflicts in found.items()
        if (plan := _plan(fn, flows[array], conflicts, names)) is not None
    ]
    if not plans or not (is_asked(loop) or loops_of(loop.body) or all(_is_scalar(plan) for plan in plans)):
        return None
    new = _with_parts(fn, loop, plans)
    others = frozenset(found) - {plan.part.array for plan in plans}
    fresh = loop_over(new, loop.var)
    skip = others if is_asked(loop) else frozenset[Symbol]()
    if not Legality.of(new).judge(fresh, skip).may_run_in_any_order:
        return None
    for plan in plans:
        _say(loop, plan, ctx)
    return new


def _plan(fn: Function, flow: IterationFlow, conflicts: list[Conflict], names: NameSupply) -> _Plan | None:
    """How one array is taken apart; None where it cannot be, or need not."""
    involved = {id(a): a for c in conflicts for a in (c.source, c.sink) if a.op != "write"}
    sees = {key: flow.sees(access) for key, access in involved.items()}
    if Sees.OWN not in sees.values() or Sees.EITHER in sees.values() or hands_on(flow, conflicts):
        return None
    own = [read for read in flow.reads if flow.sees(read) is Sees.OWN]
    mine = [*own, *(write for write in flow.writes if all(write is not read for read in own))]
    if any(access.checked for access in mine):
        return None
    lasts: dict[int, Expr | bool] | None = {}
    if not _is_dead(fn, flow, own):
        lasts = lasting_writes(flow, conflicts, flow.loop)
    if lasts is None:
        return None
    loc = flow.loop.loc
    part = part_of(
        flow.array, flow.box(mine, each=True, loc=loc), f"{flow.array.name}_own", names, loc, moves=True
    )
    return _Plan(part, frozenset(place_of(flow, access) for access in mine), lasts)


def _is_scalar(plan: _Plan) -> bool:
    return not plan.part.memory.is_array


def _is_dead(fn: Function, flow: IterationFlow, own: list[Access]) -> bool:
    """Whether nobody reads the array but those reads."""
    found = flow.dependences.found
    if flow.array in fn.params or flow.array in found.returned:
        return False
    return all(
        access.op == "write" or any(access is read for read in own)
        for access in found.accesses
        if access.array == flow.array
    )


def _with_parts(fn: Function, loop: For, plans: list[_Plan]) -> Function:
    before: list[Stmt] = []
    inside: list[Stmt] = []
    body = loop.body
    for plan in plans:
        before += plan.part.sizes
        inside += [*plan.part.firsts, *plan.part.allocation(loop.loc)]

    def rule(number: int, node: Node) -> Node | tuple[Node, ...]:
        for plan in plans:
            if number in plan.own:
                return plan.rule(number, node)
        return node

    body = rewritten(body, rule)
    clauses = loop.clauses
    if clauses is not None:
        taken = {plan.part.array for plan in plans}
        clauses = replace(clauses, private=tuple(s for s in clauses.private if s not in taken))
    new = replace(loop, body=(*inside, *body), clauses=clauses)
    return with_loop(fn, loop.var, (*before, new))


def _say(loop: For, plan: _Plan, ctx: PassContext) -> None:
    name = plan.part.array.name
    if _is_scalar(plan):
        text = f"each iteration has its own element of '{name}', in a scalar"
    else:
        size = plan.part.array.dtype.itemsize
        text = f"each iteration has its own part of '{name}' ({size} bytes for each element)"
    ctx.remark(loop.loc, f"loop over '{loop.var.name}': {text}", "note" if _is_scalar(plan) else "warning")
