"""Compares random programs with Python: python -m tests.random_programs --programs 1000 --seed 0

The programs come of `docs/language.md` alone, not of `tests.fuzz`. A fault is made smaller and printed. With
--sanitize compiled code runs under AddressSanitizer and UBSan; --recorded is about `appyc.numpy`, --neighbours about
periodic, clamped and negative indices, --chunked about arrays of Dask's, --killed about the same on workers that are
killed, --lists about lists of numbers as arguments, --containers about dicts, sets and deques, --mixed about lists of
ints and floats, --texts about texts and their characters,
--objects about objects, tuples and nested functions.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

CHUNK = 40
"""Programs for one process."""

_OTHERS = {
    "neighbours": "neighbours",
    "lists": "listed",
    "containers": "containers",
    "mixed": "mixed",
    "texts": "texts",
    "objects": "objects",
}
"""By option, the modules of programs of one kind."""

_OPTIMISE = ("-O3", "-O1", "-O1", "-O1", *["-O0"] * 6)
"""Of programs in a row: the C compiler takes half of the time, and its passes are not what is tested."""

MOST_WALL = 300
"""Seconds after which a program hangs."""

_SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.random_programs", description=__doc__)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument(
        "--target", default="threads", help="threads (C), cpu (C as users get it), interpret (Triton)"
    )
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--planted", action="store_true", help="one program that writes outside of its array")
    parser.add_argument("--recorded", action="store_true")
    parser.add_argument(
        "--neighbours", action="store_true", help="loops over elements beside the current one"
    )
    parser.add_argument("--chunked", action="store_true", help="over arrays of Dask's in random chunks")
    parser.add_argument("--killed", action="store_true", help="such, on workers of which each call kills one")
    parser.add_argument("--lists", action="store_true", help="lists of numbers as arguments")
    parser.add_argument(
        "--containers", action="store_true", help="dicts, sets and deques of the function's own"
    )
    parser.add_argument("--mixed", action="store_true", help="lists of ints and floats")
    parser.add_argument("--texts", action="store_true", help="texts and their characters")
    parser.add_argument("--objects", action="store_true", help="objects, tuples and nested functions")
    parser.add_argument(
        "--optimise", help="what the C compiler is given; else -O0, of four in ten -O1 or -O3"
    )
    parser.add_argument("--log", type=Path, help="a file for one line of JSON for each program")
    parser.add_argument("--shrink", action="store_true", help="make the programs with faults smaller")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _prepare(folder, given)
        return _campaign(given, folder)


def _prepare(folder: Path, given: argparse.Namespace) -> None:
    """The environment, before appyc is imported. Starts Python anew where the sanitizer has to be there first."""
    more = f"$OPTIMISE {_SANITIZERS}" if given.sanitize else "$OPTIMISE"
    compiler = shutil.which("gcc") or shutil.which("cc") or "cc"
    wrapper = folder / "compiler"
    wrapper.write_text(f'#!/bin/sh\nunset LD_PRELOAD\nexec {compiler} "$@" {more}\n')
    wrapper.chmod(0o700)
    os.environ |= {
        "APPYC_COMPILE_WAIT": "inf",  # no call runs in Python meanwhile
        "APPYC_PROGRESS": "0",
        "APPYC_MACHINE": "default",
        "APPYC_CACHE_DIR": str(folder / "cache"),
        "APPYC_CC": str(wrapper),
    }
    if given.sanitize and "libasan" not in os.environ.get("LD_PRELOAD", ""):
        asked = [[compiler, f"-print-file-name={name}"] for name in ("libasan.so", "libstdc++.so")]
        found = [subprocess.run(a, capture_output=True, text=True, check=True).stdout.strip() for a in asked]
        os.environ |= {
            "LD_PRELOAD": " ".join(found),  # C++ too: its exceptions are intercepted
            "ASAN_OPTIONS": "detect_leaks=0",
            "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        }
        sys.exit(
            subprocess.run(
                [sys.executable, "-m", "tests.random_programs", *sys.argv[1:]], check=False
            ).returncode
        )


def _campaign(given: argparse.Namespace, folder: Path) -> int:
    from tests.random_programs.check import FAULTS, Verdict, planted

    def one(seed: int) -> Verdict:
        os.environ["OPTIMISE"] = given.optimise or _OPTIMISE[seed % len(_OPTIMISE)]
        if given.planted:
            return Verdict(seed, planted())
        if given.recorded:
            from tests.random_programs import recorded

            return recorded.check(recorded.program(seed), folder)
        if given.chunked or given.killed:
            from tests.random_programs import chunked

            return chunked.check(seed, folder, killed=given.killed)
        make, check = _kind(given)
        verdict: Verdict = check(make(seed), folder)
        return verdict

    if not given.recorded:
        gc.disable()  # a tenth of the time of what is compiled
    found: Counter[str] = Counter()
    faults, calls, slowest, began = [], 0, 0.0, time.monotonic()
    for line in verdicts(one, range(given.seed, given.seed + given.programs)):
        verdict = Verdict(**line)
        found[verdict.kind] += 1
        calls += verdict.calls
        slowest = max(slowest, verdict.cpu)
        if given.log:
            with given.log.open("a") as log:
                log.write(json.dumps(line) + "\n")
        if verdict.kind in FAULTS:
            faults.append(verdict)
            print(f"program {verdict.seed}: {verdict.kind}: {verdict.detail}", flush=True)
            if (
                given.shrink
                and verdict.kind != "crash"
                and not (given.recorded or given.chunked or given.killed)
            ):
                print(_smaller(verdict, folder, given), flush=True)
    print(f"{sum(found.values())} programs in {time.monotonic() - began:.0f} s, {calls} calls: {dict(found)}")
    print(f"longest compile {slowest:.2f} s of processor time")
    return 1 if faults else 0


def _kind(given: argparse.Namespace) -> tuple[Callable[[int], Any], Callable[[Any, Path], Any]]:
    """What makes the programs that are asked for, and what checks one."""
    from tests.random_programs import check, programs

    for flag, name in _OTHERS.items():
        if getattr(given, flag):
            kind = importlib.import_module(f"tests.random_programs.{name}")
            return kind.program, kind.check
    return programs.program, lambda made, folder: check.check(made, folder, given.target, given.threads)


def _smaller(verdict: object, folder: Path, given: argparse.Namespace) -> str:
    from tests.random_programs.shrink import shrunk

    make, check = _kind(given)
    whole = make(verdict.seed)  # type: ignore[attr-defined]

    def errors(of: Any) -> list[str]:
        return [word for word in of.detail.split() if word.endswith("Error")]

    def shows(text: str) -> bool:
        try:
            found = check(replace(whole, text=text), folder)
            return found.kind == verdict.kind and errors(found) == errors(verdict)  # type: ignore[attr-defined]
        except Exception:  # noqa: BLE001  (a program that is none any more)
            return False

    return shrunk(whole.text, shows)


def verdicts(one: Callable[[int], object], seeds: range) -> Iterator[dict[str, object]]:
    """What becomes of each seed, in processes of some seeds each: a crash is one program's."""
    import islpy  # noqa: F401  (once, not in each process)

    at = seeds.start
    while at < seeds.stop:
        end = min(at + CHUNK, seeds.stop)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _work(one, range(at, end), writing)
        os.close(writing)
        with os.fdopen(reading) as lines:
            for line in lines:
                yield json.loads(line)
                at += 1
        _, status = os.waitpid(child, 0)
        if at < end:
            yield {
                "seed": at,
                "kind": "crash",
                "detail": f"signal {os.WTERMSIG(status)}, status {status >> 8}",
            }
            at += 1


def _work(one: Callable[[int], object], seeds: range, writing: int) -> None:
    """Writes a line for each seed, and ends the process."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for seed in seeds:
        signal.alarm(MOST_WALL)
        os.write(writing, (json.dumps(asdict(one(seed))) + "\n").encode())  # type: ignore[call-overload]
    signal.alarm(0)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
