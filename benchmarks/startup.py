"""From `import` to the first result: gemm in fresh processes, beside Numba.

    python -m benchmarks.startup [--repeat N] [--json FILE]

Cold is a first call with an empty cache: it compiles. Warm is a first call in a new process
that finds compiled code on disk. Each number is the best of several processes, which are
started in turns, so that a busy moment of the machine hits all of them alike. The files of
Python, NumPy and the compilers are in the page cache (an unmeasured round comes first).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

PROGRAM = Path(__file__).with_name("startup_run.py")
COMPILERS = ("appyc", "numba")
TARGETS = {"import": 0.2, "cold": 0.5, "warm": 0.05}
"""Seconds that appyc may take. The import is with NumPy's; the calls are after it."""


def run(compiler: str, cache: str) -> tuple[float, float, float, float]:
    """Seconds for NumPy's import, for all imports, for the first call, and for the second."""
    environment = {**os.environ, "APPYC_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    done = subprocess.run(
        [sys.executable, str(PROGRAM), compiler], env=environment, capture_output=True, text=True, check=True
    )
    numpy, imports, first, second = (float(word) for word in done.stdout.split())
    return numpy, imports, first, second


def measure(repeat: int) -> dict[str, dict[str, float]]:
    """By compiler: the best seconds of each phase."""
    times: dict[str, dict[str, list[float]]] = {c: {} for c in COMPILERS}
    for turn in range(repeat + 1):
        for compiler in COMPILERS:
            with TemporaryDirectory() as cache:
                _, _, cold, _ = run(compiler, cache)
                numpy, imports, warm, second = run(compiler, cache)
            if turn == 0:
                continue
            phases = {"numpy": numpy, "import": imports, "cold": cold, "warm": warm, "second": second}
            for phase, seconds in phases.items():
                times[compiler].setdefault(phase, []).append(seconds)
    return {c: {phase: min(found) for phase, found in phases.items()} for c, phases in times.items()}


def table(best: dict[str, dict[str, float]]) -> str:
    rows = [
        ("import (with NumPy)", "import"),
        ("  of it NumPy's", "numpy"),
        ("first call, cold cache", "cold"),
        ("first call, warm cache", "warm"),
        ("second call", "second"),
    ]
    lines = [f"{'ms':<24}{'appyc':>10}{'Numba':>10}{'target':>10}"]
    for title, phase in rows:
        cells = "".join(f"{1000 * best[c][phase]:>10.3g}" for c in COMPILERS)
        target = f"{1000 * TARGETS[phase]:>10.3g}" if phase in TARGETS else ""
        lines.append(f"{title:<24}{cells}{target}".rstrip())
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=5, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    best = measure(given.repeat)
    print(table(best))
    if given.json is not None:
        given.json.write_text(json.dumps(best, indent=2) + "\n")


if __name__ == "__main__":
    main()
