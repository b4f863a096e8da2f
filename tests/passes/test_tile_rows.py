"""Programs of a GPU that compute several rows: which nests, and that every edge of a tile is right."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appyc import pipeline
from appyc.ir.nodes import Function
from appyc.ir.printer import print_function
from appyc.ir.visit import loops_of
from appyc.options import Options
from appyc.passes.gpu.tile_rows import tile_rows
from appyc.passes.pass_context import PassContext
from tests.lowering import lowered
from tests.triton_gen.source_runner import compare


@pytest.fixture(autouse=True)
def small_nests_are_tiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appyc.passes.gpu.tile_rows.ENOUGH", 0)


def tiled(fn: Callable[..., Any], *args: object) -> tuple[Function, PassContext]:
    context = PassContext(Options(target="gpu"))
    passes = (*pipeline.SIMPLIFY, *pipeline.ANALYSE, *pipeline.FOR_GPU)
    return pipeline.run(lowered(fn, *args), passes, context, verify=True), context


def rows_each(fn: Callable[..., Any], *args: object) -> list[int]:
    function, _ = tiled(fn, *args)
    return [function.schedule[loop.var].rows_each for loop in loops_of(function.body)][:1]


def five_points(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = a[i, j] - (a[i - 1, j] + a[i + 1, j]) + a[i, j - 1] * a[i, j + 1]


def seven_points(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for k in range(1, a.shape[2] - 1):
                t = a[i - 1, j, k] + a[i + 1, j, k]
                b[i, j, k] = (
                    t * a[i, j - 1, k] + a[i, j + 1, k] * a[i, j, k - 1] - a[i, j, k + 1] + a[i, j, k]
                )


def second_rows(a, b):
    for i in range(2, a.shape[0], 2):
        for j in range(a.shape[1]):
            b[i, j] -= a[i, j] - a[i - 2, j]


def chosen(a, b, c):
    """What only some lanes load stays where it is."""
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] + a[i - 1, j] * (c[i, j] if a[i, j] > 0.5 else 2.0)


def limited(a, b):
    """Values of scalars that conditions decide: in one arm, in both, and one within another."""
    for i in range(2, a.shape[0] - 2):
        for j in range(a.shape[1]):
            up = a[i - 1, j] - a[i - 2, j]
            if up * (a[i + 1, j] - a[i, j]) > 0.0:
                up = 0.0
            if a[i + 2, j] > 0.7:
                down = a[i + 2, j]
            elif a[i + 2, j] > 0.3:
                down = 0.5 * up
            else:
                down = a[i, j]
            b[i, j] = up + down


def some_rows(a, b):
    """A condition that decides what is stored."""
    for i in range(1, a.shape[0] - 1):
        for j in range(a.shape[1]):
            if a[i, j] > 0.5:
                b[i, j] = a[i - 1, j] + a[i + 1, j]


def stored_inside(a, b, c):
    """A condition that decides the value of a scalar, and what is stored."""
    for i in range(2, a.shape[0] - 2):
        for j in range(a.shape[1]):
            t = a[i - 1, j] - a[i - 2, j]
            if a[i + 1, j] > 0.3:
                t = a[i + 2, j]
                if a[i, j] > 0.5:
                    c[i, j] = 1.0
            b[i, j] = t + a[i, j]


def one_row(a, b):
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = a[i, j - 1] + a[i, j + 1]


def in_place(a, b):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] + b[i, j]


def rank_two(a, b, x, y):
    """Rows that share what they load, and update an element twice."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += b[i, 0] * x[0, j]
            a[i, j] += b[i, 1] * y[0, j]


def asked(a, b):
    # pragma parallel for
    for i in range(1, a.shape[0] - 1):
        # pragma parallel for block(64)
        for j in range(a.shape[1]):
            b[i, j] = a[i - 1, j] + a[i + 1, j]


def squares(*shape: int, arrays: int = 2) -> list[np.ndarray]:
    return list(np.random.default_rng(5).random((arrays, *shape)))


def test_text(golden: Callable[[str, str], None]) -> None:
    def blur(a, b):
        for i in range(1, a.shape[0] - 1):
            for j in range(a.shape[1]):
                b[i, j] = a[i - 1, j] + a[i + 1, j]

    function, context = tiled(blur, *squares(4, 4))
    golden("ir/tile_rows.txt", print_function(function))
    assert any("neighbouring rows" in remark.text for remark in context.remarks)


@pytest.mark.parametrize(
    ("fn", "args", "rows"),
    [
        (five_points, squares(4, 4), 8),
        (second_rows, squares(4, 4), 8),
        (seven_points, squares(4, 4, 4), 64),
        (limited, squares(6, 4), 8),
        (some_rows, squares(4, 4), 1),
        (stored_inside, squares(6, 4, arrays=3), 1),
        (one_row, squares(4, 4), 1),
        (in_place, squares(4, 4), 1),
        (rank_two, squares(4, 4, arrays=4), 8),
        (asked, squares(4, 4), 1),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_rows_of_a_program(fn: Callable[..., Any], args: list[np.ndarray], rows: int) -> None:
    assert rows_each(fn, *args) == [rows]


def test_without_parallel_loops_nothing_changes() -> None:
    def nothing(a):
        return a.shape[0]

    fn, context = tiled(nothing, np.zeros(3))
    assert tile_rows(fn, context) is fn


@pytest.mark.sampled
@pytest.mark.parametrize("columns", [1, 2, 5, 130, 300])
@pytest.mark.parametrize("rows", [2, 3, 9, 10, 11, 18])
def test_edges(rows: int, columns: int) -> None:
    compare(five_points, *squares(rows, columns), build=False)


@pytest.mark.parametrize("shape", [(5, 3), (13, 70), (20, 130)])
def test_edges_of_rows_with_conditions(shape: tuple[int, int]) -> None:
    compare(limited, *squares(*shape), build=False)
    compare(some_rows, *squares(*shape), build=False)
    compare(rank_two, *squares(*shape, arrays=4), build=False)
    compare(stored_inside, *squares(*shape, arrays=3), build=False)


@pytest.mark.parametrize("shape", [(3, 3, 3), (10, 6, 131), (5, 4, 6), (19, 15, 130)])
def test_edges_of_boxes(shape: tuple[int, ...]) -> None:
    compare(seven_points, *squares(*shape), build=False)


@pytest.mark.parametrize("fn", [five_points, second_rows])
def test_other_layouts(fn: Callable[..., Any]) -> None:
    a, b = squares(20, 36)
    compare(fn, np.asfortranarray(a), np.asfortranarray(b), build=False)
    compare(fn, a[::-1, ::2], b[::-1, ::2], build=False)


def test_what_a_row_needs_is_loaded_before_the_row_in_front_is_stored() -> None:
    text = compare(five_points, *squares(12, 140), build=False).text
    tile = text[text.index("else:") :]
    stores = [at for at, line in enumerate(tile.splitlines()) if "tl.store(" in line]
    loads = [at for at, line in enumerate(tile.splitlines()) if " = tl.load(" in line]
    between = [sum(a < at < b for at in loads) for a, b in pairwise(stores[:8])]
    assert between == [3, 3, 3, 3, 3, 1, 0]


def test_few_rows_are_left_to_programs_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appyc.passes.gpu.tile_rows.ENOUGH", 1 << 15)
    host = compare(five_points, *squares(12, 140), build=False).host
    assert f">= {8 << 15}" in host


def test_kernels_compile() -> None:
    compare(five_points, *squares(12, 140))
    compare(second_rows, *squares(30, 140))
    compare(chosen, *squares(12, 140, arrays=3))
    compare(limited, *squares(14, 140))
    compare(seven_points, *squares(10, 6, 131))


def test_values_that_double_are_not_written_out(tmp_path: Path) -> None:
    doubled = "\n".join(" " * 16 + "x, y = x + y, x - y" for _ in range(40))
    text = (
        "def doubling(a, b):\n    for i in range(1, a.shape[0]):\n        for j in range(a.shape[1]):\n"
        f"            x, y = a[i, j], a[i - 1, j]\n            if x > y:\n{doubled}\n            b[i, j] = x\n"
    )
    (tmp_path / "doubling.py").write_text(text)
    fn = runpy.run_path(str(tmp_path / "doubling.py"))["doubling"]
    assert rows_each(fn, np.zeros((9, 300)), np.zeros((9, 300))) == [1]
