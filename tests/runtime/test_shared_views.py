"""How overlapping arguments share memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appyc.ir.aliasing import SharedArray
from appyc.runtime.shared_views import describe_sharing

FIRST = frozenset({0})


def sharing(*values, written=FIRST, any_distance=False):
    found = describe_sharing(values, written, any_distance=any_distance)
    return None if found is None else found.sharing


def test_the_same_array_twice():
    x = np.arange(9.0)
    assert sharing(x, 3, x) == (SharedArray((0, 2)),)
    assert sharing(x[2:], x[2:]) == (SharedArray((0, 1)),)


@pytest.mark.parametrize(
    ("a", "b", "offsets"),
    [
        (slice(1, 9), slice(0, 8), ((1,), (0,))),
        (slice(0, 5), slice(3, 9), ((0,), (3,))),
        (slice(0, 5), slice(0, 9), ((0,), (0,))),  # from the same place, of other lengths
        (slice(8, None, -1), slice(5, None, -1), ((0,), (3,))),
        (slice(0, 7, 2), slice(2, 9, 2), ((0,), (1,))),
    ],
)
def test_two_views_of_a_vector(a, b, offsets):
    x = np.arange(9.0)
    (group,) = sharing(x[a], x[b])
    assert group.offsets == offsets


def test_a_stencil_of_views():
    u = np.zeros((8, 10))
    (group,) = sharing(u[1:-1, 1:-1], u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], u[1:-1, 2:])
    assert group == SharedArray((0, 1, 2, 3, 4), ((1, 1), (0, 1), (2, 1), (1, 0), (1, 2)), "C")


def test_a_large_distance_is_an_argument():
    x = np.zeros(1000)
    found = describe_sharing((x[:600], x[300:]), FIRST, any_distance=False)
    assert found.sharing[0].offsets == ((0,), (None,))
    assert found.hidden[1:] == (300,)
    assert found.hidden[0].shape == (1000,)


def test_any_distance_makes_all_of_them_arguments():
    x = np.zeros(9)
    found = describe_sharing((x[1:], x[:-1]), FIRST, any_distance=True)
    assert found.sharing[0].offsets == ((None,), (None,))
    assert found.hidden[1:] == (1, 0)


def test_two_groups_and_a_vector_of_its_own():
    x, y, z = np.zeros(9), np.zeros(9), np.zeros(9)
    assert sharing(x, y[1:], z, x, y[:-1], written=frozenset({0, 1, 2})) == (
        SharedArray((0, 3)), SharedArray((1, 4), ((1,), (0,))),
    ) or sharing(x, y[1:], z, x, y[:-1], written=frozenset({0, 1, 2})) == (
        SharedArray((1, 4), ((1,), (0,))), SharedArray((0, 3)),
    )  # fmt: skip


X = np.arange(24.0)


@pytest.mark.parametrize(
    "values",
    [
        (X[::2], X[:12]),  # other strides
        (X[:12], X[::-1][:13]),
        (X, X.view(np.int64)),  # another dtype
        (X[:6], X.view(np.float64).reshape(4, 6)),  # another rank
        (X.view(np.uint8)[:40].view(np.float64), X.view(np.uint8)[4:44].view(np.float64)),  # half an element
        (np.lib.stride_tricks.as_strided(X, (4, 3), (8, 8)), X),  # meets itself
        (np.lib.stride_tricks.as_strided(X, (4, 3), (8, 8)),) * 2,
        (X.reshape(4, 6)[:, :4], X.reshape(4, 6)[1:, 3:], X.reshape(4, 6).ravel()[5:]),
    ],
)
def test_what_is_not_described(values):
    assert sharing(*values) is None


def test_a_box_that_reaches_out_of_the_memory_is_not_described():
    """Two corners of a square that is not there as a whole."""
    memory = np.zeros(14)
    a = np.lib.stride_tricks.as_strided(memory, (3, 3), (32, 8))  # elements 0 to 10
    b = np.lib.stride_tricks.as_strided(memory[3:], (3, 3), (32, 8))  # 3 to 13, one column before, one row on
    assert np.shares_memory(a, b)
    assert sharing(a, b) is None


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(1, 5), st.integers(0, 5), st.integers(1, 6)),
        min_size=2, max_size=4,
    ),
    st.sampled_from([1, -1, 2]),
    st.booleans(),
)  # fmt: skip
def test_each_element_is_where_the_offsets_say(boxes, step, any_distance):
    whole = np.arange(200.0).reshape(10, 20)[:, ::step]
    values = [whole[r : r + h, c : c + w] for r, h, c, w in boxes]
    found = describe_sharing(values, FIRST, any_distance=any_distance)
    if found is None:
        return
    hidden = list(found.hidden)
    for group in found.sharing:
        if group.offsets is None:
            assert all(np.array_equal(values[n], values[group.members[0]]) for n in group.members)
            continue
        base = hidden.pop(0)
        assert np.shares_memory(base, whole)
        for number, offset in zip(group.members, group.offsets, strict=True):
            place = [hidden.pop(0) if o is None else o for o in offset]
            view = values[number]
            part = base[tuple(slice(o, o + n) for o, n in zip(place, view.shape, strict=True))]
            assert part.strides == view.strides
            np.testing.assert_array_equal(part, view)
    assert not hidden
