"""The Mandelbrot set: a function of scalars called from the loops over the picture."""

import sys

import numpy as np

MOST = 60


def escape(x, y, most):
    zx = zy = 0.0
    for count in range(most):
        zx, zy = zx * zx - zy * zy + x, 2.0 * zx * zy + y
        if zx * zx + zy * zy > 4.0:
            return count
    return most


def picture(width, height):
    out = np.zeros((height, width), dtype=np.int32)
    for row in range(height):
        for column in range(width):
            x = -2.0 + 3.0 * column / width
            y = -1.0 + 2.0 * row / height
            out[row, column] = escape(x, y, MOST)
    return out


width = int(sys.argv[1]) if len(sys.argv) > 1 else 48
result = picture(width, width // 2)
for line in result[:: max(1, width // 32)]:
    print("".join(" .:-=+*#%@"[int(c) * 9 // MOST] for c in line[:64]))
print(result.sum(), result.max())
