"""Which names of a function stand for lists of equally long lists of numbers, which are matrices."""

from __future__ import annotations

import ast

from appyc.frontend.syntax.containers import other_uses, parameter_names
from appyc.frontend.syntax.tree import walk


def table_names(function: ast.FunctionDef) -> frozenset[str]:
    """The names of lists of equally long lists of numbers, which do not grow: matrices of Python's numbers.

        t = [[0] * m for _ in range(n)]            t = np.zeros((n, m), int)
        t[i][j] = t[i - 1][j] + 1         ->       t[i, j] = t[i - 1, j] + 1

    They are bound to such comprehensions alone, and otherwise only measured (`len(t)`, `len(t[i])`), and indexed twice.
    """
    nodes = walk(function)
    bound: set[str] = set()
    known: set[ast.AST] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name() as target], value=value) if table(value) is not None:
                bound.add(target.id)
                known.add(target)
            case ast.Subscript(
                value=ast.Subscript(value=ast.Name() as name, slice=row), slice=column, ctx=ctx
            ):
                if not isinstance(ctx, ast.Del) and _is_single(row) and _is_single(column):
                    known.add(name)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Subscript(value=ast.Name() as name, slice=row)]):
                if _is_single(row):
                    known.add(name)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as name]):
                known.add(name)
    return frozenset(bound - parameter_names(function) - other_uses(function, nodes, known))


def _is_single(index: ast.expr) -> bool:
    return not isinstance(index, ast.Slice | ast.Tuple)


def table(value: ast.expr) -> ast.ListComp | None:
    """A list of new lists as comprehensions: `[item] * m` in it is `[item for _ in range(m)]`; None for another."""
    match value:
        case ast.ListComp(elt=ast.ListComp(elt=item, generators=[_]), generators=[ast.comprehension(ifs=[])]):
            return None if isinstance(item, ast.List | ast.ListComp) else value
        case ast.ListComp(
            elt=ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=times),
            generators=[ast.comprehension(ifs=[])],
        ) if isinstance(item, ast.Constant | ast.Name | ast.Attribute | ast.UnaryOp):
            counter = ast.Call(ast.Name("range", ast.Load()), [times], [])
            row = ast.ListComp(item, [ast.comprehension(ast.Name("_", ast.Store()), counter, [], 0)])
            made = ast.copy_location(ast.ListComp(row, value.generators), value)
            return ast.fix_missing_locations(made)
        case _:
            return None
