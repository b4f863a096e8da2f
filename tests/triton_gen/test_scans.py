"""Scans on a GPU: chunks are programs, iterations lanes. In the interpreter, and as cubins."""

from __future__ import annotations

import numpy as np
import pytest

from tests.e2e.harness import small_chunks
from tests.programs import scans
from tests.programs.registry import floats
from tests.triton_gen.source_runner import compare, program_of

ON_STACK = True
"""For sm_80 ptxas puts 8 bytes of some scans on the stack, at 32 registers and with nothing spilled."""


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (scans.running_total, (floats(41), np.zeros(41))),
        (scans.smoothed, (floats(41), np.zeros(41), 0.25)),
        (scans.linear, (floats(41) / 2.01, floats(41, seed=1), np.zeros(41))),
        (scans.packed_pairs, (floats(41), np.zeros(82), np.zeros(82, np.int64))),
        (scans.largest_of_the_running_total, (floats(41), np.zeros(41))),
        (scans.totals_row_after_row, (floats(9, 13), np.zeros((9, 13)))),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_chunks_are_programs(fn, args):
    with small_chunks():
        program = compare(fn, *args, exact=False, libm=ON_STACK)
    # Of the chunks' steps, of what links the chunks, of the chunks, and the loop as it was.
    assert len(program.kernels) >= 4


def test_what_links_the_chunks_stays_on_the_device():
    with small_chunks():
        host = program_of(scans.running_total, floats(41), np.zeros(41)).host
    chunked = host.partition("for round in")[2].partition("else:")[0]
    assert chunked.count("rt.read(") == 1  # the total, which the function returns


def test_a_recurrence_of_floats_that_may_grow_runs_in_order():
    with small_chunks():
        text = program_of(scans.linear, floats(9), floats(9), np.zeros(9)).text
    *_, in_order = [part for part in text.split("@triton.jit") if "def linear" in part]
    assert "associative_scan" not in in_order
    assert "largest" in text


def test_complex_numbers_run_in_order_and_it_is_said():
    args = (floats(9) + 1j, np.zeros(9, complex))
    program = compare(scans.running_complex_total, *args, exact=False, libm=ON_STACK)
    assert "associative_scan" not in program.text
