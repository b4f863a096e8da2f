"""Loop unswitching of parallel loops, where iterations would share a name that an `if` assigns.

    for i in prange(n):                  if fresh:
        if fresh:                            for i in prange(n):
            w = np.zeros(m)                      w = np.zeros(m)
        out[i] = total(w, i)      ->             out[i] = total(w, i)
                                         else:
                                             for i in prange(n):
                                                 out[i] = total(w, i)

Requires: a test of names that are assigned on each path to the loop, and that the loop does not assign or store into.

Does not handle: tests with calls, attributes or subscripts.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from functools import cached_property
from typing import Any

from appyc.frontend.desugar.building import located
from appyc.frontend.desugar.rewriting import ValueOf, rewritten
from appyc.frontend.pragmas.pragma_nodes import LoopPragma
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.pragmas.prange import prange
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.tree import names_in, walk

_PLAIN = (ast.Name, ast.Constant, ast.Compare, ast.UnaryOp, ast.BoolOp)


def with_unswitched_loops(source: Source, value_of: ValueOf) -> Source:
    """The function, whose parallel loops do not test what they do not change, where that keeps them from being such."""
    rule = _Unswitching(source, value_of)
    out = rewritten(source, lambda _: rule, lambda node: rule.test_of(node) is not None)
    pragmas = read_pragmas(out)
    of_copies = {new: pragmas[old] for old, new in rule.copies if old in pragmas}
    return out.part(out.ast, pragmas | of_copies) if of_copies else out


class _Unswitching(ast.NodeTransformer):
    """copies: the statements of loops, with those of their copies."""

    def __init__(self, source: Source, value_of: ValueOf) -> None:
        self.source, self.value_of = source, value_of
        self.copies: list[tuple[ast.stmt, ast.stmt]] = []

    @cached_property
    def unsure(self) -> set[str]:
        """The names that the function may not have assigned before a loop."""
        function = self.source.ast
        surely = _named(*(stmt for stmt in function.body if isinstance(stmt, ast.Assign)), to=ast.Store)
        return {*_named(*function.body, to=ast.Store)} - {*surely} - parameter_names(function)

    @cached_property
    def asked(self) -> set[tuple[int, int]]:
        """The locations of the loops that pragmas make parallel, and whose names these say nothing of."""
        pragmas = self.source.remember("pragmas", lambda: read_pragmas(self.source))
        return {
            (stmt.lineno, stmt.col_offset)
            for stmt, pragma in pragmas.items()
            if isinstance(pragma, LoopPragma)
            and pragma.clauses.request == "parallel"
            and not pragma.variables
        }

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        test = self.test_of(node)
        if test is None:
            return self.generic_visit(node)
        other = copy.deepcopy(node)
        pairs = zip(ast.walk(node), ast.walk(other), strict=True)
        self.copies += [(a, b) for a, b in pairs if isinstance(a, ast.stmt) and isinstance(b, ast.stmt)]
        whether = copy.deepcopy(test)
        for loop, truth in ((node, True), (other, False)):
            _Decided(whether, truth).generic_visit(loop)
        return located(ast.If(whether, [node], [other]), node)

    def test_of(self, loop: ast.AST) -> ast.expr | None:
        """The test of an `if` of a parallel loop that assigns a name which the loop reads and assigns nowhere else."""
        if not isinstance(loop, ast.For) or not self._is_parallel(loop):
            return None
        branches = [node for node in walk(loop) if isinstance(node, ast.If) and _is_plain(node.test)]
        if not branches:
            return None
        changed = _changed(loop) | self.unsure
        assigned, read = _named(loop, to=ast.Store), _named(loop, to=ast.Load)
        for node in branches:
            if not names_in(node.test) & changed:
                here, read_here = _named(node, to=ast.Store), _named(node, to=ast.Load)
                if any(here[name] == assigned[name] and read[name] > read_here[name] for name in here):
                    return node.test
        return None

    def _is_parallel(self, loop: ast.For) -> bool:
        called = loop.iter.func if isinstance(loop.iter, ast.Call) else loop.iter
        return self.value_of(called) is prange or (loop.lineno, loop.col_offset) in self.asked


class _Decided(ast.NodeTransformer):
    """Leaves of each `if` with this test the arm that is taken."""

    def __init__(self, test: ast.expr, truth: bool) -> None:
        match test:
            case ast.UnaryOp(ast.Not(), operand):
                test, truth = operand, not truth
        self.arm_of = {ast.dump(test): truth, ast.dump(ast.UnaryOp(ast.Not(), test)): not truth}

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        taken = self.arm_of.get(ast.dump(node.test))
        if taken is None:
            return node
        return (node.body if taken else node.orelse) or located(ast.Pass(), node)


def _is_plain(test: ast.expr) -> bool:
    return all(isinstance(n, _PLAIN) for n in walk(test) if isinstance(n, ast.expr))


def _named(*roots: ast.AST, to: type[ast.expr_context]) -> Counter[str]:
    """How often each name is read (Load) or assigned (Store)."""
    return Counter(n.id for n in walk(*roots) if isinstance(n, ast.Name) and isinstance(n.ctx, to))


def _changed(loop: ast.For) -> set[str]:
    """The names that are assigned, and those of arrays and objects that are stored into."""
    stores = (
        n for n in walk(loop) if isinstance(n, ast.Subscript | ast.Attribute) and isinstance(n.ctx, ast.Store)
    )
    return {*_named(loop, to=ast.Store)} | names_in(*(n.value for n in stores))
