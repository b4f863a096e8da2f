"""A sparse system by conjugate gradients: rows of a matrix in compressed form."""

import sys

import numpy as np


def laplacian(side):
    """The five-point Laplacian on a square grid as (values, columns, row starts)."""
    values, columns, starts = [], [], [0]
    for row in range(side):
        for column in range(side):
            here = row * side + column
            for dr, dc in ((-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)):
                r, c = row + dr, column + dc
                if 0 <= r < side and 0 <= c < side:
                    values.append(4.0 if here == r * side + c else -1.0)
                    columns.append(r * side + c)
            starts.append(len(values))
    return np.array(values), np.array(columns), np.array(starts)


def multiply(values, columns, starts, x, y):
    for i in range(y.shape[0]):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total


def dot(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


def solve(matrix, b, tolerance, most):
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    q = np.empty_like(b)
    rho = dot(r, r)
    rounds = 0
    while rho > tolerance * tolerance and rounds < most:
        multiply(*matrix, p, q)
        alpha = rho / dot(p, q)
        for i in range(len(x)):
            x[i] += alpha * p[i]
            r[i] -= alpha * q[i]
        new = dot(r, r)
        beta = new / rho
        rho = new
        for i in range(len(p)):
            p[i] = r[i] + beta * p[i]
        rounds += 1
    return x, rounds


if __name__ == "__main__":
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    matrix = laplacian(side)
    b = np.ones(side * side)
    x, rounds = solve(matrix, b, 1e-8, 400)
    print("rounds", rounds)
    print("middle", x[x.shape[0] // 2])
    print("sum", float(np.sum(x)))
