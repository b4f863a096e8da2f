"""The IR of a recording: buffers, views of them, and statements.

A `Buffer` is the memory of one array; views of it share the buffer. A `Statement` makes a buffer,
or stores into part of one. Statements hold what they read, and only a weak reference to what
they write.

Each operation makes one of each kind. `_nodes.c` does that in a tenth of the time; the classes and
functions here are the fallback where it was not built.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from types import CodeType, FrameType, MethodType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from appyc.lazy.extension import EXTENSION
from appyc.lazy.operations import Operation
from appyc.lazy.views import Path, Transpose, view_of

Scalar: TypeAlias = bool | int | float | complex | np.generic

Site: TypeAlias = tuple[CodeType, int, int]
"""A recording site: code, the instruction in it, and a hash of the call stack. The line is looked up on demand."""

CALLERS = 8
"""The number of stack frames that distinguish calling contexts of a site."""


class PythonBuffer:
    """The memory of an array and its views.

    memory: None until it is computed. is_number: NumPy has a scalar here, not an array without axes: it
    is immutable. lent: other libraries have views of the memory, which must show stores at once.
    is_watched: its reads are tracked (`dead_results`). ghost: of `ghost_of`.
    """

    __slots__ = ("__weakref__", "dtype", "ghost", "is_number", "is_watched", "lent", "memory", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, memory: np.ndarray | None = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.memory = memory
        self.ghost: np.ndarray | None = None
        self.is_number = self.lent = self.is_watched = False

    @property
    def nbytes(self) -> int:
        size = self.dtype.itemsize
        for extent in self.shape:
            size *= extent
        return size


class PythonView:
    """A view of a buffer: what arrays are. path: the steps from the buffer's whole array to it.

    is_straight: whether its axes are in memory order, so that those of results are too.
    """

    __slots__ = ("__weakref__", "_ghost", "buffer", "dtype", "is_straight", "path", "shape")

    def __new__(cls, buffer: Buffer, path: Path, shape: tuple[int, ...], dtype: np.dtype, /) -> Self:
        self = super().__new__(cls)
        self._set(buffer, path, shape, dtype)
        return self

    def _set(self, buffer: Buffer, path: Path, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.buffer = buffer
        self.path = path
        self.shape = shape
        self.dtype = dtype
        self.is_straight = True
        self._ghost: np.ndarray | None = None

    def _become(self, other: PythonView) -> None:
        """Becomes the other view: buffer, path, shape and dtype. No statement may have this one as an operand."""
        for name in ("buffer", "path", "shape", "dtype", "is_straight", "_ghost"):
            object.__setattr__(self, name, getattr(other, name))

    def __getitem__(self, key: Any) -> Any:
        return self._at(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._put(key, value)

    def _at(self, key: Any) -> Any:
        """`self[key]`, where the extension does not handle it. The class of arrays overrides it."""
        raise NotImplementedError

    def _put(self, key: Any, value: Any) -> None:
        """A store by an index."""
        raise NotImplementedError


class PythonStatement:
    """One recorded operation.

    path: to the view of the target that it stores into; None where it makes the target. shape: of the
    computed value, which a store broadcasts to that view. site: where it was recorded.
    """

    __slots__ = ("operands", "operation", "path", "shape", "site", "target")

    def __init__(
        self,
        operation: Operation,
        operands: tuple[Operand, ...],
        target: Buffer,
        path: Path | None,
        shape: tuple[int, ...],
        site: Site,
    ) -> None:
        self.operation = operation
        self.operands = operands
        self.target = weakref.ref(target)
        self.path = path
        self.shape = shape
        self.site = site

    @property
    def stores(self) -> bool:
        """Whether it stores into an existing buffer."""
        return self.path is not None

    def stored(self) -> tuple[Buffer, ...]:
        """The buffers that it stores into."""
        return self.writes() if self.path is not None else ()

    def makes(self) -> tuple[Buffer, ...]:
        """The buffers that it makes."""
        return self.writes() if self.path is None else ()

    def writes(self) -> tuple[Buffer, ...]:
        """The buffers that it stores into or makes; none once they are unreachable."""
        target = self.target()
        return () if target is None else (target,)

    def reads(self) -> list[Buffer]:
        """The buffers that its operands are views of, without its own target."""
        return buffers_of(self.operands)


@dataclass(frozen=True, slots=True)
class PythonOwn:
    """An operand that is a view of the statement's own target, which must not keep that alive."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype


class PythonTally:
    """The statements that have not run, and how many there may be; `Recording` fills it.

    busy: statements are being taken out. running: not all statements taken out have run. folder: of files that are
    skipped in search of a recording site. few: with fewer statements, none of them is due. nbytes: an upper bound on
    the bytes of results. at_once: maximum elements of arrays whose operations run eagerly. is_learning: a cached
    function wants to know, in `done`, what its call did eagerly: operation, operands, shape, result or target.
    errors: NumPy's variable for floating-point error handling (`np.errstate`). usual: its value, if nothing raises.
    """

    statements: list[Any]
    left: list[Any]
    folder: str
    done: tuple[Any, ...] | None
    nbytes: int
    most_bytes: int
    few: int
    most_statements: int
    at_once: int
    busy: bool
    running: bool
    errors: ContextVar[Any]
    usual: object
    is_learning = False


class PythonRun:
    """The state by which a run of calls is recognised; base of the class of recorded calls.

    last: operands of the last call. moves: the increments of indices from call to call. always_waits: calls of the
    function are always recorded.
    """

    __slots__ = ("always_waits", "count", "function", "last", "moves")

    function: object
    last: tuple[Any, ...]
    moves: tuple[Any, ...]
    count: int
    always_waits: bool


class PythonKnown:
    """A function that records its calls; the version in C caches what calls record, by their types and shapes.

    operands: the number of leading arguments that are operands, whose types and shapes are in the cache's key; of
    other arguments, the values are. what: whether a call "makes" an array (or stores it into `out=`), "updates" the
    first operand, or "stores" into an argument before the operands. swapped: operands are in reverse order.
    by_value: the key has the values of numbers. plain: NumPy's function, called where all operands are numbers.
    backup: called instead of `slowly` with arguments that make no key. direct: NumPy's function for small, computed
    arrays, if it is elementwise or a product.
    """

    def __init__(self, slowly: Callable[..., Any], tally: Tally, array_type: type[Any], number_type: type[Any],
                 operands: int, *, what: str = "makes", swapped: bool = False, by_value: bool = False,
                 plain: Callable[..., Any] | None = None, backup: Callable[..., Any] | None = None,
                 direct: Callable[..., Any] | None = None, product: bool = False) -> None:  # fmt: skip
        self.slowly = slowly

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.slowly(*args, **keywords)


class PythonPlain:
    """A function that NumPy runs on computed values (`evaluation.evaluated`). The version in C has a fast path for
    calls whose arrays are small and computed (`at_once`), and whose other arguments are simple.

    finished: converts a result of NumPy's that is neither a number nor a new array, given the arguments of the call.
    """

    def __init__(self, of: Callable[..., Any], slowly: Callable[..., Any],
                 finished: Callable[[Any, tuple[Any, ...]], Any], tally: Tally,
                 array_type: type[Any]) -> None:  # fmt: skip
        self.slowly = slowly

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.slowly(*args, **keywords)


class PythonKnownMethod(PythonKnown):
    """One that binds as a method where it is an attribute of a class."""

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self if instance is None else MethodType(self, instance)


def _caller(folder: str) -> Site:
    """The site of the innermost frame whose file is not below the folder."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(folder) and frame.f_back is not None:
        frame = frame.f_back
    way: list[int] = []
    at: FrameType | None = frame
    while at is not None and len(way) < 2 * CALLERS:
        way += [id(at.f_code), at.f_lasti]
        at = at.f_back
    return frame.f_code, frame.f_lasti, hash(tuple(way))


def _made(
    type_: type[Any],
    statements: list[Any],
    operation: Operation,
    operands: tuple[Operand, ...],
    shape: tuple[int, ...],
    dtype: np.dtype,
    site: Site,
    is_number: bool,
) -> Any:
    """A new array, and the statement that makes it, which is appended."""
    buffer = Buffer(shape, dtype)
    buffer.is_number = is_number
    statements.append(Statement(operation, operands, buffer, None, shape, site))
    return type_(buffer, (), shape, dtype)


def _settled(tally: Tally, view: View, to_write: bool) -> np.ndarray | None:
    """NumPy's view of the array's memory, if no pending statement writes it and, with `to_write`, none reads it. None
    where something must run first."""
    buffer = view.buffer
    memory = buffer.memory
    if type(memory) is not np.ndarray or buffer.is_watched:
        return None
    if tally.busy or tally.running:
        return None
    for statement in (*tally.statements, *tally.left) if to_write else tally.statements:
        if any(b is buffer for b in statement.writes()):
            return None
        if to_write and any(b is buffer for b in statement.reads()):
            return None
    return view_of(memory, view.path)


def _indexed(view: View, key: object) -> View | None:
    """The view by a basic index; None where the fast path does not apply: without the extension, always."""
    return None


def _turned(view: View, step: Transpose) -> View | None:
    """The view with its axes reversed; None where the fast path does not apply: without the extension,
    always."""
    return None


def _parted(
    statements: list[Any], needed: set[Buffer], changed: set[Buffer]
) -> tuple[list[Any], list[Any]] | None:
    """`recording.parted` of statements without calls; None where there are any, and without the extension, always."""
    return None


def _held_alone(statements: list[Any]) -> int:
    """Bytes of computed arrays that only these statements keep alive. Without the extension, 0."""
    return 0


def _goes_on(tally: Tally, waiting: ContextVar[bool], function: object, /, *operands: object) -> bool:
    """Whether a call continues the run that was recorded last, to which it is then added. False where the fast path
    does not apply: without the extension, always."""
    return False


def _add_lines(
    lines: list[Any], sites: list[Site], buffers: list[Any], inputs: list[Buffer], scalars: list[Any],
    numbers: dict[Buffer, int], stretching: tuple[type[Any], ...], picking: tuple[type[Any], ...], created: type[Any],
    statements: list[Any], at: int,
) -> tuple[int, int]:  # fmt: skip
    """Adds lines of `gathering` for plain statements from an index on. Returns the index where they end, and the number
    of elements they compute or read. Without the extension, none."""
    return at, 0


if TYPE_CHECKING:
    from appyc.lazy._nodes import Buffer as Buffer  # noqa: PLC0414  (re-exported, for mypy)
    from appyc.lazy._nodes import Known as Known  # noqa: PLC0414
    from appyc.lazy._nodes import KnownMethod as KnownMethod  # noqa: PLC0414
    from appyc.lazy._nodes import Own as Own  # noqa: PLC0414
    from appyc.lazy._nodes import Plain as Plain  # noqa: PLC0414
    from appyc.lazy._nodes import Run as Run  # noqa: PLC0414
    from appyc.lazy._nodes import Statement as Statement  # noqa: PLC0414
    from appyc.lazy._nodes import Tally as Tally  # noqa: PLC0414
    from appyc.lazy._nodes import View as View  # noqa: PLC0414
    from appyc.lazy._nodes import add_lines as add_lines  # noqa: PLC0414
    from appyc.lazy._nodes import caller as caller  # noqa: PLC0414
    from appyc.lazy._nodes import goes_on as goes_on  # noqa: PLC0414
    from appyc.lazy._nodes import held_alone as held_alone  # noqa: PLC0414
    from appyc.lazy._nodes import indexed as indexed  # noqa: PLC0414
    from appyc.lazy._nodes import made as made  # noqa: PLC0414
    from appyc.lazy._nodes import parted as parted  # noqa: PLC0414
    from appyc.lazy._nodes import settled as settled  # noqa: PLC0414
    from appyc.lazy._nodes import turned as turned  # noqa: PLC0414
elif EXTENSION is not None:
    Buffer, View, Own, Statement = EXTENSION.Buffer, EXTENSION.View, EXTENSION.Own, EXTENSION.Statement
    Tally, Known, KnownMethod = EXTENSION.Tally, EXTENSION.Known, EXTENSION.KnownMethod
    Plain = EXTENSION.Plain
    caller, indexed, made, turned = EXTENSION.caller, EXTENSION.indexed, EXTENSION.made, EXTENSION.turned
    settled, parted, add_lines = EXTENSION.settled, EXTENSION.parted, EXTENSION.add_lines
    held_alone, goes_on, Run = EXTENSION.held_alone, EXTENSION.goes_on, EXTENSION.Run
else:
    Buffer, View, Own, Statement = PythonBuffer, PythonView, PythonOwn, PythonStatement
    Tally, Known, KnownMethod, Plain = PythonTally, PythonKnown, PythonKnownMethod, PythonPlain
    caller, indexed, made, turned, settled = _caller, _indexed, _made, _turned, _settled
    parted, add_lines, held_alone, goes_on, Run = _parted, _add_lines, _held_alone, _goes_on, PythonRun


Operand: TypeAlias = View | Own | Scalar


def ghost_of(buffer: Buffer) -> np.ndarray:
    """An uninitialised stand-in for the array to come: address space, without memory until it is written."""
    if buffer.ghost is None:  # one per buffer, since views of it are identified by their addresses
        if isinstance(buffer.memory, np.ndarray):
            return buffer.memory
        buffer.ghost = np.empty(buffer.shape, buffer.dtype)
    return buffer.ghost


def buffers_of(operands: Iterable[Operand]) -> list[Buffer]:
    """The buffers of the array operands, without the statement's own target."""
    return [operand.buffer for operand in operands if isinstance(operand, View)]
