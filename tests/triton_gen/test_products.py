"""Products of matrices in programs for a GPU: large ones are the library's, others are a kernel of tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import appyc
from appyc.passes.gpu import choose_product_tiles
from appyc.passes.locality import product_panels, product_steps
from appyc.runtime import gpu_products
from appyc.runtime.kernel_variants import Variant
from appyc.runtime.triton_build import compile_kernel
from appyc.triton_gen import triton_products
from benchmarks.sass import disassembled
from tests import stand_in_cupy
from tests.e2e.harness import run_on
from tests.in_turn import in_turn
from tests.triton_gen.source_runner import program_of

RNG = np.random.default_rng(5)


def gemm(alpha, beta, c, a, b):
    c[:] = alpha * (a @ b) + beta * c


def layer(c, a, b):
    return np.maximum(a @ b + c[0], 0.0)


def sum_outside(c, a, b):
    for k in range(a.shape[0]):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] -= 2.0 * a[k, i] * b[k, j]


def part(c, a, b):
    for i in range(2, c.shape[0]):
        for j in range(c.shape[1] - 3):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i - 2, k] * b[k, j + 3]
            c[i, j] = s


def steps(c, a, b):
    for _ in range(3):
        c[:] = a @ c
        c += b


def lower(c, a, b):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def above(c, a, b):
    for i in range(1, c.shape[0]):
        for j in range(i + 2, c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += 0.5 * a[i, k] * b[k, j]


def exchanged(c, a, b):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[j, k] + b[i, k] * a[j, k]
            c[i, j] = 0.25 * c[i, j] + 1.5 * s


def behind(c, a, b):
    for i in range(c.shape[0]):
        for j in range(i - 3):
            for k in range(a.shape[1]):
                c[i, j] += a[i - 4, k] * b[j, k]


def by_a_lower_triangle(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(i - 2):
                s += a[i, k] * b[k, j]
            c[i, j] = 1.5 * s


def by_an_upper_triangle(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(max(i + 1, 3), c.shape[0]):
                s += a[k, i] * b[k, j]
            c[i, j] = 0.5 * s


def of_a_symmetric_matrix(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 1.0
            for k in range(i + 1):
                s += a[i, k] * b[k, j]
            for k in range(i + 1, c.shape[0]):
                s += a[k, i] * b[k, j]
            c[i, j] = np.abs(s)


def in_place(b, a):
    for j in range(b.shape[1]):
        for i in range(b.shape[0]):
            s = b[i, j]
            for k in range(i + 1, b.shape[0]):
                s += a[k, i] * b[k, j]
            b[i, j] = 1.5 * s


def stack(c, a, b):
    for n in range(c.shape[0]):
        c[n] = a[n] @ b[n]


def eliminated(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def square(n: int, dtype: Any = np.float64) -> np.ndarray:
    return RNG.uniform(-1, 1, (n, n)).astype(dtype)


TYPES = (np.float32, np.float64)


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of which a small matrix has several, in bands."""
    monkeypatch.setattr(choose_product_tiles, "TILES", ((16, 16), (16, 16)))
    monkeypatch.setattr(triton_products, "BAND", 2)


@pytest.fixture(autouse=True)
def cupy() -> Iterator[Any]:
    with stand_in_cupy.installed() as module:
        yield module


def check(fn: Callable[..., Any], *args: Any, calls: int) -> None:
    """The results are Python's, and so many products are the library's."""
    ours = [a.copy("K") if isinstance(a, np.ndarray) else a for a in args]
    expected = fn(*ours)
    for target in ("interpret", "gpu", "resident"):
        with mock.patch.object(gpu_products, "_by_library", wraps=gpu_products._by_library) as made:
            found = run_on(fn, args, target, strict=True)
        assert found.error is None
        assert made.call_count == calls
        for one, two in zip((*ours, expected), (*found.args, found.value), strict=True):
            if one is not None:
                single = args[-1].dtype == np.float32  # sums in another order, some of them near zero
                np.testing.assert_allclose(one, two, *((1e-4, 1e-4) if single else (1e-10, 1e-10)))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("size", "calls"), [(0, 0), (1, 0), (7, 0), (32, 1)])
def test_large_products_are_the_librarys(size: int, calls: int, dtype: Any) -> None:
    matrices = [square(size, dtype) for _ in range(3)]
    check(gemm, dtype(1.5), dtype(1.25), *matrices, calls=calls)
    check(sum_outside, *matrices, calls=calls)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [gemm, sum_outside, part])
def test_matrices_may_lie_in_any_way(fn: Callable[..., Any]) -> None:
    scalars = (1.5, 1.25) if fn is gemm else ()
    c, a, b = square(36), square(36), square(36)
    check(fn, *scalars, np.asfortranarray(c), a.T, b, calls=1)
    check(fn, *scalars, c, a[::-1], b[:, ::-1], calls=1)
    check(fn, *scalars, square(72)[::2, 1::2], a, b, calls=1)


def test_what_is_around_a_sum_finds_it_in_memory() -> None:
    check(layer, square(32), square(32), square(32), calls=1)


def test_products_between_steps() -> None:
    check(steps, 0.1 * square(32), square(32), square(32), calls=3)


def test_nan_and_infinity_are_not_lost() -> None:
    c, a = square(32), square(32)
    c[0, 0], a[3, 3] = np.nan, np.inf
    check(gemm, 1.0, 0.0, c, a, square(32), calls=1)


def test_complex_numbers_stay_in_kernels() -> None:
    check(gemm, 1.5, 1.25, *(square(28) + 1j * square(28) for _ in range(3)), calls=0)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("sides", "dtype"), in_turn([(1, 1), (5, 7), (16, 16), (33, 20), (40, 3), (20, 0)], TYPES)
)
def test_of_triangles_nothing_else_is_written(sides: tuple[int, int], dtype: Any, small_tiles: None) -> None:
    rows, summed = sides
    a, b = (RNG.uniform(-1, 1, (rows, summed)).astype(dtype) for _ in range(2))
    check(lower, square(rows, dtype), a, b.T, calls=0)
    check(above, square(rows, dtype), a, np.ascontiguousarray(b.T), calls=0)
    check(exchanged, square(rows, dtype), a, b, calls=0)


def test_rows_past_the_last_column_are_not_read() -> None:
    """`a` has no such rows; what is read beyond an array need not fail."""
    launched: list[Any] = []
    c, a, b = np.zeros((40, 20)), np.zeros((20, 9)), np.zeros((9, 20))
    matrices = [(m, (0, 0), (1, 0), (0, 1)) for m in (c, a, b)]
    gpu_products.multiply(
        np,
        lambda *all: launched.append(all),
        0,
        [("k", 16, 16)],
        (40, 20, 9),
        None,
        None,
        *matrices,
        edge=0,
        ends=False,
    )
    assert launched[0][3].shape == (1, 20, 20)
    assert launched[0][4].shape == (1, 20, 9)


@pytest.mark.parametrize("rows", [0, 3, 4, 5, 19])
def test_rows_without_columns_are_not_read(rows: int, small_tiles: None) -> None:
    check(behind, square(rows), square(max(rows - 4, 0)), square(rows)[:, : max(rows - 4, 0)], calls=0)


@pytest.fixture
def always_worth_it(monkeypatch: pytest.MonkeyPatch, small_tiles: None) -> None:
    for name in ("WORTH", "FEWEST"):
        monkeypatch.setattr(product_panels, name, 1)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("sides", "dtype"), in_turn([(0, 3), (1, 1), (5, 7), (16, 16), (33, 20), (40, 3)], TYPES)
)
def test_factors_that_are_triangles(sides: tuple[int, int], dtype: Any, always_worth_it: None) -> None:
    b, c = (RNG.uniform(-1, 1, sides).astype(dtype) for _ in range(2))
    a = square(sides[0], dtype)
    for fn in (by_a_lower_triangle, by_an_upper_triangle, of_a_symmetric_matrix):
        check(fn, c, a, b, calls=0)
        check(fn, np.asfortranarray(c), a.T, b[:, ::-1], calls=0)
    check(in_place, c, a, calls=0)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [by_a_lower_triangle, by_an_upper_triangle, of_a_symmetric_matrix])
def test_what_is_beside_a_triangle_does_not_count(fn: Callable[..., Any], always_worth_it: None) -> None:
    a, b, c = square(33), square(33), square(33)
    upper = np.triu_indices(33, 1)
    a[upper] = np.nan
    b[9, 4], b[20, 5] = np.inf, np.nan
    check(fn, c, a, b, calls=0)
    assert "rt.multiply" in program_of(fn, c, a, b).text


def test_sums_of_what_was_written_before_are_no_product(always_worth_it: None) -> None:
    def solved(b, a):
        for j in range(b.shape[1]):
            for i in range(b.shape[0]):
                s = b[i, j]
                for k in range(i):
                    s -= a[i, k] * b[k, j]
                b[i, j] = s / a[i, i]

    b, a = square(20), square(20) + 20 * np.eye(20)
    check(solved, b, a, calls=0)
    assert "for first in range" in program_of(solved, b, a).text


@pytest.mark.sampled
@pytest.mark.parametrize("turn", [lambda m: m, np.asfortranarray, lambda m: m[::-1], lambda m: m[:, ::-1]])
def test_tiles_of_matrices_that_lie_in_any_way(turn: Callable[..., Any], small_tiles: None) -> None:
    a, b, c = square(21), square(21), square(21)
    check(lower, turn(c), a, b, calls=0)
    check(lower, c, turn(a), b, calls=0)
    check(lower, c, a, turn(b), calls=0)


@pytest.mark.sampled
@pytest.mark.parametrize("count", [0, 1, 3])
def test_stacks(count: int, small_tiles: None) -> None:
    a, b, c = (RNG.uniform(-1, 1, (count, *shape)) for shape in ((9, 5), (5, 18), (9, 18)))
    check(stack, c, a, b, calls=0)
    check(stack, c, a[:, ::-1], np.swapaxes(np.ascontiguousarray(np.swapaxes(b, 1, 2)), 1, 2), calls=0)


def test_a_matrix_that_is_changed_in_place(small_tiles: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("STEPS", 4), ("WORTH", 8), ("FEWEST", 1)):
        monkeypatch.setattr(product_steps, name, value)
    check(eliminated, square(20) + 20 * np.eye(20), calls=0)
    assert "tl.dot" in program_of(eliminated, square(3)).text


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fn", "of"),
    in_turn(
        [above, by_a_lower_triangle, by_an_upper_triangle],
        [
            (80, np.float64, "DMMA"),
            (90, np.float64, "DMMA"),
            (90, np.float32, "FFMA"),
            (80, np.float32, "FFMA"),
        ],
    ),
)
def test_tiles_use_the_tensor_cores_and_spill_nothing(
    fn: Callable[..., Any], of: tuple[int, Any, str]
) -> None:
    capability, dtype, instruction = of
    program = program_of(fn, *(square(3, dtype) for _ in range(3)))
    kernels = [k for k in program.kernels if k.constant == "LAYOUT"]
    assert len(kernels) == len(choose_product_tiles.TILES)
    for kernel in kernels:
        found = compile_kernel(program, kernel, f"cuda:{capability}", Variant(kernel.lanes, 16))
        issued = disassembled(found.cubin)
        assert found.spill_bytes == 0
        assert instruction in {i.name for i in issued}
        # Strips are on the way, 16 bytes a thread, while others are multiplied.
        assert {i.width for i in issued if i.name == "LDGSTS"} == {16}


def with_clauses(c, a, b):
    # pragma parallel for block(32, 16) num_warps(2) num_stages(4)
    for i in range(c.shape[0]):
        # pragma parallel for
        for j in range(i + 1):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def test_clauses_choose_the_tiles() -> None:
    (kernel,) = (
        k for k in program_of(with_clauses, *(square(3) for _ in range(3))).kernels if k.constant == "LAYOUT"
    )
    assert (kernel.name, kernel.num_warps, kernel.num_stages) == ("with_clauses_1_32x16", 2, 4)
    check(with_clauses, square(40), square(40), square(40), calls=0)


KERNELS = [("k_128x64", 128, 64), ("k_64x64", 64, 64), ("k_32x32", 32, 32)]


@pytest.mark.parametrize(
    ("rows", "columns", "members", "processors", "chosen"),
    [
        (4000, 4000, 1, 132, ("k_128x64", 32 * 63)),
        (16, 16, 1000, 132, ("k_32x32", 1000)),
        (500, 500, 1, 132, ("k_64x64", 64)),  # larger ones would leave most multiprocessors idle
        (300, 300, 1, 132, ("k_32x32", 100)),
        (17, 17, 1, 0, ("k_32x32", 1)),
    ],
)
def test_tiles_are_chosen_for_the_sizes(
    rows: int, columns: int, members: int, processors: int, chosen: tuple[str, int]
) -> None:
    assert gpu_products.choose_tiles(KERNELS, rows, columns, members, processors) == chosen


def test_known_strides_do_not_hide_what_the_others_have_in_common() -> None:
    launched: list[Any] = []
    c, a, b = (np.zeros((32, 32)) for _ in range(3))
    matrices = [(m, (0, 0), (1, 0), (0, 1)) for m in (c, a, b.T)]
    gpu_products.multiply(
        np, lambda *all: launched.append(all), 0, KERNELS, (32, 32, 32), None, None, *matrices, edge=1
    )
    assert launched[0][2] == 1 + 3 + 18
    assert launched[0][-9:] == (0, 32, 0, 0, 32, 0, 0, 0, 32)


@pytest.mark.parametrize("option", [{"blas": False}, {"exact": True}])
def test_who_wants_no_library_gets_none(option: dict[str, bool]) -> None:
    fn = appyc.jit(target="interpret", cache=False, **option)(gemm)
    fn(1.0, 1.0, square(4), square(4), square(4))
    assert "rt.multiply" not in fn.source("triton")


def test_the_report_names_the_library() -> None:
    fn = appyc.jit(target="interpret", cache=False)(gemm)
    fn(1.0, 1.0, square(4), square(4), square(4))
    assert "CuPy's BLAS" in str(fn.explain())
