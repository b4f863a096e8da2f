"""Analysis takes little work: front end and all passes, in Python's calls and isl's operations, which no other load
on the machine changes.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.analysis.sets.allowance import EASY, Allowance
from appyc.analysis.sets.presburger import _OutOfWorkError
from appyc.ir.nodes import Function, LoopMode
from appyc.ir.verify import check
from appyc.ir.visit import loops_of
from appyc.passes.checks.check_parallel import check_parallel
from appyc.passes.pass_context import PassContext
from appyc.pipeline import ANALYSE, Pass, _size, most_nodes
from benchmarks.polybench.suite import KERNELS
from tests.counting import calls_of
from tests.dependences.deep import NESTS, deepest

MOST_CALLS = 1_200_000
"""Of Python functions for a PolyBench kernel: 50 to 300 ms. adi has the most of them, 1,070,000."""

MOST_CALLS_OF_THE_DEEPEST = 2_300_000
"""For a nest that no one would write."""

MOST_ASKED = 5_000_000
"""Operations of isl for such a nest; the deepest takes 3,700,000."""

Nest = Callable[..., None]


def calls(jitted: Any, arguments: tuple[object, ...]) -> int:
    """How many calls of functions the analysis takes."""
    wanted = jitted._wanted(arguments, {})

    def analyse() -> None:
        with contextlib.suppress(appyc.DependenceError):
            jitted._analyse(wanted)

    return calls_of(analyse)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What isl is given for its questions, one try after the other."""
    out: list[int] = []
    tries = Allowance.tries

    def noted(allowance: Allowance) -> Iterator[int]:
        for work in tries(allowance):
            out.append(work)
            yield work

    monkeypatch.setattr(Allowance, "tries", noted)
    return out


@pytest.mark.sampled
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_analysed_with_little_work(name: str) -> None:
    kernel = KERNELS[name]
    arguments = tuple(kernel.initialise(**kernel.sizes["MINI"]).values())
    assert calls(kernel.loops, arguments) < MOST_CALLS


@pytest.mark.sampled
@pytest.mark.parametrize("nest", NESTS, ids=lambda nest: nest.__name__)
def test_a_nest_that_no_one_would_write_is_given_up(nest: Nest, asked: list[int]) -> None:
    jitted = appyc.jit(cache=False, target="cpu")(nest)
    assert calls(jitted, NESTS[nest]) < MOST_CALLS_OF_THE_DEEPEST
    assert sum(asked) <= MOST_ASKED


def test_paths_past_many_tests_are_not_each_followed(tmp_path: Path) -> None:
    """Each of the tests leaves the loop on one of two paths through it: of such paths there are 16,384."""
    tests = "".join(f"        if a[k] > {n}:\n            if a[k + 1] > {n}:\n                raise ValueError\n"
                    for n in range(14))  # fmt: skip
    text = f"def f(a, n):\n    k = 0\n    while k < n and a[k] < 9:\n{tests}        k += 1\n    return k\n"
    jitted = appyc.jit(cache=False, target="cpu")(function_of(text, tmp_path / "tests.py"))
    assert calls(jitted, (np.zeros(5), 4)) < MOST_CALLS


def test_what_could_not_be_told_runs_in_order_and_explain_says_so() -> None:
    jitted = appyc.jit(cache=False, target="cpu")(deepest)
    analysed = jitted._analyse(jitted._wanted(NESTS[deepest], {}))
    assert {loop.mode for loop in loops_of(analysed.function)} == {LoopMode.SEQUENTIAL}
    found = jitted.explain(*NESTS[deepest])
    assert all("could not be proven" in loop.reason for loop in found.loops)
    assert any("takes too long" in remark.text for remark in analysed.context.remarks)


def with_pragma(nest: Nest, folder: Path) -> Nest:
    """The nest with a pragma on its outermost loop."""
    lines = inspect.getsource(nest).splitlines()
    first = next(k for k, line in enumerate(lines) if line.lstrip().startswith("for "))
    text = "\n".join([*lines[:first], "    # pragma parallel for", *lines[first:]]) + "\n"
    return function_of(text, folder / f"{nest.__name__}_with_pragma.py", nest.__name__)


def function_of(text: str, path: Path, name: str = "f") -> Nest:
    """A function by its text."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    out: Nest = getattr(module, name)
    return out


@pytest.mark.sampled
@pytest.mark.parametrize("nest", NESTS, ids=lambda nest: nest.__name__)
def test_a_pragma_that_is_not_proven_is_refused(nest: Nest, tmp_path: Path, asked: list[int]) -> None:
    jitted = appyc.jit(cache=False, target="cpu")(with_pragma(nest, tmp_path))
    with pytest.raises(appyc.DependenceError, match=r"could not be proven|carries a dependence"):
        jitted._analyse(jitted._wanted(NESTS[nest], {}))
    assert sum(asked) <= MOST_ASKED


def stencil(a, b):
    for i in range(1, a.shape[0] - 1):
        if i % 3 == 1:
            b[i] = a[i - 1] + a[i + 1]
    for i in range(1, a.shape[0] - 1):
        a[i] = b[i]


def stencil_with_pragma(a, b):
    # pragma parallel for
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i - 1] + a[i + 1]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "transform", [f for f in ANALYSE if f is not check_parallel], ids=lambda f: f.__name__
)
def test_a_pass_that_takes_too_long_is_left_out(transform: Pass, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much isl works for a question may vary from run to run, so that it is told to have come to its bound."""

    def worked_too_long(fn: Function, ctx: PassContext) -> Function:
        transform(fn, ctx)
        raise _OutOfWorkError

    worked_too_long.__name__ = transform.__name__
    passes = tuple(worked_too_long if f is transform else f for f in ANALYSE)
    monkeypatch.setattr("appyc.pipeline.ANALYSE", passes)
    jitted = appyc.jit(cache=False, target="cpu")(stencil)
    arguments = np.arange(20.0), np.zeros(20)
    analysed = jitted._analyse(jitted._wanted(arguments, {}))
    assert any(
        f"({transform.__name__.replace('_', ' ')}), which is left out" in r.text
        for r in analysed.context.remarks
    )
    check(analysed.function, transform.__name__)


def test_a_function_with_little_work_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appyc.analysis.sets.presburger.BETWEEN", 20)
    found, wanted = [np.arange(20.0), np.zeros(20)], [np.arange(20.0), np.zeros(20)]
    appyc.jit(cache=False, target="cpu")(stencil)(*found)
    stencil(*wanted)
    np.testing.assert_array_equal(found, wanted)


def test_no_pragma_is_ignored_by_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appyc.analysis.sets.presburger.BETWEEN", 20)
    with pytest.raises(appyc.DependenceError, match="could not be proven in reasonable time"):
        appyc.jit(cache=False, target="cpu")(stencil_with_pragma)(np.ones(20), np.ones(20))


def joined(many: int) -> str:
    """The lengths of what is joined are sums of all lengths before."""
    line = "    a = np.concatenate((a[1:], b[:1])) + np.roll(a, 2)\n"
    return "import numpy as np\n\ndef f(a, b):\n" + line * many + "    return a\n"


def filters(many: int) -> str:
    """Each reads three elements of the one before, which could be computed at every read."""
    line = "    a = a[2:] * 0.5 + a[1:-1] + a[:-2] * 0.25\n"
    return "def f(a, b):\n" + line * many + "    return a\n"


def nested(many: int) -> str:
    """Short loops in each other."""
    loops = "".join(f"{'    ' * (k + 2)}for i{k} in range(5):\n" for k in range(many))
    return f"def f(a, b):\n    for x in range(a.shape[0]):\n{loops}{'    ' * (many + 2)}b[x] += a[x] * (i0 + 1)\n"


def choices(many: int) -> str:
    """Ranges that turn at many points."""
    line = "            if i < {0} and j > {0}:\n                b[i] += a[j]\n"
    text = "".join(line.format(7 * k) for k in range(many))
    return f"def f(a, b):\n    for i in range(a.shape[0]):\n        for j in range(b.shape[0]):\n{text}"


def copies(many: int) -> str:
    """Loops that are there several times, for what arguments say."""
    line = "        if i < b.shape[0]:\n            a[i] = a[(i + {0}) % a.shape[0]] + b[i]\n"
    return "def f(a, b):\n" + "".join(
        f"    for i in range(a.shape[0]):\n{line.format(k + 1)}" for k in range(many)
    )


def recurrences(many: int) -> str:
    """Each loop could be a parallel scan, of thirty times its size."""
    line = "    for i in range(1, a.shape[0]):\n        a[i] = a[i - 1] * 0.5 + b[i] + {}.0\n"
    return "def f(a, b):\n" + "".join(line.format(k) for k in range(many))


def test_loops_of_a_large_function_stay_what_they_are(tmp_path: Path) -> None:
    sizes = []
    for many in (10, 150):
        jitted = appyc.jit(cache=False, target="cpu")(
            function_of(recurrences(many), tmp_path / f"f{many}.py")
        )
        analysed = jitted._analyse(jitted._wanted((np.ones(99), np.ones(99)), {}))
        sizes.append(_size(analysed.function) / _size(analysed.plain))
    assert sizes[0] > 10, sizes
    assert sizes[1] < 2, sizes


@pytest.mark.sampled
@pytest.mark.parametrize(
    "text", [joined, filters, choices, copies, recurrences], ids=lambda text: text.__name__
)
def test_no_pass_makes_a_program_more_than_so_many_times_as_large(
    text: Callable[[int], str], tmp_path: Path
) -> None:
    sizes = []
    for many in (3, 12):
        jitted = appyc.jit(cache=False, target="cpu")(function_of(text(many), tmp_path / f"f{many}.py"))
        analysed = jitted._analyse(jitted._wanted((np.ones(99), np.ones(99)), {}))
        sizes.append((_size(analysed.plain), _size(analysed.function)))
    assert all(after <= most_nodes(before) for before, after in sizes), sizes


def test_a_pass_that_makes_too_much_is_left_out_with_what_it_has_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("appyc.pipeline.GROWTH", ((2, 0),))
    jitted = appyc.jit(cache=False, target="cpu")(function_of(nested(2), tmp_path / "f.py"))
    arguments = np.arange(9.0), np.zeros(9)
    analysed = jitted._analyse(jitted._wanted(arguments, {}))
    said = [remark.text for remark in analysed.context.remarks]
    assert any("(unroll loops), which is left out" in text for text in said)
    assert _size(analysed.function) <= 2 * _size(analysed.plain)
    jitted(*arguments)
    assert arguments[1].tolist() == (75 * np.arange(9.0)).tolist()


@pytest.mark.sampled
@pytest.mark.parametrize("text", [filters, copies], ids=lambda text: text.__name__)
def test_work_grows_no_faster_than_the_statements(
    text: Callable[[int], str], asked: list[int], tmp_path: Path
) -> None:
    sums = []
    for many in (10, 20, 40):
        asked.clear()
        jitted = appyc.jit(cache=False, target="cpu")(function_of(text(many), tmp_path / f"f{many}.py"))
        jitted._analyse(jitted._wanted((np.ones(999), np.ones(999)), {}))
        sums.append(sum(asked))
    assert sums[1] <= 2.5 * sums[0], sums
    assert sums[2] <= 2.5 * sums[1], sums


def test_conditions_that_depend_on_each_other_are_asked_about_within_the_allowance(
    asked: list[int], tmp_path: Path
) -> None:
    jitted = appyc.jit(cache=False, target="cpu")(function_of(choices(12), tmp_path / "f.py"))
    analysed = jitted._analyse(jitted._wanted((np.ones(999), np.ones(999)), {}))
    given = Allowance.of(_size(analysed.plain))
    assert sum(asked) <= 2 * (given.left + EASY * given.questions)
