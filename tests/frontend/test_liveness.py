"""Backward liveness over Python's AST."""

from __future__ import annotations

import ast
import textwrap

import pytest

from appyc.frontend.syntax.liveness import live_before, names_behind, surely_assigned


def body(text: str) -> list[ast.stmt]:
    return ast.parse(textwrap.dedent(text)).body


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("x = 1", {"x"}, set()),
        ("x = y", {"x"}, {"y"}),
        ("x += 1", set(), {"x"}),
        ("a[i] = v", set(), {"a", "i", "v"}),
        ("if c:\n    x = 1", {"x"}, {"c", "x"}),
        ("if c:\n    x = 1\nelse:\n    x = 2", {"x"}, {"c"}),
        ("for i in r:\n    s = s + i", {"s"}, {"r", "s"}),
        ("for i in r:\n    t = i\n    a[t] = 0", set(), {"r", "a"}),
        # What an earlier iteration assigned may be read by a later one.
        ("for i in r:\n    a[i] = t\n    t = i", set(), {"r", "a", "t"}),
        ("while n:\n    n = f(n)", set(), {"n", "f"}),
        # A break leads past the assignment behind it.
        ("for i in r:\n    if c:\n        break\n    x = 1", {"x"}, {"r", "c", "x"}),
        ("while True:\n    if c:\n        continue\n    x = 1", {"x"}, {"c", "x"}),
        ("for i in r:\n    pass\nelse:\n    x = y", {"x"}, {"r", "y", "x"}),
        ("return x", {"y"}, {"x"}),
        ("with open(p) as f:\n    f.write(t)", {"z"}, {"open", "p", "t", "f", "z"}),
        # What `:=` binds before it is read, whatever else is evaluated, need not be there.
        ("if (q := y) > q:\n    x = q", {"x"}, {"x", "y"}),
        ("x = (q := y) + q", {"q"}, {"y"}),
        ("if (q := q + 1) > 0:\n    x = q", set(), {"q"}),
        ("if c and (q := y):\n    x = q", set(), {"c", "y", "q"}),
        ("x = q if (q := y) else 0", set(), {"q", "y"}),
        # What a comprehension binds is its own; what it runs over first is read outside.
        ("x = [(i, j) for i in r if i for j in s[i]]", set(), {"r", "s"}),
        ("x = sum(x for x in x)", set(), {"sum", "x"}),
        ("x = {k: v for k, v in [(k, y) for k in r]}", set(), {"r", "y"}),
        ("x = [(y := i) + j for i in r]", set(), {"r", "j"}),
        # So it is with what functions bind.
        ("f = lambda i, *r, k=i: i + k + n", set(), {"i", "n"}),
        ("def f(a, b=a):\n    s = a + b + c\n    return s", set(), {"a", "c"}),
        ("def f():\n    nonlocal s\n    s += 1\n    t = s", set(), {"s"}),
    ],
)
def test_names_that_are_live_before(text, after, expected):
    assert live_before(body(text), frozenset(after)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if (n := f()) > 0: pass", {"n"}),
        ("x = [(n := 1), g(m := 2)]", {"x", "n", "m"}),
        ("if c or (n := f()): pass", set()),
        ("if (n := f()) and (m := g()): pass", {"n"}),
        ("x = (n := 1) if (m := c) else 2", {"x", "m"}),
        ("x = a < (n := 1) < (m := 2)", {"x", "n"}),
        ("x = [(n := i) for i in r]", {"x"}),
        ("while (n := f()): m = 1", {"n"}),
        ("for i in (n := r): m = 1", {"n"}),
    ],
)
def test_names_that_an_expression_surely_binds(text, expected):
    assert surely_assigned(body(text)) == expected


def test_surely_assigned_is_what_every_way_assigns():
    text = """
    a = 1
    for i in r:
        b = 1
    if c:
        d, e = 1, 2
    else:
        d = 3
    """
    assert surely_assigned(body(text)) == {"a", "d"}


def behind(text: str) -> dict[str, set[str]]:
    """The names live behind each statement, by the statement's first line."""
    found = names_behind(body(text))
    return {ast.unparse(stmt).split("\n")[0]: set(names) for stmt, names in found.items()}


def test_what_an_iteration_binds_anew_is_dead_at_its_end():
    found = behind("""
        for i in range(n):
            t = a[i]
            s = s + t
            b[i] = t
        print(s)
    """)
    assert found["b[i] = t"] == {"a", "b", "s", "print"} | {"range", "n"}
    assert found["t = a[i]"] == {"a", "b", "i", "n", "range", "s", "t", "print"}
    assert found["for i in range(n):"] == {"s", "print"}


def test_what_the_next_iteration_reads_first_is_live_at_a_jump():
    found = behind("""
        while more:
            if c:
                q = 1
                continue
            if d:
                r = 2
                break
            p = q
            q = 0
        print(r)
    """)
    assert found["q = 1"] >= {"q", "more", "c", "r"}
    assert found["r = 2"] == {"r", "print"}
    assert "p" not in found["p = q"]
    assert found["q = 0"] >= {"q", "r", "more"}
