"""Numbers made of the same arrays are computed together when one of them is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import appyc
import appyc.numpy as np
from appyc.lazy.running import STATE, flush

SIZE = 20_000
"""Operations on fewer elements are computed at once."""


@pytest.fixture(autouse=True)
def _nothing_is_known() -> Iterator[None]:
    flush()
    STATE.habits.clear()
    STATE.watch.alone.clear()
    yield
    STATE.watch.alone.clear()


def given(k: int = 0) -> Any:
    x = np.arange(float(SIZE)) + k
    flush()
    return x


def is_computed(number: Any) -> bool:
    return number.buffer.memory is not None


def test_sums_of_one_array() -> None:
    x = given()
    total, square, largest = x.sum(), (x * x).sum(), (x - 1.0).max()
    assert float(total) == SIZE * (SIZE - 1) / 2
    assert is_computed(square)
    assert is_computed(largest)
    assert float(square) == pytest.approx(float((numpy.arange(SIZE) ** 2.0).sum()))
    assert float(largest) == SIZE - 2


def test_what_they_are_made_of_is_not_stored_for_them() -> None:
    x, y = given(), given(1)

    def gradients() -> list[Any]:
        error = x * 0.5 - y
        return [(error * x).sum(), (error * y).sum()]

    one, two = gradients()
    float(one)
    assert is_computed(two)
    (ran,) = STATE.last
    assert ran.program is not None
    assert len(ran.program.text.returned) == 2, "the two numbers"


def test_numbers_of_numbers() -> None:
    x = given()
    mean = x.sum() / SIZE
    deviation = ((x * x).sum() / SIZE) ** 0.5
    float(mean)
    assert is_computed(deviation)


@appyc.jit
def inner(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


def test_numbers_that_calls_return() -> None:
    x, y = given(), given(1)
    with appyc.deferred():
        one, two = inner(x, y), inner(x, x)
    assert float(one) == pytest.approx(float(numpy.asarray(x) @ numpy.asarray(y)))
    assert is_computed(two)


def test_other_arrays_are_not_read_for_them() -> None:
    x, y, z = given(), given(1), given(2)
    total, other, mostly = x.sum(), y.sum(), (x * y * z).sum()
    float(total)
    assert not is_computed(other)
    assert not is_computed(mostly)
    assert float(other) == SIZE * (SIZE + 1) / 2


def test_arrays_stay_recorded() -> None:
    x = given()
    total, double = x.sum(), x * 2.0
    float(total)
    assert not is_computed(double)


def test_a_number_that_went_unread_is_left_alone() -> None:
    def step(x: Any) -> tuple[Any, Any]:
        return x.sum(), (x * x).max()

    x = given()
    for computed in (True, False, False):
        total, unread = step(x)
        float(total)
        assert is_computed(unread) == computed
        del unread
    _, read = step(x)
    assert float(read) == (SIZE - 1.0) ** 2


def test_a_number_that_is_read_goes_on_being_computed_with_others() -> None:
    x = given()
    for _ in range(3):
        total, square = x.sum(), (x * x).sum()
        float(total)
        assert is_computed(square)
        float(square)
        del square


def test_numbers_see_what_was_there() -> None:
    """Whatever is changed before and behind them, and whether that has to run."""
    x, expected = given(), numpy.arange(float(SIZE))
    first = x.sum()
    x += 1.0
    second = (x * x).sum()
    x[:10] = 0.0
    third = x.sum()
    wanted = [expected.sum(), ((expected + 1) ** 2).sum(), (expected + 1)[10:].sum()]
    for order in ((1, 0, 2), (2, 1, 0), (0, 1, 2)):
        numbers = [first, second, third]
        assert [float(numbers[k]) for k in order] == pytest.approx([wanted[k] for k in order])
        x = given()
        first = x.sum()
        x += 1.0
        second = (x * x).sum()
        x[:10] = 0.0
        third = x.sum()
