"""Diagnosis of a call that a dependence guard or inspector refused: the iterations that conflict, with values.

    DependenceError: loop over 'i' carries a dependence where k = 3 and a.shape[0] = 100:
    iteration i=0 reads a[3], iteration i=3 writes a[3]

The test itself (a guard's condition, an inspector) only finds that some iterations conflict. After
it has failed, the dependences are solved again for the values of these arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appyc.analysis.dependences.legality import Legality, gravity, meeting_text, notes_of
from appyc.analysis.dependences.verdicts import LoopVerdict, iteration_text, loop_text
from appyc.analysis.sets.evaluate import NOWHERE, element_of, evaluate, indices_of
from appyc.compiler.analyse import Analysed
from appyc.errors import DependenceError
from appyc.ir.nodes import Apart, Ascending, Extent, Fail, For, Function, If, IterationIndex, Node, Symbol
from appyc.ir.printer import print_expr
from appyc.ir.visit import loops_of, rewrite, walk
from appyc.runtime.faults import WITHOUT_PRAGMA
from appyc.runtime.frame import flat_values


def second_look(error: DependenceError, analysed: Analysed, values: Sequence[object]) -> DependenceError:
    """The error with the conflicting iterations, or unchanged where these cannot be found.

    values: of the call, in the order of `analysed.arguments`. The arrays have the contents
    that the test saw, since it raised before the loop.
    """
    function = rewrite(analysed.function, _without_refusal)
    known: dict[Symbol, Any] = dict(
        zip(function.params, flat_values(analysed.arguments, values), strict=True)
    )
    for loop in loops_of(function.body):
        if loop.clauses is None or loop.clauses.loc != error.loc:
            continue
        verdict = analysed.context.verdicts.get(loop.var)
        if verdict is None or verdict.guard is None:
            continue
        looks = any(isinstance(n, Apart | Ascending) for n in walk(verdict.guard))
        found = _by_index(loop, verdict, known) if looks else _meeting(function, loop, verdict, known)
        if found is not None:
            return DependenceError(
                found.summary, error.loc, *found.hints, label=error.label, related=found.related
            )
    return error


def _without_refusal(node: Node) -> Node | tuple[Node, ...]:
    """Deletes the refusing tests: under their conditions, no iterations would conflict."""
    match node:
        case If(then=(Fail(error=DependenceError.__name__),)):
            return ()
        case _:
            return node


def _meeting(
    function: Function, loop: For, verdict: LoopVerdict, known: Mapping[Symbol, Any]
) -> DependenceError | None:
    """The first conflict that exists with these arguments, most serious kinds first."""
    dependences = Legality.of(function).dependences
    names = dependences.found.affine.names
    origins = {name: entry.origin for name, entry in names.items() if entry.origin is not None}
    numbers: dict[str, int] = {}
    for name, origin in origins.items():
        with suppress(LookupError):  # a value of the loop, or of what is not evaluated here
            numbers[name] = int(evaluate(origin, known))
    for conflict in sorted(dependences.conflicts(loop), key=gravity):
        if conflict.instances is None:
            continue
        used = [n for n in dependences.sets.names(conflict.instances) if n in origins]
        if not numbers.keys() >= set(used):
            continue
        witness = dependences.meeting(conflict, numbers)
        if witness is not None:
            values = [f"{print_expr(origins[n])} = {numbers[n]}" for n in used]
            hints = []
            if verdict.condition is not None:
                hints.append(f"the iterations are independent if {verdict.condition}")
            if conflict.kind == "anti":
                hints.append(f"write into another array than '{conflict.source.array.name}'")
            return DependenceError(
                f"{loop_text(loop.var, loop.clauses)} carries a dependence{_where(values)}: "
                f"{meeting_text(conflict, witness)}",
                loop.loc,
                *hints,
                WITHOUT_PRAGMA,
                related=notes_of(conflict),
            )
    return None


def _where(values: list[str]) -> str:
    if not values:
        return ""
    *others, last = values
    return f" where {', '.join(others)}{' and ' if others else ''}{last}"


# ---------------------------------------------------------------- index arrays


@dataclass(frozen=True, slots=True)
class _Touch:
    """One access to an axis of an array, evaluated for all iterations of a loop.

    indices: the index on the axis in each iteration, the axis's extent where there is none. source: the index array's
    name, "" for the loop's variable itself. elements: the index into the index array in each iteration.
    """

    indices: NDArray[np.int64]
    source: str
    elements: NDArray[np.int64]

    def said(self, k: int) -> str:
        """`idx[4]`, of the k-th iteration."""
        return f"{self.source}[{self.elements[k]}]"


def _by_index(loop: For, verdict: LoopVerdict, known: Mapping[Symbol, Any]) -> DependenceError | None:
    """The conflict between two iterations through an index array, with its elements."""
    looks = [n for n in walk(verdict.guard or ()) if isinstance(n, Apart | Ascending)]
    for look in looks:
        try:
            found = _twice(loop, look, known) if isinstance(look, Apart) else _descent(loop, look, known)
        except LookupError:
            continue  # bounds that the function computed itself
        if found is not None:
            hints = (_DISTINCT if isinstance(look, Apart) else _SORTED, WITHOUT_PRAGMA)
            return DependenceError(found, loop.loc, *hints, related=verdict.notes)
    return None


_DISTINCT = (
    "where several iterations belong to one element, let one iteration do them all, "
    "or add up under `#pragma atomic`"
)
_SORTED = "sort the segments, so that each one begins where the one before it ends"


def _twice(loop: For, look: Apart, known: Mapping[Symbol, Any]) -> str | None:
    assert isinstance(look.extent, Extent)
    array, axis = look.extent.array, look.extent.axis
    extent = int(evaluate(look.extent, known))
    lo, hi = (int(evaluate(bound, known)) for bound in (look.lo, look.hi))
    at = np.arange(lo, hi, look.step)
    writes = [_touch(p, at, extent, known) for p in look.writes]
    reads = [_touch(p, at, extent, known) for p in look.reads]
    owner = np.full(extent + 1, -1)
    for touch in writes:
        # Of several iterations that write an element, the first one owns it.
        np.maximum.at(owner, touch.indices, len(at) - 1 - np.arange(len(at)))
    owner = np.where(owner < 0, -1, len(at) - 1 - owner)
    for deed, touches in (("writes", writes), ("reads", reads)):
        for touch in touches:
            owners = owner[touch.indices]
            meet = (touch.indices < extent) & (owners >= 0) & (owners != np.arange(len(at)))
            if meet.any():
                second = int(meet.argmax())
                first, index = int(owners[second]), int(touch.indices[second])
                other = next(w for w in writes if w.indices[first] == index)
                element = ", ".join(str(index) if n == axis else ":" for n in range(array.array.ndim))
                return (
                    f"{loop_text(loop.var, loop.clauses)} carries a dependence: {_both(other, first, touch, second)}"
                    f"{iteration_text(loop, at[first])} writes {array.name}[{element}], "
                    f"{iteration_text(loop, at[second])} {deed} {array.name}[{element}]"
                )
    return None


def _touch(
    touched: IterationIndex, at: NDArray[np.int64], extent: int, known: Mapping[Symbol, Any]
) -> _Touch:
    elements = at + int(evaluate(touched.offset, known))
    if touched.array is None:
        return _Touch(_or_extent(elements, extent), "", elements)
    values = element_of(known[touched.array], [elements])
    length = known[touched.array].shape[0]
    return _Touch(
        _or_extent(values, extent), touched.array.name, np.where(elements < 0, elements + length, elements)
    )


def _or_extent(values: Any, extent: int) -> NDArray[np.int64]:
    indices = indices_of(values, extent)
    return np.where(indices == NOWHERE, extent, indices)


def _both(first: _Touch, k: int, second: _Touch, m: int) -> str:
    """`idx[4] and idx[17] are both 9, so `, or what one of them is."""
    if first.source and second.source:
        return f"{first.said(k)} and {second.said(m)} are both {first.indices[k]}, so "
    touch, n = (first, k) if first.source else (second, m)
    return f"{touch.said(n)} is {touch.indices[n]}, so " if touch.source else ""


def _descent(loop: For, look: Ascending, known: Mapping[Symbol, Any]) -> str | None:
    lo, hi = (int(evaluate(bound, known)) for bound in (look.lo, look.hi))
    name = look.array.name
    said = f"{loop_text(loop.var, loop.clauses)} may carry a dependence: its segments overlap where "
    if lo < 0:
        return f"{said}'{name}' is read from its end"
    values = np.asarray(element_of(known[look.array], [np.arange(lo, hi + 1)]))
    if len(values) and NOWHERE < values[0] < 0:
        return f"{said}{name}[{lo}] = {values[0]} counts from the end"
    falls = (values[1:] < values[:-1]) & (values[1:] != NOWHERE)
    if not falls.any():
        return None
    k = int(falls.argmax())
    return f"{said}{name}[{lo + k}] = {values[k]} and {name}[{lo + k + 1}] = {values[k + 1]} descend"
