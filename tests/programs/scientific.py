"""Small scientific programs as NumPy programmers write them: masks, histograms, gathers, bits."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, floats, ints

PROGRAMS = Programs(strict=True)


# ---------------------------------------------------------------- averages over rings


def _rings(n, dtype=np.float64):
    y, x = np.mgrid[0:n, 0:n] - n / 2
    return floats(n, n, dtype=dtype), np.sqrt(x * x + y * y).astype(dtype)


@PROGRAMS.on(*_rings(12), 5)
@PROGRAMS.on(*_rings(7), 1)
@PROGRAMS.on(*_rings(150), 20, targets=C_ONLY)
def ring_means_by_masks(image, radius, count):
    outermost = radius.max()
    means = np.zeros(count, dtype=np.float64)
    for k in range(count):
        inner = outermost * k / count
        outer = outermost * (k + 1) / count
        ring = np.logical_and(inner <= radius, radius < outer)
        means[k] = image[ring].mean()
    return means


@PROGRAMS.on(*_rings(12), 5)
@PROGRAMS.on(*_rings(9), 1)
@PROGRAMS.on(*_rings(150), 20, targets=C_ONLY)
def ring_means_by_histograms(image, radius, count):
    places, edges = np.histogram(radius, count)
    totals = np.histogram(radius, bins=count, weights=image)[0]
    return totals / np.maximum(places, 1), edges


@PROGRAMS.on(*_rings(12), np.linspace(0.0, 9.0, 6))
@PROGRAMS.on(*_rings(3), np.linspace(0.0, 1.0, 2))
def ring_sums_by_bincount(image, radius, edges):
    ring = np.digitize(radius, edges).ravel()
    return np.bincount(ring, weights=image.ravel(), minlength=len(edges) + 1)


# ---------------------------------------------------------------- escape times


@PROGRAMS.on(-2.0, 0.5, 9, -1.25, 1.25, 7, 12)
@PROGRAMS.on(-2.0, 0.5, 1, -1.25, 1.25, 1, 3)
@PROGRAMS.on(-2.0, 0.5, 90, -1.25, 1.25, 70, 30, targets=C_ONLY)
def escape_times(xmin, xmax, nx, ymin, ymax, ny, limit):
    x = np.linspace(xmin, xmax, nx)
    y = np.linspace(ymin, ymax, ny)
    c = x + y[:, None] * 1j
    times = np.zeros(c.shape, dtype=np.int64)
    z = np.zeros(c.shape, dtype=np.complex128)
    for n in range(limit):
        inside = np.abs(z) < 2.0
        times[inside] = n
        z[inside] = z[inside] ** 2 + c[inside]
    times[times == limit - 1] = 0
    return z, times


# ---------------------------------------------------------------- bodies


@PROGRAMS.on(floats(5, 3), floats(5, 1, seed=1), 0.1)
@PROGRAMS.on(floats(1, 3), floats(1, 1, seed=1), 0.1)
@PROGRAMS.on(floats(40, 3), floats(40, 1, seed=1), 0.0, targets=C_ONLY)
def accelerations(place, mass, softening):
    x, y, z = place[:, 0:1], place[:, 1:2], place[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = dx**2 + dy**2 + dz**2 + softening**2
    inverse[inverse > 0] = inverse[inverse > 0] ** (-1.5)
    ax = (dx * inverse) @ mass
    ay = (dy * inverse) @ mass
    az = (dz * inverse) @ mass
    return np.hstack((ax, ay, az))


@PROGRAMS.on(floats(5, 3), floats(5, 3, seed=2), floats(5, 1, seed=1), 2.0)
@PROGRAMS.on(floats(2, 3), floats(2, 3, seed=2), floats(2, 1, seed=1), 2.0)
def energies(place, velocity, mass, gravity):
    kinetic = 0.5 * np.sum(mass * velocity**2)
    x, y, z = place[:, 0:1], place[:, 1:2], place[:, 2:3]
    distance = np.sqrt((x.T - x) ** 2 + (y.T - y) ** 2 + (z.T - z) ** 2)
    distance[distance > 0] = 1.0 / distance[distance > 0]
    pairs = np.triu(-(mass * mass.T) * distance, 1)
    return kinetic, gravity * np.sum(pairs)


# ---------------------------------------------------------------- matrices


@PROGRAMS.on(floats(6, 6))
@PROGRAMS.on(floats(1, 1))
def tanh_of_the_trace(a):
    total = 0.0
    for i in range(a.shape[0]):
        total += np.tanh(a[i, i])
    return a + total


def _sparse(rows, columns, seed=0):
    dense = floats(rows, columns, seed=seed)
    dense[np.abs(dense) < 1.0] = 0.0
    counts = np.concatenate(([0], np.cumsum((dense != 0).sum(axis=1))))
    return counts.astype(np.uint32), np.nonzero(dense)[1].astype(np.uint32), dense[dense != 0]


@PROGRAMS.on(*_sparse(7, 5), floats(5))
@PROGRAMS.on(*_sparse(1, 1), floats(1))
@PROGRAMS.on(*_sparse(3, 200), floats(200))
@PROGRAMS.on(*_sparse(300, 50), floats(50), targets=C_ONLY)
def sparse_times_vector(starts, columns, values, x):
    y = np.empty(starts.size - 1, values.dtype)
    for i in range(starts.size - 1):
        places = columns[starts[i] : starts[i + 1]]
        row = values[starts[i] : starts[i + 1]]
        y[i] = row @ x[places]
    return y


# ---------------------------------------------------------------- bits


@PROGRAMS.on(ints(11, lo=0, hi=256, dtype=np.uint8))
@PROGRAMS.on(ints(1, lo=0, hi=256, dtype=np.uint8))
@PROGRAMS.on(ints(0, lo=0, hi=256, dtype=np.uint8))
def checksum(data):
    polynomial = 0x8408
    crc = 0xFFFF
    for byte in data:
        current = 0xFF & byte
        for _ in range(8):
            if (crc & 0x0001) ^ (current & 0x0001):
                crc = (crc >> 1) ^ polynomial
            else:
                crc >>= 1
            current >>= 1
    crc = ~crc & 0xFFFF
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF


# ---------------------------------------------------------------- particles in cells


@PROGRAMS.on(np.abs(floats(20)), 5)
@PROGRAMS.on(np.abs(floats(1)), 1)
@PROGRAMS.on(np.abs(floats(0)), 3)
def charge_of_cells(place, cells):
    width = 2.1 / cells
    left = (place / width).astype(np.int64)
    share = place / width - left
    density = np.zeros(cells + 1)
    np.add.at(density, left, 1.0 - share)
    np.add.at(density, left + 1, share)
    running = np.cumsum(density)
    return density, running, running.argmax(), np.searchsorted(running, running[-1] / 2)
