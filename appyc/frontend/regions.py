"""Functions made of statements: the definition of an outlined region, its call, and the compiled function."""

from __future__ import annotations

import ast
import copy
from types import CellType, CodeType, FunctionType

from appyc.frontend.access import closure_cells
from appyc.frontend.desugar.building import located, read


def region_definition(
    name: str, inputs: list[str], outputs: list[str], body: list[ast.stmt]
) -> ast.FunctionDef:
    """The definition of a region's function: parameters are its live-in names, results its live-out names."""
    arguments = ast.arguments([], [ast.arg(n) for n in inputs], None, [], [], None, [])
    returned = located(ast.Return(ast.Tuple([read(n) for n in outputs], ast.Load())), body[-1])
    return located(ast.FunctionDef(name, arguments, [*body, returned], []), body[0])


def region_call(callee: ast.expr, inputs: list[str], outputs: list[str], replaced: ast.stmt) -> ast.stmt:
    """`outputs = callee(inputs)`, with the source location of the statement that it replaces."""
    call = ast.Call(callee, [read(n) for n in inputs], [])
    targets = ast.Tuple([ast.Name(n, ast.Store()) for n in outputs], ast.Store())
    return located(ast.Assign([targets], call) if outputs else ast.Expr(call), replaced)


_ANY_NAME = "defined_inside"


def function_of(fn: FunctionType, node: ast.FunctionDef, extra: dict[str, object]) -> FunctionType:
    """Compiles the definition to a function with `fn`'s globals and closure, and the extra free variables."""
    cells = closure_cells(fn) | {name: CellType(value) for name, value in extra.items()}
    named = copy.copy(node)
    named.name = _ANY_NAME  # its own name must keep its outer binding
    outer = ast.FunctionDef(
        "outer", ast.arguments([], [ast.arg(n) for n in cells], None, [], [], None, []), [named], []
    )
    ast.copy_location(outer, node)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = _inner_code(_inner_code(compile(module, fn.__code__.co_filename, "exec"), "outer"), _ANY_NAME)
    is_host = node.name == fn.__code__.co_name
    qualname = fn.__qualname__ if is_host else f"{fn.__qualname__}.{node.name}"
    code = code.replace(co_name=node.name, co_qualname=qualname)
    closure = tuple(cells[name] for name in code.co_freevars)
    out = FunctionType(code, fn.__globals__, node.name, fn.__defaults__ if is_host else None, closure)
    if is_host:
        out.__kwdefaults__ = fn.__kwdefaults__
    out.__qualname__ = qualname
    out.__module__ = fn.__module__
    return out


def _inner_code(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
