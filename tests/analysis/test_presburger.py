"""Sets and expressions, asked of isl."""

from __future__ import annotations

from itertools import product

import pytest

from appyc.analysis.presburger import Presburger


def at(sets: Presburger, points, **values: int) -> bool:
    """Whether a set has the point."""
    for name, value in values.items():
        points = points.intersect(sets.parameter(name).eq_set(sets.constant(value)))
    return not points.is_empty()


@pytest.mark.parametrize("strict", [False, True])
def test_not_above_is_what_the_comparison_says(strict):
    sets = Presburger()
    i, n, m = (sets.parameter(name) for name in "inm")
    half = sets.floor_divide(n.add(m), 2)
    least, largest = n.min(m), n.max(m).max(half)
    mixed = n.max(m.min(i))  # neither the largest nor the least of its cases
    for low, high in ((i, least), (largest, i), (i, largest), (least, i), (mixed, m), (least, largest)):
        expected = low.lt_set(high) if strict else low.le_set(high)
        assert sets.not_above(low, high, strict=strict).is_equal(expected)


def test_bounds_of_several_values_make_one_piece():
    sets = Presburger()
    i, n, m = (sets.parameter(name) for name in "inm")
    half = sets.floor_divide(n.add(m), 2)
    below = sets.not_above(i, n.min(m).min(half), strict=True)
    above = sets.not_above(n.max(half), i)
    assert below.n_basic_set() == above.n_basic_set() == 1
    assert i.lt_set(n.min(m).min(half)).n_basic_set() > 1
    for x, y, z in product(range(-3, 4), repeat=3):
        assert at(sets, below, i=x, n=y, m=z) == (x < min(y, z, (y + z) // 2))
        assert at(sets, above, i=x, n=y, m=z) == (x >= max(y, (y + z) // 2))


def test_expressions_of_one_value_are_made_once():
    sets = Presburger()
    assert sets.parameter("n") is sets.parameter("n")
    assert sets.constant(3) is sets.constant(3)
    assert not sets.constant(3).is_equal(sets.constant(4))
