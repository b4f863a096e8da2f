"""`match` statements as chains of `if`s: what they become, what stays, and that Python sees no difference."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.frontend.control.match_statements import without_matches
from tests.e2e.harness import run_everywhere


def rewritten(text: str) -> str:
    tree = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return ast.unparse(ast.fix_missing_locations(without_matches(tree)))


def test_a_chain() -> None:
    found = rewritten("""
        def f(k, matched):
            match k % 5:
                case 0: return 1
                case 1 | -2 if k > 9: return 2
                case n if n > 3: return n
                case n: k = n
    """)
    assert (
        found
        == textwrap.dedent("""
        def f(k, matched):
            matched_2 = k % 5
            if matched_2 == 0:
                return 1
            elif (matched_2 == 1 or matched_2 == -2) and k > 9:
                return 2
            else:
                n = matched_2
                if n > 3:
                    return n
                else:
                    n = matched_2
                    k = n
    """).strip()
    )


def test_a_tuple_that_is_written_out() -> None:
    found = rewritten("""
        def f(i, out):
            match (i % 3, i % 5):
                case (0, 0): out[i] = 15
                case (0, rest): out[i] = rest
                case None: pass
    """)
    assert (
        found
        == textwrap.dedent("""
        def f(i, out):
            matched = (i % 3, i % 5)
            if matched[0] == 0 and matched[1] == 0:
                out[i] = 15
            elif matched[0] == 0:
                rest = matched[1]
                out[i] = rest
            elif matched is None:
                pass
    """).strip()
    )


@pytest.mark.parametrize(
    "pattern",
    ["[0, *_]", "{'a': 1}", "Point(x=0)", "True", "(0, 1)", "(1, 2, 3)", "(a, 0) if a > 2", "0 | (1 as k)"],
)
def test_other_patterns_stay(pattern: str) -> None:
    subject = "k, k" if " if " in pattern or "3" in pattern else "k"
    text = f"def f(k):\n    match {subject}:\n        case {pattern}: return 1"
    assert "match" in rewritten(text)


def _steps(n, first):  # type: ignore[no-untyped-def]
    total = first
    for i in range(n):
        match i:
            case x if x > 14:
                total += x
            case 2:
                total += 100
        match i % 4, total > 50:
            case 1, _:
                match i % 2:
                    case 0:
                        total += 1
            case 3, big:
                total += big
                continue
            case 2, True | False:
                break
        total *= 2
    return total


def _by_name(mode, x):  # type: ignore[no-untyped-def]
    match mode:
        case "sum" | "total":
            return x.sum()
        case None:
            return 0.0
        case other:
            return x[0] * len(other)


def _fizz(n):  # type: ignore[no-untyped-def]
    out = np.zeros(n, dtype=np.int64)
    for i in range(n):
        match (i % 3, i % 5):
            case (0, 0):
                out[i] = 15
            case (0, _):
                out[i] = 3
            case (_, 0):
                out[i] = 5
            case (a, b):
                out[i] = -a - b
    return out


@pytest.mark.parametrize("mode", ["sum", None, "other"])
def test_text_is_known_when_compiling(mode: Any) -> None:
    run_everywhere(_by_name, mode, np.arange(5.0), strict=True)


def test_numbers() -> None:
    run_everywhere(_fizz, 31, strict=True)


def test_what_stays_a_match_runs_in_python() -> None:
    run_everywhere(_steps, 20, 1)
    with pytest.raises(appyc.UnsupportedError, match="match statement with these patterns"):
        appyc.jit(strict=True, cache=False)(_steps)(20, 1)
