"""Derives a kernel's `Interface` from the IR. Separate from `frame`, so that a warm start needs no IR."""

from __future__ import annotations

from appyc.errors import InternalError
from appyc.ir.abi import frame_layout
from appyc.ir.arguments import ArgType, leaves
from appyc.ir.fault_words import FaultSite
from appyc.ir.nodes import Function, Symbol
from appyc.ir.visit import arrays_written
from appyc.runtime.frame import Interface, KernelResult


def describe(fn: Function, arguments: tuple[ArgType, ...], faults: tuple[FaultSite, ...]) -> Interface:
    """The interface of a function's kernel, called with arguments of the given types."""
    count = len(list(leaves(arguments)))
    if count != len(fn.params):
        raise InternalError("runtime", f"{fn.name} has {len(fn.params)} parameters for {count} arguments")
    number = {symbol: i for i, symbol in enumerate(fn.params)}
    results = []
    for result in fn.results:
        if isinstance(result.value, Symbol):
            array = result.value
            ndim = None if array in number else array.array.ndim
            results.append(KernelResult(array.dtype, param=number.get(array), ndim=ndim))
        else:
            results.append(KernelResult(result.value.dtype, result.python))
    written = frozenset(number[s] for s in arrays_written(fn) if s in number)
    return Interface(arguments, frame_layout(fn), written, tuple(results), fn.tree, faults)
