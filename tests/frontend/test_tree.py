"""Walks over Python's syntax trees."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

from appyc.frontend.syntax.tree import loops_with_own_names, statements_in, walk


def parsed(text: str) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def own(text: str) -> list[str]:
    """The targets of the loops with names of their own, in the order of the text."""
    found = sorted(loops_with_own_names(parsed(text)), key=lambda loop: (loop.lineno, loop.col_offset))
    return [ast.unparse(loop.target) for loop in found]


def test_statements_come_in_the_order_of_the_text():
    fn = parsed("""
        def f(a):
            x = [y for y in a]
            for i in a:
                if i: break
                else: x = lambda: i
            else:
                while i: continue
            try: pass
            except ValueError: return 1
            finally: x = 2
            match a:
                case 1: return 3
            with a: del x
    """)
    kinds = [type(s).__name__ for s in statements_in(*fn.body)]
    assert kinds == [
        "Assign", "For", "If", "Break", "Assign", "While", "Continue", "Try", "Pass", "Return", "Assign",
        "Match", "Return", "With", "Delete",
    ]  # fmt: skip
    assert set(statements_in(fn)) == {n for n in ast.walk(fn) if isinstance(n, ast.stmt)}
    assert list(statements_in()) == []


def test_a_name_that_loops_alone_read_is_theirs():
    assert own("""
        def f(a):
            for i in range(3):
                a[i] = 0
                for j in range(i): a[j] = i
            for i in range(3): a[i] = 1
            for x, y in a: pass
    """) == ["i", "j", "i"]


def test_a_name_that_is_read_elsewhere_is_a_variable():
    assert own("""
        def f(a):
            for i in range(3): a[i] = 0
            for j in range(3): a[j] = i
    """) == ["j"]
    assert (
        own("""
        def f(a):
            for i in range(i): a[i] = 0
            for j in a: pass
            else: a[0] = j
    """)
        == []
    )


def test_a_name_that_the_body_binds_again_is_a_variable():
    assert own("""
        def f(a):
            for i in range(3): i = 2
            for j in range(3):
                for j in range(2): a[j] = 0
            for k in range(3): (k := 1)
            for m in range(3):
                m += 1
    """) == ["j"]


def test_everything_is_walked_in_the_order_of_the_library() -> None:
    tree = ast.parse(Path(__file__).read_text())
    nodes = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
    assert [id(node) for node in walk(tree)] == [id(node) for node in nodes]
