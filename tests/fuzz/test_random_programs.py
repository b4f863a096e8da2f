"""Random programs, the same ones in every run; `python -m tests.fuzz` runs others and many more."""

from __future__ import annotations

import numpy as np
import pytest

from tests.e2e.harness import Mismatch
from tests.fuzz.batch import run_batch
from tests.fuzz.check import check
from tests.fuzz.generator import Program

BATCHES = (
    *((seed, 50, ("cpu",)) for seed in range(2)),
    *((seed, 50, ("threads",)) for seed in range(2, 4)),
    *((seed, 20, ("interpret",)) for seed in range(4, 6)),
    (6, 8, ("cuda:80", "cuda:90")),
)


@pytest.mark.parametrize(("seed", "count", "targets"), BATCHES, ids=str)
def test_random_programs_do_what_python_does(seed: int, count: int, targets: tuple[str, ...]) -> None:
    found = run_batch(seed, count, targets)
    if found.failure is not None:
        message, program = found.failure
        pytest.fail(f"{message}\n\n{program}")
    assert found.outcomes["same"] > 0


def test_a_wrong_result_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Program("def program(a, n):\n    for i in range(n):\n        a[i] = i + 1\n", (np.zeros(3), 3))
    assert check(right, ("cpu",)) == "same"
    wrong = right.function()
    monkeypatch.setattr(Program, "function", lambda _: wrong)
    monkeypatch.setattr("tests.fuzz.check.run_on", lambda fn, args, *_, **__: _off_by_one(args))
    with pytest.raises(Mismatch, match="argument 0"):
        check(right, ("cpu",))


def _off_by_one(args):
    from tests.e2e.harness import Outcome

    return Outcome(None, (args[0] + 2, args[1]))
