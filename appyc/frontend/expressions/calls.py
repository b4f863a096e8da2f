"""Calls: built-in and library functions from tables, and Python functions, which are inlined."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from types import FunctionType, MethodType

import numpy as np

from appyc.errors import (
    CompileError,
    LengthError,
    LibraryCallError,
    Loc,
    TypeInferenceError,
    UnsupportedError,
)
from appyc.frontend.access import python_function
from appyc.frontend.arrays.item_counts import length_of
from appyc.frontend.arrays.tensors import elementwise, is_array, refuse_lists, settled
from appyc.frontend.arrays.where_arguments import given_destination, put
from appyc.frontend.control import generated_calls
from appyc.frontend.control.comprehensions import collected, length_of_range
from appyc.frontend.desugar.building import matched
from appyc.frontend.expressions import arithmetic, attributes, expressions, inlining, string_methods
from appyc.frontend.expressions.array_list_calls import array_in, new_array
from appyc.frontend.expressions.expressions import positional, with_items
from appyc.frontend.expressions.left_calls import leave_beyond_64_bits, leave_inexact
from appyc.frontend.expressions.list_changes import LIST_CALLS, list_method, method_of_given, new_list
from appyc.frontend.expressions.local_functions import LocalFunction
from appyc.frontend.expressions.made_objects import call_method, calls_method, is_plain_class, make_object
from appyc.frontend.expressions.strings import described
from appyc.frontend.library import generator_calls
from appyc.frontend.library.array_calls import (
    lower_array_call,
    lower_array_method,
    lower_primitive,
    works_on_arrays,
)
from appyc.frontend.library.generator_state import kind_of
from appyc.frontend.library.host_calls import BUILTINS, is_library_function
from appyc.frontend.library.made_generators import lower_maker
from appyc.frontend.library.number_conversions import number_method
from appyc.frontend.library.scalar_functions import FUNCTIONS, TO_INT
from appyc.frontend.library.texts import of_number
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import is_list, is_new_list, tuple_in_place
from appyc.frontend.types import values as vals
from appyc.frontend.types.characters import as_character, is_character, is_string
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.made_values import ArrayListCall, MadeMethod, ObjectMethod
from appyc.frontend.types.numbers import PartedTypesError, as_dtype, holds
from appyc.frontend.types.weak_ints import refuse_unfit, require_fit
from appyc.ir.types import DType
from appyc.library.distributions import Primitive, Stored
from appyc.library.mathematics import length, power, rounded
from appyc.library.table import text_of

_LOOKERS = (min, max, len, any, all)
"""Functions to which a list that is written out is as good as a tuple."""
_REWRITE = ("write it as a loop or as a Python function, or call it outside the compiled function",)


def lower_call(scope: Scope, node: ast.Call) -> vals.Value:
    """The value of a call."""
    loc = scope.loc(node)
    node = with_items(scope, node)
    if isinstance(node.func, ast.Constant):
        text: object = node.func.value
        if text is ArrayListCall.NEW:
            return new_array(scope, node.args[0], loc)
        values = expressions.lower_operands(scope, node.args)
        match text:
            case FunctionType():
                values = [as_character(value, loc) for value in values]
                of_texts = string_methods.of_lists(scope, text, values, loc)
                if (made := of_texts or lower_primitive(scope, text, values, loc)) is not None:
                    return made
                try:
                    return inlining.called_with(scope, text, values, loc)
                except LibraryCallError as error:  # there is no such call in the program
                    raise UnsupportedError(error.summary, loc, *error.hints) from None
            case vals.ReturnedContainer(makes):
                return vals.ReturnedContainer(makes, vals.TupleValue(tuple(values)))
            case ArrayListCall():
                return array_in(scope, values, loc, may_be_none=text is ArrayListCall.PART_OR_NONE)
    if isinstance(node.func, ast.Attribute):
        if (ones := _binary_ones(scope, node, loc)) is not None:
            return ones
        owner = scope.lower(node.func.value)
        if is_string(owner) and (of_text := string_methods.lower(scope, node, owner, loc)) is not None:
            return of_text
        if not isinstance(owner, vals.Opaque):
            return _method(scope, owner, node.func.attr, node, loc)
        if kind_of(owner.obj) is not None:
            drawn_there = generator_calls.lower_method(scope, node, owner, node.func.attr, loc)
            if drawn_there is not None:
                return drawn_there
        callee = attributes.attribute(scope, owner, node.func.attr, scope.loc(node.func))
    else:
        callee = expressions.lower_expression(scope, node.func)
    if not isinstance(callee, vals.Opaque):
        raise TypeInferenceError(f"{describe(callee)} cannot be called", scope.loc(node.func))
    if calls_method(callee.obj):
        callee = attributes.attribute(scope, callee, "__call__", loc)
        assert isinstance(callee, vals.Opaque), "a method is no number"
    if isinstance(callee.obj, ObjectMethod):
        return call_method(scope, node, callee.obj, loc)
    if is_plain_class(callee.obj):
        return make_object(scope, node, callee, loc)
    if isinstance(callee.obj, MadeMethod):
        return generator_calls.lower_made_method(scope, node, callee.obj, loc)
    if isinstance(callee.obj, Primitive | Stored):
        return generator_calls.lower_primitive(scope, node, callee.obj, loc)
    if (own := lower_maker(scope, node, _hashable(callee.obj), loc)) is not None:
        return own
    generator = generator_calls.generator_of(scope, callee)
    if generator is not None:
        found_there = generator_calls.lower_method(scope, node, generator, callee.obj.__name__, loc)  # type: ignore[attr-defined]
        if found_there is not None:
            return found_there
    if _hashable(callee.obj) in _LOOKERS and any(map(is_list, node.args)):
        node = ast.copy_location(ast.Call(node.func, [*map(tuple_in_place, node.args)], node.keywords), node)
    is_extreme = (callee.obj is min or callee.obj is max) and bool(node.args)
    found = generated_calls.generated_extreme(scope, node, callee.obj is max, loc) if is_extreme else None
    if found is not None:
        return found
    if (text := _WITH_COUNT.get((_hashable(callee.obj), len(node.args)))) is not None:
        callee = vals.Opaque(text, callee.root)
    if (of_text := string_methods.call(scope, node, callee.obj, loc)) is not None:
        return of_text
    if special := _SPECIAL.get(_hashable(callee.obj)):
        return special(scope, node, loc)
    if callee.obj is sum and (total := generated_calls.generated_sum(scope, node)) is not None:
        return total
    text = text_of(callee.obj)
    if text is not None and text.users:
        return inlining.inline_registered(scope, node, text.function, loc)
    with _answered_by_library(node, loc):
        if (of_arrays := lower_array_call(scope, callee.obj, node, loc)) is not None:
            return of_arrays
    entry = FUNCTIONS.get(_hashable(callee.obj))
    if entry is not None:
        with _answered_by_library(node, loc) if is_library_function(callee.obj) else nullcontext():
            return _from_table(scope, node, callee.obj, entry, loc)
    if inlining.is_named_tuple(callee.obj):
        return inlining.named_tuple(scope, node, callee.obj, loc)
    if isinstance(callee.obj, LocalFunction):
        return inlining.inline_local(scope, node, callee.obj, loc)
    fn = python_function(callee.obj)
    if fn is not None:
        bound = generator
        if bound is None and isinstance(callee.obj, MethodType):
            path = callee.root.of_owner() if callee.root is not None else None
            bound = vals.Opaque(callee.obj.__self__, path)
        with ExitStack() as stack:
            if generator is not None:
                stack.enter_context(generator_calls.or_library(node, loc))
            elif is_library_function(callee.obj):
                stack.enter_context(_answered_by_library(node, loc))
            return inlining.inline(scope, node, fn, callee.root, bound, loc)
    if any(callee.obj is builtin for builtin in BUILTINS):
        raise LibraryCallError(f"{ast.unparse(node.func)} is called in Python only", loc,
                               "call it outside the loop")  # fmt: skip
    if is_library_function(callee.obj):
        raise LibraryCallError(
            f"{ast.unparse(node.func)} cannot be compiled: only the library has it", loc, *_REWRITE
        )
    if isinstance(callee.obj, type):
        raise UnsupportedError(f"an object of class {callee.obj.__name__} cannot be made in compiled code", loc,
                               "docs/language.md, under Types, has the classes of which one can")  # fmt: skip
    raise UnsupportedError(f"{ast.unparse(node.func)} cannot be compiled", loc, *_REWRITE)


@contextmanager
def _answered_by_library(node: ast.Call, loc: Loc) -> Iterator[None]:
    """A context that turns an unsupported form of an array function, or a fault in the text of a library's, into a
    library call, made in Python."""
    try:
        yield
    except CompileError as error:
        in_text, is_own = error.loc.file != loc.file, not isinstance(error, UnsupportedError)
        if isinstance(error, PartedTypesError) or (not in_text and (error.loc != loc or is_own)):
            raise  # an operand's, or the caller's own
        if in_text:
            what = ast.unparse(node.func)
            raise LibraryCallError(f"{what} cannot be compiled: {error.summary}", loc, *_REWRITE) from None
        raise LibraryCallError(
            error.summary, loc, *error.hints, label=error.label, related=error.related
        ) from None


def _hashable(obj: object) -> object:
    try:
        hash(obj)
    except TypeError:
        return None
    return obj


def _from_table(
    scope: Scope,
    node: ast.Call,
    obj: object,
    entry: tuple[range, Callable[[list[vals.Number], Loc], vals.Number]],
    loc: Loc,
) -> vals.Value:
    counts, make = entry
    destination, node = given_destination(obj, node, counts)
    nodes = positional(node, loc)
    if (literal := _from_literal(obj, nodes, loc)) is not None:
        return literal
    values = expressions.lower_operands(scope, nodes)
    if len(values) == 1 and isinstance(values[0], vals.TupleValue) and obj in (min, max):
        values = list(values[0].items)
        if len(values) == 1:
            return values[0]
    if len(values) not in counts:
        expected = f"{counts.start}" if len(counts) == 1 else f"{counts.start} to {counts.stop - 1}"
        raise UnsupportedError(f"{ast.unparse(node.func)} with {len(values)} arguments cannot be compiled, with "
                               f"{expected} it can", loc)  # fmt: skip
    what = f"an argument of {ast.unparse(node.func)}"
    if not is_library_function(obj):
        refuse_lists(values, loc)
    if isinstance(obj, np.ufunc) and "BB->B" in obj.types:
        refuse_unfit(scope, values, loc)
    elif isinstance(obj, type) and issubclass(obj, np.integer) and isinstance(values[0], vals.Number):
        require_fit(scope, values[0], DType(obj.__name__), loc)

    def made(of: Sequence[vals.Number]) -> vals.Number:
        if works_on_arrays(obj) and any(n.either is not None for n in of):
            return arithmetic.in_each_type(lambda way: make([*way], loc), of, loc)
        return make([*of], loc)

    if destination.where is not None or destination.out is not None:
        return put(scope, destination, values, made, loc, what)
    if works_on_arrays(obj) and any(is_array(v) for v in values):
        return elementwise(scope, values, made, loc, what)
    numbers = [expressions.number(v, loc, what) for v in values]
    if obj in TO_INT and numbers and numbers[0].type.dtype.is_float:
        numbers = [leave_beyond_64_bits(scope, numbers[0], loc)]
    out = made(numbers)
    if obj in (min, max):
        leave_inexact(scope, numbers, out, loc)
    return out


def _from_literal(obj: object, nodes: list[ast.expr], loc: Loc) -> vals.Number | None:
    """A conversion of a literal: `float("inf")`, and `np.uint64(...)` of a literal beyond int64; None for others."""
    match nodes:
        case [ast.Constant(value=str(text))] if obj in (float, int, complex):
            try:
                return arithmetic.python_number(obj(text), loc)
            except ValueError as error:
                raise LengthError(str(error), loc) from None
        case [ast.Constant(value=int(value))] if obj is np.uint64 and holds(DType.UINT64, value):
            return vals.Number(arithmetic.const(value, DType.UINT64, loc), python=False)
        case _:
            return None


def _method(scope: Scope, owner: vals.Value, name: str, node: ast.Call, loc: Loc) -> vals.Value:
    if (found := method_of_given(scope, owner, node, loc)) is not None:
        return found
    refuse_lists([owner], loc)
    if isinstance(owner, vals.ArrayRef | vals.Tensor | vals.Masked) and owner.ndim:
        with _answered_by_library(node, loc):
            return lower_array_method(scope, owner, name, node, loc)
    if isinstance(owner, vals.ArrayRef | vals.Tensor) and name not in ("astype", "copy"):
        owner = expressions.number(owner, loc)  # these are no arrays, but numbers
    if isinstance(owner, vals.ListSlots):
        return list_method(scope, node, loc)
    if isinstance(owner, vals.DictValue):
        return _dict_method(scope, owner, name, node, loc)
    if (
        isinstance(owner, vals.TupleValue)
        and (new := inlining.with_replaced(scope, owner, name, node)) is not None
    ):
        return new
    if not isinstance(owner, vals.Number):
        raise UnsupportedError(f"the method {name!r} of {describe(owner)} cannot be compiled", loc,
                               "write it as a loop, or call it outside the compiled function")  # fmt: skip
    if owner.python:
        method = getattr(type(owner.type.dtype.numpy.type(0).item()), name, None)
        if method is None:
            hints = ("an array has one",) if hasattr(np.ndarray, name) else ()
            raise UnsupportedError(f"{describe(owner)} has no method {name!r}", loc, *hints)
        if text_of(method) is not None and not (node.args or node.keywords):
            return of_number(scope, method, owner, loc)
    with (
        nullcontext() if owner.python else _answered_by_library(node, loc)
    ):  # a NumPy scalar has an array's methods
        args = expressions.lower_operands(scope, positional(node, loc))
        dtype = as_dtype(args[0].obj) if args and isinstance(args[0], vals.Opaque) else None
        numbers = [a for a in args if isinstance(a, vals.Number)]
        return number_method(owner, name, numbers, dtype, loc)


def _binary_ones(scope: Scope, node: ast.Call, loc: Loc) -> vals.Value | None:
    """The value of `bin(x).count("1")`, without the text; None for other calls."""
    if (found := matched('bin(x).count("1")', node)) is not None:
        callee, number = scope.lower(found["bin"]), scope.lower(found["x"])
        is_integer = isinstance(number, vals.Number) and number.type.dtype.is_integer
        if isinstance(callee, vals.Opaque) and callee.obj is bin and is_integer:
            return of_number(scope, int.bit_count, number, loc)
    return None


def _dict_method(scope: Scope, owner: vals.DictValue, name: str, node: ast.Call, loc: Loc) -> vals.Value:
    """The value of a dict's method: `d.keys()`, `d.values()`, `d.items()`, and `d.get(key)`."""
    args = expressions.lower_operands(scope, positional(node, loc), expressions.lower_or_none)
    keys, values = expressions.keys_of(owner, loc), owner.values
    match name, args:
        case "keys", []:
            return keys
        case "values", []:
            return values
        case "items", []:
            pairs = zip(keys.items, values.items, strict=True)
            return vals.TupleValue(tuple(vals.TupleValue(pair) for pair in pairs))
        case "get", [_] | [_, _]:
            assert isinstance(node.func, ast.Attribute)
            key = expressions.known_key(scope, node.func.value, args[0])
            if key in owner.keys:
                return values.items[owner.keys.index(key)]
            if key is not None:
                return args[1] if len(args) > 1 else vals.Opaque(None)
    raise UnsupportedError(f"the method {name!r} of a dict cannot be compiled", loc,
                           "keys, values and items can be looped over, and get a key that is written out")  # fmt: skip


def _len(scope: Scope, node: ast.Call, loc: Loc) -> vals.Value:
    args = positional(node, loc)
    if len(args) != 1:
        raise TypeInferenceError("len takes 1 argument", loc)
    (made,) = args
    if (trips := length_of_range(scope, made, loc)) is not None:
        return trips
    if isinstance(made, ast.Call) and is_new_list(made):
        value = new_list(scope, made, loc)
    else:
        value = collected(scope, made) if isinstance(made, ast.ListComp) else scope.lower(made)
    value = expressions.pack_masked(scope, value, loc)
    for item in value.items if isinstance(value, vals.TupleValue) else ():
        if isinstance(item, vals.Number):
            settled(scope, item)  # which may raise
    if (found := length_of(described(scope, value, loc) if is_character(value) else value, loc)) is None:
        raise expressions.refused(value, "the length of", f"{describe(value)} has no len()", loc)
    return found


def _divmod(scope: Scope, node: ast.Call, loc: Loc) -> vals.Value:
    args = positional(node, loc)
    if len(args) != 2:
        raise TypeInferenceError("divmod takes 2 arguments", loc)
    values = expressions.lower_operands(scope, args)
    if any(map(is_array, values)):
        quotient = elementwise(scope, values, lambda n: arithmetic.binary("//", n[0], n[1], loc), loc)
        rest = elementwise(scope, values, lambda n: arithmetic.binary("%", n[0], n[1], loc), loc)
        return vals.TupleValue((quotient, rest))
    a, b = (expressions.number(value, loc) for value in values)
    refuse_unfit(scope, (a, b), loc)
    return vals.TupleValue((arithmetic.binary("//", a, b, loc), arithmetic.binary("%", a, b, loc)))


def _loops_only(scope: Scope, node: ast.Call, loc: Loc) -> vals.Value:
    raise UnsupportedError(
        f"{ast.unparse(node.func)} is compiled as what a for loop runs over, and nowhere else", loc,
        "write the loop, or for numbers np.arange, which is an array",
    )  # fmt: skip


_WITH_COUNT: dict[tuple[object, int], Callable[..., object]] = {
    (pow, 3): power,
    (round, 2): rounded,
    **{(math.hypot, n): length for n in (0, 1, *range(3, 9))},
}
"""Functions of which another number of arguments is an operation, or nothing."""

_SPECIAL: dict[object, Callable[[Scope, ast.Call, Loc], vals.Value]] = {
    len: _len,
    isinstance: attributes.lower_isinstance,
    type: attributes.lower_type,
    any: generated_calls.generated_test,
    all: generated_calls.generated_test,
    next: generated_calls.generated_first,
    divmod: _divmod,
    math.prod: generated_calls.generated_product,
    tuple: generated_calls.generated_tuple,
    range: _loops_only,
    enumerate: _loops_only,
    zip: _loops_only,
    **LIST_CALLS,
}
