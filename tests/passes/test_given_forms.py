"""Forms of loops as a given schedule asks for them: other counts, forms left out, and words that fit none."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.ir.schedule import (
    Accumulators,
    Compaction,
    Dots,
    EarlyExitLanes,
    Form,
    Guarded,
    Interleaved,
    LoopSchedule,
    OuterLanes,
    Simd,
)
from appyc.ir.types import DType
from appyc.passes.vectorise.given_forms import MOST, given_form, without_dropped
from tests.ir_makers import Program

p = Program()
i, j, k, out = p.index("i"), p.index("j"), p.index("k"), p.array("out", 1)
LANES = OuterLanes(j, DType.FLOAT64, (), (), (3, 2, 1), (), rows=i, counts=(8, 4))
DOTS = Dots(j, (k,), (), 4, rows=i, counts=(2, 1))


def asked(form: Form | None, **lines: set[str]) -> Form | None:
    """The form of loop `i`, with the words of some loops' lines."""
    words = {symbol: frozenset(lines[symbol.name]) for symbol in (i, j, k) if symbol.name in lines}
    return given_form(i, form, words)


@pytest.mark.parametrize(
    ("form", "words", "wanted"),
    [
        (Simd(), {"lanes"}, Simd()),
        (Simd(), {"serial"}, None),
        (Accumulators(4), {"lanes", "accumulators 2"}, Accumulators(2)),
        (Accumulators(4), {"lanes"}, Simd()),
        (EarlyExitLanes(), {"lanes", "early exit"}, EarlyExitLanes()),
        (EarlyExitLanes(), {"lanes"}, Simd()),
        (Interleaved(4), {"interleave 2"}, Interleaved(2)),
        (Interleaved(4), {"threads"}, None),
        (Interleaved(4), {f"interleave {MOST + 1}"}, None),
        (Compaction(), {"compaction"}, Compaction()),
        (Guarded((), True), {"guarded"}, Guarded((), True)),
        (Guarded((), True), {"lanes"}, None),
    ],
)
def test_words_of_the_loop_s_line(form: Form, words: set[str], wanted: Form | None) -> None:
    assert asked(form, i=words) == wanted


def test_a_loop_without_a_line_keeps_its_form() -> None:
    assert asked(Simd(), j={"serial"}) == Simd()
    assert asked(None, i={"lanes"}) is None


def test_lines_of_loops_in_a_jammed_nest() -> None:
    assert asked(LANES, j={"strip of 2 vectors"}) == OuterLanes(
        j, DType.FLOAT64, (), (), (2, 1), (), rows=i, counts=(8, 4)
    )
    assert asked(LANES, i={"jam 6 or 2"}) == OuterLanes(
        j, DType.FLOAT64, (), (), (3, 2, 1), (), rows=i, counts=(6, 2)
    )
    assert asked(LANES, j={"serial"}) is None
    assert asked(LANES, i={"serial"}) is None
    assert asked(DOTS, j={"jam 2"}, i={"jam 3"}) == Dots(j, (k,), (), 2, rows=i, counts=(3, 3))
    assert asked(DOTS, j={"threads"}) is None


def test_what_a_line_leaves_out_is_not_done() -> None:
    found = LoopSchedule(
        form=Simd(), nontemporal=(out,), in_order_below=16, flat_at_one=True, packed=((out, 3),)
    )
    assert without_dropped(i, found, {}) == found
    assert without_dropped(i, found, {i: frozenset({"lanes"})}) == LoopSchedule(form=Simd())
    some = frozenset({"lanes", "nontemporal out", "flat at one", "in order below 8", "packed out 3"})
    assert without_dropped(i, found, {i: some}) == LoopSchedule(
        form=Simd(), nontemporal=(out,), in_order_below=8, flat_at_one=True, packed=((out, 3),)
    )


def test_a_form_that_was_not_found_is_not_made() -> None:
    assert without_dropped(i, LoopSchedule(), {i: frozenset({"flat at one"})}) == LoopSchedule()


def test_a_schedule_with_other_counts_gives_the_same() -> None:
    def least(x):
        return x.min()

    x = np.random.default_rng(2).random(150)
    shown = appyc.jit(cache=False, target="cpu")(least).source("schedule", x)
    edited = shown.replace("accumulators 4", "accumulators 2")
    assert edited != shown
    changed = appyc.jit(cache=False, target="cpu", schedule=edited)(least)
    assert changed(x) == x.min()
    assert "accumulators 2" in changed.source("schedule", x)
