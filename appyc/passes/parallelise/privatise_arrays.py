"""Array privatisation: iterations that write before they read get arrays of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.accesses.accesses import Access
from appyc.analysis.accesses.boxes import box_of
from appyc.analysis.dependences.array_dataflow import IterationFlow, Sees
from appyc.analysis.dependences.dependences import Conflict
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Refusal, loop_text
from appyc.errors import DependenceError, Loc, Note
from appyc.ir.array_accesses import by_number
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Expr, For, Function, Load, Node, Stmt, Store, Symbol, Update
from appyc.ir.raising import may_raise
from appyc.ir.visit import loops_of, rewrite_all, with_loops
from appyc.passes.loop_ops.stage import ArrayPart, part_of
from appyc.passes.parallelise import array_expansion as expansion
from appyc.passes.parallelise.plain_loops import is_asked
from appyc.passes.pass_context import PassContext


def privatise_arrays(fn: Function, ctx: PassContext) -> Function:
    """A scratch array is privatised: each iteration gets its own array, and live-out elements are copied back.

    Before:                                   After:
        for i in range(n):                        for i in range(n):            # free
            for j in range(m):                        own = np.empty(m)
                t[j] = x[i, j] * 2                    for j in range(m):
            for j in range(m):                            own[j] = x[i, j] * 2
                y[i, j] = t[j] + 1                        if i == n - 1:
                                                              t[j] = own[j]
                                                      for j in range(m):
                                                          y[i, j] = own[j] + 1

    An array is privatised if every conflicting read finds the value that its own iteration wrote, in all
    iterations. The private array holds the elements that one iteration accesses. An axis on which one
    iteration accesses a single element is dropped, so that a single element becomes a scalar. A write is
    copied out to the shared array exactly where no later iteration overwrites it. Nothing is copied out if
    the array is local to the function and dead outside the loop.

    Requires: `check_bounds` has run. A body that may raise is not changed, as the writes before an exception
    would be visible. Runs before `check_parallel`, which finds that the iterations may run in any order.
    `rename_arrays` follows, for loops with a pragma that need both. An array that a `private` clause names
    and that cannot be private raises DependenceError.

    Does not handle: loops with `break`, with `collapse`; innermost loops without a pragma that need private
    arrays and not only scalars, as these prevent vectorisation; arrays for which isl cannot derive the last writes.
    """
    return expansion.each_candidate(fn, ctx, _privatised)


@dataclass(frozen=True, slots=True)
class _Plan:
    """own: the numbers of the accesses that use the private part. lasts: the condition under which a write is
    copied out to the shared array, by the number of the access; empty where nothing is copied out."""

    part: ArrayPart
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
        return (self.part.written(node), *expansion.where(self.lasts.get(number, False), kept))


def _privatised(fn: Function, loop: For, ctx: PassContext) -> Function | None:
    legality = ctx.legality(fn)
    if legality.scalars[loop.var].carried:
        return None
    found = expansion.conflicts_by_array(legality, loop)
    if found is None:
        return None
    names = NameSupply.after(fn)
    plans: list[_Plan] = []
    for array, conflicts in found.items():
        plan = _plan(fn, IterationFlow(legality.dependences, loop, array), conflicts, names)
        if isinstance(plan, _Plan):
            plans.append(plan)
        elif loop.clauses is not None and array in loop.clauses.private:
            raise DependenceError(
                f"'{array.name}' cannot be private: {plan.reason}", loop.clauses.loc,
                "an iteration must write every element that it reads, before it reads it",
                label="asked for here", related=plan.notes,
            )  # fmt: skip
    if not plans or not (is_asked(loop) or loops_of(loop.body) or all(_is_scalar(plan) for plan in plans)):
        return None
    new = _with_parts(fn, loop, plans)
    others = frozenset(found) - {plan.part.array for plan in plans}
    fresh = expansion.loop_over(new, loop.var)
    skip = others if is_asked(loop) else frozenset[Symbol]()
    if not Legality.of(new, ctx.allowance).judge(fresh, skip).may_run_in_any_order:
        return None
    for plan in plans:
        _say(loop, plan, ctx)
    mine = " and ".join(f"'{plan.part.array.name}'" for plan in plans)
    ctx.freed(loop.var, f"privatising {mine}: each iteration writes the elements of it that it reads")
    return new


def _plan(fn: Function, flow: IterationFlow, conflicts: list[Conflict], names: NameSupply) -> _Plan | Refusal:
    """The privatisation of one array, or the reason why it cannot be privatised."""
    for conflict in conflicts:
        for access in (conflict.source, conflict.sink):
            if access.op != "write" and flow.sees(access) is Sees.EITHER:
                return _refused("an iteration may read an element that it has not written", access.loc)
        if conflict.source.writes and conflict.sink.op != "write" and flow.sees(conflict.sink) is Sees.OLD:
            return _refused("an iteration reads what an earlier one wrote", conflict.sink.loc)
    own = [read for read in flow.reads if flow.sees(read) is Sees.OWN]
    if not own:
        return _refused("no iteration reads what it has written", flow.loop.loc)
    mine = [*own, *(write for write in flow.writes if all(write is not read for read in own))]
    for access in mine:
        if access.updates and flow.sees(access) is not Sees.OWN:
            return _refused("an iteration updates an element that it has not written", access.loc)
    if may_raise(flow.loop.body):
        return _refused(
            "an iteration may raise an exception, which would show what was written", flow.loop.loc
        )
    lasts = {} if _is_dead(fn, flow, own) else expansion.lasting_writes(flow, conflicts, flow.loop)
    if lasts is None:
        return _refused("which iteration writes an element last cannot be told", flow.loop.loc)
    loc = flow.loop.loc
    box = box_of(flow.dependences, flow.loop, mine, each=True)
    part = part_of(flow.array, box, f"{flow.array.name}_own", names, loc, moves=True)
    return _Plan(part, frozenset(flow.number_of(access) for access in mine), lasts)


def _refused(reason: str, loc: Loc) -> Refusal:
    return Refusal(reason, (Note(loc, "here"),))


def _is_scalar(plan: _Plan) -> bool:
    return not plan.part.memory.is_array


def _is_dead(fn: Function, flow: IterationFlow, own: list[Access]) -> bool:
    """Whether the array is dead apart from these reads: no other access reads it, and it is not live-out."""
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

    body = rewrite_all(body, by_number(rule))
    clauses = loop.clauses
    if clauses is not None:
        taken = {plan.part.array for plan in plans}
        clauses = replace(clauses, private=tuple(s for s in clauses.private if s not in taken))
    new = replace(loop, body=(*inside, *body), clauses=clauses)
    return with_loops(fn, {loop.var: (*before, new)})


def _say(loop: For, plan: _Plan, ctx: PassContext) -> None:
    name = plan.part.array.name
    if _is_scalar(plan):
        text = f"each iteration has its own element of '{name}', in a scalar"
    else:
        size = plan.part.array.dtype.itemsize
        text = f"each iteration has its own part of '{name}' ({size} bytes for each element)"
    ctx.remark(
        loop.loc, f"{loop_text(loop.var, loop.clauses)}: {text}", "note" if _is_scalar(plan) else "warning"
    )
