"""Sums down columns go through memory in blocks of rows."""

from __future__ import annotations

import numpy as np
import pytest

import appyc
from appyc import pipeline
from appyc.ir.nodes import For, Function
from appyc.ir.printer import print_function
from appyc.ir.visit import walk
from appyc.options import Options
from appyc.passes.locality import column_blocks, tile_column_reductions
from appyc.passes.pass_context import PassContext
from tests.ir_makers import Program, add, assign, for_, load, store, sub, update
from tests.lowering import lowered
from tests.printed import run_printed

NAMES = [p.__name__ for p in pipeline.ANALYSE]
UP_TO = pipeline.ANALYSE[: NAMES.index("tile_column_reductions") + 1]
SHAPES = [(0, 3), (1, 1), (2, 3), (7, 5), (8, 0), (8, 1), (9, 3), (16, 2), (23, 11)]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(column_blocks, "ROWS", 4)
    monkeypatch.setattr(column_blocks, "STEP", 2)
    monkeypatch.setattr(tile_column_reductions, "ROWS", 4)
    monkeypatch.setattr(tile_column_reductions, "LEAST_ROWS", 8)


def blocked(fn, *args: object, options: Options | None = None) -> tuple[Function, PassContext]:
    context = PassContext(options or Options(target="cpu"))
    return pipeline.run(lowered(fn, *args), (*pipeline.SIMPLIFY, *UP_TO), context, verify=True), context


def said(fn, *args: object, options: Options | None = None) -> list[str]:
    _, context = blocked(fn, *args, options=options)
    return [r.text for r in context.remarks if "sums of columns are made in blocks" in r.text]


def sums(x):
    return x.sum(axis=0)


def means_and_deviations(x):
    return x.mean(axis=0), x.std(axis=0)


def largest(x):
    return x.max(axis=0, initial=-9.0), np.exp(x).sum(axis=0)


def by_hand(x):
    """From the second row to the last but one, in a time loop that cannot run in any order."""
    out = np.zeros(x.shape[1])
    for _ in range(2):
        for i in range(x.shape[1]):
            s = out[i]
            for k in range(1, x.shape[0] - 1):
                s += x[k, i] * 2.0
            out[i] = s
    return out


def about_each_column(x):
    """Not about the mean; what is deviated from is computed with the column."""
    out = np.zeros(x.shape[1])
    for i in range(x.shape[1]):
        q = 0.0
        m = i + 0.5
        for k in range(x.shape[0]):
            q += (x[k, i] - m) * (x[k, i] - m)
        out[i] = q
    return out


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("fn", [sums, means_and_deviations, largest, by_hand, about_each_column])
def test_columns_of_all_shapes(fn):
    x = np.ones((2, 2))
    program, _ = blocked(fn, x)
    assert said(fn, x), print_function(program)
    for shape in SHAPES:
        x = np.sin(np.arange(float(np.prod(shape)))).reshape(shape) + 3.0
        with np.errstate(all="ignore"):
            for got, want in zip(np.atleast_2d(run_printed(program, x)), np.atleast_2d(fn(x)), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=str(shape))


def test_integers_and_what_is_no_number():
    program, _ = blocked(sums, np.ones((2, 2), np.int32))
    x = np.arange(27, dtype=np.int32).reshape(9, 3)
    np.testing.assert_array_equal(run_printed(program, x), x.sum(axis=0))
    program, _ = blocked(means_and_deviations, np.ones((2, 2)))
    rows = np.ones((9, 6))
    rows[[0, 8, 4, 5, 1], [1, 2, 3, 3, 4]] = [np.nan, np.inf, np.inf, -np.inf, 1e300]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(run_printed(program, rows), means_and_deviations(rows))


@pytest.mark.parametrize("values", [[np.inf], [np.inf, -np.inf], [np.nan], [np.nan, np.inf], [-np.inf] * 8])
def test_deviations_of_what_is_not_finite(values):
    rows = np.ones((8, 2))
    rows[: len(values), 0] = values
    for fn in (means_and_deviations, about_each_column):
        with np.errstate(all="ignore"):
            found = run_printed(blocked(fn, rows)[0], rows)
            np.testing.assert_allclose(found, fn(rows))


def chained(x):
    """Each sum needs the one before it."""
    first, third = np.empty(x.shape[1]), np.empty(x.shape[1])
    for i in range(x.shape[1]):
        m = x[0, i]
        s = 0.0
        for k in range(x.shape[0]):
            s += abs(x[k, i] - m)
        q = 1.0
        for k in range(x.shape[0]):
            q = max(q, x[k, i] * s)
        r = 0.0
        for k in range(x.shape[0]):
            r += x[k, i] * s + q
        first[i] = s
        third[i] = r
    return first, third


def test_sums_that_need_one_another():
    program, _ = blocked(chained, np.ones((2, 2)))
    assert sum(n.var.name.startswith("block") for n in walk(program) if isinstance(n, For)) == 2 * 3
    for shape in SHAPES[1:]:
        x = np.sin(np.arange(float(np.prod(shape)))).reshape(shape)
        np.testing.assert_allclose(run_printed(program, x), chained(x), rtol=1e-12, atol=1e-12)


def test_a_sum_that_needs_what_changes_behind_it_stays():
    p = Program()
    n, x, out = p.integer("n"), p.array("x", 2), p.array("out", 1)
    i, k, s, m = p.index("i"), p.index("k"), p.local("s"), p.local("m")
    down = for_(k, 0, n, [update(s, [], "+", sub(load(x, k, i, checked=False), m))])
    body = [assign(m, 1.0), assign(s, 0.0), down, assign(m, add(m, s)), store(out, [i], m, checked=False)]
    fn = p.function(for_(i, 0, n, body))
    assert tile_column_reductions.tile_column_reductions(fn, PassContext(Options(target="cpu"))) == fn


def gradient(x, w, y):
    e = 1.0 / (1.0 + np.exp(-(x @ w))) - y
    return e @ x


def gradient_and_error(x, w, y):
    e = 1.0 / (1.0 + np.exp(-(x @ w))) - y
    return e @ x, e


def test_loops_over_the_same_rows_go_into_the_blocks():
    arguments = np.ones((2, 2)), np.ones(2), np.ones(2)
    for fn in (gradient, gradient_and_error):
        assert "the loops at line" in said(fn, *arguments)[0]
        program, _ = blocked(fn, *arguments)
        for rows, columns in SHAPES:
            x = np.cos(np.arange(float(rows * columns))).reshape(rows, columns)
            w, y = np.ones(columns), np.arange(float(rows))
            for got, want in zip(run_printed(program, x, w, y), fn(x, w, y), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-12)


def columns_first(x, w, y):
    """The loop behind the columns may come before them."""
    return y @ x, x @ w


def of_pragmas(x, w, y):
    out = np.empty(x.shape[1])
    t = np.empty(x.shape[0])
    # pragma parallel for
    for k in range(x.shape[0]):
        s = 0.0
        for i in range(x.shape[1]):
            s += x[k, i] * w[i]
        t[k] = s * y[k]
    # pragma parallel for
    for i in range(x.shape[1]):
        s = 0.0
        for k in range(x.shape[0]):
            s += x[k, i] * t[k]
        out[i] = s
    return out, t


def largest_after(x, w, y):
    """What is no sum goes along the rows."""
    t = x @ w
    return np.max(x * t[:, None], axis=0, initial=-9.0), t + y


@pytest.mark.parametrize("fn", [columns_first, of_pragmas, largest_after])
def test_loops_on_either_side_and_pragmas(fn):
    program, _ = blocked(fn, np.ones((2, 2)), np.ones(2), np.ones(2))
    assert "the loops at line" in said(fn, np.ones((2, 2)), np.ones(2), np.ones(2))[0], print_function(
        program
    )
    steps = [n for n in walk(program) if isinstance(n, For) and n.step == 2]
    assert len(steps) == 1
    for rows, columns in SHAPES:
        x = np.cos(np.arange(float(rows * columns))).reshape(rows, columns)
        w, y = np.sin(np.arange(float(columns))), np.arange(float(rows))
        for got, want in zip(run_printed(program, x, w, y), fn(x, w, y), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def needs_the_sums(x, w):
    """The rows behind the columns read what these have come to."""
    s = w @ x
    return s, x @ s


def changes_what_is_summed(x, w):
    out = w @ x
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            x[k, i] = 2.0 * x[k, i]
    return out


def in_a_static_schedule(x, w):
    out = np.empty(x.shape[1])
    # pragma parallel for schedule(static, 3)
    for i in range(x.shape[1]):
        s = 0.0
        for k in range(x.shape[0]):
            s += x[k, i] * w[k]
        out[i] = s
    return out


def test_loops_behind_that_need_the_columns_stay_there():
    arguments = np.ones((3, 3)), np.ones(3)
    for fn in (needs_the_sums, changes_what_is_summed):
        program, _ = blocked(fn, *arguments)
        assert said(fn, *arguments), print_function(program)
        assert "the loops at line" not in said(fn, *arguments)[0]
        x = np.sin(np.arange(81.0)).reshape(9, 9)
        want = fn(x.copy(), np.ones(9))
        for got, one in zip(run_printed(program, x, np.ones(9)), want, strict=True):
            np.testing.assert_allclose(got, one, rtol=1e-12)
    assert not said(in_a_static_schedule, *arguments)


def of_another_row(x):
    """What a row needs comes from another block: the sums are in blocks, and the loop before them is not."""
    t = np.zeros(x.shape[0])
    for k in range(x.shape[0]):
        t[k] = x[k, 0]
    out = np.zeros(x.shape[1])
    for i in range(x.shape[1]):
        s = 0.0
        for k in range(x.shape[0]):
            s += t[x.shape[0] - 1 - k] * x[k, i]
        out[i] = s
    return out


def changed_between(x, y):
    """A statement between the loops needs the first, and changes what the second one reads."""
    t = np.empty(x.shape[0])
    for k in range(x.shape[0]):
        t[k] = x[k, 0]
    y[0] = t[-1]
    return (t * y) @ x


def test_loops_that_other_rows_wait_for_stay_outside():
    x = np.sin(np.arange(27.0)).reshape(9, 3)
    for fn, args in ((of_another_row, (x,)), (changed_between, (x, np.ones(9)))):
        program, _ = blocked(fn, *args)
        assert said(fn, *args), print_function(program)
        copies = [np.copy(a) for a in args]
        np.testing.assert_allclose(run_printed(program, *args), fn(*copies), rtol=1e-13)


def rows_of(x):
    return x.sum(axis=1)


def hands_on(x):
    """A column starts from what the one before it has come to."""
    s = 0.0
    out = np.empty(x.shape[1])
    for i in range(x.shape[1]):
        for k in range(x.shape[0]):
            s = s + x[k, i]
        out[i] = s
    return out


def written(x):
    for i in range(x.shape[1]):
        s = 0.0
        for k in range(x.shape[0]):
            s += x[k, i]
        x[0, i] = s
    return x[0, 0]


def of_shrinking_length(x):
    out = np.empty(x.shape[1])
    for i in range(x.shape[1]):
        s = 0.0
        for k in range(min(i, x.shape[0])):
            s += x[k, i]
        out[i] = s
    return out


@pytest.mark.parametrize("fn", [rows_of, hands_on, written, of_shrinking_length])
def test_what_is_left_as_it_is(fn):
    assert not said(fn, np.ones((3, 4)))


def test_the_order_of_sums_and_programs_of_a_gpu_are_left():
    x = np.ones((3, 4))
    assert not said(about_each_column, x, options=Options(target="cpu", exact=True))
    assert not said(sums, x, options=Options(target="interpret"))


def test_in_c_on_threads(monkeypatch):
    """With blocks as they are: a length that is no multiple of one, and few rows."""
    monkeypatch.undo()
    rng = np.random.default_rng(0)
    compiled = {
        fn: appyc.jit(target="cpu", strict=True)(fn)
        for fn in (gradient_and_error, columns_first, of_pragmas, means_and_deviations)
    }
    for rows, columns in ((1023, 12), (1025, 12), (3001, 17)):
        x, w, y = (
            rng.standard_normal((rows, columns)),
            rng.standard_normal(columns),
            rng.standard_normal(rows),
        )
        cases = [(fn, (x, w, y)) for fn in (gradient_and_error, columns_first, of_pragmas)]
        for fn, args in (*cases, (means_and_deviations, (x,))):
            for got, want in zip(compiled[fn](*args), fn(*args), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
