"""Expressions: from Python's AST to IR.

An expression that needs statements first (a call that is inlined, a test that may raise)
emits them into the current block, in Python's order of evaluation.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from appyc.errors import CompileError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend import arithmetic, local_functions, tensors
from appyc.frontend.arithmetic import cast, integer, truth_of
from appyc.frontend.calls import lower_call
from appyc.frontend.choices import chosen_array
from appyc.frontend.functions import imaginary_part, real_part
from appyc.frontend.indexed_tuples import item_of, table_of_constants
from appyc.frontend.linear_algebra import matmul
from appyc.frontend.masks import packed
from appyc.frontend.none_tests import proven, where_numbers
from appyc.frontend.numbers import PY_BOOL, PY_INT
from appyc.frontend.powers import refuse_negative_powers
from appyc.frontend.scope import Scope, constant_truth
from appyc.frontend.slices import Item, back_from_end, is_element, lower_items, subscript
from appyc.frontend.tuple_comparisons import compare_tuples
from appyc.frontend.values import (
    ArrayRef,
    DictValue,
    Key,
    ListValue,
    Masked,
    MaybeNone,
    Number,
    Opaque,
    ReturnedChoice,
    ReturnedList,
    ReturnedView,
    Tensor,
    TupleValue,
    Value,
    describe,
)
from appyc.ir.nodes import (
    Assign,
    Binary,
    Compare,
    Const,
    Expr,
    Extent,
    If,
    Likely,
    Load,
    Logical,
    Select,
    Stmt,
    Var,
)
from appyc.ir.types import DType
from appyc.ir.visit import arrays_read, arrays_written, scalars_read, scalars_written

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip

_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip

UNSUPPORTED: dict[type[ast.AST], tuple[str, str]] = {
    ast.ListComp: ("a list comprehension", "write a loop that fills an array"),
    ast.SetComp: ("a set comprehension", "write a loop"),
    ast.DictComp: ("a dict comprehension", "write a loop"),
    ast.GeneratorExp: ("a generator expression", "write a loop"),
    ast.List: ("a list", "use a tuple or an array"),
    ast.Set: ("a set", "use an array"),
    ast.JoinedStr: ("an f-string", "build text outside the compiled function"),
    ast.Await: ("await", "compiled functions are synchronous"),
    ast.Yield: ("yield", "compiled functions are no generators; fill an array"),
    ast.YieldFrom: ("yield from", "compiled functions are no generators; fill an array"),
    ast.Starred: ("a starred expression", "write the items out"),
}
"""What no expression may be, with what to do instead."""


def binary_symbol(op: ast.operator) -> str:
    """The IR's name of an operator."""
    return _BINARY[type(op)]


def lower_expression(scope: Scope, node: ast.expr) -> Value:
    """The value of an expression, with what a mask chooses put together."""
    return put_together(scope, lower_lazily(scope, node), scope.loc(node))


def lower_or_none(scope: Scope, node: ast.expr) -> Value:
    """The same, for those who can do with a `MaybeNone` too."""
    if isinstance(node, ast.Name) and node.id in scope.locals:
        return scope.read_maybe(node.id, scope.loc(node))
    return lower_expression(scope, node)


def put_together(scope: Scope, value: Value, loc: Loc) -> Value:
    """The value, where a mask still stands beside its array."""
    return packed(scope, value, loc) if isinstance(value, Masked) else value


def lower_lazily(scope: Scope, node: ast.expr) -> Value:
    """The value of an expression, for those who can do with a `Masked`."""
    loc = scope.loc(node)
    match node:
        case ast.Constant(value=value):
            if isinstance(value, bool | int | float | complex):
                return arithmetic.python_number(value, loc)
            return Opaque(value)
        case ast.Name(id=name):
            return scope.read(name, loc) if name in scope.locals else scope.names.lookup(name, loc)
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(scope, left, op, right, loc)
        case ast.UnaryOp(op=op, operand=operand):
            return _unary(scope, op, operand, loc)
        case ast.BoolOp(op=op, values=values):
            return _bool_op(scope, isinstance(op, ast.And), values, loc)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return _comparison(scope, left, ops, comparators, loc)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _conditional(scope, test, body, orelse, loc)
        case ast.Subscript(value=value, slice=index):
            return _subscript(scope, value, index, loc)
        case ast.Attribute(value=value, attr=attr):
            return attribute(scope, lower_expression(scope, value), attr, loc)
        case ast.Tuple(elts=elts):
            elts = unstarred(scope, elts)
            items = zip(lower_operands(scope, elts, lower_or_none), elts, strict=True)
            return TupleValue(tuple(put_together(scope, value, scope.loc(e)) for value, e in items))
        case ast.Dict(keys=keys, values=values):
            return _dict(scope, keys, values, loc)
        case ast.Call():
            return lower_call(scope, node)
        case ast.Lambda():
            return local_functions.defined(scope, node)
        case ast.NamedExpr(target=target, value=value):
            scope.bind(target.id, tensors.held(scope, lower_expression(scope, value), target.id, loc), loc)
            return scope.read(target.id, loc)
        case _:
            what, instead = UNSUPPORTED.get(type(node), (f"a {type(node).__name__}", "rewrite it"))
            raise UnsupportedError(f"{what} cannot be compiled", loc, hints=(instead,))


def _dict(scope: Scope, keys: list[ast.expr | None], nodes: list[ast.expr], loc: Loc) -> Value:
    """`{"a": x, "b": y}`: keys that are written out, each once."""
    names = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str | int)]
    if len(names) != len(nodes) or len(set(names)) != len(names) or not names:
        raise UnsupportedError("a dict cannot be compiled unless its keys are texts or integers written out", loc,
                               hints=("use arrays, or names",))  # fmt: skip
    values = [put_together(scope, value, loc) for value in lower_operands(scope, nodes, lower_or_none)]
    return DictValue(tuple(names), TupleValue(tuple(values)))


def dict_item(scope: Scope, owner: DictValue, index: ast.expr, loc: Loc) -> int:
    """The position of `owner[index]` among the values. Raises UnsupportedError for a key that is not there."""
    key = known_key(lower_or_none(scope, index))
    if key is None or key not in owner.keys:
        raise UnsupportedError("a dict is indexed in compiled code by keys that it was written with", loc,
                               hints=("use an array, or if and elif",))  # fmt: skip
    return owner.keys.index(key)


def known_key(value: Value) -> Key | None:
    """The text or the integer that a value is known to be."""
    if isinstance(value, Opaque) and isinstance(value.obj, str):
        return value.obj
    if isinstance(value, Number) and value.python and isinstance(value.constant, int):
        return value.constant
    return None


def keys_of(owner: DictValue, loc: Loc) -> TupleValue:
    """The keys of a dict, in its order."""
    return TupleValue(
        tuple(
            Opaque(key) if isinstance(key, str) else arithmetic.python_number(key, loc) for key in owner.keys
        )
    )


def unstarred(scope: Scope, nodes: list[ast.expr]) -> list[ast.expr]:
    """The expressions, with the items of tuples in place of `*t`. Raises UnsupportedError for others."""
    out: list[ast.expr] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            out.append(node)
            continue
        inner = node.value
        if isinstance(inner, ast.Tuple | ast.List):
            out += unstarred(scope, inner.elts)
            continue
        # A name, or an attribute of one, may be read once for each item.
        value = lower_expression(scope, inner) if isinstance(inner, ast.Name | ast.Attribute) else None
        if not isinstance(value, TupleValue):
            raise UnsupportedError("only a tuple that has a name can stand behind * here", scope.loc(node),
                                   hints=("write the items out, or give the tuple a name first",))  # fmt: skip
        for k in range(len(value.items)):
            at = ast.copy_location(ast.Constant(k), inner)
            out.append(ast.copy_location(ast.Subscript(inner, at, ast.Load()), inner))
    return out


def lower_operands(
    scope: Scope, nodes: list[ast.expr], lower: Callable[[Scope, ast.expr], Value] | None = None
) -> list[Value]:
    """Several expressions, left to right. lower: in place of `lower_lazily`.

    Where a later one emits statements (it was a call that was inlined), the earlier ones
    are kept in variables, so that those statements do not change what they read. What a mask
    chooses may be a `Masked`.
    """
    values: list[Value] = []
    for node in nodes:
        with scope.collect() as block:
            value = (lower or lower_lazily)(scope, node)
        if block:
            values = [_kept(scope, v, block) for v in values]
            scope.block.extend(block)
        values.append(value)
    return values


def _kept(scope: Scope, value: Value, block: list[Stmt]) -> Value:
    """The value as it is before the statements of `block` run."""
    match value:
        case Number(expr=Const()):
            return value
        case Number():
            return replace(value, expr=scope.temp("kept", value.expr))
        case Tensor():
            changes = _changes([value.element], block)
            return tensors.kept(scope, value, "kept", value.element.loc) if changes else value
        case Masked():
            changes = _changes([value.tensor.element, value.holds], block)
            return put_together(scope, value, value.holds.loc) if changes else value
        case TupleValue():
            return replace(value, items=tuple(_kept(scope, v, block) for v in value.items))
        case MaybeNone():
            return tensors.settled(scope, value)
        case DictValue(keys, values):
            kept = _kept(scope, values, block)
            assert isinstance(kept, TupleValue)
            return DictValue(keys, kept)
        case ListValue(slots=slots) if slots.count in scalars_written(block):
            raise UnsupportedError("a list changes before it is looked at", block[0].loc,
                                   hints=("take its length or its items in a statement before this one",))  # fmt: skip
        case _:
            return value


def _changes(read: Sequence[Expr], block: list[Stmt]) -> bool:
    """Whether statements change what expressions read. Most only test lengths."""
    arrays, scalars = arrays_written(block), scalars_written(block)
    return bool(arrays_read(read) & arrays or scalars_read(read) & scalars)


def wrong_kind(value: Value) -> type[CompileError]:
    """The error for a value that does not fit: what Python may do with an object is Python's to say."""
    return UnsupportedError if isinstance(value, Opaque | DictValue | MaybeNone) else TypeInferenceError


def number(value: Value, loc: Loc, what: str = "this") -> Number:
    """The value as a number; a 0-dimensional array is read. Raises TypeInferenceError."""
    match value:
        case Number():
            return value
        case ArrayRef() if value.ndim == 0:
            return Number(Load(value.symbol, value.index, loc=loc), python=False)
        case ArrayRef() | Tensor():
            raise UnsupportedError(f"{what} is {describe(value)}, where a number is needed", loc,
                                   hints=(_index_fully(value),))  # fmt: skip
        case MaybeNone():
            raise UnsupportedError(f"{what} may be None, where a number is needed", loc,
                                   hints=("give it a name, and ask whether it is None first",))  # fmt: skip
        case Opaque(obj=str()):
            raise TypeInferenceError(f"{what} is text, where a number is needed", loc,
                                     hints=("work with text outside the compiled function",))  # fmt: skip
        case _:
            raise wrong_kind(value)(f"{what} is {describe(value)}, where a number is needed", loc)


def _index_fully(array: ArrayRef | Tensor) -> str:
    """What to do where an array stands in a number's place."""
    if isinstance(array, Tensor) or not array.index:
        return "index its elements in a loop"
    name, ndim = array.symbol.name, array.symbol.array.ndim
    return f"'{name}' is {ndim}-dimensional: an element of it has {ndim} indices"


def lower_number(scope: Scope, node: ast.expr) -> Number:
    return number(lower_expression(scope, node), scope.loc(node))


def lower_numbers(scope: Scope, nodes: list[ast.expr]) -> list[Number]:
    values = lower_operands(scope, nodes)
    return [number(v, scope.loc(n)) for v, n in zip(values, nodes, strict=True)]


def lower_condition(scope: Scope, node: ast.expr) -> Expr:
    """An expression's truth; `and`, `or` and `not` stay short-circuit tests."""
    loc = scope.loc(node)
    match node:
        case ast.BoolOp(op=op, values=values):
            return _logical_chain(scope, isinstance(op, ast.And), values, loc)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = lower_condition(scope, operand)
            return arithmetic.logical_not(Number(inner, python=True), loc).expr
    value = lower_or_none(scope, node)
    match value:
        case MaybeNone(number=inner_number, is_none=is_none):
            there = arithmetic.logical_not(is_none, loc).expr
            return Logical("and", there, truth_of(inner_number.expr), loc=loc)
        case DictValue():
            return arithmetic.const(True, DType.BOOL, loc)
        case TupleValue():
            return arithmetic.const(bool(value.items), DType.BOOL, loc)
        case ListValue(slots=slots):
            return Compare(">", Var(slots.count, loc=loc), integer(0, loc), loc=loc)
        case Opaque() if isinstance(value.obj, str | type(None)):
            return arithmetic.const(bool(value.obj), DType.BOOL, loc)
        case _:
            return truth_of(number(value, loc, "this condition").expr)


def as_index(value: Number, loc: Loc) -> Expr:
    """A number as an int64 index or loop bound."""
    if not value.type.dtype.is_integer and value.type != PY_BOOL:
        raise TypeInferenceError(
            f"this is {describe(value)}, where an integer is needed", loc,
            hints=("convert it with int(...)",),
        )  # fmt: skip
    return cast(value.expr, DType.INT64)


def _binary(scope: Scope, left: ast.expr, op: ast.operator, right: ast.expr, loc: Loc) -> Value:
    symbol = binary_symbol(op)
    a, b = lower_operands(scope, [left, right])
    if symbol == "+" and isinstance(a, TupleValue) and isinstance(b, TupleValue):
        return TupleValue(a.items + b.items)
    if symbol == "*" and (repeated := _repeated(a, b) or _repeated(b, a)) is not None:
        return repeated
    if tensors.is_array(a) or tensors.is_array(b):
        return array_operation(scope, symbol, a, b, loc)
    refuse_text(symbol, a, b, loc)
    x, y = number(a, scope.loc(left)), number(b, scope.loc(right))
    if symbol == "**" and x.type.dtype.is_integer and y.type.dtype.is_integer:
        refuse_negative_powers(scope, x, y, loc)
    return arithmetic.binary(symbol, x, y, loc)


def _repeated(items: Value, times: Value) -> TupleValue | None:
    """`(x, y) * 3`."""
    if (
        not isinstance(items, TupleValue)
        or not isinstance(times, Number)
        or not isinstance(times.constant, int)
    ):
        return None
    return TupleValue(items.items * times.constant)


def refuse_text(symbol: str, a: Value, b: Value, loc: Loc) -> None:
    """Raises UnsupportedError for what Python makes text of; what it refuses is an error elsewhere."""
    texts = [isinstance(v, Opaque) and isinstance(v.obj, str) for v in (a, b)]
    if (symbol == "+" and all(texts)) or (symbol == "*" and any(texts)) or (symbol == "%" and texts[0]):
        raise UnsupportedError("text cannot be put together in compiled code", loc,
                               hints=("work with text outside the compiled function",))  # fmt: skip


def array_operation(scope: Scope, symbol: str, a: Value, b: Value, loc: Loc) -> Value:
    """`a op b` where a side is an array."""
    if symbol == "@":
        return matmul(scope, a, b, loc)

    if symbol == "**":
        refuse_negative_powers(scope, a, b, loc)

    def make(numbers: list[Number]) -> Number:
        return arithmetic.binary(symbol, numbers[0], numbers[1], loc)

    return tensors.elementwise(scope, [a, b], make, loc)


def _unary(scope: Scope, op: ast.unaryop, operand: ast.expr, loc: Loc) -> Value:
    if isinstance(op, ast.Not):
        return arithmetic.logical_not(Number(lower_condition(scope, operand), python=True), loc)
    value = lower_lazily(scope, operand)
    if tensors.is_array(value):
        return tensors.elementwise(scope, [value], lambda numbers: _signed(op, numbers[0], loc), loc)
    return _signed(op, number(value, scope.loc(operand)), loc)


def _signed(op: ast.unaryop, value: Number, loc: Loc) -> Number:
    match op:
        case ast.USub():
            return arithmetic.negative(value, loc)
        case ast.Invert():
            return arithmetic.invert(value, loc)
        case _:
            return arithmetic.to_type(value, PY_INT) if value.type == PY_BOOL else value


def _branch(scope: Scope, node: ast.expr) -> tuple[Value, list[Stmt]]:
    """An expression that is evaluated on one path only, and the statements it needs there."""
    with scope.collect() as block, _binding_nothing(scope):
        value = lower_expression(scope, node)
    return value, block


@contextmanager
def _binding_nothing(scope: Scope) -> Iterator[None]:
    """What is evaluated on some paths only. Raises UnsupportedError for a `:=` in it."""
    before = dict(scope.env)
    yield
    for name, binding in scope.env.items():
        if before.get(name) is not binding:
            raise UnsupportedError(f"{name!r} is assigned on some paths only", scope.bound_at[name],
                                   hints=("assign it in a statement of its own",))  # fmt: skip


def _bool_op(scope: Scope, is_and: bool, nodes: list[ast.expr], loc: Loc) -> Value:
    """`a and b` gives one of its operands; on bools that is the logical operation."""
    first = lower_number(scope, nodes[0])
    for node in nodes[1:]:
        value, block = _branch(scope, node)
        second = number(value, scope.loc(node))
        op = "and" if is_and else "or"
        if first.type.dtype is DType.BOOL and second.type.dtype is DType.BOOL and not block:
            known = constant_truth(first.expr)
            if known is None:
                first = Number(Logical(op, first.expr, second.expr, loc=loc), first.python and second.python)
            elif known == is_and:
                first = second
            continue
        kept = Number(scope.temp("operand", first.expr), first.python)
        cond = truth_of(kept.expr)
        pair = (second, kept) if is_and else (kept, second)
        blocks = (block, []) if is_and else ([], block)
        first = _choose(scope, cond, pair, blocks, loc)
    return first


def _logical_chain(scope: Scope, is_and: bool, nodes: list[ast.expr], loc: Loc) -> Expr:
    out = lower_condition(scope, nodes[0])
    told = proven(nodes[0], is_and)
    for node in nodes[1:]:
        known = constant_truth(out)
        if known == (not is_and):
            break  # what follows is never evaluated
        with where_numbers(scope, told), scope.collect() as block, _binding_nothing(scope):
            nxt = lower_condition(scope, node)
        told |= proven(node, is_and)
        if known is not None:
            scope.block.extend(block)
            out = nxt
            continue
        if not block:
            out = Logical("and" if is_and else "or", out, nxt, loc=loc)
            continue
        decided = Number(arithmetic.const(not is_and, DType.BOOL, loc), python=True)
        rest = Number(nxt, python=True)
        pair, blocks = ((rest, decided), (block, [])) if is_and else ((decided, rest), ([], block))
        out = _choose(scope, out, pair, blocks, loc).expr
    return out


def _choose(
    scope: Scope, cond: Expr, pair: tuple[Number, Number], blocks: tuple[list[Stmt], list[Stmt]], loc: Loc
) -> Number:
    """A select, or an `if` where a side needs statements of its own."""
    chosen = arithmetic.select(cond, pair[0], pair[1], loc)
    known = constant_truth(cond)
    if known is not None:
        scope.block.extend(blocks[0] if known else blocks[1])
        return chosen
    if not (blocks[0] or blocks[1]):
        return chosen
    symbol = scope.supply.fresh("chosen", chosen.type.dtype)
    arms = [
        (*block, Assign(symbol, cast(side.expr, symbol.dtype), loc=loc))
        for side, block in zip(pair, blocks, strict=True)
    ]
    scope.emit(If(cond, arms[0], arms[1], loc=loc))
    return Number(Var(symbol, loc=loc), chosen.python)


def _conditional(scope: Scope, test: ast.expr, body: ast.expr, orelse: ast.expr, loc: Loc) -> Value:
    cond = lower_condition(scope, test)
    known = constant_truth(cond)
    if known is not None:
        return lower_expression(scope, body if known else orelse)
    with where_numbers(scope, proven(test, True)):
        then, then_block = _branch(scope, body)
    with where_numbers(scope, proven(test, False)):
        other, other_block = _branch(scope, orelse)
    tuples = isinstance(then, TupleValue) and isinstance(other, TupleValue)
    if tuples and not (then_block or other_block):
        return _choose_items(scope, cond, then, other, loc)  # type: ignore[arg-type]
    if not isinstance(then, Number) and then == other:
        return then
    if tensors.is_array(then) and tensors.is_array(other):
        return chosen_array(scope, cond, ((then, then_block), (other, other_block)), loc)
    pair = (number(then, scope.loc(body)), number(other, scope.loc(orelse)))
    return _choose(scope, cond, pair, (then_block, other_block), loc)


def _choose_items(scope: Scope, cond: Expr, then: TupleValue, other: TupleValue, loc: Loc) -> TupleValue:
    if len(then.items) != len(other.items):
        raise TypeInferenceError("the two sides are tuples of different lengths", loc)
    kept = scope.temp("condition", cond)
    pairs = zip(then.items, other.items, strict=True)
    return TupleValue(tuple(arithmetic.select(kept, number(a, loc), number(b, loc), loc) for a, b in pairs))


def _comparison(
    scope: Scope, left: ast.expr, ops: list[ast.cmpop], comparators: list[ast.expr], loc: Loc
) -> Value:
    if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in ops):
        return _identity(scope, left, ops, comparators, loc)
    if len(ops) == 1 and isinstance(ops[0], ast.Eq | ast.NotEq) and _is_none_literal(comparators[0]):
        value = lower_or_none(scope, left)
        if isinstance(value, MaybeNone):
            return value.is_none if isinstance(ops[0], ast.Eq) else arithmetic.logical_not(value.is_none, loc)
    values = lower_operands(scope, [left, *comparators])
    if len(ops) == 1 and (text := _compare_objects(values, ops[0], loc)) is not None:
        return text
    if len(ops) == 1 and any(tensors.is_array(v) for v in values):
        symbol = _COMPARE[type(ops[0])]
        return tensors.elementwise(
            scope, values, lambda numbers: arithmetic.compare(symbol, numbers[0], numbers[1], loc), loc
        )
    nodes = [left, *comparators]
    out: Number | None = None
    for k, op in enumerate(ops):
        part = compare_tuples(values[k], op, values[k + 1], loc)
        if part is None:
            one, other = (number(values[n], scope.loc(nodes[n])) for n in (k, k + 1))
            part = arithmetic.compare(_COMPARE[type(op)], one, other, loc)
        if out is None:
            out = part
        else:
            out = Number(Logical("and", out.expr, part.expr, loc=loc), out.python and part.python)
    assert out is not None
    return out


def _is_none_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _compare_objects(values: list[Value], op: ast.cmpop, loc: Loc) -> Number | None:
    """Strings, dtypes and None, which are known at compile time, are compared there."""
    a, b = values
    if not (isinstance(a, Opaque) and isinstance(b, Opaque)) or not isinstance(op, ast.Eq | ast.NotEq):
        return None
    return arithmetic.python_number((a.obj == b.obj) == isinstance(op, ast.Eq), loc)


def _identity(
    scope: Scope, left: ast.expr, ops: list[ast.cmpop], comparators: list[ast.expr], loc: Loc
) -> Value:
    """`x is None` and `x is not None`, which are known at compile time; `x in (1, 2)`."""
    if len(ops) == 1 and isinstance(ops[0], ast.In | ast.NotIn):
        found = _membership(scope, left, comparators[0], loc)
        return found if isinstance(ops[0], ast.In) else arithmetic.logical_not(found, loc)
    if len(ops) == 1 and isinstance(ops[0], ast.Is | ast.IsNot):
        a, b = lower_operands(scope, [left, comparators[0]], lower_or_none)
        for one, other in ((a, b), (b, a)):
            if isinstance(one, MaybeNone) and isinstance(other, Opaque) and other.obj is None:
                is_it = isinstance(ops[0], ast.Is)
                return one.is_none if is_it else arithmetic.logical_not(one.is_none, loc)
        if isinstance(a, Opaque) or isinstance(b, Opaque):
            same = isinstance(a, Opaque) and isinstance(b, Opaque) and a.obj is b.obj
            return arithmetic.python_number(same == isinstance(ops[0], ast.Is), loc)
    raise UnsupportedError("`is` compares objects, which compiled code does not have", loc,
                           hints=("compare numbers with == or !=; `x is None` is fine",))  # fmt: skip


def _membership(scope: Scope, item: ast.expr, among: ast.expr, loc: Loc) -> Number:
    """`item in among`: of numbers and of text, in a tuple, list or set that is written out or has a name, or
    among the keys of a dict."""
    if isinstance(among, ast.List | ast.Set):
        among = ast.copy_location(ast.Tuple(among.elts, ast.Load()), among)
    wanted, found = lower_operands(scope, [item, among])
    if isinstance(found, ListValue) and not found.slots.of_tuples and isinstance(wanted, Number):
        return _among_list(scope, wanted, found, loc)
    if isinstance(found, DictValue):
        found = keys_of(found, loc)
    if not isinstance(found, TupleValue):
        raise UnsupportedError(f"`in` of {describe(found)} cannot be compiled", loc,
                               hints=("`x in (1, 2, 3)` can; of an array, np.any(a == x)",))  # fmt: skip
    out = arithmetic.python_number(False, loc)
    for one in found.items:
        same = _compare_objects([wanted, one], ast.Eq(), loc) or compare_tuples(wanted, ast.Eq(), one, loc)
        if same is None and isinstance(wanted, Number) and isinstance(one, Number):
            same = arithmetic.compare("==", wanted, one, loc)
        if same is None and not (isinstance(wanted, Opaque) or isinstance(one, Opaque)):
            raise UnsupportedError(f"{describe(wanted)} cannot be looked for among {describe(found)}", loc,
                                   hints=("compare numbers",))  # fmt: skip
        if same is None or constant_truth(same.expr) is False:
            continue  # a number is no text
        if constant_truth(same.expr) is True or constant_truth(out.expr) is False:
            out = Number(same.expr, python=True)
        elif constant_truth(out.expr) is None:
            out = Number(Logical("or", out.expr, same.expr, loc=loc), python=True)
    return out


def _among_list(scope: Scope, wanted: Number, found: ListValue, loc: Loc) -> Number:
    """Whether an item of the list is that number."""
    from appyc.frontend.array_reductions import Along, reduce_array  # noqa: PLC0415  (it counts masks)

    kept = Number(scope.temp("wanted", wanted.expr), wanted.python)
    same = tensors.elementwise(
        scope,
        [tensors.as_tensor(scope, found, loc), kept],
        lambda numbers: arithmetic.compare("==", numbers[0], numbers[1], loc),
        loc,
    )
    out = reduce_array(scope, "any", same, Along(), None, loc)
    assert isinstance(out, Number)
    return Number(out.expr, python=True)


def _subscript(scope: Scope, base: ast.expr, index: ast.expr, loc: Loc) -> Value:
    if isinstance(base, ast.Attribute) and base.attr == "flat":
        array = lower_expression(scope, base.value)
        if isinstance(array, ArrayRef | Tensor) and array.ndim:
            return _flat_item(scope, array, index, loc)
        owner = attribute(scope, array, base.attr, scope.loc(base))
    else:
        owner = lower_expression(scope, base)
    match owner:
        case Opaque(obj=obj) if obj is np.mgrid or obj is np.ogrid:
            return _grid(scope, index, loc, is_open=obj is np.ogrid)
        case TupleValue():
            return _tuple_item(scope, owner, index, loc)
        case DictValue():
            return owner.values.items[dict_item(scope, owner, index, loc)]
        case Opaque(obj=dict()) if isinstance(index, ast.Constant):
            return scope.names.item(owner, index.value, loc)
        case ListValue():
            from appyc.frontend.lists import list_item  # noqa: PLC0415  (it lowers positions)

            return list_item(scope, owner, lower_number(scope, index), loc)
        case ArrayRef() | Tensor():
            return _array_item(scope, owner, index, loc)
        case _:
            hint = (
                "make it an array or a tuple"
                if isinstance(owner, Opaque)
                else "only arrays and tuples can be"
            )
            raise wrong_kind(owner)(f"{describe(owner)} cannot be indexed", loc, hints=(hint,))


def _flat_item(scope: Scope, array: ArrayRef | Tensor, index: ast.expr, loc: Loc) -> Value:
    """`a.flat[k]`: of the elements in C order. Several of them are a copy, even where a slice names them."""
    from appyc.frontend.reshaping import ravelled  # noqa: PLC0415  (it works with slices)

    tensor = tensors.as_tensor(scope, array, loc)
    out = subscript(scope, ravelled(scope, tensor, loc).copied(), lower_items(scope, index), loc)
    return out.copied() if isinstance(out, Tensor) else out


def _grid(scope: Scope, index: ast.expr, loc: Loc, *, is_open: bool) -> Value:
    """`np.mgrid[a:b, c:d:s]`, `np.ogrid[...]`."""
    from appyc.frontend.grids import grid  # noqa: PLC0415  (its arguments are expressions)

    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    ranges = []
    for part in parts:
        if not isinstance(part, ast.Slice) or part.upper is None:
            raise UnsupportedError("np.mgrid and np.ogrid take slices with an end here", loc)
        bounds = [part.lower or ast.copy_location(ast.Constant(0), part), part.upper]
        ranges.append(lower_numbers(scope, [*bounds, *([part.step] if part.step is not None else [])]))
    return grid(scope, ranges, loc, is_open=is_open, is_tuple=isinstance(index, ast.Tuple))


def _array_item(scope: Scope, owner: ArrayRef | Tensor, index: ast.expr, loc: Loc) -> Value:
    items = lower_items(scope, index)
    if isinstance(owner, Tensor) or not is_element(items):
        return subscript(scope, owner, items, loc)
    ref = element(scope, owner, index, items, loc)
    if ref.ndim == 0:
        return Number(Load(ref.symbol, ref.index, loc=loc), python=False)
    return ref


def _tuple_item(scope: Scope, owner: TupleValue, index: ast.expr, loc: Loc) -> Value:
    if isinstance(index, ast.Slice):
        return TupleValue(owner.items[_constant_slice(scope, index, loc)])
    at = lower_number(scope, index)
    position = at.constant
    if not isinstance(position, int):
        table = owner.table or table_of_constants(scope, owner.items, loc)
        if table is None:
            raise UnsupportedError(
                "this tuple can be indexed by constants only: its items are no numbers of one kind", loc,
                hints=("put them into an array",),
            )  # fmt: skip
        first = owner.items[0]
        length = len(first.items) if isinstance(first, TupleValue) else 0
        return item_of(table, scope.temp("at", as_index(at, loc)), length, loc)
    if not -len(owner.items) <= position < len(owner.items):
        raise TypeInferenceError(f"index {position} is out of range for a tuple of {len(owner.items)}", loc)
    return owner.items[position]


def _constant_slice(scope: Scope, index: ast.Slice, loc: Loc) -> slice[int | None, int | None, int | None]:
    def bound(part: ast.expr | None) -> int | None:
        if part is None:
            return None
        value = lower_number(scope, part).constant
        if not isinstance(value, int):
            raise UnsupportedError("a tuple can be sliced by constants only", loc)
        return value

    return slice(bound(index.lower), bound(index.upper), bound(index.step))


def element(scope: Scope, owner: ArrayRef, index: ast.expr, items: list[Item], loc: Loc) -> ArrayRef:
    """`owner[items]`, all of them single positions, as an array with more axes indexed."""
    values = [item for item in items if not isinstance(item, ast.Slice)]
    nodes = index.elts if isinstance(index, ast.Tuple) else [index]
    nodes = nodes if len(nodes) == len(values) else [index] * len(values)  # a name for a tuple
    if len(nodes) > owner.ndim:
        raise TypeInferenceError(
            f"too many indices: {len(owner.index) + len(nodes)}, "
            f"but '{owner.symbol.name}' is {owner.symbol.array.ndim}-dimensional", loc,
        )  # fmt: skip
    taken: list[Expr] = list(owner.index)
    for value, node in zip(values, nodes, strict=True):
        taken.append(_axis_index(scope, owner, len(taken), value, node))
    return ArrayRef(owner.symbol, tuple(taken), owner.shape)


def _axis_index(scope: Scope, owner: ArrayRef, axis: int, value: Value, node: ast.expr) -> Expr:
    loc = scope.loc(node)
    position = number(value, loc, "this index")
    if position.type.dtype is DType.BOOL:
        raise UnsupportedError(
            "a bool is no index here (in NumPy it is a mask)", loc, hints=("use int(...)",)
        )
    if not position.type.dtype.is_integer:
        raise TypeInferenceError(
            f"this index is {describe(position)}; arrays are indexed by integers", loc,
            hints=("convert it with int(...)",),
        )  # fmt: skip
    if position.type.dtype is DType.UINT64:
        # Beyond int64 it would turn negative, and count from the end.
        largest = Const(2**63 - 1, DType.UINT64, loc=loc)
        position = Number(Binary("min", position.expr, largest, loc=loc), position.python)
    out = cast(position.expr, DType.INT64)
    if isinstance(out, Const) and isinstance(out.value, int) and out.value < 0:
        # Counting from the end is decided here, so that the access stays affine and unchecked.
        out = Binary("-", Extent(owner.symbol, axis, loc=loc), integer(-out.value, loc), loc=loc)
    elif (back := back_from_end(out)) is not None:
        # The same of `-n` in the usual version.
        extent = Extent(owner.symbol, axis, loc=loc)
        counts = Compare(">", back, integer(0, loc), loc=loc)
        inside = Logical("and", counts, Compare("<=", back, extent, loc=loc), loc=loc)
        out = Select(Likely(inside, loc=loc), Binary("-", extent, back, loc=loc), out, loc=loc)
    return out


def attribute(scope: Scope, owner: Value, name: str, loc: Loc) -> Value:
    """`owner.name`."""
    owner = put_together(scope, owner, loc)
    match owner:
        case Masked():
            raise AssertionError("a mask has been put together")
        case Opaque():
            return scope.names.attribute(owner, name, loc)
        case ArrayRef() | Tensor():
            return _array_attribute(scope, owner, name, loc)
        case Number():
            return _number_attribute(owner, name, loc)
        case DictValue():
            raise UnsupportedError(f"the attribute {name!r} of a dict cannot be compiled", loc,
                                   hints=("d[key] can",))  # fmt: skip
        case MaybeNone():
            raise UnsupportedError("this may be None", loc, hints=("ask whether it is None first",))
        case ReturnedView() | ReturnedChoice() | ReturnedList():
            raise AssertionError("what is returned is no operand")
        case ListValue():
            raise UnsupportedError(f"a list has no attribute {name!r} here", loc,
                                   hints=("append and pop can be called",))  # fmt: skip
        case TupleValue(items=items, names=names) if name in names:
            return items[names.index(name)]
        case TupleValue():
            raise UnsupportedError(f"a tuple has no attribute {name!r} here", loc)


def shape_of(owner: ArrayRef | Tensor, loc: Loc) -> TupleValue:
    extents = owner.extents if isinstance(owner, Tensor) else owner.extents(loc)
    return TupleValue(tuple(Number(extent, python=True) for extent in extents))


def _array_attribute(scope: Scope, owner: ArrayRef | Tensor, name: str, loc: Loc) -> Value:
    dtype = owner.symbol.dtype if isinstance(owner, ArrayRef) else owner.element.dtype
    match name:
        case "T":
            tensor = tensors.as_tensor(scope, owner, loc)
            return tensors.permuted(tensor, range(tensor.ndim)[::-1])
        case "real" | "imag":
            part = real_part if name == "real" else imaginary_part
            return tensors.elementwise(scope, [owner], lambda numbers: part(numbers[0], loc), loc)
        case "shape":
            return shape_of(owner, loc)
        case "ndim":
            return arithmetic.python_number(owner.ndim, loc)
        case "size":
            out = arithmetic.python_number(1, loc)
            for item in shape_of(owner, loc).items:
                out = (
                    arithmetic.binary("*", number(item, loc), out, loc)
                    if out.constant != 1
                    else number(item, loc)
                )
            return out
        case "dtype":
            return Opaque(dtype.numpy)
        case "itemsize":
            return arithmetic.python_number(dtype.itemsize, loc)
        case "nbytes":
            size = number(_array_attribute(scope, owner, "size", loc), loc)
            return arithmetic.binary("*", size, arithmetic.python_number(dtype.itemsize, loc), loc)
        case _:
            raise UnsupportedError(
                f"the array attribute {name!r} cannot be compiled", loc,
                hints=("shape, size, ndim, dtype, itemsize, nbytes, T, real and imag can",),
            )  # fmt: skip


def _number_attribute(owner: Number, name: str, loc: Loc) -> Value:
    match name:
        case "real":
            return real_part(owner, loc)
        case "imag":
            return imaginary_part(owner, loc)
        case "dtype" if not owner.python:
            return Opaque(owner.type.dtype.numpy)
        case _:
            raise UnsupportedError(f"{describe(owner)} has no attribute {name!r} that can be compiled", loc)
