"""Orthogonal factorisations of one real matrix in loops: QR, singular values, least squares, eigenvalues.

Rotations after Jacobi make columns orthogonal, or a matrix diagonal: of small matrices they take no longer than
LAPACK's reductions. Vectors of which a factorisation leaves the signs open are the library's. What LAPACK computes in
double precision for float32 is computed so here.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.linear_systems import SMALL
from appyc.library.primitives import refuse
from appyc.library.sorting import sort_vector
from appyc.library.table import of

_EPSILON = 2.0**-52
_SWEEPS = 60
"""More than ever needed: the rotations converge quadratically."""


def _doubles(a):
    """A copy of a matrix in double precision."""
    if a.ndim != 2 or a.dtype.kind == "c" or a.dtype.name == "float16":
        refuse("this is compiled for one real matrix")
    return a.astype(np.float64)


def _as_given(x, a):
    """The result in the type of the matrix that was given."""
    return x.astype(np.float32) if a.dtype.name == "float32" else x


def _tangent(difference, double):
    """The tangent of the smaller angle of the rotation that makes `double` / 2 zero (Rutishauser 1966)."""
    ratio = difference / double
    return (1.0 if ratio >= 0 else -1.0) / (abs(ratio) + np.sqrt(1.0 + ratio * ratio))


def _rotate(one, other, t):
    """Rotates two vectors by an angle of tangent t, in place."""
    c = 1.0 / np.sqrt(1.0 + t * t)
    s = c * t
    for i in range(one.shape[0]):
        x, y = one[i], other[i]
        one[i] = c * x - s * y
        other[i] = s * x + c * y


def _orthogonal_rows(u, v):
    """Rotates rows of u, and those of v with them, until each two rows of u are orthogonal (Hestenes 1958)."""
    n = u.shape[0]
    for _ in range(_SWEEPS):
        turned = False
        for p in range(n):
            for q in range(p + 1, n):
                across = 0.0
                of_p, of_q = 0.0, 0.0
                for i in range(u.shape[1]):
                    of_p += u[p, i] * u[p, i]
                    of_q += u[q, i] * u[q, i]
                    across += u[p, i] * u[q, i]
                if abs(across) > _EPSILON * np.sqrt(of_p * of_q):
                    turned = True
                    t = _tangent(of_q - of_p, 2.0 * across)
                    _rotate(u[p], u[q], t)
                    _rotate(v[p], v[q], t)
        if not turned:
            break


def _lengths(u):
    return np.sqrt(np.sum(u * u, axis=1))


def _descending(values):
    """The values in order, the largest first."""
    sort_vector(values, len(values))
    return values[::-1].copy()


@of(np.linalg.svdvals, in_loops=SMALL)
def svdvals(x: np.ndarray):
    """The singular values, the largest first."""
    a = _doubles(x)
    m, n = a.shape
    u = np.empty((min(m, n), max(m, n)))
    for i in range(m):
        for j in range(n):
            if m < n:
                u[i, j] = a[i, j]
            else:
                u[j, i] = a[i, j]
    _orthogonal_rows(u, np.zeros((u.shape[0], 0)))
    return _as_given(_descending(_lengths(u)), x)


@of(np.linalg.svd, in_loops=SMALL)
def svd(a: np.ndarray, full_matrices=True, compute_uv=True, hermitian=False):
    """The singular values; the singular vectors are the library's."""
    if compute_uv or hermitian:
        refuse("np.linalg.svd is compiled for singular values without vectors")
    return svdvals(a)


@of(np.linalg.matrix_rank, in_loops=SMALL)
def matrix_rank(A: np.ndarray, tol=None, hermitian=False, *, rtol=None):  # noqa: N803  (NumPy's name)
    """The number of singular values above a tolerance."""
    if hermitian:
        refuse("np.linalg.matrix_rank is compiled for any matrix")
    values = svdvals(A)
    share = max(A.shape[0], A.shape[1]) * np.finfo(values.dtype).eps if rtol is None else rtol
    least = (np.max(values) if len(values) > 0 else 0.0) * share if tol is None else tol
    return np.count_nonzero(values > least)


@of(np.linalg.cond, in_loops=SMALL)
def cond(x: np.ndarray, p=None):
    """The largest singular value over the smallest one."""
    if p is not None and p != 2:
        refuse("np.linalg.cond is compiled for the norm 2")
    if x.shape[0] == 0 or x.shape[1] == 0:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    values = svdvals(x)
    return values[0] / values[-1]


def _solved(a, b, share):
    """The solution of a @ x = b of least squares and least length, for columns b, and the rank of a. share: of the
    largest singular value; smaller ones count as zero."""
    v = np.eye(a.shape[1])
    u = a.T.copy()
    _orthogonal_rows(u, v)
    values = _lengths(u)
    least = share * (np.max(values) if len(values) > 0 else 0.0)
    x = np.zeros((a.shape[1], b.shape[1]))
    rank = 0
    for k in range(len(values)):
        if values[k] > least:
            rank += 1
            for j in range(b.shape[1]):
                part = 0.0
                for i in range(a.shape[0]):
                    part += u[k, i] * b[i, j]
                part = part / values[k] / values[k]
                for i in range(a.shape[1]):
                    x[i, j] += part * v[k, i]
    return x, rank, values


@of(np.linalg.pinv, in_loops=SMALL)
def pinv(a: np.ndarray, rcond=None, hermitian=False):
    """The Moore-Penrose inverse."""
    if hermitian:
        refuse("np.linalg.pinv is compiled for any matrix")
    x, _rank, _values = _solved(_doubles(a), np.eye(a.shape[0]), 1e-15 if rcond is None else rcond)
    return _as_given(x, a)


@of(np.linalg.lstsq, in_loops=SMALL)
def lstsq(a: np.ndarray, b: np.ndarray, rcond=None):
    """The solution of least squares, the sums of squares that it leaves, the rank, and the singular values."""
    if (
        b.ndim > 2
        or b.dtype.kind == "c"
        or b.dtype.name == "float16"
        or (a.dtype.name == "float32") != (b.dtype.name == "float32")
    ):
        refuse("np.linalg.lstsq is compiled for real numbers")
    m, n = a.shape
    if m != b.shape[0]:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    matrix, columns = _doubles(a), b.astype(np.float64).reshape(m, 1 if b.ndim == 1 else b.shape[1])
    x, rank, values = _solved(matrix, columns, _EPSILON * max(m, n) if rcond is None else rcond)
    count = columns.shape[1] if rank == n and m > n else 0
    rest = (columns - matrix @ x)[:, :count]
    ordered = _descending(values)
    out = x[:, 0] if b.ndim == 1 else x
    squares = np.sum(rest * rest, axis=0)
    return _as_given(out, a), _as_given(squares, a), np.int32(rank), _as_given(ordered[: min(m, n)], a)


@of(np.polyfit, in_loops=SMALL)
def polyfit(x: np.ndarray, y: np.ndarray, deg, rcond=None, full=False, w=None, cov=False):
    """The coefficients of the polynomial of least squares, the highest power first."""
    if (
        full
        or cov
        or w is not None
        or y.ndim != 1
        or x.ndim != 1
        or x.dtype.kind == "c"
        or y.dtype.kind == "c"
    ):
        refuse("np.polyfit is compiled for coefficients of vectors of real numbers")
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if len(x) == 0:
        raise TypeError("expected non-empty vector for x")
    if len(x) != len(y):
        raise TypeError("expected x and y to have same length")
    powers = np.ones((len(x), deg + 1))
    for k in range(deg - 1, -1, -1):
        for i in range(len(x)):
            powers[i, k] = powers[i, k + 1] * x[i]
    scale = _lengths(powers.T)
    powers /= scale
    share = len(x) * np.finfo(x.dtype if x.dtype.kind == "f" else np.float64).eps if rcond is None else rcond
    found, _rank, _values = _solved(powers, y.astype(np.float64).reshape(len(y), 1), share)
    return found[:, 0] / scale


_QR = type(np.linalg.qr(np.eye(1)))


def _reflect(a, k, tau, out, first):
    """Applies the reflection of column k, whose vector stands below the diagonal of a, to columns from `first` on."""
    for j in range(first, out.shape[1]):
        total = out[k, j]
        for i in range(k + 1, a.shape[0]):
            total += a[i, k] * out[i, j]
        total *= tau
        out[k, j] -= total
        for i in range(k + 1, a.shape[0]):
            out[i, j] -= total * a[i, k]


@of(np.linalg.qr, in_loops=SMALL)
def qr(a: np.ndarray, mode="reduced"):
    """Q with orthogonal columns and R, a triangle, whose product is a, by Householder's reflections, which LAPACK
    chooses so: the diagonal of R has the signs that the columns have not (Golub and Van Loan, 5.2)."""
    if mode not in ("reduced", "complete", "r"):
        refuse("np.linalg.qr is compiled for the modes reduced, complete and r")
    r = _doubles(a)
    m, n = r.shape
    least = min(m, n)
    taus = np.zeros(least)
    for k in range(least):
        below = 0.0
        for i in range(k + 1, m):
            below += r[i, k] * r[i, k]
        if below > 0.0:
            size = np.sqrt(r[k, k] * r[k, k] + below)
            diagonal = -size if r[k, k] >= 0.0 else size
            taus[k] = (diagonal - r[k, k]) / diagonal
            for i in range(k + 1, m):
                r[i, k] /= r[k, k] - diagonal
            _reflect(r, k, taus[k], r, k + 1)
            r[k, k] = diagonal
    q = np.eye(m, m if mode == "complete" else least)
    for k in range(least - 1, -1, -1):
        _reflect(r, k, taus[k], q, k)
    upper = np.triu(r[: m if mode == "complete" else least])
    if mode == "r":
        return _as_given(upper, a)
    return _QR(_as_given(q, a), _as_given(upper, a))


@of(np.linalg.eigvalsh, in_loops=SMALL)
def eigvalsh(a: np.ndarray, UPLO="L"):  # noqa: N803  (NumPy's name)
    """The eigenvalues of a symmetric matrix, of which one triangle is read, in order."""
    s = _doubles(a)
    n = s.shape[0]
    if n != s.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if UPLO not in ("L", "U"):
        refuse("UPLO argument must be 'L' or 'U'")
    for i in range(n):
        for j in range(i):
            if UPLO == "L":
                s[j, i] = s[i, j]
            else:
                s[i, j] = s[j, i]
    least = 0.01 * _EPSILON * np.sqrt(np.sum(s * s))
    for _ in range(_SWEEPS):
        turned = False
        for p in range(n):
            for q in range(p + 1, n):
                if abs(s[p, q]) > least:
                    turned = True
                    t = _tangent(s[q, q] - s[p, p], 2.0 * s[p, q])
                    _rotate(s[p], s[q], t)
                    _rotate(s[:, p], s[:, q], t)
                    s[p, q] = s[q, p] = 0.0
        if not turned:
            break
    values = np.diagonal(s).copy()
    sort_vector(values, n)
    return _as_given(values, a)
