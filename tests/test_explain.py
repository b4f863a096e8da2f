"""`fn.explain()`: a text for reading, and records for programs."""

from __future__ import annotations

import re

import numpy as np
import pytest

import appyc


def line_of(fn, text):
    """The line of this file on which a function says `text`."""
    lines = fn.source("python").splitlines()
    offset = next(k for k, line in enumerate(lines) if text in line)
    return fn.py_func.__code__.co_firstlineno + offset


def record_of(report, index):
    (found,) = (r for r in report.loops if r.index == index)
    return found


@appyc.jit
def everything(a, b, out, n):
    total = 0.0
    # pragma parallel for
    for i in range(n):
        out[i] = a[i] + b[i]
    for j in range(1, n):
        a[j] = np.sqrt(a[j - 1])
    # pragma parallel for
    for k in range(n - 1):
        total += b[k]
    # pragma sequential for
    for m in range(n):
        b[m] = 0.0
    return total


@pytest.fixture
def report():
    a = np.ones(100)
    return everything.explain(a, a.copy(), a.copy(), 100)


def test_one_record_for_every_loop_in_the_order_of_the_text(report):
    assert [r.index for r in report.loops] == ["i", "j", "k", "m"]
    for record in report.loops:
        assert record.line == line_of(everything, f"for {record.index} in")
        assert record.depth == 0
        assert record.reason


def test_independent_loop(report):
    record = record_of(report, "i")
    assert (record.verdict, record.mode) == ("independent", "parallel")


def test_carried_loop_says_which_accesses(report):
    record = record_of(report, "j")
    assert (record.verdict, record.mode) == ("carried", "sequential")
    assert "a[" in record.reason


def test_reduction_names_the_variable(report):
    record = record_of(report, "k")
    assert (record.verdict, record.mode) == ("reduction", "parallel")
    assert "total" in record.reason


def test_loop_that_was_to_stay_sequential_does(report):
    record = record_of(report, "m")
    assert record.mode == "sequential"
    assert "not marked parallel" in record.reason


def test_text_has_a_line_for_every_loop(report):
    lines = str(report).splitlines()
    assert lines[0].startswith("everything(a: float64[:], b: float64[:]")
    assert __file__ in lines[1]
    assert "cpu" in lines[1]
    for record in report.loops:
        (line,) = (text for text in lines if text.lstrip().startswith(f"line {record.line} "))
        assert f"for {record.index}" in line
        assert record.mode in line
        assert record.verdict in line


def test_text_shows_nesting_and_modes():
    @appyc.jit
    def gemm(a, b, c):
        # pragma parallel for
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    a = np.ones((4, 4))
    report = gemm.explain(a, a.copy(), a.copy())
    assert [(r.index, r.depth) for r in report.loops] == [
        ("i", 0),
        ("k", 1),
        ("j", 2),
    ]  # with the stride of one inside
    assert record_of(report, "i").mode == "parallel"
    starts = [line.index("for ") for line in str(report).splitlines() if line.strip().startswith("line")]
    assert starts[:3] == sorted(set(starts[:3]))


def test_loop_without_pragma_is_not_left_sequential():
    @appyc.jit
    def scale(a):
        for i in range(a.shape[0]):
            a[i] *= 2.0

    assert record_of(scale.explain(np.ones(4)), "i").mode in ("simd", "parallel")


def test_auto_off_leaves_loops_without_pragma_alone():
    @appyc.jit(auto=False)
    def scale(a):
        for i in range(a.shape[0]):
            a[i] *= 2.0

    assert record_of(scale.explain(np.ones(4)), "i").mode == "sequential"


def test_oath_is_shown_as_one():
    @appyc.jit
    def scatter(a, at):
        # pragma parallel for independent
        for i in range(at.shape[0]):
            a[at[i]] = 1.0

    record = record_of(scatter.explain(np.ones(4), np.arange(4)), "i")
    assert record.mode == "parallel"
    assert "on your word" in record.reason


def test_guards_are_listed():
    @appyc.jit
    def shift(a, b, n):
        for i in range(n):
            b[i] = a[i + 1]

    report = shift.explain(np.ones(4), np.ones(4), 3)
    assert report.guards
    assert "tested once at each call: " in str(report)


def test_a_function_that_runs_in_python_says_so():
    @appyc.jit(target="python")
    def first(a):
        return a.sum()

    first(np.ones(3))
    with pytest.raises(ValueError, match=r"first runs in Python, as target='python' says: pass arguments"):
        first.explain()
    assert "target='python' runs it as it is; compiled, it would be" in str(first.explain(np.ones(3)))


def test_latest_types_are_explained():
    @appyc.jit
    def first(a):
        return a[0]

    with pytest.raises(ValueError, match="first has not been compiled yet"):
        first.explain()
    first(np.ones(3, np.float32))
    assert "float32[:]" in str(first.explain())
    first(np.ones((3, 3)).ravel())
    assert "float64[:]" in str(first.explain())
    assert "int64[:]" in str(first.explain(np.arange(3)))


def test_explaining_runs_nothing():
    @appyc.jit
    def clear(a):
        for i in range(a.shape[0]):
            a[i] = 0.0

    a = np.ones(3)
    clear.explain(a)
    np.testing.assert_array_equal(a, [1, 1, 1])


def test_function_without_loops():
    @appyc.jit
    def double(x):
        return 2 * x

    assert double.explain(1).loops == ()
    assert "no loops" in str(double.explain(1))


def test_what_runs_in_python_is_said():
    @appyc.jit
    def mixed(a):
        names = {"first", "last"}
        for i in range(a.shape[0]):
            a[i] *= 2.0
        return len(names)

    a = np.ones(3)
    assert mixed(a) == 2
    report = mixed.explain()
    assert [line for line, _ in report.python_parts] == [line_of(mixed, "names = ")]
    assert "runs in Python: a set cannot be compiled" in str(report)
    assert record_of(report, "i").mode in ("simd", "parallel")


def test_refused_loop_raises_in_explain_as_in_a_call():
    @appyc.jit
    def running(a):
        # pragma parallel for
        for i in range(1, a.shape[0]):
            a[i] = np.sqrt(a[i - 1])

    with pytest.raises(appyc.DependenceError):
        running.explain(np.ones(3))


def test_ipython_shows_the_text(report):
    class Printer:
        shown = ""

        def text(self, text):
            self.shown += text

    printer = Printer()
    report._repr_pretty_(printer, False)
    assert printer.shown == str(report)


@appyc.jit
def joined_loops(a, out, n):
    total = 0.0
    for i in range(n):
        out[i] = a[i] * 2.0
    for j in range(n):
        total += a[j]
    return total


def test_loop_that_runs_in_another_one_has_a_record_that_says_so():
    a = np.ones(100)
    report = joined_loops.explain(a, a.copy(), 100)
    assert [r.index for r in report.loops] == ["i", "j"]
    record = record_of(report, "j")
    assert record.line == line_of(joined_loops, "for j in")
    assert record.mode == "parallel"
    assert record.within == line_of(joined_loops, "for i in")
    assert record.reason == f"runs in the loop at line {record.within}"
    assert "2 loops at line" in str(report)


def test_bytes_of_loops_that_run_in_blocks():
    """Three planes of 640 kB, one of them written; what is between the loops is in no memory."""

    def corners(a, b):
        length = np.sqrt(a * a + b * b)
        return (
            length[:-2, :-2] + length[2:, 2:] + length[1:-1, 1:-1] + length[2:, :-2] + length[:-2, 2:]
        ) / 5.0

    plane = np.ones((402, 202))
    function = appyc.jit(corners)
    function(plane, plane.copy())
    (line,) = [
        s for s in str(function.explain(plane, plane.copy())).splitlines() if "to and from memory" in s
    ]
    moved = float(re.search(r"([0-9.]+) MB to and from memory", line)[1])
    assert moved == pytest.approx(4 * plane.nbytes / 1e6, rel=0.05)
    assert "not stored: length" in line
