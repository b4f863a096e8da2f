"""Assignments: to names, elements, slices and items of dicts, with unpacking."""

from __future__ import annotations

import ast
from dataclasses import replace

from appyc.errors import LengthError, Loc, PragmaError, UnsupportedError
from appyc.frontend.arrays import tensors
from appyc.frontend.arrays.reshaping import rows
from appyc.frontend.arrays.slices import is_element, lower_items, subscript
from appyc.frontend.expressions import arithmetic, list_changes, list_storage, lists, selections, stores
from appyc.frontend.expressions.arithmetic import cast
from appyc.frontend.expressions.assigned_shapes import reshape_in_place
from appyc.frontend.expressions.expressions import (
    as_index,
    dict_item,
    kept_before,
    lower_expression,
    lower_number,
    lower_or_none,
    number,
    pack_masked,
    wrong_kind,
)
from appyc.frontend.expressions.fields import assign_field, assigns_list, update_field
from appyc.frontend.expressions.operator_syntax import (
    array_operation,
    binary_symbol,
    number_operation,
    refuse_text,
    scalar_operation,
)
from appyc.frontend.expressions.starred_targets import gathered
from appyc.frontend.expressions.strings import bound, extend, grows
from appyc.frontend.expressions.structured_arrays import part_of
from appyc.frontend.expressions.subscripts import check_view, element, lower_owner
from appyc.frontend.expressions.tables import as_item, bind_shared, bind_table, taken_by_table
from appyc.frontend.pragmas.pragma_nodes import AtomicPragma
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.fixed_containers import table
from appyc.frontend.syntax.tree import has_ellipsis, is_list, tuple_in_place, walk
from appyc.frontend.types import value_parts
from appyc.frontend.types import values as vals
from appyc.frontend.types.characters import is_string
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import NumberType, promote
from appyc.frontend.types.weak_ints import refuse_other_kind, require_fit
from appyc.ir.nodes import Const, Expr, Load, Store, Symbol, Update

_ATOMIC_OPS = {"+": "+", "-": "+", "*": "*", "&": "&", "|": "|", "^": "^"}


def lower_assign(scope: Scope, targets: list[ast.expr], value: ast.expr, loc: Loc) -> None:
    """`targets = value`: the value is evaluated once, before the targets."""
    if isinstance(targets[0], ast.Name) and targets[0].id in scope.list_names:
        lists.bind_list(scope, targets[0].id, value, loc)
        return
    match targets, value:
        case [ast.Name(id=name) as text], ast.BinOp(left=ast.Name(id=left), op=ast.Add(), right=part) if (
            name == left and grows(scope, name)
        ):
            lower_augmented(scope, text, ast.Add(), part, loc)
            return
    if isinstance(targets[0], ast.Name) and targets[0].id in scope.shared_lists | scope.shared_tables:
        bind_shared(scope, targets[0].id, value, loc)
        return
    if isinstance(targets[0], ast.Name) and targets[0].id in scope.tables and table(value) is not None:
        bind_table(scope, targets[0].id, value, loc)
        return
    if len(targets) == 1 and assigns_list(scope, targets[0], value, loc):
        return
    match targets:
        case [ast.Subscript(value=ast.Name(id=name), slice=ast.Slice() as part)] if (
            name in scope.list_names or vals.is_list_itself(scope.env.get(name))
        ):
            list_changes.store_part(scope, name, part, value, loc)
            return
    if is_list(value) and all(_takes_tuple(scope, target, value) for target in targets):
        value = tuple_in_place(value)
    is_store = len(targets) == 1 and isinstance(targets[0], ast.Subscript)
    before = frozenset(scope.memory.made)
    unpacks = any(isinstance(target, ast.Tuple | ast.List) for target in targets)
    if is_store:
        out = scope.lower(value)
    else:
        out = lower_expression(scope, value) if unpacks else lower_or_none(scope, value)
    if isinstance(value, ast.Call) and not scope.facts.makes_list(value) and _is_new_list(scope, out, before):
        # It is of a Python function, and gives a new list.
        scope.facts.learn(scope.facts.list_calls, (value.lineno, value.col_offset))
    if len(targets) > 1 or unpacks:
        out = tensors.settled(scope, out)
    for target in targets:
        assign_to(scope, target, out, loc)


def _is_new_list(scope: Scope, value: vals.Value | None, before: frozenset[Symbol]) -> bool:
    """Whether a value is a list of numbers, or of tuples, which was not made before."""
    if isinstance(value, vals.TupleRow):
        value = next(
            part for part in value_parts.walk(value.columns) if not isinstance(part, vals.TupleValue)
        )
    return vals.is_list_itself(value) and value.symbol in scope.memory.made - before


def _takes_tuple(scope: Scope, target: ast.expr, value: ast.expr) -> bool:
    """Whether a list that is written out may be a tuple where it is assigned: to elements of an array, say."""
    match target:
        case ast.Name(id=name):
            return name in scope.read_lists
        case ast.Subscript(value=owner):
            kept = scope.list_names | scope.own_dicts | scope.tables.keys() | scope.shared_lists
            return not (isinstance(owner, ast.Name) and owner.id in kept)
        case _:
            return isinstance(target, ast.Tuple | ast.List) and not any(
                isinstance(e, ast.List) for e in walk(value)[1:]
            )


def assign_to(scope: Scope, target: ast.expr, value: vals.Value, loc: Loc) -> None:
    """Assigns a value to one target: `target = value`."""
    if (part := stores.written_part(target)) is not None:
        _store(scope, part.elements, stores.with_part(scope, part, value, loc), loc)
        return
    match target:
        case ast.Name(id=name):
            if isinstance(value, vals.ArrayRef) and value.index:
                index = tuple(i if isinstance(i, Const) else scope.temp("at", i) for i in value.index)
                value = vals.ArrayRef(value.symbol, index)
            elif isinstance(value, vals.ArrayRef) and not scope.source.trusted:
                scope.memory.named.setdefault(value.symbol, name)
            if (whole := bound(scope, name, value, loc)) is not None:
                scope.bind(name, tensors.held(scope, whole, name, loc), loc)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            _unpack(scope, elts, value, loc)
        case ast.Subscript():
            _store(scope, target, value, loc)
        case ast.Attribute(value=ast.Name(id=name), attr="shape"):
            reshape_in_place(scope, name, value, scope.loc(target))
        case ast.Attribute():
            assign_field(scope, target, value, scope.loc(target))
        case _:
            raise UnsupportedError("this target cannot be compiled", scope.loc(target))


def _unpack(scope: Scope, elts: list[ast.expr], value: vals.Value, loc: Loc) -> None:
    starred = next((k for k, e in enumerate(elts) if isinstance(e, ast.Starred)), None)
    if starred is not None:
        elts, value = gathered(scope, elts, value, starred, loc)
    if isinstance(value, vals.ArrayRef | vals.Tensor) and value.ndim:
        items = rows(scope, value, len(elts), loc)
        value = tensors.settled(scope, items) if value.ndim == 1 else items
    elif isinstance(value, vals.ListSlots):
        value = list_storage.items_of(scope, value, len(elts), loc)
    if not isinstance(value, vals.TupleValue):
        raise wrong_kind(value)(f"{describe(value)} cannot be unpacked", loc, "only tuples and arrays can be")
    if len(value.items) != len(elts):
        raise LengthError(f"{len(value.items)} values cannot be unpacked into {len(elts)} targets", loc)
    for e, item in zip(elts, value.items, strict=True):
        assign_to(scope, e, item, loc)


def target_element(scope: Scope, target: ast.Subscript) -> vals.ArrayRef:
    """The element that an atomic update writes."""
    ref = _target(scope, target)
    if not isinstance(ref, vals.ArrayRef) or ref.ndim:
        raise UnsupportedError(f"this assigns to {describe(ref)}, where an element is needed", scope.loc(target),
                               "assign single elements in a loop")  # fmt: skip
    return ref


def _target(scope: Scope, target: ast.Subscript) -> vals.ArrayRef | vals.Tensor | vals.Masked:
    """The element or elements that an assignment stores into. Raises for targets that cannot be stored into."""
    loc = scope.loc(target)
    owner, tested = lower_owner(scope, target.value)
    has_fields = isinstance(owner, vals.Records)
    if isinstance(owner, vals.Records):
        owner, tested = part_of(scope, owner, target.slice, loc)
    if not isinstance(owner, vals.ArrayRef | vals.Tensor):
        raise wrong_kind(owner)(f"{describe(owner)} cannot be assigned to by index", loc)
    items = [] if has_fields else lower_items(scope, target.slice)
    if isinstance(owner, vals.ArrayRef) and is_element(items):
        ref = element(scope, owner, target.slice, items, loc)
        tensors.refuse_lists([ref], loc)
        check_view(scope, ref, tested)
    else:
        tensors.refuse_lists([owner], loc)
        check_view(scope, owner, tested)
        item = subscript(scope, owner, items, loc, stored=True)
        if isinstance(item, vals.Tensor | vals.Masked):
            return item  # `assign` tests it
        assert isinstance(item, vals.Number)
        unsettled = isinstance(owner, vals.Tensor) and owner.unsettled
        load = stores.stored_element(vals.Tensor((), (), item.expr, unsettled=unsettled), loc)
        ref = vals.ArrayRef(load.array, load.index, tested=not load.checked)
    stores.refuse_read_only(ref.symbol, loc)
    scope.memory.store(ref.symbol, loc)
    return ref


def _store(scope: Scope, target: ast.Subscript, value: vals.Value, loc: Loc) -> None:
    if isinstance(target.value, ast.Name) and target.value.id in scope.list_names:
        item = tensors.settled(scope, pack_masked(scope, value, loc))
        list_storage.store_item(scope, target.value.id, lower_number(scope, target.slice), item, loc)
        return
    if isinstance(target.value, ast.Name) and target.value.id in scope.own_dicts:
        _store_in_dict(scope, target.value.id, target.slice, value, loc)
        return
    with scope.collect() as block:
        ref = _target(scope, target)
    if isinstance(ref, vals.Tensor | vals.Masked) or ref.ndim:
        # Tests of the target's shape may precede the value; no store does.
        scope.block.extend(block)
        stores.assign(scope, ref, value, loc)
        return
    if tensors.is_array(value) and has_ellipsis(target.slice):
        # `a[..., 0]` is a 0-dimensional array, to which an array of one element can be assigned.
        value = tensors.as_value(
            stores.without_leading_ones(scope, tensors.as_tensor(scope, value, loc), 0, loc)
        )
    stored = number(value, loc, "the assigned value")
    if block and not isinstance(stored.expr, Const):
        # The index emits statements, and Python evaluates the value first.
        stored = replace(stored, expr=scope.temp("value", stored.expr))
    scope.block.extend(block)
    stored = taken_by_table(scope, target.value, ref.index, stored, loc)
    require_fit(scope, stored, ref.symbol.dtype, loc)
    scope.emit(_element_store(scope, ref, stored, loc))


def _element_store(scope: Scope, ref: vals.ArrayRef, value: vals.Number, loc: Loc) -> Store:
    stores.refuse_other_type(scope, ref.symbol, value, loc)
    checked = not ref.tested and not (scope.source.trusted and ref.symbol in scope.memory.made)
    return Store(
        ref.symbol, ref.index, stores.converted(value.expr, ref.symbol, loc), checked=checked, loc=loc
    )


def _store_in_dict(scope: Scope, name: str, index: ast.expr, value: vals.Value, loc: Loc) -> None:
    """`name[index] = value` for a dict that no other name is bound to."""
    owner = scope.read(name, loc)
    assert isinstance(owner, vals.DictValue), "the name is bound to dicts alone"
    items = list(owner.values.items)
    key = index.value if isinstance(index, ast.Constant) else None
    if isinstance(key, str | int) and key not in owner.keys:
        owner = replace(owner, keys=(*owner.keys, key))
        items.append(value)
    else:
        items[dict_item(scope, owner, ast.Name(name), index, loc)] = value
    stored = tensors.held(scope, replace(owner, values=vals.TupleValue(tuple(items))), name, loc)
    scope.bind(name, stored, loc)


def lower_augmented(scope: Scope, target: ast.expr, op: ast.operator, value: ast.expr, loc: Loc) -> None:
    """Augmented assignment: `target op= value`."""
    symbol = binary_symbol(op)
    if isinstance(target, ast.Name) and target.id in scope.list_names:
        list_changes.increase(scope, target.id, value, loc)
        return
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        name = target.value.id
        if name in scope.own_dicts:
            old_item = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
            total = ast.copy_location(ast.BinOp(old_item, op, value), value)
            _store_in_dict(scope, name, target.slice, _fresh_sum(scope, total, loc), loc)
            return
        if name in scope.list_names:
            at = vals.Number(scope.temp("at", as_index(lower_number(scope, target.slice), loc)), python=True)
            item = number(
                list_storage.list_item(scope, list_storage.list_named(scope, name, loc), at, loc), loc
            )
            new = number_operation(scope, symbol, item, lower_number(scope, value), loc)
            list_storage.store_item(scope, name, at, new, loc)
            return
    if isinstance(target, ast.Name):
        with scope.collect() as block:
            operand = lower_expression(scope, value)
        if symbol == "+" and is_string(operand) and grows(scope, target.id):
            scope.block.extend(block)
            extend(scope, target.id, operand, loc)
            return
        old = scope.read(target.id, scope.loc(target))
        if isinstance(old, vals.ArrayRef) or (isinstance(old, vals.Tensor) and old.ndim):
            scope.block.extend(block)
            _update_array(scope, old, symbol, operand, loc)
            return
        if block and isinstance(old, vals.Number | vals.Wide):
            old = kept_before(scope, old, block)
        scope.block.extend(block)
        if isinstance(old, vals.TupleValue) and isinstance(operand, vals.TupleValue) and symbol == "+":
            joined = tensors.held(scope, vals.TupleValue(old.items + operand.items), target.id, loc)
            scope.bind(target.id, joined, loc)
            return
        refuse_text(symbol, old, operand, loc)
        if isinstance(old, vals.Number) and tensors.is_array(operand):
            added = array_operation(scope, symbol, old, operand, loc)
            scope.bind(target.id, tensors.held(scope, added, target.id, loc), loc)
            return
        sides = ((old, loc), (operand, scope.loc(value)))
        scope.bind(target.id, scalar_operation(scope, symbol, *sides, loc), loc)
        return
    if stores.written_part(target) is not None:
        old = lower_expression(scope, target)
        assign_to(
            scope, target, array_operation(scope, symbol, old, lower_expression(scope, value), loc), loc
        )
        return
    if isinstance(target, ast.Attribute):
        array = update_field(scope, target, op, value, loc)
        if array is not None:
            _update_array(scope, array, symbol, scope.lower(value), loc)
        return
    assert isinstance(target, ast.Subscript)
    ref = _target(scope, target)
    if isinstance(ref, vals.Tensor | vals.Masked) or ref.ndim:
        _update_array(scope, ref, symbol, scope.lower(value), loc)
        return
    now = Load(ref.symbol, ref.index, checked=not ref.tested, loc=scope.loc(target))
    load: Expr = now
    with scope.collect() as block:
        operand = lower_expression(scope, value)
    if block:
        ref = replace(ref, index=tuple(i if isinstance(i, Const) else scope.temp("at", i) for i in ref.index))
        load = scope.temp("kept", replace(now, index=ref.index))
        scope.block.extend(block)
    element_now = number(as_item(scope, target.value, vals.Number(load, ref.python), ref.index), loc)
    out = number_operation(scope, symbol, element_now, number(operand, scope.loc(value)), loc)
    if has_ellipsis(target.slice):  # NumPy has an array without axes
        refuse_other_kind(symbol, ref.symbol.dtype, out.type.dtype, loc)
    out = taken_by_table(scope, target.value, ref.index, out, loc)
    if ref.symbol.dtype.is_integer and out.type.dtype.is_float and symbol == "/":
        # NumPy scalars divide to a float, which the element's store then truncates.
        out = vals.Number(cast(out.expr, ref.symbol.dtype), python=False)
    scope.emit(_element_store(scope, ref, out, loc))


def _fresh_sum(scope: Scope, node: ast.expr, loc: Loc) -> vals.Value:
    """The new value of a dict's item. Raises UnsupportedError for an array, which Python would update in place."""
    out = lower_expression(scope, node)
    if tensors.is_array(out):
        raise UnsupportedError("an array in a dict cannot be updated through it", loc,
                               "give the array a name")  # fmt: skip
    return out


def _update_array(
    scope: Scope, target: vals.ArrayRef | vals.Tensor | vals.Masked, symbol: str, value: vals.Value, loc: Loc
) -> None:
    """`target op= value` for an array, in place."""
    out = array_operation(scope, symbol, target, value, loc)
    refuse_other_kind(symbol, tensors.element_type(target), tensors.element_type(out), loc)
    stores.assign(scope, target, out, loc)


def lower_atomic(scope: Scope, node: ast.stmt, pragma: AtomicPragma) -> None:
    """Atomic update: `#pragma atomic` on `x[i] += e` or `x[i] = max(x[i], e)`."""
    loc = scope.loc(node)
    match node:
        case ast.AugAssign(target=ast.Subscript() as target, value=given):
            symbol = binary_symbol(node.op)
            if symbol not in _ATOMIC_OPS:
                raise PragmaError(f"{symbol}= cannot be atomic", pragma.loc,
                                  "+= -= *= &= |= ^= can, and x[i] = min(x[i], e), max(x[i], e)")  # fmt: skip
            _update_atomically(scope, target, symbol, given, loc)
            return
        case ast.Assign(targets=[ast.Subscript() as target], value=ast.Call(func=func, args=[first, given])):
            called = lower_expression(scope, func)
            op = {min: "min", max: "max"}.get(called.obj) if isinstance(called, vals.Opaque) else None  # type: ignore[call-overload]
            if op is not None and ast.unparse(first) == ast.unparse(target):
                _update_atomically(scope, target, op, given, loc)
                return
    raise PragmaError("this statement cannot be atomic", pragma.loc,
                      "x[i] += e can (also -= *= &= |= ^=), and x[i] = min(x[i], e), max(x[i], e)")  # fmt: skip


def _update_atomically(scope: Scope, target: ast.Subscript, symbol: str, given: ast.expr, loc: Loc) -> None:
    operand = number(lower_expression(scope, given), scope.loc(given))
    ref = target_element(scope, target)
    kind, own = ref.symbol.dtype, operand.type
    if symbol in ("min", "max"):
        # What is compared is the operand as it is: an integer must not wrap around in the element's type before.
        if (
            own.dtype.is_integer
            and not own.python
            and promote(NumberType(kind, False), own).dtype is not kind
        ):
            raise UnsupportedError(f"an element of {kind} with a value of {own.dtype} cannot be atomic", loc,
                                   f"convert the value: np.{kind}(...)")  # fmt: skip
        require_fit(scope, operand, kind, loc, ">=" if symbol == "min" else "<=")
        operand = selections.nearest(operand, kind, loc)
    else:
        require_fit(scope, operand, kind, loc)
    stores.refuse_other_type(scope, ref.symbol, operand, loc)
    if symbol == "-":
        operand = arithmetic.negative(
            vals.Number(stores.converted(operand.expr, ref.symbol, loc), python=False), loc
        )
    value = stores.converted(operand.expr, ref.symbol, loc)
    op = _ATOMIC_OPS.get(symbol, symbol)
    scope.emit(Update(ref.symbol, ref.index, op, value, atomic=True, loc=loc))
