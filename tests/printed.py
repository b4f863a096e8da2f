"""Runs IR by way of its printed text."""

from __future__ import annotations

import numpy as np

from appyc.ir.nodes import Function
from appyc.ir.printer import print_function


def run_printed(fn: Function, *args: object) -> object:
    """What the function returns for these arguments; arrays among them are changed in place.

    Scalars are given the type of their parameter. Overflow and zero divisors pass silently,
    as in compiled code.
    """
    scope: dict[str, object] = {}
    exec(compile(print_function(fn), f"<printed {fn.name}>", "exec"), scope)
    typed = [
        arg if param.is_array else param.dtype.numpy.type(arg)
        for param, arg in zip(fn.params, args, strict=True)
    ]
    with np.errstate(all="ignore"):
        return scope[fn.name](*typed)
