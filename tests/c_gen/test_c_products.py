"""Calls of a library for products of matrices: when they are made, with what, and what comes out."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.ir.machine_model import ENOUGH, ENOUGH_APART, FEWEST, Machine
from appyc.runtime import blas
from appyc.runtime.machine_rates import using

pytestmark = pytest.mark.usefixtures("kept_builds")

RNG = np.random.default_rng(3)
TYPES = (np.float32, np.float64, np.complex64, np.complex128)

pytestmark = pytest.mark.skipif(
    blas.table_address() is None, reason="NumPy has no BLAS that can be called here"
)


def matrix(rows: int, columns: int, dtype: Any = np.float64) -> Any:
    numbers = RNG.uniform(-1, 1, (rows, columns)) + 1j * RNG.uniform(-1, 1, (rows, columns))
    return (numbers if np.dtype(dtype).kind == "c" else numbers.real).astype(dtype)


FAST_THREADS = Machine(vector=100.0, fork=1.0, wake=1.0)
"""A machine on which each product is worth all threads."""


OWN = replace(FAST_THREADS, own_product=1e-4)
"""One on which matrices are not multiplied by the library, too."""


@contextmanager
def calls(
    dtype: Any = np.float64, then: Callable[[tuple[int, ...]], object] = lambda sides: None
) -> Iterator[list[str]]:
    """The library's functions that are called for a type meanwhile, by name. then: is told rows, columns and sums of
    each product, those of a triangle as one of so many elements."""
    made: list[str] = []
    table = blas._table()
    assert table is not None
    place = [np.dtype(t) for t in TYPES].index(np.dtype(dtype))
    size, pointer, enums = ctypes.c_int64, ctypes.c_void_p, (ctypes.c_int,) * 3
    factor = {"f": ctypes.c_float, "d": ctypes.c_double}.get(np.dtype(dtype).char, pointer)
    types = {
        "gemm": (*enums, size, size, size, factor, pointer, size, pointer, size, factor, pointer, size),
        "syrk": (*enums, size, size, factor, pointer, size, factor, pointer, size),
        "syr2k": (*enums, size, size, factor, pointer, size, pointer, size, factor, pointer, size),
    }
    kept = {name: getattr(table, name)[place] for name in (types if place < 2 else ["gemm"])}

    def noting(name: str) -> Any:
        kind = ctypes.CFUNCTYPE(None, *types[name])

        def call(*args: Any) -> None:
            made.append(name)
            sides = args[3:6] if name == "gemm" else (args[3] * (args[3] + 1) // 2, 1, args[4])
            for _ in range(2 if name == "syr2k" else 1):
                then(sides)
            kind(kept[name])(*args)

        return kind(call)

    functions = {name: noting(name) for name in kept if kept[name]}
    for name, function in functions.items():
        getattr(table, name)[place] = ctypes.cast(function, pointer).value
    try:
        yield made
    finally:
        for name in functions:
            getattr(table, name)[place] = kept[name]


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


def called(
    fn: Callable[..., Any],
    *args: Any,
    dtype: Any = np.float64,
    then: Callable[[tuple[int, ...]], object] = lambda sides: None,
    **options: Any,
) -> list[str]:
    """What a call asks the library for; its results are those of Python."""
    compiled = appyc.jit(target="cpu", **options)(fn)
    ours, theirs = ([a.copy(order="K") if isinstance(a, np.ndarray) and a.base is None else a for a in args]
                    for _ in range(2))  # fmt: skip
    with calls(dtype, then) as made, np.errstate(all="ignore"):
        result, expected = compiled(*ours), fn(*theirs)
    rough = np.finfo(dtype).eps * 2000
    if expected is not None:
        np.testing.assert_allclose(result, expected, rtol=rough, atol=rough)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=rough, atol=rough)
    return made


@pytest.mark.sampled
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


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", TYPES)
def test_a_matrix_by_itself_is_computed_by_half(dtype: Any) -> None:
    wide = matrix(20, 300, dtype)
    for a in (wide, np.asfortranarray(wide), matrix(5, 300, dtype)[:, :0]):
        work = 0

        def add(sides: tuple[int, ...]) -> None:
            nonlocal work
            work += int(np.prod(sides))

        assert bool(called(by_itself, a, dtype=dtype, then=add)) == bool(a.size)
        assert work < 0.6 * a.shape[0] * a.shape[1] ** 2 or not a.size


def before_the_diagonal(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            c[i, j] *= beta
            for k in range(a.shape[1]):
                c[i, j] += alpha * a[i, k] * b[j, k]


def before_another(alpha, beta, c, a, b):
    """The first rows have no columns."""
    for i in range(c.shape[0]):
        for j in range(i - 3):
            for k in range(a.shape[1]):
                c[i, j] += alpha * a[i, k] * b[j, k]


def from_the_diagonal_on(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(i, c.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += alpha * a[i, k] * b[j, k]


def from_another_on(alpha, beta, c, a, b):
    """The first rows have all columns but one, and from some row on there may be none."""
    for i in range(4, c.shape[0]):
        for j in range(i - 3, c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] -= a[i, k] * b[j, k]


def rectangle_and_triangle(alpha, beta, c, a, b):
    """From row 10 on, every row has some columns."""
    for i in range(10, c.shape[0]):
        for j in range(1, i):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[j, k]


TRIANGLES = (
    before_the_diagonal,
    before_another,
    from_the_diagonal_on,
    from_another_on,
    rectangle_and_triangle,
)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", TRIANGLES)
@pytest.mark.parametrize(
    ("dtype", "threads", "machine"),
    [(np.complex128, 1, FAST_THREADS), (np.float32, 3, FAST_THREADS), (np.complex128, 3, OWN)],
)
def test_of_triangles_nothing_else_is_computed_or_written(
    fn: Callable[..., Any], dtype: Any, threads: int, machine: Machine
) -> None:
    """Whole numbers: all results are exact. What must not be touched is no number, and stays none."""
    compiled = appyc.jit(target="cpu")(fn)
    asks = machine is FAST_THREADS or np.dtype(dtype).kind == "c"
    with using(machine), threads_of(threads):
        for rows, columns in ((30, 30), (33, 33), (70, 70), (131, 131), (40, 131), (131, 140)):
            a, b = (RNG.integers(-4, 5, (side, 40)).astype(dtype) for side in (rows, columns))
            for target in (np.zeros((rows, columns), dtype), np.zeros((columns, rows), dtype).T):
                target[:] = RNG.integers(-4, 5, (rows, columns))
                i, j = np.ogrid[:rows, :columns]
                wanted = {
                    before_the_diagonal: j <= i,
                    before_another: j < i - 3,
                    from_the_diagonal_on: j >= i,
                    from_another_on: (i >= 4) & (j >= i - 3),
                    rectangle_and_triangle: (i >= 10) & (j >= 1) & (j < i),
                }[fn]
                target[~wanted] = np.nan
                expected, got = target.copy(order="K"), target.copy(order="K")
                scale, keep = dtype(2), dtype(3)
                added = a @ b.T
                expected[wanted] = {
                    before_the_diagonal: keep * target + scale * added,
                    before_another: target + scale * added,
                    from_the_diagonal_on: scale * added,
                    from_another_on: target - added,
                    rectangle_and_triangle: target + added,
                }[fn][wanted]
                work = 0

                def add(sides: tuple[int, ...]) -> None:
                    nonlocal work
                    work += sides[0] * sides[1]

                with calls(dtype, add) as made:
                    compiled(scale, keep, got, a, b)
                np.testing.assert_array_equal(got, expected)
                assert bool(made) == asks
                if asks:
                    assert (
                        np.count_nonzero(wanted) <= work <= np.count_nonzero(wanted) + 16 * (rows + columns)
                    )


def of_one(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            c[i, j] *= beta
            for k in range(a.shape[1]):
                c[i, j] += alpha * a[i, k] * a[j, k]


def exchanged(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            c[i, j] *= beta
            for k in range(a.shape[1]):
                c[i, j] += alpha * a[j, k] * b[i, k] + alpha * b[j, k] * a[i, k]


def exchanged_above(alpha, beta, c, a, b):
    """Without the diagonal: its squares are no functions of the library's."""
    for k in range(a.shape[1]):
        for i in range(c.shape[0]):
            for j in range(i + 1, c.shape[0]):
                c[i, j] += a[j, k] * alpha * b[i, k] + b[j, k] * alpha * a[i, k]


def exchanged_from_third(alpha, beta, c, a, b):
    for i in range(2, c.shape[0]):
        for j in range(i, c.shape[0]):
            for k in range(a.shape[1]):
                c[i, j] += b[i, k] * a[j, k] + a[i, k] * b[j, k]


SYMMETRIC = (of_one, exchanged, exchanged_above, exchanged_from_third)


@pytest.mark.sampled
@pytest.mark.parametrize("fn", SYMMETRIC)
@pytest.mark.parametrize(
    ("dtype", "threads", "machine"),
    [(np.float64, 1, FAST_THREADS), (np.float32, 3, FAST_THREADS), (np.complex128, 3, OWN)],
)
def test_symmetric_products_are_left_to_the_functions_for_them(
    fn: Callable[..., Any], dtype: Any, threads: int, machine: Machine
) -> None:
    """Whole numbers: all results are exact. What must not be touched is no number, and stays none."""
    compiled = appyc.jit(target="cpu")(fn)
    is_real = np.dtype(dtype).kind == "f"
    with using(machine), threads_of(threads):
        for side, summed in ((33, 40), (131, 20)):
            one, other = (RNG.integers(-4, 5, (side, summed)).astype(dtype) for _ in range(2))
            i, j = np.ogrid[:side, :side]
            wanted = {
                of_one: j <= i,
                exchanged: j <= i,
                exchanged_above: j > i,
                exchanged_from_third: (j >= i) & (i >= 2),
            }[fn]
            for turned in (False, True):
                a, b = (np.asfortranarray(x) if turned else x for x in (one, other))
                for order in "CF":
                    target = RNG.integers(-4, 5, (side, side)).astype(dtype, order=order)
                    target[~wanted] = np.nan
                    scale, keep = dtype(2), dtype(3)
                    half = a @ b.T
                    added = a @ a.T if fn is of_one else half + half.T
                    kept = keep * target if fn in (of_one, exchanged) else target
                    scaled_ = added if fn is exchanged_from_third else scale * added
                    expected, got = target.copy(order="K"), target.copy(order="K")
                    expected[wanted] = (kept + scaled_)[wanted]
                    with calls(dtype) as made:
                        compiled(scale, keep, got, a, b)
                    np.testing.assert_array_equal(got, expected)
                    asks = machine is FAST_THREADS or not is_real
                    assert bool(made) == asks
                    if asks and is_real and fn is not exchanged_above:
                        assert ("syrk" if fn is of_one else "syr2k") in made


def test_factors_exchanged_with_other_factors_are_two_products() -> None:
    def two(alpha, beta, c, a, b):  # type: ignore[no-untyped-def]
        for i in range(c.shape[0]):
            for j in range(i + 1):
                acc = 0.0
                for k in range(a.shape[1]):
                    acc += a[j, k] * b[i, k] + 2.0 * b[j, k] * a[i, k]
                c[i, j] = acc

    assert set(called(two, 1.0, 1.0, matrix(300, 300), matrix(300, 40), matrix(300, 40))) == {"gemm"}


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_where_compiled_code_is_faster_it_multiplies(dtype: Any, turned: tuple[bool, bool]) -> None:
    """Whole numbers: all results are exact. Sides are less than a tile, no multiple of one, and more than a part that
    is packed at a time."""
    compiled = appyc.jit(target="cpu")(scaled)
    for rows, columns, summed in ((8, 300, 9), (31, 41, 37), (64, 96, 64), (250, 9, 600), (13, 1700, 8)):
        a, b, c = (
            RNG.integers(-4, 5, shape).astype(dtype)
            for shape in ((rows, summed), (summed, columns), (rows, columns))
        )
        left, right = (np.asfortranarray(x) if turn else x for x, turn in zip((a, b), turned, strict=True))
        for target in (c, np.asfortranarray(c)):
            for keep in (0, 3):
                got = target.copy(order="K")
                if not keep:
                    got[:] = np.nan
                with using(OWN), calls(dtype) as made:
                    if keep:
                        compiled(dtype(2), dtype(keep), got, left, right)
                    else:
                        np.copyto(got, dtype(2) * appyc.jit(target="cpu")(product)(left, right))
                np.testing.assert_array_equal(got, (keep * c if keep else 0) + 2 * (a @ b))
                assert made == []


def test_what_is_no_number_spreads_as_in_a_library() -> None:
    a, b = matrix(40, 300), matrix(300, 33)
    a[39, 299], a[0], b[7, 32] = np.inf, 0.0, np.nan
    with using(OWN), calls() as made, np.errstate(invalid="ignore"):
        np.testing.assert_allclose(appyc.jit(target="cpu")(product)(a, b), a @ b, rtol=1e-12, atol=1e-12)
    assert made == []


def test_two_matrices_of_one_size_are_not_taken_for_one() -> None:
    a = matrix(47, 47)
    assert called(product, a, a) == ["gemm"]
    assert called(by_another, a, a.copy()) == ["gemm"]


@pytest.mark.parametrize(
    ("sides", "large"),
    [
        ((1, 1, ENOUGH), True),
        ((1, ENOUGH, 1), True),
        ((ENOUGH, 1, 1), True),
        ((8, 8, -(-ENOUGH // 64)), True),
        ((7, 8, ENOUGH // 64), False),
        ((1, 1, 1), False),
        ((0, 0, 0), False),
        ((0, 700, 700), False),
        ((700, 700, 0), False),
    ],
)
def test_small_products_stay_in_loops(sides: tuple[int, int, int], large: bool) -> None:
    rows, columns, summed = sides
    assert called(product, matrix(rows, summed), matrix(summed, columns)) == (["gemm"] if large else [])


@pytest.mark.parametrize(
    ("sides", "large"),
    [
        ((FEWEST - 1, 500, 500), False),
        ((500, FEWEST - 1, 500), False),
        ((500, 500, FEWEST - 1), False),
        ((FEWEST, FEWEST, -(-ENOUGH_APART // FEWEST**2)), True),
        ((FEWEST, FEWEST, ENOUGH_APART // FEWEST**2 - 1), False),
        ((0, 700, 700), False),
    ],
)
def test_products_among_other_work_are_apart_where_they_are_large(
    sides: tuple[int, int, int], large: bool
) -> None:
    rows, columns, summed = sides
    given = (matrix(rows, summed), matrix(summed, columns), matrix(1, columns)[0])
    assert called(layer, *given) == (["gemm"] if large else [])


def test_factors_with_strides_that_the_library_cannot_take_are_copied() -> None:
    a, b = matrix(30, 80), matrix(40, 50)
    fields = np.zeros((30, 40), [("pad", "f8"), ("x", "f8")])
    fields["x"] = a[:, :40]
    windows = np.lib.stride_tricks.sliding_window_view(matrix(1, 100)[0], 40)
    for left in (a[:, ::2], a[:, 39::-1], a[::-1, :40], a[::2, :40], fields["x"], windows):
        assert called(product, left, b) == ["gemm"]
        assert called(product, b.T, left.T) == ["gemm"]
    assert called(product, a[:, ::2], matrix(100, 80)[::2, 79::-2][:40]) == ["gemm"]
    repeated = np.broadcast_to(a[0, :40], (30, 40))
    assert called(product, repeated, b) == []  # a copy may be larger than all else


def below_the_diagonal(c: Any, a: Any, b: Any) -> None:
    for i in range(c.shape[0]):
        for j in range(i - 3):
            for k in range(a.shape[1]):
                c[i, j] += a[i - 4, k] * b[k, j]


def test_factors_of_a_triangle_are_not_copied() -> None:
    """Its first rows have no columns, and the left factor has no such rows."""
    c, a, b = matrix(60, 60), matrix(56, 80), matrix(40, 56)
    assert called(below_the_diagonal, c, a[:, :40], b) != []
    assert called(below_the_diagonal, c, a[:, ::2], b) == []
    assert called(below_the_diagonal, c, a[:, :40], np.repeat(b, 2, axis=1)[:, ::2]) == []


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
            with threads_of(threads), calls(then=lambda sides: seen.append(count())) as made:
                a, b = matrix(40, 33), matrix(33, 50)
                np.testing.assert_allclose(appyc.jit(target="cpu")(product)(a, b), a @ b, rtol=1e-12)
            assert made == ["gemm"] * threads
    assert set(seen) == {1}
    assert count() == before


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_stacks_of_products(dtype: Any, threads: int) -> None:
    """With matrices of their own, or one for all; more of them than threads, and fewer."""
    rough = np.finfo(dtype).eps * 2000
    compiled = appyc.jit(target="cpu")(product)

    def stack(count: int, rows: int, columns: int) -> Any:
        return matrix(count * rows, columns, dtype).reshape(count, rows, columns)

    with using(FAST_THREADS), threads_of(threads):
        for count in (0, 2, 3, 9):
            a, b = stack(count, 30, 41), stack(count, 41, 53)
            for left, right in (
                (a, b),
                (a[:, ::2], b),
                (a, b[0] if count else b),
                (a[::-1], b),
                (np.swapaxes(stack(count, 41, 30), 1, 2), b),
                (a[:, :4, :5], b[:, :5, :8]),
            ):
                with calls(dtype) as made:
                    np.testing.assert_allclose(compiled(left, right), left @ right, rtol=rough, atol=rough)
                one = right.ndim == 2
                asked = count > 0 and left.shape[2] > 5
                assert len(made) >= asked * (1 if one else count)
                assert bool(made) == asked
                assert len(made) <= asked * (threads if one else max(count, threads * count))


@pytest.mark.sampled
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
