"""Runs many random programs: python -m tests.fuzz --programs 10000 --target cpu,threads,interpret.

Programs come in batches, each from a seed of its own. The first failure of a batch is
shrunk and written to a file, and ends the batch. The exit code is 1 if there was any.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from tests.fuzz.batch import Findings, run_batch

BATCH = 50
MAX_BATCHES_PER_PROCESS = 8
"""Then a new process starts: loaded kernels stay in memory."""


def all_batches(arguments: argparse.Namespace) -> Iterator[Findings]:
    """Batches as they are done, over two processes or as many as asked for."""
    targets = tuple(arguments.target.split(","))
    seeds = range(arguments.seed, arguments.seed + -(-arguments.programs // BATCH))
    with ProcessPoolExecutor(
        arguments.processes, mp_context=get_context("spawn"), max_tasks_per_child=MAX_BATCHES_PER_PROCESS
    ) as pool:
        tasks = [
            pool.submit(run_batch, s, min(BATCH, arguments.programs), targets, not arguments.no_shrink)
            for s in seeds
        ]
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
    arguments = parser.parse_args()
    total: Counter[str] = Counter()
    began = time.monotonic()
    for found in all_batches(arguments):
        total += found.outcomes
        if found.failure is not None:
            arguments.failures.mkdir(parents=True, exist_ok=True)
            file = arguments.failures / f"seed_{found.seed}.py"
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
