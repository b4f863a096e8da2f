"""PolyBench's loops as C: each statement of a kernel's text by itself, and each pragma one of OpenMP's.

    # pragma parallel for                #pragma omp parallel for
    for i in range(n):            ->     for (long i = 0; i < n; i += 1) {
        s = 0.0                              double s = 0.0;
        for j in range(m):                   for (long j = 0; j < m; j += 1) {
            s += A[i, j] * x[j]                  s += A[i * A_1 + j] * x[j];
        y[i] = s                             } y[i] = s; }

Only the constructs that the kernels have are translated: numbers, arrays in C order, `range`, `if`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

PRAGMA = "# pragma parallel for"
_RANKS = ("weak int", "long", "weak float", "int", "float", "double")
"""Types, each of which is converted to a later one. Constants are weak, as Python's numbers are for NumPy."""
_FUNCTIONS = {"np.sqrt": "sqrt", "np.exp": "exp", "max": "larger", "min": "smaller"}
_HEAD = """#include <math.h>
#define larger(a, b) ((a) > (b) ? (a) : (b))
#define smaller(a, b) ((a) < (b) ? (a) : (b))
"""


def text_of(loops: Any) -> str:
    """The source of a kernel's loops, without decorators."""
    text = textwrap.dedent(inspect.getsource(loops.py_func))
    return text[text.index("def loops") :]


def parallel_lines(text: str) -> frozenset[int]:
    """The numbers of the lines whose loops have a pragma, those inside other such loops left out."""
    lines = text.split("\n")
    marked = {k + 2 for k, line in enumerate(lines) if line.strip() == PRAGMA}
    loops = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.For) and n.lineno in marked]
    inner = {n.lineno for loop in loops for n in ast.walk(loop) if n is not loop and isinstance(n, ast.For)}
    return frozenset(marked - inner)


def c_text(loops: Any, arguments: Mapping[str, Any]) -> str:
    """A C file with one function, `loops`: of an array, its elements and each length; of a number, itself."""
    text = text_of(loops)
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    return _HEAD + _Translation(function, arguments, parallel_lines(text)).text()


class _Translation:
    def __init__(
        self, function: ast.FunctionDef, arguments: Mapping[str, Any], parallel: frozenset[int]
    ) -> None:
        self.function, self.parallel = function, parallel
        self.arrays = {n: a for n, a in arguments.items() if np.ndim(a)}
        self.types = {n: _type_of(a) for n, a in arguments.items() if not np.ndim(a)}
        self.parameters: list[str] = []
        for name, value in arguments.items():
            if name in self.arrays:
                lengths = (f"const long {name}_{axis}" for axis in range(value.ndim))
                self.parameters += [f"{_type_of(value)} *restrict {name}", *lengths]
            else:
                self.parameters.append(f"const {self.types[name]} {name}")
        self.given = {*arguments}
        self.counters: set[str] = set()
        for _ in range(2):  # types of variables that are carried from one iteration to the next
            for node in ast.walk(function):
                match node:
                    case ast.For(target=ast.Name(id=name)):
                        self.types[name] = "long"
                        self.counters.add(name)
                    case (
                        ast.Assign(targets=[ast.Name(id=name)], value=value)
                        | ast.AugAssign(target=ast.Name(id=name), value=value)
                    ):
                        self.types[name] = _joined(self.types.get(name, "weak int"), self.type(value))
        strong = {"weak int": "long", "weak float": "double"}
        self.types = {name: strong.get(t, t) for name, t in self.types.items()}

    def text(self) -> str:
        declared = self.declared(self.types.keys() - self.given)
        body = self.block(self.function.body)
        return f"void loops({', '.join(self.parameters)}) {{\n{declared}\n{body}\n}}\n"

    # ---- variables

    def own(self, loop: ast.For) -> set[str]:
        """The variables that each iteration of a loop assigns before it reads them."""
        first: dict[str, bool] = {}
        for node in _in_order(loop.body):
            if isinstance(node, ast.Name):
                first.setdefault(node.id, isinstance(node.ctx, ast.Store))
        updated = {
            n.target.id
            for n in ast.walk(loop)
            if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
        }
        plain = {
            t.id
            for n in ast.walk(loop)
            if isinstance(n, ast.Assign)
            for t in n.targets
            if isinstance(t, ast.Name)
        }
        return {name for name, stores in first.items() if stores and (name not in updated or name in plain)}

    def declared(self, names: set[str]) -> str:
        return "\n".join(f"{self.types[name]} {name};" for name in sorted(names - self.counters))

    # ---- statements

    def statement(self, node: ast.stmt) -> str:
        match node:
            case ast.Assign(targets=[target], value=value):
                return f"{self.expression(target)} = {self.expression(value)};"
            case ast.AugAssign(target=target, op=op, value=value):
                return f"{self.expression(target)} {_OPERATORS[type(op)]}= {self.expression(value)};"
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=args), body=body):
                return self.loop(node, name, [self.expression(arg) for arg in args], args)
            case ast.If(test=test, body=body, orelse=[]):
                return f"if ({self.expression(test)}) {{ {self.block(body)} }}"
            case ast.Expr(value=ast.Constant()):
                return ""
            case _:
                raise ValueError(f"not translated: {ast.unparse(node)}")

    def loop(self, node: ast.For, name: str, bounds: list[str], args: list[ast.expr]) -> str:
        start, stop, step = ["0", *bounds, "1"] if len(bounds) == 1 else [*bounds, "1"][:3]
        downward = len(args) == 3 and isinstance(args[2], ast.UnaryOp)
        head = f"for (long {name} = {start}; {name} {'>' if downward else '<'} {stop}; {name} += {step})"
        if node.lineno not in self.parallel:
            return f"{head} {{\n{self.block(node.body)}\n}}"
        own = self.own(node)
        updated = {
            n.target.id: _OPERATORS[type(n.op)]
            for n in ast.walk(node)
            if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name) and n.target.id not in own
        }
        clauses = "".join(f" reduction({op}:{variable})" for variable, op in sorted(updated.items()))
        body = f"{self.declared(own)}\n{self.block(node.body)}"
        return f"\n#pragma omp parallel for{clauses}\n{head} {{\n{body}\n}}"

    def block(self, body: list[ast.stmt]) -> str:
        return "\n".join(map(self.statement, body))

    # ---- expressions

    def type(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=value):
                return "weak int" if isinstance(value, int) else "weak float"
            case ast.Name(id=name):
                return self.types.get(name, "weak int")
            case ast.Subscript(value=ast.Name(id=name)):
                return _type_of(self.arrays[name])
            case ast.Subscript():
                return "long"  # a length
            case ast.BinOp(left=left, op=op, right=right):
                found = _joined(self.type(left), self.type(right))
                whole = isinstance(op, ast.Div) and found in ("weak int", "long")
                return "weak float" if whole else found
            case ast.UnaryOp(operand=operand):
                return self.type(operand)
            case ast.IfExp(body=body, orelse=orelse):
                return _joined(self.type(body), self.type(orelse))
            case ast.Call(func=func, args=args) if ast.unparse(func) == "np.float32":
                return "float"
            case ast.Call(func=func, args=args):
                found = _joined(
                    self.type(args[0]), "weak float" if isinstance(func, ast.Attribute) else "weak int"
                )
                for arg in args[1:]:
                    found = _joined(found, self.type(arg))
                return found
            case _:
                raise ValueError(f"not translated: {ast.unparse(node)}")

    def expression(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=value):
                return repr(value)
            case ast.Name(id=name):
                return name
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name)), slice=ast.Constant(value=axis)):
                return f"{name}_{axis}"
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return f"{name}[{self.offset(name, index)}]"
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return f"pow({self.expression(left)}, {self.expression(right)})"
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return f"({self.typed(node, left)} / {self.expression(right)})"
            case ast.BinOp(left=left, op=op, right=right):
                return f"({self.typed(node, left)} {_OPERATORS[type(op)]} {self.typed(node, right)})"
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return f"(-{self.expression(operand)})"
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return f"({self.expression(left)} {_OPERATORS[type(op)]} {self.expression(right)})"
            case ast.BoolOp(op=op, values=values):
                return f"({_OPERATORS[type(op)].join(map(self.expression, values))})"
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return f"({self.expression(test)} ? {self.expression(body)} : {self.expression(orelse)})"
            case ast.Call(func=func, args=[arg]) if ast.unparse(func) == "np.float32":
                return f"(float){self.expression(arg)}"
            case ast.Call(func=func, args=args):
                return f"{_FUNCTIONS[ast.unparse(func)]}({', '.join(map(self.expression, args))})"
            case _:
                raise ValueError(f"not translated: {ast.unparse(node)}")

    def typed(self, whole: ast.expr, node: ast.expr) -> str:
        """An operand; a constant, or the dividend of whole numbers, in the type of the operation."""
        wanted = self.type(whole)
        is_whole = isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Div) and wanted == "weak float"
        casts = is_whole or (wanted == "float" and isinstance(node, ast.Constant))
        return (
            f"({'float' if wanted == 'float' else 'double'}){self.expression(node)}"
            if casts
            else self.expression(node)
        )

    def offset(self, name: str, index: ast.expr) -> str:
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        out = self.expression(parts[0])
        for axis, part in enumerate(parts[1:], 1):
            out = f"({out}) * {name}_{axis} + {self.expression(part)}"
        return out


_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Eq: "==", ast.NotEq: "!=", ast.And: " && ", ast.Or: " || ",
}  # fmt: skip


def _type_of(value: Any) -> str:
    names = {"float64": "double", "float32": "float", "int32": "int", "int64": "long"}
    return names[np.asarray(value).dtype.name]


def _joined(a: str, b: str) -> str:
    return max(a, b, key=_RANKS.index)


def _in_order(body: list[ast.stmt]) -> list[ast.AST]:
    """The nodes of statements, with the value of each assignment before its target."""
    out: list[ast.AST] = []
    for stmt in body:
        match stmt:
            case ast.Assign(targets=targets, value=value):
                out += [*ast.walk(value), *(n for t in targets for n in ast.walk(t))]
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                out += [ast.Name(name, ast.Load()), *ast.walk(value)]
            case ast.For(target=target, iter=bounds, body=inner):
                out += [*ast.walk(bounds), *ast.walk(target), *_in_order(inner)]
            case ast.If(test=test, body=inner):
                out += [*ast.walk(test), *_in_order(inner)]
            case _:
                out += ast.walk(stmt)
    return out
