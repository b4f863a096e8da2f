"""Arguments of NumPy's functions that say how, not of what: axes, flags, element types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from appyc.errors import Loc, TypeInferenceError, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import as_dtype
from appyc.frontend.types.values import Number, Opaque, Tensor, TupleValue, Value, is_none
from appyc.ir.types import DType

Arguments: TypeAlias = dict[str, Value]


class Bound(dict[str, Value]):
    """The arguments of a call, by parameter. Raises TypeInferenceError for one that is needed and not given."""

    def __init__(self, what: str, loc: Loc) -> None:
        super().__init__()
        self.what, self.loc = what, loc

    def __missing__(self, name: str) -> Value:
        raise TypeInferenceError(f"{self.what} is called without its argument {name!r}", self.loc)


Maker: TypeAlias = Callable[[Scope, Arguments, Loc], Value]
Entry: TypeAlias = tuple[tuple[str, ...], Maker]
"""The parameters of a function, in order, and what makes its value of them."""


@dataclass(frozen=True, slots=True)
class Along:
    """Which axes are reduced; None for all. keepdims: they stay, with length 1."""

    axes: tuple[int, ...] | None = None
    keepdims: bool = False


def integers(value: Value | None, loc: Loc, what: str) -> tuple[int, ...] | None:
    """A constant integer or tuple of such; None where it was left out or is None."""
    match value:
        case None | Opaque(obj=None):
            return None
        case TupleValue():
            items = [v.constant if isinstance(v, Number) else None for v in value.items]
        case Number():
            items = [value.constant]
        case _:
            items = [None]
    out = tuple(i for i in items if isinstance(i, int) and not isinstance(i, bool))
    if len(out) != len(items):
        raise UnsupportedError(f"{what} must be a constant", loc)
    return out


def integer_argument(given: Arguments, name: str, default: int, loc: Loc) -> int:
    """A constant integer."""
    found = integers(given.get(name), loc, name)
    return default if not found else found[0]


def one_axis(given: Arguments, loc: Loc, default: int | None = None) -> int | None:
    """A constant axis; `default` where it was left out, None where it is None."""
    if "axis" not in given:
        return default
    axes = integers(given["axis"], loc, "axis")
    if axes is not None and len(axes) != 1:
        raise TypeInferenceError("one axis is needed here, not a tuple", loc)
    return axes[0] if axes else None


def flag(value: Value | None, loc: Loc, what: str) -> bool:
    if value is None:
        return False
    if isinstance(value, Number) and value.constant is not None:
        return bool(value.constant)
    raise UnsupportedError(f"{what} must be a constant", loc)


def given_dtype(value: Value | None, loc: Loc) -> DType | None:
    if value is None or is_none(value):
        return None
    found = as_dtype(value.obj) if isinstance(value, Opaque) else None
    if found is None:
        known = _known_to_numpy(value.obj) if isinstance(value, Opaque) else None
        if known is not None:
            raise UnsupportedError(f"arrays of {known} cannot be compiled", loc)
        raise TypeInferenceError(f"{describe(value)} is no element type", loc)
    return found


def _known_to_numpy(obj: Any) -> str | None:
    """The name of an element type, of records or texts maybe, that is NumPy's alone."""
    try:
        return str(np.dtype(obj))
    except (TypeError, ValueError):
        return None


def along(given: Arguments, loc: Loc) -> Along:
    return Along(integers(given.get("axis"), loc, "axis"), flag(given.get("keepdims"), loc, "keepdims"))


def several(scope: Scope, value: Value, loc: Loc) -> list[Tensor]:
    if not isinstance(value, TupleValue) or not value.items:
        raise UnsupportedError("arrays to be joined must be written as a tuple", loc)
    return [as_tensor(scope, item, loc) for item in value.items]
