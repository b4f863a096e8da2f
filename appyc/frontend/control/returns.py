"""Returns: several exits of a function are lowered to a single exit.

The IR has one exit. `if c: return x` becomes an arm of an `if` (see `lower_block`). A return
inside a loop stores its values, sets a flag and leaves the loop. The code behind the loop
is predicated on that flag.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import count
from typing import TypeAlias

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor, kept, materialise
from appyc.frontend.control.alternative_returns import (
    Leaf,
    may_be_chosen,
    nones_in,
    pairs_of,
    with_alternatives,
)
from appyc.frontend.control.joins import copy_into, end_path
from appyc.frontend.control.phi_storage import Move, copy_in_parallel, note, root
from appyc.frontend.control.returned_values import returned_view
from appyc.frontend.desugar.building import always_jumps, located
from appyc.frontend.expressions import lists, strings, structured_arrays
from appyc.frontend.expressions.arithmetic import const
from appyc.frontend.expressions.expressions import lower_operands, lower_or_none
from appyc.frontend.expressions.ints_or_floats import is_int_or_float
from appyc.frontend.expressions.list_storage import list_of_columns, list_value
from appyc.frontend.expressions.tables import new_table
from appyc.frontend.facts import Fork, Restart, Result
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.fixed_containers import table
from appyc.frontend.syntax.tree import copied_list, is_new_list, may_return
from appyc.frontend.types import values as vals
from appyc.frontend.types.characters import as_character, is_returned_text, is_string, is_text
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.made_values import made_object
from appyc.frontend.types.numbers import NumberType, PartedTypesError
from appyc.frontend.types.numbers import joined as joined_type
from appyc.frontend.types.value_parts import form_of, numbers_of, place_of, walk, with_numbers, with_parts
from appyc.ir.nodes import Assign, Break, Load, Var
from appyc.ir.types import Container, DType

_Array: TypeAlias = vals.ArrayRef | vals.Tensor | vals.ReturnedView | vals.ReturnedChoice


def returns_early(function: ast.FunctionDef) -> bool:
    """Whether a return precedes the function's end, so that a has-returned flag may be needed."""
    *front, last = function.body
    return any(may_return(s) for s in front) or (may_return(last) and not isinstance(last, ast.Return))


def lower_return(scope: Scope, value: ast.expr | None, loc: Loc) -> None:
    """`return value`: stores the values in the function's result variables, and ends this path."""
    lowered = vals.Opaque(None) if value is None else _lowered(scope, value)
    out = stored(scope, _at_home(scope, lowered, loc), loc)
    keep(scope, out, loc)
    if scope.returned is not None:
        scope.emit(Assign(scope.returned, const(True, DType.BOOL, loc), loc=loc))
    if scope.loops:
        end_path(scope, scope.loops[-1], loc)
        scope.emit(Break(loc=loc))
    scope.live = False


def _lowered(scope: Scope, node: ast.expr, position: int = 0) -> vals.Value:
    """The value of a return; a list that the expression makes is bound to a generated name."""
    if isinstance(node, ast.Tuple) and any(_is_made_here(scope, e) for e in node.elts):
        elts = node.elts
        return vals.TupleValue(tuple(lower_operands(scope, elts, lambda s, e: _lowered(s, e, elts.index(e)))))
    if table(node) is not None:
        return new_table(scope, node, "result", scope.loc(node))
    name, loc, items = f"returned_list_{position}", scope.loc(node), None  # a name that all returns share
    if not _is_made_here(scope, node):
        value = lower_or_none(scope, node)
        items = _new_list(scope, value, loc) if scope.facts.copies_lists else None
        if items is None:
            return value
    scope.locals |= {name}
    scope.list_names |= {name}
    if items is not None:
        lists.bind_items(scope, name, items, loc)
    else:
        is_name = isinstance(node, ast.Name)
        made = located(ast.Subscript(node, ast.Slice(), ast.Load()), node) if is_name else node
        lists.bind_list(scope, name, made, loc)
    return scope.read(name, loc)


def _new_list(scope: Scope, value: vals.Value, loc: Loc) -> vals.ListSlots | None:
    """The items of a list without a name that the function has made; None of other values."""
    match value:
        case vals.ArrayRef() if vals.is_list_itself(value) and value.symbol in scope.memory.made:
            return list_value(scope, value, loc)
        case vals.Tensor(python=True, axes=[_]):
            return list_value(scope, materialise(scope, value, "items", loc, Container.LIST), loc)
        case vals.TupleRow() if columns := [c for c in walk(value.columns) if isinstance(c, vals.ArrayRef)]:
            kinds = tuple(NumberType(vals.dtype_of(column), vals.is_listed(column)) for column in columns)
            return list_of_columns(scope, columns, kinds, form_of(value.columns), loc)
        case _:
            return None


def _is_made_here(scope: Scope, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return scope.facts.copies_lists and node.id in scope.list_names
    if (source := copied_list(node)) is not None:
        return source.id in scope.list_names or vals.is_list_itself(scope.env.get(source.id))
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)  # a method may be an array's
    return (is_call or isinstance(node, ast.List | ast.ListComp | ast.BinOp)) and is_new_list(node)


def stored(scope: Scope, value: vals.Value, loc: Loc) -> vals.Value:
    """The value with new arrays materialised, and each view as numbers: offset, shape and strides."""
    if scope.facts.text_results and not isinstance(value, _Array) and is_string(value):
        return strings.held(scope, value, loc)
    match value:
        case vals.Opaque(obj=str(written)) if len(written) < 2:
            return as_character(value, loc)
        case vals.ArrayRef() | vals.Tensor() | vals.Opaque(obj=str()) if is_string(value):
            return value if scope.is_inlined and not is_text(value) else strings.held(scope, value, loc)
        case vals.ArrayRef() if vals.is_list_itself(value) and value.symbol in scope.memory.made:
            return stored(scope, list_value(scope, value, loc), loc)
        case vals.ArrayRef() if _is_own_table(scope, value):
            return vals.ReturnedContainer("list of lists", vals.TupleValue((value,)))
        case vals.ArrayRef(index=(_, *_)) | vals.Tensor() if vals.is_listed(value) and not scope.is_inlined:
            raise UnsupportedError("a part of a list cannot be returned", loc, "return np.array of it")
        case vals.ArrayRef(index=(_, *_)) if not scope.is_inlined:
            return stored(scope, as_tensor(scope, value, loc), loc)
        case vals.Tensor(element=Load(array=array), view=True) if (
            array.array.container is Container.ARRAYS and not scope.is_inlined
        ):
            raise UnsupportedError("this returns an array of a list that is an argument, which is picked at run time",
                                   loc, "return a copy")  # fmt: skip
        case vals.Tensor(view=True) if not scope.is_inlined:
            view = returned_view(scope, value, loc)
            if view is not None:
                return view
            if root(value) in scope.memory.made - scope.memory.homes.keys():
                return materialise(scope, value, "result", loc)
            raise UnsupportedError("this view of an array in another shape cannot be returned", loc,
                                   "return the array, and reshape the result")  # fmt: skip
        case vals.Tensor(element=Load(array=array), unsettled=True) if not (
            scope.is_inlined or array in scope.memory.made - scope.memory.homes.keys()
        ):
            raise UnsupportedError("whether this is a view only strides would tell", loc,
                                   "return a copy: x.copy().reshape(...)")  # fmt: skip
        case vals.Tensor():
            is_read_at_once = scope.source.trusted and scope.result is None and not scope.loops
            return value if is_read_at_once else kept(scope, value, "result", loc)
        case (
            vals.TupleValue(names=(_, *_), made_by="")
            | vals.ListSlots(of_tuples=vals.TupleValue(names=(_, *_), made_by=""))
            | vals.TupleRow(columns=vals.TupleValue(names=(_, *_), made_by=""))
        ) if not scope.is_inlined:
            raise UnsupportedError("a named tuple of a class that is local to a function cannot be returned", loc,
                                   "return its items as a tuple")  # fmt: skip
        case vals.TupleRow() if (slots := _new_list(scope, value, loc)) is not None:
            return vals.ReturnedList(slots, vals.Number(Var(slots.count, loc=loc), python=True))
        case vals.Records() if scope.is_inlined:
            return value
        case vals.Records() if value.rows.ndim:
            return structured_arrays.returned(scope, value, loc) or stored(scope, value.rows, loc)
        case vals.Records():
            raise UnsupportedError(f"{describe(value)} cannot be returned", loc, "return its fields")
        case vals.ListRows() | vals.TupleRow():
            raise UnsupportedError(f"{describe(value)} of the caller's cannot be returned", loc,
                                   "return nothing: the caller has it")  # fmt: skip
        case vals.ListSlots() as slots if slots.of_tuples and slots.room is slots.count:
            raise UnsupportedError("a list of tuples of the caller's cannot be returned", loc,
                                   "return nothing: the caller has it")  # fmt: skip
        case vals.ListSlots() as slots if scope.is_inlined and slots.room is slots.count:
            return vals.ArrayRef(slots.columns[0])  # a list of the caller's: see `list_value`
        case vals.ListSlots() as slots:
            if slots in (scope.lists[name] for name in scope.givers):
                raise UnsupportedError("a function that changes a list of its caller cannot return it", loc,
                                       "return nothing: the caller has it")  # fmt: skip
            return vals.ReturnedList(slots, vals.Number(Var(slots.count, loc=loc), python=True))
        case _:
            return with_parts(value, lambda part: stored(scope, part, loc))


def _at_home(scope: Scope, value: vals.Value, loc: Loc) -> vals.Value:
    """The value with its arrays copied into phi storage where other returns have others."""
    arrays = [a for a in _arrays_in(value) if isinstance(a, vals.ArrayRef | vals.Tensor)]
    named: dict[str, vals.Binding] = {f"result_{k}": array for k, array in enumerate(arrays)}
    fork = Fork({}, len(scope.memory.stores), frozenset(named))
    positions = count()

    def placed(part: vals.Value) -> vals.Value:
        if not isinstance(part, vals.ArrayRef | vals.Tensor):
            return with_parts(part, placed)
        position = next(positions)
        home = scope.returned_homes.get(position)
        if home is None or _kind_of_array(scope, part) != _kind_of_array(scope, home):
            return part
        move = Move(f"result_{position}", home, part)
        note(scope, move, named, named, fork, loc)
        copy_in_parallel(scope, [move], loc, first=True)
        return home

    return placed(value)


def _arrays_in(value: vals.Value) -> list[_Array]:
    """The arrays of a value, in order."""
    return [part for part in walk(value) if isinstance(part, _Array)]


def _is_own_table(scope: Scope, value: vals.ArrayRef) -> bool:
    """Whether the value is a list of equally long lists that the function has made, as its caller gets it."""
    is_whole = vals.is_listed(value) and not value.index and value.ndim >= 2
    return is_whole and value.symbol in scope.memory.made and not scope.is_inlined


def _has_list(value: vals.Value) -> bool:
    return any(isinstance(part, vals.ReturnedList) or vals.is_listed(part) for part in walk(value))


def keep(scope: Scope, value: vals.Value, loc: Loc) -> None:
    """Stores the values of a return in the result variables, which all returns of the function share."""
    value = with_alternatives(scope, value, (), loc)
    numbers = numbers_of(value)
    types = tuple(n.known_type for n in numbers)
    _check_returnable(value if not (scope.is_inlined and made_object(value)) else vals.Opaque(None), loc)
    if scope.result is None:
        known = scope.facts.results
        if known is None or len(known) != len(types):
            known = scope.facts.results = types
        fresh = (scope.supply.fresh(f"result_{k}", t.dtype) for k, t in enumerate(known))
        slots = [vals.Slot(s, t.python, either=t.either) for s, t in zip(fresh, known, strict=True)]
        for k in scope.facts.flagged_results & set(range(len(slots))):
            slots[k] = replace(slots[k], is_int=scope.supply.fresh("is_int", DType.BOOL))
        scope.result = Result(value, tuple(slots), loc)
    if nones := nones_in(scope, value, scope.result.value):
        scope.facts.none_results |= nones
        raise Restart
    if _shape(value) != _shape(scope.result.value):
        if any(map(is_returned_text, (*walk(value), *walk(scope.result.value)))):
            scope.facts.learn(scope.facts.text_results, True)
        homes = _homes(scope, value, scope.result.value).items() - scope.facts.returned_homes.items()
        leaves = _different_arrays(scope, value, scope.result.value)
        if leaves is not None and not (scope.is_inlined and homes):
            scope.facts.choices |= leaves
            raise Restart
        if not scope.facts.copies_lists and _has_list(value) and _has_list(scope.result.value):
            scope.facts.copies_lists = True
            scope.facts.none_results.clear()  # they name the lists that are copied from now on
            raise Restart
        if homes:
            scope.facts.returned_homes |= homes
            raise Restart
        raise UnsupportedError(
            f"this returns {describe(value)}, and another path returns {describe(scope.result.value)}", loc,
            "return values of one kind on every path",
        )  # fmt: skip
    joined = tuple(_join(a, s.type, loc) for a, s in zip(types, scope.result.slots, strict=True))
    mixed = next((t.either for t in joined if t.either is not None and t.either.dtypes - {DType.INT64}), None)
    if mixed is not None and scope.source.is_region and not scope.is_inlined:
        raise PartedTypesError(mixed, loc)  # the interpreter continues with the value, and would see its type
    if joined != tuple(s.type for s in scope.result.slots):
        scope.facts.results = joined
        raise Restart
    flagged = (k for k, n in enumerate(numbers) if n.is_int is not None)
    scope.facts.learn(scope.facts.flagged_results, *flagged)
    for n, slot in zip(numbers, scope.result.slots, strict=True):
        if slot.is_int is not None and not is_int_or_float(n):
            raise UnsupportedError(f"this returns {describe(n)}, and another path an int or a float", loc,
                                   "return numbers of one type on every path")  # fmt: skip
        copy_into(scope, slot, n, loc)
    with_mixed = (
        replace(slot, mixed=slot.mixed or n.mixed or n.python != slot.python)
        for n, slot in zip(numbers, scope.result.slots, strict=True)
    )
    scope.result = replace(scope.result, slots=tuple(with_mixed))


def with_end(scope: Scope, body: list[ast.stmt]) -> list[ast.stmt]:
    """The function's body, with its implicit `return None` written out where another return gives a value."""
    if () not in scope.facts.none_results.keys() | scope.facts.choices or always_jumps(body, (ast.Return,)):
        return body
    none = ast.copy_location(ast.Constant(None), body[-1])
    return [*body, ast.copy_location(ast.Return(none), body[-1])]


def _different_arrays(scope: Scope, a: vals.Value, b: vals.Value) -> set[Leaf] | None:
    """The items in which two returned values differ; None unless each may be an option of a `ReturnedChoice`."""
    found = {leaf: (x, y) for leaf, x, y in pairs_of(a, b) if _shape(x) != _shape(y)}
    return set(found) if all(may_be_chosen(scope, v) for pair in found.values() for v in pair) else None


def _homes(scope: Scope, a: vals.Value, b: vals.Value) -> dict[int, tuple[DType, int, Container]]:
    """The types of the arrays, by position, in which two returned values differ that are alike in all else; empty if
    there is no such difference."""
    pairs = [*zip(_arrays_in(a), _arrays_in(b), strict=False)]
    kinds = [(_kind_of_array(scope, x), _kind_of_array(scope, y)) for x, y in pairs]
    if _shape(_without_arrays(a)) != _shape(_without_arrays(b)) or any(x != y for x, y in kinds):
        return {}
    differ = (k for k, (x, y) in enumerate(pairs) if _shape(x) != _shape(y))
    return {k: kind for k in differ if (kind := kinds[k][0]) is not None}


def _kind_of_array(scope: Scope, value: _Array) -> tuple[DType, int, Container] | None:
    """The element type and number of axes of a returned array, and whether it is a list; None for the items of one."""
    match value:
        case vals.ArrayRef() if _is_own_table(scope, value):
            return vals.dtype_of(value), value.ndim, Container.LIST
        case vals.ArrayRef() | vals.Tensor():
            return None if vals.is_listed(value) else (vals.dtype_of(value), value.ndim, Container.ARRAY)
        case vals.ReturnedView():
            return value.array.symbol.dtype, value.ndim, Container.ARRAY
        case vals.ReturnedChoice():
            options = scope.options.get(value.leaf)
            return (options[0].dtype, value.ndim, Container.ARRAY) if options else None


def _without_arrays(value: vals.Value) -> vals.Value:
    return vals.Opaque(None) if isinstance(value, _Array) else with_parts(value, _without_arrays)


def _join(a: NumberType, b: NumberType, loc: Loc) -> NumberType:
    t = joined_type(a, b)
    if t is None:
        raise UnsupportedError(f"returns of {a} and of {b} have no common type", loc)
    return t


def _check_returnable(value: vals.Value, loc: Loc) -> None:
    for part in walk(value):
        if isinstance(part, vals.Wide) or (isinstance(part, vals.Opaque) and part.obj is not None):
            raise UnsupportedError(f"{describe(part)} cannot be returned", loc)


def _shape(value: vals.Value) -> object:
    """The structure of a returned value, in which all returns of a function must agree."""
    match value:
        case vals.Number():
            return "number"
        case vals.ArrayRef():
            return value.symbol
        case vals.ReturnedView():
            return value.array.symbol, value.ndim, value.numbers
        case vals.ReturnedChoice():
            return value.leaf
        case vals.DictValue():
            return value.keys, _shape(value.values)
        case vals.ReturnedList():
            return value.slots
        case vals.ReturnedContainer():
            return value.makes, _shape(value.lists)
        case vals.MaybeNone():
            return "or None", _shape(value.value)
        case vals.Opaque():
            return made_object(value)
        case vals.TupleValue():
            return value.made_by, *map(_shape, value.items)
        case _:
            return value


def _with_listed(scope: Scope, value: vals.Value, loc: Loc) -> vals.Value:
    """The value of an inlined function, whose lists are arrays of items by now: they have one length each."""
    if not isinstance(value, vals.ReturnedList):
        return with_parts(value, lambda part: _with_listed(scope, part, loc))
    slots = value.slots
    columns = [
        as_tensor(scope, replace(slots, columns=(column,), kinds=(kind,), of_tuples=None), loc)
        for column, kind in zip(slots.columns, slots.kinds, strict=False)  # behind them are flags
    ]
    if not slots.of_tuples and not vals.is_listed(columns[0]):
        raise UnsupportedError("a list of NumPy's numbers is not compiled as the result of a function that is called",
                               loc, "return np.array of it")  # fmt: skip
    arrays = [kept(scope, column, "result", loc) for column in columns]
    form = place_of(slots.of_tuples, len(arrays))
    return vals.TupleRow(with_numbers(form, iter(arrays))) if isinstance(form, vals.TupleValue) else arrays[0]


def final_value(scope: Scope, loc: Loc) -> vals.Value:
    """The function's value, read from the result variables behind its body; None without a return of a value."""
    if scope.result is None:
        return vals.Opaque(None)
    value = scope.result.value
    may_end = scope.live and not always_jumps(scope.source.ast.body, (ast.Return,))
    if may_end and _shape(value) is not None and not isinstance(value, vals.MaybeNone | vals.ReturnedChoice):
        if (nones := nones_in(scope, value, vals.Opaque(None))).keys() == {()}:
            scope.facts.none_results |= nones
            raise Restart
        if isinstance(value, vals.ArrayRef) and may_be_chosen(scope, value):
            scope.facts.choices |= {()}
            raise Restart
        raise UnsupportedError("not every path returns a value", loc, "end the function with a return")
    slots = scope.result.slots
    numbers = (replace(slot.number(loc), either=None if slot.python else slot.either) for slot in slots)
    value = with_numbers(value, numbers)  # see `with_end`
    return _with_listed(scope, value, loc) if scope.is_inlined else value
