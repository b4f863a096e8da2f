"""Functions that choose elements: by where a condition holds, or by index."""

from __future__ import annotations

import numpy as np

from appyc.errors import LengthError, Loc
from appyc.frontend.arrays import slices
from appyc.frontend.arrays.masks import nonzero
from appyc.frontend.arrays.reshaping import ravelled, stacked
from appyc.frontend.arrays.tensors import as_tensor, as_value, permuted
from appyc.frontend.library.array_reductions import reduced_axes
from appyc.frontend.library.axis_arguments import Arguments, Entry, one_axis
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ArrayRef, Number, Tensor, TupleValue, Value, describe


def _nonzero(scope: Scope, given: Arguments, loc: Loc) -> Value:
    tensor = as_tensor(scope, given["a"], loc)
    if not tensor.ndim:
        raise LengthError("Calling nonzero on 0d arrays is not allowed.", loc)
    return TupleValue(tuple(nonzero(scope, tensor, loc)))


def _flat(scope: Scope, value: Value, loc: Loc) -> Tensor:
    tensor = as_tensor(scope, value, loc)
    return ravelled(scope, Tensor(tensor.axes, tensor.extents, tensor.element), loc)


def _flatnonzero(scope: Scope, given: Arguments, loc: Loc) -> Value:
    return nonzero(scope, _flat(scope, given["a"], loc), loc)[0]


def _argwhere(scope: Scope, given: Arguments, loc: Loc) -> Value:
    columns = nonzero(scope, as_tensor(scope, given["a"], loc), loc)
    return stacked(scope, [as_tensor(scope, column, loc) for column in columns], 1, loc)


def _compress(scope: Scope, given: Arguments, loc: Loc) -> Value:
    """np.compress: by a condition along one axis, which may be shorter than it."""
    condition = as_tensor(scope, given["condition"], loc)
    if condition.ndim != 1:
        raise LengthError(f"condition must be a 1-d array, not {describe(condition)}", loc)
    axis = one_axis(given, loc)
    tensor = as_tensor(scope, given["a"], loc)
    if axis is None:
        tensor, axis = _flat(scope, tensor, loc), 0
    (axis,) = reduced_axes(tensor, (axis,), loc)
    (indices,) = nonzero(scope, condition, loc)
    return _taken(scope, tensor, indices, axis, loc)


def _extract(scope: Scope, given: Arguments, loc: Loc) -> Value:
    condition = _flat(scope, given["condition"], loc)
    (indices,) = nonzero(scope, condition, loc)
    return _taken(scope, _flat(scope, given["arr"], loc), indices, 0, loc)


def _taken(scope: Scope, owner: Value, indices: Value, axis: int, loc: Loc) -> Value:
    """`owner[..., indices, ...]`, with indices along one axis."""
    if isinstance(owner, ArrayRef) and axis == 0:
        out = slices.subscript(scope, owner, [indices], loc)
        return out.copied() if isinstance(out, Tensor) else out
    tensor = as_tensor(scope, owner, loc)
    front = permuted(tensor, [axis, *(k for k in range(tensor.ndim) if k != axis)])
    out = slices.subscript(scope, front, [indices], loc)
    if isinstance(out, Number):
        return out
    chosen = as_tensor(scope, out, loc).copied()
    more = chosen.ndim - (tensor.ndim - 1)
    order = [*range(more, more + axis), *range(more), *range(more + axis, chosen.ndim)]
    return as_value(permuted(chosen, order))


def _take(scope: Scope, given: Arguments, loc: Loc) -> Value:
    axis = one_axis(given, loc)
    owner = given["a"]
    tensor = as_tensor(scope, owner, loc)
    if axis is None:
        axis = 0
        if tensor.ndim != 1:
            owner = tensor = _flat(scope, tensor, loc)
    (axis,) = reduced_axes(tensor, (axis,), loc)
    return _taken(scope, owner, given["indices"], axis, loc)


FUNCTIONS: dict[object, Entry] = {
    np.nonzero: (("a",), _nonzero), np.flatnonzero: (("a",), _flatnonzero),
    np.argwhere: (("a",), _argwhere), np.compress: (("condition", "a", "axis"), _compress),
    np.extract: (("condition", "arr"), _extract), np.take: (("a", "indices", "axis"), _take),
}  # fmt: skip

METHODS: dict[str, Entry] = {
    "nonzero": FUNCTIONS[np.nonzero],
    "compress": (("a", "condition", "axis"), _compress),
    "take": FUNCTIONS[np.take],
}
