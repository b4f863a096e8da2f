"""adi: the heat equation in two dimensions by alternating directions, T steps.

u and v are N×N with a boundary of ones; double precision. A step solves one tridiagonal
system for each interior column, a·v_{j-1,i} + b·v_ji + a·v_{j+1,i} =
-d·u_{j,i-1} + (1 + 2d)·u_ji - d·u_{j,i+1}, and then one for each interior row,
d·u_{i,j-1} + e·u_ij + d·u_{i,j+1} = -a·v_{i-1,j} + (1 + 2a)·v_ij - a·v_{i+1,j}. With
δ = 1/N, τ = 1/T, λ = 2τ/δ², μ = τ/δ²: a = -λ/2, b = 1 + λ, d = -μ/2, e = 1 + μ.

Elimination goes forwards along a line and substitution backwards; lines are parallel. The
pivots are the same for all lines and steps, and are computed once.
"""

import numpy as np

import appyc
from benchmarks.polybench.data import undefined, uniform
from benchmarks.polybench.kernel import Arguments, Kernel, sizes_table

SIZES = sizes_table(
    "TSTEPS N",
    MINI=(20, 20),
    SMALL=(40, 60),
    MEDIUM=(100, 200),
    LARGE=(500, 1000),
    EXTRALARGE=(1000, 2000),
)


def initialise(TSTEPS: int, N: int) -> Arguments:
    i, j = np.ogrid[:N, :N]
    return {
        "steps": TSTEPS,
        "u": (i + N - j) / N,
        "v": np.zeros((N, N)),
        "q": np.zeros((N, N)),
        "column_pivot": np.zeros(N),
        "row_pivot": np.zeros(N),
    }


def random(rng: np.random.Generator, TSTEPS: int, N: int) -> Arguments:
    return {
        "steps": TSTEPS,
        "u": uniform(rng, N, N) * N,  # so rough that the steps do not smooth all of it away
        "v": undefined(N, N),
        "q": undefined(N, N),
        "column_pivot": undefined(N),
        "row_pivot": undefined(N),
    }


def pivots(off_diagonal, diagonal, n):
    values = np.ones(n)
    ratio = 0.0
    for j in range(1, n - 1):
        values[j] = diagonal + off_diagonal * ratio
        ratio = -off_diagonal / values[j]
    return values


def solve_lines(off_diagonal, pivot, right, q, solution):
    """Tridiagonal systems along the first axis, a column of `right` and of `solution` each."""
    n = solution.shape[0]
    solution[0] = solution[n - 1] = 1.0
    q[0] = 1.0
    for j in range(1, n - 1):
        q[j] = (right[j - 1] - off_diagonal * q[j - 1]) / pivot[j]
    for j in range(n - 2, 0, -1):
        solution[j] = q[j] - (off_diagonal / pivot[j]) * solution[j + 1]


def numpy_version(steps, u, v, q, column_pivot, row_pivot):
    n = u.shape[0]
    mu = n * n / steps
    a, b, d, e = -mu, 1.0 + 2.0 * mu, -0.5 * mu, 1.0 + mu
    column_pivot[:] = pivots(a, b, n)
    row_pivot[:] = pivots(d, e, n)
    lines = np.empty((n, n - 2))
    solution = np.empty((n, n - 2))
    v[1:-1, 0] = v[1:-1, -1] = 1.0
    for _ in range(steps):
        right = (1 + 2 * d) * u[1:-1, 1:-1] - d * (u[1:-1, :-2] + u[1:-1, 2:])
        solve_lines(a, column_pivot, right, lines, solution)
        v[:, 1:-1] = solution
        right = (1 + 2 * a) * v[1:-1, 1:-1] - a * (v[:-2, 1:-1] + v[2:, 1:-1])
        solve_lines(d, row_pivot, np.ascontiguousarray(right.T), lines, solution)
        u[1:-1] = solution.T


@appyc.jit
def loops(steps, u, v, q, column_pivot, row_pivot):
    n = u.shape[0]
    mu = n * n / steps
    a = -mu
    b = 1.0 + 2.0 * mu
    d = -0.5 * mu
    e = 1.0 + mu
    column_ratio = 0.0
    row_ratio = 0.0
    for j in range(1, n - 1):
        column_pivot[j] = b + a * column_ratio
        column_ratio = -a / column_pivot[j]
        row_pivot[j] = e + d * row_ratio
        row_ratio = -d / row_pivot[j]
    for _ in range(steps):
        # pragma parallel for
        for i in range(1, n - 1):
            v[0, i] = 1.0
            q[0, i] = 1.0
            for j in range(1, n - 1):
                right = (1.0 + 2.0 * d) * u[j, i] - d * (u[j, i - 1] + u[j, i + 1])
                q[j, i] = (right - a * q[j - 1, i]) / column_pivot[j]
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = q[j, i] - a / column_pivot[j] * v[j + 1, i]
        # pragma parallel for
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            q[i, 0] = 1.0
            for j in range(1, n - 1):
                right = (1.0 + 2.0 * a) * v[i, j] - a * (v[i - 1, j] + v[i + 1, j])
                q[i, j] = (right - d * q[i, j - 1]) / row_pivot[j]
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = q[i, j] - d / row_pivot[j] * u[i, j + 1]


@appyc.jit(strict=True)
def tensors(steps, u, v, q, column_pivot, row_pivot):
    n = u.shape[0]
    mu = n * n / steps
    a, b, d, e = -mu, 1.0 + 2.0 * mu, -0.5 * mu, 1.0 + mu
    column_ratio = 0.0
    row_ratio = 0.0
    for j in range(1, n - 1):
        column_pivot[j] = b + a * column_ratio
        column_ratio = -a / column_pivot[j]
        row_pivot[j] = e + d * row_ratio
        row_ratio = -d / row_pivot[j]
    for _ in range(steps):
        v[0, 1:-1] = v[-1, 1:-1] = q[0, 1:-1] = 1.0
        for j in range(1, n - 1):
            right = (1.0 + 2.0 * d) * u[j, 1:-1] - d * (u[j, :-2] + u[j, 2:])
            q[j, 1:-1] = (right - a * q[j - 1, 1:-1]) / column_pivot[j]
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = q[j, 1:-1] - a / column_pivot[j] * v[j + 1, 1:-1]
        u[1:-1, 0] = u[1:-1, -1] = q[1:-1, 0] = 1.0
        for j in range(1, n - 1):
            right = (1.0 + 2.0 * a) * v[1:-1, j] - a * (v[:-2, j] + v[2:, j])
            q[1:-1, j] = (right - d * q[1:-1, j - 1]) / row_pivot[j]
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = q[1:-1, j] - d / row_pivot[j] * u[1:-1, j + 1]


def flops(TSTEPS: int, N: int) -> int:
    return 20 * TSTEPS * (N - 2) ** 2


def traffic(TSTEPS: int, N: int) -> int:
    return 8 * 2 * N * N


KERNEL = Kernel(
    name="adi",
    dtype=np.float64,
    sizes=SIZES,
    initialise=initialise,
    random=random,
    numpy_version=numpy_version,
    loops=loops,
    tensors=tensors,
    outputs=("u",),
    flops=flops,
    traffic=traffic,
)
