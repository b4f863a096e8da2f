"""The operations that are recorded, and what they make: dtype and shape, without computing anything.

Each is what NumPy says it is: dtypes come from the ufuncs themselves, and a call that NumPy
refuses is made with NumPy, so that the error is its own.

Equal operations are one object: programs are found by them (`programs`), and identity is what
is hashed and compared fastest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from appyc.api import Effects

COMPILED_DTYPES = frozenset(
    np.dtype(c) for c in ("?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d", "F", "D")
)
"""Element types that compiled code has. Arrays of others are NumPy's business."""


class Shared(type):
    """The class of classes whose equal instances are one object, as long as they are in use."""

    @functools.lru_cache(maxsize=1 << 14, typed=True)  # noqa: B019  (of classes; `x ** 2` is not `x ** 2.0`)
    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        return super().__call__(*args, **keywords)


class Kind(Enum):
    """What the form of a statement depends on. ELEMENTWISE: operands are broadcast. POWER: so is its one operand; the
    exponent is in the text. CREATION: the operands are the extents, and for `full` a value. PICKING: few elements of an
    operand are read or written, by arrays of indices."""

    ELEMENTWISE, POWER, CREATION, PICKING, OTHER = range(5)


@dataclass(frozen=True, eq=False, slots=True)
class Expression(metaclass=Shared):
    """An operation as Python's text, with `{}` for each operand. hosted: no program computes it, but NumPy between
    programs."""

    text: str
    kind: Kind = Kind.OTHER
    hosted: bool = False

    @property
    def run(self) -> Callable[..., Any]:
        return _function(self.text)

    def __str__(self) -> str:
        return self.text.format(*"abcdefgh")


@functools.lru_cache(maxsize=1 << 12)
def _function(text: str) -> Callable[..., Any]:
    """The function of the operands. Its results need not be in C order."""
    names = [f"o{k}" for k in range(text.count("{}"))]
    found: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {text.format(*names)}", {"np": np})
    return found


class Operand(str):
    """The text of an operand, beside constants that are text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


OPERAND = Operand("{}")
"""Stands for the next operand in the arguments of `applied`."""


def applied(name: str, args: Iterable[Any], keywords: Mapping[str, Any] = MappingProxyType({}),
            kind: Kind = Kind.OTHER) -> Expression:  # fmt: skip
    """`np.<name>(*args, **keywords)`."""
    given = [*map(repr, args), *(f"{k}={v!r}" for k, v in keywords.items())]
    return Expression(f"np.{name}({', '.join(given)})", kind)


def pointwise(function: Callable[..., Any]) -> Expression:
    """A function of its operands, element by element: a ufunc, or `np.where`."""
    count = function.nin if isinstance(function, np.ufunc) else 3
    return applied(function.__name__, [OPERAND] * count, kind=Kind.ELEMENTWISE)


def power(exponent: float) -> Expression:
    """A power whose exponent is a number that is part of the code."""
    return Expression(f"{{}} ** {exponent!r}", Kind.POWER)


def create(name: str, dtype: np.dtype, rank: int) -> Expression:
    """`np.<name>` of extents, and for `full` a value, which are its operands."""
    args = [(OPERAND,) * rank, OPERAND][: 1 + (name == "full")]
    return applied(name, args, {"dtype": _type(dtype)}, Kind.CREATION)


def convert(dtype: np.dtype) -> Expression:
    """The operand with another dtype, in memory of its own, where its axes keep their order."""
    return Expression(f"{{}}.astype({_type(dtype)})")


def gather(indices: int) -> Expression:
    """`operand[i, j, ...]` with so many arrays of indices, which are the other operands."""
    return Expression(f"{{}}[{', '.join(['{}'] * indices)}]", Kind.PICKING)


def copied(*, hosted: bool = False) -> Expression:
    """The operand in memory of its own, in C order. hosted: of a view that only NumPy knows."""
    return Expression("{}.copy()", hosted=hosted)


def product(*, hosted: bool) -> Expression:
    """`operand @ operand`. hosted: of two matrices, which BLAS computes."""
    return Expression("{} @ {}", hosted=hosted)


def _type(dtype: np.dtype) -> Operand:
    if dtype.kind in "iufc" and dtype.isnative:
        return Operand(f"np.{dtype.name}")
    return Operand("np.bool_" if dtype.kind == "b" else f"np.dtype({dtype.str!r})")  # text, times, ...


@dataclass(frozen=True, eq=False, slots=True)
class Scatter(metaclass=Shared):
    """`target[i, j, ...] = value`, or `ufunc.at(target, (i, j, ...), value)`. Operands: the value, and the indices."""

    ufunc: np.ufunc | None
    kind: ClassVar[Kind] = Kind.PICKING
    hosted: ClassVar[bool] = False

    def store(self, target: np.ndarray, value: Any, *indices: np.ndarray) -> None:
        if self.ufunc is None:
            target[indices] = value
        else:
            self.ufunc.at(target, indices, value)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a compiled function, with what it writes and returns."""

    function: Callable[..., object]
    effects: Effects
    kind: ClassVar[Kind] = Kind.OTHER
    hosted: ClassVar[bool] = False


Operation = Expression | Scatter | Call


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
