"""Attributes of arrays and numbers, and `isinstance`: decided by the inferred type of a value."""

from __future__ import annotations

import ast
from types import ModuleType

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays import tensors
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.expressions.expressions import positional
from appyc.frontend.expressions.made_objects import attribute_of, property_of
from appyc.frontend.library.number_conversions import imaginary_part, real_part
from appyc.frontend.scope import Scope
from appyc.frontend.source import LibraryText
from appyc.frontend.types import values as vals
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.made_values import MadeGenerator, MadeMethod, MadeObject
from appyc.ir.types import Container


def attribute(scope: Scope, owner: vals.Value, name: str, loc: Loc) -> vals.Value:
    """The value of the attribute `owner.name`."""
    owner = expressions.pack_masked(scope, owner, loc)
    match owner:
        case vals.Wide():
            raise UnsupportedError(f"{describe(owner)} has no attributes in compiled code", loc)
        case vals.Opaque(obj=MadeGenerator() as bits):
            return vals.Opaque(MadeMethod(bits, name))
        case vals.Opaque(obj=MadeObject() as made):
            return attribute_of(scope, owner, made, name, loc)
        case vals.Opaque():
            cell = scope.names.cell(owner, name, loc)
            if cell is not None:
                return arithmetic.element_of(cell, (arithmetic.integer(0, loc),), loc, checked=False)
            if owner.root is not None and not isinstance(owner.obj, ModuleType | type | np.iinfo | np.finfo):
                kind = vals.Opaque(type(owner.obj), owner.root.step("attr", "__class__"))
                if (computed := property_of(scope, owner, kind, name, loc)) is not None:
                    return computed
            return scope.names.attribute(owner, name, loc)
        case vals.Records(dtype=dtype) if name == "dtype":
            return vals.Opaque(dtype)
        case vals.Records(rows=rows) if name in ("shape", "size", "ndim") and rows.ndim:
            return _array_attribute(scope, rows, name, loc)
        case vals.Records():
            raise UnsupportedError(f"the attribute {name!r} of {describe(owner)} cannot be compiled", loc,
                                   "shape, size, ndim and dtype can")  # fmt: skip
        case vals.ArrayRef() | vals.Tensor():
            if not scope.source.trusted:
                tensors.refuse_lists([owner], loc)
            return _array_attribute(scope, owner, name, loc)
        case vals.Number():
            return _number_attribute(scope, owner, name, loc)
        case vals.DictValue():
            raise UnsupportedError(f"the attribute {name!r} of a dict cannot be compiled", loc, "d[key] can")
        case vals.MaybeNone():
            raise UnsupportedError("this may be None", loc, "ask whether it is None first")
        case vals.ListSlots() | vals.ListRows() | vals.TupleRow():
            raise UnsupportedError(f"a list has no attribute {name!r} here", loc,
                                   "append and pop can be called")  # fmt: skip
        case vals.TupleValue(items=items, names=names) if name in names:
            return items[names.index(name)]
        case vals.TupleValue():
            raise UnsupportedError(f"a tuple has no attribute {name!r} here", loc)
        case _:
            raise AssertionError(f"{describe(owner)} is no operand")


def shape_of(owner: vals.ArrayRef | vals.Tensor, loc: Loc) -> vals.TupleValue:
    extents = owner.extents if isinstance(owner, vals.Tensor) else owner.extents(loc)
    return vals.TupleValue(tuple(vals.Number(extent, python=True) for extent in extents))


def _array_attribute(scope: Scope, owner: vals.ArrayRef | vals.Tensor, name: str, loc: Loc) -> vals.Value:
    dtype = owner.symbol.dtype if isinstance(owner, vals.ArrayRef) else owner.element.dtype
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
            return vals.Number(
                tensors.product(tensors.as_tensor(scope, owner, loc).extents[::-1], loc), python=True
            )
        case "dtype":
            return vals.Opaque(dtype.numpy)
        case "itemsize":
            return arithmetic.python_number(dtype.itemsize, loc)
        case "nbytes":
            size = expressions.number(_array_attribute(scope, owner, "size", loc), loc)
            return arithmetic.binary("*", size, arithmetic.python_number(dtype.itemsize, loc), loc)
        case _:
            raise UnsupportedError(f"the array attribute {name!r} cannot be compiled", loc,
                                   "shape, size, ndim, dtype, itemsize, nbytes, T, real and imag can")  # fmt: skip


def _number_attribute(scope: Scope, owner: vals.Number, name: str, loc: Loc) -> vals.Value:
    has_dtype = not owner.python or isinstance(scope.source, LibraryText)
    match name:
        case "real":
            return real_part(owner, loc)
        case "imag":
            return imaginary_part(owner, loc)
        case "dtype" | "shape" | "ndim" | "size" | "itemsize" | "nbytes" if has_dtype:
            return _array_attribute(scope, tensors.as_tensor(scope, owner, loc), name, loc)
        case _:
            raise UnsupportedError(f"{describe(owner)} has no attribute {name!r} that can be compiled", loc)


# ---------------------------------------------------------------- isinstance


def lower_isinstance(scope: Scope, node: ast.Call, loc: Loc) -> vals.Value:
    """`isinstance(x, kind)`, decided by the inferred type."""
    args = positional(node, loc)
    if len(args) != 2:
        raise TypeInferenceError("isinstance takes 2 arguments", loc)
    value, kinds = expressions.lower_operands(scope, args, expressions.lower_or_none)
    wanted = kinds.items if isinstance(kinds, vals.TupleValue) else (kinds,)
    types = [kind.obj for kind in wanted if isinstance(kind, vals.Opaque) and isinstance(kind.obj, type)]
    if len(types) < len(wanted):
        raise UnsupportedError(
            "isinstance is compiled for a type or a tuple of types that are written out", loc
        )
    return arithmetic.python_number(issubclass(_type_of(value, loc), tuple(types)), loc)


def lower_type(scope: Scope, node: ast.Call, loc: Loc) -> vals.Value:
    """`type(x)`: the class of what is known to have one."""
    args = positional(node, loc)
    if len(args) != 1:
        raise UnsupportedError("a class is not made in compiled code", loc)
    (value,) = expressions.lower_operands(scope, args, expressions.lower_or_none)
    if isinstance(value, vals.Number) and (value.mixed or value.either):
        raise UnsupportedError(f"the type of {describe(value)} shows only at the call", loc)
    return vals.Opaque(_type_of(value, loc))


_TYPES = {
    Container.ARRAY: np.ndarray,
    Container.PACKED: np.ndarray,
    Container.LIST: list,
    Container.BYTES: bytes,
    Container.TEXT: str,
}


def _type_of(value: vals.Value, loc: Loc) -> type:
    """The Python type of a value."""
    match value:
        case vals.Number(is_int=None):
            kind = value.type.dtype.numpy.type
            return type(kind(0).item()) if value.python else kind
        case vals.ArrayRef(index=()) if value.ndim:
            return _TYPES[value.symbol.array.container]
        case vals.ArrayRef() | vals.Tensor() | vals.Masked() if value.ndim and not vals.is_listed(value):
            return np.ndarray
        case vals.Records():
            return np.ndarray if value.rows.ndim else np.void
        case vals.TupleValue(names=()):
            return tuple
        case vals.DictValue():
            return dict
        case vals.ListSlots() | vals.ListRows() | vals.TupleRow():
            return list
        case vals.Opaque(obj=MadeObject() as made):
            assert isinstance(made.kind.obj, type)
            return made.kind.obj
        case vals.Opaque(obj=obj):
            return type(obj)
        case _:
            raise UnsupportedError(f"the type of {describe(value)} shows only at the call", loc)
