"""Desugaring when a function is parsed: of `match` statements, and of variables that nested functions assign.

`match` on numbers, text and tuple displays, desugared to a chain of `if`s.

    match k % 3:                        matched = k % 3
        case 0: s += 1          ->      if matched == 0: s += 1
        case 1 | 2: s += 10             elif matched == 1 or matched == 2: s += 10
        case n: s -= n                  else: n = matched; s -= n

The chain is equivalent to the `match` in Python, too. Every later stage of the front end sees only `if`.

Does not handle: class and mapping patterns, `True` and `False` (which are compared with `is`), sequence patterns
for a subject that is no tuple display, and a guard on a case that both tests and binds. Such a statement stays
a `match`.

Numbers that nested functions assign, as lists of one item, as Python itself keeps them in cells.

    total = 0                        total = [0]
    def add(x):                      def add(x):
        nonlocal total       ->          total[0] += x
        total += x
    ...                              ...
    return total                     return total[0]

Requires: a first assignment at the top of the function, in front of all else that has the name.

Does not handle: parameters; names that loops, `with`, `del` and comprehensions bind; those of functions nested twice.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from appyc.frontend.desugar.building import FreshNames, Refused, assigned, located, read
from appyc.frontend.syntax.tree import statements_in, walk


def without_matches(function: ast.FunctionDef) -> ast.FunctionDef:
    """The function with its `match` statements replaced by chains of `if`s, where their patterns allow it."""
    if any(isinstance(s, ast.Match) for s in statements_in(function)):
        _Chains(FreshNames(function)).visit(function)
    return function


@dataclass
class _Chains(ast.NodeTransformer):
    unused: FreshNames

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        name = self.unused("matched")
        try:
            chain = _chain(node.cases, name, node)
        except Refused:
            return node
        return [located(assigned(name, node.subject), node.subject), *chain]


def _chain(cases: list[ast.match_case], name: str, node: ast.Match) -> list[ast.stmt]:
    """The cases of a `match` as a chain of `if`s, in source order."""
    if not cases:
        return []
    first, *others = cases
    rest = _chain(others, name, node)
    width = len(node.subject.elts) if isinstance(node.subject, ast.Tuple) else None
    tests, binds = _matched(first.pattern, read(name), width)
    if first.guard is not None and binds and tests:
        raise Refused
    if first.guard is not None:
        tests = [*tests, first.guard]
    if not tests:
        return [
            located(stmt, first.pattern) for stmt in (*binds, *first.body)
        ]  # the later cases are unreachable
    before, body = (binds, first.body) if first.guard is not None else ([], [*binds, *first.body])
    found = located(ast.If(_joined(ast.And(), tests), body, rest), first.pattern)
    # Its source range extends to the end of the `match`, as that of an `if` includes its `elif`s.
    found.end_lineno, found.end_col_offset = node.end_lineno, node.end_col_offset
    return [*(located(stmt, first.pattern) for stmt in before), found]


def _matched(
    pattern: ast.pattern, subject: ast.expr, width: int | None = None
) -> tuple[list[ast.expr], list[ast.stmt]]:
    """The tests that hold where a pattern matches, and the assignments that it makes then. width: a tuple subject's
    length."""
    match pattern:
        case ast.MatchValue(value=value):
            return [ast.Compare(subject, [ast.Eq()], [value])], []
        case ast.MatchSingleton(value=None):
            return [ast.Compare(subject, [ast.Is()], [ast.Constant(None)])], []
        case ast.MatchAs(pattern=inner, name=name):
            tests, binds = ([], []) if inner is None else _matched(inner, subject, width)
            return tests, binds if name is None else [*binds, assigned(name, subject)]
        case ast.MatchOr(patterns=patterns):
            ways = [_matched(p, subject, width) for p in patterns]
            if any(binds for _, binds in ways):
                raise Refused
            fails = all(tests for tests, _ in ways)
            return [_joined(ast.Or(), [_joined(ast.And(), tests) for tests, _ in ways])] if fails else [], []
        case ast.MatchSequence(patterns=patterns) if len(patterns) == width:
            items = (ast.Subscript(subject, ast.Constant(k), ast.Load()) for k in range(width))
            parts = [_matched(p, item) for p, item in zip(patterns, items, strict=True)]
            return [t for tests, _ in parts for t in tests], [b for _, binds in parts for b in binds]
        case _:
            raise Refused


def _joined(op: ast.boolop, tests: list[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(op, tests)


# ---------------------------------------------------------------- nonlocal


def without_nonlocals(function: ast.FunctionDef) -> ast.FunctionDef:
    """The function, changed in place, without those `nonlocal` statements that can be left out."""
    declared = {name for node in walk(function) if isinstance(node, ast.Nonlocal) for name in node.names}
    cells = {name: first for name in sorted(declared) if (first := _first(function, name)) is not None}
    rule = _Cells(frozenset(cells))
    function.body = [rule.visit(stmt) for stmt in function.body] if cells else function.body
    for name, first in cells.items():
        first.targets = [ast.copy_location(ast.Name(name, ast.Store()), first.targets[0])]
        first.value = located(ast.List([first.value], ast.Load()), first.value)
    return function


def _first(function: ast.FunctionDef, name: str) -> ast.Assign | None:
    """The assignment that binds a name, in front of all else that has it; None for another name."""
    nodes = walk(function)
    named = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
    targets = {target for n in nodes for target in _targets(n)}
    nested = [n for n in nodes[1:] if isinstance(n, ast.FunctionDef)]
    parameters = {n.arg for n in nodes if isinstance(n, ast.arg)}
    if name in parameters or any(not isinstance(n.ctx, ast.Load) and n not in targets for n in named):
        return None
    for inner in nested:
        below = walk(inner)
        declares = any(isinstance(n, ast.Nonlocal) and name in n.names for n in below)
        is_deep = any(n in nested and n is not inner for n in below)
        if (not declares or is_deep) and any(n in targets and n in below for n in named):
            return None
    first = next((stmt for stmt in function.body if any(n in named for n in walk(stmt))), None)
    match first:
        case ast.Assign(targets=[ast.Name()]) if sum(n in named for n in walk(first)) == 1:
            return first if first.targets[0] in named else None
        case _:
            return None


def _targets(node: ast.AST) -> list[ast.expr]:
    """The names that assignments bind, one by one or unpacked."""
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AugAssign)
        else []
    )
    return [part for t in targets for part in (t.elts if isinstance(t, ast.Tuple) else [t])]


@dataclass
class _Cells(ast.NodeTransformer):
    """names: those that become lists."""

    names: frozenset[str]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.names:
            return node
        return located(ast.Subscript(read(node.id), ast.Constant(0), node.ctx), node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        node.names = [name for name in node.names if name not in self.names]
        return node if node.names else ast.copy_location(ast.Pass(), node)
