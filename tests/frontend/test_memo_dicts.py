"""Nested functions with caches: dicts in their place, and what keeps its decorator."""

from __future__ import annotations

import ast
import functools
import textwrap

import pytest

from appyc.frontend.desugar.memo_dicts import without_caches
from appyc.frontend.source import Source


def _rewritten(text: str) -> str:
    lines = textwrap.dedent(text).strip().splitlines(keepends=True)
    source = Source("f", "made.py", tuple(lines), 1, 0)
    return ast.unparse(without_caches(source, lambda node: getattr(functools, ast.unparse(node), None)).ast)


def test_results_are_kept_in_a_dict() -> None:
    found = _rewritten("""
        def f(n):
            @cache
            def ways(i, j):
                if i == 0:
                    return 1
                return ways(i - 1, j) + j
            return ways(n, n)
    """)
    assert found == textwrap.dedent("""\
        def f(n):
            ways_results = {}

            def ways(i, j):
                if (i, j) in ways_results:
                    return ways_results[i, j]
                if i == 0:
                    ways_result = 1
                    ways_results[i, j] = ways_result
                    return ways_result
                ways_result = ways(i - 1, j) + j
                ways_results[i, j] = ways_result
                return ways_result
            return ways(n, n)""")


@pytest.mark.parametrize(
    "function",
    [
        "@lru_cache(maxsize=8)\ndef g(k):\n    return k",
        "@lru_cache\ndef g(k):\n    return k",
        "@cache\ndef g():\n    return 1",
        "@cache\ndef g(k):\n    if k:\n        return 1",
        "@cache\ndef g(k):\n    k += 1\n    return k",
        "@cache\ndef g(k, by=1):\n    return k + by",
        "@wraps\ndef g(k):\n    return k",
    ],
)
def test_what_keeps_its_decorator(function: str) -> None:
    text = f"def f(n):\n{textwrap.indent(function, '    ')}\n    return g(n)"
    assert _rewritten(text) == ast.unparse(ast.parse(text))
