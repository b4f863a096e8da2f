"""A batch of random programs: python -m tests.fuzz.batch SEED COUNT TARGETS FOLDER KIND."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.check import check, quiet
from tests.fuzz.generator import Program, programs
from tests.fuzz.pipelines import pipeline_programs
from tests.fuzz.pragmas import Marked, check_marked, marked_programs
from tests.fuzz.tensors import tensor_programs


@dataclass
class Findings:
    """What a batch came to. failure: the error's text and the program, shrunk."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failure: tuple[str, str] | None = None


def run_batch(
    start: int,
    count: int,
    targets: tuple[str, ...],
    *,
    kind: str = "loops",
    shrink: bool = True,
    current: Path | None = None,
) -> Findings:
    """Programs of one seed, up to the first that fails.

    kind: "loops"; "pragmas" puts some on loops, and holds them against other orders of the
    iterations; "tensors": statements about whole arrays; "pipelines": stages on larger ones.
    current: where the program that runs is written, for the case that it ends the process.
    """
    found = Findings()
    last: list[Program | Marked] = []
    large = "interpret" not in targets  # the interpreter takes its time
    kinds = {
        "loops": programs(large=large),
        "pragmas": marked_programs(large=large),
        "tensors": tensor_programs(),
        "pipelines": pipeline_programs(large=large),
    }

    @seed(start)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(kinds[kind])
    def go(program: Program | Marked) -> None:
        last[:] = [program]
        if current is not None:
            current.write_text(str(program))
        outcome = check_marked(program, targets) if isinstance(program, Marked) else check(program, targets)
        if found.failure is None:
            found.outcomes[outcome] += 1

    try:
        with quiet():
            go()
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what we look for)
        found.outcomes["failed"] += 1
        found.failure = (f"{type(error).__name__}: {error}", str(last[0]) if last else "")
    return found


def main() -> None:
    start, count, targets, folder, kind = sys.argv[1:6]
    found = run_batch(
        int(start), int(count), tuple(targets.split(",")),
        kind=kind, shrink="--no-shrink" not in sys.argv, current=Path(folder, "program.py"),
    )  # fmt: skip
    Path(folder, "findings.json").write_text(json.dumps([found.outcomes, found.failure]))


if __name__ == "__main__":
    main()
