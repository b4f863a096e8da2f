"""Which names may stand for one array, as far as a function's text tells: for lists of arrays."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from types import FunctionType

import numpy as np

from appyc.errors import UnsupportedError
from appyc.frontend.desugar.rewriting import Kind, ValueOf
from appyc.frontend.source import read_source
from appyc.frontend.syntax.containers import parameter_names
from appyc.frontend.syntax.liveness import names_assigned, names_behind
from appyc.frontend.syntax.tree import assigned_names, bindings_of, blocks_in, copied_list, one_by_one, walk

_MUTATORS = frozenset({
    "sort", "fill", "partition", "resize", "put", "itemset", "shuffle", "copyto", "place", "putmask", "fill_diagonal",
    "at", "setfield",
})  # fmt: skip
_READERS = ("numpy", "math", "builtins")
_MAKERS = frozenset({
    "copy", "zeros", "ones", "empty", "full", "array", "arange", "linspace", "zeros_like", "ones_like", "empty_like",
    "range", "len", "int", "float",
})  # fmt: skip


def arrays_by_text(tree: ast.FunctionDef, value_of: ValueOf) -> set[str]:
    """The names that are bound to what NumPy's functions and operators make of arrays."""
    bound = [
        (target.id, value)
        for node in walk(tree)
        if isinstance(node, ast.Assign)
        for target, value in one_by_one(node)
        if isinstance(target, ast.Name)
    ]
    found: set[str] = set()
    for _ in bound:
        more = {name for name, value in bound if _is_array(value, found, value_of)}
        if more <= found:
            break
        found |= more
    return found


def _is_array(value: ast.expr, arrays: Set[str], value_of: ValueOf) -> bool:
    match value:
        case ast.Call(func=func) if _module_of(value_of(func)) == "numpy":
            return True
        case ast.BinOp(left=left, right=right):
            return _is_array(left, arrays, value_of) or _is_array(right, arrays, value_of)
        case ast.Name(id=name):
            return name in arrays
        case _:
            copied = copied_list(value)
            return copied is not None and copied.id in arrays


def _module_of(function: object) -> str:
    """The library that a function is one of."""
    module = "numpy" if isinstance(function, np.ufunc) else getattr(function, "__module__", None) or ""
    return module.partition(".")[0]


class ArrayNames:
    """Which names of a function may stand for one array, or for parts of one.

    made_once: lists that one statement makes, once. shared: the arrays that are put into lists, and may have another
    name or be in another list, where one of these is stored into or returned. parted: lists that are returned beside
    their arrays.
    """

    def __init__(self, function: ast.FunctionDef, lists: Mapping[str, Kind], value_of: ValueOf) -> None:
        nodes = walk(function)
        self.lists, self.value_of = lists, value_of
        self.functions = {n.name: n for n in nodes[1:] if isinstance(n, ast.FunctionDef)}
        self.arrays = arrays_by_text(function, value_of) - lists.keys()
        self.pure: dict[str, bool] = {}
        self.groups: dict[str, set[str]] = {}
        self.behind = names_behind(function.body)
        self.given = parameter_names(function)
        count = Counter(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        self.own = self.given | count.keys()
        self._join(self.given)
        again = names_assigned(
            s for loop in nodes if isinstance(loop, ast.For | ast.While) for s in loop.body
        )
        self.made_once = {name for name in lists if count[name] == 1} - again
        stored: set[str] = set()
        put: list[tuple[str, ast.expr, ast.stmt]] = []
        returned: list[list[ast.expr]] = []
        for node in nodes:
            for target, value in bindings_of(node):
                is_list = isinstance(target, ast.Name) and target.id in lists  # the items are what matters
                if isinstance(target, ast.Name | ast.Tuple) and not is_list:
                    self._join({*self._roots(target), *self._roots(value)})
            stored |= {name for item in self._stored(node) for name in self._roots(item)}
            if isinstance(node, ast.stmt):
                put += [(name, item, node) for name, item in self._put(node)]
            if isinstance(node, ast.Return) and node.value is not None:
                returned.append(node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])
        self.parts = {
            name: self.groups.get(name, set()) & assigned_names(function) - {name} for name in lists
        }
        live = [
            (name, item)
            for name, item, at in put
            if self._group(self._roots(item)) & (self.behind.get(at, frozenset()) | self.given)
        ]
        for name, item in live:
            self._join({name, *self._roots(item)})
        self.shared = {item for name, item in live if self._group({name}) & stored}
        kept: set[str] = set()
        self.parted: set[str] = set()
        for values in returned:
            names = [value.id if isinstance(value, ast.Name) else "" for value in values]
            roots = [self._roots(value) for value in values]
            kept |= lists.keys() & names
            self.parted |= {
                name
                for k, name in enumerate(names)
                if name in lists and self._group({name}) & set[str]().union(*roots[:k], *roots[k + 1 :])
            }
        blocks = [block for node in nodes for block in blocks_in(node)]
        for name, item, at in put:
            if name in kept and self._roots(item):
                self.shared.add(self._made_before(item, at, blocks) or item)
        self.shared = {item for item in self.shared if self._roots(item)}

    def _made_before(
        self, item: ast.expr, at: ast.stmt, blocks: Sequence[Sequence[ast.stmt]]
    ) -> ast.expr | None:
        """The expression last assigned to a name that is put into a list; None where it is assigned in
        another block, or a statement in between puts it into a list."""
        block = next(block for block in blocks if at in block)
        for stmt in reversed(block[: block.index(at)]):
            match stmt:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                    isinstance(item, ast.Name) and name == item.id
                ):
                    return value
            inside = [n for n in walk(stmt) if isinstance(n, ast.stmt)]
            if any(self._roots(other) for n in inside for _, other in self._put(n)):
                return None
        return None

    def _group(self, names: set[str]) -> set[str]:
        return names.union(*(self.groups.get(name, ()) for name in names))

    def has_live_part(self, name: str, stmt: ast.AST) -> bool:
        """Whether a name may stand for one of the list's arrays, or a part of it, behind a statement."""
        behind = self.behind.get(stmt) if isinstance(stmt, ast.stmt) else None
        return bool(self.parts[name] if behind is None else self.parts[name] & behind)

    def _join(self, names: set[str]) -> None:
        whole = self._group(names)
        self.groups.update(dict.fromkeys(whole, whole))

    def _put(self, node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
        match node:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item])
            ):
                yield name, item
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=item) if (
                name not in self.arrays  # elements are copied
            ):
                yield name, item
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=items))
                | ast.AugAssign(target=ast.Name(id=name), value=ast.List(elts=items))
            ):
                yield from ((name, item) for item in items)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp(elt=item)):
                yield name, item

    def _stored(self, node: ast.AST) -> Iterator[ast.expr]:
        """The expressions that a node may store into."""
        match node:
            case ast.Subscript(value=value, ctx=ast.Store()):
                if not (isinstance(value, ast.Name) and value.id in self.lists):
                    yield value
            case ast.AugAssign(target=target):
                yield target
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name in self.lists:
                return
            case ast.Call(func=func, args=args, keywords=keywords):
                method = func.attr if isinstance(func, ast.Attribute) else ""
                if isinstance(func, ast.Attribute) and method in _MUTATORS:
                    yield func.value
                if method in _MUTATORS or not self._only_reads(func):
                    yield from args
                yield from (word.value for word in keywords if word.arg == "out")

    def _only_reads(self, func: ast.expr) -> bool:
        """Whether a function, by its text, stores into no argument."""
        name = func.id if isinstance(func, ast.Name) else ""
        value = self.value_of(func)
        if name in self.functions:
            inside = self.functions[name]
        elif isinstance(value, FunctionType) and _module_of(value) not in _READERS:
            try:
                inside = read_source(value).ast
            except UnsupportedError:
                return False
        else:
            return _module_of(value) in _READERS
        if inside.name not in self.pure:
            self.pure[inside.name] = True  # as far as calls of itself go
            self.pure[inside.name] = not any(True for node in walk(inside) for _ in self._stored(node))
        return self.pure[inside.name]

    def _roots(self, node: ast.expr) -> set[str]:
        """The names that stand for arrays which an expression may be, or be a part of."""
        match node:
            case ast.Name(id=name):
                return {name} & self.own
            case ast.Subscript(value=ast.Subscript(value=ast.Name(id=name)), slice=index) if (
                name in self.lists
            ):
                at = index.elts if isinstance(index, ast.Tuple) else [index]
                is_element = len(at) == self.lists[name].rank and not any(
                    isinstance(i, ast.Slice) for i in at
                )
                return set() if is_element else {name}
            case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Starred(value=value):
                return self._roots(value)
            case ast.IfExp(body=body, orelse=orelse):
                return self._roots(body) | self._roots(orelse)
            case ast.Call(func=ast.Attribute(attr=of) | ast.Name(id=of)) if of in _MAKERS:
                return set()
            case ast.Call(func=func, args=args, keywords=keywords):
                own = self._roots(func.value) if isinstance(func, ast.Attribute) else set[str]()
                return own.union(*map(self._roots, args), *(self._roots(word.value) for word in keywords))
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return set[str]().union(*map(self._roots, elts))
            case ast.ListComp(elt=item) | ast.GeneratorExp(elt=item):
                return self._roots(item)
            case _:
                return set()
