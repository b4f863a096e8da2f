"""The game of life on a torus, with integers and conditions."""

import sys

import numpy as np


def generation(cells, out):
    rows, columns = cells.shape
    for i in range(rows):
        for j in range(columns):
            alive = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di != 0 or dj != 0:
                        alive += cells[(i + di) % rows, (j + dj) % columns]
            if alive == 3 or (alive == 2 and cells[i, j] == 1):
                out[i, j] = 1
            else:
                out[i, j] = 0


def show(cells):
    for row in cells[:12, :40]:
        print("".join("#" if c else "." for c in row))


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 48
    generations = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    rng = np.random.default_rng(5)
    cells = (rng.random((n, n)) < 0.3).astype(np.int8)
    other = np.empty_like(cells)
    for _ in range(generations):
        generation(cells, other)
        cells, other = other, cells
    show(cells)
    print("alive:", cells.sum())


main()
