"""Plans of calls: what is recorded again for operands of the same types and shapes.

    b = a + 1           recorded by the function in Python
    c = b + 1           recorded by it, too: its statement, which has the operands of the call, becomes the plan
    d = c + 1           recorded by the plan, without a look at what it means (`_plans.h`)

A plan holds for each call with equal types, shapes and simple arguments. Nothing else that the function in Python looks
at may decide of what it records. Shapes that come once, as of slices that shrink, get no plan.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from appyc.lazy import arrays
from appyc.lazy._nodes import Statement, View
from appyc.lazy.operations import Kind, Operation
from appyc.lazy.recorded_nodes import Operand
from appyc.lazy.ufuncs import PYTHON_NUMBERS, range_of_integers


class Plan(NamedTuple):
    """The plan by which a call is recorded. `_plans.h` reads the fields by their order.

    same: the operands, where they are the same each time. convert: called on a number that is stored. taken: the number
    of the call's operands that the statement has. least, most: of Python's integers among them. nbytes: of what is
    written. is_number: the result is NumPy's scalar.
    """

    operation: Operation
    shape: tuple[int, ...]
    dtype: np.dtype
    same: tuple[Operand, ...] | None
    convert: Callable[..., Any] | None
    taken: int
    least: int
    most: int
    nbytes: int
    is_number: bool


def planned(target: Any, operands: tuple[Any, ...], result: Any, statement: Statement) -> Plan | None:
    """The plan of a call that recorded this statement last; None where there is more to it than the statement.

    target: what the call stores into, or None. result: what it gave, None for a store.
    """
    buffer, taken, shape = statement.target(), statement.operands, statement.shape
    if target is not None:
        if buffer is not target.buffer or statement.path is not target.path:
            return None
    elif type(result) not in _CLASSES or buffer is not result.buffer or shape is not result.shape:
        return None
    elif result.path or statement.path is not None:
        return None
    dtype = (result if target is None else target).dtype
    same = convert = None
    if len(taken) != len(operands) or not all(map(operator.is_, operands, taken)):
        if {int}.issuperset(map(type, taken)) and all(map(_is_array, operands)):
            same = taken  # lengths, of `zeros_like`
        elif not _takes(target, operands, result, statement):
            return None
        elif result is None and type(operands[0]) is not type(taken[0]) is dtype.type:
            convert = dtype.type
    least = most = 0
    if int in map(type, operands):
        beside = operands if target is None else (target, *operands)
        least, most = range_of_integers(*[o.dtype for o in beside if type(o) not in PYTHON_NUMBERS])
    nbytes = 0 if buffer is None else buffer.nbytes
    is_number = type(result) is arrays.number
    return Plan(statement.operation, shape, dtype, same, convert, len(taken), least, most, nbytes, is_number)


_CLASSES = (arrays.ndarray, arrays.number)


def _is_array(value: Any) -> bool:
    return type(value) in _CLASSES and value.is_straight


def _takes(target: Any, operands: tuple[Any, ...], result: Any, statement: Statement) -> bool:
    """Whether a statement's operands are those of the call, but for a constant exponent, views of the target, whose
    memory a statement does not keep alive, and a number of Python's in the type of what it is stored into."""
    taken, left_out = statement.operands, operands[len(statement.operands) :]
    is_power = statement.operation.kind is Kind.POWER and all(type(o) in PYTHON_NUMBERS for o in left_out)
    if len(taken) > len(operands) or (left_out and not is_power):
        return False
    for given, found in zip(operands, taken, strict=False):
        is_own = target is not None and _is_array(given) and given.buffer is target.buffer
        if given is found or (is_own and type(found) is View and found.path is given.path):
            continue
        dtype = None if result is not None else target.dtype
        kinds = "fi" if type(given) is int else "f" if type(given) is float else ""
        if dtype is None or dtype.kind not in kinds or type(found) is not dtype.type:
            return False
    return True
