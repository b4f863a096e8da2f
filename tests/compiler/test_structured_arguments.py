"""Structured arrays and records as arguments: which calls the dispatcher makes, and what is left to Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appyc

FIELDS = [("id", "i8"), ("price", "f8"), ("side", "i4"), ("size", "f8")]
ALIGNED = np.dtype(FIELDS, align=True)


def priced(orders: Any, others: Any) -> None:
    for i in range(len(orders)):
        orders[i]["price"] = others[i]["size"] + orders[i]["id"]


def orders(n: int = 4, dtype: Any = ALIGNED) -> np.ndarray:
    out: np.ndarray = np.zeros(n, dtype)
    out["id"], out["size"] = np.arange(n), 0.5
    return out


@pytest.fixture
def dispatched() -> Any:
    """A jitted function that says which calls were not made by the dispatcher."""
    missed: list[object] = []
    jitted = appyc.jit(priced, strict=True)
    jitted(orders(), orders())
    jitted.before = lambda *args, **keywords: missed.append(args)
    return jitted, missed


def test_the_dispatcher_takes_equal_dtypes_strides_and_lengths(dispatched):
    jitted, missed = dispatched
    same = np.dtype({"names": [n for n, _ in FIELDS], "formats": [f for _, f in FIELDS],
                     "offsets": [0, 8, 16, 24], "itemsize": 32})  # fmt: skip
    for given in (orders(), orders(8)[::-2], orders(0), orders(1), orders(dtype=same)):
        jitted(given, orders(len(given), same))
        assert np.array_equal(given["price"], given["id"] + 0.5)
    whole = orders(8)
    jitted(whole[:4], whole[4:])
    assert not missed


def odd(n: int) -> np.ndarray:
    """Aligned records at an address that is not."""
    out = np.zeros(n * ALIGNED.itemsize + 1, np.uint8)[1:].view(ALIGNED)
    out[:] = orders(n)
    return out


@pytest.mark.parametrize("given", [orders(dtype=FIELDS), orders(dtype=[*FIELDS, ("more", "f8")]), odd(4)])
def test_other_dtypes_and_unaligned_records_need_other_versions(dispatched, given):
    jitted, missed = dispatched
    jitted(given, orders())
    assert missed
    assert np.array_equal(given["price"], given["id"] + 0.5)


def test_one_array_under_two_names_is_not_the_usual_version(dispatched):
    jitted, missed = dispatched
    given = orders()
    jitted(given, given)
    assert missed
    assert np.array_equal(given["price"], given["id"] + 0.5)


def test_a_read_only_array_is_not_written(dispatched):
    jitted, missed = dispatched
    given = orders()
    given.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        jitted(given, orders())
    assert missed
    assert not given["price"].any()


def test_a_record_that_owns_its_memory_is_written():
    @appyc.jit(strict=True)
    def fill(record, n):
        for i in range(n):
            record["id"] += i

    record = orders()[1].copy()
    fill(record, 4)
    fill(record, 4)
    assert record["id"] == 13


RECORDS = orders()


@pytest.mark.parametrize("given", [
    np.zeros(2, [("x", "S3"), ("price", "f8")]), np.zeros(2, [("price", ">f8")]), np.zeros(2, [("price", "M8[s]")]),
    np.zeros(2, ALIGNED).view(np.recarray), np.zeros((2, 2), ALIGNED), np.zeros((), ALIGNED),
    np.zeros(2, {"names": ["price", "id"], "formats": ["f8", "i8"], "offsets": [8, 0]}),
])  # fmt: skip
def test_what_is_not_supported_runs_in_python(given):
    def price(a):
        return a["price"].sum() if a.dtype["price"].kind == "f" else a["price"][0]

    jitted = appyc.jit(price)
    with pytest.warns(appyc.FallbackWarning):
        found = [jitted(given) for _ in range(5)]
    assert found == [price(given)] * 5


def test_a_structured_array_of_the_module_runs_in_python():
    @appyc.jit
    def price(k):
        return RECORDS[k]["size"]

    with pytest.warns(appyc.FallbackWarning, match="a structured array from outside"):
        assert [price(1) for _ in range(5)] == [0.5] * 5


def test_structured_arrays_that_are_filled_are_made_in_python():
    @appyc.jit
    def full(n):
        return np.full(n, 2, ALIGNED), np.ones(n, ALIGNED)

    with pytest.warns(appyc.FallbackWarning):
        found = [full(2) for _ in range(5)]
    assert all(
        (one[name] == 2 + 0 * two[name]).all() and (two[name] == 1).all()
        for one, two in found
        for name, _ in FIELDS
    )


def test_what_is_returned_has_the_dtype_and_no_other_memory():
    @appyc.jit(strict=True)
    def positive(x):
        out = np.zeros(len(x), ALIGNED)
        k = 0
        for i in range(len(x)):
            if x[i] > 0:
                out[k]["price"] = x[i]
                k += 1
        return out[:k], out[::-2]

    for _ in range(2):
        some, others = positive(np.array([1.0, -1.0, 2.0]))
        assert some.dtype == ALIGNED
        assert some["price"].tolist() == [1.0, 2.0]
        assert others["price"].tolist() == [0.0, 1.0]
        assert not others["size"].any()
