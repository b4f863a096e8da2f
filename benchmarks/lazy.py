"""Scripts with `import numpy as np` and with `import appyc.numpy as np`, side by side in one process.

    python -m benchmarks.lazy [--json FILE] [--repeats 5] [names ...]

Each script is a function of the namespace. Both are run in turn, and the best times compared; results must
agree. `unfused` runs each recorded operation as a program of its own. numexpr and JAX take part where they are
installed and can say the script (`benchmarks.lazy_peers`).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
from rich.console import Console
from rich.table import Table

import appyc.numpy
from appyc.lazy.running import STATE, flush
from appyc.options import recorded_bounds
from benchmarks.lazy_peers import jax_form, numexpr_form
from benchmarks.machine import QUIET_SECONDS

Script = Callable[[Any], Any]

_RANDOM = numpy.random.default_rng(7)


def _normal(*shape: int) -> numpy.ndarray:
    return _RANDOM.standard_normal(shape)


GRID = _RANDOM.random((1200, 1200))
SPOTS = _RANDOM.random((3, 2_000_000)) + 0.5
POINTS = _normal(400_000, 8)
LABELS = (_RANDOM.random(400_000) > 0.5).astype(float)
ANSWERS = _RANDOM.integers(1, 6, (200_000, 12)).astype(float)
IMAGE = _RANDOM.random((1500, 1500))
BODIES = _normal(3, 1200)


def gray_scott(np: Any) -> Any:
    u, v = np.array(1.0 - 0.5 * GRID), np.array(0.25 * GRID)
    for _ in range(10):
        lu = u[:-2, 1:-1] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1] + u[1:-1, 2:] + u[2:, 1:-1]
        lv = v[:-2, 1:-1] + v[1:-1, :-2] - 4.0 * v[1:-1, 1:-1] + v[1:-1, 2:] + v[2:, 1:-1]
        uc, vc = u[1:-1, 1:-1], v[1:-1, 1:-1]
        uvv = uc * vc * vc
        du = 0.16 * lu - uvv + 0.06 * (1.0 - uc)
        dv = 0.08 * lv + uvv - 0.122 * vc
        uc += du
        vc += dv
    return float(u.sum() + v.sum())


def jacobi(np: Any) -> Any:
    a = np.array(GRID)
    change = 1.0
    for _ in range(10):
        new = 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        change = float(np.abs(new - a[1:-1, 1:-1]).max())
        a[1:-1, 1:-1] = new
    return change


def black_scholes(np: Any) -> Any:
    price, strike, years = (np.array(s) for s in SPOTS)
    rate, volatility = 0.05, 0.3
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    d2 = d1 - spread

    def cumulative(x: Any) -> Any:
        k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
        tail = k * (
            0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
        )
        tail = 0.3989422804014327 * np.exp(-0.5 * x * x) * tail
        return np.where(x > 0, 1.0 - tail, tail)

    call = price * cumulative(d1) - strike * np.exp(-rate * years) * cumulative(d2)
    return float(call.sum())


def harris(np: Any) -> Any:
    image = np.array(IMAGE)
    dx = image[1:-1, 2:] - image[1:-1, :-2]
    dy = image[2:, 1:-1] - image[:-2, 1:-1]

    def box(a: Any) -> Any:
        rows = a[:-2] + a[1:-1] + a[2:]
        return rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]

    xx, yy, xy = box(dx * dx), box(dy * dy), box(dx * dy)
    response = xx * yy - xy * xy - 0.04 * (xx + yy) * (xx + yy)
    return float(response.max())


def cronbach(np: Any) -> Any:
    answers = np.array(ANSWERS)
    items = answers.shape[1]
    each = answers.var(axis=0, ddof=1).sum()
    whole = answers.sum(axis=1).var(ddof=1)
    return float(items / (items - 1.0) * (1.0 - each / whole))


def mixture(np: Any) -> Any:
    x = np.array(POINTS[:, 0])
    density = 0.0 * x
    for weight, mean, deviation in ((0.3, -1.0, 0.5), (0.5, 0.4, 1.0), (0.2, 2.0, 0.7)):
        z = (x - mean) / deviation
        density = density + weight / (deviation * math.sqrt(2 * math.pi)) * np.exp(-0.5 * z * z)
    return float(np.log(density).sum())


def least_squares(np: Any) -> Any:
    x, y = np.array(POINTS[:, 0]), np.array(POINTS[:, 1])
    slope, offset = 0.0, 0.0
    for _ in range(20):
        error = slope * x + offset - y
        slope -= 0.1 * float((error * x).mean())
        offset -= 0.1 * float(error.mean())
    return slope + offset


def k_means(np: Any) -> Any:
    points = np.array(POINTS[:, :2])
    centres = [(0.5 * k, 1.0 - 0.4 * k) for k in range(4)]
    for _ in range(4):
        distances = [((points - np.array(c)) ** 2).sum(axis=1) for c in centres]
        nearest = np.minimum(np.minimum(distances[0], distances[1]), np.minimum(distances[2], distances[3]))
        moved = []
        for d in distances:
            mine = np.where(d == nearest, 1.0, 0.0)
            count = mine.sum()
            moved.append(
                (float((mine * points[:, 0]).sum() / count), float((mine * points[:, 1]).sum() / count))
            )
        centres = moved
    return sum(x + y for x, y in centres)


def mandelbrot(np: Any) -> Any:
    cx = np.array(numpy.linspace(-2.0, 0.5, 900))[None, :]
    cy = np.array(numpy.linspace(-1.2, 1.2, 900))[:, None]
    zx, zy = 0.0 * cx * cy, 0.0 * cx * cy
    count = 0.0 * cx * cy
    for _ in range(24):
        xx, yy = zx * zx, zy * zy
        inside = xx + yy <= 4.0
        zy = np.where(inside, 2.0 * zx * zy + cy, zy)
        zx = np.where(inside, xx - yy + cx, zx)
        count = count + inside
    return float(count.sum())


def n_body(np: Any) -> Any:
    x, y, z = (np.array(c) for c in BODIES)
    dx, dy, dz = (c[None, :] - c[:, None] for c in (x, y, z))
    inverse = (dx * dx + dy * dy + dz * dz + 0.01) ** -1.5
    return float(
        (dx * inverse).sum(axis=1).max() + (dy * inverse).sum(axis=1).max() + (dz * inverse).sum(axis=1).max()
    )


def shallow_water(np: Any) -> Any:
    h, u, v = np.array(1.0 + 0.1 * GRID), np.array(0.0 * GRID), np.array(0.0 * GRID)
    for _ in range(8):
        u[1:-1, 1:-1] -= 0.05 * (h[1:-1, 2:] - h[1:-1, :-2])
        v[1:-1, 1:-1] -= 0.05 * (h[2:, 1:-1] - h[:-2, 1:-1])
        flow = u[1:-1, 2:] - u[1:-1, :-2] + v[2:, 1:-1] - v[:-2, 1:-1]
        h[1:-1, 1:-1] -= 0.05 * h[1:-1, 1:-1] * flow
    return float((h * h).sum() + (u * u + v * v).sum())


def logistic(np: Any) -> Any:
    x, y = np.array(POINTS), np.array(LABELS)
    weights = np.array(numpy.zeros(8))
    for _ in range(10):
        error = 1.0 / (1.0 + np.exp(-(x @ weights))) - y
        weights = weights - 0.5 * (error @ x) / len(y)
    return float((weights * weights).sum())


SCRIPTS: dict[str, Script] = {
    f.__name__: f
    for f in (
        gray_scott, jacobi, black_scholes, harris, cronbach, mixture, least_squares, k_means, mandelbrot, n_body,
        shallow_water, logistic,
    )
}  # fmt: skip


DATA = {"GRID": GRID, "SPOTS": SPOTS, "POINTS": POINTS, "LABELS": LABELS, "ANSWERS": ANSWERS, "IMAGE": IMAGE,
        "BODIES": BODIES}  # fmt: skip


def unfused(script: Script) -> Any:
    """The same recording, each operation run as soon as it is recorded."""
    flush()
    STATE.recording.bound(1, 1 << 62)
    try:
        return script(appyc.numpy)
    finally:
        flush()
        STATE.recording.bound(*recorded_bounds())


def measure(script: Script, repeats: int) -> dict[str, float]:
    """Best times in seconds, taken in turn after two runs each that compile what needs it."""
    ways: dict[str, Callable[[], Any]] = {
        "numpy": lambda: script(numpy),
        "appyc": lambda: script(appyc.numpy),
        "unfused": lambda: unfused(script),
    }
    peers = {"numexpr": numexpr_form(script.__name__, DATA), "jax": jax_form(script, DATA)}
    wanted = script(numpy)
    ways |= {name: way for name, way in peers.items() if way is not None and gives(way, wanted)}
    found = {name: [way() for _ in range(2)][-1] for name, way in ways.items()}
    for name, value in found.items():
        if not math.isclose(value, found["numpy"], rel_tol=1e-6):
            raise AssertionError(f"{script.__name__}: {name} gives {value}, numpy {found['numpy']}")
    best = dict.fromkeys(ways, math.inf)
    for _ in range(repeats):
        for name, way in ways.items():
            time.sleep(QUIET_SECONDS)
            way()  # threads are awake, and caches hold what they hold in a program that does nothing else
            flush()
            start = time.perf_counter()
            way()
            flush()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def gives(way: Callable[[], Any], wanted: float) -> bool:
    """Whether a peer can say the script: JAX raises for a store, and takes `+=` of a view for another array."""
    try:
        return math.isclose(way(), wanted, rel_tol=1e-6)
    except TypeError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *SCRIPTS], default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    STATE.worth = 0
    os.environ["APPYC_COMPILE_WAIT"] = "inf"
    ways = ("numpy", "appyc", "unfused", "numexpr", "jax")
    table = Table("script", *(f"{w} ms" for w in ways), "over NumPy", "fused over unfused")
    rows = {}
    for name in options.names or SCRIPTS:
        rows[name] = best = measure(SCRIPTS[name], options.repeats)
        table.add_row(name, *(f"{1e3 * best[w]:.2f}" if w in best else "" for w in ways),
                      f"{best['numpy'] / best['appyc']:.2f}", f"{best['unfused'] / best['appyc']:.2f}")  # fmt: skip
    means = [
        math.exp(sum(math.log(b[w] / b["appyc"]) for b in rows.values()) / len(rows))
        for w in ("numpy", "unfused")
    ]
    Console().print(table, f"geometric means: {means[0]:.2f} over NumPy, {means[1]:.2f} over unfused")
    if options.json:
        options.json.write_text(json.dumps({"seconds": rows, "geometric_means": means}, indent=1) + "\n")


if __name__ == "__main__":
    main()
