"""Which names of a function stand for lists that compiled code may keep in arrays and variables.

A name counts where every statement that binds it makes a new container, and where each of its other occurrences is
one of the uses that the analysis knows. So no other name is bound to the container, and no other code has it before
the function returns. A name that a nested function uses does not count. Of parameters: `list_parameters.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator, Set
from dataclasses import dataclass

from appyc.frontend.syntax.liveness import names_assigned, names_behind
from appyc.frontend.syntax.tree import copied_list, is_list, is_new_list, names_in, one_by_one, walk

METHODS: dict[str, range] = {
    "append": range(1, 2), "extend": range(1, 2), "insert": range(2, 3), "pop": range(2), "clear": range(1),
    "reverse": range(1), "sort": range(1),
}  # fmt: skip
"""The methods that such lists have, and how many arguments these take."""
_TAKERS = frozenset({"len", "enumerate", "zip", "min", "max", "sum", "reversed", "any", "all"})
_DRAWS = ("shuffle", "choice", "sample", "choices")
"""Functions, and methods of generators, that look at what they are given, and keep nothing of it."""
PUSHES = frozenset({"heappush", "insort", "insort_left", "insort_right"})
"""Functions that put an item into a list: `heappush(items, item)`."""
_OF_LISTS = PUSHES | {"heappop", "heapreplace", "heapify", "bisect", "bisect_left", "bisect_right"}
"""Functions of `heapq` and `bisect`, whose first argument is a list: others of these names refuse one."""


def other_uses(function: ast.FunctionDef, nodes: Iterable[ast.AST], known: Container[ast.AST]) -> set[str]:
    """The names with an occurrence that is not among the known ones, or that a nested function uses."""
    out: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and node not in known:
            out.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.Lambda) and node is not function:
            out |= names_in(node) - parameter_names(node)
    return out


def parameter_names(function: ast.FunctionDef | ast.Lambda) -> set[str]:
    return {a.arg for a in walk(function.args) if isinstance(a, ast.arg)}


# ---------------------------------------------------------------- lists that change


@dataclass(frozen=True, slots=True)
class ListCalls:
    """The calls of a function. is_of_library: whether an outer name is an array library's. makes_list: whether a call
    gives a new list. takes_list: whether an argument, by position, may be a list that the call changes."""

    is_of_library: Callable[[str], bool]
    makes_list: Callable[[ast.Call], bool]
    takes_list: Callable[[ast.Call, int], bool]


def list_names(function: ast.FunctionDef, calls: ListCalls, given: Set[str] = frozenset()) -> frozenset[str]:
    """The names of lists of numbers, which may grow.

    They are bound to new lists (`[]`, `[0, 1]`, `[0] * n`, `list(...)`, a comprehension, a copy or a slice of another
    such list, what a generator draws), or to such a list whose other name is dead (`previous = current`). They are only
    changed by their methods, indexed, stored into, run over, measured, tested, looked into, returned, or given to a
    library or a function of Python's that looks at the items, to a method of a generator, or to a function that takes
    such lists. given: parameters that are lists, of which copies are new.
    """
    bound, known = _list_uses(function, calls, given)
    found = frozenset(bound.keys() - parameter_names(function) - other_uses(function, walk(function), known))
    while any(bound[name] - found - given for name in found):
        found = frozenset(name for name in found if bound[name] <= found | given)
    return found


def list_parameters(function: ast.FunctionDef, calls: ListCalls) -> frozenset[str]:
    """The parameters that may be lists of the caller's, which the function changes in place."""
    nodes = walk(function)
    _, known = _list_uses(function, calls)
    stored = names_assigned(function.body)
    return frozenset(parameter_names(function) - stored - other_uses(function, nodes, known))


def other_list_use(
    function: ast.FunctionDef, value: ast.expr, calls: ListCalls
) -> tuple[str, ast.expr] | None:
    """The name that a new list gets, and the first use of it that is none of a list in compiled code."""
    nodes = walk(function)
    assigned = [pair for node in nodes if isinstance(node, ast.Assign) for pair in one_by_one(node)]
    targets = {t for t, made in assigned if isinstance(t, ast.Name) and value in walk(made)}
    _, known = _list_uses(function, calls)
    others = [n for n in nodes if isinstance(n, ast.Name) and n not in known | targets]
    uses = [n for n in others if n.id in {t.id for t in targets}]
    if not uses:
        return None
    first = min(uses, key=lambda n: (n.lineno, n.col_offset))
    holders = {part: node for node in nodes for part in ast.iter_child_nodes(node)}
    use: ast.AST = first
    while isinstance(holders[use], ast.Attribute | ast.Starred | ast.keyword):
        use = holders[use]
    return first.id, holder if isinstance(holder := holders[use], ast.expr) else first


def _list_uses(
    function: ast.FunctionDef, calls: ListCalls, given: Set[str] = frozenset()
) -> tuple[dict[str, set[str]], set[ast.AST]]:
    """The names that are bound to new lists, with the lists that these are copies of; the occurrences of names that
    are uses of such lists."""
    nodes = walk(function)
    bound: dict[str, set[str]] = {}
    known: set[ast.AST] = set()
    behind = names_behind(function.body)
    for node in nodes:
        match node:
            case ast.Assign():
                for target, value in one_by_one(node):
                    source = copied_list(value)
                    if isinstance(value, ast.Name) and value.id not in given | behind.get(node, {value.id}):
                        source = value  # a list that has one name again: as good as a copy
                    is_made = isinstance(value, ast.Call) and calls.makes_list(value)
                    is_new = source is not None or is_made or is_new_list(value)
                    if isinstance(target, ast.Name) and is_new:
                        bound.setdefault(target.id, set()).update({source.id} if source is not None else ())
                        known.add(target)
                    if source is not None:
                        known.add(source)
                    elif isinstance(value, ast.Call) and (is_made or is_new_list(value)):
                        known |= {arg for arg in value.args if isinstance(arg, ast.Name)}
                    elif isinstance(target, ast.Subscript | ast.Tuple) and isinstance(value, ast.Name):
                        known.add(value)  # the items are stored into an array, or get names
            case ast.AugAssign(target=target, op=ast.Add(), value=value):
                known |= {target, value}
            case ast.Return(value=ast.expr() as value):
                items = value.elts if isinstance(value, ast.Tuple) else [value]
                known |= {copied_list(item) or item for item in items}
            case ast.Starred():
                pass
            case _:
                known |= {name for name, _ in looked_at(node, calls.is_of_library)}
        known |= {*_used(node), *_taken(node, calls)}
    return bound, known


def shared_lists(
    function: ast.FunctionDef, makes: Callable[[ast.expr], bool] = is_new_list
) -> frozenset[str]:
    """The names that are bound to new lists alone, and that nested functions use: such lists keep their lengths.
    makes: whether an expression makes one."""
    nodes = walk(function)
    inner = [n for n in nodes[1:] if isinstance(n, ast.FunctionDef | ast.Lambda)]
    used = names_in(*inner)
    stores = [n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    made = [
        target.id
        for node in nodes
        if isinstance(node, ast.Assign)
        for target, value in one_by_one(node)
        if isinstance(target, ast.Name) and makes(value)
    ]
    return frozenset(n for n in used if n in made and made.count(n) == stores.count(n)) - parameter_names(
        function
    )


def _used(node: ast.AST) -> Iterator[ast.Name]:
    match node:
        case ast.Call(
            func=ast.Constant(), args=args
        ):  # of library text, which a rule of `desugar` has put there
            yield from (name for name in args if isinstance(name, ast.Name))
        case ast.Call(func=ast.Attribute(attr=attr), args=[ast.Name() as name, *_]) if attr in _DRAWS:
            yield name  # to a generator; what else has such a method is not compiled with a list
        case ast.Call(func=ast.Attribute(attr=of) | ast.Name(id=of), args=[ast.Name() as name, *_]) if (
            of in _OF_LISTS
        ):
            yield name
        case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr=method), args=args, keywords=[]):
            if len(args) in METHODS.get(method, ()):
                yield name
            if method == "extend":
                items = (arg if isinstance(arg, ast.Name) else copied_list(arg) for arg in args)
                yield from (item for item in items if item is not None)
        case ast.Subscript(value=ast.Name() as name, slice=ast.Slice(), ctx=ast.Store()):
            yield name
        case ast.Subscript(value=ast.Name() as name, slice=index) if not isinstance(
            index, ast.Slice | ast.Tuple
        ) and not isinstance(node.ctx, ast.Del):
            yield name
        case ast.Call(func=ast.Attribute(attr="join"), args=[ast.Name() as name]):
            yield name
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from (side for side in (left, right) if isinstance(side, ast.Name))
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name() as name):
            yield name
        case ast.Call(func=ast.Name(id="list" | "sorted"), args=[ast.Name() as name]):
            yield name
        case ast.While(test=test) | ast.If(test=test) | ast.IfExp(test=test):
            yield from _tested(test)
        case _:
            return


def _taken(node: ast.AST, calls: ListCalls) -> Iterator[ast.Name]:
    """The arguments of a call that it may change in place."""
    if isinstance(node, ast.Call) and not any(isinstance(arg, ast.Starred) for arg in node.args):
        for position, arg in enumerate(node.args):
            if isinstance(arg, ast.Name) and calls.takes_list(node, position):
                yield arg


def _tested(test: ast.expr) -> Iterator[ast.Name]:
    """The names that a condition asks whether there is something in them."""
    match test:
        case ast.Name():
            yield test
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _tested(operand)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _tested(value)
        case _:
            return


# ---------------------------------------------------------------- lists that are only read


def read_lists(function: ast.FunctionDef, is_of_library: Callable[[str], bool]) -> frozenset[str]:
    """The names of lists that the function writes out and only looks at: they are as good as tuples.

        moves = [(-1, 0), (1, 0)]           moves = ((-1, 0), (1, 0))
        for di, dj in moves:         ->     for di, dj in moves:

    They are bound to lists that are written out, or gathered (`n, *rest = shape`), and only indexed, run over,
    measured, unpacked, looked into (`x in moves`), or given to a library, which takes a tuple for the same thing.
    Of a list of lists, each item is indexed at once. is_of_library: whether an outer name is an array library's.
    """
    nodes = walk(function)
    bound: dict[str, bool] = {}  # whether one of its lists holds lists
    seen: set[ast.AST] = set()
    deep: set[ast.AST] = set()
    for node in nodes:
        for target, nested in _binds(node):
            bound[target.id] = bound.get(target.id, False) or nested
            deep.add(target)
        for name, whole in looked_at(node, is_of_library):
            (deep if whole else seen).add(name)
    known = deep | {n for n in seen if isinstance(n, ast.Name) and not bound.get(n.id, False)}
    return frozenset(bound.keys() - parameter_names(function) - other_uses(function, nodes, known))


def read_parameters(function: ast.FunctionDef, is_of_library: Callable[[str], bool]) -> dict[str, bool]:
    """The parameters that are only looked at, for which a list is as good as a tuple; and whether that holds for
    lists among the items too."""
    given = {a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    nodes = walk(function)
    looks: dict[ast.Name, bool] = {}
    parts: set[str] = set()  # a part of a list is a list again
    for node in nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            parts |= names_in(node.value)
        for name, whole in looked_at(node, is_of_library):
            looks[name] = looks.get(name, False) or whole
    only_read = given - parts - other_uses(function, nodes, looks)
    return {name: all(whole for n, whole in looks.items() if n.id == name) for name in only_read}


def unpacked_names(function: ast.FunctionDef) -> frozenset[str]:
    """The names that are unpacked, or arguments of anything but a function that takes what can be run over."""
    out: set[str] = set()
    for node in walk(function):
        match node:
            case (
                ast.Starred(value=ast.Name(id=name))
                | ast.Assign(targets=[ast.Tuple()], value=ast.Name(id=name))
            ):
                out.add(name)
            case ast.Call(func=func, args=args, keywords=keywords):
                if not (isinstance(func, ast.Name) and func.id in _TAKERS):
                    out |= {a.id for a in (*args, *(k.value for k in keywords)) if isinstance(a, ast.Name)}
    return frozenset(out)


def _binds(node: ast.AST) -> Iterator[tuple[ast.Name, bool]]:
    """The names that a statement binds to lists, and whether these hold lists."""
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        if isinstance(target, ast.Name) and is_list(node.value):
            lists = [n for n in walk(node.value) if isinstance(n, ast.List)]
            yield target, any(isinstance(n, ast.List) for part in lists for n in walk(*part.elts))
        elif isinstance(target, ast.Tuple):
            for part in target.elts:
                if isinstance(part, ast.Starred) and isinstance(part.value, ast.Name):
                    yield part.value, False


def looked_at(node: ast.AST, is_of_library: Callable[[str], bool]) -> Iterator[tuple[ast.Name, bool]]:
    """The names that a node does no more with than look at, and whether it lets none of the items out."""
    match node:
        case ast.Subscript(value=ast.Subscript(value=ast.Name() as name), ctx=ast.Load()):
            yield name, True
        case ast.Subscript(value=ast.Name() as name, ctx=ast.Load()):
            yield name, False
        case ast.For(iter=ast.Name() as name) | ast.comprehension(iter=ast.Name() as name):
            yield name, False
        case ast.Starred(value=ast.Name() as name, ctx=ast.Load()):
            yield name, False
        case ast.Assign(targets=[ast.Tuple()], value=ast.Name() as name):
            yield name, False
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name() as name]):
            yield name, True
        case ast.Call(func=func, args=args, keywords=keywords):
            given = [a for a in (*args, *(k.value for k in keywords)) if isinstance(a, ast.Name)]
            if isinstance(func, ast.Name) and func.id in _TAKERS:
                yield from ((a, func.id == "len") for a in given)
            elif (root := _root(func)) is not None and is_of_library(root):
                method = func.attr if isinstance(func, ast.Attribute) else ""
                if method != "shuffle":
                    yield from ((a, method != "choice") for a in given)
        case _:
            return


def _root(func: ast.expr) -> str | None:
    """`np` of `np.linalg.norm`."""
    if not isinstance(func, ast.Attribute):
        return None
    while isinstance(func, ast.Attribute):
        func = func.value
    return func.id if isinstance(func, ast.Name) else None
