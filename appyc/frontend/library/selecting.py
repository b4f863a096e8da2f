"""Functions that choose elements: by where a condition holds, or by index."""

from __future__ import annotations

import numpy as np

from appyc.errors import LengthError, Loc
from appyc.frontend.arrays import slices
from appyc.frontend.arrays.masks import nonzero
from appyc.frontend.arrays.reshaping import ravelled
from appyc.frontend.arrays.tensors import as_tensor, as_value, permuted
from appyc.frontend.library.array_reductions import reduced_axes
from appyc.frontend.library.axis_arguments import Arguments, Entry, one_axis
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ArrayRef, Number, Tensor, TupleValue, Value


def _nonzero(scope: Scope, given: Arguments, loc: Loc) -> Value:
    tensor = as_tensor(scope, given["a"], loc)
    if not tensor.ndim:
        raise LengthError("Calling nonzero on 0d arrays is not allowed.", loc)
    return TupleValue(tuple(nonzero(scope, tensor, loc)))


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
            owner = tensor = ravelled(scope, tensor.copied(), loc)
    (axis,) = reduced_axes(tensor, (axis,), loc)
    return _taken(scope, owner, given["indices"], axis, loc)


FUNCTIONS: dict[object, Entry] = {
    np.nonzero: (("a",), _nonzero), np.take: (("a", "indices", "axis"), _take),
}  # fmt: skip

METHODS: dict[str, Entry] = {"nonzero": FUNCTIONS[np.nonzero], "take": FUNCTIONS[np.take]}
