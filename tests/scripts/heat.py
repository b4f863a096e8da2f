"""Heat on a square plate, explicit steps: nested loops over a grid, double buffered."""

import sys

import numpy as np


def step(u, v, k):
    rows, columns = u.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            v[i, j] = u[i, j] + k * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])


def simulate(n, steps):
    u = np.zeros((n, n))
    u[n // 4 : n // 2, n // 4 : n // 2] = 100.0
    v = u.copy()
    history = []
    for t in range(steps):
        step(u, v, 0.2)
        u, v = v, u
        if t % 10 == 0:
            history.append(float(u[n // 2, n // 2]))
            print(f"step {t:4}: centre {history[-1]:.12f}")
    return u, history


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    u, history = simulate(n, steps)
    print("sum", u.sum(), "steps logged", len(history))
