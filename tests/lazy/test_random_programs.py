"""Random programs of recorded operations give what NumPy gives, run by NumPy, in C and in Triton's interpreter."""

from __future__ import annotations

import numpy
import pytest

from tests.lazy.fuzz import compiling, difference, leaving_all, reasons
from tests.lazy.generator import Recorded, program


@pytest.mark.sampled
@pytest.mark.parametrize("start", range(0, 500, 250))
def test_recorded_programs_do_what_numpy_does(start: int) -> None:
    with compiling("cpu", 1 << 40):  # recorded, ordered and dropped as always, and run by NumPy
        for seed in range(start, start + 100):
            assert not difference(program(seed)), seed


@pytest.mark.sampled
@pytest.mark.parametrize("at_once", [5, 8, 1000])
def test_what_is_computed_at_once_stands_among_what_is_recorded(at_once: int) -> None:
    with compiling("cpu", 1 << 40, at_once):
        for seed in range(20000, 20050):
            assert not difference(program(seed)), seed


def test_what_stays_recorded_is_what_numpy_has() -> None:
    with leaving_all(), compiling("cpu", 1 << 40):
        for seed in range(9000, 9100):
            assert not difference(program(seed)), seed


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("target", "start", "count"), [("cpu", 5000, 4), ("cpu", 6000, 4), ("interpret", 7000, 3)]
)
def test_compiled_programs_do_what_numpy_does(target: str, start: int, count: int) -> None:
    with compiling(target, 0):
        for seed in range(start, start + count):
            assert not difference(program(seed, most=14)), seed
        found = reasons()
    assert all("complex numbers have no order" in reason for reason in found), found


FOUND = {
    "the square of a boolean is a small integer": (
        {"a": numpy.array([True, False, True])},
        ("x = np.square(a)", "x -= a", "np.putmask(x, x >= 0, 2)"),
    ),
    "numbers never change": (
        {"a": numpy.array([1.5, 2.0])},
        ("x = a.prod()", "x.fill(7)", "y = x + 1", "x.put(0, 5)", "z = x * a"),
    ),
    "stores through a view of one element": (
        {"a": numpy.arange(8.0)},
        ("x = abs(a)", "y = x[..., 2]", "y.reshape(-1)[0] = 1", "x[1:][..., 2][None][0] = 7", "z = x * 2"),
    ),
}
"""Programs that did not do what NumPy does."""


@pytest.mark.sampled
@pytest.mark.parametrize("target", ["cpu", "interpret"])
@pytest.mark.parametrize("name", FOUND)
def test_programs_that_were_wrong_are_right(name: str, target: str) -> None:
    inputs, lines = FOUND[name]
    with compiling(target, 0):
        assert not difference(Recorded(inputs, lines))


def test_the_generator_writes_all_kinds_of_statements() -> None:
    texts = [line for seed in range(60) for line in program(seed).lines]
    for kind in ("+=", "[...] =", "seen.append", "np.where", "del ", "] = ", ".sum(axis=0)", ".T"):
        assert any(kind in line for line in texts), kind
