"""Programs of a GPU that compute tiles of rows, with tiles of all shapes."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from appyc.ir.gpu_program import LaneUse
from appyc.passes.gpu.map_gpu import FEWEST_LANES, STRIP_LANES
from appyc.passes.gpu.tiles_of_lanes import SHARING_LANES, TILE_LANES
from appyc.runtime.kernel_variants import Variant, choose_lanes
from appyc.runtime.triton_build import compile_kernel
from appyc.runtime.triton_interpret import interpret
from tests.programs import tiles
from tests.programs.registry import Run
from tests.triton_gen.source_runner import compare, program_of

RUNS = [run for run in tiles.PROGRAMS.runs if run.fn is not tiles.beyond_the_end_of_rows]
FIRST = list({run.fn: run for run in reversed(RUNS)}.values())


@pytest.mark.sampled
@pytest.mark.parametrize("lanes", [1, 2, 16, 128])
@pytest.mark.parametrize("run", FIRST, ids=lambda run: run.fn.__name__)
def test_results_do_not_depend_on_the_shape_of_tiles(run: Run, lanes: int) -> None:
    program = program_of(run.fn, *run.args)
    kernels = tuple(
        k if k.use is LaneUse.ROW else replace(k, lanes=lanes, fewest_lanes=lanes) for k in program.kernels
    )
    ours, theirs = copy.deepcopy(list(run.args)), copy.deepcopy(list(run.args))
    got, expected = interpret(replace(program, kernels=kernels))(ours), run.fn(*theirs)
    for mine, python in zip([*ours, *got], [*theirs, *(expected or ())], strict=True):
        np.testing.assert_allclose(mine, python, rtol=1e-14)


@pytest.mark.sampled
@pytest.mark.parametrize("run", FIRST, ids=lambda run: run.fn.__name__)
def test_tiles_compile_without_spills(run: Run) -> None:
    program = program_of(run.fn, *run.args)
    for kernel in program.kernels:
        if kernel.tile is not None:
            built = compile_kernel(program, kernel, "cuda:90", Variant(8, narrow=True))
            assert built.spill_bytes == 0, kernel.name


def test_short_rows_share_a_program() -> None:
    (kernel,) = program_of(tiles.scaled, np.zeros((8, 3)), np.zeros((8, 3))).kernels
    assert choose_lanes(kernel, 1 << 20, 3, 132) == 4
    assert kernel.rows(4) == TILE_LANES // 4
    assert choose_lanes(kernel, 1 << 20, 500, 132) >= FEWEST_LANES
    assert kernel.rows(FEWEST_LANES) == 1
    assert choose_lanes(kernel, 100, 3, 132) >= FEWEST_LANES, "a program for each row fills more of the GPU"


def test_lanes_hold_a_whole_row_where_it_stays_in_them() -> None:
    kernel, *_ = program_of(tiles.less_the_total, np.zeros((8, 3), int), np.zeros((8, 3), int)).kernels
    assert kernel.use is LaneUse.ROW
    assert [choose_lanes(kernel, 4096, count, 132) for count in (1, 3, 130, 1024)] == [1, 4, 256, 1024]


def test_long_rows_that_share_what_they_load_share_a_program() -> None:
    matrix, vector = np.zeros((8, 3), int), np.zeros(3, int)
    program = program_of(tiles.weighted_totals_of_rows, matrix, vector, np.zeros(8, int))
    (kernel,) = [k for k in program.kernels if k.tile is not None and k.lanes == SHARING_LANES]
    assert [kernel.rows(choose_lanes(kernel, rows, 4096, 132)) for rows in (4096, 500, 132)] == [4, 1, 1]
    assert choose_lanes(kernel, 4096, 4096, 132) == STRIP_LANES
    built = compile_kernel(program, kernel, "cuda:90", Variant(STRIP_LANES, 16, narrow=True))
    assert built.spill_bytes == 0
    loads, _, _ = built.ptx.partition("bar.sync")
    assert loads.count("ld.global") == loads.count("ld.global.v2")


def many_sums(a, w, out):
    # pragma parallel for
    for i in range(a.shape[0]):
        s, t, u, v = 0.0, 0.0, 0.0, 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * w[j]
            t += a[i, j] + w[j]
            u += a[i, j] - w[j]
            v += w[j]
        out[i] = s + t + u + v


def test_long_rows_with_many_sums_do_not() -> None:
    program = program_of(many_sums, np.zeros((8, 3)), np.zeros(3), np.zeros(8))
    assert all(k.lanes <= STRIP_LANES for k in program.kernels if k.tile is not None)


def softmax_of_columns(x, y):
    # pragma parallel for
    for j in range(x.shape[1]):
        largest = -np.inf
        for i in range(x.shape[0]):
            largest = max(largest, x[i, j])
        total = 0.0
        for i in range(x.shape[0]):
            y[i, j] = np.exp(x[i, j] - largest)
            total += y[i, j]
        for i in range(x.shape[0]):
            y[i, j] /= total


@pytest.mark.parametrize("shape", [(1, 1), (5, 70), (130, 3), (300, 9)])
def test_columns_stay_in_lanes_beside_others(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(5).normal(size=shape)
    program = compare(softmax_of_columns, x, np.zeros(shape), exact=False, build=shape == (1, 1), libm=True)
    kernel = program.kernels[0]
    assert kernel.use is LaneUse.ROW
    assert [kernel.rows(lanes) for lanes in (64, 1024)] == [64, 4]


def test_transposes_have_square_tiles() -> None:
    (kernel,) = program_of(tiles.transposed, np.zeros((8, 8)), np.zeros((8, 8))).kernels
    lanes = choose_lanes(kernel, 4096, 4096, 132)
    assert (lanes, kernel.rows(lanes)) == (32, 32)
    built = compile_kernel(
        program_of(tiles.transposed, *2 * [np.zeros((8, 8))]), kernel, "cuda:90", Variant(32, 16)
    )
    assert "ld.global.v2" in built.ptx
    assert "st.global.v2" in built.ptx
    assert built.shared > 0, "the tile goes through shared memory"
