"""The operations that are recorded, and what they make: dtype and shape, without computing anything.

Each is what NumPy says it is: dtypes come from the ufuncs themselves, and a call that NumPy
refuses is made with NumPy, so that the error is its own.

Equal operations are one object: programs are found by them (`programs`), and identity is what
is hashed and compared fastest.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

COMPILED_DTYPES = frozenset(
    np.dtype(c) for c in ("?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d", "F", "D")
)
"""Element types that compiled code has. Arrays of others are NumPy's business."""


class Shared(type):
    """The class of classes whose equal instances are one object, as long as they are in use."""

    @functools.lru_cache(maxsize=1 << 14, typed=True)  # noqa: B019  (of classes; `x ** 2` is not `x ** 2.0`)
    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        return super().__call__(*args, **keywords)


class _Shared(metaclass=Shared):
    """hosted: what no program computes, but NumPy between programs."""

    __slots__ = ()
    hosted = False


@dataclass(frozen=True, eq=False, slots=True)
class Pointwise(_Shared):
    """A function of its operands, element by element: a ufunc, or `np.where`."""

    run: Callable[..., Any]


@dataclass(frozen=True, eq=False, slots=True)
class Power(_Shared):
    """A power whose exponent is a number that is part of the code."""

    exponent: int | float

    def run(self, a: Any) -> Any:
        return a**self.exponent


@dataclass(frozen=True, eq=False, slots=True)
class Create(_Shared):
    """`np.<name>` of extents, and for `full` a value, which are its operands."""

    name: str
    dtype: np.dtype

    @property
    def run(self) -> Callable[..., Any]:
        creation: Callable[..., Any] = getattr(np, self.name)
        if self.name == "full":
            return lambda *given: creation(given[:-1], given[-1], self.dtype)
        return lambda *shape: creation(shape, self.dtype)


@dataclass(frozen=True, eq=False, slots=True)
class Convert(_Shared):
    """The operand with another dtype, in memory of its own, where its axes keep their order."""

    dtype: np.dtype

    def run(self, a: Any) -> np.ndarray:
        return np.array(a, self.dtype, order="C")


@dataclass(frozen=True, eq=False, slots=True)
class Copy(_Shared):
    """The operand in memory of its own, in C order. hosted: of a view that only NumPy knows."""

    hosted: bool = False

    def run(self, a: np.ndarray) -> np.ndarray:
        return np.array(a, order="C")


@dataclass(frozen=True, eq=False, slots=True)
class Gather(_Shared):
    """`operand[i, j, ...]` with arrays of indices, which are the other operands."""

    def run(self, a: np.ndarray, *indices: np.ndarray) -> Any:
        return a[indices]


@dataclass(frozen=True, eq=False, slots=True)
class Scatter(_Shared):
    """`target[i, j, ...] = value`, or `ufunc.at(target, (i, j, ...), value)`. Operands: the value, and the indices."""

    ufunc: np.ufunc | None

    def store(self, target: np.ndarray, value: Any, *indices: np.ndarray) -> None:
        if self.ufunc is None:
            target[indices] = value
        else:
            self.ufunc.at(target, indices, value)

    def run(self, *operands: Any) -> Any:
        raise AssertionError("a store through indices gives nothing")


OPERAND = "operand"
"""The marker in the arguments of `Apply` for the next operand."""


@dataclass(frozen=True, eq=False, slots=True)
class Apply(_Shared):
    """`np.<name>(*args, **keywords)`, with the OPERAND markers replaced by the operands."""

    name: str
    args: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]

    def filled(self, operands: Iterable[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments with these operands."""
        there = iter(operands)

        def fill(value: Any) -> Any:
            if value is OPERAND:
                return next(there)
            return tuple([fill(v) for v in value]) if type(value) is tuple else value

        return [fill(value) for value in self.args], dict(self.keywords)

    def function(self) -> Callable[..., Any]:
        found: Callable[..., Any] = operator.attrgetter(self.name)(np)
        return found

    @property
    def run(self) -> Callable[..., Any]:
        if all(arg is OPERAND for arg in self.args):
            return functools.partial(self.function(), **dict(self.keywords))
        return self._run

    def _run(self, *operands: Any) -> Any:
        args, keywords = self.filled(operands)
        return self.function()(*args, **keywords)


@dataclass(frozen=True, eq=False, slots=True)
class Product(_Shared):
    """`operand @ operand`. hosted: of two matrices, which BLAS computes."""

    hosted: bool

    def run(self, a: np.ndarray, b: np.ndarray) -> Any:
        return a @ b


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a compiled function.

    written: which operands it stores into. results: dtypes of the numbers and arrays it returns. single: it
    returns one of them, not a tuple. shapes: of the results, by the shapes and numbers of the operands; None where
    they are not known before the call.
    """

    function: Callable[..., object]
    written: tuple[int, ...]
    results: tuple[np.dtype, ...]
    single: bool
    shapes: Callable[[Sequence[Any]], tuple[tuple[int, ...], ...] | None] = field(compare=False)
    hosted: ClassVar[bool] = False


Operation = Pointwise | Power | Create | Convert | Copy | Gather | Scatter | Apply | Product | Call


# ---------------------------------------------------------------- dtypes and shapes


def as_dtype(given: Any) -> np.dtype:
    """The dtype that is meant, also by a class such as `numpy.dtypes.Float32DType`."""
    found: np.dtype = np.dtype(given)
    if isinstance(given, type) and issubclass(given, np.dtype):
        found = np.empty(0, given).dtype
    return found


@functools.cache
def ufunc_dtype(ufunc: np.ufunc, *types: np.dtype | type) -> np.dtype | None:
    """The result's dtype. types: of arrays their dtype, of Python's numbers int, float or complex.

    None where NumPy refuses, or the result has several parts.
    """
    if ufunc.nout != 1 or ufunc.nin != len(types):
        return None
    given = tuple(np.dtype(bool) if t is bool else t for t in types)
    try:
        return ufunc.resolve_dtypes((*given, None))[-1]
    except (TypeError, ValueError):
        return None


@functools.lru_cache(maxsize=4096)
def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The common shape; None where there is none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


@functools.lru_cache(maxsize=4096)
def reduced(
    name: str, dtype: np.dtype, rank: int, axis: object, ddof: int
) -> tuple[np.dtype, tuple[int, ...]]:
    """The dtype of a reduction, and its axes. Raises NumPy's errors for a wrong axis or type."""
    small = np.ones((1,) * rank, dtype)
    more = {"ddof": ddof} if name in ("var", "std") and ddof == 0 else {}
    found = np.asarray(getattr(np, name)(small, axis=axis, **more))
    axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return found.dtype, tuple(sorted(a % rank for a in axes)) if rank else ()


def without(shape: Sequence[int], axes: tuple[int, ...], *, keepdims: bool) -> tuple[int, ...]:
    """The shape after a reduction."""
    if keepdims:
        return tuple(1 if k in axes else extent for k, extent in enumerate(shape))
    return tuple(extent for k, extent in enumerate(shape) if k not in axes)


def product_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of `a @ b`; None where they do not fit, or one is a number."""
    if not a or not b:
        return None
    left, right = (1, *a) if len(a) == 1 else a, (*b, 1) if len(b) == 1 else b
    if left[-1] != right[-2]:
        return None
    stack = broadcast(left[:-2], right[:-2])
    if stack is None:
        return None
    return stack + (() if len(a) == 1 else (left[-2],)) + (() if len(b) == 1 else (right[-1],))
