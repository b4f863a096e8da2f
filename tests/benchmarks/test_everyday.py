"""The programs of four benchmarks give what they give in Python."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import appyc
from benchmarks import everyday, library_in_loops, plain_data, short_loops
from tests.e2e.harness import compare_values


@pytest.mark.sampled
@pytest.mark.parametrize(
    "program",
    [*everyday.PROGRAMS, *library_in_loops.PROGRAMS, *plain_data.PROGRAMS, *short_loops.PROGRAMS],
    ids=lambda program: program.name,
)
def test_results(program):
    given = program.arguments()
    own = copy.deepcopy(given)
    with np.errstate(over="ignore"):
        expected = program.function(*given)
    found = appyc.jit(program.function, strict=True, cache=False)(*own)
    compare_values(expected, found, "result")
    compare_values(given, own, "arguments")
