"""Lists of lists of numbers as matrices of Python's numbers."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

import appyc
from appyc.frontend.syntax.fixed_containers import own_tables, table_names
from appyc.ir.nodes import Alloc, While
from appyc.ir.visit import walk
from tests.e2e.harness import run_everywhere
from tests.lowering import lowered


def longest_common(a, b):
    n, m = len(a), len(b)
    t = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                t[i][j] = t[i - 1][j - 1] + 1
            else:
                t[i][j] = max(t[i - 1][j], t[i][j - 1])
    return t[n][m], t[-1][0]


def shortest_paths(a, b):
    n = len(a)
    d = [[math.inf] * n for _ in range(n)]
    for i in range(n):
        d[i][i] = 0.0
        d[i][(3 * i + 1) % n] = a[i] * 1.0
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return d[0][n - 1]


def of_items(a, b):
    n = len(a)
    t = [[i * j + 1 for j in range(n)] for i in range(n)]
    total = 0
    for i in range(len(t)):
        for j in range(len(t[i])):
            t[i][j] += total % 7
            total += t[i][j]
    return total


def flags(a, b):
    t = [[False] * len(b) for _ in a]
    t[0][len(b) - 1] = True
    return sum(t[0][j] for j in range(len(b))), t[0][0]


def made_again(a, b):
    total = 0
    for i in range(3):
        t = [[i] * 2 for _ in range(2)]
        t[1][i % 2] += 5
        total += t[0][0] + t[1][1]
    return total


def beyond_64_bits(a, b):
    t = [[1] * 2 for _ in range(70)]
    for i in range(1, 70):
        t[i][0] = t[i - 1][0] * 3
    return t[69][0]


def numbers_of_an_array(a, b):
    t = [[0] * 2 for _ in range(2)]
    t[0][0] = a[0]
    return t[0][0]


COMPILED = (longest_common, shortest_paths, of_items, flags, made_again, numbers_of_an_array)


def numbers_of_two_types(a, b):
    t = [[0] * 2 for _ in range(2)]
    t[0][0] = 0.5
    return t[0][0], t[1][1]


def a_row_is_taken(a, b):
    t = [[0] * 2 for _ in range(2)]
    row = t[0]
    row[1] = 4
    return t[0][1]


def rows_grow(a, b):
    t = [[0] * 2 for _ in range(2)]
    t[0].append(3)
    return len(t[0])


def one_row_twice(a, b):
    t = [[0] * 2] * 2
    t[0][0] = 1
    return t[1][0]


IN_PYTHON = (numbers_of_two_types, a_row_is_taken, rows_grow, one_row_twice)


def arguments():
    return np.array([1, 3, 2, 2, 5]), np.array([3, 2, 5, 5])


@pytest.mark.sampled
@pytest.mark.parametrize("fn", COMPILED, ids=lambda fn: fn.__name__)
def test_compiled(fn):
    run_everywhere(fn, *arguments())
    appyc.jit(fn, strict=True, cache=False)(*arguments())


@pytest.mark.parametrize("fn", [*IN_PYTHON, beyond_64_bits], ids=lambda fn: fn.__name__)
@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_what_a_matrix_is_not_runs_in_python(fn):
    found = appyc.jit(fn, cache=False)(*arguments())
    assert found == fn(*arguments())
    assert type(found) is type(fn(*arguments()))


@pytest.mark.parametrize("index", [(2, 0), (0, 3), (-3, 0), (0, -4)])
def test_an_index_out_of_range(index):
    def item(i, j):
        t = [[1] * 3 for _ in range(2)]
        return t[i][j]

    with pytest.raises(IndexError):
        appyc.jit(item, strict=True, cache=False)(*index)


@pytest.mark.parametrize("uses", [
    "t.append([1])", "t[0] = [1]", "del t[0][0]", "del t[0]", "t += [[1]]", "t[0] += [1]", "t[0][1:] = [2]",
    "g = lambda: t[0][0]", "u = t", "f(t)", "for r in t: pass", "return t",
])  # fmt: skip
def test_other_uses_make_it_no_table_of_one_name(uses):
    text = f"def f(n):\n    t = [[0] * n for _ in range(n)]\n    {uses}\n    t[0][0] = 1\n"
    (function,) = ast.parse(text).body
    assert not own_tables(function)
    stays = uses in ("u = t", "f(t)", "for r in t: pass", "return t")
    assert table_names(function) == ({"t": "t", "u": "t"} if uses == "u = t" else {"t": "t"} if stays else {})


def exchanges(a, b):
    g = [[0] * 3 for _ in range(3)]
    h = [[0] * 3 for _ in range(3)]
    for k in range(3):
        for i in range(3):
            h[i][k] = g[i][k] * 0.5 + i
        g, h = h, g
    return g[1][1], g[2][2]


@pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")
def test_ints_and_floats_in_a_table_with_several_names():
    with pytest.raises(appyc.UnsupportedError, match="'g' gets numbers of several types") as error:
        appyc.jit(exchanges, strict=True, cache=False)(1, 2)
    assert "0.0 for floats" in str(error.value)
    assert appyc.jit(exchanges, cache=False)(1, 2) == exchanges(1, 2)


def test_exchanged_names_have_one_kind_of_items():
    text = """
def f(n):
    a, b = [[0] * n for _ in range(n)], [[1] * n for _ in range(n)]
    c = [[2] * n for _ in range(n)]
    d = step(c)
    d, c = c, d
    for _ in range(n):
        a, b = b, a
    lost = other(n)
    return a, d, lost
"""
    (function,) = ast.parse(text).body
    assert table_names(function) == {"a": "a", "b": "a", "c": "c", "d": "c"}


def test_a_table_is_allocated_as_a_whole():
    """The lengths of its rows do not depend on the row, so that no index needs a test."""

    def counts(n, m):
        t = [[0] * (m + 1) for _ in range(n)]
        for i in range(n):
            for j in range(m):
                t[i][j] += i
        return t[n - 1][m - 1]

    fn = lowered(counts, 3, 4)
    assert len([node for node in walk(fn.body) if isinstance(node, Alloc)]) == 1
    assert not any(isinstance(node, While) for node in walk(fn.body))


def test_a_slice_of_a_list_of_lists_has_its_rows():
    def stored(d):
        part = d[:1]
        part[0][0] = 5
        return d[0][0]

    with pytest.raises(
        appyc.UnsupportedError, match="'part' has the same rows as the list that it is a slice of"
    ):
        appyc.jit(stored, strict=True, cache=False)([[1, 2], [3, 4]])
