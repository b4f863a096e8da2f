"""Nests that no one would write: what they ask of the analysis has to have an end.

The subscripts are in range for no sizes in particular; these loops are analysed, never run.
"""

from collections.abc import Callable

import numpy as np


def deepest(A, B, C, n, m, k):
    """Eight loops, twenty statements, subscripts of all kinds."""
    for i0 in range(1, n):
        for i1 in range(i0, m):
            for i2 in range(0, i1 + k):
                for i3 in range(max(i0, i2 - 3), min(n, i1 + i2)):
                    for i4 in range(i3 // 2, n - i0):
                        for i5 in range(1, i4 + i2, 2):
                            for i6 in range(i5, m + i0 - i4):
                                for i7 in range(i6 // 3, i6 + i5):
                                    A[i0 + i1, i2 - i3] = B[i4 + 2 * i5, i6 - i7] + 1.0
                                    B[2 * i0 - i3 + i5, i1 + i7] = A[i0 + i4 - 1, i2 + i6] * 2.0
                                    C[i0 + i2 + i4 + i6] = C[i1 + i3 + i5 + i7 - 1] + 1.0
                                    A[i7 % 5, i0 + 3 * i1] = A[i1 % 7, i2 // 3] + B[i3 // 2, i4]
                                    B[i0 + i1 + i2, i3 + i4 + i5] = C[i6 - i7 + n]
                                    C[3 * i0 - 2 * i1 + 5 * i4] = A[i5 + i6, i7 - i0]
                                    A[i0 // 2 + i3, i5 % 3 + i7] = B[i6 + k, i1 - k]
                                    C[(i0 + i1) // 3 + i7] = C[(i2 + i3) % 11 + i6]
                                    B[i7 - i0, i6 - i1] = B[i5 - i2, i4 - i3]
                                    A[i0 + 2 * i1 + 3 * i2, i3] = A[i4, i5 + 2 * i6 + 3 * i7]
                                    A[n - i0, m - i1] = A[i0 + k, i1 + k] + 0.5
                                    B[i0 + n - i7, i2] = A[i3 * 2, i4 * 3]
                                    C[i0 * 4 + i5] = B[i1 * 2 + 1, i6 * 2]
                                    C[i2 * 3 + 1] = C[i6 * 3 + 2]
                                    A[i1 + i2 - i3, i4 - i5 + i6] = C[i7 + i0]
                                    B[i4 + i5 + i6 + i7, i0] = A[i3, i2 + i1]
                                    A[(i0 + i4) % 8, (i1 + i5) // 4] = B[(i2 + i6) % 3, (i3 + i7) // 2]
                                    C[max(i0, i5) + i2] = C[min(i6, i7)]
                                    B[i5 + i0, i5 - i0 + i3] = B[i7 + i2, i7 - i2]
                                    A[i6 + i1, i6 - i1] = A[i4 + i2, i4 - i2] + C[i0]


def triangles(A, n):
    """Eight loops, each from the last one on."""
    for i0 in range(n):
        for i1 in range(i0, n):
            for i2 in range(i1, n):
                for i3 in range(i2, n):
                    for i4 in range(i3, n):
                        for i5 in range(i4, n):
                            for i6 in range(i5, n):
                                for i7 in range(i6, n):
                                    A[i0 + i1 + i2 + i3, i4 + i5 + i6 + i7] = (
                                        A[i7 - i0, i6 - i1] + A[i5 - i2, i4 - i3]
                                    )
                                    A[i0 + i7, i1 + i6] = A[i2 + i5, i3 + i4]


def modulos(A, C, n):
    """Remainders and quotients of everything."""
    for i0 in range(n):
        for i1 in range(n):
            for i2 in range(n):
                for i3 in range(n):
                    for i4 in range(n):
                        for i5 in range(n):
                            C[(i0 + 3 * i1) % 7 + (i2 // 5) % 3] = C[(i3 + i4 * 5) % 11 + (i5 // 4) % 9]
                            A[(i0 // 3 + i1) % 8, (i2 + i3) // 4 % 5] = A[
                                (i4 + i0) % 13 // 2, (i5 // 6 + i1) % 4
                            ]
                            A[(i5 * 7 + i4) % 16, i3 % 2 + i2 // 2] += A[
                                (i0 % 9 + i1 % 5) // 2, (i2 % 7) * 3 + i3 % 3
                            ]


def parameters(A, C, n0, n1, n2, n3, n4, n5, k0, k1, k2, k3, k4, k5):
    """A parameter for every bound."""
    for i0 in range(k0, n0):
        for i1 in range(k1, n1):
            for i2 in range(k2, n2):
                for i3 in range(k3, n3):
                    for i4 in range(k4, n4):
                        for i5 in range(k5, n5):
                            A[i0 + k1, i1 - k0 + i5] = A[i2 + k3, i3 - k2 + i4] + C[i4 + k5 + i0]
                            C[i5 - k4 + i1] = A[i0 - n1 + k2, i1 + n2 - k3] + A[n0 - i4, n3 - i5]
                            A[i4 + n5 - k0, i5 + i2] = (
                                C[n4 + k1 - i3] + A[i0 + i1 + i2 + k0, i3 + i4 + i5 + k1]
                            )
                            C[i0 + i1 + i2 + i3 + k4] = C[i2 + i3 + i4 + i5 + k5] * 2.0


def products(A, C, n, m, k):
    """Subscripts in one dimension, of several shapes at once."""
    for i0 in range(n):
        for i1 in range(m):
            for i2 in range(k):
                for i3 in range(i0, n):
                    for i4 in range(m):
                        for i5 in range(k):
                            C[(i0 * m + i1) * k + i2] = C[(i3 * m + i4) * k + i5] + 1.0
                            C[i0 * m + i4] = C[i3 * k + i5] + A[i0 * k + i1, i2]
                            A[i0 * i3, i1 * i4] = A[i2 * i5, i0 + i3 * k]
                            C[i0 * (i0 + 1) // 2 + i1] += A[i3, i4]


def _square() -> np.ndarray:
    return np.zeros((4, 4))


NESTS: dict[Callable[..., None], tuple[object, ...]] = {
    deepest: (_square(), _square(), np.zeros(4), 1, 1, 1),
    triangles: (_square(), 1),
    modulos: (_square(), np.zeros(4), 1),
    parameters: (_square(), np.zeros(4), *range(12)),
    products: (_square(), np.zeros(4), 1, 1, 1),
}
"""The nests, and arguments of the types that they are for."""
