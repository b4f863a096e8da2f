"""The runner: `python -m benchmarks.polybench [KERNEL ...] --dataset LARGE --target cpu`.

Exit code 0 if every kernel ran and was right, 1 if one failed, 2 if nothing could be run.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

try:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
except ImportError as error:
    raise SystemExit("the benchmarks need rich: pip install 'appyc[bench]'") from error

from appyc.options import TARGETS
from benchmarks import machine
from benchmarks.polybench import report
from benchmarks.polybench.kernel import DATASETS, FORMS, Kernel
from benchmarks.polybench.measure import References, Result, Settings, run_kernel
from benchmarks.polybench.suite import KERNELS

BUSY = 0.5
"""A load above which others take a share of the machine that shows in the times."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.list:
        print("\n".join(KERNELS))
        return 0
    kernels = _chosen(parser, given.kernels)
    settings = Settings(given.dataset, given.target, given.repeat, given.numpy_limit, given.form)
    forms = FORMS if given.form == "both" else (given.form,)
    console = Console(stderr=True)
    load = os.getloadavg()[0]  # before the measurements add to it
    try:
        described = machine.describe("gpu" if given.target == "gpu" else "cpu")
        with console.status("measuring this machine's dgemm and triad (once)"):
            peaks = machine.peaks(described, given.remeasure)
    except machine.MeasurementError as error:
        console.print(f"[red]{escape(str(error))}[/red]")
        return 2
    if load > BUSY:
        console.print(
            f"[yellow]This machine is busy (load {load:.1f} on {described.threads} threads): "
            "expect times that are too long.[/yellow]"
        )
    runs = [(kernel, replace(settings, form=form)) for kernel in kernels for form in forms]
    results = _run_all(runs, peaks, console)
    # A file or a pipe has no width of its own.
    output = Console(width=None if sys.stdout.isatty() else 120)
    output.print(report.table(results, settings, peaks))
    for result in results:
        if result.failure is not None:
            name = f"[red]{result.kernel}[/red] ({result.form})"
            console.print(f"{name}: {escape(result.failure)}", highlight=False)
    if given.json is not None:
        command = ["python", "-m", "benchmarks.polybench", *(arguments or sys.argv[1:])]
        report.write_json(given.json, results, settings, described, peaks, load, command)
    return 1 if any(result.failure is not None for result in results) else 0


def _run_all(
    runs: Sequence[tuple[Kernel, Settings]], peaks: machine.Peaks, console: Console
) -> list[Result]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    results, references = [], References()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(runs))
        for kernel, settings in runs:
            name = kernel.name if settings.form == "loops" else f"{kernel.name} ({settings.form})"

            def show(step: str, name: str = name) -> None:
                progress.update(task, description=f"{name}: {step}")

            result = run_kernel(kernel, settings, peaks, show, references)
            results.append(result)
            progress.advance(task)
            outcome = (
                report.duration(result.median)
                if result.failure is None
                else escape(report.first_line(result.failure))
            )
            progress.console.print(f"{name}: {outcome}", highlight=False)
    return results


def _chosen(parser: argparse.ArgumentParser, names: Sequence[str]) -> list[Kernel]:
    for name in names:
        if name not in KERNELS:
            close = get_close_matches(name.replace("_", "-"), KERNELS, n=1)
            hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(KERNELS)}"
            parser.error(f"there is no kernel {name!r}{hint}")
    return [KERNELS[name] for name in names] or list(KERNELS.values())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.polybench",
        description="Run PolyBench's kernels, compare every result with NumPy's, and print the times.",
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="which kernels (default: all)")
    parser.add_argument("--list", action="store_true", help="print the kernels' names and stop")
    parser.add_argument("--dataset", choices=DATASETS, default="LARGE", help="problem size (default: LARGE)")
    parser.add_argument(
        "--form",
        choices=(*FORMS, "both"),
        default="loops",
        help="annotated loops, statements about whole arrays, or one after the other (default: loops)",
    )
    parser.add_argument("--target", choices=TARGETS, default="cpu", help="what to compile for (default: cpu)")
    parser.add_argument("--repeat", type=_positive, default=5, metavar="N", help="timed runs (default: 5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results to FILE")
    parser.add_argument(
        "--numpy-limit",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="start no further run of the NumPy version after so long (default: 10)",
    )
    parser.add_argument(
        "--remeasure",
        action="store_true",
        help="measure this machine's peaks again, do not take them from the cache",
    )
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
