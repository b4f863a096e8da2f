"""Programs as their users write them, which compile as a whole, beside plain Python and Numba, in one process.

    python -m benchmarks.everyday [--json FILE] [--only NAME]

Times are of the process, each the least of several rounds in turn, as in `benchmarks.fallbacks`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np

from benchmarks.fallbacks import Program, compare

R = np.random.default_rng(0)


def smith_waterman(a, b, match, mis, gap):
    n, m = len(a), len(b)
    H = np.zeros((n + 1, m + 1), np.int64)
    best = 0
    bi = bj = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            s = match if a[i - 1] == b[j - 1] else mis
            v = max(0, H[i - 1, j - 1] + s, H[i - 1, j] + gap, H[i, j - 1] + gap)
            H[i, j] = v
            if v > best:
                best, bi, bj = v, i, j
    return best, bi, bj


def nbody(pos, vel, mass, steps, dt):
    n = pos.shape[0]
    for s in range(steps):
        for i in range(n):
            ax = ay = az = 0.0
            for j in range(n):
                if i != j:
                    dx = pos[j, 0] - pos[i, 0]
                    dy = pos[j, 1] - pos[i, 1]
                    dz = pos[j, 2] - pos[i, 2]
                    d2 = dx * dx + dy * dy + dz * dz + 1e-6
                    inv = mass[j] / (d2 * math.sqrt(d2))
                    ax += dx * inv
                    ay += dy * inv
                    az += dz * inv
            vel[i, 0] += ax * dt
            vel[i, 1] += ay * dt
            vel[i, 2] += az * dt
        for i in range(n):
            for k in range(3):
                pos[i, k] += vel[i, k] * dt
    return pos.sum()


def sieve(n):
    is_p = np.ones(n + 1, np.bool_)
    is_p[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if is_p[i]:
            for j in range(i * i, n + 1, i):
                is_p[j] = False
    out = []
    for i in range(n + 1):
        if is_p[i]:
            out.append(i)
    return len(out), out[-1]


def collatz(limit):
    best, arg = 0, 0
    for start in range(1, limit):
        n, c = start, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            c += 1
        if c > best:
            best, arg = c, start
    return best, arg


def householder_qr(A):
    m, n = A.shape
    Rm = A.copy()
    Q = np.eye(m)
    for k in range(min(m - 1, n)):
        x = Rm[k:, k].copy()
        norm = 0.0
        for i in range(len(x)):
            norm += x[i] ** 2
        norm = math.sqrt(norm)
        if norm == 0:
            continue
        x[0] += norm if x[0] >= 0 else -norm
        vv = 0.0
        for i in range(len(x)):
            vv += x[i] * x[i]
        for j in range(n):
            d = 0.0
            for i in range(len(x)):
                d += x[i] * Rm[k + i, j]
            d *= 2 / vv
            for i in range(len(x)):
                Rm[k + i, j] -= d * x[i]
        for j in range(m):
            d = 0.0
            for i in range(len(x)):
                d += x[i] * Q[j, k + i]
            d *= 2 / vv
            for i in range(len(x)):
                Q[j, k + i] -= d * x[i]
    return np.abs(Q @ Rm - A).max() < 1e-10, Q, Rm


def jacobi_eigen(M):
    A = (M + M.T) / 2
    n = A.shape[0]
    for sweep in range(6):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(A[p, q]) > 1e-12:
                    theta = (A[q, q] - A[p, p]) / (2 * A[p, q])
                    t = math.copysign(1.0, theta) / (abs(theta) + math.sqrt(theta * theta + 1))
                    c = 1 / math.sqrt(t * t + 1)
                    s = t * c
                    for k in range(n):
                        akp, akq = A[k, p], A[k, q]
                        A[k, p] = c * akp - s * akq
                        A[k, q] = s * akp + c * akq
                    for k in range(n):
                        apk, aqk = A[p, k], A[q, k]
                        A[p, k] = c * apk - s * aqk
                        A[q, k] = s * apk + c * aqk
    return np.sort(np.diag(A))


def median_filter(img, k):
    h, w = img.shape
    r = k // 2
    out = np.zeros_like(img)
    for i in range(r, h - r):
        for j in range(r, w - r):
            win = []
            for a in range(-r, r + 1):
                for b in range(-r, r + 1):
                    win.append(img[i + a, j + b])
            win.sort()
            out[i, j] = win[len(win) // 2]
    return out


def bilinear(img, H, W):
    h, w, c = img.shape
    out = np.empty((H, W, c))
    for i in range(H):
        y = i * (h - 1) / (H - 1)
        y0 = int(y)
        y1 = min(y0 + 1, h - 1)
        fy = y - y0
        for j in range(W):
            x = j * (w - 1) / (W - 1)
            x0 = int(x)
            x1 = min(x0 + 1, w - 1)
            fx = x - x0
            for k in range(c):
                top = img[y0, x0, k] * (1 - fx) + img[y0, x1, k] * fx
                bot = img[y1, x0, k] * (1 - fx) + img[y1, x1, k] * fx
                out[i, j, k] = top * (1 - fy) + bot * fy
    return out


def fnv(data):
    h = 14695981039346656037
    for x in data:
        h ^= int(x)
        h = (h * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    return h


def xorshift(x, n):
    out = np.empty(n, np.uint64)
    for i in range(n):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        out[i] = x
    return out


def fft(x):
    n = len(x)
    a = x.copy()
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            a[i], a[j] = a[j], a[i]
    length = 2
    while length <= n:
        ang = -2 * math.pi / length
        wl = complex(math.cos(ang), math.sin(ang))
        for i in range(0, n, length):
            w = 1 + 0j
            for k in range(length // 2):
                u = a[i + k]
                v = a[i + k + length // 2] * w
                a[i + k] = u + v
                a[i + k + length // 2] = u - v
                w *= wl
        length <<= 1
    return a


def dft(x):
    n = len(x)
    out = np.zeros(n, np.complex128)
    for k in range(n):
        for t in range(n):
            out[k] += x[t] * np.exp(-2j * np.pi * k * t / n)
    return out


def pagerank(indptr, idx, iters):
    n = len(indptr) - 1
    r = np.full(n, 1 / n)
    for it in range(iters):
        new = np.full(n, 0.15 / n)
        for u in range(n):
            deg = indptr[u + 1] - indptr[u]
            if deg == 0:
                continue
            share = 0.85 * r[u] / deg
            for k in range(indptr[u], indptr[u + 1]):
                new[idx[k]] += share
        r = new
    return r


def viterbi(A, B, pi, obs):
    S, T = A.shape[0], len(obs)
    d = np.zeros((T, S))
    psi = np.zeros((T, S), dtype=int)
    d[0] = np.log(pi) + np.log(B[:, obs[0]])
    for t in range(1, T):
        for j in range(S):
            best, arg = -np.inf, 0
            for i in range(S):
                v = d[t - 1, i] + math.log(A[i, j])
                if v > best:
                    best, arg = v, i
            d[t, j] = best + math.log(B[j, obs[t]])
            psi[t, j] = arg
    path = [int(np.argmax(d[-1]))]
    for t in range(T - 1, 0, -1):
        path.append(int(psi[t, path[-1]]))
    return path[::-1]


def dtw(a, b):
    n, m = a.shape[0], b.shape[0]
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            D[i, j] = abs(a[i - 1] - b[j - 1]) + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


def matrix_chain(p):
    n = len(p) - 1
    m = [[0] * n for _ in range(n)]
    for L in range(2, n + 1):
        for i in range(n - L + 1):
            j = i + L - 1
            m[i][j] = 10**15
            for k in range(i, j):
                c = m[i][k] + m[k + 1][j] + p[i] * p[k + 1] * p[j + 1]
                m[i][j] = min(m[i][j], c)
    return m[0][n - 1]


def queens_bits(n):
    full = (1 << n) - 1
    count = 0
    stack = [(0, 0, 0)]
    while stack:
        cols, d1, d2 = stack.pop()
        if cols == full:
            count += 1
            continue
        free = full & ~(cols | d1 | d2)
        while free:
            bit = free & -free
            free ^= bit
            stack.append((cols | bit, ((d1 | bit) << 1) & full, (d2 | bit) >> 1))
    return count


def radix_sort(a):
    src = a.copy()
    dst = np.empty_like(src)
    for shift in range(0, 32, 8):
        count = np.zeros(257, np.int64)
        for x in src:
            count[((x >> shift) & 255) + 1] += 1
        for i in range(256):
            count[i + 1] += count[i]
        for x in src:
            k = (x >> shift) & 255
            dst[count[k]] = x
            count[k] += 1
        src, dst = dst, src
    return src


def bubble(a):
    a = a.copy()
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return a


def components(img):
    h, w = img.shape
    lab = np.zeros((h, w), np.int32)
    cur = 0
    for i in range(h):
        for j in range(w):
            if img[i, j] and lab[i, j] == 0:
                cur += 1
                stack = [(i, j)]
                lab[i, j] = cur
                while stack:
                    y, x = stack.pop()
                    for dy, dx in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                        ny, nx = y + dy, x + dx
                        if 0 <= ny < h and 0 <= nx < w and img[ny, nx] and not lab[ny, nx]:
                            lab[ny, nx] = cur
                            stack.append((ny, nx))
    return cur, lab


def mandel(h, w, maxit):
    out = np.zeros((h, w), np.int32)
    for i in range(h):
        for j in range(w):
            c = complex(-2 + 3 * j / w, -1.5 + 3 * i / h)
            z = 0j
            for k in range(maxit):
                z = z * z + c
                if abs(z) > 2:
                    out[i, j] = k
                    break
    return out


def logistic_sgd(X, y, epochs, lr):
    n, d = X.shape
    w = np.zeros(d)
    b = 0.0
    for e in range(epochs):
        for i in range(n):
            z = np.dot(X[i], w) + b
            p = 1 / (1 + np.exp(-z))
            g = p - y[i]
            w -= lr * g * X[i]
            b -= lr * g
    return w, b


def kmeans_plain(X, k, iters):
    n, d = X.shape
    C = X[:k].copy()
    lab = np.zeros(n, int)
    for it in range(iters):
        for i in range(n):
            best = np.inf
            for c in range(k):
                dist = np.sum((X[i] - C[c]) ** 2)
                if dist < best:
                    best = dist
                    lab[i] = c
        for c in range(k):
            m = X[lab == c]
            if len(m) > 0:
                C[c] = m.mean(axis=0)
    return C, lab


def cg(A, b):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for it in range(200):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        if np.sqrt(new) < 1e-10:
            break
        p = r + (new / rs) * p
        rs = new
    return it, np.linalg.norm(A @ x - b)


def lorenz(u, dt, steps):
    def f(v):
        x, y, z = v
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    traj = np.empty((steps, 3))
    for s in range(steps):
        k1 = f(u)
        k2 = f(u + dt / 2 * k1)
        k3 = f(u + dt / 2 * k2)
        k4 = f(u + dt * k3)
        u = u + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        traj[s] = u
    return traj[-1] if steps < 300 else traj[300]


def lbm(nx, ny, steps):
    cx = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
    cy = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    w = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    f = np.ones((9, nx, ny)) * w[:, None, None]
    f[1] += 0.01
    for s in range(steps):
        rho = f.sum(axis=0)
        ux = (f * cx[:, None, None]).sum(axis=0) / rho
        uy = (f * cy[:, None, None]).sum(axis=0) / rho
        usq = 1.5 * (ux**2 + uy**2)
        for k in range(9):
            cu = 3 * (cx[k] * ux + cy[k] * uy)
            feq = rho * w[k] * (1 + cu + 0.5 * cu**2 - usq)
            f[k] += 0.6 * (feq - f[k])
            f[k] = np.roll(np.roll(f[k], cx[k], axis=0), cy[k], axis=1)
    return f


def histogram_eq(x, bins):
    h = [0] * bins
    for v in x:
        h[min(int(v * bins), bins - 1)] += 1
    cdf = []
    t = 0
    for c in h:
        t += c
        cdf.append(t / len(x))
    return np.array([cdf[min(int(v * bins), bins - 1)] for v in x])


def seidel_poisson(u, tol, maxit):
    n, m = u.shape
    for it in range(maxit):
        err = 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                err = max(err, abs(new - u[i, j]))
                u[i, j] = new
        if err < tol:
            break
    return it, err


def conv2d(x, k):
    N, C, H, W = x.shape
    K, _, R_, S = k.shape
    out = np.zeros((N, K, H - R_ + 1, W - S + 1))
    for n in range(N):
        for o in range(K):
            for i in range(out.shape[2]):
                for j in range(out.shape[3]):
                    out[n, o, i, j] = np.sum(x[n, :, i : i + R_, j : j + S] * k[o])
    return np.maximum(out, 0)


def black_scholes(S, K, v):
    out = np.empty_like(S)
    for i in range(len(S)):
        d1 = (math.log(S[i] / K) + (0.02 + v * v / 2)) / v
        d2 = d1 - v
        out[i] = S[i] * 0.5 * (1 + math.erf(d1 / math.sqrt(2))) - K * math.exp(-0.02) * 0.5 * (
            1 + math.erf(d2 / math.sqrt(2))
        )
    return out


def gauss_jordan(A):
    n = len(A)
    M = np.hstack([A, np.eye(n)])
    for i in range(n):
        p = i + int(np.argmax(np.abs(M[i:, i])))
        if p != i:
            M[[i, p]] = M[[p, i]]
        M[i] /= M[i, i]
        for j in range(n):
            if j != i:
                M[j] -= M[j, i] * M[i]
    return M[:, n:]


def rle(a):
    out = []
    i = 0
    while i < len(a):
        j = i
        while j < len(a) and a[j] == a[i]:
            j += 1
        out.append((int(a[i]), j - i))
        i = j
    return out[:10], len(out)


def sobel(img):
    gx = np.zeros_like(img)
    gx[1:-1, 1:-1] = (
        img[:-2, 2:] + 2 * img[1:-1, 2:] + img[2:, 2:] - img[:-2, :-2] - 2 * img[1:-1, :-2] - img[2:, :-2]
    )
    gy = np.zeros_like(img)
    gy[1:-1, 1:-1] = (
        img[2:, :-2] + 2 * img[2:, 1:-1] + img[2:, 2:] - img[:-2, :-2] - 2 * img[:-2, 1:-1] - img[:-2, 2:]
    )
    return np.hypot(gx, gy)


def spline_eval(x, y, q):
    x = np.sort(x)
    out = np.empty_like(q)
    for i in range(len(q)):
        k = np.searchsorted(x, q[i]) - 1
        k = min(max(k, 0), len(x) - 2)
        t = (q[i] - x[k]) / (x[k + 1] - x[k])
        out[i] = (1 - t) * y[k] + t * y[k + 1]
    return out


def kalman(z, q):
    x, p, r = 0.0, 1.0, 0.5
    out = np.zeros(len(z))
    for k, zk in enumerate(z):
        p += q
        K = p / (p + r)
        x += K * (zk - x)
        p *= 1 - K
        out[k] = x
    return out


def life(g, steps):
    n, m = g.shape
    for _ in range(steps):
        new = np.zeros_like(g)
        for i in range(n):
            for j in range(m):
                c = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di or dj:
                            c += g[(i + di) % n, (j + dj) % m]
                if (g[i, j] and c in (2, 3)) or (not g[i, j] and c == 3):
                    new[i, j] = 1
        g = new
    return g


def energy(s):
    n, m = s.shape
    e = 0
    for i in range(n):
        for j in range(m):
            around = s[(i + 1) % n, j] + s[(i - 1) % n, j] + s[i, (j + 1) % m] + s[i, (j - 1) % m]
            e -= around * s[i, j]
    return e / 2


def upwind(u, c, steps):
    for _ in range(steps):
        before = u.copy()
        for i in range(len(u)):
            u[i] = before[i] - c * (before[i] - before[i - 1])
    return u


def clamped(a):
    n, m = a.shape
    out = np.empty_like(a)
    for i in range(n):
        for j in range(m):
            out[i, j] = (
                a[max(i - 1, 0), j] + a[min(i + 1, n - 1), j] + a[i, max(j - 1, 0)] + a[i, min(j + 1, m - 1)]
            )
    return out


def longest_common(a, b):
    n, m = len(a), len(b)
    t = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                t[i][j] = t[i - 1][j - 1] + 1
            else:
                t[i][j] = max(t[i - 1][j], t[i][j - 1])
    return t[n][m]


def edit_distance(s, t):
    previous = list(range(len(t) + 1))
    for i in range(len(s)):
        current = [i + 1]
        for j in range(len(t)):
            current.append(min(previous[j + 1] + 1, current[j] + 1, previous[j] + int(s[i] != t[j])))
        previous = current
    return previous[-1]


def _links() -> tuple[np.ndarray, np.ndarray, int]:
    """A graph of 3,000 pages with up to eight links each, as compressed rows, and a number of iterations."""
    first = np.concatenate([[0], np.cumsum(R.integers(1, 9, 3000))])
    return first, R.integers(0, 3000, first[-1]), 20


GRAPH = _links()

PROGRAMS = (
    Program(
        smith_waterman,
        lambda: (R.integers(0, 4, 300).astype(np.int8), R.integers(0, 4, 280).astype(np.int8), 2, -1, -2),
    ),
    Program(nbody, lambda: (R.random((400, 3)), R.random((400, 3)) * 0.01, R.random(400), 5, 0.01)),
    Program(sieve, lambda: (60000,)),
    Program(collatz, lambda: (20000,)),
    Program(householder_qr, lambda: (R.random((80, 80)) - 0.5,)),
    Program(jacobi_eigen, lambda: (R.random((40, 40)),)),
    Program(median_filter, lambda: (R.integers(0, 256, (80, 100)).astype(np.uint8), 5)),
    Program(bilinear, lambda: (R.random((64, 64, 3)), 150, 130)),
    Program(fnv, lambda: (R.integers(0, 256, 20000).astype(np.uint8),)),
    Program(xorshift, lambda: (np.uint64(88172645463325252), 20000)),
    Program(fft, lambda: (R.random(1 << 11) + 1j * R.random(1 << 11),)),
    Program(dft, lambda: (R.random(256),)),
    Program(pagerank, lambda: GRAPH),
    Program(viterbi, lambda: (R.random((20, 20)), R.random((20, 9)), R.random(20), R.integers(0, 9, 300))),
    Program(dtw, lambda: (R.random(300), R.random(280))),
    Program(matrix_chain, lambda: ([30, 35, 15, 5, 10, 20, 25] * 7,)),
    Program(queens_bits, lambda: (9,)),
    Program(radix_sort, lambda: (R.integers(0, 1 << 30, 4000),)),
    Program(bubble, lambda: (R.random(600),)),
    Program(components, lambda: (R.integers(0, 2, (90, 90)),)),
    Program(mandel, lambda: (100, 100, 40)),
    Program(logistic_sgd, lambda: (R.random((500, 4)), (R.random(500) > 0.5).astype(float), 20, 0.1)),
    Program(kmeans_plain, lambda: (R.random((300, 2)), 5, 15)),
    Program(cg, lambda: (R.random((30, 30)) + np.eye(30) * 5, R.random(30))),
    Program(lorenz, lambda: (np.array([1.0, 1.0, 1.0]), 0.01, 2000)),
    Program(lbm, lambda: (40, 60, 30)),
    Program(histogram_eq, lambda: (R.random(5000), 40)),
    Program(seidel_poisson, lambda: (R.random((50, 50)), 0.0, 100)),
    Program(conv2d, lambda: (R.random((16, 3, 12, 12)), R.random((8, 3, 3, 3)))),
    Program(black_scholes, lambda: (R.random(2000) * 100, 20.0, 0.2)),
    Program(gauss_jordan, lambda: (R.random((60, 60)),)),
    Program(rle, lambda: (R.integers(0, 5, 2000).astype(np.int64),)),
    Program(sobel, lambda: (R.random((64, 64)),)),
    Program(spline_eval, lambda: (R.random(100), R.random(100), np.linspace(0, 1, 500))),
    Program(kalman, lambda: (R.random(3000), 0.1)),
    Program(life, lambda: (R.integers(0, 2, (120, 120)).astype(np.uint8), 10)),
    Program(energy, lambda: (2 * R.integers(0, 2, (300, 300)) - 1,)),
    Program(upwind, lambda: (R.random(20_000), 0.1, 5)),
    Program(clamped, lambda: (R.random((300, 300)),)),
    Program(longest_common, lambda: (R.integers(0, 4, 200), R.integers(0, 4, 200))),
    Program(edit_distance, lambda: (R.integers(0, 4, 200), R.integers(0, 4, 200))),
)


def main(args: Sequence[str] | None = None) -> int:
    found = compare(PROGRAMS, args, __doc__)
    rows = [row for row in found.values() if row["numba"] is not None]
    if rows:
        mean = statistics.geometric_mean(row["numba"] / row["appyc"] for row in rows)
        print(f"{len(rows)} programs compile with Numba too: appyc is {mean:.2f} times as fast")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
