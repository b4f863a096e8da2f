"""Generates the host function of a GPU program: Python code that launches its kernels.

It gets `rt`, which launches kernels, makes arrays and brings scalars back (`runtime.triton_device`),
and the arguments: arrays of the device, and scalars of NumPy's types.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from appyc.errors import InternalError
from appyc.ir import gpu_program as gpu
from appyc.ir import nodes as ir
from appyc.ir.expression_printer import constant, is_safe_divisor
from appyc.ir.kernel_scalars import all_statements, free_scalars, head_of, scalars_set
from appyc.ir.names import spellings
from appyc.ir.printer import expression_printer
from appyc.ir.product_call import Matrix
from appyc.ir.schedule import ProductShape
from appyc.ir.text_writers import PythonWriter
from appyc.ir.types import DType
from appyc.ir.visit import symbols_of, walk
from appyc.triton_gen.triton_kernel import KernelText, Param
from appyc.triton_gen.triton_products import tiled_name

_RESERVED = {
    *keyword.kwlist,
    "np",
    "math",
    "rt",
    "recording",
    "apart",
    "indices_of",
    "is_any",
    "ascending",
    "range",
    "min",
    "max",
    "bool",
    "int",
    "float",
    "complex",
}


_EXACT = ("+", "-", "*", "min", "max", "&", "|", "^")


def emit_host(program: gpu.GpuProgram, kernels: dict[str, KernelText]) -> str:
    """The text of `host`."""
    return _HostEmitter(program, kernels).emit()


class _HostEmitter:
    def __init__(self, program: gpu.GpuProgram, kernels: dict[str, KernelText]) -> None:
        self.program, self.kernels = program, kernels
        used = [*program.params, *_host_symbols(program), *symbols_of([*program.results, *program.guards])]
        names = spellings(used, _RESERVED)
        self.name = names.__getitem__
        launched = [stmt.kernel for stmt in all_statements(program.body) if isinstance(stmt, gpu.Launch)]
        sizes = {size for kernel in launched for size in (kernel.chosen, kernel.rows)}
        self.nonzero = {s for s in sizes if s is not None and scalars_set(program.body)[s] == 1}
        self.expr = expression_printer(self.name, self.nonzero)
        self.w = PythonWriter()

    def emit(self) -> str:
        params = ", ".join(["rt", *(self.name(p) for p in self.program.params)])
        with self.w.block(f"def host({params}):"):
            if any(map(self._may_warn, _host_nodes(self.program))):
                with self.w.block('with np.errstate(all="ignore"):'):
                    for p in self.program.params:
                        if not p.is_array and p.dtype is DType.INT64:  # whose arithmetic wraps around
                            self.w.line(f"{self.name(p)} = np.int64({self.name(p)})")
                    self.body()
            else:
                self.body()
        return self.w.text() + "\n"

    def body(self) -> None:
        for guard in self.program.guards:
            self.w.line(f"rt.require({self.expr(guard.holds)}, {guard.reason!r})")
        for symbol in free_scalars(self.program.body):
            if symbol not in self.program.params:
                self.w.line(f"{self.name(symbol)} = {constant(0, symbol.dtype)}")
        for stmt in self.program.body:
            self.stmt(stmt)
        values = [self._result(r.value) for r in self.program.results]
        self.w.line("rt.check()")
        self.w.line(f"return [{', '.join(values)}]")

    def _may_warn(self, node: ir.Node) -> bool:
        """Whether NumPy may warn of an operation: not of integers that are added or multiplied, as long as they fit."""
        match node:
            case ir.Binary(op, _, rhs):
                is_exact = op in _EXACT or (op in ("//", "%") and is_safe_divisor(rhs, self.nonzero))
                return not (node.dtype is DType.INT64 and is_exact)
            case ir.Unary():
                return node.dtype not in (DType.INT64, DType.BOOL)
            case _:
                return isinstance(node, ir.Cast | ir.Intrinsic)

    def _result(self, value: ir.Expr | ir.Symbol) -> str:
        return self.name(value) if isinstance(value, ir.Symbol) else self.expr(value)

    def block(self, head: str, body: tuple[gpu.ScheduledStmt, ...]) -> None:
        with self.w.block(head):
            for stmt in body:
                self.stmt(stmt)

    def stmt(self, s: gpu.ScheduledStmt) -> None:
        match s:
            case ir.Assign(target, value):
                self.w.line(f"{self.name(target)} = {self.expr(value)}")
            case gpu.Loop(var, lo, hi, step, body):
                steps = f"range({self.expr(lo)}, {self.expr(hi)}, {step})"
                self.block(f"for {self.name(var)} in {f'rt.steps({steps})' if s.repeats else steps}:", body)
            case gpu.Repeat(cond, body):
                self.block(f"while {self.expr(cond)}:", body)
            case gpu.Branch(cond, then, orelse):
                self.block(f"if {self.expr(cond)}:", then)
                if orelse:
                    self.block("else:", orelse)
            case ir.Break():
                self.w.line("break")
            case ir.Continue():
                self.w.line("continue")
            case ir.Alloc(array, shape, kept=kept) if kept is not None:
                name = self.name(array)
                self.w.line(f"{name} = rt.resized({name}, {self._tuple(shape)}, {self.expr(kept)})")
            case ir.Alloc(array, shape, zero):
                self.w.line(f'{self.name(array)} = rt.array({self._tuple(shape)}, "{array.dtype}", {zero})')
            case gpu.Recorded(number, body):
                self.block(f"for recording in rt.recorded({number}):", body)
            case gpu.ReadBack(target, cell):
                self.w.line(f"{self.name(target)} = rt.read({self.name(cell)})")
            case gpu.CheckFaults():
                self.w.line("rt.check()")
            case gpu.Fault(site, _, words):
                numbers = ", ".join([str(site), *map(self.expr, words)])
                self.w.line(f"rt.fail({numbers})  # {self.program.sites[site].error}")
            case gpu.Multiply():
                self.w.line(self._multiplied(s))
            case gpu.ChooseLanes(target, kernel, rows, count):
                args = [f'"{kernel}"', self.expr(rows), self.expr(count)]
                self.w.line(f"{self.name(target)} = rt.lanes({', '.join(args)})")
            case gpu.Launch(kernel, programs):
                args = [self._argument(p) for p in self.kernels[kernel.name].params]
                grid = [
                    self.expr(programs),
                    str(kernel.lanes) if kernel.chosen is None else self.name(kernel.chosen),
                ]
                self.w.line(f'rt.launch("{kernel.name}", {", ".join([*grid, *args])})')
            case _:
                raise InternalError("triton_gen", f"{type(s).__name__} on the host")

    def _multiplied(self, s: gpu.Multiply) -> str:
        numbers = ["None" if n is None else self.expr(n) for n in (s.scale, s.keep)]
        call = s.call
        matrices = [self._matrix(m) for m in (call.target, call.left, call.right, *call.exchanged)]
        more = [
            f"{name}={self.expr(n)}" for name, n in (("edge", call.edge), ("count", s.count)) if n is not None
        ]
        if s.shape is ProductShape.FROM:
            more.append("ends=False")
        elif s.shape.of_sums:
            more.append("of_sums=True")
        tiles = [f'("{tiled_name(s.kernel, t)}", {t.rows}, {t.columns})' for t in s.tiles]
        given = [f"[{', '.join(tiles)}]", self._tuple(s.sides), *numbers, *matrices, *more]
        return f"rt.multiply({', '.join(given)})"

    def _matrix(self, m: Matrix) -> str:
        indices = [index for index in (m.first, m.below, m.beside, m.beyond) if index]
        return f"({', '.join([self.name(m.array), *map(self._tuple, indices)])})"

    def _tuple(self, items: tuple[ir.Expr, ...]) -> str:
        return f"({', '.join(map(self.expr, items))}{',' * (len(items) == 1)})"

    def _argument(self, param: Param) -> str:
        if param.symbol is None:
            return "rt.faults"
        name = self.name(param.symbol)
        match param.kind:
            case "n":
                return f"{name}.shape[{param.axis}]"
            case "s":
                return f"{name}.strides[{param.axis}] // {param.symbol.dtype.part.itemsize}"
            case _:
                return name


def _host_nodes(program: gpu.GpuProgram) -> Iterator[ir.Node]:
    """The IR nodes that the host program evaluates."""
    for stmt in all_statements(program.body):
        yield from walk(head_of(stmt))
    yield from walk([*program.guards, *program.results])


def _host_symbols(program: gpu.GpuProgram) -> Iterator[ir.Symbol]:
    """The symbols that the statements of the host know; a kernel's own stay in the kernel."""
    for stmt in all_statements(program.body):
        yield from symbols_of(head_of(stmt))
        match stmt:
            case gpu.Loop(var):
                yield var
            case gpu.Launch(kernel):
                yield from (s for s in symbols_of(kernel.body) if s.is_array)
                yield from free_scalars(kernel.body)
