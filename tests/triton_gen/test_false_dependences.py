"""Private and renamed arrays on a GPU: slices of scratch arrays, copies, in the interpreter and as cubins."""

import copy
from unittest import mock

import numpy as np
import pytest

from appyc.runtime.triton_interpret import interpret
from tests.programs import false_dependences as programs
from tests.triton_gen.source_runner import compare, program_of

RNG = np.random.default_rng(3)


def a(*shape):
    return RNG.random(shape)


CASES = {
    "row": (programs.scratch_row, [a(5, 300), a(5, 300), a(300)]),
    "triangle": (programs.triangular_scratch, [a(9, 9), a(9, 9), a(12)]),
    "added to": (programs.scratch_that_is_added_to, [a(6, 5), a(6), a(4)]),
    "complex": (programs.scratch_of_complex_numbers, [a(4, 150) + 1j, a(4, 150) * 1j, a(150) * 1j]),
    "moving": (programs.a_block_that_moves, [a(9, 8), a(9), a(20)]),
    "next": (programs.doubles_the_next, [a(300)]),
    "rows": (programs.each_row_from_the_next, [a(6, 150)]),
    "pairs": (programs.pairs_into_one, [a(200), a(399)]),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_as_in_python(name):
    fn, args = CASES[name]
    program = compare(fn, *args, exact=False)
    assert "rt.launch" in program.text


def test_rows_are_programs_of_their_own():
    text = program_of(programs.scratch_row, *CASES["row"][1]).text
    assert "t_own = rt.array((held, t_own_size)" in text


def test_iterations_run_in_parts_where_memory_is_short():
    fn, args = CASES["row"]
    with mock.patch("appyc.passes.gpu.expand_allocations.ROOM", 2 * 300 * 8):
        program = program_of(fn, *args)
    ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
    interpret(program)(ours)
    fn(*theirs)
    for mine, python in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, python)
