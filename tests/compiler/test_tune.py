"""The tuner: what it tries is legal, the quickest schedule wins by more than the noise, and winners are kept."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from itertools import count, islice

import numpy as np
import pytest

import appyc
from appyc.errors import CompileError, Loc, PragmaError, ToolchainError, UnsupportedError
from appyc.options import Options
from appyc.report.stage_texts import lines_of
from appyc.runtime.copied_calls import CopiedCalls, is_same
from appyc.tuning import search
from appyc.tuning.neighbours import neighbours
from appyc.tuning.search import NothingToTune, Search
from appyc.tuning.tune import progress
from appyc.tuning.winners import Winner, size_class
from tests.compiler.test_given_schedule import copied

RANDOM = np.random.default_rng(7)
PLANE, LINE = RANDOM.random((13, 21)), RANDOM.random(300)
TOTALS = np.zeros(300)


# ---------------------------------------------------------------- the search


class Program:
    """Stands for a function: a call takes as long as its schedule says, and returns a number."""

    def __init__(self, results: dict[str, object], seconds: Callable[[str], float]) -> None:
        self.now, self.results, self.seconds = 0.0, results, seconds
        self.shown: list[tuple[float, int, float]] = []

    def make(self, schedule: str) -> Callable[..., object]:
        if schedule.startswith("illegal"):
            raise PragmaError("it may not", Loc("<schedule>", 1))

        def run() -> object:
            self.now += self.seconds(schedule)
            return self.results.get(schedule, 1.0)

        run.schedule = schedule
        return run

    def search(self, schedules: list[str], limit: float = 1e6) -> Search:
        calls = CopiedCalls((), {}, lambda: self.now, lambda: None)
        found = Search(self.make(""), self.make, lambda _: [(s, s) for s in schedules], calls, True,
                       lambda *state: self.shown.append(state))  # fmt: skip
        found.run(limit)
        return found


TIMES = {"": 1.0, "slow": 3.0, "good": 0.8, "better": 0.5}


def test_the_quickest_schedule_is_found_and_illegal_ones_are_skipped():
    program = Program({}, TIMES.__getitem__)
    found = program.search(["illegal", "slow", "good", "better"])
    assert (found.schedule, found.best.schedule, found.time) == ("better", "better", 0.5)
    assert [(t.schedule, t.time, t.refused) for t in found.trials] == [
        ("illegal", None, "it may not"), ("slow", 3.0, ""), ("good", pytest.approx(0.8), ""),
        ("better", pytest.approx(0.5), ""),
    ]  # fmt: skip
    assert program.shown[0] == (pytest.approx(7.0), 0, 1.0)


def test_other_results_win_nothing():
    found = Program({"better": 1.0 + 1e-15}, TIMES.__getitem__).search(["better", "good"])
    assert found.schedule == "good"
    assert found.trials[0].refused == "the results differ"


def test_a_gain_within_the_noise_wins_nothing():
    steps = count()

    def noisy(schedule: str) -> float:
        """The first of each three runs in turn of the default is quicker than its last."""
        return 1.0 + 0.01 * (next(steps) % 7) if schedule == "" else 0.985

    found = Program({}, noisy).search(["little"])
    assert (found.schedule, found.time) == ("", 1.0)
    assert found.best is found.default
    assert found.trials[0].time is not None


def test_a_winner_that_is_no_quicker_when_it_is_timed_again_is_none():
    runs = count()
    found = Program({}, lambda s: 1.0 if not s or next(runs) > 3 else 0.5).search(["lucky"])
    assert found.trials[0].time == pytest.approx(0.5)
    assert found.schedule == ""


def test_no_schedule_is_tried_after_the_budget():
    found = Program({}, TIMES.__getitem__).search(["slow", "good", "better"], limit=15.0)
    assert [trial.schedule for trial in found.trials] == ["slow"]


def test_an_interrupt_keeps_the_best_until_then():
    def seconds(schedule: str) -> float:
        if schedule == "interrupted":
            raise KeyboardInterrupt
        return TIMES[schedule]

    found = Program({}, seconds).search(["better", "interrupted", "good"])
    assert (found.schedule, found.time) == ("better", 0.5)


def test_a_call_that_raises_is_not_tuned():
    def seconds(schedule: str) -> float:
        raise IndexError("index 3 is out of bounds")

    with pytest.raises(NothingToTune, match="a call that raises IndexError is not tuned: index 3"):
        Program({}, seconds).search([])


# ---------------------------------------------------------------- calls on copies


def test_copies_keep_strides_and_identity():
    strided, fortran = PLANE[::2, ::-3], np.asfortranarray(PLANE)
    seen = []
    CopiedCalls((strided, fortran, [strided], TOTALS[:0]), {"x": LINE}, lambda: 0.0, lambda: None).outcome(
        lambda *args, **keywords: seen.extend([*args, keywords["x"]])
    )
    copied, of_fortran, (same,), _, line = seen
    assert copied.strides == strided.strides
    assert of_fortran.flags.f_contiguous
    assert same is copied
    for one, other in ((copied, strided), (of_fortran, fortran), (line, LINE)):
        assert not np.shares_memory(one, other)
        np.testing.assert_array_equal(one, other)


def test_outcomes_are_compared_in_every_part():
    class Box:
        def __init__(self, x):
            self.x = x

    for one, other in (
        (LINE, LINE + 1e-12),
        ([1.0, 2.0], [1.0, 2.0 + 1e-12]),
        (Box(LINE), Box(LINE + 1e-12)),
    ):
        assert not is_same(one, other, exact=True)
        assert is_same(one, other, exact=False)
    for one, other in ((np.arange(3), np.arange(3) + 1), ((1, 2), (1,)), ({"a": 1}, {"a": 2}), ("a", "b"),
                       (LINE, LINE.astype(np.float32)), (np.nan, 1.0), (LINE, LINE * 1.001)):  # fmt: skip
        assert not is_same(one, other, exact=False)
    assert is_same(
        (np.nan, None, "a", np.array([np.inf])), (np.nan, None, "a", np.array([np.inf])), exact=False
    )


# ---------------------------------------------------------------- schedules of programs


def total(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * x[i]
    return s


COPIED = copied, (PLANE, PLANE.copy())
PROGRAMS = [
    (*COPIED, "cpu"), (total, (LINE,), "cpu"),
    (*COPIED, "interpret"), (total, (LINE,), "interpret"),
]  # fmt: skip


def legal_neighbours(fn, args, target):
    """The neighbours that are compiled, as functions by their new lines, and the lines that are refused."""
    made, refused = {}, []
    jitted = appyc.jit(fn, target=target, strict=True, cache=False)
    analysed = jitted._analyse(jitted._request(jitted._given(args, {})), "cpu")
    for schedule, change in neighbours(lines_of(analysed), "", on_gpu=target != "cpu"):
        try:
            other = appyc.jit(fn, target=target, schedule=schedule, cache=False)
            other.compile(*args)
            made[change] = other
        except CompileError:
            refused.append(change)
    return made, refused


@pytest.mark.sampled
@pytest.mark.parametrize(("fn", "args", "target"), PROGRAMS)
def test_legal_neighbours_give_pythons_results(fn, args, target):
    made, _ = legal_neighbours(fn, args, target)
    assert made
    python = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    wanted = fn(*python)
    for change, function in made.items():
        compiled = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        found = function(*compiled)
        for one, other in zip([wanted, *python], [found, *compiled], strict=True):
            if other is not None:
                np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=change)


def test_neighbours_of_a_nest():
    made, refused = legal_neighbours(*COPIED, "cpu")
    for change in ("i  threads  flat at one  tile(32, 32)", "i  threads  flat at one  interchange(j, i)",
                   "i  flat at one", "i  threads", "j  nontemporal b", "j  lanes"):  # fmt: skip
        assert change in made
    assert not any("block" in line for line in [*made, *refused])


def test_lines_that_were_asked_for_stay():
    """Others are left out: the compiler decides on their loops anew, which may have other forms then."""
    given = "copied(a, b)\n  i  threads  tile(8, 16)"
    jitted = appyc.jit(copied, cache=False, schedule=given)
    analysed = jitted._analyse(jitted._request(jitted._given(COPIED[1], {})), "cpu")
    texts = [text for text, _ in neighbours(lines_of(analysed), given, on_gpu=False)]
    assert "copied(a, b)\n      i  serial  tile(8, 32)" in texts
    unrolled = next(text for text in texts if "unroll(2)" in text)
    assert [line.split()[0] for line in unrolled.splitlines()] == ["copied(a,", "i", "j"]


def test_neighbours_on_a_gpu_are_those_of_programs():
    made, refused = legal_neighbours(*COPIED, "interpret")
    lines = [*made, *refused]
    for clause in ("block(64)", "num_warps(2)", "tile(32, 32)"):
        assert any(clause in line for line in made), clause
    assert not any("num_stages" in line for line in lines)


def test_launch_clauses_are_resized():
    jitted = appyc.jit(copied, target="interpret", cache=False, schedule="""
        copied(a, b)
          i  threads  block(64)  num_warps(2)
    """)  # fmt: skip
    args = COPIED[1]
    analysed = jitted._analyse(jitted._request(jitted._given(args, {})), "cpu")
    changes = [change for _, change in neighbours(lines_of(analysed), "", on_gpu=True)]
    for clauses in (
        "block(128)  num_warps(2)",
        "block(32)  num_warps(2)",
        "block(64)  num_warps(4)",
        "block(64)",
    ):
        assert any(change.startswith("i  threads") and change.endswith(clauses) for change in changes), (
            clauses
        )


# ---------------------------------------------------------------- appyc.tune and jit(tune=True)


@pytest.fixture
def _quick(monkeypatch, tmp_path):
    """A cache of its own, few schedules, and few runs of each."""
    monkeypatch.setenv("APPYC_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(search, "_SECONDS_EACH", 0.0)
    monkeypatch.setattr(search, "_SECONDS_OF_NOISE", 0.0)
    monkeypatch.setattr("appyc.tuning.tune.neighbours", lambda *a, **k: islice(neighbours(*a, **k), 3))


@pytest.fixture
def searches(_quick, monkeypatch):
    """The searches that are made; each finds tiles quicker where there is a nest."""
    made = []

    def run(self: Search, seconds: float) -> None:
        made.append(seconds)
        lines = lines_of(self.default._analyse(self.default._last))
        tiled = (one for one in neighbours(lines, "", on_gpu=False) if "tile(32, 32)" in one[1])
        for self.schedule, _ in tiled:
            self.best, self.time = self.make(self.schedule), 0.5
            break

    monkeypatch.setattr(Search, "run", run)
    return made


@pytest.mark.sampled
@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_tuning_leaves_arguments_alone_and_gives_a_function(target):
    a, b = PLANE.copy(), np.zeros(PLANE.shape)
    found = appyc.tune(appyc.jit(copied, target=target), a, b, seconds=60.0)
    assert not b.any()
    np.testing.assert_array_equal(a, PLANE)
    assert found.trials
    assert "copied: " in str(found)
    found.function(a, b)
    np.testing.assert_array_equal(b, PLANE)
    assert found.speedup >= 1.0


@pytest.mark.usefixtures("searches")
def test_the_record_has_the_schedule_and_its_function():
    found = appyc.tune(copied, PLANE, b=PLANE.copy())
    assert found.speedup == 2.0
    assert found.function.options == Options(schedule=found.schedule, strict=True)
    assert "i_tile  threads" in found.function.source("schedule")
    assert str(found).endswith(found.schedule)
    assert "2.00 times as fast as by default" in str(found)


def test_winners_are_kept_by_size_class(searches, monkeypatch):
    tuned = appyc.jit(copied, tune=True)
    for rows in (13, 9, 15):  # of one size class
        a, b = RANDOM.random((rows, 21)), np.zeros((rows, 21))
        tuned(a, b)
        np.testing.assert_array_equal(b, a)
    assert searches == [30.0]
    tuned(np.ones((16, 21)), np.zeros((16, 21)))
    tuned(np.ones((16, 21), np.float32), np.zeros((16, 21), np.float32))
    assert len(searches) == 3
    again = appyc.jit(copied, tune=True)  # as in a new process
    again(PLANE, PLANE.copy())
    assert len(searches) == 3
    assert ["tile(32, 32)" in schedule for schedule in again._by_schedule] == [False, True]
    appyc.jit(copied, tune=True, fastmath=True)(PLANE, PLANE.copy())
    assert len(searches) == 4
    monkeypatch.setattr("appyc.tuning.winners.get_num_threads", lambda: 77)
    appyc.jit(copied, tune=True)(PLANE, PLANE.copy())
    assert len(searches) == 5


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_call_of_a_tuned_function_may_be_left_to_a_library(searches):
    @appyc.jit(tune=True)
    def least(a, b):
        for k in range(len(a)):
            b[k] = np.sort(a[k])[0]

    a, b = RANDOM.random((3, 20_000)), np.zeros(3)
    least(a, b)
    np.testing.assert_array_equal(b, a.min(axis=1))


def test_what_tune_finds_later_functions_use(searches):
    appyc.tune(copied, PLANE, PLANE.copy())
    tuned = appyc.jit(copied, tune=True)
    tuned(PLANE, PLANE.copy())
    assert len(searches) == 1
    assert len(tuned._by_schedule) == 2


def test_a_schedule_that_fits_no_more_is_left(searches, monkeypatch):
    monkeypatch.setattr(Winner, "schedule", lambda self: "copied(a, b)\n  k  threads")
    b = np.zeros(PLANE.shape)
    tuned = appyc.jit(copied, tune=True)
    tuned(PLANE, b)
    np.testing.assert_array_equal(b, PLANE)
    assert not searches


@pytest.mark.usefixtures("searches")
def test_calls_with_nothing_to_tune_run_as_they_do():
    assert appyc.jit(lambda x: x + 1, tune=True)(2) == 3
    with pytest.raises(IndexError):
        appyc.jit(reads_beyond, tune=True)(LINE)
    assert appyc.jit(total, tune=True, target="python")(LINE) == total(LINE)
    with pytest.warns(appyc.FallbackWarning):
        assert appyc.jit(prints, tune=True)(LINE[:3]) is None


def reads_beyond(x):
    for i in range(x.shape[0]):
        x[i] = x[i + 1]


def prints(x):
    for i in range(x.shape[0]):
        print(x[i], end="")


def adds_outside(x):
    for i in range(x.shape[0]):
        TOTALS[i] += x[i]


def scalar(x):
    return x + 1


class Grid:
    def __init__(self):
        self.scale = 2.0

    def scaled(self, a, b):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = a[i, j] * self.scale


def test_methods_are_tuned(searches):
    grid, b = Grid(), np.zeros(PLANE.shape)
    found = appyc.tune(grid.scaled, PLANE, b)
    found.function(grid, PLANE, b)
    np.testing.assert_array_equal(b, PLANE * 2.0)
    assert len(searches) == 1


@pytest.mark.parametrize(
    ("is_terminal", "setting", "shown"), [(True, "1", True), (False, "1", False), (True, "0", False)]
)
def test_progress_is_shown_in_a_terminal(monkeypatch, is_terminal, setting, shown):
    stream = StringIO()
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("APPYC_PROGRESS", setting)
    with progress("heat", 10.0) as show:
        show(5.0, 3, 0.5)
    line = "appyc: tuning heat [##########          ] 3 schedules, the best 2.00 times as fast"
    assert stream.getvalue() == (f"\r{line}\r{' ' * len(line)}\r" if shown else "")


# ---------------------------------------------------------------- errors


def test_what_cannot_be_tuned_is_told():
    with pytest.raises(TypeError, match="takes a Python function, not 3"):
        appyc.tune(3)
    with pytest.raises(ValueError, match="seconds must be a positive number"):
        appyc.tune(total, LINE, seconds=0)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        appyc.tune(total)
    with pytest.raises(NothingToTune, match="scalar has no loop: there is nothing to tune"):
        appyc.tune(scalar, 1)
    with pytest.raises(NothingToTune, match="adds_outside stores into TOTALS, which tuning cannot copy"):
        appyc.tune(adds_outside, LINE)
    with pytest.raises(NothingToTune, match="a call that raises IndexError"):
        appyc.tune(reads_beyond, LINE.copy())
    with pytest.raises(UnsupportedError, match=r"test_tune\.py:\d+"):
        appyc.tune(prints, LINE)
    with pytest.raises(CompileError):
        appyc.tune(total, object())
    with pytest.raises(NothingToTune, match="a target that is not 'python'"):
        appyc.tune(appyc.jit(total, target="python"), LINE)
    assert not TOTALS.any()


def test_a_gpu_that_is_not_there_is_told():
    with pytest.raises(ToolchainError):
        appyc.tune(appyc.jit(total, target="gpu"), LINE)


def test_size_classes_are_powers_of_two():
    assert size_class({"a": np.ones((3, 4)), "n": 1000, "x": 0.5}) == (("a", (2, 3)), ("n", (10,)), ("x", ()))
    assert size_class({"a": LINE}) == size_class({"a": LINE[:256]}) != size_class({"a": LINE[:255]})
