"""Lowering of expressions from Python's AST to IR.

An expression that needs statements (an inlined call, a test that may raise) emits them into the
current block, in Python's order of evaluation.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from appyc.errors import CompileError, Loc, SubscriptError, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import tensors
from appyc.frontend.arrays.masks import packed
from appyc.frontend.desugar.building import located
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import index_of
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import walk
from appyc.frontend.types import values as vals
from appyc.frontend.types.characters import is_character
from appyc.frontend.types.descriptions import describe, instead_of, is_collection
from appyc.frontend.types.numbers import PY_BOOL, PY_LARGE_INT
from appyc.frontend.types.value_parts import with_parts
from appyc.ir.nodes import Assign, BoundsCheck, Const, Expr, For, If, Stmt, Symbol, Var
from appyc.ir.raising import may_raise
from appyc.ir.types import DType
from appyc.ir.visit import arrays_read, arrays_written, scalars_read, scalars_written, statements


def lower_expression(scope: Scope, node: ast.expr) -> vals.Value:
    """The value of an expression, with a selection by a mask packed into an array."""
    return pack_masked(scope, scope.lower(node), scope.loc(node))


def lower_or_none(scope: Scope, node: ast.expr) -> vals.Value:
    """The value of an expression; a `MaybeNone` for a name that may be bound to None."""
    if isinstance(node, ast.Name) and node.id in scope.locals:
        return scope.read_maybe(node.id, scope.loc(node))
    return lower_expression(scope, node)


def pack_masked(scope: Scope, value: vals.Value, loc: Loc) -> vals.Value:
    """The value, with a selection by a mask (`Masked`) packed into an array."""
    return packed(scope, value, loc) if isinstance(value, vals.Masked) else value


def dict_item(scope: Scope, owner: vals.DictValue, named: ast.expr, index: ast.expr, loc: Loc) -> int:
    """The position of `named[index]` among the values of a dict. Raises UnsupportedError for another key."""
    key = known_key(scope, named, lower_or_none(scope, index))
    if key is None or key not in owner.keys:
        raise UnsupportedError("a dict is indexed in compiled code by keys that it was written with", loc,
                               "use an array, or if and elif")  # fmt: skip
    return owner.keys.index(key)


def known_key(scope: Scope, owner: ast.expr, value: vals.Value) -> vals.Key | None:
    """The value as a key of a dict, if it is text or an integer known at compile time; else None. Notes the dict's name
    where it is another character: it becomes a hash table."""
    if isinstance(owner, ast.Name) and is_character(value):
        scope.facts.learn(scope.facts.hashed, owner.id)
    if isinstance(value, vals.Opaque) and isinstance(value.obj, str):
        return value.obj
    if isinstance(value, vals.Number) and value.python and isinstance(value.constant, int):
        return value.constant
    return None


def keys_of(owner: vals.DictValue, loc: Loc) -> vals.TupleValue:
    """The keys of a dict, in insertion order."""
    return vals.TupleValue(
        tuple(
            vals.Opaque(key) if isinstance(key, str) else arithmetic.python_number(key, loc)
            for key in owner.keys
        )
    )


_QUIET = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop,
          ast.expr_context)  # fmt: skip


def unstarred(scope: Scope, nodes: list[ast.expr]) -> list[ast.expr]:
    """The expressions, with each `*t` of a tuple expanded to its items. Raises UnsupportedError for other iterables."""
    out: list[ast.expr] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            out.append(node)
            continue
        inner = node.value
        if isinstance(inner, ast.Tuple | ast.List):
            out += unstarred(scope, inner.elts)
            continue
        # What has no side effects may be read once per item.
        value = lower_expression(scope, inner) if all(isinstance(n, _QUIET) for n in walk(inner)) else None
        if not isinstance(value, vals.TupleValue):
            raise UnsupportedError("only a tuple that has a name can stand behind * here", scope.loc(node),
                                   "write the items out, or give the tuple a name first")  # fmt: skip
        for k in range(len(value.items)):
            out.append(located(ast.Subscript(inner, ast.Constant(k), ast.Load()), inner))
    return out


def lower_operands(
    scope: Scope, nodes: list[ast.expr], lower: Callable[[Scope, ast.expr], vals.Value] | None = None
) -> list[vals.Value]:
    """The values of several expressions, evaluated left to right. lower: replaces `Scope.lower`.

    Where a later expression emits statements (as an inlined call does), the values of earlier ones
    are saved in variables, so that the statements cannot change them. A selection by a mask is a
    `Masked`.
    """
    return in_order(scope, (scope.lower(node) if lower is None else lower(scope, node) for node in nodes))


def in_order(scope: Scope, lowered: Iterator[vals.Value]) -> list[vals.Value]:
    """The values that an iterator lowers one after another, as `lower_operands` says."""
    values: list[vals.Value] = []
    while True:
        with scope.collect() as block:
            later = list(islice(lowered, 1))
        if block:
            values = [kept_before(scope, v, block) for v in values]
            scope.block.extend(block)
        if not later:
            return values
        values += later


def only_tests(block: list[Stmt]) -> bool:
    """Whether statements do nothing but test indices of views."""
    return all(isinstance(stmt, BoundsCheck | If | For) for stmt in statements(block))


def without_invariants(scope: Scope, block: list[Stmt], varying: set[Symbol], own: int) -> list[Stmt]:
    """The statements that depend on the iteration; values that do not, such as lengths of inner lists, are emitted.

    own: the number of the first symbol of the block's own: an assignment to another one is a side effect.
    """
    rest = []
    for stmt in block:
        match stmt:
            case Assign(target, value) if (
                target.uid >= own and not varying & scalars_read(value) and not may_raise(value)
            ):
                scope.emit(stmt)
            case _:
                rest.append(stmt)
                varying |= scalars_written(stmt)
    return rest


def kept_before(scope: Scope, value: vals.Value, block: list[Stmt]) -> vals.Value:
    """The value from before the statements of `block`, saved in variables where these may change it."""
    if only_tests(block):
        return value
    match value:
        case vals.Number(expr=Const()):
            return value
        case vals.Number(expr=Var(symbol=symbol)) if symbol not in scalars_written(block):
            return value  # a copy would hide that `s = s + f(x)` is a reduction
        case vals.Number():
            return replace(value, expr=scope.temp("kept", value.expr))
        case vals.Wide():
            return vals.Wide(scope.temp("kept", value.bits))
        case vals.Tensor():
            changes = _changes([value.element], block)
            return tensors.kept(scope, value, "kept", value.element.loc) if changes else value
        case vals.Masked():
            changes = _changes([value.tensor.element, value.holds], block)
            return pack_masked(scope, value, value.holds.loc) if changes else value
        case vals.TupleValue():
            return replace(value, items=tuple(kept_before(scope, v, block) for v in value.items))
        case vals.ListSlots(count=count) if count in scalars_written(block):
            raise UnsupportedError("a list changes before it is looked at", block[0].loc,
                                   "take its length or its items in a statement before this one")  # fmt: skip
        case _:
            return with_parts(value, lambda part: kept_before(scope, part, block))


def _changes(read: Sequence[Expr], block: list[Stmt]) -> bool:
    """Whether statements write an array or scalar that the expressions read. Most only test lengths."""
    arrays, scalars = arrays_written(block), scalars_written(block)
    return bool(arrays_read(read) & arrays or scalars_read(read) & scalars)


OUTSIDE = "work with text outside the compiled function"


def wrong_kind(value: vals.Value) -> type[CompileError]:
    """The error for a value of the wrong kind: UnsupportedError for objects, whose operations only Python knows."""
    return (
        UnsupportedError
        if isinstance(value, vals.Opaque | vals.DictValue | vals.MaybeNone | vals.Wide)
        else TypeInferenceError
    )


def refused(value: vals.Value, operation: str, fault: str, loc: Loc, *hints: str) -> CompileError:
    """The error for an operation on a value of the wrong kind. operation: in words, before an object that Python may do
    this with; fault, hints: for all other values."""
    if isinstance(value, vals.Opaque) and value.obj is not None:
        return UnsupportedError(f"{operation} {describe(value)} is not compiled", loc, instead_of(value.obj))
    return wrong_kind(value)(fault, loc, *hints)


def number(value: vals.Value, loc: Loc, what: str = "this") -> vals.Number:
    """The value as a number; a 0-dimensional array is loaded. Raises CompileError for other values."""
    match value:
        case vals.Number():
            return value
        case vals.ArrayRef() if value.ndim == 0:
            return arithmetic.element_of(value.symbol, value.index, loc, checked=not value.tested)
        case vals.ArrayRef() | vals.Tensor():
            raise UnsupportedError(f"{what} is {describe(value)}, where a number is needed", loc,
                                   _index_fully(value))  # fmt: skip
        case vals.MaybeNone():
            raise UnsupportedError(f"{what} may be None, where a number is needed", loc,
                                   "give it a name, and ask whether it is None first")  # fmt: skip
        case vals.Opaque(obj=str()):
            raise TypeInferenceError(f"{what} is text, where a number is needed", loc, OUTSIDE)
        case _:
            hints = (
                (instead_of(value.obj),)
                if isinstance(value, vals.Opaque) and is_collection(value.obj)
                else ()
            )
            raise wrong_kind(value)(f"{what} is {describe(value)}, where a number is needed", loc, *hints)


def _index_fully(array: vals.ArrayRef | vals.Tensor) -> str:
    """The hint for an array where a number is needed."""
    if vals.dtype_of(array) is DType.BOOL:
        return "ask for any() or all() of it, or index its elements in a loop"
    if isinstance(array, vals.Tensor) or not array.index:
        return "index its elements in a loop"
    name, ndim = array.symbol.name, array.symbol.array.ndim
    return f"'{name}' is {ndim}-dimensional: an element of it has {ndim} indices"


def lower_number(scope: Scope, node: ast.expr) -> vals.Number:
    return number(lower_expression(scope, node), scope.loc(node))


def lower_numbers(scope: Scope, nodes: list[ast.expr]) -> list[vals.Number]:
    values = lower_operands(scope, nodes)
    return [number(v, scope.loc(n)) for v, n in zip(values, nodes, strict=True)]


def refuse_large_index(value: vals.Number, loc: Loc) -> None:
    """Raises UnsupportedError for a Python int that may be above 2**63 - 1."""
    if value.type == PY_LARGE_INT:
        raise UnsupportedError("this may be a Python int above 2**63 - 1", loc, "cut it with % first")


def single_index(value: vals.Value, loc: Loc) -> vals.Number:
    """A value that indexes one axis of an array. Raises for what is no integer."""
    if isinstance(value, vals.Opaque) and isinstance(value.obj, str):
        raise SubscriptError("this index is text, where a number is needed", loc, OUTSIDE)
    position = number(value, loc, "this index")
    if position.type.dtype is DType.BOOL:
        raise UnsupportedError("a bool is no index here (in NumPy it is a mask)", loc, "use int(...)")
    refuse_large_index(position, loc)
    if not position.type.dtype.is_integer:
        raise SubscriptError(f"this index is {describe(position)}; arrays are indexed by integers", loc,
                             "convert it with int(...)")  # fmt: skip
    return vals.Number(index_of(position.expr), position.python)


def as_index(value: vals.Number, loc: Loc) -> Expr:
    """A number as an int64 index or loop bound."""
    refuse_large_index(value, loc)
    if not value.type.dtype.is_integer and value.type != PY_BOOL:
        raise TypeInferenceError(
            f"this is {describe(value)}, where an integer is needed", loc, "convert it with int(...)"
        )
    return index_of(value.expr)


def with_items(scope: Scope, node: ast.Call) -> ast.Call:
    """The call with its starred arguments expanded to the items of the tuples."""
    if not any(isinstance(a, ast.Starred) for a in node.args):
        return node
    return ast.copy_location(ast.Call(node.func, unstarred(scope, node.args), node.keywords), node)


def positional(node: ast.Call, loc: Loc) -> list[ast.expr]:
    """The arguments of a call. Raises UnsupportedError for keywords."""
    if node.keywords:
        names = ", ".join(keyword.arg or "**" for keyword in node.keywords)
        raise UnsupportedError(
            f"{ast.unparse(node.func)} takes no keyword arguments here, and {names} was given", loc,
            "give arguments by position, and write a loop for what has no position",
        )  # fmt: skip
    return node.args
