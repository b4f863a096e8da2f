"""Undecorated scripts: `python script.py` beside `appyc run script.py`, whole processes.

    python -m benchmarks.scripts [--numpy] [NAME ...] [--repeat N] [--json FILE]

Each script runs in a process of its own, so the times hold everything: starting Python,
imports, compiling or finding compiled code, running. `first` is with an empty cache, `appyc
run` with a filled one. A script whose two outputs differ has no speed-up, and the exit code
tells. With --numpy, `appyc run --numpy`, of scripts that bind names anew in a loop of a hundred steps.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).parent.parent / "tests"

SIZES = {
    "heat": ["400", "60"],
    "nbody": ["700", "20"],
    "kmeans": ["40000"],
    "floyd_warshall": ["300"],
    "conjugate_gradient": ["120"],
    "life": ["300", "30"],
    "mandelbrot": ["2000"],
}

RECORDED = {"gray_scott": ["256"], "boids": ["400"], "life": ["512"]}


def timed(words: list[str], cache: str) -> tuple[float, str]:
    """Seconds and output of one process."""
    environment = {**os.environ, "APPYC_CACHE_DIR": cache}
    start = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    return time.perf_counter() - start, done.stdout


def measure(name: str, arguments: list[str], repeat: int, *, recorded: bool) -> dict[str, object]:
    """Times of one script; `same` tells whether it printed the same each time."""
    script = [str(TESTS / ("recorded_scripts" if recorded else "scripts") / f"{name}.py"), *arguments]
    with TemporaryDirectory() as cache:
        python, expected = timed([sys.executable, *script], cache)
        compiled = [sys.executable, "-m", "appyc", "run", *(["--numpy"] if recorded else []), *script]
        first, output = timed(compiled, cache)
        later = [timed(compiled, cache) for _ in range(repeat)]
    seconds = statistics.median(t for t, _ in later)
    return {
        "arguments": arguments,
        "python": python,
        "first": first,
        "appyc": seconds,
        "speedup": python / seconds,
        "same": all(out == expected for out in (output, *(out for _, out in later))),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SIZES)}")
    parser.add_argument("--numpy", action="store_true", help=f"of {', '.join(RECORDED)}")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the times, in seconds, to this file")
    options = parser.parse_args()
    sizes = RECORDED if options.numpy else SIZES
    unknown = [name for name in options.names if name not in sizes]
    if unknown:
        parser.error(f"no script {', '.join(unknown)}; there are {', '.join(sizes)}")
    results: dict[str, dict[str, object]] = {}
    print(f"{'script':20} {'python':>9} {'first run':>10} {'appyc run':>10} {'speed-up':>9}")
    for name in options.names or sizes:
        found = results[name] = measure(name, sizes[name], options.repeat, recorded=options.numpy)
        gain = f"{found['speedup']:8.1f}x" if found["same"] else "  differs"
        print(f"{name:20} {found['python']:8.2f}s {found['first']:9.2f}s {found['appyc']:9.2f}s {gain}")
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0 if all(found["same"] for found in results.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
