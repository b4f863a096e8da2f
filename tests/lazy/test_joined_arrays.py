"""NumPy's functions of whole arrays that are recorded under their own names."""

from __future__ import annotations

import re

import numpy
import pytest

import appyc.numpy as np
from appyc.lazy.running import STATE, flush
from tests.lazy import recorded
from tests.lazy.fuzz import compiling, reasons, same

CALLS = (
    "np.concatenate((a, b, a[1:]))", "np.concatenate([a, c], axis=1)",
    "np.concatenate((a, a.astype('float32')), -1)", "np.stack((a, b))", "np.stack([a, b, a], axis=-1)",
    "np.hstack((v, v[1:]))", "np.hstack((a, c))", "np.vstack((v[:4], w[1:5]))", "np.vstack((a, b))",
    "np.column_stack((v, w))", "np.dstack((a, b))", "np.dstack((v, w))", "np.roll(a, k)",
    "np.roll(a, -k, axis=0)", "np.roll(a, 7, axis=-1)", "np.round(a)", "np.around(a, 1)", "np.tile(v, 3)",
    "np.tile(a, (2, 1, 2))", "np.repeat(a, 2)", "a.repeat(3, axis=-1)", "np.pad(a, 1)",
    "np.pad(a, ((0, 2), (1, 0)))", "np.pad(v, (1, 2), mode='edge')", "np.pad(a, 1, constant_values=3)",
    "np.tril(a)", "np.triu(a, k=1)", "np.tril(a, -k)", "np.einsum('ij,jk->ik', a, d)", "np.einsum('ij->j', a)",
    "np.einsum('ij,ij->', a, b)", "np.einsum('i,j->ij', v, w)", "np.linalg.norm(a)", "np.linalg.norm(v)",
    "np.linalg.norm(u)", "np.linalg.norm(a, axis=-1)", "np.linalg.norm(u, None, 0, True)",
    "np.linalg.norm(a[None], keepdims=True)",
    "np.inner(v, w)", "np.vdot(v, w)", "np.trace(a)", "a.trace(1)", "np.trapezoid(a)", "np.isclose(a, b)",
    "np.nan_to_num(g)", "np.nansum(g, axis=0)", "np.nanmax(g)", "np.nanmean(g, 1)", "np.ptp(a, axis=0)",
    "np.average(a, axis=1)", "np.take(a, i, axis=0)",
)  # fmt: skip


def values(rows: int, columns: int) -> dict[str, object]:
    a = numpy.arange(float(rows * columns)).reshape(rows, columns) * 1.37 - 3
    return {
        "a": a, "b": a[::-1].copy() + 1, "c": a[:, :1] * 2, "d": a.T @ a, "v": numpy.arange(rows + 4.0) * 0.3,
        "w": numpy.arange(rows + 4)[::-1] * 2, "g": numpy.where(a > 0, a, numpy.nan),
        "i": numpy.array([0, rows - 1, -1]), "u": numpy.arange(200, 230, dtype=numpy.uint8).reshape(5, 6),
    }  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("target", "calls"), [("cpu", CALLS[::3]), ("interpret", CALLS)])
def test_functions_of_whole_arrays_are_recorded_and_compiled(target: str, calls: tuple[str, ...]) -> None:
    there = values(5, 7)
    with numpy.errstate(all="ignore"):
        wanted = [eval(text, {"np": numpy, "k": 2, **there}) for text in calls]
    with compiling(target, 0):
        arrays = {name: np.array(array) for name, array in there.items()}
        flush()
        STATE.last = []
        found = [eval(text, {"np": np, "k": 2, **arrays}) for text in calls]
        assert not STATE.last
        assert len(STATE.recording.statements) >= len(calls)
        for text, one, two in zip(calls, wanted, found, strict=True):
            assert (one.shape, one.dtype) == (two.shape, two.dtype), text
        flush()
        for text, one, two in zip(calls, wanted, found, strict=True):
            assert same(one, two), text
        assert not reasons()


@pytest.mark.parametrize(
    "text",
    [
        "np.concatenate((a, v))", "np.concatenate((a, b), axis=2)", "np.stack((a, v))", "np.stack((a, b), axis=5)",
        "np.einsum('ij,jk->ik', a, a)", "np.einsum('ij->k', a)", "np.tile(a, -1)", "np.repeat(a, -1)", "np.pad(a, -1)",
        "np.roll(a, 1, axis=4)", "np.hstack((a, v))", "np.inner(v, a[0])", "np.repeat(a, 2, axis=9)",
    ],
)  # fmt: skip
def test_what_numpy_refuses_is_refused_at_its_line(text: str) -> None:
    there = values(3, 5)
    with pytest.raises((ValueError, IndexError)) as wanted:  # AxisError is both
        eval(text, {"np": numpy, **there})
    with pytest.raises(wanted.type, match=re.escape(str(wanted.value))):
        eval(text, {"np": np, **{name: np.array(array) for name, array in there.items()}})


@pytest.mark.parametrize(
    "text", ["repeat(a)", "pad(a)", "tile(a)", "roll(a)", "isclose(a)", "vdot(a)", "stack()"]
)
def test_what_is_called_without_an_argument_raises_what_numpy_raises(text: str) -> None:
    a = numpy.ones((3, 5))
    with pytest.raises(TypeError) as wanted:
        eval(f"np.{text}", {"np": numpy, "a": a})
    with pytest.raises(TypeError, match=re.escape(str(wanted.value))):
        eval(f"np.{text}", {"np": np, "a": np.array(a)})


def test_a_time_step_that_shifts_by_another_number_is_one_program() -> None:
    with compiling("cpu", 0):
        u, x = np.array(numpy.arange(8.0)), numpy.arange(8.0)
        for k in range(5):
            u, x = np.roll(u, k) + 1, numpy.roll(x, k) + 1
            assert float(u[0]) == x[0]
        assert len(STATE.programs) <= 2


def test_the_page_of_recorded_functions_is_true() -> None:
    assert recorded.PAGE.read_text() == recorded.page()
