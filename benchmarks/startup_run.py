"""One process of `benchmarks.startup`: imports a compiler, calls gemm once, prints the times.

    python startup_run.py appyc|numba

Kept free of imports at the top, since their time is what is measured.
"""

import sys
import time

SIZE = 32


def with_appyc(np):
    import appyc

    @appyc.jit
    def gemm(alpha, beta, c, a, b):
        # pragma parallel for
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] *= beta
            for k in range(a.shape[1]):
                for j in range(c.shape[1]):
                    c[i, j] += alpha * a[i, k] * b[k, j]

    return gemm


def with_numba(np):
    import numba

    @numba.njit(parallel=True, cache=True)
    def gemm(alpha, beta, c, a, b):
        for i in numba.prange(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] *= beta
            for k in range(a.shape[1]):
                for j in range(c.shape[1]):
                    c[i, j] += alpha * a[i, k] * b[k, j]

    return gemm


def main(name):
    start = time.perf_counter()
    import numpy as np

    numpy_there = time.perf_counter()
    gemm = with_appyc(np) if name == "appyc" else with_numba(np)
    imported = time.perf_counter()
    a, b, c = (np.ones((SIZE, SIZE)) for _ in range(3))
    before = time.perf_counter()
    gemm(1.5, 0.5, c, a, b)
    first = time.perf_counter()
    gemm(1.5, 0.5, c, a, b)
    second = time.perf_counter()
    assert abs(c[0, 0] - (0.25 + 1.5 * 1.5 * SIZE)) < 1e-9
    print(numpy_there - start, imported - start, first - before, second - first)


if __name__ == "__main__":
    main(sys.argv[1])
