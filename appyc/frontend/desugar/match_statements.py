"""`match` on numbers, text and tuple displays, desugared to a chain of `if`s.

    match k % 3:                        matched = k % 3
        case 0: s += 1          ->      if matched == 0: s += 1
        case 1 | 2: s += 10             elif matched == 1 or matched == 2: s += 10
        case n: s -= n                  else: n = matched; s -= n

The chain is equivalent to the `match` in Python, too. Every later stage of the front end sees only `if`.

Does not handle: class and mapping patterns, `True` and `False` (which are compared with `is`), sequence patterns
for a subject that is no tuple display, and a guard on a case that both tests and binds. Such a statement stays
a `match`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from appyc.frontend.desugar.building import assigned, located, read
from appyc.frontend.syntax.tree import statements_in
from appyc.ir.names import unused


def without_matches(function: ast.FunctionDef) -> ast.FunctionDef:
    """The function with its `match` statements replaced by chains of `if`s, where their patterns allow it."""
    if any(isinstance(s, ast.Match) for s in statements_in(function)):
        names = {n.id if isinstance(n, ast.Name) else n.arg for n in ast.walk(function)
                 if isinstance(n, ast.Name | ast.arg)}  # fmt: skip
        _Chains(names).visit(function)
    return function


class _Refused(Exception):  # noqa: N818  (no error: the statement stays as it is)
    """Raised for a pattern that cannot be written as a comparison."""


class _Chains(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        name = unused("matched", self.names)
        try:
            chain = _chain(node.cases, name, node)
        except _Refused:
            return node
        self.names.add(name)
        return [located(assigned(name, node.subject), node.subject), *chain]


def _chain(cases: list[ast.match_case], name: str, node: ast.Match) -> list[ast.stmt]:
    """The cases of a `match` as a chain of `if`s, in source order."""
    if not cases:
        return []
    first, *others = cases
    rest = _chain(others, name, node)
    width = len(node.subject.elts) if isinstance(node.subject, ast.Tuple) else None
    subject = located(read(name), first.pattern)
    tests = list(_tests(first.pattern, subject, width))
    binds = list(_binds(first.pattern, subject))
    guard = first.guard
    if guard is not None and binds and tests:
        raise _Refused
    if guard is not None and not binds:
        tests, guard = [*tests, guard], None
    body = first.body
    if tests:
        return [_if(_joined(ast.And(), tests, first.pattern), [*binds, *body], rest, first.pattern, node)]
    if guard is not None:
        return [*binds, _if(guard, body, rest, guard, node)]
    return [*binds, *body]  # the later cases are unreachable


def _tests(pattern: ast.pattern, subject: ast.expr, width: int | None) -> Iterator[ast.expr]:
    """The tests that hold where a pattern matches; none for an irrefutable pattern. width: a tuple subject's length."""
    match pattern:
        case ast.MatchValue(value=value):
            yield located(ast.Compare(subject, [ast.Eq()], [value]), pattern)
        case ast.MatchSingleton(value=None):
            yield located(ast.Compare(subject, [ast.Is()], [ast.Constant(None)]), pattern)
        case ast.MatchAs(pattern=None):
            return
        case ast.MatchAs(pattern=ast.pattern() as inner):
            yield from _tests(inner, subject, width)
        case ast.MatchOr(patterns=patterns):
            ways = [list(_tests(p, subject, width)) for p in patterns]
            if all(ways):
                yield _joined(ast.Or(), [_joined(ast.And(), way, pattern) for way in ways], pattern)
        case ast.MatchSequence(patterns=patterns) if len(patterns) == width:
            for k, item in enumerate(patterns):
                yield from _tests(item, _item(subject, k, item), None)
        case _:
            raise _Refused


def _binds(pattern: ast.pattern, subject: ast.expr) -> Iterator[ast.stmt]:
    """The assignments that a pattern makes where it matches."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                yield from _binds(inner, subject)
            if name is not None:
                yield located(assigned(name, subject), pattern)
        case ast.MatchSequence(patterns=patterns):
            for k, item in enumerate(patterns):
                yield from _binds(item, _item(subject, k, item))
        case ast.MatchOr(patterns=patterns):
            if any(isinstance(n, ast.MatchAs) and n.name for p in patterns for n in ast.walk(p)):
                raise _Refused
        case _:
            return


def _item(subject: ast.expr, number: int, pattern: ast.pattern) -> ast.expr:
    return located(ast.Subscript(subject, ast.Constant(number), ast.Load()), pattern)


def _joined(op: ast.boolop, tests: list[ast.expr], pattern: ast.pattern) -> ast.expr:
    return tests[0] if len(tests) == 1 else located(ast.BoolOp(op, tests), pattern)


def _if(
    test: ast.expr, body: list[ast.stmt], rest: list[ast.stmt], start: ast.pattern | ast.expr, node: ast.Match
) -> ast.stmt:
    """An `if` whose source range extends to the end of the `match`, as that of an `if` includes its `elif`s."""
    out = located(ast.If(test, body, rest), start)
    out.end_lineno, out.end_col_offset = node.end_lineno, node.end_col_offset
    return out
