"""Loop operations that pragmas or a given schedule ask for: `interchange`, `tile`, `jam`, `unroll`.

    #pragma parallel for tile(32, 64)         #pragma parallel for
    for i in range(n):                        for i_tile in range(0, n, 32):
        for j in range(m):           ->           for j_tile in range(0, m, 64):
            ...                                       for i in range(i_tile, min(i_tile + 32, n)):
                                                          for j in range(j_tile, min(j_tile + 64, m)):
                                                              ...

The operations of one pragma are done in the order of `TRANSFORMS`, each on the nest as the one before has made it;
those of outer loops come first. What else the pragma says is about the outermost loop; lanes (`simd`), `jam` and
`unroll` stay with the loop over the elements of a tile. The new loops keep their order (`auto` in their clauses).

Raises DependenceError where the operation would reverse a dependence, and PragmaError where the nest has another form.

Requires: `check_bounds` has run. Runs before the passes that change nests without being asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from appyc.analysis.dependences.legality import Legality
from appyc.analysis.dependences.verdicts import Refusal, loop_text
from appyc.errors import DependenceError, Note, PragmaError
from appyc.ir.blocks import nested, perfect_nest
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Clauses, For, Function, Stmt
from appyc.ir.transforms import Transform
from appyc.ir.visit import loops_of, map_loops
from appyc.passes.loop_ops.interchange import interchange, why_not_interchange
from appyc.passes.loop_ops.tile import tile, why_not_tile
from appyc.passes.loop_ops.unroll import unroll, why_not_unroll
from appyc.passes.loop_ops.unroll_and_jam import unroll_and_jam, why_not_unroll_and_jam
from appyc.passes.parallelise.recognise_reductions import recognise_reductions
from appyc.passes.pass_context import PassContext


def apply_transforms(fn: Function, ctx: PassContext) -> Function:
    """The function with the loops as their pragmas ask."""
    while asking := [(n, n.clauses) for n in loops_of(fn.body) if n.clauses and n.clauses.transforms]:
        loop, clauses = asking[0]
        transform, *later = clauses.transforms
        rest = replace(loop, clauses=replace(clauses, transforms=tuple(later)))
        judged = recognise_reductions(fn, ctx)
        request = _Request(fn, rest, transform, ctx.legality(judged), ctx)
        new = {"interchange": request.interchanged, "tile": request.tiled,
               "jam": request.jammed, "unroll": request.unrolled}[transform.name]()  # fmt: skip
        fn = map_loops(fn, lambda n, old=loop, new=new: new if n.var == old.var else n)  # type: ignore[misc]
        ctx.transforms[loop.var] = (*ctx.transforms.get(loop.var, ()), transform)
        ctx.remark(loop.loc, f"{transform} of the {loop_text(loop.var, None)}, as asked")
    return fn


@dataclass(frozen=True, slots=True)
class _Request:
    """One operation on the nest that starts at a loop. legality: of the function with its reductions recognised."""

    fn: Function
    loop: For
    transform: Transform
    legality: Legality
    ctx: PassContext

    @property
    def exact(self) -> bool:
        return self.ctx.options.exact

    def nest(self) -> tuple[For, ...]:
        loops = perfect_nest(self.loop)
        if len(loops) < self.transform.depth:
            self.misfit(
                f"needs {self.transform.depth} loops, each alone in the one around it",
                Note(loops[-1].loc, "the body of this loop is not a single loop"),
            )
        return loops

    def interchanged(self) -> tuple[Stmt, ...]:
        loops = self.nest()[: self.transform.depth]
        names = [loop.var.name for loop in loops]
        if sorted(names) != sorted(self.transform.loops):
            self.misfit(
                f"needs loops over {', '.join(map(repr, self.transform.loops))} here",
                Note(self.loop.loc, "the nest"),
            )
        order = tuple(names.index(name) for name in self.transform.loops)
        self.insist(why_not_interchange(loops, order, self.legality, exact=self.exact))
        own = loops[order[0]].clauses
        marked = tuple(replace(n, clauses=n.clauses or Clauses("auto", loc=n.loc)) for n in loops)
        if own is None:
            mine, first = marked[0], marked[order[0]]
            swap = {mine.var: first.clauses, first.var: mine.clauses}
            marked = tuple(replace(n, clauses=swap.get(n.var, n.clauses)) for n in marked)
        new = interchange(self.fn, marked, order, self.legality)
        if new is None:
            self.misfit(
                "cannot write the bounds of the loops in that order",
                Note(loops[-1].loc, "the innermost loop"),
            )
        return (new,)

    def tiled(self) -> tuple[Stmt, ...]:
        loops = self.nest()[: self.transform.depth]
        self.insist(why_not_tile(loops, self.legality, exact=self.exact))
        new = tile(loops, self.transform.sizes, NameSupply.after(self.fn))
        if new is None:
            self.misfit("cannot write the bounds of the tiles", Note(loops[-1].loc, "the innermost loop"))
        asked = {loop.var: loop.clauses for loop in loops}
        points = loops_of(new)[len(loops) : 2 * len(loops)]
        shares = [_shared(asked[point.var] or Clauses("auto", loc=point.loc)) for point in points]
        clauses = [strip for strip, _ in shares] + [point for _, point in shares]
        nest = perfect_nest(new)
        marked = [replace(loop, clauses=own) for loop, own in zip(nest, clauses, strict=False)]
        return (nested((*marked, *nest[len(clauses) :]), nest[-1].body),)

    def jammed(self) -> tuple[Stmt, ...]:
        loops = self.nest()
        self.insist(why_not_unroll_and_jam(loops, self.legality, exact=self.exact))
        return self.with_rest(unroll_and_jam(loops, self.transform.sizes[0], NameSupply.after(self.fn)))

    def unrolled(self) -> tuple[Stmt, ...]:
        reason = why_not_unroll(self.loop)
        if reason is not None:
            self.misfit(f"needs another loop: {reason}", Note(self.loop.loc, "the loop"))
        return self.with_rest(unroll(self.loop, self.transform.sizes[0], NameSupply.after(self.fn)))

    def with_rest(self, loops: tuple[For, For]) -> tuple[Stmt, ...]:
        """The transformed loop and the loop over the remaining iterations; reports show only the first."""
        pairs = zip(loops_of(loops[1]), loops_of(self.loop), strict=True)
        self.ctx.copies.update((rest.var, loop.var) for rest, loop in pairs)
        return loops

    def insist(self, refusal: Refusal | None) -> None:
        if refusal is not None:
            which = loop_text(self.loop.var, None)
            raise DependenceError(
                f"{self.transform} of the {which} is not legal: {refusal.reason}", self.transform.loc,
                "leave the clause out, or ask for another order or form of the loops",
                label="asked for here", related=refusal.notes,
            )  # fmt: skip

    def misfit(self, needs: str, *notes: Note) -> NoReturn:
        raise PragmaError(f"{self.transform} {needs}", self.transform.loc,
                          "leave the clause out, or move it to a loop that has this form", related=notes)  # fmt: skip


def _shared(clauses: Clauses) -> tuple[Clauses, Clauses]:
    """The clauses of a loop over tiles, and of the loop over the iterations of one."""
    inner = Clauses("auto", transforms=clauses.transforms, loc=clauses.loc)
    outer = replace(clauses, transforms=(), simd=False)
    if clauses.request == "simd":
        return Clauses("auto", loc=clauses.loc), replace(clauses, transforms=clauses.transforms)
    if clauses.simd or clauses.request == "sequential":
        inner = replace(inner, request="simd" if clauses.simd else "sequential")
    return outer, inner
