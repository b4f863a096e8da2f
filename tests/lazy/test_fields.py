"""Operations on fields of rows, `a["x"]`: by NumPy, at once, without a copy, and in order with what is recorded."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy
import pytest

import appyc.numpy as np
from appyc.lazy.running import STATE, flush

pytestmark = pytest.mark.at_once

MANY = 20_000


def pending() -> int:
    return len(STATE.recording.statements)


def rows(count: int = MANY) -> tuple[Any, Any]:
    """The same rows for NumPy and recorded."""
    plain = numpy.zeros(count, [("x", float), ("n", "i4"), ("y", float)])
    plain["x"], plain["n"], plain["y"] = numpy.arange(count) / 7, numpy.arange(count), 1.0
    return plain, np.asarray(plain)


def negate(a: Any) -> None:
    a["x"] = -a["x"]


def turn_around(a: Any) -> None:
    a["x"] = a["x"][::-1]


def add(a: Any) -> None:
    a["x"] += a["y"] * 2
    a["n"] -= 1


def replace(a: Any) -> None:
    a["n"] = a["x"]
    a["y"][1:] = 3
    a["x"] = 0.5


@pytest.mark.parametrize("change", [negate, turn_around, add, replace])
def test_changes_of_fields_are_made_at_once_however_large(change: Any) -> None:
    plain, found = rows()
    held = found["x"], found["n"][::2]
    flush()
    for _ in range(3):
        change(plain)
        change(found)
        assert pending() == 0
    assert numpy.array_equal(numpy.asarray(found), plain)
    assert numpy.array_equal(held[0].numpy(), plain["x"])
    assert numpy.array_equal(held[1].numpy(), plain["n"][::2])


FIELD_CALLS = (
    "a['x'].sum()", "a['x'] + a['y']", "2 * a['n']", "m.sqrt(a['x'])", "m.where(a['n'] > 5, a['x'], 0.0)",
    "a['x'].max() - a['x'].min()", "a['x'][3:] * a['y'][:-3]", "a['x'].argmax()", "m.add(a['x'], b)",
)  # fmt: skip


@pytest.mark.parametrize("text", FIELD_CALLS)
def test_operations_on_fields_run_at_once_however_large(text: str) -> None:
    plain, found = rows()
    b = numpy.arange(float(MANY))
    wanted = eval(text, {"a": plain, "m": numpy, "b": b})
    scope = {"a": found, "m": np, "b": np.asarray(b)}
    flush()
    for _ in range(2):
        out = eval(text, scope)
        assert pending() == 0
        assert out.dtype == wanted.dtype
        assert isinstance(out, numpy.generic) == isinstance(wanted, numpy.generic)
        assert numpy.array_equal(out, wanted)


def test_fields_are_read_without_a_copy() -> None:
    count = 100_000
    _, found = rows(count)
    float(found["x"].sum())
    tracemalloc.start()
    float(found["x"].sum())
    found["x"] += 1.0
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * count / 2


def test_tables_of_fields_are_recorded() -> None:
    _, found = rows(2_000)
    table = found["x"][:, None] * found["y"]
    assert pending() > 0
    assert float(table.sum()) == pytest.approx(float(found["x"].sum()) * 2_000)


def test_fields_that_are_not_there_raise_numpys_errors() -> None:
    plain, found = rows(5)
    for array in (plain, found):
        with pytest.raises(ValueError, match="no field of name z"):
            array["z"]
        with pytest.raises(ValueError, match="no field of name z"):
            array["z"] = 1.0
        with pytest.raises(ValueError, match="could not broadcast"):
            array["x"] = numpy.zeros(3)


def test_read_only_rows_stay_so() -> None:
    _, found = rows(5)
    found["x"] += 1.0
    found.flags.writeable = False
    for change in (negate, add):
        with pytest.raises(ValueError, match="read-only"):
            change(found)
