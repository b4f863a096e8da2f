"""Short loops over numbers, as people write them without thinking of a compiler, beside plain Python and Numba.

    python -m benchmarks.short_loops [--json FILE] [--only NAME]

Most divide by Python's floats, call functions of `math`, or take remainders: what may raise, or has no vector
instruction. Times are of the process, each the least of several rounds in turn, as in `benchmarks.fallbacks`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np

from benchmarks.fallbacks import Program, compare

N = 10_000
R = np.random.default_rng(0)


def pi(n):
    s = 0.0
    for i in range(n):
        x = (i + 0.5) / n
        s += 4.0 / (1.0 + x * x)
    return s / n


def haversine(la, lo, o):
    n = len(la)
    for i in range(n):
        for j in range(n):
            a = (
                math.sin((la[i] - la[j]) / 2) ** 2
                + math.cos(la[i]) * math.cos(la[j]) * math.sin((lo[i] - lo[j]) / 2) ** 2
            )
            o[i, j] = 2 * 6371 * math.asin(min(1.0, math.sqrt(a)))


def lennard_jones(x):
    e = 0.0
    n = x.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            r2 = 0.0
            for k in range(3):
                d = x[i, k] - x[j, k]
                r2 += d * d
            ir = 1.0 / r2
            s6 = ir * ir * ir
            e += 4.0 * (s6 * s6 - s6)
    return e


def softmax(a, o):
    for i in range(a.shape[0]):
        m = -math.inf
        for j in range(a.shape[1]):
            m = max(m, a[i, j])
        s = 0.0
        for j in range(a.shape[1]):
            o[i, j] = math.exp(a[i, j] - m)
            s += o[i, j]
        for j in range(a.shape[1]):
            o[i, j] /= s


def normal(x, o):
    for i in range(len(x)):
        o[i] = 0.5 * (1.0 + math.erf(x[i] / math.sqrt(2.0)))


def logistic_map(n, r, x):
    for _i in range(n):
        x = r * x * (1 - x)
    return x


def gini(x):
    n = len(x)
    s = 0.0
    for i in range(n):
        for j in range(n):
            s += abs(x[i] - x[j])
    return s / (2 * n * n * x.mean())


def polar(x, y, r, t):
    for i in range(len(x)):
        r[i] = math.hypot(x[i], y[i])
        t[i] = math.atan2(y[i], x[i])


def layer_norm(x, o, eps):
    for i in range(x.shape[0]):
        m = 0.0
        for j in range(x.shape[1]):
            m += x[i, j]
        m /= x.shape[1]
        v = 0.0
        for j in range(x.shape[1]):
            v += (x[i, j] - m) ** 2
        v = 1.0 / math.sqrt(v / x.shape[1] + eps)
        for j in range(x.shape[1]):
            o[i, j] = (x[i, j] - m) * v


def distances(a, b, o):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            s = 0.0
            for k in range(a.shape[1]):
                s += (a[i, k] - b[j, k]) ** 2
            o[i, j] = math.sqrt(s)


def grey(im, o):
    for i in range(im.shape[0]):
        for j in range(im.shape[1]):
            o[i, j] = int(0.299 * im[i, j, 0] + 0.587 * im[i, j, 1] + 0.114 * im[i, j, 2])


def bilateral(a, o, s):
    for i in range(2, a.shape[0] - 2):
        for j in range(2, a.shape[1] - 2):
            w = 0.0
            v = 0.0
            for di in range(-2, 3):
                for dj in range(-2, 3):
                    d = a[i + di, j + dj] - a[i, j]
                    k = math.exp(-(d * d) / s - (di * di + dj * dj) / 8.0)
                    w += k
                    v += k * a[i + di, j + dj]
            o[i, j] = v / w


def trig(o):
    n = len(o)
    for i in range(n):
        o[i] = math.sin(2 * math.pi * i / n) * math.exp(-3.0 * i / n)


def newton(x, o):
    for i in range(len(x)):
        y = x[i]
        for _ in range(20):
            y = 0.5 * (y + x[i] / y)
        o[i] = y


def legendre(x, n, o):
    for i in range(len(x)):
        p0 = 1.0
        p1 = x[i]
        for k in range(2, n):
            p2 = ((2 * k - 1) * x[i] * p1 - (k - 1) * p0) / k
            p0 = p1
            p1 = p2
        o[i] = p1


def guarded_quotient(x, o):
    for i in range(len(x)):
        z = float(x[i])
        d = z * z - 0.3
        o[i] = z / d if d != 0 else 0.0


def kinetic(m, v):
    e = 0.0
    for i in range(len(m)):
        for k in range(3):
            e += 0.5 * m[i] * v[i, k] ** 2
    return e


def black_scholes_of_scalars(price, strike, years, call):
    for i in range(price.shape[0]):
        root = 0.3 * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + 0.065 * years[i]) / root
        call[i] = price[i] * 0.5 * (1 + math.erf(d1 / math.sqrt(2))) - strike[i] * math.exp(
            -0.02 * years[i]
        ) * 0.5 * (1 + math.erf((d1 - root) / math.sqrt(2)))


def integrate(a, b, n):
    h = (b - a) / n
    s = 0.0
    for i in range(n):
        x = a + i * h
        s += math.sin(x) / (1.0 + x * x)
    return s * h


def knapsack(w, v, c):
    d = np.zeros(c + 1)
    for i in range(len(w)):
        for j in range(c, w[i] - 1, -1):
            d[j] = max(d[j], d[j - w[i]] + v[i])
    return d[c]


def histogram(x, h):
    n = len(h)
    for i in range(len(x)):
        k = int(x[i] * n)
        if k >= n:
            k = n - 1
        h[k] += 1


def convolve(a, k, o):
    for i in range(len(o)):
        s = 0.0
        for j in range(len(k)):
            s += a[i + j] * k[j]
        o[i] = s


def exponential_mean(x, a, o):
    o[0] = x[0]
    for i in range(1, len(x)):
        o[i] = a * x[i] + (1 - a) * o[i - 1]


def rolling_mean(x, w, o):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        if i >= w:
            s -= x[i - w]
        if i >= w - 1:
            o[i] = s / w


def rolling_max(x, w, o):
    for i in range(w - 1, len(x)):
        m = x[i]
        for j in range(i - w + 1, i):
            m = max(m, x[j])
        o[i] = m


def drawdown(x):
    peak = x[0]
    dd = 0.0
    for i in range(len(x)):
        peak = max(peak, x[i])
        d = (peak - x[i]) / peak
        dd = max(dd, d)
    return dd


def kernel_density(x, g, h, o):
    for i in range(len(g)):
        s = 0.0
        for j in range(len(x)):
            u = (g[i] - x[j]) / h
            s += math.exp(-0.5 * u * u)
        o[i] = s / (len(x) * h * math.sqrt(2 * math.pi))


def spmv(ip, ix, d, x, y):
    for i in range(len(ip) - 1):
        s = 0.0
        for k in range(ip[i], ip[i + 1]):
            s += d[k] * x[ix[k]]
        y[i] = s


def binomial_option(s, k, rr, v, T, n):
    dt = T / n
    u = math.exp(v * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(rr * dt) - d) / (u - d)
    q = math.exp(-rr * dt)
    o = np.zeros(n + 1)
    for i in range(n + 1):
        o[i] = max(0.0, s * u ** (n - 2 * i) - k)
    for j in range(n - 1, -1, -1):
        for i in range(j + 1):
            o[i] = q * (p * o[i] + (1 - p) * o[i + 1])
    return o[0]


def julia(w, h, c, m, o):
    for y in range(h):
        for x in range(w):
            z = complex(3.0 * x / w - 1.5, 2.0 * y / h - 1.0)
            k = 0
            while abs(z) < 2.0 and k < m:
                z = z * z + c
                k += 1
            o[y, x] = k


def spheres(ox, oy, c, rad, o):
    for i in range(len(ox)):
        best = 1e30
        for k in range(c.shape[0]):
            dx = c[k, 0] - ox[i]
            dy = c[k, 1] - oy[i]
            d2 = dx * dx + dy * dy
            if d2 < rad[k] * rad[k]:
                tt = c[k, 2] - math.sqrt(rad[k] * rad[k] - d2)
                best = min(best, tt)
        o[i] = best


def garch(e, w, a, b):
    s = e[0] * e[0]
    ll = 0.0
    for i in range(1, len(e)):
        s = w + a * e[i - 1] ** 2 + b * s
        ll += -0.5 * (math.log(2 * math.pi) + math.log(s) + e[i] ** 2 / s)
    return ll


def maxpool(a, o):
    for i in range(o.shape[0]):
        for j in range(o.shape[1]):
            m = a[2 * i, 2 * j]
            for p in range(2):
                for q in range(2):
                    m = max(m, a[2 * i + p, 2 * j + q])
            o[i, j] = m


def lu(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def insertion(a):
    for i in range(1, len(a)):
        k = a[i]
        j = i - 1
        while j >= 0 and a[j] > k:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = k


def binary_search(a, q, o):
    for i in range(len(q)):
        lo = 0
        hi = len(a)
        while lo < hi:
            mid = (lo + hi) // 2
            if a[mid] < q[i]:
                lo = mid + 1
            else:
                hi = mid
        o[i] = lo


def cumsum(x, o):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        o[i] = s


def autocorr(x, o):
    n = len(x)
    for k in range(len(o)):
        s = 0.0
        for i in range(n - k):
            s += x[i] * x[i + k]
        o[k] = s / n


def wave(u0, u1, u2, c):
    for i in range(1, u1.shape[0] - 1):
        for j in range(1, u1.shape[1] - 1):
            u2[i, j] = (
                2 * u1[i, j]
                - u0[i, j]
                + c * (u1[i - 1, j] + u1[i + 1, j] + u1[i, j - 1] + u1[i, j + 1] - 4 * u1[i, j])
            )


def periodic(u, o, n):
    for i in range(n):
        o[i] = u[(i + 1) % n] - 2 * u[i] + u[(i - 1) % n]


def polynomial(x, c, o):
    for i in range(len(x)):
        y = 0.0
        for k in range(len(c) - 1, -1, -1):
            y = y * x[i] + c[k]
        o[i] = y


def popcount(x):
    s = 0
    for i in range(len(x)):
        v = x[i]
        while v:
            s += v & 1
            v >>= 1
    return s


def gcdsum(n):
    s = 0
    for i in range(1, n):
        for j in range(1, n):
            a = i
            b = j
            while b:
                a, b = b, a % b
            s += a
    return s


def trapezoid_2d(n):
    s = 0.0
    for i in range(n):
        for j in range(n):
            x = i / n
            y = j / n
            s += math.exp(-(x * x + y * y))
    return s / (n * n)


def norm(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
    return math.sqrt(s)


def median3(a, o):
    for i in range(1, len(a) - 1):
        x = a[i - 1]
        y = a[i]
        z = a[i + 1]
        o[i] = max(min(x, y), min(max(x, y), z))


def signs(x, o):
    for i in range(len(x)):
        if x[i] > 0.3:
            o[i] = 1
        elif x[i] < 0.1:
            o[i] = -1
        else:
            o[i] = 0


def countif(x):
    c = 0
    for i in range(len(x)):
        if 0.2 < x[i] < 0.7:
            c += 1
    return c


def argmax_2d(a):
    b = -1.0
    bi = 0
    bj = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > b:
                b = a[i, j]
                bi = i
                bj = j
    return bi, bj


def weighted(x, w):
    s = 0.0
    t_ = 0.0
    for i in range(len(x)):
        s += x[i] * w[i]
        t_ += w[i]
    return s / t_


def minmax(x, o):
    lo = x[0]
    hi = x[0]
    for i in range(len(x)):
        lo = min(lo, x[i])
        hi = max(hi, x[i])
    for i in range(len(x)):
        o[i] = (x[i] - lo) / (hi - lo)


def fft_in_place(re, im):
    n = len(re)
    j = 0
    for i in range(1, n):
        b = n >> 1
        while j & b:
            j ^= b
            b >>= 1
        j ^= b
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    L = 2
    while n >= L:
        an = -2 * math.pi / L
        for i in range(0, n, L):
            for k in range(L // 2):
                wr = math.cos(an * k)
                wi = math.sin(an * k)
                ur = re[i + k]
                ui = im[i + k]
                vr = re[i + k + L // 2] * wr - im[i + k + L // 2] * wi
                vi = re[i + k + L // 2] * wi + im[i + k + L // 2] * wr
                re[i + k] = ur + vr
                im[i + k] = ui + vi
                re[i + k + L // 2] = ur - vr
                im[i + k + L // 2] = ui - vi
        L *= 2


def count_primes(n):
    c = 0
    for k in range(2, n):
        p = True
        d = 2
        while d * d <= k:
            if k % d == 0:
                p = False
                break
            d += 1
        if p:
            c += 1
    return c


def digits(n):
    s = 0
    for i in range(n):
        k = i
        while k > 0:
            s += k % 10
            k //= 10
    return s


def lcg(n, seed):
    x = seed
    s = 0.0
    for _i in range(n):
        x = (1103515245 * x + 12345) % 2147483648
        s += x / 2147483648
    return s


def modular_powers(n, m):
    s = 0
    for b in range(2, n):
        e = 65537
        x = 1
        y = b
        while e > 0:
            if e & 1:
                x = x * y % m
            y = y * y % m
            e >>= 1
        s += x
    return s


def perfect(n):
    c = 0
    for k in range(1, n):
        s = 0
        for d in range(1, k):
            if k % d == 0:
                s += d
        if s == k:
            c += 1
    return c


def pascal(n, m):
    a = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        a[i, 0] = 1
        for j in range(1, i + 1):
            a[i, j] = (a[i - 1, j - 1] + a[i - 1, j]) % m
    return a


def modular_product(a, o, p):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            s = 0
            for k in range(n):
                s = (s + a[i, k] * a[k, j]) % p
            o[i, j] = s


def modsum(n):
    s = 0
    for i in range(n):
        if i % 3 == 0 or i % 5 == 0:
            s += i
    return s


def triples(n):
    c = 0
    for a in range(1, n):
        for b in range(a, n):
            for q in range(b, n):
                if a * a + b * b == q * q:
                    c += 1
    return c


def advect(u, v, o, dt):
    n = u.shape[0]
    m = u.shape[1]
    for i in range(n):
        for j in range(m):
            if v[i, j] > 0:
                d = u[i, j] - u[i, (j - 1) % m]
            else:
                d = u[i, (j + 1) % m] - u[i, j]
            o[i, j] = u[i, j] - dt * v[i, j] * d


def heat_3d(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for k in range(1, a.shape[2] - 1):
                b[i, j, k] = a[i, j, k] + 0.1 * (
                    a[i + 1, j, k]
                    + a[i - 1, j, k]
                    + a[i, j + 1, k]
                    + a[i, j - 1, k]
                    + a[i, j, k + 1]
                    + a[i, j, k - 1]
                    - 6 * a[i, j, k]
                )


def nearest(p, q, o):
    for i in range(len(q)):
        b = -1
        m = math.inf
        for j in range(len(p)):
            d = abs(p[j] - q[i])
            if d < m:
                m = d
                b = j
        o[i] = b


def newton_fractal(w, h, o):
    for y in range(h):
        for x in range(w):
            z = complex(4.0 * x / w - 2.0 + 1e-3, 4.0 * y / h - 2.0)
            k = 0
            while k < 30:
                d = 3 * z * z
                zn = z - (z * z * z - 1) / d
                if abs(zn - z) < 1e-6:
                    break
                z = zn
                k += 1
            o[y, x] = k


def rk4(n, h):
    x = 1.0
    v = 0.0
    for _ in range(n):
        k1x = v
        k1v = -x
        k2x = v + 0.5 * h * k1v
        k2v = -(x + 0.5 * h * k1x)
        k3x = v + 0.5 * h * k2v
        k3v = -(x + 0.5 * h * k2x)
        k4x = v + h * k3v
        k4v = -(x + h * k3x)
        x += h / 6 * (k1x + 2 * k2x + 2 * k3x + k4x)
        v += h / 6 * (k1v + 2 * k2v + 2 * k3v + k4v)
    return x, v


def sigmoid(x, o):
    for i in range(len(x)):
        o[i] = 1 / (1 + math.exp(-x[i]))


def gelu(x, o):
    for i in range(len(x)):
        o[i] = 0.5 * x[i] * (1 + math.tanh(math.sqrt(2 / math.pi) * (x[i] + 0.044715 * x[i] ** 3)))


def logsumexp(x):
    m = max(x)
    s = 0.0
    for v in x:
        s += math.exp(v - m)
    return m + math.log(s)


def entropy(p):
    s = 0.0
    for i in range(len(p)):
        if p[i] > 0:
            s -= p[i] * math.log(p[i])
    return s


def zscore(x, o):
    n = len(x)
    m = 0.0
    for i in range(n):
        m += x[i]
    m /= n
    v = 0.0
    for i in range(n):
        v += (x[i] - m) ** 2
    s = math.sqrt(v / n)
    for i in range(n):
        o[i] = (x[i] - m) / s


def pearson(x, y):
    n = len(x)
    sx = 0.0
    sy = 0.0
    sxy = 0.0
    sxx = 0.0
    syy = 0.0
    for i in range(n):
        sx += x[i]
        sy += y[i]
        sxy += x[i] * y[i]
        sxx += x[i] * x[i]
        syy += y[i] * y[i]
    return (n * sxy - sx * sy) / math.sqrt((n * sxx - sx * sx) * (n * syy - sy * sy))


def cross_entropy(p, y):
    s = 0.0
    for i in range(len(p)):
        s -= y[i] * math.log(p[i] + 1e-12) + (1 - y[i]) * math.log(1 - p[i] + 1e-12)
    return s / len(p)


def gravity(x, y, m, fx, fy):
    n = len(x)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            d2 = dx * dx + dy * dy + 1e-9
            inv = m[j] / (d2 * math.sqrt(d2))
            fx[i] += dx * inv
            fy[i] += dy * inv


def coulomb_energy(p, q):
    e = 0.0
    for i in range(len(q)):
        for j in range(i):
            d = math.sqrt((p[i, 0] - p[j, 0]) ** 2 + (p[i, 1] - p[j, 1]) ** 2 + (p[i, 2] - p[j, 2]) ** 2)
            e += q[i] * q[j] / d
    return e


def rbf(x, y, g, o):
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            d = 0.0
            for k in range(x.shape[1]):
                u = x[i, k] - y[j, k]
                d += u * u
            o[i, j] = math.exp(-g * d)


def hamming(a, b, o):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c = 0
            for k in range(a.shape[1]):
                if a[i, k] != b[j, k]:
                    c += 1
            o[i, j] = c


def floyd(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


def thomas(a, b, c, d):
    n = len(d)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    d[n - 1] /= b[n - 1]
    for i in range(n - 2, -1, -1):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]


def cholesky(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            if i == j:
                a[i, j] = math.sqrt(s)
            else:
                a[i, j] = s / a[j, j]


def integral(im, o):
    for i in range(im.shape[0]):
        row = 0
        for j in range(im.shape[1]):
            row += im[i, j]
            o[i, j] = row + (o[i - 1, j] if i > 0 else 0)


def otsu(h, total):
    best = -1.0
    th = 0
    sB = 0.0
    wB = 0
    s = 0.0
    for i in range(256):
        s += i * h[i]
    for i in range(256):
        wB += h[i]
        if wB == 0:
            continue
        wF = total - wB
        if wF == 0:
            break
        sB += i * h[i]
        mB = sB / wB
        mF = (s - sB) / wF
        v = wB * wF * (mB - mF) ** 2
        if v > best:
            best = v
            th = i
    return th


def dilate(a, o):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            v = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    v = max(v, a[i + di, j + dj])
            o[i, j] = v


def above(a, limit):
    n = 0
    for i in range(len(a)):
        if a[i] > limit:
            n += 1
    return n


def absolute_differences(a, b):
    s = 0
    for i in range(len(a)):
        s += abs(int(a[i]) - int(b[i]))
    return s


def clipped_gain(a, o):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            v = int(a[i, j]) * 2 - 20
            v = min(v, 255)
            v = max(v, 0)
            o[i, j] = v


def sobel(a, o):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            x = int(a[i, j + 1]) - int(a[i, j - 1])
            y = int(a[i + 1, j]) - int(a[i - 1, j])
            o[i, j] = min(abs(x) + abs(y), 255)


def position_of_largest(a):
    k = 0
    for i in range(1, len(a)):
        if a[i] > a[k]:
            k = i
    return k


def selection_sort(a):
    for i in range(len(a) - 1):
        m = i
        for j in range(i + 1, len(a)):
            if a[j] < a[m]:
                m = j
        t = a[i]
        a[i] = a[m]
        a[m] = t


def congruential_integral(n, seed):
    total = 0.0
    for _ in range(n):
        seed = (1103515245 * seed + 12345) % 2147483648
        u = seed / 2147483648
        total += math.exp(-u * u) * math.sin(u)
    return total / n


def box_muller(o, seed):
    for i in range(0, len(o), 2):
        seed = (1103515245 * seed + 12345) % 2147483648
        r = math.sqrt(-2 * math.log((seed + 1) / 2147483649))
        seed = (1103515245 * seed + 12345) % 2147483648
        o[i] = r * math.cos(2 * math.pi * seed / 2147483648)
        o[i + 1] = r * math.sin(2 * math.pi * seed / 2147483648)


def cumulated_returns(z, mu, sigma, o):
    s = 100.0
    for i in range(len(z)):
        s *= math.exp(mu + sigma * z[i])
        o[i] = s


def viterbi_step(a, d, e, o, back):
    for j in range(a.shape[1]):
        best = -1e300
        at = 0
        for i in range(a.shape[0]):
            v = d[i] + a[i, j]
            if v > best:
                best = v
                at = i
        o[j] = best + e[j]
        back[j] = at


def butterflies(re, im, size):
    for i in range(0, len(re), size):
        for k in range(size // 2):
            a, b = re[i + k + size // 2], im[i + k + size // 2]
            re[i + k + size // 2] = re[i + k] - a
            im[i + k + size // 2] = im[i + k] - b
            re[i + k] += a
            im[i + k] += b


def perceptron(x, y, w):
    errors = 0
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] * w[j]
        if s * y[i] <= 0:
            errors += 1
            for j in range(x.shape[1]):
                w[j] += y[i] * x[i, j]
    return errors


def downsample(a, o):
    for i in range(o.shape[0]):
        for j in range(o.shape[1]):
            o[i, j] = (
                a[2 * i, 2 * j] + a[2 * i + 1, 2 * j] + a[2 * i, 2 * j + 1] + a[2 * i + 1, 2 * j + 1]
            ) / 4


def outer(a, b, o):
    for i in range(len(a)):
        for j in range(len(b)):
            o[i, j] = a[i] * b[j]


def transpose(a, o):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            o[j, i] = a[i, j]


def interp(x, xp, fp, o):
    for i in range(len(x)):
        k = 0
        while k < len(xp) - 2 and x[i] > xp[k + 1]:
            k += 1
        o[i] = fp[k] + (fp[k + 1] - fp[k]) * (x[i] - xp[k]) / (xp[k + 1] - xp[k])


def american_option(S, K, rr, v, T, n):
    dt = T / n
    u = math.exp(v * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(rr * dt) - d) / (u - d)
    q = math.exp(-rr * dt)
    o = np.zeros(n + 1)
    for i in range(n + 1):
        o[i] = max(0.0, K - S * u ** (2 * i - n))
    for j in range(n - 1, -1, -1):
        for i in range(j + 1):
            o[i] = max(q * (p * o[i + 1] + (1 - p) * o[i]), K - S * u ** (2 * i - j))
    return o[0]


def asian_option(z, S, rr, v, T):
    n = z.shape[0]
    m = z.shape[1]
    dt = T / m
    s = 0.0
    for i in range(n):
        x = S
        a = 0.0
        for j in range(m):
            x *= math.exp((rr - 0.5 * v * v) * dt + v * math.sqrt(dt) * z[i, j])
            a += x
        s += max(a / m - S, 0.0)
    return math.exp(-rr * T) * s / n


def _bytes(*shape):
    return R.integers(0, 256, shape).astype(np.uint8)


PROGRAMS = (
    Program(pi, lambda: (100_000,)),
    Program(haversine, lambda: (R.random(100), R.random(100), np.zeros((100, 100)))),
    Program(lennard_jones, lambda: (R.random((150, 3)),)),
    Program(softmax, lambda: (R.random((60, 200)), np.zeros((60, 200)))),
    Program(normal, lambda: (R.random(N), np.zeros(N))),
    Program(logistic_map, lambda: (100_000, 3.7, 0.3)),
    Program(gini, lambda: (R.random(300),)),
    Program(polar, lambda: (R.random(N), R.random(N), np.zeros(N), np.zeros(N))),
    Program(layer_norm, lambda: (R.random((60, 200)), np.zeros((60, 200)), 1e-5)),
    Program(distances, lambda: (R.random((80, 10)), R.random((90, 10)), np.zeros((80, 90)))),
    Program(
        grey, lambda: (R.integers(0, 256, (120, 130, 3)).astype(np.uint8), np.zeros((120, 130), np.uint8))
    ),
    Program(bilateral, lambda: (R.random((50, 60)), np.zeros((50, 60)), 0.1)),
    Program(trig, lambda: (np.zeros(N),)),
    Program(newton, lambda: (R.random(3000) + 0.1, np.zeros(3000))),
    Program(legendre, lambda: (R.random(3000), 20, np.zeros(3000))),
    Program(guarded_quotient, lambda: (R.random(N), np.zeros(N))),
    Program(kinetic, lambda: (R.random(N), R.random((N, 3)))),
    Program(
        black_scholes_of_scalars,
        lambda: (R.random(5000) + 10, R.random(5000) + 10, R.random(5000) + 0.2, np.zeros(5000)),
    ),
    Program(integrate, lambda: (0.0, 10.0, 50_000)),
    Program(knapsack, lambda: (R.integers(1, 50, 40), R.random(40), 1000)),
    Program(histogram, lambda: (R.random(N), np.zeros(50, int))),
    Program(convolve, lambda: (R.random(2010), R.random(11), np.zeros(2000))),
    Program(exponential_mean, lambda: (R.random(N), 0.1, np.zeros(N))),
    Program(rolling_mean, lambda: (R.random(N), 20, np.zeros(N))),
    Program(rolling_max, lambda: (R.random(3000), 20, np.zeros(3000))),
    Program(drawdown, lambda: (R.random(N) + 1,)),
    Program(kernel_density, lambda: (R.random(300), R.random(100), 0.1, np.zeros(100))),
    Program(
        spmv,
        lambda: (
            np.arange(0, 2001) * 10,
            R.integers(0, 2000, 20_000),
            R.random(20_000),
            R.random(2000),
            np.zeros(2000),
        ),
    ),
    Program(binomial_option, lambda: (100.0, 100.0, 0.05, 0.2, 1.0, 200)),
    Program(julia, lambda: (50, 50, -0.7 + 0.27j, 60, np.zeros((50, 50), int))),
    Program(
        spheres, lambda: (R.random(500), R.random(500), R.random((50, 3)), R.random(50) * 0.2, np.zeros(500))
    ),
    Program(garch, lambda: (R.random(N), 0.1, 0.1, 0.8)),
    Program(maxpool, lambda: (R.random((120, 120)), np.zeros((60, 60)))),
    Program(lu, lambda: (R.random((50, 50)) + np.eye(50) * 9,)),
    Program(insertion, lambda: (R.random(300),)),
    Program(binary_search, lambda: (np.sort(R.random(2000)), R.random(2000), np.zeros(2000, int))),
    Program(cumsum, lambda: (R.random(N), np.zeros(N))),
    Program(autocorr, lambda: (R.random(1000), np.zeros(20))),
    Program(wave, lambda: (R.random((100, 100)), R.random((100, 100)), R.random((100, 100)), 0.1)),
    Program(periodic, lambda: (R.random(N), np.zeros(N), N)),
    Program(polynomial, lambda: (R.random(5000), R.random(8), np.zeros(5000))),
    Program(popcount, lambda: (R.integers(0, 1 << 40, 2000),)),
    Program(gcdsum, lambda: (80,)),
    Program(trapezoid_2d, lambda: (120,)),
    Program(norm, lambda: (R.random(N),)),
    Program(median3, lambda: (R.random(N), np.zeros(N))),
    Program(signs, lambda: (R.random(N), np.zeros(N, int))),
    Program(countif, lambda: (R.random(N),)),
    Program(argmax_2d, lambda: (R.random((150, 150)),)),
    Program(weighted, lambda: (R.random(N), R.random(N))),
    Program(minmax, lambda: (R.random(N), np.zeros(N))),
    Program(fft_in_place, lambda: (R.random(512), R.random(512))),
    Program(count_primes, lambda: (1000,)),
    Program(digits, lambda: (10_000,)),
    Program(lcg, lambda: (N, 42)),
    Program(modular_powers, lambda: (300, 1_000_003)),
    Program(perfect, lambda: (250,)),
    Program(pascal, lambda: (100, 1_000_007)),
    Program(modular_product, lambda: (R.integers(0, 99, (25, 25)), np.zeros((25, 25), int), 1_000_007)),
    Program(modsum, lambda: (N,)),
    Program(triples, lambda: (50,)),
    Program(advect, lambda: (R.random((80, 80)), R.random((80, 80)) - 0.5, np.zeros((80, 80)), 0.1)),
    Program(heat_3d, lambda: (R.random((30, 30, 30)), np.zeros((30, 30, 30)))),
    Program(nearest, lambda: (R.random(300), R.random(100), np.zeros(100, int))),
    Program(newton_fractal, lambda: (25, 25, np.zeros((25, 25), int))),
    Program(rk4, lambda: (10_000, 0.01)),
    Program(sigmoid, lambda: (R.random(N), np.zeros(N))),
    Program(gelu, lambda: (R.random(N), np.zeros(N))),
    Program(logsumexp, lambda: (R.random(N),)),
    Program(entropy, lambda: (R.random(N),)),
    Program(zscore, lambda: (R.random(N), np.zeros(N))),
    Program(pearson, lambda: (x := R.random(N), x + R.random(N))),
    Program(cross_entropy, lambda: (R.random(N), (R.random(N) > 0.5) * 1.0)),
    Program(gravity, lambda: (R.random(100), R.random(100), R.random(100), np.zeros(100), np.zeros(100))),
    Program(coulomb_energy, lambda: (R.random((150, 3)), R.random(150))),
    Program(rbf, lambda: (R.random((60, 5)), R.random((70, 5)), 0.5, np.zeros((60, 70)))),
    Program(
        hamming, lambda: (R.integers(0, 2, (30, 40)), R.integers(0, 2, (30, 40)), np.zeros((30, 30), int))
    ),
    Program(floyd, lambda: (R.random((40, 40)),)),
    Program(thomas, lambda: (R.random(N), R.random(N) + 2, R.random(N), R.random(N))),
    Program(cholesky, lambda: (R.random((40, 40)) * 0.01 + np.eye(40) * 9,)),
    Program(integral, lambda: (R.integers(0, 9, (100, 100)), np.zeros((100, 100), int))),
    Program(otsu, lambda: (R.integers(1, 99, 256), 12_000)),
    Program(dilate, lambda: (R.integers(0, 256, (80, 80)).astype(np.uint8), np.zeros((80, 80), np.uint8))),
    Program(above, lambda: (_bytes(100_000), 100)),
    Program(absolute_differences, lambda: (_bytes(100_000), _bytes(100_000))),
    Program(clipped_gain, lambda: (_bytes(200, 200), np.zeros((200, 200), np.uint8))),
    Program(sobel, lambda: (_bytes(200, 200), np.zeros((200, 200), np.uint8))),
    Program(position_of_largest, lambda: (R.random(100_000),)),
    Program(selection_sort, lambda: (R.random(400),)),
    Program(congruential_integral, lambda: (N, 42)),
    Program(box_muller, lambda: (np.zeros(N), 7)),
    Program(cumulated_returns, lambda: (R.normal(size=N), 0.001, 0.02, np.zeros(N))),
    Program(
        viterbi_step,
        lambda: (R.random((150, 150)), R.random(150), R.random(150), np.zeros(150), np.zeros(150, np.int64)),
    ),
    Program(butterflies, lambda: (R.random(4096), R.random(4096), 64)),
    Program(perceptron, lambda: (R.normal(size=(500, 20)), np.sign(R.normal(size=500)), np.zeros(20))),
    Program(downsample, lambda: (R.random((160, 160)), np.zeros((80, 80)))),
    Program(outer, lambda: (R.random(120), R.random(130), np.zeros((120, 130)))),
    Program(transpose, lambda: (R.random((150, 150)), np.zeros((150, 150)))),
    Program(interp, lambda: (R.random(1000), np.sort(R.random(50)), R.random(50), np.zeros(1000))),
    Program(american_option, lambda: (100.0, 105.0, 0.05, 0.2, 1.0, 100)),
    Program(asian_option, lambda: (R.standard_normal((200, 50)), 100.0, 0.05, 0.2, 1.0)),
)


def main(args: Sequence[str] | None = None) -> int:
    found = compare(PROGRAMS, args, __doc__)
    ratios = [row["numba"] / row["appyc"] for row in found.values() if row["numba"] is not None]
    if ratios:
        mean, slower = statistics.geometric_mean(ratios), sum(ratio < 0.95 for ratio in ratios)
        print(
            f"{len(ratios)} programs compile with Numba too: appyc is {mean:.2f} times as fast, slower in {slower}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
