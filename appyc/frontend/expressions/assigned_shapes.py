"""`x.shape = n`."""

from __future__ import annotations

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.array_creation import shape_from
from appyc.frontend.arrays.reshaping import reshaped, whole_or_row
from appyc.frontend.arrays.tensors import as_tensor, as_value
from appyc.frontend.control.phi_storage import all_leaves, root
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ArrayRef, Tensor, Value
from appyc.ir.nodes import Const


def reshape_in_place(scope: Scope, name: str, shape: Value, loc: Loc) -> None:
    """`x.shape = n`: rebinds the name to a reshaped view.

    The array, or the row of an array, must be allocated by the function and have no other name.
    """
    array = scope.read(name, loc) if name in scope.locals else None
    row = whole_or_row(scope, array, loc)
    if row is None or row[0] not in scope.memory.made or not all(isinstance(i, Const) for i in row[1]):
        raise UnsupportedError("the shape of this array cannot be assigned in compiled code", loc,
                               "x = x.reshape(...) gives a view of that shape")  # fmt: skip
    others = [
        binding for other, binding in all_leaves(scope.env) if other != name and root(binding) == row[0]
    ]
    if row[1]:  # different rows are different objects
        others = [
            b for b in others if isinstance(b, ArrayRef | Tensor) and whole_or_row(scope, b, loc) == row
        ]
    if others or row[0] in scope.given:
        raise UnsupportedError(f"{name!r} has another name, which would see its new shape", loc,
                               "x = x.reshape(...) gives a view of that shape")  # fmt: skip
    assert isinstance(array, ArrayRef | Tensor), "what is a row of an array"
    tensor = reshaped(scope, as_tensor(scope, array, loc), shape_from(scope, shape, loc), loc)
    scope.bind(name, as_value(tensor), loc)
