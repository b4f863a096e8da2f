"""`isinstance`, decided by the inferred type of a value."""

from __future__ import annotations

import ast

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.expressions.expressions import positional
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.values import (
    ArrayRef,
    DictValue,
    ListValue,
    Masked,
    Number,
    Opaque,
    Tensor,
    TupleValue,
    Value,
    is_listed,
)
from appyc.ir.types import Container


def lower_isinstance(scope: Scope, node: ast.Call, loc: Loc) -> Value:
    """`isinstance(x, kind)`, decided by the inferred type."""
    args = positional(node, loc)
    if len(args) != 2:
        raise TypeInferenceError("isinstance takes 2 arguments", loc)
    value, kinds = expressions.lower_operands(scope, args, expressions.lower_or_none)
    wanted = kinds.items if isinstance(kinds, TupleValue) else (kinds,)
    types = [kind.obj for kind in wanted if isinstance(kind, Opaque) and isinstance(kind.obj, type)]
    if len(types) < len(wanted):
        raise UnsupportedError(
            "isinstance is compiled for a type or a tuple of types that are written out", loc
        )
    return arithmetic.python_number(issubclass(_type_of(value, loc), tuple(types)), loc)


_TYPES = {Container.ARRAY: np.ndarray, Container.LIST: list, Container.BYTES: bytes, Container.TEXT: str}


def _type_of(value: Value, loc: Loc) -> type:
    """The Python type of a value."""
    match value:
        case Number():
            kind = value.type.dtype.numpy.type
            return type(kind(0).item()) if value.python else kind
        case ArrayRef(index=()) if value.ndim:
            return _TYPES[value.symbol.array.container]
        case ArrayRef() | Tensor() | Masked() if value.ndim and not is_listed(value):
            return np.ndarray
        case TupleValue(names=()):
            return tuple
        case DictValue():
            return dict
        case ListValue():
            return list
        case Opaque(obj=obj):
            return type(obj)
        case _:
            raise UnsupportedError(f"the type of {describe(value)} shows only at the call", loc)
