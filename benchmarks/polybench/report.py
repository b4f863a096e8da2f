"""Results as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import geometric_mean

from rich.box import SIMPLE_HEAD
from rich.table import Table

from benchmarks.machine import Machine, Peaks
from benchmarks.polybench.measure import Result, Settings


def table(results: Sequence[Result], settings: Settings, peaks: Peaks) -> Table:
    """Median times, NumPy's time over ours, and rates as shares of what the machine can reach."""
    made = Table(
        title=f"PolyBench {settings.dataset}, target {settings.target}, median of {settings.repeat}",
        caption=_caption(results, peaks),
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    made.add_column("kernel", no_wrap=True)
    made.add_column("form", no_wrap=True)
    for heading in ("time", "NumPy", "ratio", "GFLOP/s", "dgemm", "GB/s", "triad", "compile", "error"):
        made.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        made.add_row(*(_cells(result) if result.failure is None else _failed(result)))
    return made


def write_json(
    file: Path,
    results: Sequence[Result],
    settings: Settings,
    machine: Machine,
    peaks: Peaks,
    load: float,
    command: Sequence[str],
) -> None:
    """load: the machine's load average before the run, of other programs."""
    record = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": list(command),
        "settings": asdict(settings),
        "machine": asdict(machine),
        "peaks": asdict(peaks),
        "load": load,
        "results": [asdict(result) for result in results],
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record, indent=1) + "\n")


def _caption(results: Sequence[Result], peaks: Peaks) -> str:
    ratios = [result.speedup for result in results if result.speedup is not None]
    mean = f"; geometric mean of the ratios {_number(geometric_mean(ratios), 'x')}" if ratios else ""
    return (
        f"{len(ratios)} of {len(results)} right{mean}\n"
        f"measured dgemm {peaks.dgemm_gflops:.0f} GFLOP/s, triad {peaks.triad_gbytes:.1f} GB/s; "
        "GB/s count every array once"
    )


def first_line(failure: str) -> str:
    return failure.splitlines()[0]


def _cells(result: Result) -> list[str]:
    return [
        result.kernel,
        result.form,
        duration(result.median),
        duration(result.numpy_median),
        _number(result.speedup, "x"),
        _number(result.gflops),
        _percent(result.dgemm_share),
        _number(result.gbytes),
        _percent(result.triad_share),
        duration(result.compile_seconds),
        f"{max(result.errors.values()):.0e}",
    ]


def _failed(result: Result) -> list[str]:
    return [f"[red]{result.kernel}[/red]", result.form, "[red]failed[/red]", *["-"] * 8]


def duration(seconds: float | None) -> str:
    """A time in the unit that suits it.

    >>> duration(0.00123), duration(12.3456), duration(None)
    ('1.23 ms', '12.3 s', '-')
    """
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return "-"
    digits = ".0f" if value >= 100 else ".3g" if value >= 1 else ".2g"
    return f"{value:{digits}}{unit}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.1f}%"
