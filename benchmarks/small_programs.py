"""Whole programs on small arrays, with recorded NumPy beside NumPy: the same text, in turn, in one process for each.

    python -m benchmarks.small_programs [NAME ...] [--seconds 6] [--json FILE]

`first` is the time of all runs of the first second, over NumPy's for as many; `later` compares the shortest runs of the
last third. The cache of compiled code is empty when a process begins, and code is compiled as it is by default.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy

import appyc.numpy as recorded
from benchmarks.machine import write_rows


def edit_distance(np: Any) -> Any:
    """Row by row, with a running minimum."""
    s = np.frombuffer(b"kitten sitting on the bench" * 4, dtype=np.uint8)
    t = np.frombuffer(b"sitting kitten at the beach" * 4, dtype=np.uint8)
    m, n = len(s), len(t)
    D = np.zeros((m + 1, n + 1), dtype=int)
    D[:, 0] = np.arange(m + 1)
    D[0] = np.arange(n + 1)
    for i in range(1, m + 1):
        c = np.minimum(D[i - 1, 1:] + 1, D[i - 1, :-1] + (t != s[i - 1]))
        row = np.concatenate([[i], c]) - np.arange(n + 1)
        D[i, 1:] = np.minimum.accumulate(row)[1:] + np.arange(1, n + 1)
    return D[-1, -1]


def jacobi(np: Any) -> Any:
    A = np.random.RandomState(0).rand(300, 300) + 300 * np.eye(300)
    b, x = np.ones(300), np.zeros(300)
    D = np.diag(A)
    R = A - np.diagflat(D)
    for _ in range(100):
        new = (b - R @ x) / D
        if np.linalg.norm(new - x) < 1e-12:
            break
        x = new
    r = b - A @ x
    return r @ r < 1e-15


def mandelbrot(np: Any) -> Any:
    """Points that have left are masked."""
    x, y = np.linspace(-2, 1, 150), np.linspace(-1, 1, 100)
    c = x[None, :] + 1j * y[:, None]
    z, n = np.zeros_like(c), np.zeros(c.shape, dtype=np.int32)
    for _ in range(20):
        m = np.abs(z) <= 2
        z[m] = z[m] ** 2 + c[m]
        n[m] += 1
    return n.sum()


def network(np: Any) -> Any:
    """Two layers, trained with softmax."""
    rng = np.random.RandomState(0)
    X, Y = rng.randn(500, 20), np.eye(4)[rng.randint(0, 4, 500)]
    W1, b1, W2, b2 = rng.randn(20, 32) * 0.1, np.zeros(32), rng.randn(32, 4) * 0.1, np.zeros(4)
    losses = []
    for _ in range(15):
        h = np.maximum(0, X @ W1 + b1)
        o = h @ W2 + b2
        o -= o.max(axis=1, keepdims=True)
        p = np.exp(o)
        p /= p.sum(axis=1, keepdims=True)
        losses.append(-np.log(p[np.arange(500), Y.argmax(1)]).mean())
        g = (p - Y) / 500
        gW2, gb2, gh = h.T @ g, g.sum(0), g @ W2.T
        gh[h <= 0] = 0
        W2 -= 0.5 * gW2
        b2 -= 0.5 * gb2
        W1 -= 0.5 * (X.T @ gh)
        b1 -= 0.5 * gh.sum(axis=0)
    return losses[-1], (p.argmax(1) == Y.argmax(1)).mean()


def tiny_network(np: Any) -> Any:
    rng = np.random.default_rng(0)
    X, y = rng.random((32, 8)), rng.random((32, 1))
    W1, W2 = rng.random((8, 16)), rng.random((16, 1))
    for _ in range(50):
        h = np.tanh(X @ W1)
        e = h @ W2 - y
        g2 = h.T @ e
        g1 = X.T @ ((e @ W2.T) * (1 - h * h))
        W1 -= 0.01 * g1
        W2 -= 0.01 * g2
    return (e * e).mean()


def logistic_regression(np: Any) -> Any:
    rng = np.random.RandomState(5)
    X = rng.randn(10000, 8)
    t = (X[:, 0] - X[:, 1] > 0).astype(float)
    w, b, losses = np.zeros(8), 0.0, []
    for _ in range(15):
        z = X.dot(w) + b
        p = 1 / (1 + np.exp(-z))
        losses.append(-np.mean(t * np.log(p + 1e-12) + (1 - t) * np.log(1 - p + 1e-12)))
        d = p - t
        w -= 0.1 * X.T.dot(d) / len(X)
        b -= 0.1 * d.mean()
    return losses[-1], np.mean((p > 0.5) == t)


def rows(np: Any) -> Any:
    """Iteration over rows and elements."""
    a = np.arange(6000.0).reshape(60, 100)
    total = 0.0
    for row in a:
        total += row.sum()
        row += 1
    for x, y in zip(a[0], a[1], strict=True):
        total += x - y
    for i in range(len(a)):
        total += (a[i] * a[i - 1]).sum()
    return total


def life(np: Any) -> Any:
    g = (np.random.RandomState(2).rand(100, 100) < 0.3).astype(int)
    for _ in range(20):
        n = np.zeros_like(g)
        n[1:-1, 1:-1] = (g[:-2, :-2] + g[:-2, 1:-1] + g[:-2, 2:] + g[1:-1, :-2] + g[1:-1, 2:] + g[2:, :-2]
                         + g[2:, 1:-1] + g[2:, 2:])  # fmt: skip
        birth = (n == 3) & (g == 0)
        survives = ((n == 2) | (n == 3)) & (g == 1)
        g[...] = 0
        g[birth | survives] = 1
    return g.sum()


def kmeans(np: Any) -> Any:
    rng = np.random.default_rng(7)
    X = np.concatenate([rng.normal(c, 0.5, size=(500, 2)) for c in ((0, 0), (3, 3), (0, 4))])
    C = X[[0, 600, 1200]].copy()
    for _ in range(10):
        d = ((X[:, None, :] - C[None]) ** 2).sum(-1)
        label = d.argmin(1)
        new = np.array([X[label == k].mean(axis=0) for k in range(3)])
        if np.allclose(new, C):
            break
        C = new
    return C.sum(), np.sqrt(d.min(1)).mean()


def moving_averages(np: Any) -> Any:
    x = np.random.default_rng(1).random(3000)
    out = []
    for width in range(2, 40):
        s = np.cumsum(x)
        average = (s[width:] - s[:-width]) / width
        out.append(np.abs(x[width:] - average).max())
    return np.array(out).sum()


def heat(np: Any) -> Any:
    u = np.zeros((64, 64))
    u[20:40, 20:40] = 100.0
    for _ in range(100):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        u[0, :] = u[1, :]
        u[-1] = u[-2]
        u[:, 0] = u[:, 1]
        u[:, -1] = u[:, -2]
    return u.sum(), u.max()


def burgers(np: Any) -> Any:
    """Finite differences with the largest value of each step."""
    x = np.linspace(0, 6.28, 20001)
    dx = float(x[1] - x[0])
    dt = dx * dx
    u, history = np.sin(x) + 2, []
    for _ in range(20):
        old = u.copy()
        u[1:-1] = (old[1:-1] - old[1:-1] * dt / dx * (old[1:-1] - old[:-2])
                   + 0.07 * dt / dx**2 * (old[2:] - 2 * old[1:-1] + old[:-2]))  # fmt: skip
        u[0] = u[-1] = 2.0
        history.append(float(u.max()))
    return history[-1]


def reductions(np: Any) -> Any:
    """A string of reductions, each read at once."""
    a = np.random.default_rng(3).random((40, 50))
    total = 0.0
    for k in range(100):
        total += float(a.sum()) + a.max() - a.min() + a.mean(axis=0)[k % 50] + a.std(1)[k % 40] + a.argmax()
    return total


def masks(np: Any) -> Any:
    x = np.linspace(-5, 5, 5001)
    total = 0.0
    for k in range(20):
        y = np.where(x < 0, -x, x**2)
        m = (x > -1) & (x < 1) | (x > 4)
        y[m] = np.nan
        kept = y[~np.isnan(y)]
        y[np.isnan(y)] = kept.mean()
        total += y.sum() + np.count_nonzero(m) + k
    return total


def sorting(np: Any) -> Any:
    """Chains of sorts, searches and running sums."""
    x = np.random.default_rng(4).random(2000)
    total = 0.0
    for k in range(20):
        order = np.argsort(x)
        c = np.cumsum(x[order])
        at = np.searchsorted(c, c[-1] / 2)
        d = np.diff(np.sort(x * (k + 1)))
        total += float(d.max()) + at + c[::7].sum()
    return total


def sieve(np: Any) -> Any:
    """Slices of another length each time."""
    n = 50000
    s = np.ones(n + 1, dtype=bool)
    s[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if s[i]:
            s[i * i :: i] = False
    p = np.nonzero(s)[0]
    return np.diff(p).max(), np.cumsum(s)[-1]


def bodies(np: Any) -> Any:
    """Of each pair of a hundred bodies."""
    rng = np.random.default_rng(1)
    P, V, m = rng.normal(size=(100, 3)), np.zeros((100, 3)), rng.random(100)
    for _ in range(10):
        d = P[None] - P[:, None]
        r2 = (d**2).sum(-1) + 0.01
        a = (d * (m / r2**1.5)[..., None]).sum(1)
        V += 0.001 * a
        P += 0.001 * V
    return (m[:, None] * V**2).sum(), np.abs(P).sum()


def growing(np: Any) -> Any:
    """Arrays of another length at each step."""
    x, total = np.arange(5.0), 0.0
    for k in range(200):
        x = np.append(x, k * 0.5)
        y = x[k // 2 :] * 2 - x.mean()
        total += y.sum()
    return total


def conjugate_gradients(np: Any) -> Any:
    n = 2000
    d, b, x = 2.1 * np.ones(n), np.sin(np.arange(n)), np.zeros(n)

    def times(v: Any) -> Any:
        w = d * v
        w[1:] -= v[:-1]
        w[:-1] -= v[1:]
        return w

    r = b - times(x)
    p, rs = r.copy(), r.dot(r)
    for _ in range(40):
        Ap = times(p)
        alpha = rs / p.dot(Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r.dot(r)
        if np.sqrt(new) < 1e-10:
            break
        p = r + (new / rs) * p
        rs = new
    return np.abs(x).sum()


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    program.__name__: program
    for program in (
        edit_distance, jacobi, mandelbrot, network, tiny_network, logistic_regression, rows, life, kmeans,
        moving_averages, heat, burgers, reductions, masks, sorting, sieve, bodies, growing, conjugate_gradients,
    )
}  # fmt: skip


def _timed(program: Callable[[Any], Any], np: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    out = program(np)
    values = [float(v) for v in (out if isinstance(out, tuple) else (out,))]
    return time.perf_counter() - start, values


def measure(name: str, seconds: float) -> dict[str, Any]:
    """Times of one program in this process."""
    program = PROGRAMS[name]
    _, expected = _timed(program, numpy)
    plain: list[float] = []
    ours: list[float] = []
    first: float | None = None
    while sum(ours) < seconds or len(ours) < 3:
        plain.append(_timed(program, numpy)[0])
        spent, values = _timed(program, recorded)
        ours.append(spent)
        if not numpy.allclose(values, expected, rtol=1e-6):
            raise AssertionError(f"{name}: {values} instead of {expected}")
        if first is None and sum(ours) >= 1:
            first = sum(ours) / sum(plain)
    last = max(1, len(ours) // 3)
    times = {"numpy": min(plain[-last:]), "recorded": min(ours[-last:])}
    later = times["recorded"] / times["numpy"]
    return {"program": name, "seconds": times, "runs": len(ours), "first": first, "later": later}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--alone", action="store_true", help="in this process")
    options = parser.parse_args(argv)
    if options.alone:
        print(json.dumps(measure(options.names[0], options.seconds)))
        return 0
    found = []
    for name in options.names or PROGRAMS:
        with TemporaryDirectory() as cache:
            environment = {**os.environ, "APPYC_CACHE_DIR": cache}
            environment.pop("APPYC_COMPILE_WAIT", None)
            command = [sys.executable, "-m", "benchmarks.small_programs", name, "--alone"]
            command += ["--seconds", str(options.seconds)]
            done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        row = json.loads(done.stdout.splitlines()[-1])
        found.append(row)
        plain, ours = (row["seconds"][way] * 1e3 for way in ("numpy", "recorded"))
        print(f"{name:22s} NumPy {plain:8.2f} ms   recorded {ours:8.2f} ms   later {row['later']:5.2f}   "
              f"first second {row['first']:5.2f}", flush=True)  # fmt: skip
    if options.json:
        write_rows(options.json, "python -m benchmarks.small_programs", found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
