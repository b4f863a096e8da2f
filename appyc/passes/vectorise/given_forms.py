"""The form of a loop as a given schedule has it: other numbers of copies, or a form left out.

`choose_forms` finds the form that a loop can have; the words of the loop's lines change it within that. Words that fit
no form change nothing: `compiler/given_schedule.py` compares what results with what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from appyc.ir import schedule as forms
from appyc.ir.nodes import Symbol

MOST = 64
"""The largest number of copies of a body."""

Asked = Mapping[Symbol, frozenset[str]]


def given_form(loop: Symbol, form: forms.Form | None, asked: Asked) -> forms.Form | None:
    """The form of a loop with the numbers that are asked for; None where its word is not there."""
    match form:
        case forms.OuterLanes() | forms.Dots():
            return _jammed(form, asked)
        case _ if form is None or loop not in asked:
            return form
    words = asked[loop]
    match form:
        case forms.Simd() | forms.Accumulators() | forms.EarlyExitLanes() if "lanes" in words:
            count = _numbers("accumulators", words)
            if isinstance(form, forms.Accumulators) and count:
                return forms.Accumulators(count[0])
            return form if isinstance(form, forms.EarlyExitLanes) and "early exit" in words else forms.Simd()
        case forms.Interleaved() if count := _numbers("interleave", words):
            return forms.Interleaved(count[0])
        case forms.Compaction() if "compaction" in words:
            return form
        case forms.Guarded() if "guarded" in words:
            return form
    return None


def without_dropped(loop: Symbol, found: forms.LoopSchedule, asked: Asked) -> forms.LoopSchedule:
    """The schedule of a loop without the optional parts that its line of the given schedule omits, such as
    non-temporal stores and the limit below which iterations run in order."""
    words = asked.get(loop)
    if words is None:
        return found
    if not any(word.startswith("nontemporal") for word in words):
        found = replace(found, nontemporal=())
    found = replace(found, flat_at_one=found.flat_at_one and "flat at one" in words)
    if not any(word.startswith("packed") for word in words):
        found = replace(found, packed=())
    below = _numbers("in order below", words) if found.in_order_below else []
    return replace(found, in_order_below=below[0] if below else 0)


def _jammed(form: forms.OuterLanes | forms.Dots, asked: Asked) -> forms.OuterLanes | forms.Dots | None:
    if isinstance(form, forms.OuterLanes) and (words := asked.get(form.lanes)) is not None:
        strip = _numbers("strip", words)
        if not strip:
            return None
        form = replace(form, groups=(strip[0], *(g for g in form.groups if g < strip[0])))
    if isinstance(form, forms.Dots) and (words := asked.get(form.columns)) is not None:
        block = _numbers("jam", words)
        if not block:
            return None
        form = replace(form, block=block[0])
    if form.rows is not None and (words := asked.get(form.rows)) is not None:
        counts = _numbers("jam", words)
        if not counts:
            return None
        form = replace(form, counts=(counts[0], counts[-1]))
    return form


def _numbers(word: str, words: frozenset[str]) -> list[int]:
    """The numbers behind a word; none where it is not there, or one is too large."""
    found = next((w for w in words if w.startswith(word)), "")
    numbers = [int(number) for number in re.findall(r"\d+", found)]
    return numbers if all(0 < number <= MOST for number in numbers) else []
