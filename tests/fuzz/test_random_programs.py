"""Random programs, the same ones in every run; `python -m tests.fuzz` runs others and many more."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.e2e.harness import Mismatch, call, compiled
from tests.fuzz.batch import run_batch
from tests.fuzz.check import check
from tests.fuzz.generator import Program
from tests.fuzz.pragmas import Marked, check_marked, order_matters

BATCHES = (
    (0, 12, ("cpu",)),
    (2, 15, ("threads",)),
    (4, 7, ("interpret",)),
    (6, 2, ("cuda:80", "cuda:90")),
)


def outcomes(seed: int, count: int, targets: tuple[str, ...], kind: str) -> Counter[str]:
    """What a batch came to. Fails with the program where one fails."""
    found = run_batch(seed, count, targets, kind=kind)
    if found.failure is not None:
        message, program = found.failure
        pytest.fail(f"{message}\n\n{program}")
    return found.outcomes


@pytest.mark.sampled
@pytest.mark.parametrize(("seed", "count", "targets"), BATCHES, ids=str)
def test_random_programs_do_what_python_does(seed: int, count: int, targets: tuple[str, ...]) -> None:
    assert outcomes(seed, count, targets, "loops")["same"] > 0


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("seed", "count", "targets"), [(20, 15, ("threads",)), (21, 8, ("interpret",))], ids=str
)
def test_random_pragmas_are_refused_or_keep_the_results(
    seed: int, count: int, targets: tuple[str, ...]
) -> None:
    found = outcomes(seed, count, targets, "pragmas")
    assert found["runs in any order"] > 0
    assert found["refused"] > 0


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("seed", "count", "targets"),
    [(40, 5, ("cpu",)), (41, 8, ("threads",)), (42, 6, ("interpret",)), (43, 2, ("cuda:80", "cuda:90"))],
    ids=str,
)
def test_random_tensor_programs_do_what_numpy_does(seed: int, count: int, targets: tuple[str, ...]) -> None:
    assert outcomes(seed, count, targets, "tensors")["same"] > 0


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("seed", "count", "targets"),
    [(60, 5, ("threads",)), (61, 4, ("interpret",)), (62, 1, ("cuda:80", "cuda:90"))],
    ids=str,
)
def test_random_pipelines_do_what_numpy_does(seed: int, count: int, targets: tuple[str, ...]) -> None:
    assert outcomes(seed, count, targets, "pipelines")["same"] > 0


RECURRENCE = "a[i] = a[i - 1] * 2.0 // 3.0 + i"


def marked(line: str, *args: object) -> Marked:
    source = f"def program(a, n):\n    #pragma parallel for\n    for i in range(1, n):\n        {line}\n"
    return Marked(Program(source, args), ((0, 1),))


def test_a_loop_that_depends_on_its_order_is_refused_or_explained() -> None:
    numbers = np.arange(9.0) ** 2
    assert check_marked(marked("a[i] = a[i] * 2.0", numbers, 9), ("cpu",)) == "runs in any order"
    assert check_marked(marked(RECURRENCE, numbers, 9), ("cpu",)) == "refused"
    same = marked("a[0] = a[n - 1]", numbers, 9)
    assert not order_matters(same, call(same.program.function(), same.program.args), keep_last=False)


def test_a_loop_that_runs_though_its_order_matters_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = marked(RECURRENCE, np.arange(9.0) ** 2, 9)
    right = compiled(wrong.program.without_pragmas().function(), "cpu", strict=True)
    monkeypatch.setattr("tests.fuzz.pragmas.run_on", lambda fn, args, *_, **__: call(fn, args))
    monkeypatch.setattr("tests.fuzz.pragmas.compiled", lambda *_, **__: right)
    with pytest.raises(Mismatch, match="without a word"):
        check_marked(wrong, ("cpu",))


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
