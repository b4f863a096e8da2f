"""Ranges that are bound to a name or looked into, as the numbers that they are made of.

    if up:                                    if up:
        r = range(n)                              r.start = 0; r.stop = n; r.step = 1
    else:                             ->      else:
        r = range(n - 1, -1, -1)                  r.start = n - 1; r.stop = -1; r.step = -1
    for i in r:                               for i in range(r.start, r.stop, r.step):

A number that is the same constant in all ranges of a name stays a constant. `x in range(n)` is a call, `in_range(x, 0,
n, 1)`. Only where a rule has put the name there, `r[k]` is `r.start + r.step * k`.

Requires: names that are bound to ranges alone. Does not handle: ranges that are arguments, results or items, and names
that nested functions have.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from typing import Any

from appyc.frontend.desugar.building import assigned, constant, located, negated, part_of, read
from appyc.frontend.desugar.rewriting import Rewriter, ValueOf, rewritten
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.tree import names_in, walk
from appyc.library.ranges import in_range


def indexed_range(name: str) -> str:
    """A name for a range whose indices are in bounds, and not negative."""
    return part_of(name, "range")


def without_range_names(source: Source, value_of: ValueOf) -> Source:
    """The function, in which no name is bound to ranges."""
    nodes = walk(source.ast)
    found: dict[str, list[ast.Call]] = {}
    bound = Counter(n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if made := _ranges(value, value_of):
                found.setdefault(name, []).extend(made)
                bound[name] -= 1
    inner = names_in(*(n for n in nodes[1:] if isinstance(n, ast.FunctionDef | ast.Lambda)))
    refused = inner | parameter_names(source.ast) | {name for name, others in bound.items() if others}
    ranges = {name: _joined(name, made) for name, made in found.items() if name not in refused}

    def is_changed(node: ast.AST) -> object:
        return ranges or (isinstance(node, ast.Compare) and _ranges(node.comparators[-1], value_of))

    return rewritten(source, lambda copied: _Ranges(copied, value_of, ranges), is_changed)


def _ranges(node: ast.expr, value_of: ValueOf) -> list[ast.Call]:
    """The ranges that an expression may be, each with start, stop and step; none if it may be something else."""
    match node:
        case ast.IfExp(body=then, orelse=orelse):
            either = _ranges(then, value_of), _ranges(orelse, value_of)
            return [*either[0], *either[1]] if all(either) else []
        case ast.Call(func=func, args=[_, *others] as args, keywords=[]) if value_of(func) is range:
            if len(others) <= 2 and not any(isinstance(a, ast.Starred) for a in args):
                full = [*([] if others else [ast.Constant(0)]), *args, ast.Constant(1)]
                return [ast.Call(func, full[:3], [])]
    return []


def _joined(name: str, ranges: list[ast.Call]) -> ast.Call:
    """The range of a name's variables, or of the one constant that all its ranges have there."""
    parts: list[ast.expr] = []
    for number, word in enumerate(("start", "stop", "step")):
        values = [r.args[number] for r in ranges]
        (same, *others) = {ast.unparse(v) for v in values}
        is_constant = not others and same.removeprefix("-").isdecimal()
        parts.append(values[0] if is_constant else read(part_of(name, word)))
    return ast.Call(ranges[0].func, parts, [])


class _Ranges(Rewriter):
    def __init__(self, function: ast.FunctionDef, value_of: ValueOf, ranges: dict[str, ast.Call]) -> None:
        super().__init__(function, value_of)
        self.ranges = ranges

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node.targets:
            case [ast.Name(id=name)] if name in self.ranges:
                return self._made(self.ranges[name].args, node.value)
        return self.generic_visit(node)

    def _made(self, parts: list[ast.expr], value: ast.expr) -> list[ast.stmt]:
        if isinstance(value, ast.IfExp):
            branches = self._made(parts, value.body), self._made(parts, value.orelse)
            return [located(ast.If(self.visit(value.test), *branches), value)]
        (made,) = _ranges(value, self.value_of)
        pairs = zip(parts, made.args, strict=True)
        new = [assigned(part.id, self.visit(v)) for part, v in pairs if isinstance(part, ast.Name)]
        return [located(stmt, value) for stmt in new or [ast.Pass()]]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Compare(ops=[ast.In() | ast.NotIn() as op], comparators=[among]) if (
                ranges := _ranges(among, self.value_of)
            ) and isinstance(among, ast.Call):
                found = located(ast.Call(constant(in_range), [node.left, *ranges[0].args], []), node)
                return found if isinstance(op, ast.In) else located(negated(found), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        match node.value:
            case ast.Name(id=name) if name in self.ranges and indexed_range("") in name:
                start, _, step = copy.deepcopy(self.ranges[name].args)
                ahead = self.visit(node.slice)
                ahead = ahead if ast.unparse(step) == "1" else ast.BinOp(step, ast.Mult(), ahead)
                ahead = ahead if ast.unparse(start) == "0" else ast.BinOp(start, ast.Add(), ahead)
                return located(ahead, node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return located(copy.deepcopy(self.ranges[node.id]), node) if node.id in self.ranges else node
