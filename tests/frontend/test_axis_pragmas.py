"""Pragmas on tensor statements: the loops that get the clauses, and each thing that does not fit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import appyc
from appyc.errors import DependenceError, PragmaError
from appyc.ir.nodes import Clauses, For
from appyc.ir.visit import walk
from appyc.passes.simplify.expand_tensors import expand_tensors
from tests.lowering import after, lowered


def stencil(a, b):
    M, N = a.shape
    # pragma 1:M-1=>parallel 1:N-1=>simd,block(64)
    b[1 : M - 1, 1 : N - 1] = a[:-2, 1 : N - 1] + a[1 : M - 1, 2:]


def in_place(a, M):
    # pragma 1:M=>parallel
    a[1:M] = a[:-1]


def product(a, b, c, M, K):
    # pragma :M=>parallel :K=>reduce(sum),parallel
    c[:M, :] = a[:M, :K] @ b[:K, :]


def shifted(a, b, M):
    # pragma 1:M=>parallel :M-1=>parallel
    b[1:M] = a[: M - 1]


def only_promised(a, M):
    # pragma :M=>le(8)
    a[:M] = 1.0


def total(a, M):
    # pragma :M=>parallel,simd
    a[0] = np.sum(a[:M])


A, V = np.ones((4, 5)), np.ones(6)


def asked(fn, *args) -> list[Clauses | None]:
    """The clauses of the function's loops, outer ones first."""
    expanded = after(lowered(fn, *args), expand_tensors)
    return [n.clauses for n in walk(expanded) if isinstance(n, For)]


def test_each_axis_gets_its_clauses():
    rows, columns = asked(stencil, A, A.copy())[:2]
    assert (rows.request, rows.block, rows.simd) == ("parallel", (), False)
    assert (columns.request, columns.block, columns.simd) == ("simd", (64,), False)
    assert rows.loc.source_line()[rows.loc.col : rows.loc.end_col] == "1:M-1"


def test_values_that_go_into_a_temporary_first_are_computed_and_copied_as_asked():
    assert [c.request for c in asked(in_place, V, 4)] == ["parallel", "parallel"]


def test_an_axis_that_is_reduced_is_found_behind_a_product_and_others_are_left_alone():
    loops = asked(product, A, A.T.copy(), np.ones((4, 4)), 4, 5)
    assert [c and c.request for c in loops] == ["parallel", None, "parallel", "parallel", None]


def test_slices_of_one_axis_may_all_be_named():
    assert {c.request for c in asked(shifted, V, V.copy(), 4)} == {"parallel"}


def test_a_promise_alone_asks_nothing_of_the_loop():
    assert asked(only_promised, V, 4) == [None]


def test_lanes_and_threads_together():
    (loop,) = asked(total, V, 4)
    assert (loop.request, loop.simd) == ("parallel", True)


def test_a_promise_that_is_broken_raises_and_nothing_is_written():
    for target in ("cpu", "interpret"):
        a = np.zeros(20)
        compiled = appyc.jit(only_promised, strict=True, target=target)
        compiled(a, 8)
        assert a.sum() == 8.0
        with pytest.raises(
            ValueError, match=r"the slice ':M' has 9 elements, and the pragma promises le\(8\)"
        ):
            compiled(a, 9)
        assert a.sum() == 8.0
        compiled(a, 0)


def test_explain_shows_what_was_asked():
    a, b = np.ones((30, 30)), np.zeros((30, 30))
    compiled = appyc.jit(stencil, strict=True, target="cpu")
    compiled(a, b)
    assert [loop.mode for loop in compiled.explain().loops] == ["parallel", "simd"]


# ---------------------------------------------------------------- what does not fit


def no_such_slice(a, M, N):
    # pragma :N=>parallel
    a[:M] = 1.0


def no_slice_at_all(a, N):
    # pragma :N=>parallel
    a += 1.0


def not_reduced(a, M):
    # pragma :M=>reduce(sum)
    a[:M] = 1.0


def reduced_otherwise(a, b, M, N):
    # pragma :N=>reduce(sum)
    b[:M] = a[:M, :N].max(axis=1)


def two_minds(a, b, M):
    # pragma 1:M=>parallel :M-1=>simd
    b[1:M] = a[: M - 1]


def slice_of_an_index(a, b, M):
    # pragma :M=>parallel
    b[0] = a[:M][0]


@pytest.mark.parametrize(
    ("fn", "args", "message"),
    [
        (no_such_slice, (V, 3, 4), "the statement has no slice ':N'"),
        (no_slice_at_all, (V, 4), "the statement has no slice ':N'"),
        (not_reduced, (V, 4), "nothing is reduced over the slice ':M'"),
        (reduced_otherwise, (A, V, 3, 4), "the slice ':N' is reduced with 'max', not with 'sum'"),
        (
            two_minds,
            (V, V.copy(), 4),
            "one loop runs over '1:M' and ':M - 1', which have different properties",
        ),
        (slice_of_an_index, (V, V.copy(), 4), "no loop runs over the slice ':M'"),
    ],
)
def test_what_does_not_fit_is_refused_at_the_slice(fn, args, message):
    with pytest.raises(PragmaError, match=message.replace("(", r"\(")) as raised:
        lowered(fn, *args)
    loc = raised.value.loc
    assert ":" in loc.source_line()[loc.col : loc.end_col]


def added_at(a, places, x, N):
    # pragma :N=>parallel
    a[places[:N]] = a[places[:N]] + x[:N]


def test_stores_through_an_index_array_are_looked_at_when_they_are_asked_to_be_parallel():
    compiled = appyc.jit(added_at, strict=True, target="cpu")
    a = np.zeros(4)
    compiled(a, np.array([2, 0]), np.ones(2), 2)
    assert a.tolist() == [1.0, 0.0, 1.0, 0.0]
    expected = (
        r"^loop over ':N' carries a dependence: places\[0\] and places\[1\] are both 2, "
        r"so iteration 0 writes a\[2\], iteration 1 writes a\[2\]"
    )
    with pytest.raises(DependenceError, match=expected):
        compiled(a, np.array([2, 2]), np.ones(2), 2)


def stored_at(a, places, x, N):
    # pragma :N=>parallel
    a[places[:N]] = x[:N]


def stored_at_in_a_loop(a, places, x, N):
    # pragma parallel for
    for i in range(N):
        a[places[i]] = x[i]


def test_a_loop_is_named_by_its_slice_where_the_program_has_no_variable():
    arguments = np.zeros(4), np.array([3, 3]), np.ones(2), 2
    with pytest.raises(DependenceError, match=r"^loop over ':N' .* so iteration 0 writes a\[3\]"):
        appyc.jit(stored_at, target="cpu")(*arguments)
    with pytest.raises(DependenceError, match=r"^loop over 'i' .* so iteration i=0 writes a\[3\]"):
        appyc.jit(stored_at_in_a_loop, target="cpu")(*arguments)
    (remark,) = {loop.reason for loop in appyc.jit(stored_at, target="cpu").explain(*arguments).loops}
    assert remark.startswith("loop over ':N': iterations touch one element of 'a', unless")


def reads_what_nobody_has(a, b, n):
    c = np.zeros_like(a)
    # pragma :n=>parallel
    c[:n] = getattr(a, "real")[:n] + b[:n]  # noqa: B009  (no attribute that can be looked up)
    return c


def test_a_statement_that_runs_in_python_in_spite_of_its_pragma_is_told_of():
    arguments = np.ones(4), np.ones(4), 3
    compiled = appyc.jit(reads_what_nobody_has, target="cpu", cache=False)
    with pytest.warns(
        RuntimeWarning, match="^the statement runs in Python, in spite of its pragma: "
    ) as caught:
        assert compiled(*arguments).tolist() == [2.0, 2.0, 2.0, 0.0]
    (told,) = caught
    assert told.filename == __file__  # where the function is called
    first = reads_what_nobody_has.__code__.co_firstlineno
    assert f"{__file__}:{first + 3}:" in str(told.message)
    assert f"{__file__}:{first + 2}:" in str(told.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(*arguments)  # once is enough


def test_the_rest_of_a_statement_heeds_its_pragma_beside_a_call():
    def sorted_sum(a, b, n):
        c = np.zeros_like(a)
        # pragma :n=>reduce(sum)
        c[:n] = np.sort(a)[:n] + b[:n]
        return c

    with pytest.raises(appyc.PragmaError, match="nothing is reduced over the slice ':n'"):
        appyc.jit(sorted_sum, target="cpu", cache=False)(np.ones(4), np.ones(4), 3)


def test_remarks_name_the_statement_where_the_program_has_no_loop():
    def of_an_array(a):
        return np.cumsum(a)

    def of_a_loop(a, out):
        s = 0.0
        for i in range(len(a)):
            s += a[i]
            out[i] = s

    for fn, args, name in (
        (of_an_array, (np.ones(9),), "the statement's loop"),
        (of_a_loop, (np.ones(9), np.ones(9)), "loop over 'i'"),
    ):
        remarks = str(appyc.jit(fn, target="cpu", cache=False).explain(*args))
        assert f"{name} runs in chunks" in remarks
