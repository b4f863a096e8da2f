"""Statements: from Python's AST to IR."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from appyc.errors import LibraryCallError, Loc, PragmaError, TypeInferenceError, UnsupportedError
from appyc.frontend import arithmetic, lists, returns
from appyc.frontend.arithmetic import cast
from appyc.frontend.arrangements import Exchange, in_each
from appyc.frontend.arranging import rows
from appyc.frontend.axis_pragmas import lower_with_dims
from appyc.frontend.complex_parts import with_part, written_part
from appyc.frontend.creation import shape_from
from appyc.frontend.expressions import (
    array_operation,
    as_index,
    binary_symbol,
    dict_item,
    element,
    lower_condition,
    lower_expression,
    lower_lazily,
    lower_number,
    lower_or_none,
    number,
    put_together,
    refuse_text,
    wrong_kind,
)
from appyc.frontend.homes import all_leaves, root
from appyc.frontend.imports import lower_import
from appyc.frontend.liveness import names_assigned
from appyc.frontend.local_functions import defined
from appyc.frontend.loop_bodies import lower_break, lower_continue
from appyc.frontend.loops import lower_for, lower_while
from appyc.frontend.none_tests import known_as_numbers, proven
from appyc.frontend.pragma_nodes import AtomicPragma, DimsPragma, OncePragma
from appyc.frontend.reshaping import place_of_row, reshaped
from appyc.frontend.scope import Scope, constant_truth
from appyc.frontend.slices import is_element, lower_items, subscript
from appyc.frontend.stores import assign, without_leading_ones
from appyc.frontend.tensors import as_tensor, as_value, element_type, held, is_array, settled
from appyc.frontend.tree import is_list, statements_in, tuple_in_place
from appyc.frontend.values import (
    ArrayRef,
    DictValue,
    Masked,
    Number,
    Opaque,
    Tensor,
    TupleValue,
    Value,
    describe,
)
from appyc.ir.nodes import Const, Expr, Fail, If, Likely, Load, Store, Unary, Update, Var
from appyc.ir.types import DType

_UNSUPPORTED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Try: ("a try statement", "catch exceptions outside the compiled function"),
    ast.AsyncFunctionDef: ("a nested function", "define it outside"),
    ast.ClassDef: ("a class", "define it outside"),
    ast.Global: ("a global statement", "return the value instead"),
    ast.Nonlocal: ("a nonlocal statement", "return the value instead"),
    ast.Match: ("a match statement with these patterns", "use if and elif"),
    ast.AsyncFor: ("async for", "compiled functions are synchronous"),
    ast.AsyncWith: ("async with", "compiled functions are synchronous"),
}

MAX_TWICE = 60
"""Statements that stand in both ways of a branch whose ends do not go together."""

_ATOMIC_OPS = {"+": "+", "-": "+", "*": "*", "&": "&", "|": "|", "^": "^"}


def lower_block(scope: Scope, body: list[ast.stmt], finish: Callable[[], None] | None = None) -> None:
    """Statements in a row; what stands behind a jump is dropped.

    finish: called at the end of each path to the end of the block, as where a path goes back to the top
    of a loop. Behind the block nothing is lowered then.
    """
    for k, node in enumerate(body):
        if not scope.live:
            return
        rest = body[k + 1 :]
        if isinstance(node, ast.If) and rest and _ends_in_jump(node.body) and not _holds_loop_exit(node.body):
            # `if c: return x` and what follows become the two arms of one `if`.
            _if(scope, node.test, node.body, [*node.orelse, *rest], scope.loc(node), finish)
            return
        if isinstance(node, ast.If) and rest and scope.loc(node) in scope.facts.parted and _is_short(rest):
            _if(scope, node.test, [*node.body, *rest], [*node.orelse, *rest], scope.loc(node), finish)
            return
        if isinstance(node, ast.If) and not rest and finish is not None and _binds_arrays(scope, node):
            _if(scope, node.test, node.body, node.orelse, scope.loc(node), finish)
            return
        lower_statement(scope, node)
        exchange, scope.exchanged = scope.exchanged, None
        if exchange is not None:
            _in_each_arrangement(scope, exchange, node, rest, finish)
            return
        if scope.live and rest and scope.returned is not None and returns.may_return(node):
            _behind(scope, node, rest, finish)
            return
    if finish is not None and scope.live:
        finish()
        scope.live = False


def _behind(scope: Scope, node: ast.stmt, rest: list[ast.stmt], finish: Callable[[], None] | None) -> None:
    """What follows a statement, which may have returned from the function."""
    if not rest or scope.returned is None or not returns.may_return(node):
        lower_block(scope, rest, finish)
        return
    loc = scope.loc(node)
    lower_branches(scope, Unary("~", Var(scope.returned, loc=loc), loc=loc), rest, [], loc, finish)


def _in_each_arrangement(
    scope: Scope, exchange: Exchange, node: ast.stmt, rest: list[ast.stmt], finish: Callable[[], None] | None
) -> None:
    """What follows a loop whose names exchange arrays."""
    loc = scope.loc(node)
    needed = scope.names_behind.get(rest[-1] if rest else node, scope.locals)

    def branch(cond: Expr, then: Callable[[], None], orelse: Callable[[], None]) -> None:
        lower_arms(scope, cond, (then, orelse), needed, loc)

    def lower(number: int) -> None:
        scope.env |= exchange.bindings(number)
        _behind(scope, node, rest, finish)

    in_each(exchange, range(len(exchange.arrangements)), branch, lower, loc)


def _binds_arrays(scope: Scope, node: ast.If) -> bool:
    """Whether names that have arrays are bound anew in it."""
    names = names_assigned(node.body) | names_assigned(node.orelse)
    return any(isinstance(scope.env.get(name), ArrayRef | Tensor) for name in names)


def _is_short(body: list[ast.stmt]) -> bool:
    """Whether statements may be lowered twice."""
    return sum(1 for _ in statements_in(*body)) <= MAX_TWICE


def _ends_in_jump(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Continue)


def _holds_loop_exit(body: list[ast.stmt]) -> bool:
    """Whether there are further jumps in front of the last statement."""
    return any(isinstance(s, ast.Break) for s in statements_in(*body))


def lower_statement(scope: Scope, node: ast.stmt) -> None:
    """One statement."""
    try:
        _lower_any(scope, node)
    except RecursionError:
        raise UnsupportedError("this is nested too deeply to be compiled", scope.loc(node),
                               hints=("give parts of it names, or make them functions",)) from None  # fmt: skip


def _lower_any(scope: Scope, node: ast.stmt) -> None:
    loc = scope.loc(node)
    pragma = scope.pragmas.get(node)
    if isinstance(pragma, AtomicPragma):
        _atomic(scope, node, pragma)
        return
    if isinstance(pragma, OncePragma):
        raise PragmaError("the pragma 'once' is not supported yet", pragma.loc,
                          hints=("leave it out",))  # fmt: skip
    if isinstance(pragma, DimsPragma):
        lower_with_dims(scope, node, pragma, lambda: _lower_plain(scope, node, loc))
        return
    _lower_plain(scope, node, loc)


def _lower_plain(scope: Scope, node: ast.stmt, loc: Loc) -> None:
    match node:
        case ast.Assign(targets=targets, value=value):
            _assign(scope, targets, value, loc)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                _assign(scope, [target], value, loc)
        case ast.AugAssign(target=target, op=op, value=value):
            _augmented(scope, target, op, value, loc)
        case ast.If(test=test, body=body, orelse=orelse):
            _if(scope, test, body, orelse, loc)
        case ast.For():
            lower_for(scope, node)
        case ast.While():
            lower_while(scope, node)
        case ast.Break():
            lower_break(scope, loc)
        case ast.Continue():
            lower_continue(scope, loc)
        case ast.Return(value=value):
            returns.lower_return(scope, value, loc)
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=args)
        ) if name in scope.list_names:
            lists.change(scope, name, method, args, loc)
        case ast.Expr(value=value):
            unused = lower_expression(scope, value)
            if isinstance(unused, Number):
                scope.temp("unused", unused.expr)  # which may raise
        case ast.Import() | ast.ImportFrom():
            lower_import(scope, node, loc)
        case ast.Assert(test=test, msg=msg):
            _assert(scope, test, msg, loc)
        case ast.Raise(exc=exc):
            _raise(scope, exc, loc)
        case ast.FunctionDef(name=name):
            scope.bind(name, defined(scope, node), loc)
        case ast.With(items=items, body=body):
            _with(scope, items, body, loc)
        case ast.Delete(targets=targets):
            _delete(scope, node, targets)
        case _:
            what, instead = _UNSUPPORTED.get(type(node), (f"a {type(node).__name__} statement", "rewrite it"))
            raise UnsupportedError(f"{what} cannot be compiled", loc, hints=(instead,))


# ---------------------------------------------------------------- assignment


def _assign(scope: Scope, targets: list[ast.expr], value: ast.expr, loc: Loc) -> None:
    if isinstance(targets[0], ast.Name) and targets[0].id in scope.list_names:
        lists.bind_list(scope, targets[0].id, value, loc)
        return
    if is_list(value) and all(isinstance(t, ast.Name) and t.id in scope.read_lists for t in targets):
        value = tuple_in_place(value)
    is_store = len(targets) == 1 and isinstance(targets[0], ast.Subscript)
    out = lower_lazily(scope, value) if is_store else lower_or_none(scope, value)
    if len(targets) > 1 or isinstance(targets[0], ast.Tuple | ast.List):
        out = settled(scope, out)
    for target in targets:
        assign_to(scope, target, out, loc)


def assign_to(scope: Scope, target: ast.expr, value: Value, loc: Loc) -> None:
    """`target = value`."""
    if (part := written_part(target)) is not None:
        _store(scope, part.place, with_part(scope, part, value, loc), loc)
        return
    match target:
        case ast.Name(id=name):
            if isinstance(value, ArrayRef) and value.index:
                places = tuple(i if isinstance(i, Const) else scope.temp("at", i) for i in value.index)
                value = ArrayRef(value.symbol, places)
            scope.bind(name, held(scope, value, name, loc), loc)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            _unpack(scope, elts, value, loc)
        case ast.Subscript():
            _store(scope, target, value, loc)
        case ast.Attribute(value=ast.Name(id=name), attr="shape"):
            _reshape_in_place(scope, name, value, scope.loc(target))
        case ast.Attribute():
            raise UnsupportedError("attributes cannot be assigned in compiled code", scope.loc(target),
                                   hints=("return the value, and assign it outside",))  # fmt: skip
        case _:
            raise UnsupportedError("this target cannot be compiled", scope.loc(target))


def _reshape_in_place(scope: Scope, name: str, shape: Value, loc: Loc) -> None:
    """`x.shape = n`: of an array that the function has made, or a row of one, that no other name has, a new view."""
    array = scope.read(name, loc) if name in scope.locals else None
    place = place_of_row(scope, array, loc)
    if place is None or place[0] not in scope.memory.made or not all(isinstance(i, Const) for i in place[1]):
        raise UnsupportedError("the shape of this array cannot be assigned in compiled code", loc,
                               hints=("x = x.reshape(...) gives a view of that shape",))  # fmt: skip
    others = [
        binding for other, binding in all_leaves(scope.env) if other != name and root(binding) == place[0]
    ]
    if place[1]:  # another row is another object
        others = [
            b for b in others if isinstance(b, ArrayRef | Tensor) and place_of_row(scope, b, loc) == place
        ]
    if others or place[0] in scope.given:
        raise UnsupportedError(f"{name!r} has another name, which would see its new shape", loc,
                               hints=("x = x.reshape(...) gives a view of that shape",))  # fmt: skip
    assert isinstance(array, ArrayRef | Tensor), "what is a row of an array"
    tensor = reshaped(scope, as_tensor(scope, array, loc), shape_from(scope, shape, loc), loc)
    scope.bind(name, as_value(tensor), loc)


def _unpack(scope: Scope, elts: list[ast.expr], value: Value, loc: Loc) -> None:
    starred = next((k for k, e in enumerate(elts) if isinstance(e, ast.Starred)), None)
    if starred is not None:
        elts, value = _gathered(scope, elts, value, starred, loc)
    if isinstance(value, ArrayRef | Tensor) and value.ndim:
        value = rows(scope, value, len(elts), loc)
    if not isinstance(value, TupleValue):
        raise wrong_kind(value)(f"{describe(value)} cannot be unpacked", loc,
                                 hints=("only tuples and arrays can be",))  # fmt: skip
    if len(value.items) != len(elts):
        raise TypeInferenceError(
            f"{len(value.items)} values cannot be unpacked into {len(elts)} targets", loc
        )
    for e, item in zip(elts, value.items, strict=True):
        assign_to(scope, e, item, loc)


def _gathered(
    scope: Scope, elts: list[ast.expr], value: Value, starred: int, loc: Loc
) -> tuple[list[ast.expr], TupleValue]:
    """`a, *b = ...` as `a, b = ...`, where b gets a tuple; a list it is that may only be looked at."""
    star = elts[starred]
    assert isinstance(star, ast.Starred)
    if not isinstance(star.value, ast.Name) or star.value.id not in scope.read_lists:
        raise UnsupportedError("this starred target gets a list, which cannot be compiled", scope.loc(star),
                               hints=("a list that is only indexed or looped over can",))  # fmt: skip
    if not isinstance(value, TupleValue):
        raise wrong_kind(value)(f"{describe(value)} cannot be unpacked into a starred target", loc,
                                hints=("only tuples can be",))  # fmt: skip
    behind = len(elts) - starred - 1
    if len(value.items) < starred + behind:
        raise TypeInferenceError(
            f"{len(value.items)} values cannot be unpacked into {len(elts) - 1} targets and more", loc
        )
    items = value.items
    last = len(items) - behind
    together = TupleValue(items[starred:last])
    return [*elts[:starred], star.value, *elts[starred + 1 :]], TupleValue(
        (*items[:starred], together, *items[last:])
    )


def target_element(scope: Scope, target: ast.Subscript) -> ArrayRef:
    """The element that an atomic update writes."""
    ref = _target(scope, target)
    if not isinstance(ref, ArrayRef) or ref.ndim:
        raise UnsupportedError(
            f"this assigns to {describe(ref)}, where an element is needed", scope.loc(target),
            hints=("assign single elements in a loop",),
        )  # fmt: skip
    return ref


def _target(scope: Scope, target: ast.Subscript) -> ArrayRef | Tensor | Masked:
    """What an assignment writes: an element, or several. Raises for what cannot be written."""
    loc = scope.loc(target)
    owner = lower_expression(scope, target.value)
    if not isinstance(owner, ArrayRef | Tensor):
        raise wrong_kind(owner)(f"{describe(owner)} cannot be assigned to by index", loc)
    items = lower_items(scope, target.slice)
    if isinstance(owner, ArrayRef) and is_element(items):
        ref = element(scope, owner, target.slice, items, loc)
    else:
        place = subscript(scope, owner, items, loc, stored=True)
        if isinstance(place, Tensor | Masked):
            return place  # `assign` looks at it
        assert isinstance(place, Number)
        if isinstance(owner, Tensor) and owner.unsettled:
            raise UnsupportedError("whether this is a view in another shape only its strides would tell", loc,
                                   hints=("assign to the array itself",))  # fmt: skip
        if not isinstance(place.expr, Load):
            raise TypeInferenceError("this is a new array, and assigning to it would change nothing", loc,
                                     hints=("give it a name first",))  # fmt: skip
        ref = ArrayRef(place.expr.array, place.expr.index)
    if ref.symbol.array.readonly:
        raise TypeInferenceError(
            f"'{ref.symbol.name}' is read-only, and this assigns to it", loc,
            hints=("pass an array that may be written, such as a copy of it",),
        )  # fmt: skip
    scope.memory.store(ref.symbol, loc)
    return ref


def _store(scope: Scope, target: ast.Subscript, value: Value, loc: Loc) -> None:
    if isinstance(target.value, ast.Name) and target.value.id in scope.list_names:
        item = settled(scope, put_together(scope, value, loc))
        lists.store_item(scope, target.value.id, lower_number(scope, target.slice), item, loc)
        return
    if isinstance(target.value, ast.Name) and target.value.id in scope.own_dicts:
        _store_in_dict(scope, target.value.id, target.slice, value, loc)
        return
    with scope.collect() as block:
        ref = _target(scope, target)
    if isinstance(ref, Tensor | Masked) or ref.ndim:
        # Tests of the target's own shape may come first; nothing is written before the value is read.
        scope.block.extend(block)
        assign(scope, ref, value, loc)
        return
    if is_array(value) and any(
        isinstance(n, ast.Constant) and n.value is ... for n in ast.walk(target.slice)
    ):
        # `a[..., 0]` is an array without axes, to which one of a single element fits.
        value = as_value(without_leading_ones(scope, as_tensor(scope, value, loc), 0, loc))
    stored = number(value, loc, "the assigned value")
    if block and not isinstance(stored.expr, Const):
        # The index makes statements, and Python evaluates the value first.
        stored = Number(scope.temp("value", stored.expr), stored.python)
    scope.block.extend(block)
    scope.emit(Store(ref.symbol, ref.index, converted(stored, ref, loc), loc=loc))


def _store_in_dict(scope: Scope, name: str, index: ast.expr, value: Value, loc: Loc) -> None:
    """`name[index] = value`, where no other name has the dict."""
    owner = scope.read(name, loc)
    assert isinstance(owner, DictValue), "the name is bound to dicts alone"
    items = list(owner.values.items)
    key = index.value if isinstance(index, ast.Constant) else None
    if isinstance(key, str | int) and key not in owner.keys:
        owner = replace(owner, keys=(*owner.keys, key))
        items.append(value)
    else:
        items[dict_item(scope, owner, index, loc)] = value
    stored = held(scope, replace(owner, values=TupleValue(tuple(items))), name, loc)
    scope.bind(name, stored, loc)


def converted(value: Number, ref: ArrayRef, loc: Loc) -> Expr:
    """The value in the array's element type, as NumPy's assignment converts it."""
    dtype = ref.symbol.dtype
    if value.type.dtype.is_complex and not dtype.is_complex and dtype is not DType.BOOL:
        raise TypeInferenceError(
            f"a complex number cannot be stored in '{ref.symbol.name}', an array of {dtype}", loc,
            hints=("store z.real, or use a complex array",),
        )  # fmt: skip
    return cast(value.expr, dtype)


def _augmented(scope: Scope, target: ast.expr, op: ast.operator, value: ast.expr, loc: Loc) -> None:
    symbol = binary_symbol(op)
    if isinstance(target, ast.Name) and target.id in scope.list_names:
        lists.extend(scope, target.id, value, loc)
        return
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        name = target.value.id
        if name in scope.own_dicts:
            old_item = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
            total = ast.copy_location(ast.BinOp(old_item, op, value), value)
            _store_in_dict(scope, name, target.slice, _fresh_sum(scope, total, loc), loc)
            return
        if name in scope.list_names:
            at = Number(scope.temp("at", as_index(lower_number(scope, target.slice), loc)), python=True)
            item = number(lists.list_item(scope, lists.list_named(scope, name, loc), at, loc), loc)
            new = arithmetic.binary(symbol, item, lower_number(scope, value), loc)
            lists.store_item(scope, name, at, new, loc)
            return
    if isinstance(target, ast.Name):
        with scope.collect() as block:
            operand = lower_expression(scope, value)
        old = scope.read(target.id, scope.loc(target))
        if isinstance(old, ArrayRef | Tensor) and old.ndim:
            scope.block.extend(block)
            _update_array(scope, old, symbol, operand, loc)
            return
        if block and isinstance(old, Number):
            old = Number(scope.temp("kept", old.expr), old.python)
        scope.block.extend(block)
        if isinstance(old, TupleValue) and isinstance(operand, TupleValue) and symbol == "+":
            joined = held(scope, TupleValue(old.items + operand.items), target.id, loc)
            scope.bind(target.id, joined, loc)
            return
        refuse_text(symbol, old, operand, loc)
        if isinstance(old, Number) and is_array(operand):
            scope.bind(
                target.id, held(scope, array_operation(scope, symbol, old, operand, loc), target.id, loc), loc
            )
            return
        out = arithmetic.binary(symbol, number(old, loc), number(operand, scope.loc(value)), loc)
        scope.bind(target.id, out, loc)
        return
    if written_part(target) is not None:
        old = lower_expression(scope, target)
        assign_to(
            scope, target, array_operation(scope, symbol, old, lower_expression(scope, value), loc), loc
        )
        return
    if not isinstance(target, ast.Subscript):
        raise UnsupportedError("attributes cannot be assigned in compiled code", scope.loc(target),
                               hints=("return the value, and assign it outside",))  # fmt: skip
    ref = _target(scope, target)
    if isinstance(ref, Tensor | Masked) or ref.ndim:
        _update_array(scope, ref, symbol, lower_lazily(scope, value), loc)
        return
    load: Expr = Load(ref.symbol, ref.index, loc=scope.loc(target))
    with scope.collect() as block:
        operand = lower_expression(scope, value)
    if block:
        ref = ArrayRef(
            ref.symbol, tuple(i if isinstance(i, Const) else scope.temp("at", i) for i in ref.index)
        )
        load = scope.temp("kept", Load(ref.symbol, ref.index, loc=scope.loc(target)))
        scope.block.extend(block)
    out = arithmetic.binary(symbol, Number(load, python=False), number(operand, scope.loc(value)), loc)
    if ref.symbol.dtype.is_integer and out.type.dtype.is_float and symbol == "/":
        # NumPy scalars divide to a float, which the element's store then truncates.
        out = Number(cast(out.expr, ref.symbol.dtype), python=False)
    scope.emit(Store(ref.symbol, ref.index, converted(out, ref, loc), loc=loc))


def _fresh_sum(scope: Scope, node: ast.expr, loc: Loc) -> Value:
    """The new value of a dict's item; an array would be changed in place, and other names might have it."""
    out = lower_expression(scope, node)
    if is_array(out):
        raise UnsupportedError("an array in a dict cannot be updated through it", loc,
                               hints=("give the array a name",))  # fmt: skip
    return out


def _update_array(
    scope: Scope, target: ArrayRef | Tensor | Masked, symbol: str, value: Value, loc: Loc
) -> None:
    """`target op= value` in the target's memory. Raises where NumPy refuses the result's type."""
    out = array_operation(scope, symbol, target, value, loc)
    old, new = element_type(target), element_type(out)
    if "biufc".index(new.kind.replace("u", "i")) > "biufc".index(old.kind.replace("u", "i")):
        raise TypeInferenceError(
            f"{symbol}= gives {new}, which an array of {old} does not take", loc,
            hints=(f"convert the result: a[...] = (a {symbol} x).astype(a.dtype)",),
        )  # fmt: skip
    assign(scope, target, out, loc)


def _atomic(scope: Scope, node: ast.stmt, pragma: AtomicPragma) -> None:
    """`#pragma atomic` on `x[i] += e` or `x[i] = max(x[i], e)`."""
    loc = scope.loc(node)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
        symbol = binary_symbol(node.op)
        if symbol not in _ATOMIC_OPS:
            raise PragmaError(
                f"{symbol}= cannot be atomic", pragma.loc,
                hints=("+= -= *= &= |= ^= can, and x[i] = min(x[i], e), max(x[i], e)",),
            )  # fmt: skip
        operand = number(lower_expression(scope, node.value), scope.loc(node.value))
        ref = target_element(scope, node.target)
        if symbol == "-":
            operand = arithmetic.negative(Number(converted(operand, ref, loc), python=False), loc)
        value = converted(operand, ref, loc)
        scope.emit(Update(ref.symbol, ref.index, _ATOMIC_OPS[symbol], value, atomic=True, loc=loc))
        return
    match node:
        case ast.Assign(targets=[ast.Subscript() as target], value=ast.Call(func=func, args=[first, second])):
            called = lower_expression(scope, func)
            op = {min: "min", max: "max"}.get(called.obj) if isinstance(called, Opaque) else None  # type: ignore[call-overload]
            same = ast.dump(first).replace("Load()", "Store()") == ast.dump(target).replace(
                "Load()", "Store()"
            )
            if op is not None and same:
                operand = number(lower_expression(scope, second), scope.loc(second))
                ref = target_element(scope, target)
                value = converted(operand, ref, loc)
                scope.emit(Update(ref.symbol, ref.index, op, value, atomic=True, loc=loc))
                return
    raise PragmaError(
        "this statement cannot be atomic", pragma.loc,
        hints=("x[i] += e can (also -= *= &= |= ^=), and x[i] = min(x[i], e), max(x[i], e)",),
    )  # fmt: skip


# ---------------------------------------------------------------- branches and failures


def _if(
    scope: Scope,
    test: ast.expr,
    body: list[ast.stmt],
    orelse: list[ast.stmt],
    loc: Loc,
    finish: Callable[[], None] | None = None,
) -> None:
    cond = lower_condition(scope, test)
    known = constant_truth(cond)
    if known is not None:
        lower_block(scope, body if known else orelse, finish)
        return

    def arm(statements: list[ast.stmt], truth: bool) -> None:
        known_as_numbers(scope, proven(test, truth))
        lower_block(scope, statements, finish)

    arms = (lambda: arm(body, True), lambda: arm(orelse, False))
    lower_arms(scope, cond, arms, _needed(scope, body, orelse), loc)


def lower_branches(
    scope: Scope,
    cond: Expr,
    body: list[ast.stmt],
    orelse: list[ast.stmt],
    loc: Loc,
    finish: Callable[[], None] | None = None,
) -> None:
    """`if cond: body else: orelse`; finish: as in `lower_block`."""
    arms = (lambda: lower_block(scope, body, finish), lambda: lower_block(scope, orelse, finish))
    lower_arms(scope, cond, arms, _needed(scope, body, orelse), loc)


def lower_arms(
    scope: Scope,
    cond: Expr,
    arms: tuple[Callable[[], None], Callable[[], None]],
    needed: frozenset[str],
    loc: Loc,
) -> None:
    """An `if` of what two functions lower. needed: names that are read behind it."""
    start = dict(scope.env)
    since = len(scope.memory.stores)
    ends = []
    for lower in arms:
        scope.env = dict(start)
        scope.live = True
        with scope.collect() as block:
            lower()
        ends.append((scope.env, block, scope.live))
    scope.live = True
    scope.merge_branches(ends, start, needed, since, loc)
    then, other = tuple(ends[0][1]), tuple(ends[1][1])
    if then or not other:  # an empty one is kept: its condition may raise
        scope.emit(If(cond, then, other, loc=loc))
    else:
        scope.emit(If(arithmetic.logical_not(Number(cond, True), loc).expr, other, loc=loc))


def _needed(scope: Scope, body: list[ast.stmt], orelse: list[ast.stmt]) -> frozenset[str]:
    """Names that are read behind two branches."""
    out: frozenset[str] = frozenset()
    for statements in (body, orelse):
        if statements:
            out |= scope.names_behind.get(statements[-1], scope.locals)
    return out


def _assert(scope: Scope, test: ast.expr, msg: ast.expr | None, loc: Loc) -> None:
    cond = lower_condition(scope, test)
    known_as_numbers(scope, proven(test, True))
    if msg is not None and not isinstance(msg, ast.Constant):
        raise LibraryCallError("a text that is put together is made in Python", scope.loc(msg),
                               hints=("give a constant text",))  # fmt: skip
    text = str(msg.value) if isinstance(msg, ast.Constant) else ""
    fail = Fail("AssertionError", text, loc=loc)
    known = constant_truth(cond)
    if (
        known is None
    ):  # it nearly always holds: where it can be asked before the function begins, all may know it
        scope.emit(If(Unary("~", Likely(cond, loc=loc), loc=loc), (fail,), loc=loc))
    elif not known:
        scope.emit(fail)


def _with(scope: Scope, items: list[ast.withitem], body: list[ast.stmt], loc: Loc) -> None:
    """`with np.errstate(...)` about what is not said of floats anyway."""
    for item in items:
        call = item.context_expr
        callee = lower_expression(scope, call.func) if isinstance(call, ast.Call) else None
        is_errstate = isinstance(callee, Opaque) and callee.obj is np.errstate
        if not is_errstate or not isinstance(call, ast.Call) or item.optional_vars is not None:
            raise UnsupportedError("a with statement cannot be compiled", loc,
                                   hints=("enter the context outside the compiled function",))  # fmt: skip
        for word in call.keywords:
            if not isinstance(word.value, ast.Constant) or word.value.value not in ("ignore", "warn"):
                raise UnsupportedError("compiled code raises nothing for what floats come to", scope.loc(word.value),
                                       hints=('"ignore" and "warn" can be compiled',))  # fmt: skip
    lower_block(scope, body)


def _delete(scope: Scope, node: ast.stmt, targets: list[ast.expr]) -> None:
    """`del x` of names that nobody reads any more says nothing that matters here."""
    later = scope.names_behind.get(node, scope.locals)
    for target in targets:
        if not isinstance(target, ast.Name):
            raise UnsupportedError("this del cannot be compiled", scope.loc(target), hints=("leave it out",))
        if target.id in later:
            raise UnsupportedError(f"{target.id!r} is read behind its del", scope.loc(target),
                                   hints=("leave the del out",))  # fmt: skip


def _raise(scope: Scope, exc: ast.expr | None, loc: Loc) -> None:
    node = exc.func if isinstance(exc, ast.Call) else exc
    args = exc.args if isinstance(exc, ast.Call) else []
    if isinstance(node, ast.Name) and node.id not in scope.locals:
        kind = getattr(builtins, node.id, None)
        plain = isinstance(kind, type) and issubclass(kind, Exception)
        if plain and all(isinstance(a, ast.Constant) for a in args) and len(args) <= 1:
            text = str(args[0].value) if args and isinstance(args[0], ast.Constant) else ""
            scope.emit(Fail(node.id, text, loc=loc))
            return
        if plain:
            raise LibraryCallError("an exception whose text is put together is raised in Python", loc,
                                   hints=("give it a constant text",))  # fmt: skip
    raise UnsupportedError("this raise cannot be compiled", loc,
                           hints=("raise a builtin exception with a constant text",))  # fmt: skip
