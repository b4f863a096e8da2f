"""`ndarray`: an array that may not have been computed yet.

Operations on it are recorded (`recording`), and run when a value is asked for (`running`). Dtype,
shape and errors are known at once: they are NumPy's.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from appyc.lazy import functions, indexing, kernels, recorder, ufuncs
from appyc.lazy.nodes import View
from appyc.lazy.operations import COMPILED_DTYPES, Convert
from appyc.lazy.running import flush
from appyc.lazy.views import Index, Reshape, Transpose, view_of


class ndarray(View):  # noqa: N801  (NumPy's name)
    """An n-dimensional array whose operations run later, together.

    Made by the functions of `appyc.numpy`. Shapes, dtypes, broadcasting, views and errors are
    those of `numpy.ndarray`. A value is computed when it is looked at: by `print`, `float`,
    `bool`, `item`, `tolist`, iteration over elements, or by another library.
    """

    __slots__ = ()

    __array_priority__ = 100.0

    # ------------------------------------------------------------ what NumPy's arrays have

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        return self.ghost().strides

    @property
    def flags(self) -> Any:
        return self.ghost().flags

    @property
    def T(self) -> ndarray:  # noqa: N802
        return self.transpose()

    @property
    def real(self) -> ndarray:
        return self if self.dtype.kind != "c" else recorder.evaluated(np.real, (self,), {})

    @property
    def imag(self) -> Any:
        return recorder.evaluated(np.imag, (self,), {})

    @property
    def flat(self) -> Any:
        return self.numpy().flat

    @property
    def base(self) -> ndarray | None:
        return ndarray(self.buffer, (), self.buffer.shape, self.dtype) if self.path else None

    def ghost(self) -> np.ndarray:
        """An array with this one's shape, dtype and strides. What is in it need not be computed yet."""
        if self._ghost is None:
            self._ghost = view_of(self.buffer.ghost(), self.path)
        return self._ghost

    # ------------------------------------------------------------ values

    def computed(self) -> np.ndarray:
        """NumPy's view of the memory, computed by now. For appyc itself: it may be written."""
        if self.buffer.memory is None or recorder.is_awaited(self.buffer):
            flush((self.buffer,))
        assert self.buffer.memory is not None
        return view_of(self.buffer.memory, self.path)

    def numpy(self) -> np.ndarray:
        """The values, in a NumPy array of their own."""
        return self.computed().copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """For other libraries: a read-only view, through which later changes are seen."""
        found = self.computed()
        if copy or (dtype is not None and np.dtype(dtype) != self.dtype):
            return np.array(found, dtype)
        self.buffer.lent = True
        found = found.view()
        found.flags.writeable = False
        return found

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        return ufuncs.apply_ufunc(ufunc, method, inputs, keywords)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, keywords: Any) -> Any:
        return functions.call(func, args, keywords)

    def __appyc_call__(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A call of a jitted function with this array among its arguments."""
        return kernels.call(function, args, keywords)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return importlib.import_module("appyc.numpy")  # which imports this module

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.computed().copy().__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def item(self, *args: int) -> Any:
        return self.computed().item(*args)

    def tolist(self) -> Any:
        return self.computed().tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        return self.computed().tobytes(order)

    def __float__(self) -> float:
        return float(self.computed())

    def __int__(self) -> int:
        return int(self.computed())

    def __complex__(self) -> complex:
        return complex(self.computed())

    def __index__(self) -> int:
        return operator.index(self.computed())

    def __bool__(self) -> bool:
        return bool(self.computed())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        if len(self.shape) == 1:
            return iter(self.numpy())
        return (self[k] for k in range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool(ufuncs.binary(np.equal, self, value).any())

    def __repr__(self) -> str:
        return repr(self.computed()) if self.shape else repr(self.computed()[()])

    def __str__(self) -> str:
        return str(self.computed())

    def __format__(self, spec: str) -> str:
        return format(self.computed()[()] if not self.shape else self.computed(), spec)

    def __reduce__(self) -> Any:
        return recorder.array, (self.numpy(),)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    __hash__ = None  # type: ignore[assignment]

    # ------------------------------------------------------------ views

    def view_with(self, step: Index | Transpose | Reshape) -> ndarray:
        """The view after one more step. Raises NumPy's errors."""
        path = (*self.path, step)
        ghost = view_of(self.ghost(), (step,))
        out = ndarray(self.buffer, path, ghost.shape, self.dtype)
        out._ghost = ghost
        return out

    def __getitem__(self, key: Any) -> Any:
        if type(key) is int and len(self.shape) > 1 and -self.shape[0] <= key < self.shape[0]:
            # A row, without the generality below: it is what loops over an array do most.
            row = Index((indexing.near_index(key, self.shape[0]),))
            return ndarray(self.buffer, (*self.path, row), self.shape[1:], self.dtype)
        if self.buffer.is_number:
            return recorder.wrapped(self.computed()[()][key])
        items = indexing.basic_index(key, self.shape)
        if items is None:
            return indexing.fancy_load(self, key)
        if items == ():
            return self
        found = self.view_with(Index(items))
        if found.shape or Ellipsis in (key if isinstance(key, tuple) else (key,)):
            return found
        return recorder.record(Convert(self.dtype), (found,), (), self.dtype)  # a number, with today's value

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.buffer.is_number:
            raise TypeError(f"'numpy.{self.dtype}' object does not support item assignment")
        items = indexing.basic_index(key, self.shape)
        if items is None:
            indexing.fancy_store(self, key, value)
        else:
            ufuncs.store(self.view_with(Index(items)) if items else self, value)

    def transpose(self, *axes: Any) -> ndarray:
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        if order is None or order == ():
            order = tuple(reversed(range(self.ndim)))
        rank = self.ndim
        self.ghost().transpose(order)  # raises NumPy's error for wrong axes
        return self if rank < 2 else self.view_with(Transpose(tuple(a % rank for a in order)))

    def swapaxes(self, one: int, two: int) -> ndarray:
        self.ghost().swapaxes(one, two)  # raises NumPy's error for wrong axes
        axes = list(range(self.ndim))
        axes[one], axes[two] = axes[two], axes[one]
        return self.transpose(tuple(axes))

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
        given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if order != "C":
            return recorder.evaluated(np.reshape, (self, given), {"order": order})
        whole = indexing.resolved_shape(self.shape, given)
        if whole == self.shape:
            return self
        source = self.copy() if copy or not self.ghost().flags.c_contiguous else self
        return source.view_with(Reshape(whole))

    def ravel(self, order: str = "C") -> Any:
        return self.reshape(-1, order=order)

    def flatten(self, order: str = "C") -> Any:
        return self.copy().reshape(-1, order=order)

    def squeeze(self, axis: Any = None) -> Any:
        shape = self.ghost().squeeze(axis).shape
        if axis is None:
            chosen = [k for k, e in enumerate(self.shape) if e == 1]
        else:
            chosen = [a % self.ndim for a in (axis if isinstance(axis, tuple) else (axis,))]
        if shape == self.shape:
            return self
        return self[tuple(0 if k in chosen else slice(None) for k in range(self.ndim))]

    # ------------------------------------------------------------ copies

    def copy(self, order: str = "C") -> Any:
        return self.astype(self.dtype)

    def astype(self, dtype: Any, order: str = "K", casting: Any = "unsafe", subok: bool = True,
               copy: bool = True) -> Any:  # fmt: skip
        wanted = np.dtype(dtype)
        if wanted == self.dtype and not copy:
            return self
        if wanted not in COMPILED_DTYPES or self.dtype not in COMPILED_DTYPES:
            return recorder.wrapped(self.computed().astype(wanted, casting=casting))
        if not np.can_cast(self.dtype, wanted, casting):
            np.empty(0, self.dtype).astype(wanted, casting=casting)  # NumPy's own error
        return recorder.record(Convert(wanted), (self,), self.shape, wanted)

    def fill(self, value: Any) -> None:
        ufuncs.store(self, value)

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **keywords: Any) -> Any:
        return functions.call(
            np.clip, (self, min, max), {"out": out, **keywords} if out is not None else keywords
        )

    def conj(self) -> Any:
        return ufuncs.apply_ufunc(np.conjugate, "__call__", (self,), {})

    conjugate = conj

    def dot(self, other: Any, out: Any = None) -> Any:
        return functions.call(np.dot, (self, other), {} if out is None else {"out": out})

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        recorder.changing(self, lambda memory: memory.sort(axis, kind, order))

    def put(self, indices: Any, values: Any, mode: Any = "raise") -> None:
        recorder.changing(
            self, lambda memory: memory.put(recorder.plain(indices), recorder.plain(values), mode)
        )

    def __getattr__(self, name: str) -> Any:
        """A method of NumPy's arrays that is not recorded: on computed values."""
        function = getattr(np.ndarray, name, None)
        if function is None or name.startswith("_"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
        if not callable(function):
            return getattr(self.computed(), name)
        return lambda *args, **keywords: recorder.evaluated(function, (self, *args), keywords)


def _reduction(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def method(self: ndarray, axis: Any = None, **keywords: Any) -> Any:
        return functions.call(function, (self, axis), keywords)

    method.__name__ = name
    return method


def _binary(ufunc: np.ufunc) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    def forward(self: ndarray, other: Any) -> Any:
        return ufuncs.binary(ufunc, self, other)

    def backward(self: ndarray, other: Any) -> Any:
        return ufuncs.binary(ufunc, other, self)

    def in_place(self: ndarray, other: Any) -> Any:
        if self.buffer.is_number:
            return ufuncs.binary(ufunc, self, other)
        ufuncs.update(ufunc, self, other)
        return self

    return forward, backward, in_place


def _unary(ufunc: np.ufunc) -> Callable[..., Any]:
    def method(self: ndarray) -> Any:
        return ufuncs.apply_ufunc(ufunc, "__call__", (self,), {})

    return method


for _name in (
    "sum",
    "prod",
    "mean",
    "min",
    "max",
    "any",
    "all",
    "var",
    "std",
    "argmin",
    "argmax",
    "cumsum",
    "cumprod",
):
    setattr(ndarray, _name, _reduction(_name))
for _name, _ufunc in {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "matmul": np.matmul, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}.items():  # fmt: skip
    _forward, _backward, _in_place = _binary(_ufunc)
    setattr(ndarray, f"__{_name}__", _forward)
    setattr(ndarray, f"__r{_name}__", _backward)
    setattr(ndarray, f"__i{_name}__", _in_place)
for _name, _ufunc in {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
}.items():  # fmt: skip
    setattr(ndarray, f"__{_name}__", _binary(_ufunc)[0])
for _name, _ufunc in {
    "neg": np.negative,
    "pos": np.positive,
    "abs": np.absolute,
    "invert": np.invert,
}.items():
    setattr(ndarray, f"__{_name}__", _unary(_ufunc))
