"""Loops that became one are one kernel: in the interpreter, and as cubins."""

from __future__ import annotations

import numpy as np
import pytest

from tests.test_traffic import axpy_chain, layer_norm, nine_points, softmax, sum_and_squares, unused_work
from tests.triton_gen.source_runner import compare

LINE, PLANE = np.linspace(0.0, 1.0, 37), np.linspace(-1.0, 1.0, 7 * 11).reshape(7, 11)
ROW = np.linspace(1.0, 2.0, 11)

# function, arguments, kernels
CASES = [
    (axpy_chain, (2.0, LINE, LINE.copy(), LINE.copy()), 1),
    (unused_work, (LINE, LINE.copy()), 1),
    (nine_points, (PLANE, PLANE.copy()), 2),  # by the length of rows
    (sum_and_squares, (LINE,), 3),  # parts of both sums, and for each the parts together
    (softmax, (PLANE, PLANE.copy()), 3),  # by the length of rows
    (layer_norm, (PLANE, ROW, ROW.copy(), PLANE.copy()), 3),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("fn", "args", "kernels"), CASES, ids=[case[0].__name__ for case in CASES])
def test_kernels_of_a_group(fn, args, kernels):
    program = compare(fn, *args, exact=False, libm=fn is softmax)
    assert len(program.kernels) == kernels, program.text
