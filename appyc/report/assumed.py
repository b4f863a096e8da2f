"""Static model of a module for `appyc check`: its functions can be analysed without running it.

Function objects are made from the module's code without executing it. Their globals are inferred
from the source: imports of libraries that appyc knows, constants, the module's own functions. Any
other global or attribute gets an array or a number of the kind that its uses imply.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType, SimpleNamespace

import numpy as np

from appyc.compiler.analyse import Analysed, analyse
from appyc.compiler.requests import Request
from appyc.errors import CompileError
from appyc.frontend.outline import Region
from appyc.frontend.script import instrument, module_text
from appyc.frontend.source import Snippet, Source, read_source
from appyc.frontend.syntax.trip_counts import applied
from appyc.ir.arguments import ArgType, NoneArg
from appyc.ir.types import ArrayType
from appyc.options import Options
from appyc.report.parameter_kinds import Kinds, kinds_of

_KNOWN_LIBRARIES = ("numpy", "math", "cmath", "appyc")


@dataclass(frozen=True, slots=True)
class Subject:
    """A function or region to analyse. kinds: inferred for its names, and for those of the function around a region."""

    name: str
    function: FunctionType
    source: Source
    kinds: Kinds


class AssumedModule:
    """The functions of a file, ready to be analysed."""

    def __init__(self, tree: ast.Module, text: str, file: str) -> None:
        self.file = file
        self.text = text
        self.lines = text.splitlines(keepends=True)
        self.definitions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
        self.code = compile(tree, file, "exec", dont_inherit=True)
        self.namespace: dict[str, object] = {"__name__": "__checked__"}
        for stmt in tree.body:
            self._learn(stmt)
        for code in self.code.co_consts:
            if isinstance(code, CodeType) and code.co_name in self.definitions:
                self.namespace[code.co_name] = self._with_defaults(code, self.definitions[code.co_name])

    # ------------------------------------------------------------ what the text tells

    def _learn(self, stmt: ast.stmt) -> None:
        match stmt:
            case ast.Import(names=names):
                for alias in names:
                    if alias.name.partition(".")[0] in _KNOWN_LIBRARIES:
                        root = alias.name if alias.asname else alias.name.partition(".")[0]
                        self.namespace[alias.asname or root] = importlib.import_module(root)
            case ast.ImportFrom(module=str(name), names=names) if name.partition(".")[0] in _KNOWN_LIBRARIES:
                module = importlib.import_module(name)
                for alias in names:
                    if hasattr(module, alias.name):
                        self.namespace[alias.asname or alias.name] = getattr(module, alias.name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                constant = _constant(value, self.namespace)
                if constant is not None:
                    self.namespace[name] = constant
            case ast.If(body=body, orelse=orelse) | ast.Try(body=body, orelse=orelse):
                for inner in (*body, *orelse):
                    self._learn(inner)

    def _with_defaults(self, code: CodeType, node: ast.FunctionDef) -> FunctionType:
        values = [_constant(d, self.namespace) for d in node.args.defaults]
        return FunctionType(code, self.namespace, code.co_name, tuple(values))

    # ------------------------------------------------------------ functions

    def subjects(self) -> Iterator[Subject]:
        """Every function that can be compiled as such, nested ones and methods too, in order."""
        yield from self._inside(self.code)

    def _inside(self, outer: CodeType) -> Iterator[Subject]:
        for code in outer.co_consts:
            if not isinstance(code, CodeType) or code.co_name.startswith("<"):
                continue
            try:
                source = read_source(Snippet(code, self.file, self.lines, code.co_firstlineno))
                node = source.ast
            except CompileError:  # a class body, an async function
                yield from self._inside(code)
                continue
            kinds = kinds_of(node, self.definitions)
            self._fill_globals(code, kinds)
            cells = tuple(CellType(self._value_of(name, kinds)) for name in code.co_freevars)
            yield Subject(code.co_name, FunctionType(code, self.namespace, None, None, cells), source, kinds)
            yield from self._inside(code)

    def module_loops(self) -> Iterator[Subject]:
        """The loops of the module's own statements that `appyc run` makes functions of."""
        instrumented = instrument(self.text, self.file, loops=True)
        whole = ast.parse(self.text, self.file)
        kinds = kinds_of(module_text(whole, self.text, self.file).ast, self.definitions)
        for part in instrumented.regions:
            code = compile(ast.Module([part.tree], []), self.file, "exec", dont_inherit=True)
            inner = next(c for c in code.co_consts if isinstance(c, CodeType))
            yield Subject(part.name, FunctionType(inner, self.namespace), part, kinds)

    def region(self, around: Subject, region: Region) -> Subject:
        """A region of a function, whose names have the kinds inferred for the whole function."""
        return Subject(around.name, region.function, region.source, around.kinds)

    def _fill_globals(self, code: CodeType, kinds: Kinds) -> None:
        """Values for globals that are used as arrays or numbers and are not known from the source."""
        for name in code.co_names:
            if name not in self.namespace and (name in kinds.rank or name in kinds.integers):
                self.namespace[name] = self._value_of(name, kinds)

    def _value_of(self, name: str, kinds: Kinds) -> object:
        if name in self.namespace:
            return self.namespace[name]
        type_ = kinds.type_of(name)
        if isinstance(type_, ArrayType):
            return np.zeros((1,) * type_.ndim, type_.dtype.numpy)
        return 1 if name in kinds.integers else 1.0

    def arrays(self, subject: Subject) -> frozenset[str]:
        """The parameters that are inferred to be arrays."""
        found = ((arg.arg, subject.kinds.type_of(arg.arg, arg.annotation)) for arg in parameters(subject))
        return frozenset(name for name, type_ in found if isinstance(type_, ArrayType))

    def analyse(self, subject: Subject, options: Options) -> Analysed:
        """The function's IR for arguments of its parameters' kinds. Raises CompileError."""
        types: dict[str, ArgType] = {}
        objects: dict[str, object] = {}
        for arg in parameters(subject):
            fields = _fields(subject.kinds, arg.arg)
            if fields:
                types[arg.arg] = NoneArg()
                objects[arg.arg] = SimpleNamespace(
                    **{f: self._value_of(f"{arg.arg}.{f}", subject.kinds) for f in fields}
                )
            else:
                types[arg.arg] = subject.kinds.type_of(arg.arg, arg.annotation)
        return analyse(subject.function, subject.source, Request(types, objects, options.target), options)


def parameters(subject: Subject) -> tuple[ast.arg, ...]:
    arguments = subject.source.ast.args
    return *arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs


def _fields(kinds: Kinds, name: str) -> set[str]:
    dotted = (n.partition(".") for n in (*kinds.rank, *kinds.integers, *kinds.index_arrays))
    return {field for owner, _, field in dotted if owner == name and field}


def _constant(node: ast.expr, known: dict[str, object]) -> object:
    """The value of a literal, or of arithmetic on literals and constants; else None."""
    match node:
        case ast.Name(id=name):
            value = known.get(name)
            return value if isinstance(value, int | float | complex | str | tuple) else None
        case ast.BinOp(left=left, op=op, right=right):
            return applied(op, _constant(left, known), _constant(right, known))
        case _:
            try:
                value = ast.literal_eval(node)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                return None
            return value if isinstance(value, int | float | complex | str | tuple) else None
