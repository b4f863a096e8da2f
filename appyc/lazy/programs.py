"""Recorded statements as a Python function, which is compiled like any other.

    c = a * x + y; s = c.sum()              def recorded(p0, p1, s0):
                                                t0 = np.multiply(p0, s0)
                                ->              t1 = np.add(t0, p1)
                                                t2 = np.sum(t1, axis=(0,), keepdims=False)
                                                return t1, t2

Arrays that exist are parameters, and so are numbers and the bounds of slices; what can still be
reached afterwards is returned. Equal structures are one function, whatever the sizes.
Where an operand is stretched, the text says so (`p0[:, 0, None]`): the compiler then knows it.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import math
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import TypeAlias

import numpy as np

from appyc.lazy.operations import Call, Choose, Convert, Place, Pointwise, Power, Product, Reduction, Running
from appyc.lazy.recording import Buffer, CallStatement, Operand, Own, Recorded, Scalar, Site, Statement
from appyc.lazy.views import NEAR, Index, Path, Reshape, Step, Transpose

Key: TypeAlias = tuple[object, ...]


@dataclass(slots=True)
class Gathered:
    """Statements without what they hold: their structure, and the arguments of a call.

    buffers: by their numbers; weakly what the statements make, as the statements themselves do.
    """

    lines: list[Key] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    buffers: list[Buffer | weakref.ref[Buffer]] = field(default_factory=list)
    is_made: list[bool] = field(default_factory=list)
    scalars: list[Scalar] = field(default_factory=list)
    work: int = 0
    """Elements computed, in all."""

    @property
    def inputs(self) -> list[Buffer]:
        return [buffer for buffer in self.buffers if isinstance(buffer, Buffer)]

    def arguments(self) -> tuple[object, ...]:
        """Of a call: the arrays that exist, and the numbers."""
        return (*(_argument(buffer) for buffer in self.inputs), *self.scalars)

    def reachable(self) -> list[tuple[int, Buffer]]:
        """What the statements make and somebody still holds, once the statements are gone."""
        found = ((k, b()) for k, b in enumerate(self.buffers) if isinstance(b, weakref.ref))
        return [(k, buffer) for k, buffer in found if buffer is not None]

    def key(self, returned: Sequence[int]) -> Key:
        """Equal for equal code."""
        return (tuple(self.lines), tuple(self.is_made), tuple(returned))


def _argument(buffer: Buffer) -> object:
    memory = buffer.memory
    assert memory is not None, "a program reads what has not been computed"
    return memory if memory.ndim else memory[()]


_STILL: Mapping[tuple[int, int], int] = {}


class _Gatherer:
    def __init__(self) -> None:
        self.out = Gathered()
        self.numbers: dict[int, int] = {}

    def statement(self, statement: Recorded) -> None:
        out = self.out
        out.sites.append(statement.site)
        if isinstance(statement, CallStatement):
            self._call(statement)
            return
        target = statement.target()
        assert target is not None, "a statement that nobody needs was to run"
        operands = tuple(self._operand(o, statement) for o in statement.operands)
        if statement.path is None:
            out.lines.append((statement.operation, operands, self._number(target, made=True), None))
        else:
            place = self._path(statement.path)
            out.lines.append((statement.operation, operands, self._number(target), place))
        out.work += math.prod(statement.shape)

    def _call(self, statement: CallStatement) -> None:
        operands = []
        for number, operand in enumerate(statement.operands):
            moving = {(m.step, m.item): m.by for m in statement.moves if m.operand == number}
            operands.append(self._operand(operand, statement, moving))
        made = (made() for made in statement.made)
        numbers = tuple(None if buffer is None else self._number(buffer, made=True) for buffer in made)
        times = None if statement.count == 1 else ("times", self._scalar(statement.count))
        self.out.lines.append((statement.operation, tuple(operands), numbers, times))
        self.out.work += sum(math.prod(buffer.shape) for buffer in statement.reads())

    def _number(self, buffer: Buffer, *, made: bool = False) -> int:
        number = self.numbers.get(id(buffer))
        if number is None:
            number = self.numbers[id(buffer)] = len(self.out.buffers)
            self.out.buffers.append(weakref.ref(buffer) if made else buffer)
            self.out.is_made.append(made)
        return number

    def _operand(
        self, operand: Operand, statement: Recorded, moving: Mapping[tuple[int, int], int] = _STILL
    ) -> Key:
        match operand:
            case bool() | int() | float() | complex() | np.generic():
                return ("scalar", self._scalar(operand))
            case Own(path, shape):
                assert isinstance(statement, Statement)
                target = statement.target()
                assert target is not None
                return ("array", self._number(target), self._path(path), _stretch(shape, statement))
            case _:
                number = self._number(operand.buffer)
                return ("array", number, self._path(operand.path, moving), _stretch(operand.shape, statement))

    def _scalar(self, value: Scalar) -> int:
        self.out.scalars.append(value)
        return len(self.out.scalars) - 1

    def _path(self, path: Path, moving: Mapping[tuple[int, int], int] = _STILL) -> Key:
        return tuple(self._step(step, number, moving) for number, step in enumerate(path))

    def _step(self, step: Step, number: int, moving: Mapping[tuple[int, int], int]) -> Key:
        match step:
            case Index(items):
                return ("index", tuple(self._item(i, moving.get((number, k))) for k, i in enumerate(items)))
            case Transpose(axes):
                return ("transpose", axes)
            case Reshape(shape):
                return ("reshape", tuple(self._scalar(extent) for extent in shape))

    def _item(self, item: int | slice | None, moves_by: int | None = None) -> Key | None:
        match item:
            case None:
                return None
            case slice(start=start, stop=stop, step=step) if moves_by is not None:
                begin = self._scalar(start or 0)
                end = ("moving", begin, moves_by, stop - (start or 0))
                return ("slice", ("moving", begin, moves_by, 0), end, step)
            case int() if moves_by is not None:
                return ("moving", self._scalar(item), moves_by, 0)
            case slice(start=start, stop=stop, step=step):
                return ("slice", self._bound(start), self._bound(stop), step)
            case _:
                return self._bound(item)

    def _bound(self, value: int | None) -> Key | None:
        if value is None:
            return None
        if -NEAR <= value <= NEAR:
            return ("constant", value)
        return ("scalar", self._scalar(value))


def _stretch(shape: tuple[int, ...], statement: Recorded) -> tuple[bool, ...]:
    """Which axes of an operand have one element where the result has another number."""
    if not isinstance(statement.operation, Pointwise | Power | Choose):
        return ()
    whole = statement.shape
    if shape == whole or not shape:
        return ()
    own = whole[len(whole) - len(shape) :]
    axes = tuple(mine == 1 and other != 1 for mine, other in zip(shape, own, strict=True))
    return axes if any(axes) else ()


def gather(statements: Sequence[Recorded]) -> Gathered:
    """What a call needs, in one walk over the statements."""
    gatherer = _Gatherer()
    for statement in statements:
        gatherer.statement(statement)
    return gatherer.out


# ---------------------------------------------------------------- as a function


@dataclass(frozen=True, slots=True)
class Text:
    """A recorded function. lines: of the text, for each recorded statement."""

    function: FunctionType
    lines: tuple[int, ...]


_serial = itertools.count(1)

_ROUND = "r"
"""The variable of a loop of calls."""


def as_function(found: Gathered, returned: Sequence[int]) -> Text:
    """The statements as a Python function of the arrays and the numbers, in this order."""
    writer = _Writer(found)
    body: list[ast.stmt] = []
    lines = []
    for line in found.lines:
        body.extend(writer.statement(line))
        written = sum(2 if isinstance(stmt, ast.For) else 1 for stmt in body)
        lines.append(written + 1)
    names: list[ast.expr] = [_name(writer.name(number)) for number in returned]
    body.append(ast.Return(ast.Tuple(names, ast.Load())))
    parameters = [writer.name(k) for k, made in enumerate(found.is_made) if not made]
    parameters += [f"s{k}" for k in range(len(found.scalars))]
    arguments = ast.arguments([], [ast.arg(name) for name in parameters], None, [], [], None, [])
    definition = ast.FunctionDef("recorded", arguments, body, [], None, None)
    tree = ast.fix_missing_locations(ast.Module([definition], []))
    text = ast.unparse(tree) + "\n"
    file = f"<recorded-{next(_serial)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names_there: dict[str, object] = {"np": np, "__name__": "recorded", **writer.functions}
    exec(compile(text, file, "exec"), names_there)
    function = names_there["recorded"]
    assert isinstance(function, FunctionType)
    return Text(function, tuple(lines))


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _numpy(name: str) -> ast.expr:
    return ast.Attribute(_name("np"), name, ast.Load())


def _call(name: str, *args: ast.expr, **keywords: ast.expr) -> ast.expr:
    return ast.Call(_numpy(name), list(args), [ast.keyword(k, v) for k, v in keywords.items()])


class _Writer:
    """Python's syntax for gathered statements."""

    def __init__(self, found: Gathered) -> None:
        self.found = found
        self.views = itertools.count()
        self.functions: dict[str, object] = {}
        """Functions that the text calls, by their names in it."""

    def name(self, number: int) -> str:
        return f"{'t' if self.found.is_made[number] else 'p'}{number}"

    def statement(self, line: Key) -> list[ast.stmt]:
        operation, operands, target, place = line
        assert isinstance(operands, tuple)
        if isinstance(operation, Call):
            assert isinstance(target, tuple)
            call = self._call(operation, operands, target)
            match place:
                case ("times", int(count)):
                    times = ast.Call(_name("range"), [_name(f"s{count}")], [])
                    return [ast.For(ast.Name(_ROUND, ast.Store()), times, [call], [])]
                case _:
                    return [call]
        assert isinstance(target, int)
        value = self._value(operation, [self._operand(o) for o in operands])
        if place is None:
            return [ast.Assign([ast.Name(self.name(target), ast.Store())], value)]
        assert isinstance(place, tuple)
        out: list[ast.stmt] = []
        items: ast.expr = ast.Constant(...)
        if place and place[-1][0] == "index":  # `p[3] = x`, which may be one element
            items = self._items(place[-1][1])
            place = place[:-1]
        view = self.name(target)
        if place:
            view = f"v{next(self.views)}"
            out.append(ast.Assign([ast.Name(view, ast.Store())], self._view(target, place)))
        return [*out, ast.Assign([ast.Subscript(_name(view), items, ast.Store())], value)]

    def _call(self, operation: Call, operands: Key, made: Key) -> ast.stmt:
        name = next(
            (n for n, f in self.functions.items() if f is operation.function), f"f{len(self.functions)}"
        )
        self.functions[name] = operation.function
        call = ast.Call(_name(name), [self._operand(o) for o in operands], [])
        if not made:
            return ast.Expr(call)
        names: list[ast.expr] = [
            ast.Name(self.name(number) if isinstance(number, int) else "_", ast.Store()) for number in made
        ]
        return ast.Assign([names[0] if operation.single else ast.Tuple(names, ast.Store())], call)

    def _value(self, operation: object, operands: list[ast.expr]) -> ast.expr:
        match operation:
            case Pointwise(ufunc):
                return _call(ufunc.__name__, *operands)
            case Power(exponent):
                return ast.BinOp(operands[0], ast.Pow(), ast.Constant(exponent))
            case Choose():
                return _call("where", *operands)
            case Convert(dtype):
                method = ast.Attribute(operands[0], "astype", ast.Load())
                return ast.Call(method, [_numpy("bool_" if dtype.kind == "b" else dtype.name)], [])
            case Reduction(name, axes, keepdims, ddof):
                axis = (
                    ast.Constant(None)
                    if axes is None
                    else ast.Tuple([ast.Constant(a) for a in axes], ast.Load())
                )
                more = {"ddof": ast.Constant(ddof)} if name in ("var", "std") else {}
                return _call(name, *operands, axis=axis, keepdims=ast.Constant(keepdims), **more)
            case Place(name, axis, keepdims):
                return _call(name, *operands, axis=ast.Constant(axis), keepdims=ast.Constant(keepdims))
            case Running(name, axis):
                return _call(name, *operands, axis=ast.Constant(axis))
            case Product():
                return ast.BinOp(operands[0], ast.MatMult(), operands[1])
            case _:
                raise AssertionError(f"no text for {operation}")

    def _operand(self, key: object) -> ast.expr:
        assert isinstance(key, tuple)
        match key:
            case ("scalar", int(number)):
                return _name(f"s{number}")
            case ("array", int(number), tuple(path), tuple(stretched)):
                found = self._view(number, path)
                if not stretched:
                    return found
                items: list[ast.expr] = []
                for axis in stretched:
                    items += [ast.Constant(0), ast.Constant(None)] if axis else [ast.Slice()]
                return ast.Subscript(found, ast.Tuple(items, ast.Load()), ast.Load())
            case _:
                raise AssertionError(f"no text for {key}")

    def _view(self, number: int, path: Key) -> ast.expr:
        out: ast.expr = _name(self.name(number))
        for step in path:
            assert isinstance(step, tuple)
            match step:
                case ("index", items):
                    out = ast.Subscript(out, self._items(items), ast.Load())
                case ("transpose", axes):
                    numbers: list[ast.expr] = [ast.Constant(a) for a in axes]
                    out = ast.Call(ast.Attribute(out, "transpose", ast.Load()), numbers, [])
                case ("reshape", extents):
                    names: list[ast.expr] = [_name(f"s{e}") for e in extents]
                    shape = ast.Tuple(names, ast.Load())
                    out = ast.Call(ast.Attribute(out, "reshape", ast.Load()), [shape], [])
        return out

    def _items(self, items: Key) -> ast.expr:
        return ast.Tuple([self._item(item) for item in items], ast.Load())

    def _item(self, item: object) -> ast.expr:
        match item:
            case None:
                return ast.Constant(None)
            case ("slice", start, stop, step):
                step_there = ast.Constant(step) if isinstance(step, int) and step != 1 else None
                return ast.Slice(self._bound(start), self._bound(stop), step_there)
            case _:
                found = self._bound(item)
                assert found is not None
                return found

    def _bound(self, key: object) -> ast.expr | None:
        match key:
            case None:
                return None
            case ("constant", int(value)):
                return ast.Constant(value)
            case ("scalar", number):
                return _name(f"s{number}")
            case ("moving", number, int(by), int(plus)):
                way = ast.BinOp(_name(_ROUND), ast.Mult(), ast.Constant(by))
                here = ast.BinOp(_name(f"s{number}"), ast.Add(), way)
                return ast.BinOp(here, ast.Add(), ast.Constant(plus)) if plus else here
            case _:
                raise AssertionError(f"no text for {key}")
