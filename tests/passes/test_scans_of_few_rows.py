"""Scans in few long rows of a parallel loop: the text, that both versions do the same, and nests that stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Function
from appyc.ir.printer import print_function
from appyc.options import Options
from appyc.passes.gpu.scans_of_few_rows import scans_of_few_rows
from appyc.passes.parallelise import parallel_scan
from appyc.passes.pass_context import PassContext
from tests.e2e.harness import small_chunks
from tests.ir_makers import Program
from tests.lowering import lowered
from tests.printed import run_printed
from tests.triton_gen.source_runner import compare


@pytest.fixture(autouse=True)
def in_small_chunks() -> Iterator[None]:
    with small_chunks():
        yield


def in_versions(fn: Callable[..., object], *args: object) -> tuple[Function, bool]:
    """The function after the pass, and whether that has changed it."""
    context = PassContext(Options(target="gpu"))
    before = pipeline.run(lowered(fn, *args), (*pipeline.SIMPLIFY, *pipeline.ANALYSE), context)
    after = pipeline.run(before, (scans_of_few_rows,), context, verify=True)
    return after, print_function(after) != print_function(before)


def totals(a, s, first):
    for i in range(first, a.shape[0]):
        t = 0.0
        for j in range(1, a.shape[1]):
            t += a[i, j]
            s[i, j] = t


def totals_of_squares(a, s, first):
    for i in range(first, a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            t += a[i, j] * a[i, j]
            s[i, j] = t
        for j in range(a.shape[1]):
            s[i, j] = s[i, j] / t


def from_the_end(a, s, first):
    for i in range(first, a.shape[0]):
        t = float(i)
        for j in range(a.shape[1] - 1, -1, -1):
            t = max(t, a[i, j])
            s[i, j] = t


def triangle(a, s, first):
    for i in range(first, a.shape[0]):
        t = 0.0
        for j in range(min(i, a.shape[1])):
            t += a[i, j]
            s[i, j] = t


def with_a_sum(a, s, first):
    total = 0.0
    for i in range(first, a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            t += a[i, j]
            s[i, j] = t
        total += t
    return total


def without_a_scan(a, s, first):
    for i in range(first, a.shape[0]):
        for j in range(a.shape[1]):
            s[i, j] = a[i, j]


def plane(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(rows).integers(-9, 9, (rows, columns)).astype(float)


@pytest.mark.parametrize("fn", [totals, totals_of_squares, from_the_end], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("shape", [(2, 23), (3, 3), (9, 4), (0, 5), (2, 0), (1, 1)])
def test_both_versions_do_the_same(fn: Callable[..., object], shape: tuple[int, int]) -> None:
    a = plane(*shape)
    program, changed = in_versions(fn, a, np.zeros(shape), 0)
    assert changed
    for first in (0, 1):
        expected, found = np.zeros(shape), np.zeros(shape)
        fn(a, expected, first)
        run_printed(program, a, found, first)
        np.testing.assert_allclose(found, expected)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(2, 23), (9, 4)])
def test_kernels_do_the_same(shape: tuple[int, int]) -> None:
    program = compare(totals, plane(*shape), np.zeros(shape), 0, exact=False, libm=True)
    assert len(program.kernels) == 5  # three for chunks, a row in one program, and rows in parallel


@pytest.mark.parametrize("fn", [triangle, with_a_sum, without_a_scan], ids=lambda fn: fn.__name__)
def test_other_nests_stay(fn: Callable[..., object]) -> None:
    assert not in_versions(fn, plane(4, 5), np.zeros((4, 5)), 0)[1]


def test_large_bodies_are_not_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_scan, "MAX_NODES", 5)
    assert not in_versions(totals, plane(4, 5), np.zeros((4, 5)), 0)[1]


def test_empty_function() -> None:
    fn = Program().function()
    assert scans_of_few_rows(fn, PassContext(Options(target="gpu"))) == fn


def test_text(golden: Callable[[str, str], None]) -> None:
    golden("ir/scans_of_few_rows.txt", print_function(in_versions(totals, plane(2, 3), plane(2, 3), 0)[0]))
