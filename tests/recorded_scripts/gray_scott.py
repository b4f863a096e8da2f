"""Two chemicals that diffuse and react, on a torus."""

import sys

import numpy as np


def laplacian(z):
    return np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1) - 4 * z


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    u, v = np.ones((n, n)), np.zeros((n, n))
    middle = slice(n // 2 - n // 12, n // 2 + n // 12)
    u[middle, middle] = 0.50
    v[middle, middle] = 0.25
    for step in range(steps):
        around_u, around_v = laplacian(u), laplacian(v)
        reaction = u * v * v
        u = u + 0.16 * around_u - reaction + 0.035 * (1 - u)
        v = v + 0.08 * around_v + reaction - 0.1 * v
        if step % 20 == 0:
            print(step, f"{float(v.mean()):.9f}")
    print(f"{float(u.sum()):.6f} {float(v.sum()):.6f}")


main()
