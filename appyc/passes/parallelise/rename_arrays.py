"""Renaming: removes anti and output dependences by a copy for reads and by dropping overwritten stores."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.accesses.boxes import box_of
from appyc.analysis.dependences.array_dataflow import IterationFlow, Sees
from appyc.analysis.dependences.dependences import Conflict
from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import loop_text
from appyc.ir.array_accesses import by_number
from appyc.ir.blocks import depth
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Clauses, Expr, For, Function, Load, Node, Stmt, Store, Symbol, Update
from appyc.ir.raising import may_raise
from appyc.ir.visit import loops_of, rename, rewrite_all, with_loops
from appyc.passes.loop_ops.cut import split
from appyc.passes.loop_ops.stage import ArrayPart, part_of
from appyc.passes.parallelise import array_expansion as expansion
from appyc.passes.parallelise.plain_loops import has_fixed_bounds, is_asked, is_plain
from appyc.passes.pass_context import PassContext


def rename_arrays(fn: Function, ctx: PassContext) -> Function:
    """Loops whose only carried dependences are anti and output dependences become parallel.

    Before:                                   After:
        #pragma parallel for                      for at in range(n - 1):       # free
        for i in range(n - 1):                        old[at] = a[1 + at]
            a[i] = a[i + 1] * 2                   for i in range(n - 1):        # free
                                                      a[i] = old[i] * 2

        for i in range(n):                        for i in range(n):            # free
            a[i // 2] = x[i]                          if i % 2 == 1 or i == n - 1:
                                                          a[i // 2] = x[i]

        for i in range(n):                        for i in range(n - 1):        # free
            a[i] = b[i]                               a[i] = b[i]
            a[i + 1] = c[i]                       for i in range(n - 1, n):
                                                      a[i] = b[i]
                                                      a[i + 1] = c[i]

    Anti dependences: a read whose element only later iterations overwrite reads a copy. The copy is made
    before the loop, and has the part of the array that such reads access. Output dependences: a write whose
    element a later iteration overwrites is omitted, if no read needs the value.

    The copy takes memory for the part, and the time of reading and writing it once. A loop with a pragma is
    always given the copy, with a warning. A loop without a pragma is given a copy only if it has inner loops,
    none of which is parallel, and if it does more work for each element than the copy.

    Requires: `check_bounds` has run. Runs after `privatise_arrays`, before `check_parallel`.

    Does not handle: loops with `break`, with `collapse`; reads that find the old value in some
    iterations and that of their own iteration in others; omitted writes in bodies that may raise.
    """
    return expansion.each_candidate(fn, ctx, _renamed)


def _renamed(fn: Function, loop: For, ctx: PassContext) -> Function | None:
    legality = ctx.legality(fn)
    if legality.scalars[loop.var].carried:
        return None
    found = expansion.conflicts_by_array(legality, loop)
    if found is None or any(
        expansion.carries_a_value(IterationFlow(legality.dependences, loop, array), conflicts)
        for array, conflicts in found.items()
    ):
        return None
    new = _with_last_writes(fn, loop, legality, found)
    if new is not fn:
        loop = expansion.loop_over(new, loop.var)
        if _are_free(new, loop, fn, ctx):
            ctx.remark(
                loop.loc, f"{loop_text(loop.var, loop.clauses)}: only what is not overwritten is stored"
            )
            ctx.freed(loop.var, "leaving out what later iterations overwrite (output dependences)")
            return new
    legality, names = ctx.legality(new), NameSupply.after(new)
    parts = _copies(loop, legality, names)
    if not parts or not (is_asked(loop) or _pays(loop, parts, legality)):
        return None
    new = _with_copies(new, loop, parts, names)
    if not _are_free(new, loop, fn, ctx):
        return None
    for part in dict.fromkeys(parts.values()):
        ctx.remark(loop.loc, _cost(loop, part), "warning")
    renamed = " and ".join(dict.fromkeys(f"'{part.array.name}'" for part in parts.values()))
    ctx.freed(loop.var, f"renaming {renamed}: what later iterations overwrite is read first")
    return new


def _are_free(fn: Function, loop: For, before: Function, ctx: PassContext) -> bool:
    """Whether the loop, and those that are new in the function, may run in any order."""
    legality, old = Legality.of(fn, ctx.allowance), {n.var for n in loops_of(before.body)} - {loop.var}
    return all(legality.judge(x).may_run_in_any_order for x in loops_of(fn.body) if x.var not in old)


def _with_last_writes(
    fn: Function, loop: For, legality: Legality, found: dict[Symbol, list[Conflict]]
) -> Function:
    """The function without overwritten stores in the loop; the same function where that has no benefit."""
    if may_raise(loop.body):
        return fn
    conditions: dict[int, Expr | bool] = {}
    apart: list[Expr | None] = []
    for array, conflicts in found.items():
        flow = IterationFlow(legality.dependences, loop, array)
        if not any(c.source.writes and c.sink.writes for c in conflicts) or _needs_own(flow, conflicts):
            continue
        lasts = expansion.lasting_writes(flow, conflicts, loop)
        if lasts is None:
            return fn
        passing = [w for w in flow.writes if lasts[flow.number_of(w)] is not True]
        conditions |= {flow.number_of(write): lasts[flow.number_of(write)] for write in passing}
        if passing:
            apart.append(flow.last_iteration(passing, conflicts, loop.loc))
    if not conditions:
        return fn
    at = apart[0]
    if at is not None and loop.step == 1 and is_plain(loop) and has_fixed_bounds(loop) and {*apart} == {at}:
        return with_loops(fn, {loop.var: _last_apart(fn, loop, at, set(conditions))})
    return with_loops(fn, {loop.var: (_under(loop, conditions),)})


def _under(loop: For, conditions: dict[int, Expr | bool]) -> For:
    """The loop with writes under conditions, which are keyed by the number of the access."""

    def rule(number: int, node: Node) -> Node | tuple[Node, ...]:
        if number not in conditions:
            return node
        assert isinstance(node, Store | Update)
        return expansion.where(conditions[number], node)

    return replace(loop, body=rewrite_all(loop.body, by_number(rule)))


def _last_apart(fn: Function, loop: For, at: Expr, passing: set[int]) -> tuple[Stmt, ...]:
    """The loop without some writes up to an iteration, and with them from there on."""
    before, (most, last) = split(fn, loop, [("last", at)], NameSupply.after(fn))
    most = _under(most, dict.fromkeys(passing, False))
    return (*before, most, last) if most.body else (*before, rename(last, {last.var: loop.var}))


def _needs_own(flow: IterationFlow, conflicts: list[Conflict]) -> bool:
    """Whether a read needs what its own iteration wrote, though a later one overwrites it."""
    return any(
        c.source.op != "write" and c.sink.writes and flow.sees(c.source) is not Sees.OLD for c in conflicts
    )


def _copies(loop: For, legality: Legality, names: NameSupply) -> dict[int, ArrayPart]:
    """The copy to read, by the number of each read that needs the old value.

    Empty where copies would not remove all conflicts of the loop.
    """
    found = expansion.conflicts_by_array(legality, loop)
    parts: dict[int, ArrayPart] = {}
    for array, conflicts in (found or {}).items():
        flow = IterationFlow(legality.dependences, loop, array)
        if any(c.kind != "anti" for c in conflicts) or not array.array.ndim:
            return {}
        reads = list({id(c.source): c.source for c in conflicts}.values())
        if any(read.checked or flow.sees(read) is not Sees.OLD for read in reads):
            return {}
        box = box_of(flow.dependences, loop, reads, each=False)
        part = part_of(array, box, f"{array.name}_old", names, loop.loc, moves=False)
        parts |= {flow.number_of(read): part for read in reads}
    return parts


def _with_copies(fn: Function, loop: For, parts: dict[int, ArrayPart], names: NameSupply) -> Function:
    before: list[Stmt] = []
    for part in dict.fromkeys(parts.values()):
        copy = part.copied(names, loop.loc)
        if loop.clauses is not None and isinstance(copy, For):
            copy = replace(copy, clauses=Clauses("parallel", loc=loop.clauses.loc))
        before += [*part.firsts, *part.sizes, *part.allocation(loop.loc), copy]

    def rule(number: int, node: Node) -> Node:
        if number not in parts:
            return node
        assert isinstance(node, Load)
        return parts[number].load(node.index, node.loc)

    return with_loops(fn, {loop.var: (*before, replace(loop, body=rewrite_all(loop.body, by_number(rule))))})


def _pays(loop: For, parts: dict[int, ArrayPart], legality: Legality) -> bool:
    """Whether a loop without a pragma does more work than the copies, and has inner loops, none of them parallel."""
    inner = loops_of(loop.body)
    if not inner or any(legality.judge(x).may_run_in_any_order for x in inner):
        return False
    return depth((loop,)) > max(len(part.axes) for part in parts.values())


def _cost(loop: For, part: ArrayPart) -> str:
    size = part.array.dtype.itemsize
    return (
        f"{loop_text(loop.var, loop.clauses)}: what it reads of '{part.array.name}' is copied before it "
        f"({size} bytes for each element), since later iterations overwrite it"
    )
