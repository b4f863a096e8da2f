"""Walks over Python's own syntax trees that leave out what is not asked for, and what single expressions are.

`ast.walk` goes through every name and operator of every expression. Most questions are about
statements, of which there are few, and are asked of every loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

_BLOCKS = ("cases", "finalbody", "orelse", "handlers", "body")
"""The fields with lists of statements, or of parts that have such, last first."""


_TEXTS = frozenset({"ctx", "id", "attr", "arg", "kind", "type_comment"})
"""The fields that never have trees, or but the mark of a load or store."""


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in _TEXTS)


def walk(*roots: ast.AST) -> list[ast.AST]:
    """The nodes of the trees in the order of `ast.walk`, but for `ast.Load` and its like, in half of its time."""
    found = [*roots]
    for node in found:
        kind: Any = type(node)
        for name in _fields(kind):
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [item for item in value if isinstance(item, ast.AST)]
    return found


def names_in(*roots: ast.AST) -> set[str]:
    """All names that stand there."""
    return {n.id for n in walk(*roots) if isinstance(n, ast.Name)}


def is_list(node: ast.expr) -> bool:
    """Whether an expression is a list that is written out: `[a, b]`, `[a] + [b] * 4`."""
    match node:
        case ast.List():
            return True
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return is_list(left) and is_list(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=ast.Constant()):
            return is_list(left)
        case _:
            return False


def tuple_in_place(node: ast.expr) -> ast.expr:
    """The expression with tuple displays in place of list displays."""
    if isinstance(node, ast.List):
        return as_tuple(node)
    if isinstance(node, ast.BinOp):
        parts = tuple_in_place(node.left), tuple_in_place(node.right)
        return ast.copy_location(ast.BinOp(parts[0], node.op, parts[1]), node)
    return node


def as_tuple(node: ast.List) -> ast.Tuple:
    """The items of a list that is only looked at."""
    elts = [as_tuple(e) if isinstance(e, ast.List) else e for e in node.elts]
    return ast.copy_location(ast.Tuple(elts, ast.Load()), node)


def statements_in(*roots: ast.stmt) -> Iterator[ast.stmt]:
    """The statements and those inside them, in the order of the text."""
    stack: list[ast.AST] = [*reversed(roots)]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt):
            yield node
        for name in _BLOCKS:
            stack.extend(reversed(getattr(node, name, ())))


def blocks_in(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a statement, handlers apart."""
    blocks = (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
    yield from (block for block in blocks if isinstance(block, list))


def may_return(node: ast.stmt) -> bool:
    """Whether the statement contains a return."""
    return not isinstance(node, ast.FunctionDef) and any(
        isinstance(s, ast.Return) for s in statements_in(node)
    )


def names_indexed(function: ast.FunctionDef, *, is_library: bool = False) -> frozenset[str]:
    """The names that some subscript indexes with something that is no constant. is_library: in the text of library
    functions axes are constants, by their names."""
    constants = (
        ast.Constant,
        ast.Slice,
        ast.UnaryOp,
        ast.Tuple,
        *((ast.Name, ast.BinOp) if is_library else ()),
    )
    return frozenset(
        node.value.id
        for node in walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and not isinstance(node.slice, constants)
    )


def leaves_loop(loop: ast.For | ast.While) -> bool:
    """Whether a break of the loop's own stands in it."""
    return any(own_jumps(stmt, (ast.Break,)) for stmt in loop.body)


def own_jumps(stmt: ast.stmt, kinds: tuple[type[ast.stmt], ...]) -> bool:
    """Whether a break or continue (`kinds`) of the loop around a statement stands in it."""
    stack: list[ast.AST] = [stmt]
    while stack:
        node = stack.pop()
        if isinstance(node, kinds):
            return True
        names = ("orelse",) if isinstance(node, ast.For | ast.While) else _BLOCKS
        stack += [part for name in names for part in getattr(node, name, ())]
    return False


def loops_with_own_names(root: ast.AST) -> frozenset[ast.For]:
    """The loops whose target is a name that is read inside loops that bind it and nowhere else, and
    that their bodies do not bind again."""
    nodes = walk(root)
    loops = {n: n.target.id for n in nodes if isinstance(n, ast.For) and isinstance(n.target, ast.Name)}
    own = set(loops)
    read: set[ast.AST] = set()
    for loop, name in loops.items():
        inside = [n for n in walk(*loop.body) if isinstance(n, ast.Name) and n.id == name]
        if all(isinstance(n.ctx, ast.Load) for n in inside):
            read.update(inside)
        else:
            own.remove(loop)  # a loop that binds its name again has no name of its own to read
    reads = (n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    outside = {n.id for n in reads if n not in read}
    return frozenset(loop for loop in own if loops[loop] not in outside)


def parameters_of(function: ast.FunctionDef | ast.Lambda) -> list[ast.arg]:
    """All parameters of a function, `*args` and `**kwargs` last."""
    args = function.args
    starred = (a for a in (args.vararg, args.kwarg) if a is not None)
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *starred]


def bound_arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """The arguments of a call by parameter, without defaults; None where starred ones are among them."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(word.arg is None for word in call.keywords):
        return None
    names = (parameter.arg for parameter in parameters_of(function))
    return dict(zip(names, call.args, strict=False)) | {str(word.arg): word.value for word in call.keywords}


def loop_locals(function: ast.FunctionDef) -> frozenset[str]:
    """The names that `for` statements alone bind, and that are read in the bodies of these alone."""
    bound: dict[ast.Name, str] = {}
    nodes = walk(*function.body)
    for loop in nodes:
        if isinstance(loop, ast.For):
            targets = {n: n.id for n in walk(loop.target) if isinstance(n, ast.Name)}
            read = (n for n in walk(*loop.body) if isinstance(n, ast.Name))
            names = set(targets.values())
            bound |= targets | {n: n.id for n in read if n.id in names and isinstance(n.ctx, ast.Load)}
    others = {n.id for n in nodes if isinstance(n, ast.Name) and n not in bound}
    return frozenset(bound.values()) - others - {a.arg for a in parameters_of(function)}


def assigned_names(function: ast.FunctionDef) -> frozenset[str]:
    """The names that are local to a function: its parameters and the names that its statements bind."""
    out = {a.arg for a in parameters_of(function)}
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        out.update(names_bound_by(node))
        if not isinstance(node, _SCOPES):
            stack.extend(ast.iter_child_nodes(node))
    return frozenset(out)


_SCOPES = (
    ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


def names_bound_by(node: ast.AST) -> tuple[str, ...]:
    """The names that a node itself binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return (name,)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return tuple(a.asname or a.name.partition(".")[0] for a in names)
        case ast.ExceptHandler(name=str(name)):
            return (name,)
        case _:
            return ()


def walrus_names(*roots: ast.AST) -> frozenset[str]:
    """The names that `:=` binds there."""
    return frozenset(node.target.id for node in walk(*roots) if isinstance(node, ast.NamedExpr))


# ---------------------------------------------------------------- new containers


def bindings_of(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets that a node binds, of tuples one by one, with what they get: of what a loop runs over a part of that,
    as `*over`."""
    pairs: Iterable[tuple[ast.expr, ast.expr]] = ()
    match node:
        case ast.Assign(targets=targets, value=value):
            pairs = ((target, value) for target in targets)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            pairs = [(target, value)]
        case ast.For(target=target, iter=over) | ast.comprehension(target=target, iter=over):
            pairs = [(target, ast.Starred(over))]
    for target, value in pairs:
        match target, value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values):
                yield from zip(targets, values, strict=False)
            case ast.Tuple(elts=[_, item]), ast.Starred(
                ast.Call(func=ast.Name(id="enumerate"), args=[over, *_])
            ):
                yield item, ast.Starred(over)
            case ast.Tuple(elts=targets), ast.Starred(ast.Call(func=ast.Name(id="zip"), args=values)):
                yield from ((t, ast.Starred(v)) for t, v in zip(targets, values, strict=False))
            case _:
                yield target, value


def one_by_one(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """The target and value of each assignment that a statement can be split into: `a, b = [], 0` as `a = [];
    b = 0`, where no value reads a target."""
    match node.targets, node.value:
        case [ast.Tuple(elts=targets)], ast.Tuple(elts=values) if len(targets) == len(values):
            read = {n.id for value in values for n in walk(value) if isinstance(n, ast.Name)}
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            if len(names) == len(targets) and not read.intersection(names):
                return list(zip(targets, values, strict=True))
            return []
        case [target], value:
            return [(target, value)]
        case _:
            return []


def is_new_list(value: ast.expr) -> bool:
    """`[]`, `[0, 1]`, `[0] * n`, `[1] + [0] * n`, `[x for x in a]`, `list(a)`, `sorted(a)`, copies of others."""
    match value:
        case ast.List(elts=elts):
            return not any(isinstance(e, ast.List | ast.Starred | ast.ListComp) for e in elts)
        case ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult()):
            return not isinstance(item, ast.List | ast.Starred | ast.ListComp)
        case ast.BinOp(
            left=ast.List() | ast.BinOp() as left, op=ast.Add(), right=ast.List() | ast.BinOp() as right
        ):
            return is_new_list(left) and is_new_list(right)
        case ast.ListComp(elt=item):
            return not isinstance(item, ast.List | ast.ListComp)
        case ast.Call(func=ast.Name(id="list" | "sorted"), args=[_], keywords=[]):
            return True
        case _:
            return copied_list(value) is not None


def may_be_container(value: ast.expr) -> bool:
    """Whether an expression, by its names, makes a dict, a set or a deque."""
    match value:
        case ast.Dict() | ast.Set() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=maker) | ast.Attribute(attr=maker)):
            return maker in ("dict", "set", "Counter", "defaultdict", "deque")
        case _:
            return False


def is_made_of_nothing(value: ast.expr) -> bool:
    """Whether an expression makes lists, dicts or sets, of constants and names alone: `[]`, `{0: a}`, `[-1] * (n + 1)`,
    `list(range(n))`, `[[] for _ in range(n)]`."""

    def is_item(node: ast.expr) -> bool:
        is_negative = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
        return is_negative or isinstance(node, ast.Name | ast.Constant)

    def is_plain(node: ast.expr) -> bool:
        kinds = ast.Name | ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop | ast.Load
        return all(isinstance(n, kinds) for n in walk(node))

    def is_range(node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Call) and ast.unparse(node.func) == "range" and all(map(is_plain, node.args))
        )

    match value:
        case ast.List(elts=elts) | ast.Set(elts=elts):
            return all(is_item(e) or is_made_of_nothing(e) for e in elts)
        case ast.Dict(keys=keys, values=values):
            return all(e is not None and is_item(e) for e in (*keys, *values))
        case ast.BinOp(left=ast.List() as left, op=ast.Mult(), right=right):
            return is_made_of_nothing(left) and is_plain(right)
        case ast.ListComp(elt=item, generators=[ast.comprehension(iter=over, ifs=[])]):
            return is_made_of_nothing(item) and is_range(over)
        case ast.Call(
            func=ast.Name(id="dict" | "set" | "deque" | "defaultdict" | "Counter"), args=args, keywords=[]
        ):
            return all(isinstance(arg, ast.Name) and arg.id in ("int", "float", "list") for arg in args)
        case ast.Call(func=ast.Name(id="list"), args=[over], keywords=[]):
            return is_range(over)
        case _:
            return False


def copied_list(value: ast.expr) -> ast.Name | None:
    """The list that a list is a copy of, or of a part of it."""
    match value:
        case ast.Subscript(value=ast.Name() as name, slice=ast.Slice()):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="copy"), args=[], keywords=[]):
            return name
        case _:
            return None


def has_ellipsis(index: ast.expr) -> bool:
    """Whether `...` is a part of a subscript."""
    return any(isinstance(n, ast.Constant) and n.value is ... for n in ast.walk(index))
