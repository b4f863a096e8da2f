"""`window.sort()` of a list and `sorted(...)` in compiled code.

Does not handle: `key` and `reverse` (`desugar/consumed_generators.py`), complex numbers.
"""

from __future__ import annotations

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.expressions.inlining import inlined
from appyc.frontend.library.axis_arguments import Arguments
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ArrayRef, Number
from appyc.ir.nodes import Expr, Symbol
from appyc.library import sorting


def sort_in_place(scope: Scope, array: Symbol, count: Expr, loc: Loc) -> None:
    """Sorts the first `count` elements of a vector."""
    if array.dtype.is_complex:
        raise UnsupportedError("complex numbers are not sorted in compiled code", loc, "sort their sizes")
    arguments: Arguments = {"a": ArrayRef(array), "n": Number(count, python=True)}
    inlined(scope, sorting.sort_vector, arguments, loc, trusted=True)
