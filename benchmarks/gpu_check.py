"""PolyBench on a GPU in a few minutes: is it right, how fast, and was that predicted.

    python -m benchmarks.gpu_check [KERNEL ...] [--dataset LARGE] [--workers 12] [--seconds 240] [--json FILE]

Processes side by side compile each kernel in both forms, run it on random data and compare it with what the C
back end computes. What was right is then timed alone, with arrays on the device and kernels from the cache. `host`
is when the call returns, which waits for no kernel. The rates are the useful arithmetic and the compulsory bytes
in a second, in parts of what a dgemm and a copy reach here. The predicted ones are those of
`benchmarks.gpu_static`, of the kernel with the most lanes. A run that takes longer than asked ends with what it has.
"""

from __future__ import annotations

import argparse
import inspect
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures import TimeoutError as OutOfTime
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import appyc
from benchmarks import machine
from benchmarks.gpu_static import GPUS, rows_of
from benchmarks.polybench.kernel import DATASETS, FORMS, Kernel
from benchmarks.polybench.measure import Device, copied
from benchmarks.polybench.suite import KERNELS

TIMED_RUNS = 3


@dataclass(frozen=True, slots=True)
class Row:
    """A kernel in one form. failure: a traceback. Times are seconds, shares of peaks as the module's text says."""

    kernel: str
    form: str
    failure: str | None = None
    first: float = 0.0
    error: float = 0.0
    predicted_of_copy: float = 0.0
    predicted_of_peak: float = 0.0
    seconds: float | None = None
    host: float | None = None
    of_copy: float = 0.0
    of_peak: float = 0.0


def checked(name: str, form: str, dataset: str) -> Row:
    """The kernel on random data, compared with the C back end. What a kernel or a compiler does wrong is in the row."""
    kernel, row = KERNELS[name], Row(name, form)
    try:
        device, given = Device("gpu"), kernel.arguments("random", dataset)
        function = on_gpu(kernel, form)
        first, result = device.timed(kernel, function, given)
        reference = copied(given)
        order = inspect.signature(kernel.numpy_version).parameters
        appyc.jit(target="cpu", strict=True)(kernel.loops.py_func)(*(reference[n] for n in order))
        row = replace(row, first=first, error=kernel.error(reference, result))
        if not row.error <= kernel.allowed_error("random"):
            return replace(row, failure=f"wrong: relative error {row.error:.1e}")
        return predicted(row, kernel, function, dataset)
    except Exception:  # noqa: BLE001 - whatever it is, the other kernels still run
        return replace(row, failure=traceback.format_exc(limit=-6))


def on_gpu(kernel: Kernel, form: str) -> Any:
    return appyc.jit(target="gpu", strict=True)(kernel.form(form).py_func)


def predicted(row: Row, kernel: Kernel, function: Any, dataset: str) -> Row:
    arguments = list(kernel.arguments("polybench", dataset).values())
    found = rows_of(row.kernel, function, arguments, GPUS["90"], "cuda:90")
    if not found:  # products of the library alone
        return row
    main = max(found, key=lambda r: r.launches * r.programs * r.lanes)
    return replace(row, predicted_of_copy=main.of_copy, predicted_of_peak=main.of_peak)


def timed(row: Row, dataset: str, peaks: machine.Peaks) -> Row:
    import cupy  # noqa: PLC0415 - only where there is a GPU

    kernel, device = KERNELS[row.kernel], Device("gpu")
    function, given = on_gpu(kernel, row.form), kernel.arguments("polybench", dataset)
    runs, wait = [], cupy.cuda.runtime.deviceSynchronize
    for _ in range(TIMED_RUNS + 1):
        arguments = device.arguments(kernel, given)
        wait()
        start = time.perf_counter()
        function(*arguments)
        host = time.perf_counter() - start
        wait()
        runs.append((time.perf_counter() - start, host))
    seconds, host = min(runs)
    sizes = kernel.sizes[dataset]
    return replace(
        row,
        seconds=seconds,
        host=host,
        of_copy=kernel.traffic(**sizes) / seconds / 1e9 / peaks.triad_gbytes,
        of_peak=kernel.flops(**sizes) / seconds / 1e9 / peaks.dgemm_gflops,
    )


def in_time(futures: Iterable[Future[Row]], seconds: float) -> Iterator[Row]:
    try:
        for future in as_completed(futures, timeout=max(seconds, 1.0)):
            yield future.result()
    except OutOfTime:
        for future in futures:
            future.cancel()


def table(rows: Sequence[Row]) -> Table:
    out = Table(title="parts of a copy's rate, and of a dgemm's", title_justify="left")
    for head in ("kernel", "first call", "time", "host", "of copy", "of peak", "predicted", "error"):
        out.add_column(head, justify="left" if head == "kernel" else "right")
    for row in rows:
        name = row.kernel if row.form == "loops" else f"{row.kernel} ({row.form})"
        if row.failure is not None or row.seconds is None:
            out.add_row(name, (row.failure or "not timed").strip().splitlines()[-1])
            continue
        out.add_row(
            name, f"{row.first:.2f} s", f"{row.seconds * 1e3:.3f} ms", f"{(row.host or 0) * 1e3:.3f} ms",
            f"{row.of_copy:.2f}", f"{row.of_peak:.2f}",
            f"{row.predicted_of_copy:.2f}, {row.predicted_of_peak:.2f}", f"{row.error:.0e}",
        )  # fmt: skip
    return out


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="all, where none is named")
    parser.add_argument("--dataset", choices=DATASETS, default="LARGE")
    parser.add_argument("--workers", type=int, default=12, help="processes that compile and compare")
    parser.add_argument("--seconds", type=float, default=240.0, help="when to end with what there is")
    parser.add_argument("--json", type=Path, metavar="FILE", help="written again after each timed kernel")
    options = parser.parse_args(argv)
    end = time.monotonic() + options.seconds
    described = machine.describe("gpu")
    peaks = machine.peaks(described)
    names = [(name, form) for name in options.kernels or KERNELS for form in FORMS]
    command = f"python -m benchmarks.gpu_check {' '.join([*options.kernels, '--dataset'])} {options.dataset}"
    found: dict[tuple[str, str], Row] = {}

    def keep(row: Row) -> None:
        found[row.kernel, row.form] = row
        if options.json:
            content = {"command": command, "machine": asdict(described), "peaks": asdict(peaks)}
            machine.write_results(options.json, {**content, "rows": [asdict(r) for r in found.values()]})

    with ProcessPoolExecutor(options.workers, get_context("spawn")) as processes:
        futures = [processes.submit(checked, name, form, options.dataset) for name, form in names]
        for row in in_time(futures, (end - time.monotonic()) * 0.7):
            keep(row)
            if row.failure is not None:
                print(f"{row.kernel} ({row.form}): {row.failure}", flush=True)
    for row in [found[key] for key in names if key in found]:
        if row.failure is None and time.monotonic() < end:
            keep(timed(row, options.dataset, peaks))
    rows = [found[key] for key in names if key in found]
    Console(width=130).print(table(rows))
    return int(len(rows) < len(names) or any(row.failure is not None for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
