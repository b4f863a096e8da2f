"""Expressions: from Python's AST to IR.

An expression that needs statements first (a call that is inlined, a test that may raise)
emits them into the current block, in Python's order of evaluation.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from appyc.errors import CompileError, Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import tensors
from appyc.frontend.arrays.masks import packed
from appyc.frontend.control import conditionals
from appyc.frontend.expressions import arithmetic, attributes, comparisons, local_functions, subscripts
from appyc.frontend.expressions.arithmetic import cast, integer, truth_of
from appyc.frontend.expressions.calls import lower_call
from appyc.frontend.expressions.powers import refuse_negative_powers
from appyc.frontend.library.linear_algebra import matmul
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.dict_names import displayed
from appyc.frontend.types.numbers import PY_BOOL, PY_INT, PY_LARGE_INT
from appyc.frontend.types.values import (
    ArrayRef,
    DictValue,
    Key,
    ListValue,
    Masked,
    MaybeNone,
    Number,
    Opaque,
    Tensor,
    TupleValue,
    Value,
    Wide,
    describe,
)
from appyc.frontend.types.weak_ints import refuse_unfit
from appyc.frontend.types.wide_ints import literal, wide_operation, wide_sign
from appyc.ir.nodes import (
    Compare,
    Const,
    Expr,
    Load,
    Logical,
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
                return literal(value, loc)
            return Opaque(value)
        case ast.Name(id=name):
            return scope.read(name, loc) if name in scope.locals else scope.names.lookup(name, loc)
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(scope, left, op, right, loc)
        case ast.UnaryOp(op=op, operand=operand):
            return _unary(scope, op, operand, loc)
        case ast.BoolOp(op=op, values=values):
            return conditionals.lower_bool_op(scope, isinstance(op, ast.And), values, loc)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return comparisons.lower_comparison(scope, left, ops, comparators, loc)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return conditionals.lower_conditional(scope, test, body, orelse, loc)
        case ast.Subscript(value=value, slice=index):
            return subscripts.lower_subscript(scope, value, index, loc)
        case ast.Attribute(value=value, attr=attr):
            return attributes.attribute(scope, lower_expression(scope, value), attr, loc)
        case ast.Tuple(elts=elts):
            elts = unstarred(scope, elts)
            items = zip(lower_operands(scope, elts, lower_or_none), elts, strict=True)
            return TupleValue(tuple(put_together(scope, value, scope.loc(e)) for value, e in items))
        case ast.Dict(keys=keys, values=values):
            return _dict(scope, keys, values, loc)
        case ast.Call(func=ast.Name(id="dict")) if "dict" not in scope.locals and (found := displayed(node)):
            return _dict(scope, found.keys, found.values, loc)
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
    """`{"a": x, **other}`: keys that are written out, and other such dicts."""
    values = [put_together(scope, value, loc) for value in lower_operands(scope, nodes, lower_or_none)]
    items: dict[Key, Value] = {}
    for key, value in zip(keys, values, strict=True):
        match key, value:
            case ast.Constant(value=str() | int() as name), _:
                items[name] = value
            case None, DictValue():
                items |= zip(value.keys, value.values.items, strict=True)
            case _:
                raise UnsupportedError(
                    "a dict cannot be compiled unless its keys are texts or integers written out", loc,
                    hints=("use arrays, or names",),
                )  # fmt: skip
    return DictValue(tuple(items), TupleValue(tuple(items.values())))


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
            values = [kept_before(scope, v, block) for v in values]
            scope.block.extend(block)
        values.append(value)
    return values


def kept_before(scope: Scope, value: Value, block: list[Stmt]) -> Value:
    """The value as it is before the statements of `block` run."""
    match value:
        case Number(expr=Const()):
            return value
        case Number():
            return replace(value, expr=scope.temp("kept", value.expr))
        case Wide():
            return Wide(scope.temp("kept", value.bits))
        case Tensor():
            changes = _changes([value.element], block)
            return tensors.kept(scope, value, "kept", value.element.loc) if changes else value
        case Masked():
            changes = _changes([value.tensor.element, value.holds], block)
            return put_together(scope, value, value.holds.loc) if changes else value
        case TupleValue():
            return replace(value, items=tuple(kept_before(scope, v, block) for v in value.items))
        case MaybeNone():
            return tensors.settled(scope, value)
        case DictValue(keys, values):
            kept = kept_before(scope, values, block)
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
    return (
        UnsupportedError if isinstance(value, Opaque | DictValue | MaybeNone | Wide) else TypeInferenceError
    )


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
            return conditionals.logical_chain(scope, isinstance(op, ast.And), values, loc)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = lower_condition(scope, operand)
            return arithmetic.logical_not(Number(inner, python=True), loc).expr
    value = lower_or_none(scope, node)
    match value:
        case MaybeNone(value=present, is_none=is_none):
            there = arithmetic.logical_not(is_none, loc).expr
            if isinstance(present, TupleValue):
                return there  # it has items
            return Logical("and", there, truth_of(present.expr), loc=loc)
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


def refuse_large_index(value: Number, loc: Loc) -> None:
    """Raises UnsupportedError for a Python int that may be above 2**63 - 1."""
    if value.type == PY_LARGE_INT:
        raise UnsupportedError(
            "this may be a Python int above 2**63 - 1", loc, hints=("cut it with % first",)
        )


def as_index(value: Number, loc: Loc) -> Expr:
    """A number as an int64 index or loop bound."""
    refuse_large_index(value, loc)
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
    return scalar_operation(scope, symbol, (a, scope.loc(left)), (b, scope.loc(right)), loc)


def scalar_operation(
    scope: Scope, symbol: str, one: tuple[Value, Loc], other: tuple[Value, Loc], loc: Loc
) -> Value:
    """`one op other` of what is no array, each with its place."""
    if (wide := wide_operation(symbol, one[0], other[0], loc)) is not None:
        return wide
    return number_operation(scope, symbol, number(*one), number(*other), loc)


def number_operation(scope: Scope, symbol: str, a: Number, b: Number, loc: Loc) -> Number:
    """`a op b` of numbers; what NumPy refuses for its value raises."""
    if symbol != "/":
        refuse_unfit(scope, (a, b), loc)
    if symbol == "**":
        refuse_negative_powers(scope, a, b, loc)
    return arithmetic.binary(symbol, a, b, loc)


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

    if symbol != "/":
        refuse_unfit(scope, (a, b), loc)
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
    symbol = {ast.USub: "-", ast.Invert: "~"}.get(type(op))
    if symbol is not None and (wide := wide_sign(symbol, value, loc)) is not None:
        return wide
    return _signed(op, number(value, scope.loc(operand)), loc)


def _signed(op: ast.unaryop, value: Number, loc: Loc) -> Number:
    match op:
        case ast.USub():
            return arithmetic.negative(value, loc)
        case ast.Invert():
            return arithmetic.invert(value, loc)
        case _:
            return arithmetic.to_type(value, PY_INT) if value.type == PY_BOOL else value
