"""Where the extremes of an array are.

np.argmax is the largest element first, and then the first index of it: two reductions,
which lanes and threads share, where one loop would wait for every comparison.
"""

from __future__ import annotations

import numpy as np

from appyc.errors import Loc, TypeInferenceError
from appyc.frontend.arrays.tensors import as_tensor, fail_unless, kept, product
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.library.array_reductions import (
    Along,
    combined,
    reduce_array,
    reduced_axes,
)
from appyc.frontend.library.axis_arguments import Arguments, Entry, Maker, along
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import Tensor, Value
from appyc.ir.nodes import Binary, Compare, Expr, Load, Select, Var
from appyc.ir.visit import rename


def _first_extreme(name: str) -> Maker:
    """np.argmin ("min"), np.argmax ("max"): the first NaN, or else the first of the extreme elements."""

    def make(scope: Scope, given: Arguments, loc: Loc) -> Value:
        source = as_tensor(scope, given["a"], loc)
        if source.element.dtype.is_complex:
            raise TypeInferenceError("complex numbers have no order here", loc, hints=("compare abs(z)",))
        # The two reductions must see the same values, which arithmetic may round differently.
        if not isinstance(source.element, Load):
            source = as_tensor(scope, kept(scope, source, "values", loc), loc)
        return _first(scope, name, source, along(given, loc), loc)

    return make


def _first(scope: Scope, name: str, tensor: Tensor, over: Along, loc: Loc) -> Value:
    reduced = reduced_axes(tensor, over.axes, loc)
    for k in reduced:
        some = Compare(">", tensor.extents[k], integer(0, loc), loc=loc)
        fail_unless(scope, some, None, f"attempt to get arg{name} of an empty sequence", loc)
    best = as_tensor(scope, reduce_array(scope, name, tensor, Along(reduced), None, loc), loc)
    left = [axis for k, axis in enumerate(tensor.axes) if k not in reduced]
    wanted = rename(best.element, dict(zip(best.axes, left, strict=True)))
    found: Expr = Compare("==", tensor.element, wanted, loc=loc)
    if tensor.element.dtype.is_float:
        # Both sides always: lanes have no use for the branch that `or` would be.
        found = Binary("|", found, Compare("!=", tensor.element, tensor.element, loc=loc), loc=loc)
    position: Expr = integer(0, loc)
    for k in reduced:
        at = Var(tensor.axes[k], loc=loc)
        if position == integer(0, loc):
            position = at
        else:
            position = Binary("+", Binary("*", position, tensor.extents[k], loc=loc), at, loc=loc)
    behind = product([tensor.extents[k] for k in reduced], loc)
    chosen = Tensor(tensor.axes, tensor.extents, Select(found, position, behind, loc=loc))
    return combined(scope, chosen, reduced, over.keepdims, "min", behind, loc)


_ARGUMENTS = ("a", "axis", "out", "keepdims")

METHODS: dict[str, Entry] = {
    "argmin": (_ARGUMENTS, _first_extreme("min")),
    "argmax": (_ARGUMENTS, _first_extreme("max")),
}

FUNCTIONS: dict[object, Entry] = {np.argmin: METHODS["argmin"], np.argmax: METHODS["argmax"]}
