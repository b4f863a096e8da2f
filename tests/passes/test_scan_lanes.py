"""Scans in the lanes of a program: what a lane starts from, and that nothing is read behind a statement that raised."""

from __future__ import annotations

import numpy as np
import pytest

from tests.programs import scans
from tests.programs.registry import bools, floats, ints
from tests.triton_gen.source_runner import compare, program_of

N = 1500
"""Several strips of lanes, and a part of one."""

ON_STACK = True
"""For sm_80 ptxas puts 8 bytes of some scans on the stack, at 32 registers and with nothing spilled."""


def test_text(golden):
    of_reals = program_of(scans.running_total, floats(9), np.zeros(9)).kernels[-1].text
    of_integers = program_of(scans.length_of_the_row, ints(9), np.zeros(9, np.int64)).kernels[-1].text
    undone = program_of(scans.packed, floats(9), np.zeros(9)).kernels[-1].text
    before = program_of(scans.running_total_before_it_is_added_to, floats(9), np.zeros(9)).kernels[-1].text
    golden("triton_scan_lanes.txt", "\n".join((of_reals, of_integers, undone, before)))


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


def rows_that_are_checked(rows, x, out):
    # pragma parallel for
    for i in range(rows.shape[0]):
        row = rows[i]
        if row < 0 or row >= x.shape[0]:
            raise ValueError("no such row")
        t = 0.0
        for j in range(x.shape[1]):
            t += x[row, j]
            out[i, j] = t


def test_no_step_reads_behind_a_test_that_raised():
    args = np.array([0, 1, 1]), np.ones((3, 4)), np.zeros((3, 4))
    program = compare(rows_that_are_checked, *args, build=False)
    (text,) = (
        kernel.text
        for kernel in program.kernels
        if "record_fault" in kernel.text and "tl.load(x" in kernel.text
    )
    loads = [line for line in text.splitlines() if "tl.load(x" in line]
    assert loads
    assert all("mask=(inside & (~raises))" in line for line in loads)


def test_a_loop_with_one_step_per_iteration_has_no_scan():
    def total(x):
        t = 0.0
        for i in range(x.shape[0]):
            t += x[i]
        return t

    assert "associative_scan" not in program_of(total, floats(9)).text
