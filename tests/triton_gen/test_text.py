"""The generated text, pinned whole: what a reader of `.source("triton")` sees."""

from __future__ import annotations

import numpy as np
import pytest

from tests.triton_gen.source_runner import program_of
from tests.triton_gen.test_programs import CASES, ROUNDED

NAMES = ("gemm", "total", "jacobi", "gather", "triangle", "mandelbrot")


@pytest.mark.parametrize("name", NAMES)
def test_text_is_the_golden_one(name, golden):
    fn, args = {**CASES, **ROUNDED}[name]
    golden(f"triton_{name}.txt", program_of(fn, *args).text)


def test_text_does_not_depend_on_extents_or_on_the_run():
    fn, _ = ROUNDED["gemm"]
    small = [1.0, 1.0, *(np.ones((2, 2)) for _ in range(3))]
    large = [1.0, 1.0, *(np.ones((5, 5)) for _ in range(3))]
    assert program_of(fn, *small).text == program_of(fn, *large).text
