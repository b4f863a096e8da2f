"""Ten programs as NumPy statements: what appyc makes of them, in time and in bytes moved.

    python -m benchmarks.fusion [--scale 1.0] [--rounds 5] [--threads N] [--remeasure] [--json FILE] [PROGRAM ...]

Each program is one text, which NumPy runs, appyc compiles and, where they are installed and take it,
Numba (`parallel=True`) and JAX do too. All take turns in one process, and the smallest times count: what
else the machine does only ever adds. Results are compared with NumPy's first.

    moved      bytes that the compiled loops touch, by the compiler's own count (`analysis/cost/costs.py`): each
               loop's arrays once, written ones twice, as memory is read before it is written
    least      the same for one loop that reads the arguments and writes the results
    rate       bytes moved in a second; beside it, as a part of what a triad reaches
"""

from __future__ import annotations

import argparse
import importlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import appyc
from appyc.analysis.cost.cost_parts import parts_of
from appyc.analysis.sets.evaluate import evaluate
from appyc.compiler.analyse import analyse
from appyc.compiler.requests import Request
from appyc.errors import GENERATED
from appyc.frontend.source import capture, read_source
from appyc.ir.nodes import Alloc
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.runtime.signature import typeof
from benchmarks.machine import QUIET_SECONDS, describe, peaks, write_results


def chain(a, x, y, z):
    return a * x + y - z


def normal(x):
    """The normal distribution's integral, after Abramowitz and Stegun."""
    size = np.abs(x)
    k = 1.0 / (1.0 + 0.2316419 * size)
    tail = (((1.330274429 * k - 1.821255978) * k + 1.781477937) * k - 0.356563782) * k + 0.31938153
    inner = 1.0 - 0.3989422804014327 * np.exp(-0.5 * size * size) * (tail * k)
    return np.where(x < 0.0, 1.0 - inner, inner)


def black_scholes(spot, strike, years, rate, volatility):
    root = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / root
    n1 = normal(d1)
    n2 = normal(d1 - root)
    discounted = strike * np.exp(-rate * years)
    return spot * n1 - discounted * n2, discounted * (1.0 - n2) - spot * (1.0 - n1)


def softmax(x):
    shifted = np.exp(x - np.max(x, axis=1)[:, None])
    return shifted / np.sum(shifted, axis=1)[:, None]


def gesummv(alpha, beta, A, B, x):
    return alpha * (A @ x) + beta * (B @ x)


def gemver(alpha, beta, A, u1, v1, u2, v2, y, z):
    B = A + u1[:, None] * v1[None, :] + u2[:, None] * v2[None, :]
    x = beta * (y @ B) + z
    return B, x, alpha * (B @ x)


def nine_points(a, b):
    length = np.sqrt(a * a + b * b)
    return (
        length[:-2, :-2] + length[:-2, 1:-1] + length[:-2, 2:]
        + length[1:-1, :-2] + length[1:-1, 1:-1] + length[1:-1, 2:]
        + length[2:, :-2] + length[2:, 1:-1] + length[2:, 2:]
    ) / 9.0  # fmt: skip


def covariance(data):
    centred = data - np.sum(data, axis=0) / data.shape[0]
    scaled = centred / np.sqrt(np.sum(centred * centred, axis=0) / data.shape[0])
    return (scaled.T @ scaled) / (data.shape[0] - 1.0)


def mandelbrot(x, y):
    real = np.zeros_like(x)
    imaginary = np.zeros_like(x)
    count = np.zeros_like(x)
    for _ in range(40):
        inside = real * real + imaginary * imaginary <= 4.0
        count = count + np.where(inside, 1.0, 0.0)
        product = np.where(inside, 2.0 * real * imaginary + y, imaginary)
        real = np.where(inside, real * real - imaginary * imaginary + x, real)
        imaginary = product
    return count


def kmeans(points, centres):
    apart = points[:, None, :] - centres[None, :, :]
    return np.argmin(np.sum(apart * apart, axis=2), axis=1)


def layer_norm(x, gain, bias):
    mean = np.sum(x, axis=1) / x.shape[1]
    centred = x - mean[:, None]
    variance = np.sum(centred * centred, axis=1) / x.shape[1]
    return centred / np.sqrt(variance + 1e-5)[:, None] * gain + bias


Arguments = dict[str, Any]


def arguments_of(name: str, scale: float) -> Arguments:
    """The program's arguments; scale 1 is larger than the caches of most cores."""
    rng = np.random.default_rng(7)
    line = int(4_000_000 * scale)
    side = int(2_000 * scale**0.5)

    def grid(*shape: int) -> np.ndarray:
        return rng.uniform(-1, 1, shape)

    match name:
        case "chain":
            return {"a": 1.5, "x": grid(line), "y": grid(line), "z": grid(line)}
        case "black_scholes":
            spot, strike, years = rng.uniform((5, 1, 0.25), (30, 100, 10), (line, 3)).T.copy()
            return {"spot": spot, "strike": strike, "years": years, "rate": 0.02, "volatility": 0.3}
        case "softmax":
            return {"x": grid(side, side)}
        case "gesummv":
            return {"alpha": 1.5, "beta": 1.2, "A": grid(side, side), "B": grid(side, side), "x": grid(side)}
        case "gemver":
            vectors = {name: grid(side) for name in ("u1", "v1", "u2", "v2", "y", "z")}
            return {"alpha": 1.5, "beta": 1.2, "A": grid(side, side), **vectors}
        case "nine_points":
            return {"a": grid(side, side), "b": grid(side, side)}
        case "covariance":
            return {"data": grid(side, side // 4)}
        case "mandelbrot":
            x, y = np.meshgrid(np.linspace(-2, 0.5, side // 2), np.linspace(-1.2, 1.2, side // 2))
            return {"x": x, "y": y}
        case "kmeans":
            return {"points": grid(line // 40, 8), "centres": grid(16, 8)}
        case _:
            return {"x": grid(side, side), "gain": grid(side), "bias": grid(side)}


PROGRAMS = (
    chain, black_scholes, softmax, gesummv, gemver, nine_points, covariance, mandelbrot, kmeans, layer_norm,
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """Seconds, and bytes. moved: None where the loops' trips cannot be told, or some statement stays in Python."""

    program: str
    numpy: float
    appyc: float
    numba: float | None
    jax: float | None
    moved: float | None
    least: int
    in_python: bool

    @property
    def rate(self) -> float | None:
        return None if self.moved is None else self.moved / self.appyc


def bytes_moved(program: Callable[..., Any], arguments: Arguments) -> float | None:
    """What the compiled loops touch, all together; None where that cannot be told from the arguments."""
    types = {name: typeof(value, name, GENERATED) for name, value in arguments.items()}
    fn = analyse(program, read_source(capture(program)), Request(types, {}, "cpu"), Options()).function
    known: dict[Any, Any] = dict(zip(fn.params, arguments.values(), strict=True))
    moved = 0.0
    try:
        for node in walk(fn):
            if isinstance(node, Alloc):
                shape = [int(evaluate(extent, known)) for extent in node.shape]
                known[node.array] = np.broadcast_to(np.zeros((), node.array.dtype.numpy), shape)
        for part in parts_of(fn):
            runs, trips, once, each = (
                float(evaluate(e, known))
                for e in (part.runs, part.trips, part.cost.bytes, part.cost.bytes_each)
            )
            moved += runs * (once + trips * each)
    except LookupError:
        return None
    return moved


def _under_numba(program: Callable[..., Any]) -> Callable[..., Any]:
    numba = importlib.import_module("numba")
    helpers = {"normal": numba.njit(parallel=True)(normal)}
    again = FunctionType(program.__code__, {**program.__globals__, **helpers})
    return numba.njit(parallel=True)(again)


def _under_jax(program: Callable[..., Any]) -> Callable[..., Any]:
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    space: dict[str, Any] = {"np": importlib.import_module("jax.numpy"), "range": range}
    space["normal"] = FunctionType(normal.__code__, space)
    compiled = jax.jit(FunctionType(program.__code__, space))
    return lambda *values: jax.block_until_ready(compiled(*values))


def _other(make: Callable[..., Callable[..., Any]], program: Callable[..., Any], values: Sequence[Any],
           expected: Any) -> Callable[..., Any] | None:  # fmt: skip
    """The program compiled by somebody else; None where that is not installed, or does not take it."""
    try:
        call = make(program)
        found = call(*values)
    except ImportError:
        return None
    except Exception as error:  # noqa: BLE001  (whatever it is, the row has a gap)
        print(f"{program.__name__}: {type(error).__module__}.{type(error).__name__}")
        return None
    compare(program.__name__, found, expected)
    return call


def compare(name: str, found: Any, expected: Any) -> None:
    one, two = (v if isinstance(v, tuple) else (v,) for v in (found, expected))
    for a, b in zip(one, two, strict=True):
        scale = float(np.abs(b).max())
        if not np.allclose(np.asarray(a), b, rtol=1e-9, atol=1e-9 * scale):
            raise SystemExit(f"{name}: results differ by {np.abs(np.asarray(a) - b).max()}")


def measure(program: Callable[..., Any], scale: float, rounds: int) -> Row:
    arguments = arguments_of(program.__name__, scale)
    values = list(arguments.values())
    expected = program(*values)
    ours = appyc.jit(target="cpu")(program)
    compare(program.__name__, ours(*values), expected)
    candidates = {
        "numpy": program,
        "appyc": ours,
        "numba": _other(_under_numba, program, values, expected),
        "jax": _other(_under_jax, program, values, expected),
    }
    calls = {who: call for who, call in candidates.items() if call is not None}
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for who, call in calls.items():
            time.sleep(QUIET_SECONDS)
            call(*values)  # threads are awake, and memory is there, as in a program that does nothing else
            start = time.perf_counter()
            call(*values)
            least[who] = min(least[who], time.perf_counter() - start)
    results = expected if isinstance(expected, tuple) else (expected,)
    given = sum(v.nbytes for v in values if isinstance(v, np.ndarray))
    in_python = "in Python" in str(ours.explain())
    return Row(
        program.__name__,
        least["numpy"],
        least["appyc"],
        least.get("numba"),
        least.get("jax"),
        None if in_python else bytes_moved(program, arguments),
        given + 2 * sum(r.nbytes for r in results),
        in_python,
    )


def table(rows: Sequence[Row], triad: float) -> Table:
    out = Table(title=f"triad: {triad / 1e9:.1f} GB/s", title_justify="left")
    for name in ("program", "NumPy", "appyc", "faster", "numba", "jax", "moved", "least", "rate", "of triad"):
        out.add_column(name, justify="left" if name == "program" else "right")
    for row in rows:
        rate = row.rate
        out.add_row(
            row.program,
            _milliseconds(row.numpy),
            _milliseconds(row.appyc) + ("*" if row.in_python else ""),
            f"{row.numpy / row.appyc:.1f}x",
            _ratio(row.numba, row.appyc),
            _ratio(row.jax, row.appyc),
            "" if row.moved is None else f"{row.moved / 1e6:.0f} MB",
            f"{row.least / 1e6:.0f} MB",
            "" if rate is None else f"{rate / 1e9:.1f} GB/s",
            "" if rate is None else f"{rate / triad:.0%}",
        )
    return out


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"


def _ratio(other: float | None, ours: float) -> str:
    return "" if other is None else f"{other / ours:.1f}x"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="all, where none is named")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=appyc.get_num_threads())
    parser.add_argument("--remeasure", action="store_true", help="the triad, which is else measured once")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    appyc.set_num_threads(options.threads)
    chosen = [p for p in PROGRAMS if not options.programs or p.__name__ in options.programs]
    machine = describe("cpu")
    triad = peaks(machine, options.remeasure).triad_gbytes * 1e9
    rows = [measure(program, options.scale, options.rounds) for program in chosen]
    console = Console(width=120)
    console.print(table(rows, triad))
    console.print("numba, jax: their time by appyc's. *: a part of the program runs in Python.")
    if options.json:
        content = {
            "command": f"python -m benchmarks.fusion --scale {options.scale} --rounds {options.rounds} "
            f"--threads {options.threads}",
            "machine": asdict(machine),
            "load": os.getloadavg()[0],
            "triad": triad,
            "rows": [asdict(row) for row in rows],
        }
        write_results(options.json, content)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
