"""Loops that read each other's neighbours, over more rows than a block has."""

import numpy as np

from tests.programs.registry import Programs, floats

PROGRAMS = Programs(strict=True)


@PROGRAMS.on(floats(9001))
@PROGRAMS.on(floats(4096))
@PROGRAMS.on(floats(2))
def verlet(x):
    """Bonds, forces with fixed ends, drift, forces again, two energies."""
    n = x.shape[0]
    force, moved, again = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(1, n - 1):
        force[i] = 2.0 * (x[i + 1] - x[i] - 1.0) - 2.0 * (x[i] - x[i - 1] - 1.0)
    for i in range(n):
        moved[i] = x[i] + 0.01 * force[i]
    for i in range(1, n - 1):
        again[i] = 2.0 * (moved[i + 1] - moved[i] - 1.0) - 2.0 * (moved[i] - moved[i - 1] - 1.0)
    kinetic, stretched = 0.0, 0.0
    for i in range(n):
        kinetic += again[i] * again[i] + force[i]
    for i in range(n - 1):
        stretched += (moved[i + 1] - moved[i]) ** 2
    return moved, kinetic, stretched


@PROGRAMS.on(floats(70, 9))
@PROGRAMS.on(floats(33, 3))
@PROGRAMS.on(floats(1, 4))
def conjugate_gradient_step(r):
    """What is stored whole is also wanted around each block; a sum of the first loop counts each row once."""
    n, m = r.shape
    p, q = np.zeros((n, m)), np.zeros((n, m))
    first = 0.0
    for i in range(n):
        for j in range(m):
            p[i, j] = 1.5 * r[i, j]
            first += r[i, j] * r[i, j]
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            q[i, j] = 4.0 * p[i, j] - p[i - 1, j] - p[i + 1, j] - p[i, j - 1] - p[i, j + 1]
    second = 0.0
    for i in range(n):
        for j in range(m):
            second += p[i, j] * q[i, j]
    return p, q, first, second


@PROGRAMS.on(floats(70, 9))
@PROGRAMS.on(floats(32, 3))
@PROGRAMS.on(floats(2, 2))
def two_steps(a):
    """Slopes in a row's own loop, and a second step over what the first has made."""
    n, m = a.shape
    b, slope, c = np.zeros((n, m)), np.zeros((n, m)), np.zeros((n, m))
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            b[i, j] = a[i, j] - 0.1 * (a[i + 1, j] - a[i - 1, j] + a[i, j + 1] - a[i, j - 1])
        for j in range(1, m - 1):
            slope[i, j] = b[i, j + 1] - b[i, j - 1]
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            c[i, j] = b[i, j] - 0.1 * (b[i + 1, j] - b[i - 1, j] + slope[i, j])
    return c, c.sum(), c.max()


@PROGRAMS.on(floats(9001), 3)
@PROGRAMS.on(floats(5), 2)
def in_a_loop_over_time(x, steps):
    """Arrays that each step makes anew."""
    y = x.copy()
    total = 0.0
    for _ in range(steps):
        flux = np.sqrt(y[1:] * y[1:] + y[:-1] * y[:-1])
        bent = np.exp(-flux[1:] * flux[:-1])
        change = bent[1:] - bent[:-1] * flux[1:-1]
        total += change.sum() + bent.max()
        y[2:-1] = y[2:-1] + 0.01 * change
    return y, total


@PROGRAMS.on(floats(9001))
@PROGRAMS.on(floats(7))
def slices(x):
    """Rows that are not the iterations of their loops."""
    t = np.exp(-x * x)
    u = t[1:] * t[:-1]
    y = np.zeros(x.shape)
    y[2:-1] = u[2:] - u[:-2] / (1.0 + t[2:-1])
    return y, (u[1:-1] * t[1:-2]).sum(), u


@PROGRAMS.on(floats(9001))
@PROGRAMS.on(floats(3))
def one_that_raises_between(x):
    """A length that may be negative is found out before anybody sees what was stored."""
    n = x.shape[0]
    t = np.sqrt(x * x + 1.0)
    y = np.zeros(n - 1)
    for i in range(n - 1):
        y[i] = np.exp(-t[i + 1]) - t[i]
    z = np.zeros(n - 4)
    for i in range(n - 4):
        z[i] = y[i] * y[i + 3] + y[i + 1]
    return y, z


@PROGRAMS.on(floats(70, 9))
@PROGRAMS.on(floats(2, 3))
def wave(now):
    """What is added to an array after it was filled, and sums of rows that are added up in memory."""
    n, m = now.shape
    bent, new = np.zeros((n, m)), np.zeros((n, m))
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            bent[i, j] += 4.0 * now[i, j] - now[i - 1, j] - now[i + 1, j] - now[i, j - 1] - now[i, j + 1]
    for i in range(n):
        for j in range(m):
            new[i, j] = np.sqrt(now[i, j] * now[i, j] + 0.1) - 0.1 * bent[i, j]
            new[i, j] += 0.01
    rows = np.zeros(n)
    for i in range(1, n - 1):
        for j in range(m):
            rows[i] += new[i - 1, j] * new[i + 1, j] - bent[i, j]
    return new, rows
