"""What keeps the iterations of a nest in their order, and is named by the gates of all operations."""

from __future__ import annotations

from appyc.passes.loop_ops.nests import why_not_permute
from tests.loop_operations import carried, nest_of, scaled


def test_a_carried_scalar_is_named():
    _, loops, legality = nest_of(carried)
    refusal = why_not_permute(loops, legality, exact=False)
    assert refusal is not None
    assert refusal.reason == "the value of 's' is carried from one iteration to the next"


def test_other_iterations_may_be_permuted():
    _, loops, legality = nest_of(scaled)
    assert why_not_permute(loops, legality, exact=True) is None
