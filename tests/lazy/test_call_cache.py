"""What was recorded before is recorded again: by the extension as by the functions in Python."""

from __future__ import annotations

import gc
import threading

import numpy
import pytest

import appyc.numpy as np
from appyc.lazy import _nodes, call_cache
from appyc.lazy._nodes import View
from appyc.lazy.running import STATE, flush
from appyc.lazy.views import form_of

CALLS = (
    "a + b", "a - 2", "2.5 / a", "a ** 2", "a ** -1.5", "2 ** k", "k ** 3", "k // 7", "k + 300", "u + 200", "u * True",
    "a < b", "a == 1", "-a", "abs(k)", "~k", "np.sqrt(a)", "np.minimum(a, row)", "np.arctan2(a, 2)",
    "a * numpy.float32(2)",
    "np.add(a, b, out=c)", "np.sqrt(a, out=c)", "np.where(k > 1, a, 0.5)", "np.where(k > 1, k, k)", "np.clip(a, 1, 2)",
    "np.linalg.norm(a)",
    "np.roll(a, 1, axis=0)",
    "np.pad(a, 1)",
    "a.sum()", "a.sum(axis=0)", "np.sum(a, axis=(0, 1))", "np.sum(a, 1, keepdims=True)", "a.mean(-1)", "k.max(axis=0)",
    "a.std(ddof=1)", "k.argmin(axis=1)", "a.cumsum(axis=1)", "a @ m", "row @ m", "np.dot(row, row)", "np.zeros((3, 4))",
    "np.zeros(5, dtype=numpy.int32)", "np.ones((2, 3), 'float32')", "np.empty(3) * 0", "np.zeros_like(k)",
    "np.ones_like(a, dtype=int)", "a.astype(numpy.float32)", "a.copy()", "a.sum() * 2", "a.T", "a[1:].T + 1", "m.T.T",
    "operator.iadd(a, b)", "operator.imul(a[1:], 2)", "operator.iadd(a[1:], a[:-1])", "operator.ipow(a, 2)",
    "operator.isub(k, 3)", "a.__setitem__((slice(1, None),), b[1:])", "a.__setitem__(0, 7)", "k.__setitem__(1, 5)",
    "a.__setitem__(0, row)", "a.__setitem__((slice(1, None),), a[:-1])", "k.__setitem__(0, k[1])",
    "u.__setitem__(0, 200)",
)  # fmt: skip


def arguments() -> dict[str, object]:
    grid = numpy.arange(12.0).reshape(3, 4)
    values = {
        "a": grid + 1, "b": grid % 5 + 0.5, "c": numpy.zeros((3, 4)), "k": grid.astype(numpy.int64),
        "u": grid.astype(numpy.uint8), "row": numpy.arange(4.0), "m": numpy.arange(16.0).reshape(4, 4),
    }  # fmt: skip
    return {name: np.array(array) for name, array in values.items()}


def recorded(text: str) -> list[tuple[object, ...]]:
    """The statements of a call, with operands by their names."""
    flush()
    scope = arguments()
    flush()
    names = {id(value.buffer): name for name, value in scope.items()}
    scope.update(numpy=numpy, np=np, operator=__import__("operator"))
    result = eval(text, scope)
    out = []
    for statement in STATE.recording.statements:
        operands = [
            (
                "own" if o.buffer is None else names.get(id(o.buffer), "made"),
                tuple(form_of(s, []) for s in o.path),
                o.shape,
            )
            if isinstance(o, View)
            else (type(o), o)
            for o in statement.operands
        ]
        target = statement.target()
        path = None if statement.path is None else tuple(form_of(s, []) for s in statement.path)
        out.append((statement.operation, operands, names.get(id(target)), path, statement.shape))
    if isinstance(result, View):
        out.append((type(result), result.shape, result.dtype, result.is_straight, result.buffer.is_number))
        out.append((result.ghost().strides, tuple(form_of(s, []) for s in result.path)))
    else:
        out.append((type(result),))
    return out


def test_a_call_that_is_known_is_recorded_as_the_first_of_its_kind() -> None:
    for text in CALLS:
        one, two, three, four = (recorded(text) for _ in range(4))
        assert one == two == three == four, text


def test_most_calls_are_known_the_third_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the test before this one says nothing."""
    seen: list[object] = []
    a, b = np.array(numpy.ones((5, 7))), np.array(numpy.ones((5, 7)))

    def run() -> None:
        c = np.sqrt(a + b) * 2.0
        c += a
        c[1:-1] = b[2:]
        np.where(c > 1, c, 0.0).sum(axis=0)
        np.zeros((4, 4))

    run()
    run()
    monkeypatch.setattr(call_cache.numpy_functions, "call", lambda *args: seen.append(args))
    monkeypatch.setattr(call_cache.ufuncs, "pointwise", lambda *args: seen.append(args))
    run()
    assert seen == []


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**63, -(2**70), 10**30])
def test_integers_out_of_range_raise_though_others_of_their_type_did_not(value: int) -> None:
    k = np.array(numpy.arange(4, dtype=numpy.int32))
    assert (k + 1).tolist() == [1, 2, 3, 4]
    with pytest.raises(OverflowError):
        k + value
    k[0] = 7
    with pytest.raises(OverflowError):
        k[0] = value
    assert k.tolist() == [7, 1, 2, 3]


def test_what_a_place_stores_into_itself_is_nothing() -> None:
    a = np.array(numpy.arange(6.0))
    flush()
    a[1:-1] += 1.0
    assert len(STATE.recording.statements) == 1
    a[1:-1] = a[2:]  # which is another place
    assert len(STATE.recording.statements) == 2
    assert a.tolist() == [0, 3, 4, 5, 5, 5]
    a[...] = a
    a.T[...] = a
    assert a.tolist() == [0, 3, 4, 5, 5, 5]


def test_a_number_is_stored_in_the_targets_type_and_powers_know_their_exponents() -> None:
    k, a = np.array(numpy.arange(3)), np.array([4.0, 9.0])
    for value, wanted in ((2, 2), (2.9, 2), (True, 1), (-1, -1)):
        k[0] = value
        assert k[0] == wanted
    for _ in range(2):
        assert [(a**e).tolist() for e in (0.5, 2, -1, 2.0)] == [[2, 3], [16, 81], [1 / 4, 1 / 9], [16, 81]]
        assert ((a**2).dtype, (k**2).dtype, (k**2.0).dtype) == (float, numpy.int64, float)
    with pytest.raises(ValueError, match="negative integer powers"):
        np.sum(k**-1)


def test_threads_may_record_and_flush_at_the_same_time() -> None:
    a = np.array(numpy.arange(50.0))
    wrong = []

    def run(factor: float) -> None:
        for _ in range(300):
            x = a * factor
            x += 1.0
            if float((x - 1.0)[3]) != 3 * factor:
                wrong.append(factor)

    threads = [threading.Thread(target=run, args=(float(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_known_functions_look_like_the_functions_they_are() -> None:
    assert np.sum.__name__ == "sum"
    assert np.sum.__doc__ == numpy.sum.__doc__
    assert isinstance(np.add, numpy.ufunc)
    assert (np.add.nin, np.add.__name__) == (2, "add")
    assert repr(np.add) == repr(numpy.add)
    assert np.ndarray.sum is np.sum
    with pytest.raises(TypeError):
        _nodes.Known(len, None, np.ndarray, np.ndarray, len, len, 1)
    with pytest.raises(ValueError, match="that loses"):
        _nodes.Known(len, STATE.recording, np.ndarray, np.ndarray, len, len, 1, what="loses")
    gc.collect()
