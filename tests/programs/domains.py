"""Programs of several domains as their authors write them in NumPy; nothing is left to Python."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs, complexes, floats, ints

PROGRAMS = Programs(strict=True)


# ---------------------------------------------------------------- weather and climate


@PROGRAMS.on(floats(9, 10, 3), floats(5, 6, 3, seed=1), floats(5, 6, 3, seed=2))
@PROGRAMS.on(floats(5, 5, 1), floats(1, 1, 1, seed=1), floats(1, 1, 1, seed=2))
@PROGRAMS.on(floats(4, 5, 2), floats(0, 1, 2, seed=1), floats(0, 1, 2, seed=2))
@PROGRAMS.on(
    floats(9, 10, 3, dtype=np.float32), floats(5, 6, 3, dtype=np.float32), floats(5, 6, 3, dtype=np.float32)
)
def horizontal_diffusion(field, coefficient, out):
    """Fluxes of the Laplacian that would add to a gradient are cut off."""
    laplacian = 4.0 * field[1:-1, 1:-1] - (
        field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
    )
    across = laplacian[1:, 1:-1] - laplacian[:-1, 1:-1]
    across = np.where(across * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0.0, across)
    along = laplacian[1:-1, 1:] - laplacian[1:-1, :-1]
    along = np.where(along * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0.0, along)
    flux = across[1:] - across[:-1] + along[:, 1:] - along[:, :-1]
    out[:] = field[2:-2, 2:-2] - coefficient * flux


@PROGRAMS.on(floats(4, 5, 7), floats(4, 5, 7, seed=1), floats(5, 5, 7, seed=2), 0.15)
@PROGRAMS.on(floats(1, 1, 3), floats(1, 1, 3, seed=1), floats(2, 1, 3, seed=2), 0.15)
def vertical_advection(stage, position, wind, dtr):
    """A tridiagonal system along each column: forwards, then backwards; all columns at once."""
    rows, columns, levels = stage.shape
    ratio = np.zeros((rows, columns, levels))
    right = np.zeros((rows, columns, levels))
    for k in range(levels):
        upper = 0.25 * (wind[1:, :, k] + wind[:-1, :, k])
        lower = np.zeros((rows, columns))
        change = np.zeros((rows, columns))
        if k > 0:
            lower[:] = -0.25 * (wind[1:, :, k - 1] + wind[:-1, :, k - 1])
            change -= lower * (position[:, :, k - 1] - position[:, :, k])
        if k < levels - 1:
            change -= upper * (position[:, :, k + 1] - position[:, :, k])
        else:
            upper *= 0.0
        diagonal = dtr + 4.0 - upper - lower
        value = dtr * position[:, :, k] + change + stage[:, :, k]
        if k > 0:
            divided = 1.0 / (diagonal - ratio[:, :, k - 1] * lower)
            ratio[:, :, k] = upper * divided
            right[:, :, k] = (value - right[:, :, k - 1] * lower) * divided
        else:
            ratio[:, :, k] = upper / diagonal
            right[:, :, k] = value / diagonal
    stage[:, :, -1] = dtr * (right[:, :, -1] - position[:, :, -1])
    for k in range(levels - 2, -1, -1):
        right[:, :, k] -= ratio[:, :, k] * right[:, :, k + 1]
        stage[:, :, k] = dtr * (right[:, :, k] - position[:, :, k])


# ---------------------------------------------------------------- fluids


def _pressure_source(b, u, v, rho, dt, dx, dy):
    b[1:-1, 1:-1] = rho * (
        1.0 / dt * ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx) + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)) ** 2
    )


def _pressure(p, b, rounds, dx, dy):
    for _ in range(rounds):
        old = p.copy()
        p[1:-1, 1:-1] = (
            (old[1:-1, 2:] + old[1:-1, :-2]) * dy**2 + (old[2:, 1:-1] + old[:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0] = p[1]
        p[:, 0] = p[:, 1]
        p[-1] = 0.0


@PROGRAMS.on(9, 2, 2)
@PROGRAMS.on(3, 2, 1)
@PROGRAMS.on(40, 20, 5, targets=C_ONLY)
def cavity_flow(n, steps, rounds):
    """A fluid in a box whose lid moves."""
    u, v, p, b = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    rho, nu, dt, dx, dy = 1.0, 0.1, 0.001, 2.0 / (n - 1), 2.0 / (n - 1)
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        _pressure_source(b, u, v, rho, dt, dx, dy)
        _pressure(p, b, rounds, dx, dy)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
            + nu * dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + nu * dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
            + nu * dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
        )
        u[0], u[:, 0], u[:, -1], u[-1] = 0.0, 0.0, 0.0, 1.0
        v[0] = v[-1] = 0.0
        v[:, 0] = v[:, -1] = 0.0
    return u, v, p


@PROGRAMS.on(8, 9, 0.2)
@PROGRAMS.on(3, 3, 0.3)
def channel_flow(n, m, limit):
    """Periodic along the channel; steps until the flow changes by little."""
    u, v = np.zeros((n, m)), np.zeros((n, m))
    dt, dx, dy, nu, force = 0.01, 2.0 / (m - 1), 2.0 / (n - 1), 0.1, 1.0
    change, steps = 1.0, 0
    while change > limit:
        un = u.copy()
        vn = v.copy()
        east, west = np.roll(un, -1, axis=1), np.roll(un, 1, axis=1)
        u[1:-1] = (
            un[1:-1]
            - un[1:-1] * dt / dx * (un[1:-1] - west[1:-1])
            - vn[1:-1] * dt / dy * (un[1:-1] - un[:-2])
            + nu * (dt / dx**2 * (east[1:-1] - 2 * un[1:-1] + west[1:-1]))
            + nu * (dt / dy**2 * (un[2:] - 2 * un[1:-1] + un[:-2]))
            + force * dt
        )
        u[0] = u[-1] = 0.0
        change = (np.sum(u) - np.sum(un)) / np.sum(u)
        steps += 1
    return u, v, steps


_CX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
_CY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
_OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
_WEIGHTS = np.array([4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36])


@PROGRAMS.on(np.abs(floats(9, 6, 7)) + 1.0, ints(6, 7, lo=0, hi=2) > 0, 2)
@PROGRAMS.on(np.abs(floats(9, 1, 2)) + 1.0, np.ones((1, 2), dtype=bool), 2)
def lattice_boltzmann(f, wall, steps):
    """Streams in nine directions, bounces back from walls, collides elsewhere."""
    for _ in range(steps):
        for q in range(9):
            f[q] = np.roll(np.roll(f[q], _CX[q], axis=0), _CY[q], axis=1)
        bounced = f[_OPPOSITE]
        rho = f.sum(axis=0)
        ux = (f * _CX[:, None, None]).sum(axis=0) / rho
        uy = (f * _CY[:, None, None]).sum(axis=0) / rho
        cu = 3.0 * (_CX[:, None, None] * ux + _CY[:, None, None] * uy)
        equilibrium = rho * _WEIGHTS[:, None, None] * (1 + cu + 0.5 * cu**2 - 1.5 * (ux**2 + uy**2))
        f[:] = np.where(wall, bounced, f + (equilibrium - f) / 0.6)


@PROGRAMS.on(floats(9, 8, 10), floats(9, 8, 10, seed=1), np.array([-2.8, 1.6, -0.2, 0.02]), 0.1, 2)
@PROGRAMS.on(floats(7, 7, 7), floats(7, 7, 7, seed=1), np.array([-2.8, 1.6, -0.2, 0.02]), 0.1, 1)
def seismic_wave(u, before, c, scale, steps):
    """A stencil whose reach is the number of its coefficients."""
    r = c.shape[0] - 1
    nx, ny, nz = u.shape
    after = np.zeros((nx - 2 * r, ny - 2 * r, nz - 2 * r))
    for _ in range(steps):
        inner = u[r : nx - r, r : ny - r, r : nz - r]
        after[:] = 2.0 * inner - before[r : nx - r, r : ny - r, r : nz - r] + 3.0 * c[0] * scale * inner
        for k in range(1, r + 1):
            after += c[k] * scale * (
                u[r + k : nx - r + k, r : ny - r, r : nz - r] + u[r - k : nx - r - k, r : ny - r, r : nz - r]
                + u[r : nx - r, r + k : ny - r + k, r : nz - r] + u[r : nx - r, r - k : ny - r - k, r : nz - r]
                + u[r : nx - r, r : ny - r, r + k : nz - r + k] + u[r : nx - r, r : ny - r, r - k : nz - r - k]
            )  # fmt: skip
        before[:] = u
        u[r : nx - r, r : ny - r, r : nz - r] = after


# ---------------------------------------------------------------- learning


def _relu(x):
    return np.maximum(x, 0)


def _convolved(x, weights):
    """x: samples, rows, columns, channels; weights: rows, columns, channels in, channels out."""
    k = weights.shape[0]
    rows, columns = x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.empty((x.shape[0], rows, columns, weights.shape[3]), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            out[:, i, j, :] = np.sum(
                x[:, i : i + k, j : j + k, :, None] * weights[None, :, :, :], axis=(1, 2, 3)
            )
    return out


def _pooled(x):
    out = np.empty((x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]), dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


@PROGRAMS.on(
    floats(2, 6, 7, 3, dtype=np.float32), floats(3, 3, 3, 4, dtype=np.float32), floats(4, dtype=np.float32)
)
@PROGRAMS.on(
    floats(1, 2, 2, 1, dtype=np.float32), floats(2, 2, 1, 1, dtype=np.float32), floats(1, dtype=np.float32)
)
def convolution(x, weights, bias):
    return _convolved(x, weights) + bias


@PROGRAMS.on(
    floats(2, 10, 14, 1, dtype=np.float32), floats(3, 3, 1, 2, dtype=np.float32),
    floats(3, 3, 2, 3, dtype=np.float32), floats(6, 5, dtype=np.float32), floats(5, 4, dtype=np.float32),
)  # fmt: skip
def lenet(x, first, second, dense, last):
    maps = _pooled(_relu(_convolved(x, first)))
    maps = _pooled(_relu(_convolved(maps, second)))
    flat = np.reshape(maps, (x.shape[0], -1))
    return _relu(flat @ dense) @ last


def _normalised(x):
    mean = np.mean(x, axis=0, keepdims=True)
    deviation = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(deviation + 1e-5)


@PROGRAMS.on(
    floats(2, 4, 5, 4, dtype=np.float32), floats(1, 1, 4, 2, dtype=np.float32),
    floats(3, 3, 2, 2, dtype=np.float32), floats(1, 1, 2, 4, dtype=np.float32),
)  # fmt: skip
def residual_block(x, narrow, spatial, wide):
    """Fewer channels, a padded convolution, as many channels as before, and the way past all of it."""
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, narrow.shape[3]), dtype=np.float32)
    padded[:, 1:-1, 1:-1, :] = _convolved(x, narrow)
    y = _relu(_normalised(padded))
    y = _relu(_normalised(_convolved(y, spatial)))
    return _relu(_normalised(_convolved(y, wide)) + x)


def _softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@PROGRAMS.on(floats(2, 3, 5, 4), floats(2, 3, 6, 4, seed=1), floats(2, 3, 6, 4, seed=2))
@PROGRAMS.on(floats(1, 1, 1, 1), floats(1, 1, 1, 1, seed=1), floats(1, 1, 1, 1, seed=2))
def attention(q, k, v):
    """Several heads at once: stacks of matrices over two axes."""
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    return _softmax(scores) @ v


@PROGRAMS.on(floats(4, 6), floats(6, 5), floats(5), floats(5, 3), floats(3))
def perceptron(x, w1, b1, w2, b2):
    return _softmax(np.tanh(x @ w1 + b1) @ w2 + b2)


@PROGRAMS.on(floats(3, 4, 5), floats(5, 8, seed=1), floats(2, 8, seed=2), floats(8, seed=3))
@PROGRAMS.on(floats(1, 1, 1), floats(1, 4, seed=1), floats(1, 4, seed=2), floats(4, seed=3))
def long_short_term_memory(x, w, r, b):
    """Time, samples, inputs; four gates side by side in one matrix."""
    hidden = w.shape[1] // 4
    h, c = np.zeros((x.shape[1], hidden)), np.zeros((x.shape[1], hidden))
    out = np.empty((x.shape[0], x.shape[1], hidden))
    for t in range(x.shape[0]):
        gates = x[t] @ w + h @ r + b
        opened = 1.0 / (1.0 + np.exp(-gates[:, : 3 * hidden]))
        c[:] = opened[:, hidden : 2 * hidden] * c + opened[:, :hidden] * np.tanh(gates[:, 3 * hidden :])
        h[:] = opened[:, 2 * hidden :] * np.tanh(c)
        out[t] = h
    return out, c


# ---------------------------------------------------------------- physics


@PROGRAMS.on(np.abs(floats(6)) + 0.5, floats(6, 3, seed=1), floats(6, 3, seed=2), 3, 0.01)
@PROGRAMS.on(np.abs(floats(1)) + 0.5, floats(1, 3, seed=1), floats(1, 3, seed=2), 2, 0.01)
def bodies(mass, position, velocity, steps, dt):
    """All pairs at once, and the energies along the way."""
    kinetic, potential = np.zeros(steps), np.zeros(steps)
    for step in range(steps):
        x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
        dx, dy, dz = x.T - x, y.T - y, z.T - z
        apart = (dx**2 + dy**2 + dz**2 + 0.01) ** -1.5
        velocity[:, 0] += dt * ((dx * apart) @ mass)
        velocity[:, 1] += dt * ((dy * apart) @ mass)
        velocity[:, 2] += dt * ((dz * apart) @ mass)
        velocity -= np.mean(mass[:, None] * velocity, axis=0) / np.mean(mass)
        position += dt * velocity
        kinetic[step] = 0.5 * np.sum(mass[:, None] * velocity**2)
        distance = np.sqrt(dx**2 + dy**2 + dz**2 + 0.01)
        potential[step] = -np.sum(np.triu(mass[:, None] * mass / distance, 1))
    return kinetic, potential


@PROGRAMS.on(2, 4, complexes(16))
@PROGRAMS.on(3, 2, complexes(9))
@PROGRAMS.on(4, 1, complexes(4))
def fourier_transform(radix, stages, x):
    """Stockham's: a permutation, twiddle factors and a small transform in each stage."""
    n = x.shape[0]
    rows = np.arange(radix)[:, None]
    small = np.exp(-2.0j * np.pi * rows * np.arange(radix) / radix)
    y = x.copy()
    for i in range(stages):
        done, left = radix**i, radix ** (stages - i - 1)
        permuted = np.transpose(np.reshape(y, (done, radix, left)), axes=(1, 0, 2))
        twiddles = np.exp(-2.0j * np.pi * rows * np.arange(done) / (done * radix))
        twisted = permuted * twiddles[:, :, None]
        y[:] = np.reshape(small @ np.reshape(twisted, (radix, n // radix)), (n,))
    return y


def _solved(matrix, right):
    """Gauss and Jordan's elimination, without a choice of pivots, in copies."""
    a, x = matrix.copy(), right.copy()
    for k in range(a.shape[0]):
        pivot = a[k, k]
        a[k] /= pivot
        x[k] /= pivot
        for i in range(a.shape[0]):
            if i != k:
                factor = a[i, k]
                a[i] -= factor * a[k]
                x[i] -= factor * x[k]
    return x


@PROGRAMS.on(complexes(2, 5, 5), complexes(4, seed=3) + 3.0, complexes(5, 2, seed=5))
@PROGRAMS.on(complexes(1, 1, 1), complexes(1, seed=3) + 3.0, complexes(1, 1, seed=5))
def contour_integral(blocks, points, right):
    """Moments of a matrix polynomial's inverse over points of a contour."""
    n = blocks.shape[1]
    zeroth, first = np.zeros((n, right.shape[1]), complex), np.zeros((n, right.shape[1]), complex)
    for p in range(points.shape[0]):
        z = points[p]
        matrix = np.eye(n, dtype=complex) * 9.0
        power = z
        for k in range(blocks.shape[0]):
            matrix += power * blocks[k] / 9.0
            power *= z
        x = _solved(matrix, right)
        if abs(z) < 3.0:
            x *= -1.0
        zeroth += x
        first += z * x
    return zeroth, first


@PROGRAMS.on(
    ints(2, 1, lo=0, hi=2), complexes(2, 1, 3, 2, 2), complexes(1, 2, 2, 2, 2, seed=3),
    complexes(1, 1, 2, 1, 3, 3, seed=5),
)  # fmt: skip
def self_energies(neighbours, gradient, green, phonons):
    """Scattering of electrons by phonons: six axes, small matrices, blocks through an index array."""
    momenta, energies, atoms, _, orbitals = green.shape
    sigma = np.zeros((momenta, energies, atoms, orbitals, orbitals), dtype=np.complex128)
    for k in range(momenta):
        for e in range(energies):
            for q in range(phonons.shape[0]):
                for w in range(phonons.shape[1]):
                    for i in range(3):
                        for j in range(3):
                            for a in range(atoms):
                                for b in range(neighbours.shape[1]):
                                    if e - w >= 0:
                                        scattered = green[k, e - w, neighbours[a, b]] @ gradient[a, b, i]
                                        coupling = gradient[a, b, j] * phonons[q, w, a, b, i, j]
                                        sigma[k, e, a] += scattered @ coupling
    return sigma


# ---------------------------------------------------------------- other numerics


@PROGRAMS.on(floats(6, 6), floats(6), 6)
@PROGRAMS.on(floats(1, 1), floats(1), 1)
def conjugate_gradients(a, b, rounds):
    matrix = a.T @ a + np.eye(a.shape[0])
    x = np.zeros_like(b)
    r = b - matrix @ x
    p = r.copy()
    old = r @ r
    for _ in range(rounds):
        if old > 1e-30:
            ap = matrix @ p
            alpha = old / (p @ ap)
            x += alpha * p
            r -= alpha * ap
            new = r @ r
            p[:] = r + new / old * p
            old = new
    return x


@PROGRAMS.on(floats(11), 7)
@PROGRAMS.on(floats(1), 1)
@PROGRAMS.on(floats(0), 3)
def histogram(values, bins):
    """Of numbers between -2 and 2, weighted by their squares."""
    counts, weights = np.zeros(bins, dtype=np.int64), np.zeros(bins)
    places = np.minimum(((values + 2.0) / 4.0 * bins).astype(np.int64), bins - 1)
    for k in range(values.shape[0]):
        counts[places[k]] += 1
        weights[places[k]] += values[k] ** 2
    return counts, weights / np.maximum(counts, 1)


@PROGRAMS.on(ints(8, lo=0, hi=4), ints(9, lo=0, hi=4, seed=1))
@PROGRAMS.on(ints(1, lo=0, hi=4), ints(0, lo=0, hi=4))
def alignment(a, b):
    """Smith and Waterman's score: rows in order, a row from the one above."""
    table = np.zeros((a.shape[0] + 1, b.shape[0] + 1), dtype=np.int64)
    for i in range(a.shape[0]):
        matches = np.where(b == a[i], 3, -3)
        table[i + 1, 1:] = np.maximum(np.maximum(table[i, :-1] + matches, table[i, 1:] - 2), 0)
        for j in range(b.shape[0]):
            table[i + 1, j + 1] = max(table[i + 1, j + 1], table[i + 1, j] - 2)
    return table.max(), table


@PROGRAMS.on(floats(5), floats(5, seed=1), floats(5, seed=2), floats(5, seed=3))
def distances_on_a_sphere(theta_1, phi_1, theta_2, phi_2):
    across, around = (theta_2 - theta_1) / 2, (phi_2 - phi_1) / 2
    x = np.sin(across) ** 2 + np.cos(theta_1) * np.cos(theta_2) * np.sin(around) ** 2
    return 2 * np.arctan2(np.sqrt(x), np.sqrt(1 - x))


@PROGRAMS.on(ints(6, 7, dtype=np.int64), ints(6, 7, seed=1), 4, 3, 9)
def clipped_sums(a, b, x, y, z):
    return np.clip(a, 2, 10) * x + b * y + z
