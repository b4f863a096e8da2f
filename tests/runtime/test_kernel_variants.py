"""Which variant of a kernel a launch takes, and that results do not depend on it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from appyc.ir.gpu_program import LaneUse, Tile
from appyc.ir.nodes import Symbol
from appyc.ir.types import DType, ScalarType
from appyc.passes.gpu import grid_kernels
from appyc.runtime.kernel_variants import KernelArguments, Variant, choose_lanes
from appyc.runtime.triton_build import compile_kernel
from appyc.runtime.triton_interpret import interpret
from appyc.triton_gen.triton_kernel import KernelText, Param
from appyc.triton_gen.triton_module import TritonProgram
from tests.triton_gen.source_runner import program_of

WIDEST = KernelText("k", "", (), 1024, 128, 4, frozenset())
FIXED = KernelText("k", "", (), 64, 64, 2, frozenset())


@pytest.mark.parametrize(
    ("rows", "count", "processors", "lanes"),
    [
        (1, 0, 132, 128),
        (1, 1, 0, 128),
        (1, 1000, 0, 1024),
        (1, 1 << 24, 132, 1024),
        (1, 1 << 17, 132, 512),  # 1024 lanes would be 128 programs
        (1, 1 << 16, 132, 256),
        (1, 300, 132, 128),  # no size gives programs enough: the most of them
        (1 << 20, 120, 132, 128),
        (1 << 20, 130, 132, 256),
        (1 << 20, 260, 132, 512),
        (1 << 20, 1030, 132, 512),  # 1024 lanes would idle
    ],
)
def test_lanes_are_busy_and_programs_many(rows: int, count: int, processors: int, lanes: int) -> None:
    assert choose_lanes(WIDEST, rows, count, processors) == lanes


def test_short_rows_share_programs_though_these_are_few() -> None:
    """A program for each row of four would have 252 idle lanes."""
    tile = Tile(Symbol("rows", 0, ScalarType(DType.INT64)), 512, 128)
    tiled = replace(WIDEST, lanes=256, fewest_lanes=256, tile=tile, use=LaneUse.STRIP)
    assert choose_lanes(tiled, 1 << 15, 4, 132) == 4
    assert choose_lanes(tiled, 40, 40, 132) == 256
    assert choose_lanes(tiled, 1 << 15, 400, 132) == 256


def test_lanes_that_the_user_set_stay() -> None:
    assert choose_lanes(FIXED, 1, 7, 132) == 64


@pytest.mark.parametrize(("lanes", "warps"), [(1024, 4), (256, 4), (128, 2), (32, 1)])
def test_threads_have_two_elements(lanes: int, warps: int) -> None:
    assert Variant(lanes).warps(WIDEST) == warps
    assert Variant(lanes).warps(FIXED) == FIXED.num_warps


@pytest.mark.parametrize(
    ("address", "extent", "scalar", "divisor"),
    [
        (256, 1024, 1.5, 16),
        (256, 1000, 1.5, 4),
        (256, -1004, 1.5, 4),
        (256, 1002, 1.5, 1),
        (264, 1024, 1.5, 1),
        (2**64 - 256, 0, 7.0, 16),
    ],
)
def test_divisor_is_of_addresses_and_integers(address: int, extent: int, scalar: float, divisor: int) -> None:
    params = (Param("a", "*fp64", "array"), Param("a_n0", "i64", "n"), Param("x", "fp64", "scalar"))
    arguments = KernelArguments(replace(WIDEST, params=params))
    variant, values = arguments.variant(256, [array_at(address), extent, scalar])
    assert variant == Variant(256, divisor)
    assert values == [address, extent, scalar]


def array_at(address: int, shape: tuple[int, ...] = (), strides: tuple[int, ...] = ()) -> Any:
    """What a launch asks of an array on a GPU."""
    return SimpleNamespace(data=SimpleNamespace(ptr=address), shape=shape, strides=strides)


def stencil(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(2, a.shape[1] - 2, 3):
            b[i, j] = a[i, j - 2] + a[i - 1, j] * a[i, j + 2]


def with_lanes(program: TritonProgram, lanes: int) -> TritonProgram:
    kernels = tuple(replace(k, lanes=lanes, fewest_lanes=lanes) for k in program.kernels)
    return replace(program, kernels=kernels)


@pytest.mark.sampled
@pytest.mark.parametrize("lanes", [1, 2, 16, 128, 1024])
def test_results_do_not_depend_on_the_lanes(lanes: int) -> None:
    a = np.random.default_rng(3).normal(size=(5, 301))
    expected, found = np.zeros_like(a), np.zeros_like(a)
    stencil(a, expected)
    interpret(with_lanes(program_of(stencil, a, found), lanes))([a, found])
    np.testing.assert_array_equal(found, expected)


def triad(a, b, c, s):
    for i in range(a.shape[0]):
        a[i] = b[i] + s * c[i]


@pytest.mark.parametrize("divisor", [1, 4, 16])
def test_accesses_of_an_aligned_variant_are_wide(divisor: int) -> None:
    program = program_of(triad, *(np.zeros(64) for _ in range(3)), 2.0)
    (kernel,) = program.kernels
    built = compile_kernel(program, kernel, "cuda:90", Variant(1024, divisor))
    assert ("ld.global.v2" in built.ptx) == (divisor > 1)
    assert ("st.global.v2" in built.ptx) == (divisor > 1)


def conditional(a, b, c):
    for i in range(a.shape[0]):
        t = a[i] * 2.0
        if t > 0.0:
            t += b[i]
            c[i] = t
    return t


def total(a):
    s = 1.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 64])
def test_programs_at_edges_and_others_agree(size: int) -> None:
    a, b = np.random.default_rng(4).normal(size=(2, size + 1))
    expected, found = np.zeros_like(a), np.zeros_like(a)
    program = with_lanes(program_of(conditional, a, b, found), 16)
    assert interpret(program)([a, b, found]) == [conditional(a, b, expected)]
    np.testing.assert_array_equal(found, expected)
    summed = program_of(total, a)
    assert ">= LANES:" in summed.text
    np.testing.assert_allclose(interpret(with_lanes(summed, 16))([a[:size]]), [total(a[:size])])


def along_rows(a, b):
    for i in range(a.shape[0]):
        for j in range(2, a.shape[1] - 2):
            b[i, j] = a[i, j - 2] + a[i, j] * a[i, j + 2]


def test_programs_at_no_edge_have_no_masks() -> None:
    program = program_of(along_rows, np.zeros((8, 64)), np.zeros((8, 64)))
    whole, _, edge = program.text.partition(">= LANES)")[2].partition("else:")
    assert "tl.store" in whole
    assert "mask=" not in whole
    assert edge.count("mask=inside") == 4


def test_long_programs_have_one_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_kernels, "VERSIONED_NODES", 20)
    text = program_of(along_rows, np.zeros((8, 64)), np.zeros((8, 64))).text
    assert ">= LANES" not in text
    assert text.count("mask=inside") == 4


def in_rows(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] * 2.0


@pytest.mark.parametrize(
    ("fn", "args", "grid"),
    [
        (in_rows, (np.zeros((3, 4)), np.zeros((3, 4))), {"j_blocks"}),
        (total, (np.zeros(3),), {"each", "blocks"}),
    ],
)
def test_numbers_of_programs_do_not_narrow_accesses(fn, args, grid) -> None:
    """Two blocks in each row are no multiple of 4."""
    kernel = program_of(fn, *args).kernels[0]
    assert {p.name for p in kernel.params if p.kind == "grid"} == grid
    known = {"grid": 2, "array": array_at(256), "faults": array_at(256)}
    variant, _ = KernelArguments(kernel).variant(128, [known.get(p.kind, 1024) for p in kernel.params])
    assert variant.divisor == 16
