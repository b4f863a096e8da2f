"""Objects that a function makes: uses that keep it in Python, where they do what Python does."""

from __future__ import annotations

from typing import Any

import pytest

import appyc
from tests.programs.made_objects import Step, Vector


def of_the_iteration_before(n):  # type: ignore[no-untyped-def]
    total, old, last = 0, Vector(0, 0), Vector(1, 1)
    for i in range(n):
        old = last
        last = Vector(i, i)
        total = total * 3 + old.x
    return total


def bound_in_the_loop(n):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(n):
        if i > 0:
            old = last  # noqa: F821  (it is bound by the iteration before)
        last = Vector(i, i)  # noqa: F841
        if i > 0:
            total = total * 3 + old.x
    return total


def one_of_two(n):  # type: ignore[no-untyped-def]
    p = Vector(1, 2) if n > 2 else Vector(3, 4)
    for _ in range(n):
        p.x += 1
    return p.x


def _made(n):  # type: ignore[no-untyped-def]
    if n > 2:
        return Vector(1, 2)
    return Vector(3, 4)


def returned_by_branches(n):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(n):
        total += _made(i).x
    return total


def in_a_list(n):  # type: ignore[no-untyped-def]
    points = [Vector(k, k) for k in range(n)]
    total = 0
    for p in points:
        p.x += 1
        total += p.x
    return total


def with_another_field(n):  # type: ignore[no-untyped-def]
    p = Vector(0, 0)
    for k in range(n):
        p.x += k
    p.z = n  # type: ignore[attr-defined]
    return p.x + p.z  # type: ignore[attr-defined]


def compared(n):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(n):
        p, q = Step(i), Step(2)
        total += (p == q) + 2 * (p is q)
    return total


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
@pytest.mark.parametrize(
    "fn",
    [
        of_the_iteration_before,
        bound_in_the_loop,
        one_of_two,
        returned_by_branches,
        in_a_list,
        with_another_field,
        compared,
    ],
)
def test_what_variables_would_not_do_runs_in_python(fn: Any) -> None:
    compiled = appyc.jit(fn, cache=False)
    assert [compiled(n) for n in (0, 2, 6)] == [fn(n) for n in (0, 2, 6)]
    with pytest.raises(appyc.CompileError):
        appyc.jit(fn, strict=True, cache=False)(6)


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_frozen_object_refuses_as_in_python() -> None:
    def f(n):  # type: ignore[no-untyped-def]
        step = Step(n)
        step.row = 3  # type: ignore[misc]
        return step.row

    with pytest.raises(AttributeError):
        appyc.jit(f, cache=False)(6)


class _WithoutRoom:
    __slots__ = ("a",)

    def __init__(self):
        self.a = 1
        self.b = 2  # noqa: PLE0237  (what is tested)


def test_a_field_without_a_slot_is_an_error_of_pythons():
    def made():
        return _WithoutRoom().a

    with pytest.warns(appyc.FallbackWarning), pytest.raises(AttributeError, match="'b'"):
        appyc.jit(made, cache=False)()
