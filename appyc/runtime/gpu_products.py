"""Matrix products of a GPU program's host function: by the array library (cuBLAS, through CuPy) or a tiled kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from appyc.ir.machine_model import ENOUGH_APART, FEWEST

ElementIndex: TypeAlias = tuple[int, ...]

Matrix: TypeAlias = tuple[Any, ...]
"""An array, and the indices of elements: the matrix's first, the next in its column, the next in its row, and in a
stack the first of the next matrix."""

TiledKernel: TypeAlias = tuple[str, int, int]
"""A kernel's name, and the rows and columns of its tiles."""

LOADING = 48
"""An element that is loaded takes as long as so many multiplications: 67 TFlop/s to 5.5 TB/s from the L2 cache."""


def multiply(
    library: Any,
    launch: Callable[..., None],
    processors: int,
    kernels: Sequence[TiledKernel],
    sides: tuple[int, int, int],
    scale: Any,
    keep: Any,
    target: Matrix,
    left: Matrix,
    right: Matrix,
    *exchanged: Matrix,
    edge: int | None = None,
    ends: bool = True,
    of_sums: bool = False,
    count: int | None = None,
) -> None:
    """`target = keep * target + scale * (left @ right)`, of a triangle or for a stack too.

    library: NumPy or CuPy. launch, processors: of the device. kernels: those that there are to choose from. sides: rows
    and columns of the target, and the length that is summed over. scale, keep: None for 1, and where the target is not
    read. exchanged, edge: as of `ProductCall`. ends: whether rows end at the edge, not begin. of_sums: whether sums
    do, not rows. count: of a stack.
    """
    rows, columns, summed = (max(int(side), 0) for side in sides)
    members = 1 if count is None else int(count)
    if (
        edge is not None and not of_sums and ends and edge < 1
    ):  # rows without columns, whose elements need not exist
        target, left = _below(target, 1 - edge), _below(left, 1 - edge)
        exchanged = tuple(_below(m, 1 - edge) for m in exchanged[:1]) + exchanged[1:]
        rows, edge = rows - (1 - int(edge)), 1
    elif edge is not None and not ends:
        rows = min(rows, columns - int(edge))
    if rows <= 0 or columns <= 0 or members <= 0:
        return
    shapes = ((rows, columns), (rows, summed), (summed, columns), (rows, summed), (summed, columns))
    views = [
        _view(library, matrix, (members, *shape))
        for matrix, shape in zip((target, left, right, *exchanged), shapes, strict=False)
    ]
    if edge is None and count is None and not exchanged and _is_large(rows, columns, summed):
        _by_library(library, scale, keep, *(view[0] for view in views))
        return
    strides = [[n // view.dtype.itemsize for n in view.strides] for view in views]
    layout = sum(_unit_stride(n) * 3**digit for digit, n in enumerate(strides[:3]))
    kernel, programs = choose_tiles(kernels, rows, columns, members, processors)
    numbers = [n for n in (scale, keep) if n is not None]
    sizes = (rows, columns, summed, int(edge or 0))
    for number, digit in enumerate((0, 1, 2, 2, 1)[: len(strides)]):
        known = layout // 3**digit % 3
        if known:  # the kernel has it as a constant; 1 would leave the others without a common divisor
            strides[number][3 - known if number < 3 else known] = 0
    launch(kernel, programs, layout, *views, *sizes, *(n for group in strides for n in group), *numbers)


def choose_tiles(
    kernels: Sequence[TiledKernel], rows: int, columns: int, members: int, processors: int
) -> tuple[str, int]:
    """The kernel that is done first, and its programs: a multiprocessor multiplies all of a tile, and loads its sides,
    once for each element of the sum. processors: how many run programs at once."""

    def cost(tiled: TiledKernel) -> int:
        _, height, width = tiled
        return -(-programs(tiled) // max(processors, 1)) * max(height * width, LOADING * (height + width))

    def programs(tiled: TiledKernel) -> int:
        _, height, width = tiled
        return members * -(-rows // height) * -(-columns // width)

    best = min(kernels, key=cost)
    return best[0], programs(best)


def _is_large(*sides: int) -> bool:
    """Whether a product is worth a call of the library."""
    return min(sides) >= FEWEST and sides[0] * sides[1] * sides[2] >= ENOUGH_APART


def _by_library(library: Any, scale: Any, keep: Any, target: Any, left: Any, right: Any) -> None:
    product = library.matmul(left, right)
    if scale is not None:
        product *= scale
    if keep is not None:
        product += target * keep
    target[...] = product


def _unit_stride(strides: list[int]) -> int:
    """The digit of a matrix in the constexpr LAYOUT of a kernel."""
    _, row, column = strides
    return 1 if column == 1 else 2 if row == 1 else 0


def _view(library: Any, matrix: Matrix, shape: tuple[int, int, int]) -> Any:
    """The matrices of a stack, or the only one, as an array with three axes."""
    array, first, below, beside, *beyond = matrix
    strides = (
        _distance(array, first, beyond[0]) if beyond else 0,
        _distance(array, first, below),
        _distance(array, first, beside),
    )
    corner = array[tuple(slice(int(n), int(n) + 1) for n in first)]
    return library.lib.stride_tricks.as_strided(corner, shape, strides)


def _below(matrix: Matrix, rows: int) -> Matrix:
    """The part of a matrix below its first rows."""
    array, first, below, beside = matrix
    moved = [tuple(int(n) + rows * (int(b) - int(a)) for n, a, b in zip(corner, first, below, strict=True))
             for corner in (first, below, beside)]  # fmt: skip
    return (array, *moved)


def _distance(array: Any, start: ElementIndex, end: ElementIndex) -> int:
    """Bytes from one element to another."""
    return sum((int(b) - int(a)) * s for a, b, s in zip(start, end, array.strides, strict=True))
