"""The types of a function's parameters, inferred from how the function uses them.

    def f(a, idx, n, scale):
        for i in range(n):                  n: an int
            a[i, idx[i]] *= scale           a: an array with two axes; idx: one of ints, with one axis
                                            scale: a float

For looking at a program that does not run. An annotation counts more than use. Arrays are
float64 but for those whose elements are indices or bounds.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from appyc.ir.arguments import ArgType, ScalarArg
from appyc.ir.types import ArrayType, DType

_DTYPES = {d.value: d for d in DType if d.kind != "s"}
_SCALARS = {"int": DType.INT64, "float": DType.FLOAT64, "complex": DType.COMPLEX128, "bool": DType.BOOL}
_ARRAYS = frozenset({"ndarray", "NDArray", "ArrayLike"})
_WORD = re.compile(r"\w+")
_ROUNDS = 3


@dataclass
class Kinds:
    """Facts about names (dotted ones too: `self.a`). rank: axes seen; integers: used where an int must be."""

    rank: dict[str, int] = field(default_factory=dict)
    integers: set[str] = field(default_factory=set)
    index_arrays: set[str] = field(default_factory=set)

    def type_of(self, name: str, annotation: ast.expr | None = None) -> ArgType:
        """The type of a variable of this name."""
        tree = None if annotation_fault(annotation) is not None else _parsed(annotation)
        words = [] if tree is None else _WORD.findall(ast.unparse(tree))
        axes = 0 if tree is None else sum(isinstance(node, ast.Slice) for node in ast.walk(tree))
        declared = next((found for word in words if (found := _DTYPES.get(word) or _SCALARS.get(word))), None)
        if name in self.rank or axes or not _ARRAYS.isdisjoint(words):
            usual = DType.INT64 if name in self.index_arrays else DType.FLOAT64
            return ArrayType(declared or usual, self.rank.get(name) or axes or 1)
        usual = DType.INT64 if name in self.integers else DType.FLOAT64
        return ScalarArg(declared or usual, python=True)


def kinds_of(function: ast.FunctionDef, callees: Mapping[str, ast.FunctionDef]) -> Kinds:
    """The kinds of a function's names. callees: functions that it may call, by name."""
    return _kinds(function, callees, frozenset({function.name}))


def _kinds(function: ast.FunctionDef, callees: Mapping[str, ast.FunctionDef], seen: frozenset[str]) -> Kinds:
    out = Kinds()
    nodes = list(ast.walk(function))
    for node in nodes:
        _look_at_arrays(node, out)
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            callee = callees.get(node.func.id)
            if callee is not None and callee.name not in seen:
                _take_over(node, callee, _kinds(callee, callees, seen | {callee.name}), out)
    for _ in range(_ROUNDS):
        for node in nodes:
            _look_at_numbers(node, out)
    return out


def dotted(node: ast.expr) -> str | None:
    """`a`, `self.a`: the name of what can be typed by name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def _look_at_arrays(node: ast.AST, out: Kinds) -> None:
    match node:
        case ast.Subscript():
            depth, base = 0, node
            while isinstance(base, ast.Subscript):
                index = base.slice
                depth += len(index.elts) if isinstance(index, ast.Tuple) else 1
                if not isinstance(base.value, ast.Subscript):
                    break
                base = base.value
            owner = base.value
            if isinstance(owner, ast.Attribute) and owner.attr in ("shape", "strides"):
                number = node.slice.value if isinstance(node.slice, ast.Constant) else 0
                if isinstance(number, int):
                    _at_least(out, dotted(owner.value), number + 1 if number >= 0 else -number)
                return
            _at_least(out, dotted(owner), depth)
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Attribute(value=owner, attr="shape")):
            _at_least(out, dotted(owner), len(names))
        case ast.Attribute(value=owner, attr="shape" | "size" | "ndim" | "T"):
            _at_least(out, dotted(owner), 1)
        case ast.Call(func=ast.Name(id="len"), args=[arg]):
            _at_least(out, dotted(arg), 1)


def _at_least(out: Kinds, name: str | None, rank: int) -> None:
    if name is not None:
        out.rank[name] = max(rank, out.rank.get(name, 0))


def _take_over(call: ast.Call, callee: ast.FunctionDef, kinds: Kinds, out: Kinds) -> None:
    """Infers the kinds of a call's arguments from those of the callee's parameters."""
    parameters = [*callee.args.posonlyargs, *callee.args.args]
    for argument, parameter in zip(call.args, parameters, strict=False):
        name = dotted(argument)
        if name is None:
            continue
        if parameter.arg in kinds.rank:
            _at_least(out, name, kinds.rank[parameter.arg])
        if parameter.arg in kinds.integers:
            out.integers.add(name)
        if parameter.arg in kinds.index_arrays:
            out.index_arrays.add(name)


def _look_at_numbers(node: ast.AST, out: Kinds) -> None:
    match node:
        case ast.For(iter=ast.Call(func=function, args=bounds), target=target):
            if ast.unparse(function).rpartition(".")[2] in ("range", "prange"):
                for bound in bounds:
                    _is_integer(bound, out)
                _is_integer(target, out)
        case ast.Subscript(slice=index):
            for part in index.elts if isinstance(index, ast.Tuple) else [index]:
                ends = (part.lower, part.upper, part.step) if isinstance(part, ast.Slice) else (part,)
                for end in ends:
                    if end is not None:
                        _is_integer(end, out)
        case ast.BinOp(op=ast.LShift() | ast.RShift() | ast.BitAnd() | ast.BitXor(), left=left, right=right):
            _is_integer(left, out)
            _is_integer(right, out)
        case ast.Assign(targets=[target], value=value):
            name = dotted(target)
            if name in out.integers:
                _is_integer(value, out)
        case ast.Call(func=ast.Attribute(attr="zeros" | "empty" | "ones" | "full"), args=[shape, *_]):
            for part in shape.elts if isinstance(shape, ast.Tuple) else [shape]:
                _is_integer(part, out)


def _is_integer(node: ast.expr, out: Kinds) -> None:
    """Notes that an expression is an int, and so the names that it is made of."""
    match node:
        case ast.Name() | ast.Attribute():
            name = dotted(node)
            if name is not None and name not in out.rank:
                out.integers.add(name)
        case ast.Subscript(value=owner):
            name = dotted(owner)
            if name is not None and not name.endswith((".shape", ".strides")):
                out.index_arrays.add(name)
        case ast.BinOp(left=left, right=right):
            _is_integer(left, out)
            _is_integer(right, out)
        case ast.UnaryOp(operand=operand):
            _is_integer(operand, out)
        case ast.Call(func=ast.Name(id="min" | "max"), args=args):
            for arg in args:
                _is_integer(arg, out)


# ---------------------------------------------------------------- annotations


def annotation_fault(annotation: ast.expr | None) -> str | None:
    """The error in a quoted annotation such as `"float32[:"` or `"float23[:]"`; None of one that may be
    right."""
    if not isinstance(annotation, ast.Constant) or not isinstance(annotation.value, str):
        return None
    text = annotation.value
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return f"the annotation {text!r} cannot be read, and is left out: an array's is like 'float32[:, :]'"
    match tree:
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            if name not in {*_DTYPES, *_SCALARS} and all(isinstance(part, ast.Slice) for part in parts):
                close = get_close_matches(name, _DTYPES, 1, 0.6)
                meant = f"did you mean {close[0]!r}?" if close else f"types are {', '.join(_DTYPES)}"
                return f"the annotation {text!r} is left out, as {name!r} is no type of elements: {meant}"
    return None


def _parsed(annotation: ast.expr | None) -> ast.expr | None:
    """An annotation, a quoted one as what it says; None for a constant that is no text."""
    if not isinstance(annotation, ast.Constant):
        return annotation
    return (
        ast.parse(annotation.value.strip(), mode="eval").body if isinstance(annotation.value, str) else None
    )
