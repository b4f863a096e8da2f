"""Scans on a GPU: chunks are programs, iterations lanes. In the interpreter, and as cubins."""

from __future__ import annotations

import numpy as np
import pytest

from tests.e2e.harness import small_chunks
from tests.programs import scans
from tests.programs.registry import bools, floats, ints
from tests.triton_gen.source_runner import compare, program_of

N = 1500
"""Several strips of lanes in a chunk of the usual size, and a part of one."""

ON_STACK = True
"""For sm_80 ptxas puts 8 bytes of some scans on the stack, at 32 registers and with nothing spilled."""


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (scans.running_total, (floats(N), np.zeros(N))),
        (scans.running_total, (ints(N), np.zeros(N, np.int64))),
        (scans.running_extremes, (floats(N), np.zeros(N), np.zeros(N))),
        (scans.running_extremes, (np.where(floats(N) > 0.6, np.nan, floats(N)), np.zeros(N), np.zeros(N))),
        (scans.running_extremes, (np.where(np.arange(N) == 0, np.nan, 1.0), np.zeros(N), np.zeros(N))),
        (scans.running_total_before_it_is_added_to, (floats(N), np.zeros(N))),
        (scans.running_total_before_it_is_added_to, (floats(1024), np.zeros(1024))),
        (scans.linear, (ints(N, dtype=np.int8), ints(N, dtype=np.int8, seed=1), np.zeros(N, np.int8))),
        (scans.packed_after_the_step, (floats(N), np.zeros(N + 1), 1)),
        (scans.running_parity, (ints(N, lo=0), np.zeros(N, np.int64))),
        (scans.all_and_any_up_to_here, (bools(N), np.zeros(N, bool), np.zeros(N, bool))),
        (scans.total_in_place, (floats(N),)),
        (scans.linear, (ints(N), ints(N, seed=1), np.zeros(N, np.int64))),
        (scans.length_of_the_row, (ints(N), np.zeros(N, np.int64))),
        (scans.packed, (floats(N), np.zeros(N))),
        (scans.split, (floats(N), np.zeros(N), np.zeros(N))),
        (scans.unpacked, (floats(N), floats(N, seed=1), np.zeros(N))),
        (scans.totals_of_rows, (floats(3, 600), np.zeros((3, 600)))),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_lanes_of_one_program(fn, args):
    """Too short for chunks: one program runs the loop, in strips of lanes."""
    program = compare(fn, *args, exact=False, libm=ON_STACK)
    assert "tl.associative_scan" in program.text


@pytest.mark.parametrize(
    ("fn", "args", "recomputed"),
    [
        (scans.running_total, (floats(9), np.zeros(9)), False),
        (scans.length_of_the_row, (ints(9), np.zeros(9, np.int64)), False),
        (scans.packed, (floats(9), np.zeros(9)), False),
        (scans.running_total_before_it_is_added_to, (floats(9), np.zeros(9)), True),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_the_iteration_before_is_recomputed_only_where_a_step_cannot_be_undone(fn, args, recomputed):
    assert ("follows" in program_of(fn, *args).kernels[-1].text) == recomputed


def test_a_loop_that_reads_after_the_step_adds_once():
    text = program_of(scans.running_total, floats(9), np.zeros(9)).kernels[-1].text
    assert text.count("tl.load(x") == 1


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
