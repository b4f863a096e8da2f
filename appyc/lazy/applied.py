"""NumPy's functions of whole arrays that are recorded as calls by name (`operations.applied`).

Dtypes and shapes of results are asked of NumPy: a dtype by a call with arrays of one element, the shape of what is
joined or padded by a call with arrays whose elements take no memory. Cases that compiled code does not have (a mask as
`repeats`, a mode of `pad`) run in NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from appyc.lazy import arrays
from appyc.lazy.evaluation import LeftToNumPy, require
from appyc.lazy.operations import COMPILED_DTYPES, OPERAND, Expression, applied, without
from appyc.lazy.recorder import record
from appyc.lazy.ufuncs import as_operand

Shape: TypeAlias = tuple[int, ...]
Given: TypeAlias = Mapping[str, Any]

_NOTHING = np.dtype([])
"""The type of elements that take no memory."""


@functools.lru_cache(maxsize=1 << 12)
def _asked(operation: Expression, *kinds: tuple[np.dtype, Shape] | None) -> tuple[np.dtype, Shape]:
    """The dtype and shape of what NumPy gives for arrays with these, and for integers (None). Raises NumPy's errors."""
    there = (1 if kind is None else np.zeros(kind[1], kind[0]) for kind in kinds)
    found = np.asarray(operation.run(*there))
    return found.dtype, found.shape


def _recorded(operation: Expression, operands: Sequence[Any], shape: Callable[[], Shape]) -> Any:
    """The result of a call."""
    small = [None if type(o) is int else (o.dtype, (1,) * o.ndim) for o in operands]
    dtype, _ = _asked(operation, *small)
    whole = shape()
    require(dtype in COMPILED_DTYPES, 0 not in whole)
    return record(operation, tuple(operands), whole, dtype)


# ---------------------------------------------------------------- arguments: each raises LeftToNumPy for other values


def _array(value: Any, operands: list[Any]) -> Any:
    """A non-empty array with axes in memory order, for which NumPy's results have it too."""
    found: Any = as_operand(value) if isinstance(value, arrays.ndarray | list | tuple) else None
    require(type(found) is arrays.ndarray and found.is_straight and found.size and found.shape)
    require(found.dtype in COMPILED_DTYPES)
    operands.append(found)
    return OPERAND


def _arrays(values: Any, operands: list[Any]) -> Any:
    require(isinstance(values, tuple | list) and any(isinstance(v, arrays.Array) for v in values))
    return tuple([_array(v, operands) for v in values])


def _number(value: Any, operands: list[Any]) -> Any:
    """An integer that is an argument of the program."""
    require(type(value) is int)
    operands.append(value)
    return OPERAND


def _constant(value: Any, operands: list[Any]) -> Any:
    """A part of the code: a number, a word, or a tuple of such."""
    if isinstance(value, list | tuple):
        return tuple([_constant(v, operands) for v in value])
    if value is None or type(value) in (bool, int) or (type(value) is str and value.isalnum()):
        return value
    if isinstance(value, np.integer):
        return int(value)
    raise LeftToNumPy


def _named(value: Any, operands: list[Any]) -> Any:
    """The recorded form of an argument that is given by its name alone."""
    return _constant(value, operands)


# ---------------------------------------------------------------- shapes


def _moved(operation: Expression, _: Given, *operands: Any) -> Shape:
    """The shape of joined, repeated or padded operands."""
    return _asked(operation, *[(_NOTHING, o.shape) for o in operands])[1]


def _same(_: Expression, __: Given, array: Any, *more: Any) -> Shape:
    shape: Shape = array.shape
    return shape


def _summed(_: Expression, given: Given, array: Any) -> Shape:
    axis = given.get("axis")
    axes = tuple(range(array.ndim)) if axis is None else (axis % array.ndim,)
    return without(array.shape, axes, keepdims=given.get("keepdims", False))


def _repeated(_: Expression, given: Given, array: Any) -> Shape:
    axis, times = given.get("axis"), given["repeats"]
    whole = (array.size,) if axis is None else array.shape
    at = 0 if axis is None else axis % array.ndim
    return (*whole[:at], whole[at] * times, *whole[at + 1 :])


# ---------------------------------------------------------------- functions


def _recording(name: str, shape: Callable[..., Shape], fits: Callable[..., bool] = lambda *_: True,
               **parameters: Callable[[Any, list[Any]], Any]) -> Callable[..., Any]:  # fmt: skip
    """The function of a name. shape: of its result, by the operation, the arguments and the operands. fits: whether
    compiled code has it. parameters: those that are known, in NumPy's order, and what reads them."""
    arrays_first = {parameter for parameter, read in parameters.items() if read in (_array, _arrays)}
    by_position = [parameter for parameter, read in parameters.items() if read is not _named]

    def function(*args: Any, **keywords: Any) -> Any:
        for parameter in by_position[len(args) :]:
            if parameter not in keywords:
                break
            args += (keywords.pop(parameter),)
        require(len(args) <= len(by_position), keywords.keys() <= parameters.keys())
        operands: list[Any] = []
        forms = {p: parameters[p](v, operands) for p, v in zip(by_position, args, strict=False)}
        named = {p: parameters[p](v, operands) for p, v in keywords.items()}
        given = {**forms, **named}
        require(arrays_first <= forms.keys() and fits(given, *operands))
        operation = applied(name, forms.values(), named)
        return _recorded(operation, operands, lambda: shape(operation, given, *operands))

    return function


def _einsum(subscripts: Any, *given: Any) -> Any:
    operands: list[Any] = []
    require(isinstance(subscripts, str) and subscripts.count("->") == 1 and not {*".{}"} & {*subscripts})
    forms = _arrays(given, operands)
    inputs, output = subscripts.replace(" ", "").split("->")
    parts = inputs.split(",")
    extents: dict[str, int] = {}
    for part, array in zip(parts, operands, strict=False):
        extents.update(zip(part, array.shape, strict=False))
    require([tuple(map(extents.get, part)) for part in parts] == [o.shape for o in operands])
    kept = [letter for letter in extents if letter in output]
    require("".join(kept) == output)  # else the axes of the result change their order
    require(len(operands) > 1 or len(kept) < len(extents))  # else it is a view
    shape = tuple([extents[letter] for letter in kept])
    return _recorded(applied("einsum", (subscripts, *forms)), operands, lambda: shape)


def _is_padded(given: Given, array: Any) -> bool:
    """Whether the padding is recorded: by a constant or the edge, with a width for all axes, a pair for all,
    or a pair for each."""
    mode, value = given.get("mode", "constant"), given.get("constant_values")
    is_known = (mode == "constant" and (value is None or type(value) is int)) or (
        mode == "edge" and value is None
    )
    return is_known and np.shape(given.get("pad_width", ())) in ((), (2,), (array.ndim, 2))


def _is_real(given: Given, array: Any) -> bool:
    return bool(array.dtype.kind != "c") and not isinstance(given.get("axis"), tuple)


def _is_normed(given: Given, array: Any) -> bool:
    return given.get("ord") is None and array.dtype.kind in ("f", "i", "u") and _is_real(given, array)


def _is_traced(given: Given, array: Any) -> bool:
    return bool(array.ndim == 2 and -array.shape[0] < given.get("offset", 0) < array.shape[1])


APPLIED: dict[Any, Callable[..., Any]] = {
    np.concatenate: _recording("concatenate", _moved, _=_arrays, axis=_constant),
    np.stack: _recording("stack", _moved, arrays=_arrays, axis=_constant),
    **{getattr(np, name): _recording(name, _moved, tup=_arrays) for name in (
        "hstack", "vstack", "dstack", "column_stack",
    )},
    np.tile: _recording("tile", _moved, A=_array, reps=_constant),
    np.repeat: _recording("repeat", _repeated, lambda given, _: type(n := given.get("repeats")) is int and n > 0,
                          a=_array, repeats=_constant, axis=_constant),
    np.pad: _recording("pad", _moved, _is_padded, array=_array, pad_width=_constant, mode=_constant,
                       constant_values=_named),
    np.roll: _recording("roll", _same, a=_array, shift=_number, axis=_constant),
    **{function: _recording("round", _same, a=_array, decimals=_constant) for function in (np.round, np.around)},
    **{getattr(np, name): _recording(name, _same, lambda _, a, *k: a.ndim > 1, m=_array, k=_number)
       for name in ("tril", "triu")},
    np.isclose: _recording("isclose", _same, lambda _, a, b: a.shape == b.shape, a=_array, b=_array),
    np.nan_to_num: _recording("nan_to_num", _same, x=_array),
    np.einsum: _einsum,
    np.linalg.norm: _recording("linalg.norm", _summed, _is_normed, x=_array, ord=_constant, axis=_constant,
                               keepdims=_constant),
    **{getattr(np, name): _recording(name, _summed, _is_real, a=_array, axis=_constant, keepdims=_named)
       for name in ("nansum", "nanprod", "nanmean", "nanmin", "nanmax")},
    **{getattr(np, name): _recording(name, lambda *_: (), lambda _, a, b: a.ndim == 1 and a.shape == b.shape,
                                     a=_array, b=_array)
       for name in ("inner", "vdot")},
    np.trace: _recording("trace", lambda *_: (), _is_traced, a=_array, offset=_constant),
    np.trapezoid: _recording("trapezoid", lambda _, __, y: y.shape[:-1],
                             lambda _, y: y.dtype.kind == "f" and y.shape[-1] > 1, y=_array),
}  # fmt: skip
