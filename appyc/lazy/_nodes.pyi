from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import ref

import numpy as np

from appyc.lazy.operations import Operation
from appyc.lazy.recorded_nodes import Operand, Site
from appyc.lazy.views import Items, Path

_V = TypeVar("_V", bound="View")

class Buffer:
    shape: tuple[int, ...]
    dtype: np.dtype
    memory: np.ndarray | None
    ghost: np.ndarray | None
    is_number: bool
    lent: bool
    is_watched: bool
    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, memory: np.ndarray | None = None) -> None: ...
    @property
    def nbytes(self) -> int: ...

class View:
    @property
    def buffer(self) -> Any: ...
    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype
    is_straight: bool
    T: Any
    _ghost: np.ndarray | None
    def __init__(
        self, buffer: Buffer | None, path: Path, shape: tuple[int, ...], dtype: np.dtype, /
    ) -> None: ...
    def _become(self, other: View, /) -> None: ...
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, /, *inputs: Any, **keywords: Any) -> Any: ...
    def reshape(self, *shape: Any, order: Any = "C", copy: bool | None = None) -> Any: ...
    def ravel(self, order: Any = "C") -> Any: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...

class Tally:
    statements: list[Any]
    left: list[Any]
    folder: str
    nbytes: int
    most_bytes: int
    few: int
    most_statements: int
    at_once: int
    busy: bool
    running: bool
    errors: ContextVar[Any]
    usual: object

class Run:
    function: object
    last: tuple[Any, ...]
    count: int
    may_go_on: bool
    always_waits: bool
    moved: bytes
    site: Site

class Known:
    slowly: Callable[..., Any]
    @property
    def __appyc_plain__(self) -> Any: ...
    plans: dict[tuple[object, ...], Any]
    def __init__(self, slowly: Callable[..., Any], tally: Tally, /, *args: Any, **more: Any) -> None: ...
    def __call__(self, *args: Any, **keywords: Any) -> Any: ...

class KnownMethod(Known):
    def __get__(self, instance: Any, owner: Any) -> Any: ...

class Statement:
    operation: Operation
    operands: tuple[Operand, ...]
    target: ref[Buffer]
    path: Path | None
    shape: tuple[int, ...]
    site: Site
    def __init__(
        self,
        operation: Operation,
        operands: tuple[Operand, ...],
        target: Buffer,
        path: Path | None,
        shape: tuple[int, ...],
        site: Site,
    ) -> None: ...
    def stored(self) -> tuple[Buffer, ...]: ...
    def makes(self) -> tuple[Buffer, ...]: ...
    def writes(self) -> tuple[Buffer, ...]: ...
    def reads(self) -> list[Buffer]: ...

FORMAT: int
steps: dict[int | str, Any]
known_ufuncs: dict[np.ufunc, Any]
known_fields: dict[tuple[tuple[int, ...], np.dtype, str], tuple[Path, tuple[int, ...], np.dtype]]

def indexed(view: _V, key: object, /) -> _V | None: ...
def basic_items(items: tuple[Any, ...], shape: tuple[int, ...], /) -> Items: ...
def viewed(
    type_: type[_V],
    buffer: Buffer,
    path: Path,
    shape: tuple[int, ...],
    dtype: np.dtype,
    is_straight: bool,
    ghost: np.ndarray | None = None,
    /,
) -> _V: ...
def address(array: np.ndarray, /) -> int: ...
def comes_round(tally: Tally, site: Site, /) -> bool: ...
def settled(tally: Tally, view: View, to_write: bool, /) -> np.ndarray | None: ...
def goes_on(tally: Tally, waiting: ContextVar[bool], function: object, /, *operands: object) -> bool: ...
def caller(folder: str, /) -> Site: ...
def made(
    type_: type[_V],
    statements: list[Any],
    operation: Operation,
    operands: tuple[Operand, ...],
    shape: tuple[int, ...],
    dtype: np.dtype,
    site: Site,
    is_number: bool,
    /,
) -> _V: ...
