"""Lists of the function's own: names for those that are used at once, and those of nested functions.

Names for lists, dicts and sets that an expression makes, where they are used at once; sums of lists.

    for value, n in counts.most_common(3):        pairs = counts.most_common(3)
        s += value * n                       ->   for value, n in pairs:
                                                      s += value * n

    return {k: k * k for k in range(n)}      ->   made = {k: k * k for k in range(n)}
                                                  return made

    for i, j in zip(*np.nonzero(mask)):      ->   made = np.nonzero(mask)
                                                  for i, j in zip(*made):

    rows = first[1:] + [x for x in a] + [0]  ->   items = first[1:]
                                                  items.extend([x for x in a])
                                                  items.extend([0])
                                                  rows = items

    best = search([0] * n, k)                ->   made = [0] * n
                                                  best = search(made, k)

    return xs if n > 0 else []               ->   if n > 0:
                                                      return xs
                                                  else:
                                                      return []

Requires: nothing but names and such lists is evaluated before it in its statement, or it is a list of names and
constants; each part of a sum is a list by its text; a function that gets a list is the program's.

Does not handle: sums of lists that are parameters, which may be arrays, but for those of nested functions that each
call gives a list.

Lambda lifting: lists that grow, and that nested functions use, become parameters of these.

    parent = [0]                               parent = [0]
    def find(x):                               def find(parent, x):
        while parent[x] != x:         ->           while parent[x] != x:
            x = parent[x]                              x = parent[x]
        return x                                   return x
    parent.append(1)                           parent.append(1)
    a = find(1)                                a = find(parent, 1)

Requires: the functions are only called, by the one name that they have.

Does not handle: lists that keep their lengths, which nested functions share as arrays; lambdas.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Set
from functools import partial
from typing import Any, TypeGuard

from appyc.frontend.access import python_function
from appyc.frontend.desugar.building import located, read, template
from appyc.frontend.desugar.hoisting import Hoisting
from appyc.frontend.desugar.list_names import lists_of_lists
from appyc.frontend.desugar.rewriting import Kind, ValueOf, bindings, new_lists, rewritten
from appyc.frontend.library.host_calls import is_library_function
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import METHODS, PUSHES
from appyc.frontend.syntax.tree import assigned_names, copied_list, is_new_list, names_in, walk


def with_named_lists(source: Source, value_of: ValueOf) -> Source:
    """The function, in which such lists, dicts and sets have names."""
    if any(value_of(read(name)) is not getattr(builtins, name) for name in ("list", "sorted")):
        return source
    lists = _lists(source.ast)
    nested = {node.name for node in walk(source.ast)[1:] if isinstance(node, ast.FunctionDef)}

    def gets_list(node: ast.AST) -> TypeGuard[ast.Call]:
        """Whether this is a call of a function of the program's with a list that has no name."""
        match node:
            case ast.Call(func=ast.Name(id=name) as func, args=args) if any(map(_is_made_list, args)):
                callee = value_of(func)
                return name in nested or (
                    python_function(callee) is not None and not is_library_function(callee)
                )
            case _:
                return False

    return rewritten(
        source,
        lambda copied: _Naming(copied, value_of, lists, gets_list),
        lambda n: (
            _makes(n)
            or _is_sum(n, lists)
            or _is_choice(n, lists)
            or gets_list(n)
            or isinstance(n, ast.Starred)
        ),
    )


def _lists(tree: ast.FunctionDef) -> frozenset[str]:
    """The names that are bound to lists alone."""
    nodes = walk(tree)
    plain = [n.targets if isinstance(n, ast.Assign) else [n.target]
             for n in nodes if isinstance(n, ast.Assign | ast.AnnAssign | ast.AugAssign)]  # fmt: skip
    targets = {target for each in plain for target in each}
    names = (n for n in nodes if isinstance(n, ast.Name) and n not in targets)
    others = {n.id for n in names if not isinstance(n.ctx, ast.Load)}
    others |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    found, before = frozenset(new_lists(tree)) - others, frozenset[str]()
    while found != before:
        before = found
        found = frozenset(bindings(tree, partial(_kind_of, lists=found))) - others
    return found


def _kind_of(value: ast.expr, lists: Set[str]) -> Kind | None:
    return Kind("list") if _is_list(value, lists) else None


def _is_list(value: ast.expr, lists: Set[str]) -> bool:
    if isinstance(value, ast.Name):
        return value.id in lists
    if (copied := copied_list(value)) is not None:
        return copied.id in lists
    return is_new_list(value) or _is_sum(value, lists)


def _is_sum(node: ast.AST, lists: Set[str]) -> bool:
    """Whether this is a sum of lists, of which not all are written out."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return not is_new_list(node) and _is_list(left, lists) and _is_list(right, lists)
        case _:
            return False


def _makes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="most_common")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="setdefault"), args=[_, default]):
            return not is_new_list(default)
        case _:
            return isinstance(node, ast.DictComp | ast.SetComp)


def _is_made_list(node: ast.expr) -> bool:
    return is_new_list(node) and copied_list(node) is None


def _is_of_names(node: ast.expr) -> bool:
    """`[n, 2]`, `[0] * n`"""
    of = ast.List | ast.BinOp | ast.UnaryOp | ast.Name | ast.Constant | ast.Load | ast.operator | ast.unaryop
    return all(isinstance(part, of) for part in ast.walk(node))


def _is_choice(node: ast.AST, lists: Set[str]) -> bool:
    """`return xs if c else []`"""
    match node:
        case ast.Return(value=ast.IfExp(body=body, orelse=orelse)):
            return any(isinstance(arm, ast.Name) and arm.id in lists for arm in (body, orelse))
        case _:
            return False


class _Naming(Hoisting):
    """lists: names that are bound to lists alone. gets_list: whether a call gives a list to one of the program's
    functions."""

    def __init__(
        self,
        function: ast.FunctionDef,
        value_of: ValueOf,
        lists: frozenset[str],
        gets_list: Callable[[ast.AST], TypeGuard[ast.Call]],
    ) -> None:
        super().__init__(function, value_of)
        self.lists, self.gets_list = lists, gets_list

    def visit_Assign(self, node: Any) -> list[ast.stmt]:
        return [node] if isinstance(node, ast.Assign) and _makes(node.value) else super().visit_Assign(node)

    def visit_Return(self, node: ast.Return) -> Any:
        if isinstance(node.value, ast.IfExp) and _is_choice(node, self.lists):
            then, other = (located(ast.Return(arm), arm) for arm in (node.value.body, node.value.orelse))
            return self.visit(located(ast.If(node.value.test, [then], [other]), node))
        return self.visit_Assign(node)

    def is_free(self, node: ast.expr) -> bool:
        return self.gets_list(node) and all(map(_is_of_names, node.args))

    def instead(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr | None:
        if _makes(node):
            return self.named(node, before)
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Call):
            node.value = self.named(node.value, before)
            return node
        if _is_sum(node, self.lists):
            return self._summed(node, before)
        args = node.args if isinstance(node, ast.Call) else []
        is_given = self.gets_list(node)
        lists = [
            k for k, arg in enumerate(args) if _is_sum(arg, self.lists) or (is_given and _is_made_list(arg))
        ]
        for k, arg in enumerate(args[: max(lists, default=-1) + 1]):
            if _is_made_list(arg) and k in lists:
                args[k] = self.named(arg, before)
            elif k in lists or not _is_of_names(arg):
                new = self.hoisted(arg, before)
                args[k] = new if k in lists else self.named(new, before, "given")
        return None

    def _summed(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """A list that is made of the first part of a sum, and extended by the others."""
        parts: list[ast.expr] = []
        while isinstance(node, ast.BinOp) and _is_sum(node, self.lists):
            parts, node = [node.right, *parts], node.left
        if isinstance(node, ast.Name):
            node = ast.Subscript(node, ast.Slice(), ast.Load())
        made = self.named(located(node, parts[0]), before, "items")
        for part in parts:
            before += template("it.extend(part)", {"it": made, "part": part}, parts[0])
        return made


# ---------------------------------------------------------------- lists of nested functions

_GROWING = METHODS.keys() - {"sort", "reverse"}


def with_lifted_lists(source: Source, value_of: ValueOf) -> Source:
    """The function, whose nested functions get the lists that they use and that grow."""
    lifted = _lifted(source.ast, value_of)
    return rewritten(source, lambda _: _Lifting(lifted)) if lifted else source


def _lifted(tree: ast.FunctionDef, value_of: ValueOf) -> dict[str, list[str]]:
    """The lists of the caller that each nested function uses, which become its parameters."""
    nodes = walk(tree)
    nested = [n for n in nodes[1:] if isinstance(n, ast.FunctionDef)]
    if not nested:
        return {}
    growing = (new_lists(tree).keys() & set(map(_grown, nodes))) | lists_of_lists(tree, value_of).keys()
    uses = {f: growing & names_in(f) - assigned_names(f) for f in nested}
    for _ in nested:  # what is called gets its lists from the caller
        uses = {f: own.union(*(uses[g] for g in nested if g.name in names_in(f))) for f, own in uses.items()}
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    values = {n.id for n in nodes if isinstance(n, ast.Name) and n not in called}
    names = [f.name for f in nested]
    unfit = names_in(*(n for n in nodes if isinstance(n, ast.Lambda)))
    for f, used in uses.items():
        unfit |= used if f.name in values or names.count(f.name) > 1 else used & assigned_names(f)
    return {f.name: sorted(used - unfit) for f, used in uses.items() if used - unfit}


def _grown(node: ast.AST) -> str | None:
    """The list that becomes longer or shorter."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _GROWING:
            return name
        case ast.Call(
            func=ast.Attribute(attr=function) | ast.Name(id=function), args=[ast.Name(id=name), *_]
        ) if function in PUSHES | {"heappop"}:
            return name
        case (
            ast.AugAssign(target=ast.Name(id=name))
            | ast.Subscript(value=ast.Name(id=name), slice=ast.Slice(), ctx=ast.Store())
        ):
            return name
        case _:
            return None


class _Lifting(ast.NodeTransformer):
    """lifted: by function, the lists that become its first parameters."""

    def __init__(self, lifted: dict[str, list[str]]) -> None:
        self.lifted = lifted

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        first = node.args.posonlyargs or node.args.args
        first[:0] = [located(ast.arg(name), node) for name in self.lifted.get(node.name, ())]
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name):
            node.args[:0] = [located(read(name), node) for name in self.lifted.get(node.func.id, ())]
        return node
