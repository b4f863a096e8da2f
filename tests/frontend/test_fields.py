"""Fields of objects that compiled code assigns, at calls one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appyc


class Account:
    def __init__(self, **fields: Any) -> None:
        self.count, self.total = 0, 0.0
        vars(self).update(fields)


def add(account, other, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        account.count += 1
        other.count += 2
        account.total += other.count
    return account.count


def test_two_arguments_may_be_one_object():
    compiled = appyc.jit(add, cache=False)
    for share in (False, True, False):
        mine, theirs = Account(), Account()
        expected = add(mine, mine if share else theirs, 4)
        own, others = Account(), Account()
        assert compiled(own, own if share else others, 4) == expected
        assert (vars(own), vars(others)) == (vars(mine), vars(theirs))


@pytest.mark.parametrize(
    "fields", [{"total": 1}, {"total": np.float64(1)}, {"count": 1.5}, {"count": 2**70}, {"count": True}]
)
def test_a_field_may_have_another_type_at_the_next_call(fields):
    compiled = appyc.jit(add, cache=False)
    compiled(Account(), Account(), 3)
    mine, own = Account(**fields), Account(**fields)
    assert compiled(own, Account(), 3) == add(mine, Account(), 3)
    assert vars(own) == vars(mine)
    assert [*map(type, vars(own).values())] == [*map(type, vars(mine).values())]


class Guarded(Account):
    def __setattr__(self, name, value):  # type: ignore[no-untyped-def]
        super().__setattr__(name, min(value, 2))


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_class_that_watches_its_fields_runs_in_python():
    own, mine = Guarded(), Guarded()
    assert appyc.jit(add, cache=False)(own, Account(), 5) == add(mine, Account(), 5) == 2
    assert vars(own) == vars(mine)


class Sum:
    def __init__(self) -> None:
        self.total = 0.0

    def put(self, x):  # type: ignore[no-untyped-def]
        self.total += x

    def __call__(self, n):  # type: ignore[no-untyped-def]
        for i in range(n):
            self.put(i * 0.5)
        return self.total


def test_a_method_of_another_object_keeps_to_that_object():
    compiled = appyc.jit(Sum.__call__, cache=False)
    one, other = Sum(), Sum()
    assert compiled(one, 5) == 5.0
    one.put = other.put  # type: ignore[method-assign]
    assert compiled(one, 5) == 5.0
    assert (one.total, other.total) == (5.0, 5.0)


class Holder:
    def __init__(self, total: Any) -> None:
        self.total = total

    def add(self, a):  # type: ignore[no-untyped-def]
        for i in range(a.shape[0]):
            self.total += a[i]
        return 0


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("total", [None, "text", (1, 2)])
@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_a_field_that_is_no_number_is_not_added_to_in_compiled_code(total, strict):
    compiled = appyc.jit(Holder.add, cache=False, strict=strict)
    own, mine = Holder(1), Holder(total)
    assert (compiled(own, np.ones(3)), own.total) == (0, 4)
    own.total = total
    if strict:
        with pytest.raises(appyc.CompileError, match="where a number is needed"):
            compiled(own, np.ones(3))
    elif isinstance(total, tuple):
        compiled(own, np.ones(3)), mine.add(np.ones(3))
        assert np.array_equal(own.total, mine.total)
    else:
        with pytest.raises(TypeError):
            compiled(own, np.ones(3))
        assert own.total is total
