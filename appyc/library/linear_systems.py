"""Functions of np.linalg that factorise one matrix: systems of linear equations, inverses, determinants.

They are compiled in loops. A call outside of all loops is LAPACK's, which computes in blocks: of 64 equations both
take equally long, of 4 the text takes a tenth of the time.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.primitives import refuse
from appyc.library.table import of

MOST_ROWS = 64
"""The most rows of a matrix that loops factorise in as little time as LAPACK."""

SMALL = MOST_ROWS * MOST_ROWS
"""The number of elements of a matrix with MOST_ROWS rows."""


def _sized(number):
    """LAPACK's measure of an element, by which it chooses pivots."""
    return abs(number.real) + abs(number.imag)


def _square(a):
    """A new matrix of the type that LAPACK computes in."""
    if a.ndim != 2 or a.dtype.name == "float16":
        refuse("this is compiled for one matrix of float32, float64, or integers")
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return a.copy() if a.dtype.kind in ("f", "c") else a.astype(np.float64)


def _factorise(lu, rows):
    """Gaussian elimination with partial pivoting, in place (Golub and Van Loan, Matrix Computations, 3.4): L without
    its diagonal of ones below the diagonal, U above. Exchanges `rows` along. Gives the sign of the permutation, and
    whether a pivot is zero."""
    n = lu.shape[0]
    sign, is_singular = 1.0, False
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if _sized(lu[i, k]) > _sized(lu[pivot, k]):
                pivot = i
        if pivot != k:
            sign = -sign
            rows[k], rows[pivot] = rows[pivot], rows[k]
            for j in range(n):
                lu[k, j], lu[pivot, j] = lu[pivot, j], lu[k, j]
        if lu[k, k] == 0:
            is_singular = True
        else:
            for i in range(k + 1, n):
                lu[i, k] /= lu[k, k]
                for j in range(k + 1, n):
                    lu[i, j] -= lu[i, k] * lu[k, j]
    return sign, is_singular


@of(np.linalg.solve, in_loops=SMALL)
def solve(a: np.ndarray, b: np.ndarray):
    """x of a @ x = b, of a vector b or of the columns of a matrix."""
    if b.ndim > 2 or b.dtype.name == "float16":
        refuse("np.linalg.solve is compiled for vectors and matrices")
    lu = _square(a * b.dtype.type(1))
    n = lu.shape[0]
    if b.shape[0] != n:
        raise ValueError(f"solve: b has {b.shape[0]} rows, and a has {n}")
    rows = np.arange(n)
    _sign, is_singular = _factorise(lu, rows)
    if is_singular:
        raise np.linalg.LinAlgError("Singular matrix")
    x = b[rows] * lu.dtype.type(1)
    for i in range(n):
        for k in range(i):
            x[i] -= lu[i, k] * x[k]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= lu[i, k] * x[k]
        x[i] /= lu[i, i]
    return x


@of(np.linalg.inv, in_loops=SMALL)
def inv(a: np.ndarray):
    """The matrix of which the product with a is the identity."""
    return solve(a, np.eye(a.shape[-1], dtype=a.dtype))


@of(np.linalg.det, in_loops=SMALL)
def det(a: np.ndarray):
    """The determinant, by factors."""
    lu = _square(a)
    found, _is_singular = _factorise(lu, np.arange(a.shape[0]))
    product = lu.dtype.type(found)
    for k in range(a.shape[0]):
        product *= lu[k, k]
    return product


_Slogdet = type(np.linalg.slogdet(np.eye(1)))


@of(np.linalg.slogdet, in_loops=SMALL)
def slogdet(a: np.ndarray):
    """The sign of the determinant, for complex numbers a number of size 1, and the logarithm of its size."""
    lu = _square(a)
    found, is_singular = _factorise(lu, np.arange(a.shape[0]))
    sign, size = lu.dtype.type(found), lu.real.dtype.type(0)
    for k in range(a.shape[0]):
        sign *= lu[k, k] / abs(lu[k, k])
        size += np.log(abs(lu[k, k]))
    if is_singular:
        sign, size = lu.dtype.type(0), lu.real.dtype.type(-np.inf)
    return _Slogdet(sign, size)


@of(np.linalg.matrix_power, in_loops=SMALL)
def matrix_power(a: np.ndarray, n):
    """The product of n matrices, by squaring; of -n inverses where n is negative."""
    if a.dtype.kind not in ("f", "c"):
        refuse("the sign of n tells whether powers of integers are integers")
    power = _square(a)
    if n < 0:
        power = inv(a)
    out = np.eye(a.shape[0], dtype=power.dtype)
    left = abs(n)
    while left > 0:
        if left % 2 == 1:
            out = out @ power
        power = power @ power
        left //= 2
    return out


@of(np.linalg.cholesky, in_loops=SMALL)
def cholesky(a: np.ndarray, *, upper=False):
    """The triangle L of which L times its conjugate transpose is a, whose lower triangle alone is read."""
    low = _square(a)
    n = low.shape[0]
    if upper:
        refuse("np.linalg.cholesky is compiled for lower triangles")
    for j in range(n):
        left = low[j, j].real
        for k in range(j):
            left -= low[j, k].real ** 2 + low[j, k].imag ** 2
        if left <= 0:  # NaN passes, as in OpenBLAS
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        root = np.sqrt(left)
        low[j, j] = root
        for i in range(j + 1, n):
            for k in range(j):
                low[i, j] -= low[i, k] * np.conj(low[j, k])
            low[i, j] /= root
        for i in range(j):
            low[i, j] = 0
    return low
