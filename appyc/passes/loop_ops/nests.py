"""Perfect nests, and what a gate answers where it refuses to change the order of their iterations."""

from __future__ import annotations

from collections.abc import Callable

from appyc.analysis.dependences.bands import MAX_LOOPS, Band, Direction, band_of
from appyc.analysis.dependences.legality import Legality, meeting_text, notes_of
from appyc.analysis.dependences.verdicts import Refusal
from appyc.errors import Note
from appyc.ir.blocks import has_own
from appyc.ir.nodes import Alloc, Break, For, Load, While
from appyc.ir.raising import raises_itself
from appyc.ir.visit import contains, scalars_read, scalars_written, walk


def why_not_permute(loops: tuple[For, ...], legality: Legality, *, exact: bool) -> Refusal | None:
    """The reason, apart from array dependences, why the iterations of a nest cannot be permuted; None where
    there is none. exact: sums keep their order."""
    body = loops[-1].body
    bounds = [bound for loop in loops for bound in loop.bounds]
    if contains(bounds, Load) or scalars_read(bounds) & scalars_written(body):
        return Refusal("a bound of the loops changes while they run, or is an element of an array")
    if has_own(body, Break):
        return Refusal("the innermost loop may end early")
    for node in walk((*bounds, *body)):
        if isinstance(node, Alloc | While):
            what = "makes an array" if isinstance(node, Alloc) else "has a `while` loop"
            return Refusal(f"an iteration {what}", (Note(node.loc, "here"),))
        if raises_itself(node):
            return Refusal("an iteration may raise an exception", (Note(node.loc, "here"),))
    scalars = legality.scalars[loops[0].var]
    for scalar in scalars.carried:
        return Refusal(
            f"the value of '{scalar.symbol.name}' is carried from one iteration to the next",
            (Note(scalar.write, "it is assigned here"),),
        )
    if scalars.last:
        return Refusal(f"the last value of '{scalars.last[0].name}' is used after the loops")
    for reduction in scalars.reductions if exact else ():
        if is_rounding(reduction.op, reduction.symbol.dtype.is_integer):
            return Refusal(f"with exact=True the sum in '{reduction.symbol.name}' keeps its order")
    return None


def is_rounding(op: str, is_integer: bool) -> bool:
    """Whether another order of the operands may change the last bits."""
    return op in ("+", "*") and not is_integer


def keeps_sums(band: Band) -> bool:
    """Whether the iterations combine floats into elements, which another order rounds differently."""
    sources = [direction.conflict.source for direction in band.directions]
    return any(is_rounding(source.op, source.array.dtype.is_integer) for source in sources)


def why_not_reorder(
    loops: tuple[For, ...], legality: Legality, breaks: Callable[[Direction], bool], *, exact: bool
) -> Refusal | None:
    """The reason why the iterations of a nest cannot be reordered; None where they can. breaks: whether the
    new order reverses a dependence of this direction."""
    if len(loops) > MAX_LOOPS:
        return Refusal(
            f"the directions of dependences are found for up to {MAX_LOOPS} loops, not {len(loops)}"
        )
    refusal = why_not_permute(loops, legality, exact=exact)
    if refusal is not None:
        return refusal
    band = band_of(legality, loops)
    if band is None:
        return Refusal(
            "it could not be found in which directions the dependences between its iterations lead"
        )
    ordered = exact and keeps_sums(band)
    for direction in band.directions:
        if breaks(direction) and (ordered or direction.conflict.kind != "reduction"):
            conflict = direction.conflict
            text = meeting_text(conflict, legality.dependences.witness(conflict))
            return Refusal(f"it would reverse a dependence: {text}", notes_of(conflict))
    return None
