"""Which values are lists to the program."""

from __future__ import annotations

from typing import TypeGuard

from appyc.frontend.types.values import ArrayRef, Binding, Tensor, Value
from appyc.ir.types import Container


def is_listed(value: Value | Binding) -> TypeGuard[ArrayRef | Tensor]:
    """Whether the items of a list are described by the value."""
    return isinstance(value, ArrayRef | Tensor) and value.python and value.ndim > 0


def is_list_itself(value: Value | Binding | None) -> TypeGuard[ArrayRef]:
    """Whether the value is a list of numbers of the caller's, and not a row of one, bytes or a text."""
    if not isinstance(value, ArrayRef) or value.index or value.ndim != 1:
        return False
    return value.symbol.array.container is Container.LIST
