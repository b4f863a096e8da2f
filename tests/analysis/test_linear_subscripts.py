"""What factors and constants tell of two indices, against all values in a small range."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from appyc.analysis.algebra.linear_subscripts import Bounds, Question
from appyc.analysis.sets.presburger import Presburger
from appyc.ir.affine import LinearForm

RANGE = range(-6, 7)


def linear(constant: int, **terms: int) -> LinearForm[str]:
    return LinearForm({name: factor for name, factor in terms.items() if factor}, constant)


def asked(step: int = 1) -> Question:
    """About a loop over i, inside one over o, around one over x; s is a parameter."""
    return Question("i", step, lambda name: name in ("o", "s"), {"i*s": ("i", "s")})


def value(what: LinearForm[str], at: dict[str, int]) -> int:
    return what.constant + sum(factor * at[name] for name, factor in what.terms.items())


factors = st.integers(-3, 3)
linears = st.builds(
    lambda c, i, o, x: linear(c, i=i, o=o, x=x), st.integers(-5, 5), factors, factors, factors
)


@given(linears, linears, st.sampled_from([1, 2, 3, -1, -2]))
@hypothesis_settings(max_examples=60, deadline=None, derandomize=True)
def test_indices_that_never_meet_do_not(earlier: LinearForm[str], later: LinearForm[str], step: int) -> None:
    meets = any(
        value(earlier, {"i": i, "o": o, "x": x}) == value(later, {"i": i + moved * step, "o": o, "x": y})
        for i, o, x, y in product(RANGE, range(3), range(-3, 4), range(-3, 4))
        for moved in range(1, 4)
    )
    assert not (meets and asked(step).never_equal(earlier, later))


strided = st.builds(
    lambda form, s, t: form.plus(LinearForm({n: f for n, f in (("s", s), ("i*s", t)) if f}, 0)),
    linears, st.integers(-1, 1), st.integers(-1, 1),
)  # fmt: skip


@given(linears, linears, st.tuples(strided, strided), st.sampled_from([1, 2, -1]))
@hypothesis_settings(max_examples=300, deadline=None, derandomize=True)
def test_indices_of_which_one_is_larger_never_meet(
    earlier: LinearForm[str], later: LinearForm[str], ends: tuple[LinearForm[str], LinearForm[str]], step: int
) -> None:
    """x runs between bounds that depend on i, o, s and i*s."""
    low, high = (LinearForm({n: f for n, f in end.terms.items() if n != "x"}, end.constant) for end in ends)

    def indices(what: LinearForm[str], i: int, o: int, s: int) -> set[int]:
        at = {"i": i, "o": o, "s": s, "i*s": i * s}
        return {
            value(what, at | {"x": x}) for x in range(max(value(low, at), -9), min(value(high, at), 9) + 1)
        }

    meets = any(
        indices(earlier, i, o, s) & indices(later, i + moved * step, o, s)
        for i, o, s, moved in product(range(-3, 4), range(2), range(-2, 4), range(1, 4))
    )
    larger = asked(step).is_one_larger(
        earlier, later, lambda name: ([low], [high]) if name == "x" else ([], [])
    )
    assert not (meets and larger)


def test_blocks_of_iterations_have_nothing_in_common() -> None:
    """`4*i + 1 <= x` and `x <= 4*i + 4`, and `x <= o`."""

    def bounds(name: str) -> Bounds:
        assert name == "x"
        return [linear(1, i=4)], [linear(0, o=1), linear(4, i=4)]

    x = linear(0, x=1)
    assert asked().is_one_larger(x, x, bounds)
    assert asked(-1).is_one_larger(x, x, bounds)
    assert asked().is_one_larger(x, linear(1, x=1), bounds)
    assert asked().is_one_larger(linear(1, x=1), linear(1, x=1), bounds)
    assert not asked().is_one_larger(linear(1, x=1), x, bounds)


def test_blocks_of_any_length_have_nothing_in_common() -> None:
    """`i*s <= x` and `x <= i*s + s - 1`: there is such an x for s > 0 only."""

    def bounds(name: str) -> Bounds:
        assert name == "x"
        return [linear(0, **{"i*s": 1})], [linear(-1, **{"i*s": 1}, s=1)]

    x = linear(0, x=1)
    assert asked().is_one_larger(x, x, bounds)
    assert asked(-1).is_one_larger(x, x, bounds)
    assert not asked().is_one_larger(linear(1, x=1), x, bounds)
    assert not asked().is_one_larger(x, linear(0, i=1), bounds)


def test_the_same_index_meets_in_one_iteration_only() -> None:
    assert asked().never_equal(linear(0, i=1), linear(0, i=1))
    assert asked().never_equal(linear(3, i=2, o=5), linear(3, i=2, o=5))
    assert not asked().never_equal(linear(0, o=1), linear(0, o=1))
    assert not asked().never_equal(linear(0, i=1, x=1), linear(0, i=1, x=1))


def test_the_order_of_iterations_counts() -> None:
    ahead, here = linear(1, i=1), linear(0, i=1)
    assert not asked().never_equal(ahead, here)
    assert asked().never_equal(here, ahead)
    assert asked(-1).never_equal(ahead, here)
    assert not asked(-1).never_equal(here, ahead)


def test_steps_pass_over_what_is_between() -> None:
    assert asked(2).never_equal(linear(1, i=1), linear(0, i=1))
    assert not asked(2).never_equal(linear(2, i=1), linear(0, i=1))
    assert asked().never_equal(linear(0, i=2), linear(1, i=2))


def test_factors_without_a_common_place() -> None:
    assert asked().never_equal(linear(1, i=4, x=2), linear(0, i=2))
    assert not asked().never_equal(linear(2, i=4, x=2), linear(0, i=2))
    assert asked().never_equal(linear(1), linear(2))
    assert not asked().never_equal(linear(2), linear(2))


def test_only_sums_have_numbers() -> None:
    sets = Presburger()
    i, n = sets.parameter("i"), sets.parameter("n")
    assert sets.linear_of(sets.scale(i, 3).sub(n).add(sets.constant(4))) == linear(4, i=3, n=-1)
    assert sets.linear_of(sets.constant(7)) == linear(7)
    assert sets.linear_of(i.sub(i)) == linear(0)
    assert sets.linear_of(i.max(n)) is None
    assert sets.linear_of(sets.floor_divide(i, 2)) is None
    assert sets.linear_of(sets.modulo(i, 2)) is None


@pytest.mark.parametrize("divisor", [2, 3])
def test_a_multiple_that_is_divided_again_has_numbers(divisor: int) -> None:
    sets = Presburger()
    doubled = sets.scale(sets.parameter("i"), 6)
    assert sets.linear_of(sets.floor_divide(doubled, divisor)) == linear(0, i=6 // divisor)
