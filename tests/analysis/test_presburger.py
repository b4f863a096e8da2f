"""Sets and expressions, asked of isl."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

import pytest

from appyc.analysis.sets.allowance import HARDEST, TOTAL, Allowance
from appyc.analysis.sets.presburger import Presburger, _OutOfWorkError
from tests.counting import calls_of


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


def clipped(sets, bound, length):
    """A slice's bound, counted from the start and kept inside."""
    zero = sets.constant(0)
    counted = sets.choose(bound.lt_set(zero), bound.add(length), bound)
    return counted.max(zero).min(length)


def test_equal_values_and_others():
    sets = Presburger()
    i, j, n = (sets.parameter(name) for name in "ijn")
    long, short = clipped(sets, i, n), clipped(sets, j, n)
    for one, other in ((i, j), (long, n), (long, short), (long.sub(short), short)):
        same, different = sets.equal(one, other)
        assert same.is_equal(one.eq_set(other))
        assert different.is_equal(one.ne_set(other))
    longer = sets.choose(sets.not_above(n, i), long.add(short), long)
    assert sets.equal(longer, short)[1].n_basic_set() < longer.ne_set(short).n_basic_set()


def test_values_that_are_not_everywhere_differ_where_both_are():
    sets = Presburger()
    i, n = sets.parameter("i"), sets.parameter("n")
    half = i.intersect_domain(i.le_set(n)).union_add(
        n.intersect_domain(n.lt_set(i).intersect(n.ge_set(sets.constant(0))))
    )
    same, different = sets.equal(half, n)
    assert same.is_equal(half.eq_set(n))
    assert different.is_equal(half.ne_set(n))


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
    large = sets.constant(2**70)  # of more bits than isl takes for a C integer
    assert sets.constant(2**69).add(sets.constant(2**69)).is_equal(large)
    assert not sets.constant(3).is_equal(sets.constant(4))


def hard(sets: Presburger) -> bool:
    """Work that goes on until isl is stopped, once it has more than a few thousand operations."""
    points = sets.everything
    for k in range(400):
        x, y, z = (sets.parameter(f"{name}{k % 7}") for name in "xyz")
        points = points.intersect(x.add(y).ne_set(z.add(sets.constant(k)))).coalesce()
    return bool(points.is_empty())


def test_a_question_has_a_bound_and_the_function_has_one():
    sets = Presburger()
    assert sets.bounded(lambda: sets.constant(1).max_val().to_str(), None) == "1"
    asked = 0
    while sets.allowance.left > 0:
        assert sets.bounded(lambda: hard(sets), None) is None
        asked += 1
    assert asked == sets.allowance.unanswered >= TOTAL // (2 * HARDEST)
    n = sets.parameter("n")
    assert sets.bounded(lambda: bool(n.lt_set(n).is_empty()), None) is True  # easy ones still have answers


def test_easy_questions_cost_nothing():
    sets = Presburger()
    n = sets.parameter("n")
    for _ in range(2000):
        assert sets.bounded(lambda: not n.ge_set(sets.constant(0)).is_empty(), False)
    assert sets.allowance.left == Allowance().left


def test_easy_questions_come_to_an_end_too():
    """So that a program with questions about each pair of its accesses takes no time that grows with their square."""
    sets = Presburger(Allowance(questions=3))
    answers = [sets.bounded(lambda: True, False) for _ in range(5)]
    assert answers == [True, True, True, False, False]
    assert sets.allowance.unanswered == 2


def test_a_question_within_a_question_is_a_part_of_it():
    sets = Presburger()
    assert sets.bounded(lambda: sets.bounded(lambda: hard(sets), "inner"), "outer") == "outer"
    assert sets.allowance.unanswered == 1
    assert sets.bounded(lambda: sets.bounded(lambda: 1, 2), 3) == 1


@pytest.mark.parametrize("operations", range(1, 400))
def test_wherever_isl_stops_there_is_no_answer_or_the_right_one(operations):
    """Making, printing and reading numbers are work too, and isl may stop in any of them."""
    sets = Presburger(Allowance(left=operations, unanswered=0))
    points = sets.parameter("n").ge_set(sets.constant(3))

    def question() -> tuple[int | None, int | None]:
        return sets.value_range(points.intersect(sets.parameter("n").lt_set(sets.constant(99))), "n")

    with suppress(_OutOfWorkError):
        assert sets._within(operations, question) == (3, 98)
    assert sets.smallest_point(points, []) == {"n": 3}  # no bound is left behind


def test_other_faults_of_isl_are_not_hidden():
    sets = Presburger()
    with pytest.raises(Exception, match="isl"):
        sets.bounded(lambda: sets.everything.project_out(sets._isl.dim_type.param, 5, 1), None)


def test_the_first_case_that_bounds_an_expression_only_in_places_answers_for_all():
    sets = Presburger()
    i, n = sets.parameter("i"), sets.parameter("n")
    mixed = clipped(sets, i, n).add(clipped(sets, n.sub(i), n))
    assert sets.all_of(mixed, above=True) == [mixed]
    asked = calls_of(lambda: sets.all_of(mixed, above=True))
    assert asked < calls_of(lambda: sets.bounding_cases(mixed, above=True))
