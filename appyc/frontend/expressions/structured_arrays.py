"""Structured arrays: an array for each field; of an argument there is one of the first byte of each record, too.

    r = records[i]                  test of i against the number of records
    s += r["price"]         ->      s += price[i]
    out["size"][i] = s              size[i] = s

A record is a position that all fields have in common, a slice of records a view of the array of first bytes; a field of
it loads from the field's array at the same indices.

Requires: one axis, and fields of types that compiled code has, or arrays of these.

Does not handle: attributes of `np.recarray`; records that are copied or assigned as a whole, and those that an index
array or a mask chooses.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays import slices
from appyc.frontend.arrays.array_creation import allocate
from appyc.frontend.arrays.slice_bounds import constant_position, out_of_bounds, tested_position
from appyc.frontend.arrays.tensors import as_tensor
from appyc.frontend.control.phi_storage import root
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.library.axis_arguments import given_dtype
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import (
    ArrayRef,
    Number,
    Opaque,
    Records,
    ReturnedContainer,
    Tensor,
    TupleValue,
    Value,
)
from appyc.ir.arguments import TupleArg, TupleKind
from appyc.ir.nodes import Binary, Const, Expr, Extent, Load, Symbol, Var
from appyc.ir.types import DType, fields_of_dtype, structured_dtype, text_of_dtype
from appyc.ir.visit import substitute


def of_parameters(arg: TupleArg, params: Sequence[Symbol], loc: Loc) -> Records:
    """The structured array, or the record, of these parameters."""
    first_bytes, *fields = params
    index = (arithmetic.integer(0, loc),) if arg.kind is TupleKind.RECORD else ()
    count = Extent(first_bytes, 0, loc=loc)
    arrays = tuple(
        ArrayRef(f, shape=(count, *(Extent(f, k, loc=loc) for k in range(1, f.array.ndim)))) for f in fields
    )
    dtype = structured_dtype(arg.made_by)
    return Records(TupleValue(arrays, names=arg.names), ArrayRef(first_bytes, index, tested=True), dtype)


def allocated(scope: Scope, dtype: np.dtype[Any], shape: Sequence[Expr], loc: Loc, *, zero: bool) -> Records:
    """A new structured array: an array for each field, of which the first without axes of its own stands for all. The
    caller puts them together."""
    fields, count = fields_of_dtype(dtype), scope.temp("count", shape[0])
    arrays: list[ArrayRef] = []
    for name, of, _ in fields:
        kind = given_dtype(Opaque(of.base), loc)
        assert kind is not None, "a field has a type"
        lengths: list[Expr] = [count, *(arithmetic.integer(n, loc) for n in of.shape)]
        arrays.append(allocate(scope, lengths, kind, loc, zero=zero, name=name))
    first = next((array for array in arrays if array.ndim == 1), None)
    if len(shape) != 1 or first is None:
        raise UnsupportedError(f"arrays of {dtype} cannot be compiled here", loc)
    return Records(TupleValue(tuple(arrays), names=dtype.names or ()), first, dtype)


def returned(scope: Scope, value: Records, loc: Loc) -> ReturnedContainer | None:
    """A new structured array, or a slice of it, as a function returns it: the first record, how many there are and the
    distance between them, and the fields. None for an argument."""
    if root(value.rows) not in scope.memory.made:
        return None
    rows = as_tensor(scope, value.rows, loc)
    assert isinstance(rows.element, Load), "a slice of records is a view"
    zero, one = (
        substitute(rows.element.index[0], {rows.axes[0]: arithmetic.integer(k, loc)}) for k in range(2)
    )
    slice_of = (zero, rows.extents[0], Binary("-", one, zero, loc=loc))
    numbers = TupleValue(tuple(Number(scope.temp("part", e), python=True) for e in slice_of))
    makes = f"dtype:{text_of_dtype(value.dtype)}"
    return ReturnedContainer(makes, TupleValue((numbers, *value.fields.items)))


def part_of(scope: Scope, owner: Records, index: ast.expr, loc: Loc) -> tuple[Value, int]:
    """`owner[index]`: a field, a record or a slice of records; and the number of its indices that are tested."""
    items = slices.lower_items(scope, index)
    match items:
        case [Opaque(obj=str() as name)] if name in owner.fields.names:
            found = _field(scope, owner, owner.fields.names.index(name), loc)
            return found, len(found.index) if isinstance(found, ArrayRef) and found.tested else 0
        case [Number() as number] if owner.rows.ndim:
            position = expressions.single_index(number, loc).expr
            if isinstance(owner.rows, Tensor):
                at, extent = Number(position, python=True), owner.rows.extents[0]
                return at_position(owner, tested_position(scope, at, extent, loc, out_of_bounds(0))), 0
            if isinstance(position, Const):
                position = constant_position(position, Extent(owner.rows.symbol, 0, loc=loc))
            return replace(owner, rows=ArrayRef(owner.rows.symbol, (position,))), 0
        case [ast.Slice()] if owner.rows.ndim:
            rows = slices.subscript(scope, owner.rows, items, loc)
            assert isinstance(rows, Tensor)
            return replace(owner, rows=rows), 0
        case _:
            raise UnsupportedError("this index of records cannot be compiled", loc,
                                   "an integer, a slice, and the name of a field can")  # fmt: skip


def at_position(owner: Records, position: Expr) -> Records:
    """The record at a position that is within bounds."""
    rows = owner.rows
    if isinstance(rows, ArrayRef):
        return replace(owner, rows=ArrayRef(rows.symbol, (position,), tested=True))
    part = rows.at({0: position}).element
    assert isinstance(part, Load), "a slice of records is a view"
    return replace(owner, rows=ArrayRef(part.array, part.index, tested=True))


def tested(scope: Scope, value: Records, loc: Loc) -> Records:
    """The value; a record's index is tested, and stays what it is now."""
    rows = value.rows
    if not isinstance(rows, ArrayRef) or rows.tested or not rows.index:
        return value
    number, extent = Number(rows.index[0], python=True), Extent(rows.symbol, 0, loc=loc)
    at = tested_position(scope, number, extent, loc, out_of_bounds(0))
    return replace(value, rows=replace(rows, index=(at,), tested=True))


def _field(scope: Scope, owner: Records, number: int, loc: Loc) -> ArrayRef | Tensor:
    whole, rows = owner.fields.items[number], owner.rows
    assert isinstance(whole, ArrayRef)
    if isinstance(rows, ArrayRef):
        return replace(whole, index=rows.index, tested=rows.tested)
    assert isinstance(rows.element, Load), "a slice of records is a view"
    inner = tuple(scope.supply.fresh("i", DType.INT64) for _ in range(1, whole.ndim))
    index = (*rows.element.index, *(Var(axis, loc=loc) for axis in inner))
    element = replace(rows.element, array=whole.symbol, index=index)
    return Tensor((*rows.axes, *inner), (*rows.extents, *whole.extents(loc)[1:]), element, view=True)
