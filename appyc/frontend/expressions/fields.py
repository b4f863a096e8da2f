"""Numbers in fields of objects that the function assigns: `self.hits += 1`.

    self.hits += 1           ->      hits[0] += 1         # hits: a hidden parameter, [self.hits]

The call assigns the field when it ends (`frontend/field_cells.py`). A field has one type throughout, the joined type of
its value before the call and of all that is stored in it; where a store widens it, lowering restarts.

Requires: the object is an argument, or is reached from one by attributes, and has the field already.

Does not handle: fields of other types than numbers; properties, and classes that define `__setattr__`.
"""

from __future__ import annotations

import ast

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.expressions import arithmetic, attributes
from appyc.frontend.expressions.expressions import kept_before, lower_expression, number
from appyc.frontend.expressions.made_objects import assign_list, assign_made
from appyc.frontend.expressions.operator_syntax import binary_symbol, number_operation
from appyc.frontend.facts import Recursive
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import is_new_list
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.made_values import made_object
from appyc.frontend.types.numbers import promote
from appyc.frontend.types.values import ArrayRef, Number, Opaque, Tensor, Value
from appyc.ir.nodes import Store


def assign_field(scope: Scope, target: ast.Attribute, value: Value, loc: Loc) -> None:
    """`owner.name = value`"""
    _store(scope, lower_expression(scope, target.value), target.attr, value, loc)


def assigns_list(scope: Scope, target: ast.expr, value: ast.expr, loc: Loc) -> bool:
    """Assigns a new list to a field of an object that the function has made. False for any other assignment."""
    if not isinstance(target, ast.Attribute) or not is_new_list(value):
        return False
    made = made_object(lower_expression(scope, target.value))
    if made is not None:
        assign_list(scope, made, target.attr, value, loc)
    return made is not None


def update_field(
    scope: Scope, target: ast.Attribute, op: ast.operator, value: ast.expr, loc: Loc
) -> ArrayRef | Tensor | None:
    """`owner.name op= value` of a number; of an array the array, which is still to be updated."""
    owner = lower_expression(scope, target.value)
    found = attributes.attribute(scope, owner, target.attr, scope.loc(target))
    if isinstance(found, ArrayRef | Tensor):
        return found
    now = number(found, loc)
    with scope.collect() as block:
        operand = lower_expression(scope, value)
    old = kept_before(scope, now, block) if block else now
    scope.block.extend(block)
    new = number_operation(scope, binary_symbol(op), number(old, loc), number(operand, scope.loc(value)), loc)
    _store(scope, owner, target.attr, new, loc)
    return None


def _store(scope: Scope, owner: Value, name: str, value: Value, loc: Loc) -> None:
    if (made := made_object(owner)) is not None:
        assign_made(scope, made, name, value, loc)
        return
    if not isinstance(owner, Opaque) or not isinstance(value, Number):
        raise UnsupportedError(f"an attribute cannot be assigned {describe(value)} in compiled code", loc,
                               "return the value, and assign it outside")  # fmt: skip
    path = scope.names.assignable_field(owner, name, loc)
    known = scope.names.environment.callees.known.fields
    before = known.get(path) or scope.names.type_of_field(owner, name, loc)
    joined = promote(before, value.type)
    if known.get(path) != joined:
        known[path] = joined
        raise Recursive  # what has been read of it so far is of another kind
    cell = scope.names.cell(owner, name, loc)
    assert cell is not None, "the field is known"
    scope.memory.store(cell, loc)
    stored = arithmetic.cast(value.expr, cell.dtype)
    scope.emit(Store(cell, (arithmetic.integer(0, loc),), stored, checked=False, loc=loc))
