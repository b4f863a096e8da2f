"""Random programs of recorded operations give what NumPy gives, run by NumPy, in C and in Triton's interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import appyc.numpy as lazy
from appyc.lazy.running import STATE
from tests.lazy.generator import Recorded, program


@contextmanager
def compiling(target: str, worth: int) -> Iterator[None]:
    """Programs are compiled for the target once they have computed so many elements."""
    before = STATE.target, STATE.worth
    STATE.programs.clear()
    STATE.target, STATE.worth = target, worth
    try:
        yield
    finally:
        STATE.programs.clear()
        STATE.target, STATE.worth = before


def same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, str):
        return wanted == found
    one, two = np.asarray(wanted), np.asarray(found)
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    if one.dtype.kind in "biu":
        return np.array_equal(one, two)
    return np.allclose(one, two, rtol=2e-5, atol=2e-5, equal_nan=True)


def check(recorded: Recorded) -> None:
    wanted = recorded.run(np, lambda values: values)
    found = recorded.run(lazy, lazy.array)
    for name, value in wanted.items():
        if name == "seen":
            assert len(value) == len(found["seen"])
            for one, two in zip(value, found["seen"], strict=True):
                assert same(one, two), f"seen: {one} and {two}\n{recorded}"
        else:
            assert same(value, found[name]), f"{name}: {value!r} and {found[name]!r}\n{recorded}"


@pytest.mark.parametrize("start", range(0, 1000, 100))
def test_recorded_programs_do_what_numpy_does(start: int) -> None:
    with compiling("cpu", 1 << 40):  # recorded, ordered and dropped as always, and run by NumPy
        for seed in range(start, start + 100):
            check(program(seed))


@pytest.mark.parametrize(
    ("target", "start", "count"), [("cpu", 5000, 4), ("cpu", 6000, 4), ("interpret", 7000, 3)]
)
def test_compiled_programs_do_what_numpy_does(target: str, start: int, count: int) -> None:
    with compiling(target, 0):
        for seed in range(start, start + count):
            check(program(seed, most=14))
        reasons = [p.reason for p in STATE.programs.values() if p.reason]
    assert all("complex numbers have no order" in reason for reason in reasons), reasons


def test_the_generator_writes_all_kinds_of_statements() -> None:
    texts = [line for seed in range(60) for line in program(seed).lines]
    for kind in ("+=", "[...] =", "seen.append", "np.where", "del ", "] = ", ".sum(axis=0)", ".T"):
        assert any(kind in line for line in texts), kind
