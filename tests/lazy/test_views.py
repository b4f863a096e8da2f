"""Which views of an array are known by their steps, and in which order results lie in memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import appyc
import appyc.numpy as np
from appyc.lazy import evaluation
from appyc.lazy.order import inverse, memory_order
from appyc.lazy.running import STATE, flush
from appyc.lazy.views import LONG_PATH, steps_between, view_of
from tests.lazy.fuzz import compiling, reasons


@st.composite
def views(draw: st.DrawFn) -> tuple[numpy.ndarray, numpy.ndarray]:
    """An array, itself a view perhaps, and a view of it."""
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    whole = view = numpy.zeros(shape)
    for part in range(draw(st.integers(1, 2))):
        if part:
            whole = view
        items = []
        for extent in view.shape:
            items.append(
                draw(
                    st.one_of(
                        st.integers(0, extent - 1),
                        st.builds(slice, st.none(), st.none(), st.sampled_from((1, -1, 2, -2))),
                        st.builds(slice, st.integers(0, extent - 1), st.none()),
                    )
                )
            )
        view = view[(*items, ...)]
        view = view.transpose(draw(st.permutations(range(view.ndim))))
        if draw(st.booleans()):
            view = view[None]
    return whole, view


@given(views())
def test_slices_and_transposes_are_found_from_strides(pair) -> None:
    whole, view = pair
    steps = steps_between(whole, view)
    assert steps is not None
    found = view_of(whole, steps)
    assert found.shape == view.shape
    assert numpy.shares_memory(found, view)
    view[...] = 1
    assert (found == 1).all()
    assert whole.sum() == view.size


def test_other_views_have_no_steps() -> None:
    a = numpy.zeros((4, 4))
    for view in (a.diagonal(), a.reshape(16)[::3], a.view(numpy.int64), numpy.broadcast_to(a, (2, 4, 4))):
        assert steps_between(a, view) is None


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2)])
def test_results_lie_in_memory_as_in_numpy(axes: tuple[int, ...]) -> None:
    values = numpy.arange(24.0).reshape(2, 3, 4)
    one, ours = values.transpose(axes), np.array(values).transpose(axes)
    assert memory_order([one], 3) == tuple(sorted(range(3), key=lambda k: -one.strides[k]))
    assert inverse(axes) == numpy.argsort(axes).tolist() or inverse(axes) == tuple(numpy.argsort(axes))
    for make in (lambda a: a + 1, lambda a: a[::-1, :, 1:] * a[:, :, 1:], lambda a: a.sum(axis=1),
                 lambda a: a.cumsum(axis=0), lambda a: a.copy("K"), lambda a: a.astype("f"), lambda a: a[[0, 1]],
                 lambda a: a[:, [1, 0]],
                 lambda a: a.astype("f", order="C"), lambda a: a[:, ::-1].copy()):  # fmt: skip
        wanted, found = make(one), make(ours)
        assert found.strides == wanted.strides
        flat, theirs = found.reshape(-1), wanted.reshape(-1)
        flat += 1
        theirs += 1
        assert found.tolist() == wanted.tolist()
        assert flat.tolist() == theirs.tolist()


@pytest.mark.parametrize("worth", [0, 1 << 40])
def test_a_flat_view_of_a_copy_in_another_order_is_written(worth: int) -> None:
    with compiling("cpu", worth):
        b = np.array(numpy.arange(6.0).reshape(2, 3)).T * 1.0
        flat = b.reshape(-1)
        flat += 1.25
        assert flat.tolist() == [1.25, 4.25, 2.25, 5.25, 3.25, 6.25]
        assert b.T.tolist() == [[0, 1, 2], [3, 4, 5]]


@appyc.jit(defer=True)
def picked(a, places, out):
    for k in range(places.shape[0]):
        out[k] = a[places[k]]


@pytest.mark.parametrize("worth", [0, 1 << 40])
def test_an_error_of_a_flush_names_the_recorded_line(worth: int) -> None:
    flush()  # what other tests have left
    with compiling("cpu", worth):
        out = np.zeros(2)
        picked(np.arange(5.0) + 1, np.array([0, 9]), out)
        line = test_an_error_of_a_flush_names_the_recorded_line.__code__.co_firstlineno + 5
        later = out + 1
        with pytest.raises(IndexError) as caught:
            print(later)
        assert any(f"recorded at {__file__}:{line}" in note for note in caught.value.__notes__)
        with pytest.raises(RuntimeError, match="never computed"):
            print(later)
        assert STATE.recording.statements == []


@pytest.mark.parametrize("read", [numpy.asarray, numpy.array, memoryview, str])
@pytest.mark.parametrize("size", [0, 1])
def test_whoever_reads_first_gets_the_error_of_a_flush(read: Callable[[Any], Any], size: int) -> None:
    """NumPy asks for a buffer before all else, and drops what is raised then."""
    flush()
    with compiling("cpu", 0):
        out = np.array(numpy.zeros(size))
        picked(np.arange(5.0), np.array([0, 9, 0]), out)
        with pytest.raises(IndexError):
            read(out)
        assert out.tolist() == [0.0][:size]


STORES = (
    "v = a[1:]; v[i] = x", "v = a[::-2]; v[i] = x", "m[:, 1][i] = x", "m[1:, i] = x", "m[i, 1:] = x[:, None]",
    "m.T[i] = 2.5", "m[:, i] = x", "m[::-1, i] = m[0, :3]", "m[..., i] += 1", "m.T[1:, i] -= x", "m.reshape(-1)[i] = x",
    "np.add.at(a[1:], i, x)", "np.maximum.at(m[:, 2], i, 3)", "t[:, i, j] = x", "t[i, :, j] = x[:, None]",
    "t[1, i] = x[:, None]",
    "t[i, 0, j] = x", "m[m[:, 0] > 4] = m[0]", "m[m[:, 0] > 4] = 7", "t[t[:, :, 0] > 5] = x[:2]",
    "a[2:][a[2:] > 4] = 0",
    "a[i] = a[::-1][:3]", "m[i] = m[::-1][:3]", "m[[0, 0, 1]] = m[1:]",
)  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("target", ["numpy", "cpu", "interpret"])
def test_stores_through_indices_into_views_are_recorded(target: str) -> None:
    def run(text: str, namespace, convert) -> list[object]:
        names = {
            "a": numpy.arange(9.0), "m": numpy.arange(20.0).reshape(4, 5), "t": numpy.arange(24.0).reshape(3, 4, 2),
            "x": numpy.array([10.0, 20.0, 30.0]), "i": numpy.array([1, -1, 0]), "j": numpy.array([0, 1, 1]),
        }  # fmt: skip
        scope = {k: convert(v) for k, v in names.items()} | {"np": namespace}
        if namespace is np:
            flush()
        exec(text, scope)
        assert namespace is numpy or STATE.recording.statements, text
        return [numpy.asarray(scope[name]).tolist() for name in names]

    with compiling("cpu" if target == "numpy" else target, 1 << 40 if target == "numpy" else 0):
        for text in STORES:
            assert run(text, np, np.array) == run(text, numpy, lambda values: values), text
        assert not reasons()


def test_values_for_places_that_a_mask_tells_are_numpys_business() -> None:
    a = np.array(numpy.arange(6.0))
    with pytest.raises(ValueError, match="cannot assign 3 input values"):
        a[a > 1] = np.array([1.0, 2.0, 3.0])
    a[a > 3] = np.array([1.0, 2.0])
    assert a.tolist() == [0, 1, 2, 3, 1, 2]


@pytest.mark.parametrize(
    "function",
    [
        lambda np, a: np.expand_dims(a, 1),
        lambda np, a: np.split(a, 2, 1)[1],
        lambda np, a: np.array_split(a, 3)[0],
        lambda np, a: np.moveaxis(a, 0, -1),
        lambda np, a: np.flip(a, 1),
        lambda np, a: np.rot90(a),
        lambda np, a: np.diagonal(a, 1),
        lambda np, a: np.squeeze(a[None], 0),
        lambda np, a: np.atleast_3d(a),
        lambda np, a: np.swapaxes(a, 0, 1)[1:],
        lambda np, a: a.ravel(),
        lambda np, a: a.ravel("K"),
        lambda np, a: a.reshape(2, -1),
        lambda np, a: a.reshape((numpy.int64(8), -1)),
    ],
)
def test_places_of_views_are_each_arrays_own(function) -> None:
    """Where a view is, is looked up for the next array with the same shape; what is stored is its own."""
    for dtype, scale in ((float, 1.0), (float, 2.0), (numpy.int32, 3), (float, 4.0)):
        a = (numpy.arange(16).reshape(4, 4) * scale).astype(dtype)
        b = np.array(a)
        one, two = function(numpy, a), function(np, b)
        assert (one.shape, one.dtype) == (two.shape, two.dtype)
        if one.flags.writeable:
            one[0] = two[0] = 99
        assert one.tolist() == two.tolist()
        assert a.tolist() == b.tolist()


def test_wide_views_stay_read_only_and_wrong_axes_raise_each_time() -> None:
    for scale in (1.0, 2.0):
        a = np.array(numpy.arange(3.0) * scale)
        wide = np.broadcast_to(a, (2, 3))
        with pytest.raises(ValueError, match="read-only"):
            wide[0] = 1.0
        assert wide.tolist() == [a.tolist()] * 2
        with pytest.raises(numpy.exceptions.AxisError):
            np.expand_dims(a, 5)
        with pytest.raises(ValueError, match="equal division"):
            np.split(a, 2)


@pytest.mark.parametrize("shape", [(2.0, 3), 6.0, "6", (4, 2), (-1, -1), (-2, 4), ([2], 3), (True, 6)])
def test_wrong_shapes_raise_what_numpy_raises(shape) -> None:
    a = numpy.arange(6.0)
    for _ in range(2):
        with pytest.raises((TypeError, ValueError)) as expected:
            a.reshape(shape)
        np.array(a).reshape(2, 3)  # a shape that is equal, of other numbers
        with pytest.raises(expected.type):
            np.array(a).reshape(shape)


def test_chains_of_views_keep_short_paths() -> None:
    part = np.zeros((200, 6000)) * 2.0
    shaped = part
    for k in range(100):
        part = part[1:, 1:-1]
        shaped = shaped.reshape((6000, 200) if k % 2 else -1)
        assert len(part.path) <= LONG_PATH
        assert len(shaped.path) == 1
    assert all(type(step) is tuple for step in part.path)


def test_a_field_that_is_stored_into_itself_runs_nothing() -> None:
    points = np.zeros(100_000, dtype=[("x", "f8"), ("v", "f8")])
    points["v"] = 2.0
    flush()
    STATE.last = []
    points["x"] = points["x"]
    assert not STATE.last
    points["x"] = points["v"]
    points["x"] += points["v"]
    assert (numpy.asarray(points["x"]) == 4.0).all()


@pytest.mark.parametrize("count", [15, 16, 17, 33, 500])
@pytest.mark.parametrize("step", ["part", "row", "turned", "back"])
def test_a_long_chain_of_views_is_one_of_the_array(count: int, step: str) -> None:
    """Each view of a view is a step further away; 300 of them were too many for Python's stack."""
    steps = {
        "part": lambda x, i: x[1:] if i % 2 else x[:, 1:],
        "row": lambda x, i: x.reshape(-1)[1:] if x.ndim == 2 else x[1:],
        "turned": lambda x, i: x[1:, ::-1].T,
        "back": lambda x, i: x[::-1],
    }

    def chain(module):
        whole = module.arange(360_000.0).reshape(600, 600) * 2
        view = whole
        for i in range(count):
            view = steps[step](view, i)
        total = view + 1
        view[...] = 3
        return total, whole

    for found, expected in zip(chain(np), chain(numpy), strict=True):
        numpy.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["uint64", "uint8", "float32", "complex128"])
def test_the_real_part_is_set_as_by_numpy(dtype: str) -> None:
    """Of a Python number NumPy makes an array first, which wraps where the number alone would raise."""
    expected, found = numpy.zeros(3, dtype), np.zeros(3, dtype)
    expected.real = found.real = -1
    assert numpy.array_equal(expected, numpy.asarray(found))


@pytest.mark.parametrize(
    "part", [(slice(0, 3),), (slice(None), slice(1, 5)), (slice(None, None, 2),), (Ellipsis,)]
)
def test_an_array_that_a_library_function_fills_is_its_result(part: tuple[Any, ...]) -> None:
    a = np.asarray(numpy.arange(36.0).reshape(6, 6) + 0j)
    out = a[part]
    wanted = numpy.fft.fft(numpy.asarray(a), n=out.shape[-1])[: len(out)]
    assert np.fft.fft(a[: len(out)], n=out.shape[-1], out=out) is out
    numpy.testing.assert_allclose(numpy.asarray(out), wanted)


def test_a_number_that_is_stretched_over_more_than_memory_holds_is_a_view() -> None:
    whole = np.broadcast_to([2], (1 << 40, 2))
    assert (whole.shape, whole.strides, whole.flags.writeable) == ((1 << 40, 2), (0, 0), False)
    assert [part.shape for part in np.array_split(whole, 4)] == [(1 << 38, 2)] * 4
    assert whole[5:9].sum() == 16
    assert numpy.broadcast_to([[3], [4]], (2, 5)).tolist() == np.broadcast_to([[3], [4]], (2, 5)).tolist()


@pytest.mark.parametrize("view", [
    "x.T.T", "x.T.transpose(1, 0)", "x[1:].T.T[2]", "z.transpose(2, 0, 1).transpose(1, 2, 0)", "z.transpose(-1, 0, 1)",
    "z.swapaxes(0, -1)", "z[:, 1].T.reshape(-1)", "x[1:].reshape(3, 5, 1).reshape(-1)", "x[1:].reshape(-1, 3)",
    "x[2:2].reshape(0, 7)", "x[2:2].T", "x.reshape(2, 2, 5).transpose((2, 1, 0)).T[1]", "x[:1].T.reshape(5)",
    "x[:, :1].reshape(4)", "x.reshape(-2, 10)", "x.T.transpose(None)", "x.reshape((5, -1))[1:3].T.T",
    "x.T.reshape(4, 5)", "x[::-1].reshape(20)",
])  # fmt: skip
@pytest.mark.parametrize("is_pending", [False, True])
def test_views_of_turned_and_reshaped_views_are_numpys(view: str, is_pending: bool) -> None:
    """Elements, strides and order in memory, and what is stored into them is seen by the others."""

    def run(m: Any) -> list[Any]:
        x, z = m.array(numpy.arange(20.0).reshape(4, 5)), m.array(numpy.arange(24.0).reshape(2, 3, 4))
        if is_pending:
            x, z = x * 2, z + 1
        found = eval(view, {"x": x, "z": z})
        before, strides = found + 1, found.strides
        found += 100
        order = (found * 2).strides
        return [numpy.asarray(a) for a in (found, before, x, z)] + [strides, order, found.copy("K").strides]

    wanted, found = run(numpy), run(np)
    assert all(map(numpy.array_equal, found, wanted))


@pytest.mark.parametrize(
    "call",
    [
        "x.transpose(0, 2)", "x.transpose(0)", "x.T.transpose(0, 0)", "x.transpose(1.0, 0)", "x.swapaxes(0, 2)",
        "x.swapaxes(0, 1.0)", "x.reshape(-1, -2, -10)", "x.reshape(-1, -1)", "x[1:].reshape(4, 5)",
        "x.transpose([True, False])",
        "x[1:].reshape(15.0)",
    ],
)  # fmt: skip
def test_wrong_axes_and_shapes_raise_numpys_errors(call: str) -> None:
    plain, found = numpy.zeros((4, 5)), np.zeros((4, 5))
    for _ in range(2):
        with pytest.raises((ValueError, TypeError)) as error:
            eval(call, {"x": plain})
        with pytest.raises(error.type, match=re.escape(str(error.value))):
            eval(call, {"x": found})


_OF_VIEWS = (
    lambda np, x: np.moveaxis(x, 0, -1), lambda np, x: np.swapaxes(x, 0, 1), lambda np, x: np.expand_dims(x, 1),
    lambda np, x: np.squeeze(x[:1]), lambda np, x: np.flip(x, 0), lambda np, x: np.rot90(x),
    lambda np, x: np.rollaxis(x, 1), lambda np, x: np.atleast_2d(x[0]), lambda np, x: x.swapaxes(0, -1),
    lambda np, x: np.flip(x, axis=0), lambda np, x: np.expand_dims(x, axis=1), lambda np, x: x[:1].squeeze(axis=0),
)  # fmt: skip


@pytest.mark.parametrize("fn", _OF_VIEWS)
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[1:, ::2],
        lambda x: x.T[::-1],
        lambda x: x[:, None, 1:],
        lambda x: x[2:3, 1:2],
        lambda x: x[::-2].T[1:],
    ],
)
def test_functions_of_views_take_the_steps_that_they_take_of_whole_arrays(monkeypatch, fn, view):
    """The steps between a view and a view of it were looked for in its strides, for a hundred times as long."""

    def looked_for(*_args):
        raise AssertionError("steps are looked for")

    a, x = np.asarray(numpy.arange(24.0).reshape(4, 6)), numpy.arange(24.0).reshape(4, 6)
    view(a) + 1  # what whole arrays give is looked for once
    fn(np, np.asarray(view(x).copy()))
    monkeypatch.setattr(evaluation, "steps_between", looked_for)
    found, wanted = fn(np, view(a)), fn(numpy, view(x))
    assert (found.shape, found.tolist()) == (wanted.shape, wanted.tolist())
    strides = zip(wanted.shape, found.strides, wanted.strides, strict=True)
    assert all(extent == 1 or one == other for extent, one, other in strides)
    found[...] = -1.0
    wanted[...] = -1.0
    assert a.tolist() == x.tolist()
