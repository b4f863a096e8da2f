"""The static model of GPU kernels: what it reads from the assembler's output, and figures that must not get worse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appyc
from benchmarks.gpu_static import GPUS, rows_of
from benchmarks.sass import Instruction, counts


def triad(a, b, c, s):
    for i in range(a.shape[0]):
        a[i] = b[i] + s * c[i]


def five_points(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.2 * (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def seven_points(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for k in range(1, a.shape[2] - 1):
                across = a[i - 1, j, k] + a[i + 1, j, k] + a[i, j - 1, k] + a[i, j + 1, k]
                b[i, j, k] = across + a[i, j, k - 1] + a[i, j, k + 1] - 6.0 * a[i, j, k]


def larger_ones(a, b, c):
    for i in range(a.shape[0]):
        c[i] = a[i] * a[i] - b[i] if a[i] > b[i] else b[i] * b[i] + a[i]


def trigonometry(x):
    return np.sin(x) ** 2 + np.cos(x) ** 2


def limited_rows(a, b):
    for i in range(2, a.shape[0] - 2):
        for j in range(a.shape[1]):
            up = a[i - 1, j] - a[i - 2, j]
            if up * (a[i + 1, j] - a[i, j]) > 0.0:
                up = a[i + 2, j]
            b[i, j] = up * a[i, j]


def row_sums(a, s):
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j]
        s[i] = total


def matrix_vector(a, x):
    return a @ x


def pairs(x, y, force):
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[0]):
            total += y[j] / np.sqrt((x[j] - x[i]) ** 2 + 1.0)
        force[i] = total


def rank_two(a, u, v, x, y):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] + u[i] * v[j] + x[i] * y[j]


def softmax(x):
    e = np.exp(x - np.max(x, axis=1)[:, None])
    return e / np.sum(e, axis=1)[:, None]


def column_sums(a, s):
    for j in range(a.shape[1]):
        total = 0.0
        for i in range(a.shape[0]):
            total += a[i, j]
        s[j] = total


def small_products(c, a, b):
    for n in range(c.shape[0]):
        for i in range(c.shape[1]):
            for j in range(c.shape[2]):
                total = 0.0
                for k in range(a.shape[2]):
                    total += a[n, i, k] * b[n, k, j]
                c[n, i, j] = total


def triangle(c, a):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * a[j, k]


def histogram(h, key):
    for i in range(key.shape[0]):
        h[key[i]] += 1


def scaled(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = 2.0 * a[i, j]


def transposed(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]


def weighted_histogram(h, key, w):
    for i in range(key.shape[0]):
        h[key[i]] += w[i]


def channel_means(a):
    return np.mean(a, axis=(0, 1, 2))


def image_histogram(h, image):
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            h[image[i, j]] += 1


def plane(rows: int, columns: int) -> np.ndarray:
    return np.zeros((rows, columns))


PROGRAMS: list[tuple[Callable[..., Any], list[Any]]] = [
    (triad, [np.zeros(1 << 20), np.zeros(1 << 20), np.zeros(1 << 20), 2.0]),
    (
        triad,
        [np.zeros(1 << 20, np.float32), np.zeros(1 << 20, np.float32), np.zeros(1 << 20, np.float32), 2.0],
    ),
    (five_points, [plane(2048, 2048), plane(2048, 2048)]),
    (seven_points, [np.zeros((256, 256, 256)) for _ in range(2)]),
    (trigonometry, [np.zeros(1 << 24)]),
    (larger_ones, [np.zeros(1 << 20), np.zeros(1 << 20), np.zeros(1 << 20)]),
    (limited_rows, [plane(2048, 2048), plane(2048, 2048)]),
    (row_sums, [plane(4096, 4096), np.zeros(4096)]),
    (matrix_vector, [plane(4096, 4096), np.zeros(4096)]),
    (pairs, [np.zeros(8192), np.zeros(8192), np.zeros(8192)]),
    (rank_two, [plane(2048, 2048), *(np.zeros(2048) for _ in range(4))]),
    (column_sums, [plane(2048, 2048), np.zeros(2048)]),
    (channel_means, [np.zeros((8, 128, 128, 64))]),
    (softmax, [plane(4096, 1024)]),
    (triangle, [plane(1200, 1200), plane(1200, 1000)]),
    (triangle, [plane(4000, 4000), plane(4000, 1000)]),
    (histogram, [np.zeros(256, np.int64), np.zeros(1 << 24, np.int64)]),
    (image_histogram, [np.zeros(256, np.int64), np.zeros((4096, 4096), np.int64)]),
    (weighted_histogram, [np.zeros(256), np.zeros(1 << 24, np.int64), np.zeros(1 << 24)]),
    (small_products, [np.zeros((1000, 16, 16)) for _ in range(3)]),
    (scaled, [plane(1 << 20, 3), plane(1 << 20, 3)]),
    (transposed, [plane(2048, 2048), plane(2048, 2048)]),
    (row_sums, [plane(1 << 20, 8), np.zeros(1 << 20)]),
    (softmax, [plane(1 << 17, 10)]),
]


@pytest.mark.sampled
@pytest.mark.parametrize("arch", [pytest.param(a, marks=pytest.mark.slow if a != "90" else ()) for a in GPUS])
def test_figures_are_the_golden_ones(golden: Callable[[str, str], None], arch: str) -> None:
    lines = []
    for function, arguments in PROGRAMS:
        jitted = appyc.jit(target="gpu", cache=False)(function)
        for row in rows_of(function.__name__, jitted, arguments, GPUS[arch], f"cuda:{arch}"):
            lines.append(
                f"{row.kernel}: {row.programs} programs of {row.lanes} lanes, {row.registers} registers, "
                f"{row.spilled} spilled, accesses of {row.widths} bytes, {row.issued:.1f} issued, {row.beside:.1f} "
                f"beside, {row.bytes:.0f} bytes, bound by {row.bound}, {row.of_copy:.2f} of copy, "
                f"{row.of_peak:.2f} of peak"
            )
    golden(f"gpu_static_{arch}.txt", "\n".join(lines) + "\n")


def listing(*lines: str) -> list[Instruction]:
    return [Instruction(16 * n, *line.split(maxsplit=1)) for n, line in enumerate(lines)]


def test_the_innermost_loop_counts() -> None:
    found = counts(
        listing(
            "MOV R1, R2", "LDG .E.64 R4, [R2]", "FADD R1, R1, R3",
            "LDG .E.128 R8, [R2]", "DADD R8, R8, R10", "BRA 0x30",
            "STG .E.64 [R2], R8", "BRA 0x10", "EXIT now",
        )
    )  # fmt: skip
    assert (found.issued, found.doubles, found.arithmetic, found.accesses) == (3, 1, 1, 1)
    assert (found.loaded, found.stored, found.widths) == (16, 0, (16,))


def test_loads_of_neighbours_count_once_for_a_warp() -> None:
    """A warp loads 256 bytes at once; 8 bytes further on it brings 8 new ones, a quarter of a byte for each thread."""
    lines = [
        f"LDG .E.64 R{n}, desc[UR6][R2.64{offset}]" for n, offset in ((4, ""), (6, "+0x8"), (8, "+0x1000"))
    ]
    assert counts(listing(*lines, "EXIT now")).loaded == 8 + 0.25 + 8
    assert counts(listing(lines[0], "IADD3 R2, R2, R9", lines[1], "EXIT now")).loaded == 16
    again = [
        "IADD3 R8, P1, R2, R9, RZ", "LDG .E.64 R4, desc[UR6][R8.64]",
        "IMAD .IADD R10, R9, 0x1, R2", "LDG .E.64 R6, desc[UR6][R10.64+0x8]",
    ]  # fmt: skip
    assert counts(listing(*again, "EXIT now")).loaded == 8.25


def test_tile_products_count_as_long_as_they_take() -> None:
    """A warp's 8 * 8 * 4 or 16 * 8 * 16 multiplications, at twice the rate of DFMA."""
    found = counts(listing("DMMA .884 R4, R2", "DMMA .16x8x16 R4, R2", "DFMA R2, R3", "EXIT now"))
    assert (found.issued, found.arithmetic, found.tiles, found.doubles) == (4, 3, 2, 4 + 32 + 1)


def test_without_a_loop_all_counts() -> None:
    found = counts(listing("LDG .E R4, [R2]", "FADD R1, R1, R4", "STG .E [R2], R1", "EXIT now"))
    assert (found.issued, found.loaded, found.stored, found.widths) == (4, 4, 4, (4,))


def test_of_two_versions_that_of_programs_at_no_edge_counts() -> None:
    found = counts(
        listing(
            "BRA 0x40", "LDG .E R4, [R2]", "STG .E [R2], R4", "EXIT now",
            "MOV R4, R5", "LDG .E R4, [R2]", "STG .E [R2], R4", "EXIT now",
        )
    )  # fmt: skip
    assert (found.issued, found.loaded, found.stored) == (4, 4, 4)


def test_a_branch_without_versions_counts_whole() -> None:
    found = counts(listing("BRA 0x20", "LDG .E R4, [R2]", "STG .E [R2], R4", "EXIT now"))
    assert (found.issued, found.loaded, found.stored) == (4, 4, 4)


def test_a_loop_counts_that_is_jumped_over_with_a_call_in_it() -> None:
    found = counts(
        listing(
            "BRA 0x70", "LDG .E.64 R4, [R2]", "BRA 0x50", "DADD R4, R4, R6", "BRA 0x10",
            "CALL .REL.NOINC 0x80", "BRA 0x30", "EXIT now", "DFMA R2, R3", "RET now",
        )
    )  # fmt: skip
    assert (found.doubles, found.loaded, found.in_loop) == (1, 8, True)


def test_calls_for_few_arguments_and_tables_do_not_count() -> None:
    """The function at the end has a loop, which would have the most arithmetic."""
    found = counts(
        listing(
            "LDG .E.64 R4, [R2]", "BSSY B1, 0x60", "BRA 0x60", "BSSY B2, 0x50", "CALL .REL.NOINC 0xa0",
            "BSYNC B2", "BSYNC B1", "LDG .E.64.CONSTANT R6, [R8+0x8]", "STG .E.64 [R2], R4", "EXIT now",
            "DFMA R2, R3", "DFMA R2, R3", "LDG .E.64.CONSTANT R6, [R8]", "BRA 0xa0", "RET now",
        )
    )  # fmt: skip
    assert (found.issued, found.loaded, found.stored, found.in_loop) == (7, 8, 8, False)


def test_functions_that_all_arguments_call_count() -> None:
    """Threads meet behind the call, but none jumps over it. The jump to the version at an edge is all threads'."""
    found = counts(
        listing(
            "BRA 0x50", "LDG .E.64 R4, [R2]", "BSSY B0, 0x50", "CALL .REL.NOINC 0x80", "BSYNC B0",
            "DADD R4, R4, R4", "STG .E.64 [R2], R4", "EXIT now", "DFMA R2, R3", "DMUL R2, R3", "RET now",
        )
    )  # fmt: skip
    assert (found.issued, found.doubles) == (10, 3)
