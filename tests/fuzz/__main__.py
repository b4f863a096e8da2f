"""Runs many random programs: python -m tests.fuzz --programs 10000 --target cpu,threads,interpret.

With --pragmas, --tensors or --pipelines: those of the module of that name in `tests/fuzz`.

Programs come in batches, each from a seed of its own and in a process of its own, since a
program may also crash. The first failure of a batch is shrunk and written to a file, and
ends the batch. The exit code is 1 if there was any.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.fuzz.batch import Findings

KINDS = {
    "pragmas": "pragmas on random loops, held against other orders",
    "tensors": "statements about whole arrays",
    "pipelines": "stages of programs on arrays of ordinary sizes",
}
BATCH = 100
BATCH_SECONDS = 1800
"""A program that does not end is a failure as well."""


def in_a_process(seed: int, count: int, arguments: argparse.Namespace) -> tuple[int, Findings]:
    """One batch, and what came of it; the seed is returned along."""
    with tempfile.TemporaryDirectory(prefix="appyc-fuzz-") as folder:
        command = [sys.executable, "-m", "tests.fuzz.batch", str(seed), str(count), arguments.target, folder]
        command.append(arguments.kind)
        try:
            done = subprocess.run(
                command + ["--no-shrink"] * arguments.no_shrink,
                capture_output=True, text=True, check=False, timeout=BATCH_SECONDS,
            )  # fmt: skip
            ending = f"ended with status {done.returncode}\n{done.stderr}"
        except subprocess.TimeoutExpired:
            ending = f"took more than {BATCH_SECONDS} seconds"
        result, program = Path(folder, "findings.json"), Path(folder, "program.py")
        if result.exists():
            outcomes, failure = json.loads(result.read_text())
            return seed, Findings(Counter(outcomes), tuple(failure) if failure else None)
        text = program.read_text() if program.exists() else ""
        return seed, Findings(Counter(failed=1), (f"the process {ending}", text))


def all_batches(arguments: argparse.Namespace) -> Iterator[tuple[int, Findings]]:
    """Batches as they are done."""
    counts = [min(BATCH, arguments.programs - done) for done in range(0, arguments.programs, BATCH)]
    with ThreadPoolExecutor(arguments.processes) as pool:
        tasks = [pool.submit(in_a_process, arguments.seed + k, c, arguments) for k, c in enumerate(counts)]
        for task in as_completed(tasks):
            yield task.result()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first batch; the next have the next ones")
    parser.add_argument(
        "--target", default="cpu,threads", help="cpu, threads, interpret, cuda:80, cuda:90, ..."
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--failures", type=Path, default=Path("build/fuzz"), help="where failures are written"
    )
    parser.add_argument("--no-shrink", action="store_true")
    for kind, what in KINDS.items():
        parser.add_argument(
            f"--{kind}", dest="kind", action="store_const", const=kind, default="loops", help=what
        )
    arguments = parser.parse_args()
    total: Counter[str] = Counter()
    began = time.monotonic()
    for seed, found in all_batches(arguments):
        total += found.outcomes
        if found.failure is not None:
            arguments.failures.mkdir(parents=True, exist_ok=True)
            file = arguments.failures / f"seed_{seed}.py"
            message, program = found.failure
            commented = "\n".join(f"# {line}" for line in message.splitlines())
            file.write_text(f"{program}\n{commented}\n")
            print(f"\nfailure: {file}: {message.splitlines()[0][:150]}", flush=True)
        done, seconds = total.total(), time.monotonic() - began
        summary = ", ".join(f"{count} {name}" for name, count in total.most_common())
        print(f"\r{done}/{arguments.programs} programs, {seconds:.0f} s: {summary}   ", end="", flush=True)
    print()
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
