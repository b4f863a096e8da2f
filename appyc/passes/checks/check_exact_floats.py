"""With `exact`, refuses tensor statements whose rounding in NumPy cannot be reproduced.

    np.sum(a)        NumPy adds in pairs of pairs, and a product of matrices in the order of its
    a @ b            library; compiled loops add from left to right
    np.exp(a)        NumPy has vector code of its own, which rounds now and then otherwise than
                     the C library

Where digits must be Python's, such a statement runs in Python. Integers, minima and maxima
are the same in any order, and square roots and roundings by any hand.

Requires: tensor statements are not expanded yet. Does not handle: NumPy's functions of single
numbers.
"""

from __future__ import annotations

from appyc.errors import UnsupportedError
from appyc.ir.nodes import Binary, ForAll, Function, Intrinsic, Reduce
from appyc.ir.visit import walk
from appyc.passes.pass_context import PassContext

_ROUNDED_ONE_WAY = (
    "sqrt", "abs", "floor", "ceil", "trunc", "rint", "sign", "real", "imag", "conj", "complex",
    "isnan", "isinf", "isfinite", "copysign", "fmod",
)  # fmt: skip


def check_exact_floats(fn: Function, ctx: PassContext) -> Function:
    """The function as it is. Raises UnsupportedError for such a statement."""
    if not ctx.options.exact:
        return fn
    for tensor in (n for n in walk(fn) if isinstance(n, ForAll | Reduce)):
        for node in walk(tensor):
            if _is_numpys(node):
                raise UnsupportedError(
                    "exact=True: NumPy makes the last digits of this in a way of its own", tensor.loc,
                    "leave exact=True out where the last digits may differ",
                )  # fmt: skip
    return fn


def _is_numpys(node: object) -> bool:
    match node:
        case Reduce():
            return node.op in ("+", "*") and node.dtype.kind in "fc"
        case Intrinsic():
            return node.name not in _ROUNDED_ONE_WAY or (node.name == "abs" and node.args[0].dtype.is_complex)
        case Binary(op="**"):
            return node.dtype.kind in "fc"
        case _:
            return False
