"""Compositions of views and joins: np.vstack and its kin, np.rot90, np.trace."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import refuse
from appyc.library.table import of


@of(np.flipud)
def flipud(m: np.ndarray):
    """The rows in reverse order."""
    return np.flip(m, 0)


@of(np.fliplr)
def fliplr(m: np.ndarray):
    """The columns in reverse order."""
    return np.flip(m, 1)


@of(np.rot90)
def rot90(m: np.ndarray, k=1, axes=(0, 1)):
    """A rotation by a right angle, k times, from the first axis to the second."""
    first, second = axes
    if k % 4 == 0:
        return m
    if k % 4 == 1:
        return np.swapaxes(np.flip(m, second), first, second)
    if k % 4 == 2:
        return np.flip(m, axes)
    return np.flip(np.swapaxes(m, first, second), second)


@of(np.vstack)
def vstack(tup):
    """Arrays one below the other."""
    return np.concatenate(tuple(np.atleast_2d(part) for part in tup), 0)


@of(np.hstack)
def hstack(tup):
    """Concatenates arrays along the second axis."""
    return np.concatenate(tuple(np.atleast_1d(part) for part in tup), 0 if np.ndim(tup[0]) <= 1 else 1)


@of(np.dstack)
def dstack(tup):
    """Arrays one behind the other."""
    return np.concatenate(tuple(np.atleast_3d(part) for part in tup), 2)


@of(np.column_stack)
def column_stack(tup):
    """Vectors as columns, beside matrices."""
    return np.concatenate(tuple(part[:, None] if part.ndim == 1 else part for part in tup), 1)


@of(np.append)
def append(arr: np.ndarray, values: np.ndarray, axis=None):
    """Values behind an array, along an axis or in C order."""
    if axis is None:
        return np.concatenate((np.ravel(arr), np.ravel(values)))
    return np.concatenate((arr, values), axis)


def _index_along(arr, obj, most):
    """An index that may count from the end, of the axis 0."""
    if np.ndim(obj) != 0 or obj.dtype.kind not in ("i", "u"):
        refuse("this is compiled for one index")
    if obj < -arr.shape[0] or obj > most:
        raise IndexError(f"index {obj} is out of bounds for axis 0 with size {arr.shape[0]}")
    return obj + arr.shape[0] if obj < 0 else obj


@of(np.delete)
def delete(arr: np.ndarray, obj, axis=None):
    """The elements but for the one at an index of the first axis, or of all elements."""
    if axis is not None and axis != 0:
        refuse("np.delete is compiled for the first axis")
    values = np.ravel(arr) if axis is None else arr
    at = _index_along(values, obj, values.shape[0] - 1)
    return np.concatenate((values[:at], values[at + 1 :]))


@of(np.insert)
def insert(arr: np.ndarray, obj, values: np.ndarray, axis=None):
    """The elements of a vector, with others in front of the one at an index."""
    if arr.ndim != 1 or (axis is not None and axis != 0):
        refuse("np.insert is compiled for vectors")
    at = _index_along(arr, obj, arr.shape[0])
    return np.concatenate((arr[:at], np.ravel(values).astype(arr.dtype), arr[at:]))


@of(np.trace, method="trace")
def trace(a: np.ndarray, offset=0, axis1=0, axis2=1):
    """The sum along a diagonal."""
    return np.sum(np.diagonal(a, offset, axis1, axis2), -1)


@of(np.linalg.outer)
def outer_of_vectors(x1: np.ndarray, x2: np.ndarray):
    """The products of all pairs of elements of two vectors."""
    return np.multiply.outer(x1, x2)


@of(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: np.ndarray):
    """The transposed matrices of a stack."""
    return np.swapaxes(x, -1, -2)


@of(np.vecdot, np.linalg.vecdot)
def vecdot(x1: np.ndarray, x2: np.ndarray, axis=-1):
    """The sum of products of vectors along an axis, the first ones conjugated."""
    products = np.conj(x1) * x2
    return np.sum(products, axis, products.dtype)


@of(np.linalg.trace)
def trace_of_matrices(x: np.ndarray, offset=0):
    """The sums along the diagonals of matrices."""
    return np.sum(np.diagonal(x, offset, -2, -1), -1)


@of(np.linalg.diagonal)
def diagonal_of_matrices(x: np.ndarray, offset=0):
    """The diagonals of matrices."""
    return np.diagonal(x, offset, -2, -1)


@of(np.tri)
def tri(N, M=None, k=0, dtype=np.float64):  # noqa: N803  (NumPy's names)
    """Ones on a diagonal and below it."""
    return np.tril(np.ones((max(N, 0), max(N if M is None else M, 0)), dtype), k)


@of(np.diag_indices)
def diag_indices(n, ndim=2):
    """The positions 0 to n - 1, once for each axis."""
    return (np.arange(n),) * ndim


@of(np.triu_indices)
def triu_indices(n, k=0, m=None):
    """The indices of a matrix on a diagonal and above it."""
    columns = n if m is None else m
    return np.nonzero(np.arange(n)[:, None] + k <= np.arange(columns))


@of(np.tril_indices)
def tril_indices(n, k=0, m=None):
    """The indices of a matrix on a diagonal and below it."""
    columns = n if m is None else m
    return np.nonzero(np.arange(n)[:, None] + k >= np.arange(columns))


@of(np.vdot)
def vdot(a: np.ndarray, b: np.ndarray):
    """The product of the elements in C order, the first's conjugate."""
    return np.dot(np.conjugate(np.ravel(a)), np.ravel(b))


@of(np.outer)
def outer(a: np.ndarray, b: np.ndarray):
    """The products of all pairs of elements."""
    return np.multiply.outer(np.ravel(a), np.ravel(b))


@of(np.cross)
def cross(a: np.ndarray, b: np.ndarray, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The vector product, along the last axis or those that are named."""
    x = np.moveaxis(a, axisa if axis is None else axis, -1)
    y = np.moveaxis(b, axisb if axis is None else axis, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
    x0, x1, x2 = x[..., 0], x[..., 1], x[..., 2]
    y0, y1, y2 = y[..., 0], y[..., 1], y[..., 2]
    parts = (x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0)
    return np.stack(parts, axisc if axis is None else axis)


@of(np.linalg.cross)
def cross_along(x1: np.ndarray, x2: np.ndarray, axis=-1):
    """The vector product along an axis."""
    return cross(x1, x2, axis=axis)


@of(np.count_nonzero)
def count_nonzero(a: np.ndarray, axis=None, keepdims=False):
    """The number of elements that are not zero."""
    return np.sum(a != 0, axis, keepdims=keepdims)


@of(np.flatnonzero)
def flatnonzero(a: np.ndarray):
    """The indices in C order of the elements that are not zero."""
    return np.nonzero(np.ravel(a))[0]


@of(np.argwhere)
def argwhere(a: np.ndarray):
    """The indices of the elements that are not zero, a row for each."""
    return np.stack(np.nonzero(a), 1)


@of(np.compress)
def compress(condition: np.ndarray, a: np.ndarray, axis=None):
    """The elements along an axis for which a condition holds, which may be shorter."""
    if condition.ndim != 1:
        refuse("condition must be a 1-d array")
    return np.take(a, np.nonzero(condition)[0], axis)


@of(method="compress")
def compressed(a: np.ndarray, condition: np.ndarray, axis=None):
    """The elements along an axis for which a condition holds."""
    return compress(condition, a, axis)


@of(np.extract)
def extract(condition: np.ndarray, arr: np.ndarray):
    """The elements for which a condition holds, in C order."""
    return np.ravel(arr)[np.nonzero(np.ravel(condition))[0]]


def positions_within(positions, n):
    """Positions along an axis, those below 0 counted from its end."""
    given = positions.astype(np.int64)
    at = np.where(given < 0, given + n, given)
    if np.any((at < 0) | (at >= n)):
        raise IndexError("index out of bounds of the sliced array")
    return at
