"""Calls of a library for products of matrices: when they are made, with what, and what comes out."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.ir.machine import ENOUGH, FEWEST, Machine
from appyc.runtime import blas
from appyc.runtime.machine import using

RNG = np.random.default_rng(3)
TYPES = (np.float32, np.float64, np.complex64, np.complex128)

pytestmark = pytest.mark.skipif(not blas.is_found(), reason="NumPy has no BLAS that can be called here")


def matrix(rows: int, columns: int, dtype: Any = np.float64) -> Any:
    numbers = RNG.uniform(-1, 1, (rows, columns)) + 1j * RNG.uniform(-1, 1, (rows, columns))
    return (numbers if np.dtype(dtype).kind == "c" else numbers.real).astype(dtype)


FAST_THREADS = Machine(vector=100.0, fork=1.0, wake=1.0)
"""A machine on which each product is worth all threads."""


@contextmanager
def calls(dtype: Any = np.float64, then: Callable[[], object] = list) -> Iterator[list[str]]:
    """The library's functions that are called for a type meanwhile, by name."""
    made: list[str] = []
    table = blas._table()
    assert table is not None
    place = [np.dtype(t) for t in TYPES].index(np.dtype(dtype))
    size, pointer = ctypes.c_int64, ctypes.c_void_p
    factor = {"f": ctypes.c_float, "d": ctypes.c_double}.get(np.dtype(dtype).char, pointer)
    gemm_type = ctypes.CFUNCTYPE(
        None,
        *(ctypes.c_int,) * 3,
        size,
        size,
        size,
        factor,
        pointer,
        size,
        pointer,
        size,
        factor,
        pointer,
        size,
    )
    syrk_type = ctypes.CFUNCTYPE(
        None, *(ctypes.c_int,) * 3, size, size, factor, pointer, size, factor, pointer, size
    )
    kept = (table.gemm[place], table.syrk[place])

    def noting(name: str, address: int, kind: Any) -> Any:
        def call(*args: Any) -> None:
            made.append(name)
            then()
            kind(address)(*args)

        return kind(call)

    gemm, syrk = noting("gemm", kept[0], gemm_type), noting("syrk", kept[1], syrk_type)
    table.gemm[place], table.syrk[place] = (ctypes.cast(f, pointer).value for f in (gemm, syrk))
    try:
        yield made
    finally:
        table.gemm[place], table.syrk[place] = kept


def product(a, b):
    return a @ b


def scaled(alpha, beta, c, a, b):
    c[:] = alpha * (a @ b) + beta * c


def by_itself(a):
    return a.T @ a


def by_another(a, b):
    return a.T @ b


def layer(a, b, c):
    return np.maximum(a @ b + c, 0.0)


def called(fn: Callable[..., Any], *args: Any, dtype: Any = np.float64, **options: Any) -> list[str]:
    """What a call asks the library for; its results are those of Python."""
    compiled = appyc.jit(target="cpu", **options)(fn)
    ours, theirs = ([a.copy(order="K") if isinstance(a, np.ndarray) and a.base is None else a for a in args]
                    for _ in range(2))  # fmt: skip
    with calls(dtype) as made, np.errstate(all="ignore"):
        result, expected = compiled(*ours), fn(*theirs)
    rough = np.finfo(dtype).eps * 2000
    if expected is not None:
        np.testing.assert_allclose(result, expected, rtol=rough, atol=rough)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=rough, atol=rough)
    return made


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_the_library_is_called_for_each_type_and_either_way_that_matrices_lie(
    dtype: Any, turned: tuple[bool, bool]
) -> None:
    a, b = (np.asfortranarray(m) if turn else m
            for m, turn in zip((matrix(30, 41, dtype), matrix(41, 53, dtype)), turned, strict=True))  # fmt: skip
    assert called(product, a, b, dtype=dtype) == ["gemm"]


def test_a_target_by_columns_is_the_transposed_product() -> None:
    c = np.asfortranarray(matrix(30, 53))
    assert called(scaled, 1.5, -0.5, c, matrix(30, 41), matrix(41, 53)) == ["gemm"]


@pytest.mark.parametrize("dtype", TYPES)
def test_a_matrix_by_itself_is_computed_by_half(dtype: Any) -> None:
    for a in (matrix(47, 70, dtype), np.asfortranarray(matrix(47, 70, dtype)), matrix(5, 70, dtype)[:, :0]):
        assert called(by_itself, a, dtype=dtype) == (["syrk"] if a.size else [])


def test_two_matrices_of_one_size_are_not_taken_for_one() -> None:
    a = matrix(47, 47)
    assert called(product, a, a) == ["gemm"]
    assert called(by_another, a, a.copy()) == ["gemm"]


@pytest.mark.parametrize(
    ("sides", "large"),
    [
        ((FEWEST - 1, 500, 500), False),
        ((500, FEWEST - 1, 500), False),
        ((500, 500, FEWEST - 1), False),
        ((FEWEST, FEWEST, -(-ENOUGH // FEWEST**2)), True),
        ((FEWEST, FEWEST, ENOUGH // FEWEST**2 - 1), False),
        ((1, 1, 1), False),
        ((0, 0, 0), False),
        ((0, 700, 700), False),
        ((700, 700, 0), False),
    ],
)
def test_small_products_stay_in_loops(sides: tuple[int, int, int], large: bool) -> None:
    rows, columns, summed = sides
    wanted = ["gemm"] if large else []
    assert called(product, matrix(rows, summed), matrix(summed, columns)) == wanted
    assert called(layer, matrix(rows, summed), matrix(summed, columns), matrix(1, columns)[0]) == wanted


def test_strides_that_the_library_cannot_take_stay_in_loops() -> None:
    a, b = matrix(30, 80), matrix(40, 50)
    assert called(product, a[:, ::2], b) == []
    assert called(product, a[:, 39::-1], b) == []
    assert called(product, a[::-1, :40], b) == []
    assert called(product, np.broadcast_to(a[0, :40], (30, 40)), b) == []
    assert called(product, a[::2, :40], b) == ["gemm"]
    fields = np.zeros((30, 40), [("pad", "f8"), ("x", "f8")])
    fields["x"] = a[:, :40]
    assert called(product, fields["x"], b) == []


def test_zero_factors_keep_nan() -> None:
    a, b, c = matrix(30, 40), matrix(40, 50), matrix(30, 50)
    a[3, 4], c[1, 2] = np.nan, np.inf
    assert called(scaled, 0.0, 1.0, c, a, b) == []
    assert called(scaled, 1.0, 0.0, c, a, b) == []
    assert called(scaled, np.nan, 1.0, c, a, b) == ["gemm"]
    a[:], b[0] = 0.0, np.nan
    assert called(product, a, b) == ["gemm"]


@pytest.mark.parametrize("options", [{"blas": False}, {"exact": True}])
def test_options_keep_the_library_out(options: dict[str, Any]) -> None:
    def loops(a, b, c):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    args = (matrix(30, 40), matrix(40, 50), matrix(30, 50))
    assert called(loops, *args) == ["gemm"]
    assert called(loops, *args, **options) == []


def test_operands_that_share_memory_with_the_target_give_what_python_gives() -> None:
    a = matrix(40, 40)
    compiled = appyc.jit(target="cpu")(scaled)
    ours, theirs = a.copy(), a.copy()
    compiled(1.5, 0.5, ours, ours, ours)
    scaled(1.5, 0.5, theirs, theirs, theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    memory = matrix(80, 40)
    for lo in (0, 1, 39, 40):
        ours, theirs = memory.copy(), memory.copy()
        compiled(1.5, 0.5, ours[lo : lo + 40], ours[:40], a)
        scaled(1.5, 0.5, theirs[lo : lo + 40], theirs[:40], a)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@contextmanager
def threads_of(count: int) -> Iterator[None]:
    before = appyc.get_num_threads()
    appyc.set_num_threads(count)
    try:
        yield
    finally:
        appyc.set_num_threads(before)


def test_each_thread_calls_the_library_for_its_part_and_the_library_uses_no_more() -> None:
    table = blas._table()
    assert table is not None
    if not table.threads:
        pytest.skip("this library does not tell how many threads it uses")
    count = ctypes.CFUNCTYPE(ctypes.c_int)(table.threads)
    seen: list[int] = []
    before = count()
    with using(FAST_THREADS):
        for threads in (1, 2, 5, 6):
            with threads_of(threads), calls(then=lambda: seen.append(count())) as made:
                a, b = matrix(40, 33), matrix(33, 50)
                np.testing.assert_allclose(appyc.jit(target="cpu")(product)(a, b), a @ b, rtol=1e-12)
            assert made == ["gemm"] * threads
    assert set(seen) == {1}
    assert count() == before


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("threads", [2, 3, 8, 64])
def test_parts_make_the_whole(dtype: Any, threads: int) -> None:
    rough = np.finfo(dtype).eps * 2000
    with using(FAST_THREADS), threads_of(threads):
        for rows, summed, columns in ((8, 300, 9), (31, 37, 41), (64, 64, 64), (200, 9, 11)):
            a, b, c = (
                matrix(rows, summed, dtype),
                matrix(summed, columns, dtype),
                matrix(rows, columns, dtype),
            )
            for left, right, target in (
                (a, b, c),
                (np.asfortranarray(a), np.asfortranarray(b), np.asfortranarray(c)),
            ):
                ours, theirs = target.copy(order="K"), target.copy(order="K")
                appyc.jit(target="cpu")(scaled)(dtype(1.5), dtype(-2), ours, left, right)
                scaled(dtype(1.5), dtype(-2), theirs, left, right)
                np.testing.assert_allclose(ours, theirs, rtol=rough, atol=rough)
                np.testing.assert_allclose(
                    appyc.jit(target="cpu")(by_itself)(left), by_itself(left), rtol=rough, atol=rough
                )
