"""Serialisation of a kernel's `Interface` as JSON, to be stored beside its machine code.

Lines of the function's own text are stored from its first line on, so that code which was
moved within its file, or to another one, reports faults at the lines where it is now.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

from appyc.ir.abi import FrameLayout
from appyc.ir.arguments import ArgType, NoneArg, ScalarArg, TupleArg, TupleKind
from appyc.ir.fault_words import FaultSite
from appyc.ir.results import Chosen, DictOf, ListOf, MadeOf, NoneOr, ResultTree, ViewOf
from appyc.ir.types import ArrayType, Container, DType, Layout
from appyc.runtime.frame import Interface, KernelResult


@dataclass(frozen=True, slots=True)
class SourceExtent:
    """Where a function's text is: its file, its first line, and how many lines it has."""

    file: str
    line: int
    lines: int


def to_json(face: Interface, extent: SourceExtent) -> dict[str, object]:
    """JSON values that `from_json` reads."""
    return {
        "arguments": [_argument(a) for a in face.arguments],
        "layout": [face.layout.params, face.layout.results, face.layout.fault, face.layout.size],
        "written": sorted(face.written),
        "results": [[r.dtype.value, r.python, r.param, r.ndim] for r in face.results],
        "tree": _tree(face.tree),
        "faults": [_fault(f, extent) for f in face.faults],
    }


def from_json(data: dict[str, Any], extent: SourceExtent) -> Interface:
    """The interface, with the fault sites of the function's own text at its present location."""
    params, results, fault, size = data["layout"]
    return Interface(
        arguments=tuple(_read_argument(a) for a in data["arguments"]),
        layout=FrameLayout(tuple(params), tuple(results), fault, size),
        written=frozenset(data["written"]),
        results=tuple(KernelResult(DType(d), *rest) for d, *rest in data["results"]),
        tree=_read_tree(data["tree"]),
        faults=tuple(_read_fault(f, extent) for f in data["faults"]),
    )


def _argument(arg: ArgType) -> object:
    if isinstance(arg, ArrayType):
        return ["array", arg.dtype.value, arg.ndim, arg.layout.value, arg.readonly, arg.container.value]
    if isinstance(arg, ScalarArg):
        return ["scalar", arg.dtype.value, arg.python]
    if isinstance(arg, TupleArg):
        return ["tuple", arg.names, arg.kind.value, *(_argument(item) for item in arg.items)]
    return ["none"]


def _read_argument(data: list[Any]) -> ArgType:
    match data:
        case ["array", dtype, ndim, layout, readonly, container]:
            return ArrayType(DType(dtype), ndim, Layout(layout), readonly, Container(container))
        case ["scalar", dtype, python]:
            return ScalarArg(DType(dtype), python)
        case ["tuple", names, kind, *items]:
            return TupleArg(tuple(_read_argument(item) for item in items), tuple(names), TupleKind(kind))
        case _:
            return NoneArg()


def _tree(tree: ResultTree) -> object:
    match tree:
        case tuple():
            return [_tree(item) for item in tree]
        case Chosen(which, options, or_none):
            return {"chosen": which, "options": options, "or_none": or_none}
        case ViewOf(array, ndim, numbers, known_later):
            return {"view": array, "ndim": ndim, "numbers": numbers, "known_later": known_later}
        case ListOf(columns, python, of_tuples, count):
            return {"list": columns, "python": python, "of_tuples": of_tuples, "count": count}
        case MadeOf(makes, lists):
            return {"makes": makes, "lists": [_tree(item) for item in lists]}
        case NoneOr(is_none, value):
            return {"value": _tree(value), "is_none": is_none}
        case DictOf(keys, items):
            return {"keys": keys, "items": [_tree(item) for item in items]}
        case _:
            return tree


def _read_tree(data: Any) -> ResultTree:
    match data:
        case list():
            return tuple(_read_tree(item) for item in data)
        case {"chosen": which, "options": options, "or_none": or_none}:
            return Chosen(which, tuple(options), or_none)
        case {"view": array, "ndim": ndim, "numbers": numbers, "known_later": known_later}:
            return ViewOf(array, ndim, tuple(numbers), tuple(known_later))
        case {"list": columns, "python": python, "of_tuples": of_tuples, "count": count}:
            return ListOf(tuple(columns), tuple(python), of_tuples, count)
        case {"makes": makes, "lists": lists}:
            return MadeOf(makes, tuple(_read_tree(item) for item in lists))
        case {"value": value, "is_none": is_none}:
            return NoneOr(is_none, _read_tree(value))
        case {"keys": keys, "items": items}:
            return DictOf(tuple(keys), tuple(_read_tree(item) for item in items))
        case _:
            tree: ResultTree = data
            return tree


def _fault(fault: FaultSite, extent: SourceExtent) -> list[object]:
    own = fault.file == extent.file and 0 <= fault.line - extent.line < extent.lines
    if not own:
        return [*astuple(fault)]
    return [fault.error, fault.message, None, fault.line - extent.line, fault.col, fault.end_col, fault.kinds]


def _read_fault(data: list[Any], extent: SourceExtent) -> FaultSite:
    error, message, file, line, col, end_col, kinds = data
    if file is None:
        return FaultSite(error, message, extent.file, extent.line + line, col, end_col, tuple(kinds))
    return FaultSite(error, message, file, line, col, end_col, tuple(kinds))
