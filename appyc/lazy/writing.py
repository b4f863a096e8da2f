"""Code generation for recorded statements: Python's syntax for the structures of `gathering` (see `programs`)."""

from __future__ import annotations

import ast
import itertools
from typing import Any

import numpy as np

from appyc.lazy.equal_lengths import Length
from appyc.lazy.gathering import Form, Gathered, Line
from appyc.lazy.operations import (
    Apply,
    Call,
    Convert,
    Copy,
    Create,
    Gather,
    Pointwise,
    Power,
    Product,
    Scatter,
)

_ROUND = "r"
"""The variable of a loop of calls."""


def name_of(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _numpy(name: str) -> ast.expr:
    found: ast.expr = name_of("np")
    for part in name.split("."):
        found = ast.Attribute(found, part, ast.Load())
    return found


def _type(dtype: np.dtype) -> ast.expr:
    if dtype.kind in "iufc" and dtype.isnative:
        return _numpy(dtype.name)
    return (
        _numpy("bool_") if dtype.kind == "b" else _call("dtype", ast.Constant(dtype.str))
    )  # text, times, ...


def _call(name: str, *args: ast.expr, **keywords: ast.expr) -> ast.expr:
    return ast.Call(_numpy(name), list(args), [ast.keyword(k, v) for k, v in keywords.items()])


def _argument(value: Any) -> ast.expr:
    """An operand, a constant, or a tuple of such."""
    if isinstance(value, ast.expr):
        return value
    if isinstance(value, tuple):
        return ast.Tuple([_argument(v) for v in value], ast.Load())
    return ast.Constant(value)


class Writer:
    """Python's syntax for gathered statements."""

    def __init__(self, found: Gathered) -> None:
        self.found = found
        self.views = itertools.count()
        self.numbers = itertools.count()
        """Of the arguments that are numbers: forms take them in turn."""
        self.functions: dict[str, object] = {}
        """Functions that the text calls, by their names in it."""

    def equalities(self) -> list[ast.stmt]:
        """What the compiler may know about the lengths of inputs."""
        return [
            ast.Assert(ast.Compare(self._length(one), [ast.Eq()], [self._length(two)]))
            for one, two in self.found.lengths.equal
        ]

    def _length(self, length: Length) -> ast.expr:
        if length.axis < 0:
            found: ast.expr = name_of(f"n{length.number}")
        else:
            shape = ast.Attribute(name_of(self.found.name(length.number)), "shape", ast.Load())
            found = ast.Subscript(shape, ast.Constant(length.axis), ast.Load())
        if length.more == 0:
            return found
        return ast.BinOp(found, ast.Add() if length.more > 0 else ast.Sub(), ast.Constant(abs(length.more)))

    def statement(self, line: Line) -> list[ast.stmt]:
        operation, forms, target, path = line
        operands = [self._operand(form) for form in forms]
        if isinstance(operation, Call):
            assert isinstance(target, tuple)
            calls = self._call(operation, operands, target)
            if path is None:
                return calls
            times = ast.Call(name_of("range"), [self._number()], [])
            return [ast.For(ast.Name(_ROUND, ast.Store()), times, calls, [])]
        assert isinstance(target, int)
        if isinstance(operation, Scatter):
            assert path is not None
            return self._scatter(operation, operands, target, path)
        value = self._value(operation, operands)
        if path is None:
            return [ast.Assign([ast.Name(self.found.name(target), ast.Store())], value)]
        is_indexed = bool(path) and _is_index(path[-1])  # `p[3] = x`, which may be one element
        naming, view = self._stored_view(target, path, len(path) - is_indexed)
        items = self._items(path[-1]) if is_indexed else ast.Constant(...)
        return [*naming, ast.Assign([ast.Subscript(view, items, ast.Store())], value)]

    def _stored_view(
        self, target: int, path: tuple[object, ...], count: int
    ) -> tuple[list[ast.stmt], ast.expr]:
        """The view of a target by the first `count` steps of a path, and the statement that binds it to a name."""
        view: ast.expr = name_of(self.found.name(target))
        if count == 0:
            return [], view
        for step, following in zip(path[:count], (*path[1:], None), strict=False):
            view = self._step(view, step, following)
        name = f"v{next(self.views)}"
        return [ast.Assign([ast.Name(name, ast.Store())], view)], name_of(name)

    def _scatter(
        self, operation: Scatter, operands: list[ast.expr], target: int, path: tuple[object, ...]
    ) -> list[ast.stmt]:
        value, *indices = operands
        naming, view = self._stored_view(target, path, len(path))
        items = ast.Tuple(indices, ast.Load()) if len(indices) > 1 else indices[0]
        if operation.ufunc is None:
            return [*naming, ast.Assign([ast.Subscript(view, items, ast.Store())], value)]
        function = ast.Attribute(_numpy(operation.ufunc.__name__), "at", ast.Load())
        return [*naming, ast.Expr(ast.Call(function, [view, items, value], []))]

    def _number(self) -> ast.expr:
        return name_of(f"s{next(self.numbers)}")

    def _call(
        self, operation: Call, operands: list[ast.expr], made: tuple[int | None, ...]
    ) -> list[ast.stmt]:
        """The call. A number of Python's that it returns becomes NumPy's, which it was recorded as."""
        name = next(
            (n for n, f in self.functions.items() if f is operation.function), f"f{len(self.functions)}"
        )
        self.functions[name] = operation.function
        call = ast.Call(name_of(name), operands, [])
        if not made:
            return [ast.Expr(call)]
        names: list[ast.expr] = [
            ast.Name(self.found.name(number) if isinstance(number, int) else "_", ast.Store())
            for number in made
        ]
        out: list[ast.stmt] = [
            ast.Assign([names[0] if operation.single else ast.Tuple(names, ast.Store())], call)
        ]
        for number, dtype, is_pythons in zip(made, operation.results, operation.python, strict=True):
            if isinstance(number, int) and is_pythons:
                name = self.found.name(number)
                value = ast.Call(_type(dtype), [name_of(name)], [])
                out.append(ast.Assign([ast.Name(name, ast.Store())], value))
        return out

    def _value(self, operation: object, operands: list[ast.expr]) -> ast.expr:
        match operation:
            case Pointwise(function):
                return _call(function.__name__, *operands)
            case Power(exponent):
                return ast.BinOp(operands[0], ast.Pow(), ast.Constant(exponent))
            case Gather():
                items = ast.Tuple(operands[1:], ast.Load()) if len(operands) > 2 else operands[1]
                return ast.Subscript(operands[0], items, ast.Load())
            case Copy():
                return ast.Call(ast.Attribute(operands[0], "copy", ast.Load()), [], [])
            case Convert(dtype):
                return ast.Call(ast.Attribute(operands[0], "astype", ast.Load()), [_type(dtype)], [])
            case Create(name, dtype):
                rank = len(operands) - (name == "full")
                shape = ast.Tuple(operands[:rank], ast.Load())
                return _call(name, shape, *operands[rank:], dtype=_type(dtype))
            case Apply(keywords=keywords):
                args, _ = operation.filled(operands)
                named = [ast.keyword(k, _argument(v)) for k, v in keywords]
                return ast.Call(_numpy(operation.name), [_argument(arg) for arg in args], named)
            case Product():
                return ast.BinOp(operands[0], ast.MatMult(), operands[1])
            case _:
                raise AssertionError(f"no text for {operation}")

    def _operand(self, form: Form) -> ast.expr:
        if isinstance(form, str):
            return self._number()
        if isinstance(form, int):
            return name_of(self.found.name(form))
        if len(form) == 2:
            return self._length(self.found.lengths.created[form[1]])
        number, path, stretched = form
        found: ast.expr = name_of(self.found.name(number))
        for step in path:
            found = self._step(found, step)
        if not stretched:
            return found
        items: list[ast.expr] = []
        for axis in stretched:
            items += [ast.Constant(0), ast.Constant(None)] if axis else [ast.Slice()]
        return ast.Subscript(found, ast.Tuple(items, ast.Load()), ast.Load())

    def _step(self, view: ast.expr, step: object, following: object = None) -> ast.expr:
        """A step of the path to a view. following: the next step to a view that is stored into."""
        match step:
            case ("index", tuple(items)):
                whole = self._items(step)
                if not any(item is None or _is_slice(item) for item in items) and _adds_axes(following):
                    whole.elts.append(ast.Constant(...))  # a view, where NumPy gives a number without it
                return ast.Subscript(view, whole, ast.Load())
            case ("transpose", tuple(axes)):
                numbers: list[ast.expr] = [ast.Constant(a) for a in axes]
                return ast.Call(ast.Attribute(view, "transpose", ast.Load()), numbers, [])
            case ("reshape", int(rank)):
                shape = ast.Tuple([self._number() for _ in range(rank)], ast.Load())
                return ast.Call(ast.Attribute(view, "reshape", ast.Load()), [shape], [])
            case _:
                raise AssertionError(f"no text for {step}")

    def _items(self, step: object) -> ast.Tuple:
        assert isinstance(step, tuple)
        return ast.Tuple([self._item(item) for item in step[1]], ast.Load())

    def _item(self, item: object) -> ast.expr:
        match item:
            case ("slice", start, stop, step):
                first, last = self._bound(start), self._bound(stop)
                return ast.Slice(first, last, _step_of(step))
            case ("moving slice", int(by), int(length), step):
                begin = self._moving(by)
                return ast.Slice(begin, ast.BinOp(begin, ast.Add(), ast.Constant(length)), _step_of(step))
            case ("moving", int(by)):
                return self._moving(by)
            case None:
                return ast.Constant(None)
            case _:
                found = self._bound(item)
                assert found is not None
                return found

    def _moving(self, by: int) -> ast.expr:
        way = ast.BinOp(name_of(_ROUND), ast.Mult(), ast.Constant(by))
        return ast.BinOp(self._number(), ast.Add(), way)

    def _bound(self, bound: object) -> ast.expr | None:
        if bound is None:
            return None
        return ast.Constant(bound) if isinstance(bound, int) else self._number()


def _is_index(step: object) -> bool:
    return isinstance(step, tuple) and step[0] == "index"


def _is_slice(item: object) -> bool:
    return isinstance(item, tuple) and item[0] in ("slice", "moving slice")


def _adds_axes(step: object) -> bool:
    """Whether a step may lead to a view of an array without axes."""
    match step:
        case ("reshape", _):
            return True
        case ("index", tuple(items)):
            return bool(items) and all(item is None for item in items)
        case _:
            return False


def _step_of(step: object) -> ast.expr | None:
    return ast.Constant(step) if isinstance(step, int) and step != 1 else None
