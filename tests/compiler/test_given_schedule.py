"""A schedule that is printed, edited and given back: what it asks is done, and results stay those of Python."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc.errors import PragmaError
from tests.report.test_schedule_tree import CALLS

RANDOM = np.random.default_rng(5)
PLANE, LINE = RANDOM.random((21, 34)), RANDOM.random(150)


def copied(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.5
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def of_three(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j] * b[k, i]


def symmetric(a, c):
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            s = 1.0
            for k in range(a.shape[1]):
                s += a[i, k] * a[j, k]
            c[i, j] = s


def result(x, y):
    return x * 2.0 + y


def least(x):
    return x.min()


def exceeds(x):
    return (x > 3.0).any()


def row_sums(a):
    return a.sum(axis=1)


def two_loops(x, y):
    for i in range(x.shape[0]):
        x[i] = x[i] * 2.0
    for i in range(x.shape[0]):
        y[i] = x[i] + 1.0


def with_block(a, b):
    # pragma parallel for block(32) num_warps(4)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


def with_pragma(a, b):
    # pragma parallel for tile(4, 4)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


def schedule_of(fn, args, given=""):
    return appyc.jit(cache=False, schedule=given)(fn).source("schedule", *args)


@pytest.mark.parametrize(
    ("fn", "args"), [(fn, args) for fn, *args in CALLS], ids=lambda x: getattr(x, "__name__", "")
)
def test_what_is_printed_asks_for_nothing(fn, args):
    shown = schedule_of(fn, args)
    assert schedule_of(fn, args, shown) == shown


EDITS = {
    "tiles": (copied, (PLANE, PLANE), "i  threads", "i  threads  tile(4, 8)", "i_tile  threads"),
    "order": (copied, (PLANE, PLANE), "i  threads", "i  threads  interchange(j, i)", "\n  j  threads"),
    "serial": (copied, (PLANE, PLANE), "i  threads", "i  serial", "\n  i  serial"),
    "threads inside": (copied, (PLANE, PLANE), "j  lanes", "j  threads  lanes", "j  threads  lanes"),
    "other tiles than a pragma's": (with_pragma, (PLANE, PLANE), "tile(4, 4)", "tile(16, 2)", "tile(16, 2)"),
    "no tiles where a pragma asks": (with_pragma, (PLANE, PLANE), "  tile(4, 4)", "", "\n  i  threads"),
    "rows": (product, (PLANE, PLANE.T, PLANE[:, :21]), "jam 8 or 4", "jam 2", "jam 2"),
    "strip": (product, (PLANE, PLANE.T, PLANE[:, :21]), "strip of 3", "strip of 2", "strip of 2"),
    "unrolled": (of_three, (PLANE, PLANE.T, PLANE[:, :21]), "k  serial", "k  serial  unroll(4)", "unroll(4)"),
    "dots": (symmetric, (PLANE, PLANE[:, :21]), "jam 4", "jam 2", "jam 2"),
    "ordinary stores": (result, (LINE, LINE), "  nontemporal result", "", "i  threads  lanes  cost"),
    "strip-mined statement": (result, (LINE, LINE), "i  threads", "i  threads  tile(16)", "i_tile  threads"),
    "no lanes": (result, (LINE, LINE), "  lanes  nontemporal result", "", "i  threads  cost"),
    "accumulators": (least, (LINE,), "accumulators 4", "accumulators 2", "accumulators 2"),
    "rows in order": (row_sums, (PLANE,), "in order below 16", "in order below 8", "in order below 8"),
    "rows in lanes": (row_sums, (PLANE,), "  in order below 16", "", "k  lanes"),
    "one accumulator": (least, (LINE,), "  accumulators 4", "", "k  threads  lanes  cost"),
    "no early exit": (exceeds, (LINE,), "  early exit", "", "k  threads  lanes  cost"),
    "programs of a GPU": (copied, (PLANE, PLANE), "at one", "at one  block(64)  num_warps(2)", "num_warps(2)"),
    "loops that were joined": (two_loops, (LINE, LINE), "i  threads", "i", "\n  i  lanes"),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", EDITS)
def test_what_is_edited_is_done(name):
    fn, given, old, new, expected = EDITS[name]
    args = [np.array(a, order="C") for a in given]
    before = schedule_of(fn, args)
    assert old in before
    edited = before.replace(old, new)
    after = schedule_of(fn, args, edited)
    assert expected in after
    assert schedule_of(fn, args, after) == after
    python = [a.copy() for a in args]
    wanted = fn(*python)
    for target in ("cpu", "interpret"):
        compiled = [a.copy() for a in args]
        found = appyc.jit(cache=False, target=target, schedule=edited)(fn)(*compiled)
        for one, other in zip([wanted, *python], [found, *compiled], strict=True):
            if other is not None:
                np.testing.assert_allclose(one, other, rtol=1e-13)


def test_clauses_about_programs_of_a_gpu_are_shown_changed_and_dropped():
    shown = schedule_of(with_block, (PLANE, PLANE))
    assert "  block(32)  num_warps(4)  cost" in shown
    kernels = {}
    for words in ("block(32)  num_warps(4)", "block(128)  num_warps(4)", "num_warps(8)", ""):
        text = shown.replace("block(32)  num_warps(4)", words)
        given = appyc.jit(with_block, cache=False, schedule=text)
        assert schedule_of(with_block, (PLANE, PLANE), text) == text.replace("one    cost", "one  cost")
        kernels[words] = given.source("triton", PLANE, PLANE)
    assert kernels["block(32)  num_warps(4)"] == appyc.jit(with_block, cache=False).source(
        "triton", PLANE, PLANE
    )
    assert len(set(kernels.values())) >= 3  # without clauses, as with one of the others


def test_lines_may_be_left_out_and_indented():
    assert "i_tile  threads" in schedule_of(copied, (PLANE, PLANE), """
        copied(a, b)
          i  threads  tile(4,8)
    """)  # fmt: skip


def test_a_line_takes_no_other_clauses():
    with pytest.raises(PragmaError, match="operations only"):
        schedule_of(copied, (PLANE, PLANE), "copied(a, b)\n  i  tile(2) schedule(dynamic)")
    with pytest.raises(PragmaError, match="says nothing of a loop"):
        schedule_of(copied, (PLANE, PLANE), "copied(a, b)\n  i  private(b)")


def test_a_loop_that_the_compiler_made_keeps_its_mode():
    def running(x):
        for i in range(1, x.shape[0]):
            x[i] += x[i - 1]

    shown = schedule_of(running, (LINE,))
    with pytest.raises(PragmaError, match="'chunk' is not one of the program"):
        schedule_of(running, (LINE,), shown.replace("chunk  threads", "chunk  serial"))
    with pytest.raises(PragmaError, match="'chunk' has two lines"):
        schedule_of(running, (LINE,), shown.replace("chunk_2", "chunk"))


def test_a_schedule_is_of_the_whole_function_and_part_of_the_key():
    first, second = (appyc.jit(schedule=text)(copied).options for text in ("copied(a, b)", ""))
    assert first.strict
    assert not second.strict
    assert first != second
