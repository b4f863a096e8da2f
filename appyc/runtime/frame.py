"""A loaded kernel, and what the dispatcher (`_dispatch.c`) reads of it to call it.

The layout of the frame is `appyc.ir.abi`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any, NoReturn, TypeAlias

import numpy as np

from appyc.errors import InternalError, LeftToPython
from appyc.ir.abi import FrameLayout
from appyc.ir.aliasing import Sharing
from appyc.ir.arguments import ArgType, NoneArg, TupleArg, TupleKind
from appyc.ir.fault_words import FaultSite
from appyc.ir.results import Chosen, ListOf, MadeOf, ResultTree, ViewOf, class_at, dtype_at
from appyc.ir.types import ArrayType, Container, DType, Layout, fields_of_dtype, structured_dtype
from appyc.runtime import _dispatch
from appyc.runtime.faults import located_error

Record: TypeAlias = tuple[object, ...]

Watched: TypeAlias = tuple[dict[str, object] | CellType | FunctionType, str, object]
"""A value that a version depends on: the function's globals or closure cell in which it was found, its name,
and the value."""

Place: TypeAlias = tuple[dict[str, object] | CellType | FunctionType, str]
"""Where a captured value is found at each call: the same without the value."""


Group: TypeAlias = tuple[int, int, bool, int, tuple[int, ...]]
"""Arrays with the same strides that are parts of one box: the slot and the layout of the box, whether one of them is
written, the number of axes; and of each array the number of its parameter and its offsets."""


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
    """The calling interface of a kernel: all that a warm start needs beside its machine code.

    arguments: as the caller passes them, so tuples are not flattened. written: numbers of
    the parameters whose arrays the kernel stores into.
    """

    arguments: tuple[ArgType, ...]
    layout: FrameLayout
    written: frozenset[int]
    results: tuple[KernelResult, ...]
    tree: ResultTree
    faults: tuple[FaultSite, ...]


@dataclass(frozen=True, slots=True)
class HostProgram:
    """A program of the host that launches a function's kernels on a GPU, as the dispatcher calls it.

    run: takes the arguments by position, tuples flattened. array: the class of arrays in the GPU's memory. takes_numpy:
    whether it takes NumPy's too.
    """

    run: Callable[..., object]
    array: type
    takes_numpy: bool


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Kernel:
    """Machine code and how to call it.

    address: of `int32_t kernel(int64_t *frame)`. checked: the version that runs where a guard of the first one does not
    hold, with a frame of the same layout; None where there is none (yet). owner: what keeps the code in memory, such as
    the loaded library. watched: what was built into the code from outside; a call takes the kernel only while it is the
    same. captures: of the last arguments, those that the dispatcher looks up itself. same: for each parameter the
    number of the one that it is the same array as, mostly its own; () for all. groups: arrays that are parts of one,
    which the dispatcher gives to the kernel as its hidden arguments. alone: no other Python code may run meanwhile.
    host: what runs instead of machine code; the address is 0 then.
    """

    interface: Interface
    address: int
    checked: Kernel | None = None
    owner: object = None
    watched: tuple[Watched, ...] = ()
    captures: tuple[Place, ...] = ()
    same: tuple[int, ...] = ()
    groups: tuple[Group, ...] = ()
    alone: bool = False
    host: HostProgram | None = None

    def record(self) -> Record:
        """The kernel as the tuple of plain values that `_dispatch.c` reads."""
        face = self.interface
        offsets = iter(enumerate(face.layout.params))
        same = self.same or tuple(range(len(face.layout.params)))
        stores = face.written, frozenset(same[number] for number in face.written)
        arguments = tuple(r for a in face.arguments for r in _argument_records(a, offsets, stores, same))
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
        host = self.host
        of_host = (None, None, False) if host is None else (host.run, host.array, host.takes_numpy)
        visible = len(face.arguments) - len(self.captures)
        return (self.address, checked, visible, arguments, results, _for_dispatcher(face.tree),
                face.layout.fault, face.layout.size, self.watched, self.captures, self.checked, self.alone, self.groups,
                *of_host)  # fmt: skip

    def keeps_lists(self, site: int) -> bool:
        """Whether what a call has stored into lists stays there when it stops at this fault: Python, to which a call is
        left, begins with the lists as they were."""
        return self.interface.faults[site].error != LeftToPython.__name__


def _for_dispatcher(tree: ResultTree) -> object:
    """The tree with its choices, lists and views in the form of which the dispatcher makes them itself."""
    match tree:
        case tuple():
            return tuple(map(_for_dispatcher, tree))
        case Chosen():
            return [..., tree.which, *tree.options]
        case ListOf(of_tuples="" | None):
            columns = zip(tree.columns, tree.python, strict=True)
            return [tree.count, tree.of_tuples is not None, *(part for column in columns for part in column)]
        case MadeOf(lists=((_, _, _) as part, *fields)) if (dtype := dtype_at(tree.makes)) is not None:
            return [dtype, *part, *fields]
        case ViewOf():
            later = iter(tree.known_later)
            return [None, tree.array, tree.ndim, *((next(later),) if n is None else n for n in tree.numbers)]
        case _:
            return tree


OnFault: TypeAlias = Callable[[Kernel, int, Sequence[Any], Sequence[object]], object]
"""Called with the kernel, the fault's site and words, and the call's arguments. Raises, or returns what the
call returns. The site of what a host program raises is HOST_RAISED, and the exception is its only word."""

HOST_RAISED = -1
"""The fault site of an exception from a host program. The same number stands in `_dispatch.c`."""


_ARRAY, _LIST, _TEXT, _COLUMN, _ROWS, _FIELD, _NUMPY_SCALAR, _PYTHON_SCALAR, _NONE, _TUPLE = range(10)
_KINDS = {kind: _TUPLE + number for number, kind in enumerate(TupleKind)}
_PARTS = {
    TupleKind.TUPLES: _COLUMN,
    TupleKind.ROWS: _ROWS,
    TupleKind.ROWS_OF_TUPLES: _ROWS,
    TupleKind.ARRAYS: _ROWS,
}
"""The kind of the arrays that represent a list, by what the list contains."""

_LAYOUTS = {Layout.C: 0, Layout.F: 1, Layout.STRIDED: 2}
_PACKED = 3


def _argument_records(
    arg: ArgType,
    offsets: Iterator[tuple[int, int]],
    stores: tuple[frozenset[int], frozenset[int]],
    same: Sequence[int],
) -> Iterator[Record]:
    """(kind, type number, count, layout, written, also as the same array, slot, same, class of a tuple or a text), a
    tuple's own before its items'. stores: numbers of the parameters that are written, and which ones these are the
    same as."""
    if isinstance(arg, TupleArg) and arg.is_records:
        dtype = structured_dtype(arg.made_by)
        yield (_KINDS[arg.kind], 0, len(arg.items), 0, False, False, 0, 0, dtype)
        fields = [(None, 0, ()), *((name, at, of.shape) for name, of, at in fields_of_dtype(dtype))]
        for item, field in zip(arg.items, fields, strict=True):
            assert isinstance(item, ArrayType)
            alignment = 1 if item.container is Container.PACKED else item.dtype.numpy.alignment
            for _, code, ndim, _, *rest, _ in _argument_records(item, offsets, stores, same):
                yield (_FIELD, code, ndim, alignment, *rest, field)
    elif isinstance(arg, TupleArg):
        made_by = class_at(arg.made_by) if arg.names else tuple
        yield (_KINDS[arg.kind], 0, len(arg.items), 0, False, False, 0, 0, made_by)
        for item in arg.items:
            for kind, *rest in _argument_records(item, offsets, stores, same):
                yield (_PARTS.get(arg.kind, kind), *rest)
    elif isinstance(arg, NoneArg):
        yield (_NONE, 0, 0, 0, False, False, 0, 0, arg.text)
    else:
        number, slot = next(offsets)
        code = arg.dtype.numpy.num
        if isinstance(arg, ArrayType):
            written, any_written = number in stores[0], same[number] in stores[1]
            kind = {Container.LIST: _LIST}.get(arg.container, _TEXT) if arg.is_list else _ARRAY
            layout = _PACKED if arg.container is Container.PACKED else _LAYOUTS[arg.layout]
            yield (kind, code, arg.ndim, layout, written, any_written, slot, same[number], None)
        else:
            yield (_PYTHON_SCALAR if arg.python else _NUMPY_SCALAR, code, 0, 0, False, False, slot, 0, None)


def groups_of(
    sharing: Sharing, layout: FrameLayout, visible: int, written: frozenset[int]
) -> tuple[Group, ...] | None:
    """The groups of arrays that the dispatcher recognises, of a kernel with `visible` parameters beside hidden ones.
    None where offsets are hidden arguments, too."""
    found: list[Group] = []
    for shared in sharing:
        if shared.offsets is None:
            continue
        numbers: list[int] = []
        for member, offsets in zip(shared.members, shared.offsets, strict=True):
            known = [offset for offset in offsets if offset is not None]
            if len(known) < len(offsets):
                return None
            numbers += [member, *known]
        slot = layout.params[visible + len(found)]
        is_written = not written.isdisjoint(shared.members)
        axes = len(shared.offsets[0])
        found.append((slot, _LAYOUTS[Layout(shared.layout)], is_written, axes, tuple(numbers)))
    return tuple(found)


def flat_values(types: Sequence[ArgType], values: Sequence[object]) -> list[object]:
    """The values of the kernel's parameters, in order: tuples are flattened. A list stands for each of its arrays."""
    out: list[object] = []
    for type_, value in zip(types, values, strict=True):
        if isinstance(type_, TupleArg) and type_.is_records:
            array: Any = np.asarray(value).reshape(-1) if type_.kind is TupleKind.RECORD else value
            out += [array, *(array[name] for name in type_.names)]
        elif isinstance(type_, TupleArg) and type_.kind is not TupleKind.TUPLE:
            out += [value] * len(type_.items)
        elif isinstance(type_, TupleArg):
            assert isinstance(value, tuple)
            out += flat_values(type_.items, value)
        elif not isinstance(type_, NoneArg):
            out.append(value)
    return out


def raise_fault(kernel: Kernel, site: int, words: Sequence[Any], _args: Sequence[object] = ()) -> NoReturn:
    """Raises what the program raised, with the line that raised it."""
    if site == HOST_RAISED:
        raise words[0]
    faults = kernel.interface.faults
    if not 0 <= site < len(faults):
        raise InternalError("runtime", f"a kernel reported the unknown fault {site}")
    raise located_error(faults[site], words)


def invoke(kernel: Kernel, args: Sequence[object], on_fault: OnFault = raise_fault) -> object:
    """Runs a kernel on arguments of its types and returns what the function returns.

    The caller has to check whether arguments overlap. Raises GuardFailure where a guard of the kernel does not hold
    and it has no checked version (nothing was written then), and what `on_fault` raises for a program that raised.
    """
    return _dispatch.invoke(kernel, tuple(args), on_fault)
