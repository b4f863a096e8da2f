"""A batch of random programs, in a process of its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.check import check, quiet
from tests.fuzz.generator import Program, programs


@dataclass
class Findings:
    """What a batch came to. failure: the error's text and the program, shrunk."""

    seed: int
    outcomes: Counter[str] = field(default_factory=Counter)
    failure: tuple[str, str] | None = None


def run_batch(start: int, count: int, targets: tuple[str, ...], shrink: bool = True) -> Findings:
    """Programs of one seed, up to the first that fails."""
    quiet()
    found = Findings(start)
    last: list[Program] = []

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
    @given(programs())
    def go(program: Program) -> None:
        last[:] = [program]
        outcome = check(program, targets)
        if found.failure is None:
            found.outcomes[outcome] += 1

    try:
        go()
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what we look for)
        found.outcomes["failed"] += 1
        found.failure = (f"{type(error).__name__}: {error}", str(last[0]) if last else "")
    return found
