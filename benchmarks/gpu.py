"""The programs of `benchmarks.fusion` on a GPU, with arrays that live there.

    python -m benchmarks.gpu [--scale 4.0] [--rounds 5] [--json FILE] [PROGRAM ...]

One text for all: NumPy runs it on the host, appyc compiles it, CuPy runs it operation by operation and, where
they take it, `cupy.fuse`, JAX and `torch.compile` do too. Compilers' first calls are not timed; all take turns, each
call is waited for, and the smallest times count. Results are compared with NumPy's first. `trigonometry` is
sin(x)**2 + cos(x)**2 of 83 million numbers at scale 4.

    rate       the fewest bytes (arguments read, results written, once each) in a second, as a part of what a
               copy on the device reaches
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import appyc
from benchmarks.fusion import PROGRAMS, arguments_of, compare, normal
from benchmarks.machine import describe, write_results

Call = Callable[..., Any]

COPIED = 1 << 30
"""Bytes of the copy that rates are held against."""


def trigonometry(x):
    return np.sin(x) ** 2 + np.cos(x) ** 2


ALL = (*PROGRAMS, trigonometry)


@dataclass(frozen=True)
class Row:
    """Seconds: NumPy's on the host, and of each on the GPU. least: the fewest bytes."""

    program: str
    numpy: float
    appyc: float
    least: int
    peers: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Peer:
    """A library on the GPU. there: an array of NumPy's as its own. compiled: its form of a program."""

    there: Callable[[np.ndarray], Any]
    compiled: Callable[[Call], Call]
    home: Callable[[Any], np.ndarray]


def peers(cupy: Any) -> dict[str, Peer]:
    """Those that are installed."""
    found = {
        "cupy": Peer(cupy.asarray, lambda program: rebound(program, cupy), cupy.asnumpy),
        "cupy.fuse": Peer(cupy.asarray, lambda program: cupy.fuse()(rebound(program, cupy)), cupy.asnumpy),
    }
    for name, make in (("jax", _jax), ("torch.compile", _torch)):
        try:
            found[name] = make()
        except ImportError:
            print(f"{name}: not installed, or it finds no GPU")
    return found


def _jax() -> Peer:
    jax = importlib.import_module("jax")
    if jax.default_backend() != "gpu":
        raise ImportError("JAX runs on the host here")
    jax.config.update("jax_enable_x64", True)
    return Peer(jax.numpy.asarray, lambda program: jax.jit(rebound(program, jax.numpy)), np.asarray)


def _torch() -> Peer:
    torch = importlib.import_module("torch")
    if not torch.cuda.is_available():
        raise ImportError("PyTorch finds no GPU")
    torch.set_default_dtype(torch.float64)
    along = {
        "sum": lambda x, axis: torch.sum(x, dim=axis),
        "max": lambda x, axis: torch.amax(x, dim=axis),
        "argmin": lambda x, axis: torch.argmin(x, dim=axis),
    }
    same = ("sqrt", "exp", "log", "abs", "where", "zeros_like", "sin", "cos")
    library = SimpleNamespace(**along, **{name: getattr(torch, name) for name in same})
    return Peer(
        lambda values: torch.from_numpy(values).cuda(),
        lambda program: torch.compile(rebound(program, library)),
        lambda values: values.cpu().numpy(),
    )


def rebound(program: Call, library: Any) -> Call:
    """The program with another library in NumPy's place."""
    assert isinstance(program, FunctionType)
    space: dict[str, Any] = {"np": library, "range": range}
    space["normal"] = FunctionType(normal.__code__, space)
    return FunctionType(program.__code__, space, program.__name__)


def of(program: Call, scale: float) -> list[Any]:
    if program is trigonometry:
        return [np.random.default_rng(7).uniform(-10, 10, int(20_750_000 * scale))]
    return list(arguments_of(program.__name__, scale).values())


def measure(program: Call, cupy: Any, libraries: dict[str, Peer], scale: float, rounds: int) -> Row:
    values = of(program, scale)
    start = time.perf_counter()
    expected = program(*values)
    on_host = time.perf_counter() - start
    calls: dict[str, tuple[Call, list[Any]]] = {}
    ours = Peer(cupy.asarray, appyc.jit(target="gpu"), cupy.asnumpy)
    for who, peer in {"appyc": ours, **libraries}.items():
        given = [peer.there(v) if isinstance(v, np.ndarray) else v for v in values]
        try:
            call = peer.compiled(program)
            found = call(*given)
        except Exception as error:  # whatever it is, the row has a gap
            if who == "appyc":
                raise
            print(f"{program.__name__}: {who}: {type(error).__name__}")
            continue
        parts = found if isinstance(found, tuple | list) else (found,)
        compare(program.__name__, tuple(peer.home(p) for p in parts), expected)
        calls[who] = (call, given)
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for who, (call, given) in calls.items():
            least[who] = min(least[who], waited_for(cupy, call, given))
    results = expected if isinstance(expected, tuple) else (expected,)
    nbytes = sum(v.nbytes for v in (*values, *results) if isinstance(v, np.ndarray))
    return Row(program.__name__, on_host, least.pop("appyc"), nbytes, least)


def waited_for(cupy: Any, call: Call, given: Sequence[Any]) -> float:
    """Seconds of a call, to the end of what it started on the device."""
    wait = cupy.cuda.runtime.deviceSynchronize
    call(*given)
    wait()
    start = time.perf_counter()
    call(*given)
    wait()
    return time.perf_counter() - start


def copy_rate(cupy: Any, nbytes: int) -> float:
    """Bytes read and written in a second by a copy on the device."""
    source, target = cupy.zeros(nbytes // 8), cupy.zeros(nbytes // 8)
    return 2 * nbytes / min(waited_for(cupy, cupy.copyto, (target, source)) for _ in range(5))


def table(rows: Sequence[Row], copy: float, names: Sequence[str]) -> Table:
    out = Table(title=f"copy on the device: {copy / 1e9:.0f} GB/s", title_justify="left")
    for name in ("program", "NumPy", "appyc", "faster", *names, "of copy"):
        out.add_column(name, justify="left" if name == "program" else "right")
    for row in rows:
        others = (f"{row.peers[n] / row.appyc:.2f}x" if n in row.peers else "" for n in names)
        out.add_row(
            row.program, f"{row.numpy * 1e3:.1f} ms", f"{row.appyc * 1e3:.3f} ms", f"{row.numpy / row.appyc:.0f}x",
            *others, f"{row.least / row.appyc / copy:.0%}",
        )  # fmt: skip
    return out


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="all, where none is named")
    parser.add_argument("--scale", type=float, default=4.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    cupy = importlib.import_module("cupy")
    libraries = peers(cupy)
    copy = copy_rate(cupy, int(COPIED * min(options.scale, 1.0)) & ~7)
    chosen = [p for p in ALL if not options.programs or p.__name__ in options.programs]
    console, rows = Console(width=120), []
    for program in chosen:
        try:
            rows.append(measure(program, cupy, libraries, options.scale, options.rounds))
        except Exception:  # noqa: BLE001 - whatever it is, the others still run
            console.print_exception(max_frames=4)
    console.print(table(rows, copy, list(libraries)))
    console.print(f"{', '.join(libraries)}: their time by appyc's, all on the GPU. NumPy: on the host.")
    if options.json:
        content = {
            "command": f"python -m benchmarks.gpu --scale {options.scale} --rounds {options.rounds}",
            "machine": asdict(describe("gpu")),
            "copy": copy,
            "rows": [asdict(row) for row in rows],
        }
        write_results(options.json, content)
    return int(len(rows) < len(chosen))


if __name__ == "__main__":
    raise SystemExit(main())
