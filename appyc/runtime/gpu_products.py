"""Matrix products of a GPU program's host function, computed by the array library: cuBLAS, through CuPy."""

from __future__ import annotations

from typing import Any, TypeAlias

from appyc.ir.machine_model import ENOUGH_APART, FEWEST

ElementIndex: TypeAlias = tuple[int, ...]

Matrix: TypeAlias = tuple[Any, ElementIndex, ElementIndex, ElementIndex]
"""An array, and the indices of three elements: the matrix's first, the next in its column, the next in its row."""


def multiply(
    library: Any,
    sides: tuple[int, int, int],
    scale: Any,
    keep: Any,
    target: Matrix,
    left: Matrix,
    right: Matrix,
) -> bool:
    """`target = keep * target + scale * (left @ right)`; False, and nothing done, where that is not worth a call.

    library: NumPy or CuPy. sides: rows and columns of the target, and the length that is summed over. scale, keep:
    None for 1, and where the target is not read.
    """
    rows, columns, summed = (int(side) for side in sides)
    if min(rows, columns, summed) < FEWEST or rows * columns * summed < ENOUGH_APART:
        return False
    product = library.matmul(_view(library, left, (rows, summed)), _view(library, right, (summed, columns)))
    if scale is not None:
        product *= scale
    into = _view(library, target, (rows, columns))
    if keep is not None:
        product += into * keep
    into[...] = product
    return True


def _view(library: Any, matrix: Matrix, shape: tuple[int, int]) -> Any:
    array, first, below, beside = matrix
    strides = (_distance(array, first, below), _distance(array, first, beside))
    corner = array[tuple(slice(int(n), int(n) + 1) for n in first)]
    return library.lib.stride_tricks.as_strided(corner, shape, strides)


def _distance(array: Any, start: ElementIndex, end: ElementIndex) -> int:
    """Bytes from one element to another."""
    return sum((int(b) - int(a)) * s for a, b, s in zip(start, end, array.strides, strict=True))
