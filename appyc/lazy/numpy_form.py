"""The form of a recorded function that NumPy runs: temporaries are written where they are used, and names end with
their last use.

    t1 = np.multiply(s0, p0)
    t2 = np.multiply(s1, p1)                t3 = np.multiply(s0, p0) + np.multiply(s1, p1)
    t3 = np.add(t1, t2)             ->      t4 = np.matmul(t3, t3)
    t4 = np.matmul(t3, t3)                  del t3

NumPy computes `a * x + b * y` in the memory of `a * x`, since nothing else refers to that. It does so for operators. A
result with a name gets new memory, whose pages the system clears first.

A temporary keeps its name if it is read more than once, or if anything is stored before it is read.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

_BINARY: dict[str, type[ast.operator]] = {
    "add": ast.Add, "subtract": ast.Sub, "multiply": ast.Mult, "true_divide": ast.Div,
    "bitwise_and": ast.BitAnd, "bitwise_or": ast.BitOr, "bitwise_xor": ast.BitXor, "left_shift": ast.LShift,
    "right_shift": ast.RShift,
}  # fmt: skip
"""Ufuncs whose operators store in the memory of an operand without a name."""

_UNARY: dict[str, type[ast.unaryop]] = {"negative": ast.USub, "invert": ast.Invert}

_DEEPEST = 50
"""Maximum number of temporaries in each other, for Python's compiler."""


def numpy_form(tree: ast.Module) -> ast.Module:
    """The module of the recorded function as NumPy runs it. Nodes keep their lines, by which errors are found."""
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef)
    definition.body = _with_deletions(_nested(definition.body))
    return tree


def names_in(statements: Sequence[ast.stmt], context: type[ast.expr_context]) -> list[str]:
    """The names that are read or bound, as often as they are."""
    nodes = (node for stmt in statements for node in ast.walk(stmt))
    return [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)]


class _Nesting(ast.NodeTransformer):
    """Writes temporaries where they are read. depth: of those in this statement. inserted: how many were."""

    def __init__(self) -> None:
        self.waiting: dict[str, tuple[ast.Assign, int]] = {}
        """Statements that bind temporaries, by their names, and how deep their expressions are."""
        self.depth = self.inserted = 0

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.waiting:
            return node
        stmt, depth = self.waiting.pop(node.id)
        self.depth = max(self.depth, depth)
        self.inserted += 1
        return stmt.value

    def visit_Call(self, node: ast.Call) -> ast.expr:
        before = self.inserted
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) and not node.keywords else ""
        found: ast.expr = node
        if self.inserted > before and name in _BINARY:
            found = ast.BinOp(node.args[0], _BINARY[name](), node.args[1])
        elif self.inserted > before and name in _UNARY:
            found = ast.UnaryOp(_UNARY[name](), node.args[0])
        return ast.copy_location(found, node)


def _nested(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    uses, bound = Counter(names_in(body, ast.Load)), Counter(names_in(body, ast.Store))
    nesting = _Nesting()
    out: list[ast.stmt] = []
    for stmt in body:
        nesting.depth = 0
        if not isinstance(stmt, ast.For):  # whose body would compute them again
            nesting.visit(stmt)
        match stmt:
            case ast.Assign([ast.Name(name)], value) if not _is_call_of_compiled(value):
                if uses[name] == bound[name] == 1 and nesting.depth < _DEEPEST:
                    nesting.waiting[name] = (stmt, nesting.depth + 1)
                else:
                    out.append(stmt)
            case _:
                out += [made for made, _ in nesting.waiting.values()]
                nesting.waiting.clear()
                out.append(stmt)
    return out


def _is_call_of_compiled(value: ast.expr) -> bool:
    """Whether it may store into its arguments."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name)


def _with_deletions(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Temporaries give their memory back after the last statement that reads them, as in the program."""
    assigned = set(names_in([stmt for stmt in body if isinstance(stmt, ast.Assign)], ast.Store))
    used = set(names_in(body[-1:], ast.Load))
    out = list(body[-1:])
    for stmt in reversed(body[:-1]):
        names = {*names_in([stmt], ast.Load), *names_in([stmt], ast.Store)}
        last = sorted((names & assigned) - used)
        used.update(last)
        if last:
            deletion = ast.Delete([ast.Name(name, ast.Del()) for name in last])
            out.append(ast.fix_missing_locations(ast.copy_location(deletion, stmt)))
        out.append(stmt)
    return out[::-1]
