"""The game of life on a torus, with arrays."""

import sys

import numpy as np


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    rng = np.random.RandomState(0)
    cells = np.array((rng.rand(n, n) < 0.3).astype(np.uint8))
    moves = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    for step in range(steps):
        neighbours = sum(np.roll(np.roll(cells, i, 0), j, 1) for i, j in moves)
        cells = ((neighbours == 3) | ((cells == 1) & (neighbours == 2))).astype(np.uint8)
        if step % 10 == 0:
            print(step, int(cells.sum()))
    print(int(cells.sum()))


main()
