"""Functions of np.linalg in loops; nothing is left to Python."""

import numpy as np

from tests.programs.registry import Programs, complexes, floats, ints

PROGRAMS = Programs(strict=True)

_A = floats(4, 3, 3, seed=1)
_TWO_EQUAL_ROWS = _A[:, [0, 1, 1]]
_PRODUCTS = _A @ _A.transpose(0, 2, 1) + np.eye(3)


@PROGRAMS.on(_A, floats(4, 3))
@PROGRAMS.on(_A, floats(4, 3, 2))
@PROGRAMS.on(_A[::-1].transpose(2, 1, 0), floats(3, 4)[:, ::-1].T[:3, :3])
@PROGRAMS.on(floats(4, 3, 3, dtype=np.float32) + 3 * np.eye(3, dtype=np.float32), floats(4, 3))
@PROGRAMS.on(complexes(4, 2, 2), floats(4, 2))
@PROGRAMS.on(ints(4, 3, 3), ints(4, 3))
@PROGRAMS.on(np.array([[[0, 1], [1, 0]]]), np.array([[True, False]]))
@PROGRAMS.on(floats(2, 0, 0), floats(2, 0))
@PROGRAMS.on(floats(0, 2, 2), floats(0, 2))
@PROGRAMS.on(_TWO_EQUAL_ROWS, floats(4, 3))  # raises LinAlgError
@PROGRAMS.on(floats(4, 3, 2), floats(4, 3))  # raises LinAlgError
def solutions(a, b):
    out = np.zeros(b.shape, a.dtype if a.dtype.kind == "c" else np.float64)
    for i in range(len(a)):
        out[i] = np.linalg.solve(a[i], b[i])
    return out


@PROGRAMS.on(_A, np.zeros((4, 3, 3)))
@PROGRAMS.on(_TWO_EQUAL_ROWS, np.zeros((4, 3, 3)))  # raises LinAlgError
@PROGRAMS.on(complexes(3, 4, 4), complexes(3, 4, 4))
def inverses_in_parallel(a, out):
    #pragma parallel for
    for i in range(a.shape[0]):
        out[i] = np.linalg.inv(a[i])


@PROGRAMS.on(_A)
@PROGRAMS.on(_A * np.array([1.0, 0.0, 1.0]))
@PROGRAMS.on(_A.astype(np.float32))
@PROGRAMS.on(complexes(3, 4, 4))
@PROGRAMS.on(ints(3, 2, 2))
@PROGRAMS.on(floats(3, 0, 0))
def determinants(a):
    product, total, signs = 1.0, 0.0, 0.0
    for i in range(len(a)):
        product = product * (np.linalg.det(a[i]) + 1)
        sign, size = np.linalg.slogdet(a[i])
        total = total + np.exp(size)
        signs = signs + sign * np.linalg.slogdet(a[i] * 2).sign
    return product, total, signs


@PROGRAMS.on(_PRODUCTS)
@PROGRAMS.on(_PRODUCTS.astype(np.float32))
@PROGRAMS.on(complexes(3, 2, 2) @ complexes(3, 2, 2).conj().transpose(0, 2, 1) + np.eye(2))
@PROGRAMS.on(-_PRODUCTS)  # raises LinAlgError
@PROGRAMS.on(_PRODUCTS * np.nan)
def triangles(a):
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i] = np.linalg.cholesky(a[i])
    return out


@PROGRAMS.on(_A, 5)
@PROGRAMS.on(_A, 0)
@PROGRAMS.on(_A, -2)
@PROGRAMS.on(_A.astype(np.float32), 2)
def powers(a, n):
    out = np.zeros(a.shape, a.dtype)
    for i in range(len(a)):
        out[i] = np.linalg.matrix_power(a[i], n)
    return out


@PROGRAMS.on(floats(9, 2), np.eye(3) * 0.9, floats(2, 3, seed=1), np.eye(2))
def kalman_filter(measured, step, observe, noise):
    x, covariance = np.zeros(3), np.eye(3)
    out = np.empty((len(measured), 3))
    for t in range(len(measured)):
        x = step @ x
        covariance = step @ covariance @ step.T + np.eye(3) * 0.01
        gain = covariance @ observe.T @ np.linalg.inv(observe @ covariance @ observe.T + noise)
        x = x + gain @ (measured[t] - observe @ x)
        covariance = covariance - gain @ observe @ covariance
        out[t] = x
    return out


@PROGRAMS.on(np.array([1.0, 1.0]), 6)
def newtons_method(x, n):
    for _ in range(n):
        slopes = np.array([[2 * x[0], 1.0], [1.0, 2 * x[1]]])
        x = x - np.linalg.solve(slopes, np.array([x[0] ** 2 + x[1] - 3, x[0] + x[1] ** 2 - 5]))
    return x
