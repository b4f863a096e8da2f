"""A loaded kernel and its calling convention in Python: fills the frame, calls, reads the results.

The layout of the frame is `appyc.ir.abi`'s. `_dispatch.c` does the same for calls that fit
a kernel exactly; this is the way for all others, and for installations without it.
"""

from __future__ import annotations

import ctypes
import math
import struct
import sys
import weakref
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import CellType
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from appyc.errors import InternalError
from appyc.ir.abi import FaultSite, FrameLayout, Status
from appyc.ir.arguments import ArgType, NoneArg, ScalarArg, TupleArg, leaves
from appyc.ir.results import ResultTree, nested
from appyc.ir.types import ArrayType, DType, Layout
from appyc.runtime.faults import located_error

if TYPE_CHECKING:  # a warm start does without the IR
    from numpy.typing import NDArray


Record: TypeAlias = tuple[object, ...]

Watched: TypeAlias = tuple[dict[str, object] | CellType, str, object]
"""Where a value was found (a function's globals, or a closure's cell), its name, and the value."""


@dataclass(frozen=True, slots=True)
class KernelResult:
    """One returned value. param: the array parameter that it is. ndim: of an array that the
    function made. Both are None for a scalar."""

    dtype: DType
    python: bool = False
    param: int | None = None
    ndim: int | None = None


@dataclass(frozen=True, slots=True)
class Interface:
    """How a kernel is called: all that a warm start needs beside its machine code.

    arguments: as the caller passes them, so tuples are not flattened. written: numbers of
    the parameters whose arrays the kernel stores into.
    """

    arguments: tuple[ArgType, ...]
    layout: FrameLayout
    written: frozenset[int]
    results: tuple[KernelResult, ...]
    tree: ResultTree
    faults: tuple[FaultSite, ...]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Kernel:
    """Machine code and how to call it.

    address: of `int32_t kernel(int64_t *frame)`. checked: the version that runs where a guard
    of the first one does not hold, with a frame of the same layout; None where there is none
    (yet). owner: what keeps the code in memory, such as the loaded library. watched: what was
    built into the code from outside; a call takes the kernel only while it is the same. same: for
    each parameter the number of the one that it is the same array as, mostly its own; () for all.
    """

    interface: Interface
    address: int
    checked: Kernel | None = None
    owner: object = None
    watched: tuple[Watched, ...] = ()
    same: tuple[int, ...] = ()

    def record(self) -> Record:
        """What `_dispatch.c` reads, as plain numbers."""
        face = self.interface
        offsets = iter(enumerate(face.layout.params))
        same = self.same or tuple(range(len(face.layout.params)))
        arguments = tuple(
            r for a in face.arguments for r in _argument_records(a, offsets, face.written, same)
        )
        results = tuple(
            (
                -1 if r.param is None else r.param,
                r.dtype.numpy.num,
                r.python,
                slot or 0,
                -1 if r.ndim is None else r.ndim,
            )
            for r, slot in zip(face.results, face.layout.results, strict=True)
        )
        checked = 0 if self.checked is None else self.checked.address
        return (self.address, checked, len(face.arguments), arguments, results, face.tree,
                face.layout.fault, face.layout.size, self.watched, self.checked)  # fmt: skip


OnFault: TypeAlias = Callable[[Kernel, int, int, int, Sequence[object]], object]
"""Called with the kernel, the fault's site, value and extent, and the call's arguments. Raises, or returns what the
call returns."""


class GuardFailure(Exception):  # noqa: N818  (a signal to the caller, who then takes another version)
    """A guard of the kernel does not hold, and it has no checked version. Nothing was written."""


_ARRAY, _NUMPY_SCALAR, _PYTHON_SCALAR, _NONE, _TUPLE = range(5)
_LAYOUTS = {Layout.C: 0, Layout.F: 1, Layout.STRIDED: 2}


def _argument_records(
    arg: ArgType, offsets: Iterator[tuple[int, int]], written: frozenset[int], same: Sequence[int]
) -> Iterator[Record]:
    """(kind, type number, count, layout, written, slot, same), a tuple's own before its items'."""
    if isinstance(arg, TupleArg):
        yield (_TUPLE, 0, len(arg.items), 0, False, 0, 0)
        for item in arg.items:
            yield from _argument_records(item, offsets, written, same)
    elif isinstance(arg, NoneArg):
        yield (_NONE, 0, 0, 0, False, 0, 0)
    else:
        number, slot = next(offsets)
        code = arg.dtype.numpy.num
        if isinstance(arg, ArrayType):
            yield (_ARRAY, code, arg.ndim, _LAYOUTS[arg.layout], number in written, slot, same[number])
        else:
            yield (_PYTHON_SCALAR if arg.python else _NUMPY_SCALAR, code, 0, 0, False, slot, 0)


def is_current(watched: Sequence[Watched]) -> bool:
    """Whether every watched value still is what it was."""
    for where, name, value in watched:
        try:
            now = where.cell_contents if isinstance(where, CellType) else where[name]
        except (ValueError, KeyError):
            return False
        if now is not value:
            return False
    return True


def flat_values(types: Sequence[ArgType], values: Sequence[object]) -> list[object]:
    """The values of the kernel's parameters, in order: tuples are flattened."""
    out: list[object] = []
    for type_, value in zip(types, values, strict=True):
        if isinstance(type_, TupleArg):
            assert isinstance(value, tuple)
            out += flat_values(type_.items, value)
        elif not isinstance(type_, NoneArg):
            out.append(value)
    return out


def raise_fault(kernel: Kernel, site: int, value: int, extent: int, _args: Sequence[object] = ()) -> NoReturn:
    """Raises what the program raised, with the line that raised it."""
    faults = kernel.interface.faults
    if not 0 <= site < len(faults):
        raise InternalError("runtime", f"a kernel reported the unknown fault {site}")
    raise located_error(faults[site], value, extent)


def invoke(
    kernel: Kernel,
    args: Sequence[object],
    threads: int,
    on_fault: OnFault = raise_fault,
    *,
    alone: bool = False,
) -> object:
    """Runs a kernel on arguments of its types and returns what the function returns.

    The caller has to check whether arguments overlap. alone: no other Python code runs meanwhile. Raises
    GuardFailure, and what `on_fault` raises for a program that raised.
    """
    call = _ALONE if alone else _FUNCTION
    face = kernel.interface
    values = flat_values(face.arguments, args)
    frame = fill(face, values, threads)
    address = frame.buffer_info()[0]
    status = call(kernel.address)(address)
    if status == Status.GUARD and kernel.checked is not None:
        kernel = kernel.checked
        status = call(kernel.address)(address)
    if status == Status.OK:
        return read(face, frame, values)
    if status == Status.GUARD:
        raise GuardFailure
    if status == Status.FAULT:
        site, value, extent = frame[face.layout.fault : face.layout.fault + 3]
        return on_fault(kernel, site, value, extent, args)
    raise InternalError("runtime", f"a kernel returned the unknown status {status}")


_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
"""Called with the GIL released."""

_ALONE = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
"""Called with the GIL held."""

invoke_alone = partial(invoke, alone=True)


def fill(face: Interface, values: Sequence[object], threads: int) -> array[int]:
    """A frame with the number of threads and the parameters in their slots."""
    frame = array("q", bytes(8 * face.layout.size))
    frame[0] = threads
    frame[face.layout.fault + 1] = sys.getrecursionlimit()
    for type_, value, slot in zip(leaves(face.arguments), values, face.layout.params, strict=True):
        if isinstance(type_, ScalarArg):
            _put_scalar(frame, slot, type_.dtype, value)
        else:
            assert isinstance(value, np.ndarray)
            end = slot + 1 + 2 * value.ndim
            frame[slot:end] = array("q", [value.__array_interface__["data"][0], *value.shape, *value.strides])
    return frame


_STORED = {
    **{d: "q" for d in DType if d.kind in "bi"},
    **{d: "Q" for d in DType if d.kind == "u"},
    DType.FLOAT32: "f",
    DType.FLOAT64: "d",
    DType.COMPLEX64: "ff",
    DType.COMPLEX128: "dd",
}


def _put_scalar(frame: array[int], slot: int, dtype: DType, value: object) -> None:
    number = np.asarray(value).item()  # Python's own number of any NumPy or Python scalar
    parts = (number.real, number.imag) if dtype.is_complex else (number,)
    struct.pack_into(_STORED[dtype], frame, 8 * slot, *parts)


def read(face: Interface, frame: array[int], values: Sequence[object]) -> object:
    """What the function returns, after its kernel has run."""
    results: list[object] = []
    for result, slot in zip(face.results, face.layout.results, strict=True):
        if result.param is not None:
            results.append(values[result.param])
        elif result.ndim is not None:
            assert slot is not None
            results.append(_get_array(frame, slot, result.dtype, result.ndim))
        else:
            assert slot is not None
            results.append(_get_scalar(frame, slot, result))
    return nested(face.tree, results)


def _get_scalar(frame: array[int], slot: int, result: KernelResult) -> object:
    # Integers are cut to their own size: the slot's low bytes come first on every machine we run on.
    scalar = np.frombuffer(frame, result.dtype.numpy, count=1, offset=8 * slot)[0]
    return scalar.item() if result.python else scalar


def _get_array(frame: array[int], slot: int, dtype: DType, ndim: int) -> NDArray[Any]:
    """The array that a kernel made; its memory is freed with the last view of it."""
    address, shape = frame[slot], tuple(frame[slot + 1 : slot + 1 + ndim])
    count = math.prod(shape)
    memory = (ctypes.c_char * max(count * dtype.itemsize, 1)).from_address(address)
    weakref.finalize(memory, _FREE, address)
    return np.frombuffer(memoryview(memory), dtype.numpy, count).reshape(shape)


_FREE = ctypes.CDLL(None).free
_FREE.argtypes = [ctypes.c_void_p]
_FREE.restype = None
