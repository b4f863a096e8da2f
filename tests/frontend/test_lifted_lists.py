"""Lambda lifting of lists that grow: what becomes a parameter, and what does not."""

from __future__ import annotations

import ast
import textwrap

import pytest

from appyc.errors import UnsupportedError
from appyc.frontend.desugar.list_rules import with_lifted_lists
from appyc.frontend.desugar.nested_lists import without_nested_lists
from appyc.frontend.source import Source


def _source(text: str) -> Source:
    lines = textwrap.dedent(text).strip().splitlines(keepends=True)
    return Source("f", "made.py", tuple(lines), 1, 0)


def _lifted(text: str) -> str:
    return ast.unparse(with_lifted_lists(_source(text), lambda _: None).ast)


def test_calls_pass_the_lists_that_callees_use() -> None:
    found = _lifted("""
        def f(n):
            parent = [0]
            sizes = [1] * n

            def root(x, *, far=False):
                while parent[x] != x:
                    x = parent[x]
                return x

            def join(x, y):
                parent.append(root(x))
                return root(y, far=True) + sizes[0]
            return join(n, 1)
    """)
    assert (
        found
        == textwrap.dedent("""
        def f(n):
            parent = [0]
            sizes = [1] * n

            def root(parent, x, *, far=False):
                while parent[x] != x:
                    x = parent[x]
                return x

            def join(parent, x, y):
                parent.append(root(parent, x))
                return root(parent, y, far=True) + sizes[0]
            return join(parent, n, 1)
    """).strip()
    )


@pytest.mark.parametrize(
    "use",
    [
        "g = push",
        "return sorted(stack, key=push)",
        "h = lambda: stack[0]",
        "stack = n",
        "def push(k):\n        pass",
    ],
    ids=["named", "passed", "in a lambda", "no list", "defined twice"],
)
def test_other_uses_leave_a_function_as_it_is(use: str) -> None:
    text = f"def f(n):\n    stack = [n]\n    def push(k):\n        stack.append(k)\n    push(1)\n    {use}"
    assert _lifted(text) == ast.unparse(ast.parse(text))


def test_a_name_of_a_callers_own_is_not_passed() -> None:
    text = """
        def f(n):
            stack = [n]

            def push(k):
                stack.append(k)

            def other(stack):
                push(stack)
            other(1)
            return stack
    """
    assert _lifted(text) == textwrap.dedent(text).strip()


def test_a_row_that_is_the_list_of_a_caller_stays_in_python() -> None:
    with pytest.raises(UnsupportedError, match="'found' has a use that cannot be compiled"):
        without_nested_lists(
            _source("""
        def f(n):
            found = []
            path = []

            def fill(found, path, i):
                path.append(i)
                if i == n:
                    found.append(path)
                else:
                    fill(found, path, i + 1)
            fill(found, path, 0)
            found.append([])
            return found
    """),
            lambda _: None,
        )


def test_a_parameter_that_gets_another_value_is_no_list_of_lists() -> None:
    with pytest.raises(UnsupportedError, match="'rows' has a use that cannot be compiled"):
        without_nested_lists(
            _source("""
        def f(a):
            rows = []
            rows.append([1])

            def first(rows):
                return rows[0]
            return first(a)
    """),
            lambda _: None,
        )
