"""The loops in C do what the loops in Python do, and the benchmark measures them."""

from __future__ import annotations

import ctypes
import math
import shutil
from pathlib import Path

import pytest

from benchmarks import vectorise
from tests.dependences.outcome import all_loops

SIZE = 300


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if shutil.which("gcc") is None:
        pytest.skip("the loops in C are compiled with gcc")
    return vectorise.load_c(Path(tmp_path_factory.mktemp("loops")))


@pytest.mark.sampled
@pytest.mark.parametrize("part", range(4))
def test_both_sides_agree(library: ctypes.CDLL, part: int) -> None:
    for loop in vectorise.measurable(library)[part::12]:
        kernel = vectorise.kernel_of(loop, loop.arguments(SIZE), fastmath=False)
        assert vectorise.Sides(loop, library, kernel, SIZE).results_agree(), loop.name


def test_nearly_every_loop_that_can_run_in_parallel_is_measured(library: ctypes.CDLL) -> None:
    measured = {loop.name for loop in vectorise.measurable(library)}
    wanted = {loop.name for loop in all_loops() if not loop.pragma and loop.may_be_parallel}
    assert len(wanted - measured) <= 12, sorted(wanted - measured)


def test_mean_of_ratios() -> None:
    assert math.isclose(vectorise.geometric_mean([0.5, 2.0, 8.0]), 2.0)
    assert math.isnan(vectorise.geometric_mean([]))


def test_summary_counts_what_runs_in_parallel() -> None:
    rows = [
        vectorise.Row("one", "", "", "sequential", 1.0, 1.0),
        vectorise.Row("two", "", "", "sequential, simd", 4.0, 1.0),
    ]
    found = vectorise.summary(rows)
    assert (found["loops"], found["loops_in_parallel"]) == (2, 1)
    assert math.isclose(found["geometric_mean_in_parallel"], 4.0)
