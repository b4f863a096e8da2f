"""Runs generated kernels in Triton's interpreter, in place on NumPy arrays.

The interpreter patches `triton.language` while a kernel runs; here that is done once for a
whole program, and kernels are called with arguments of exactly the types that their
signature names. Works in a process that also compiles kernels; one program runs at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from appyc.runtime.dispatch import GuardFailure
from appyc.runtime.faults import fault_words, located_error, raise_recorded
from appyc.runtime.gpu_products import multiply
from appyc.runtime.kernel_variants import KernelArguments, Variant, choose_lanes
from appyc.runtime.triton_libdevice import Libdevice
from appyc.runtime.triton_source import HostScalars, load_source, plain_functions
from appyc.triton_gen.triton_module import TritonProgram

Compiled: TypeAlias = Callable[[Sequence[Any]], list[Any]]

_NUMPY_TYPES = {
    "i1": "bool", "fp16": "float16", "fp32": "float32", "fp64": "float64",
    **{f"i{b}": f"int{b}" for b in (8, 16, 32, 64)}, **{f"u{b}": f"uint{b}" for b in (8, 16, 32, 64)},
}  # fmt: skip

_PATCHED = threading.Lock()
"""Held while `triton.language` means the interpreter's functions, which is process-wide."""


def interpret(program: TritonProgram) -> Compiled:
    """The program as a function of its arguments' list; arrays are changed in place."""
    kernels, scalars = InterpretedKernels(program), HostScalars(program.params)

    def run(args: Sequence[Any]) -> list[Any]:
        values = scalars.converted(args)
        device = _InterpreterDevice(program, kernels)
        with kernels.running():
            results: list[Any] = kernels.host(device, *values)
        return results

    return run


class InterpretedKernels:
    """A program's kernels as Python functions, on memory of the host.

    texts: each kernel's text by its name. host: the host's part, as it is.
    """

    def __init__(self, program: TritonProgram) -> None:
        self._functions = plain_functions(load_source(program), {"libdevice": Libdevice()})
        self.host: Callable[..., list[Any]] = self._functions["host"]
        self.texts = {text.name: text for text in program.kernels}
        self.arguments = {text.name: KernelArguments(text) for text in program.kernels}

    @contextmanager
    def running(self) -> Iterator[None]:
        """While kernels are launched."""
        with _interpreted(self._functions), np.errstate(all="ignore"):
            yield

    def launch(self, name: str, programs: int, variant: Variant, values: Sequence[Any]) -> None:
        """Runs the programs in order. values: numbers, and addresses for arrays."""
        import triton.language as tl  # noqa: PLC0415
        from triton.runtime.interpreter import interpreter_builder  # noqa: PLC0415

        text, function = self.texts[name], self._functions[name]
        tensors = [_tensor(p.type, v) for p, v in zip(text.params, values, strict=True)]
        interpreter_builder.set_grid_dim(programs, 1, 1)
        for number in range(programs):
            interpreter_builder.set_grid_idx(number, 0, 0)
            function(
                *tensors, variant.lanes, *((tl.int32 if variant.narrow else tl.int64,) if text.scale else ())
            )


class _InterpreterDevice:
    """The device interface of a host function, on the interpreter and NumPy."""

    def __init__(self, program: TritonProgram, kernels: InterpretedKernels) -> None:
        self.sites = program.sites
        self.kernels = kernels
        self.faults = np.zeros(fault_words(program.sites), np.int64)

    def lanes(self, name: str, rows: int, count: int) -> int:
        return choose_lanes(self.kernels.texts[name], rows, count, 0)

    def launch(self, name: str, programs: int, lanes: int, *args: Any) -> None:
        variant, values = self.kernels.arguments[name].variant(lanes, args)
        self.kernels.launch(name, int(programs), variant, values)

    def steps(self, steps: range) -> range:
        return steps

    def recorded(self, number: int) -> range:
        return range(1)

    def array(self, shape: tuple[int, ...], dtype: str, zero: bool) -> NDArray[Any]:
        return np.zeros(shape, dtype) if zero else np.empty(shape, dtype)

    def resized(self, array: NDArray[Any], shape: tuple[int, ...], kept: int) -> NDArray[Any]:
        wider = self.array(shape, array.dtype.name, False)
        wider[:kept] = array[:kept]
        return wider

    def read(self, cell: NDArray[Any]) -> Any:
        return cell[0]

    def multiply(self, *product: Any, **more: Any) -> None:
        multiply(np, self.launch, 0, *product, **more)

    def require(self, holds: bool, reason: str) -> None:
        if not holds:
            raise GuardFailure(reason)

    def fail(self, site: int, *words: int) -> None:
        raise located_error(self.sites[site], words)

    def check(self) -> None:
        raise_recorded(self.sites, self.faults)


def _tensor(type_: str, value: Any) -> Any:
    """A kernel's argument: an array's address, or a number of the type that the signature says."""
    import triton.language as tl  # noqa: PLC0415
    from triton.runtime.interpreter import TensorHandle  # noqa: PLC0415

    dtype = tl.str_to_ty(type_, None)
    data = np.array([value]).astype(np.uint64 if type_.startswith("*") else _NUMPY_TYPES[type_])
    return tl.tensor(TensorHandle(data, dtype), dtype)


@contextmanager
def _interpreted(functions: dict[str, Any]) -> Iterator[None]:
    """`triton.language` as the interpreter's, with what it lacks."""
    from triton.runtime import interpreter  # noqa: PLC0415

    with _PATCHED:
        marker = functions["host"]  # any function whose globals hold `tl`
        options = interpreter.interpreter_builder.options
        scope = interpreter._patch_lang(marker)
        try:
            # NumPy 2.4 made int() of an array with one element an error.
            tensor = functions["tl"].tensor
            scope.set_attr(tensor, "__index__", _to_int)
            scope.set_attr(tensor, "__int__", _to_int)
            for module in (functions["tl"], functions["tl"].core):
                scope.set_attr(module, "reduce", _reduce)
                scope.set_attr(module, "associative_scan", _scan)
            scope.set_attr(interpreter.interpreter_builder, "create_splat", _splat)
            scope.set_attr(interpreter, "_get_np_dtype", _remembered(interpreter._get_np_dtype))
            # Integers wrap, as NumPy's do; the interpreter would test each result.
            interpreter.interpreter_builder.options = interpreter.InterpreterOptions(sanitize_overflow=False)
            yield
        finally:
            interpreter.interpreter_builder.options = options
            scope.restore()


def _to_int(tensor: Any) -> int:
    return int(tensor.handle.data.item())


def _remembered(numpy_type: Callable[[Any], np.dtype[Any]]) -> Callable[[Any], np.dtype[Any]]:
    """The function with its results kept by scalar type. Triton's own makes a table of all types at each call."""
    known: dict[str, np.dtype[Any]] = {}

    def remembered(type_: Any) -> np.dtype[Any]:
        name = type_.scalar.name
        if name not in known:
            known[name] = numpy_type(type_)
        return known[name]

    return remembered


def _splat(type_: Any, value: Any) -> Any:
    """A block full of one value. Triton's own makes the result of comparing floats floats again."""
    from triton.runtime.interpreter import TensorHandle  # noqa: PLC0415

    return TensorHandle(np.full(type_.shape, value.data, value.data.dtype), value.dtype.scalar)


def _reduce(value: Any, axis: int | None, combine: Callable[[Any, Any], Any], keep_dims: bool = False) -> Any:
    """`tl.reduce` along an axis of a block, or all of it, by halves; Triton's own takes one element at a time."""
    import triton.language as tl  # noqa: PLC0415
    from triton.runtime.interpreter import TensorHandle  # noqa: PLC0415

    def block(data: NDArray[Any]) -> Any:
        return tl.tensor(TensorHandle(data, value.dtype), tl.block_type(value.dtype, list(data.shape)))

    data = value.handle.data.ravel() if axis is None else np.moveaxis(value.handle.data, axis, 0)
    while len(data) > 1:
        half = len(data) // 2
        data = combine(block(data[:half]), block(data[half:])).handle.data
    if axis is not None and keep_dims:
        return block(np.moveaxis(data, 0, axis).copy())
    if data.ndim > 1:
        return block(data[0].copy())
    return tl.tensor(TensorHandle(data.copy(), value.dtype), value.dtype)


def _scan(value: Any, axis: int, combine: Callable[..., Any], **_: Any) -> Any:
    """`tl.associative_scan` along an axis of a block, or of several, by doubling distances."""
    import triton.language as tl  # noqa: PLC0415
    from triton.runtime.interpreter import TensorHandle  # noqa: PLC0415

    given = value if isinstance(value, tuple) else (value,)

    def blocks(parts: list[NDArray[Any]]) -> list[Any]:
        types = [tl.block_type(v.dtype, list(p.shape)) for v, p in zip(given, parts, strict=True)]
        handles = [TensorHandle(p, v.dtype) for v, p in zip(given, parts, strict=True)]
        return [tl.tensor(handle, type_) for handle, type_ in zip(handles, types, strict=True)]

    parts = [np.moveaxis(v.handle.data, axis, 0) for v in given]
    distance = 1
    while distance < len(parts[0]):
        # Blocks have a power of two as their size: the first few are combined with anything.
        earlier = [np.concatenate((p[:distance], p[:-distance])) for p in parts]
        new = combine(*blocks(earlier), *blocks(parts))
        new = new if isinstance(new, tuple) else (new,)
        parts = [
            np.concatenate((p[:distance], n.handle.data[distance:])) for p, n in zip(parts, new, strict=True)
        ]
        distance *= 2
    results = blocks([np.moveaxis(p, 0, axis).copy() for p in parts])
    return tuple(results) if isinstance(value, tuple) else results[0]
