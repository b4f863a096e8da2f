"""C functions for callees that are not inlined, such as recursive ones, and the calls of them.

    static int64_t fib(int64_t *fault, const int64_t depth, const int64_t n)

An array is a pointer with extents and strides. One that the callee may resize is passed by reference: pointers to the
caller's variables, which the callee copies at its start, and writes back at its end.

`depth` is how many activations may follow before RecursionError: no more than Python's limit at the call of the kernel
(in the fault's slot for a value), nor than the stack has room for. A caller tests whether the callee has raised, and
returns then.
"""

from __future__ import annotations

from collections.abc import Callable

from appyc.c_gen.c_function import arguments_for_resized, emit_function, parameters_of_resized
from appyc.c_gen.c_module import FunctionContext, ModuleContext, parameters_of_array
from appyc.c_gen.text.c_expressions import element, expression
from appyc.c_gen.text.c_types import c_type, storage_type
from appyc.ir.invariance import resized_parameters
from appyc.ir.nodes import Alloc, Assign, Call, Const, Fail, Function, Symbol, View
from appyc.ir.raising import can_fault
from appyc.ir.types import Layout
from appyc.ir.visit import walk

MAX_DEPTH = 2_000_000
"""Activations that a stack is made for, if Python's limit allows so many."""

_ACTIVATION, _NODE = 1024, 16
"""Bytes of the stack: of any activation, and of each node of a function."""


def activation_bytes(fn: Function) -> int:
    """An upper bound on the stack that an activation of a callee takes, from the number of its nodes, since
    it has no more variables than that."""
    nodes = [list(walk(callee.function)) for callee in fn.callees]
    arrays = (
        int(extent.value.real) * n.array.dtype.itemsize + 128
        for n in (n for part in nodes for n in part)
        if isinstance(n, Alloc) and n.in_frame
        for extent in n.shape
        if isinstance(extent, Const)
    )
    return _ACTIVATION + _NODE * max(map(len, nodes), default=0) + sum(arrays)


def has_depth(callee: Function) -> bool:
    """Whether a callee may raise, or call others and itself."""
    return can_fault((*callee.body, *callee.results))


def callee_names(module: ModuleContext) -> None:
    """Chooses what the callees are called in C."""
    for callee in module.fn.callees:
        module.callees[callee.function.name] = module.names.fresh(callee.function.name)


def emit_callee(ctx: FunctionContext, fn: Function, library: str, statements: Callable[[], None]) -> None:
    """Writes a callee around what `statements` writes. library: as in `Callee`."""
    module = ctx.module
    parameters = ["int64_t *fault", "const int64_t depth"] if has_depth(fn) else []
    for symbol in fn.params:
        if symbol in ctx.given:
            parameters += parameters_of_resized(ctx, symbol)
        elif symbol.is_array:
            parameters += [
                f"{kind} {text}" for kind, text in parameters_of_array(module, symbol, apart=False)
            ]
        else:
            parameters.append(f"{c_type(symbol.dtype)} {module.names.of(symbol)}")
    [result] = fn.results
    assert not isinstance(result.value, Symbol)
    value = result.value

    def body() -> None:
        if has_depth(fn):
            with ctx.writer.block("if (__builtin_expect(depth <= 0, 0))"):
                ctx.fail(Fail("RecursionError", "maximum recursion depth exceeded", loc=fn.loc).site)
        if library:
            helper = module.helpers.typed(library, fn.params[0].dtype)
            given = ", ".join(module.names.of(symbol) for symbol in fn.params)
            ctx.writer.line(f"if ({helper}({given})) return 0;")
        statements()
        ctx.writer.line(f"result = {expression(ctx, value)};")

    emit_function(ctx, module.callees[fn.name], parameters, body, returns=value.dtype)


def emit_call(ctx: FunctionContext, stmt: Assign, call: Call) -> None:
    """`target = callee(args)`."""
    writer, module = ctx.writer, ctx.module
    callee = next(c.function for c in module.fn.callees if c.function.name == call.callee)
    arguments: list[str] = []
    if has_depth(callee):
        arguments = ["fault", "depth - 1"]
        if not ctx.in_callee:
            left = module.helpers.plain("activations_left")
            arguments = ["fault", f"{left}(fault[1], {activation_bytes(module.fn)})"]
    resized = resized_parameters(callee)
    with writer.block():
        for number, (parameter, arg) in enumerate(zip(callee.params, call.args, strict=True)):
            if isinstance(arg, View) and parameter in resized:
                arguments += arguments_for_resized(ctx, arg.array)
            elif isinstance(arg, View):
                arguments += _array(ctx, parameter, arg, number)
            else:
                writer.line(f"const {c_type(arg.dtype)} argument{number} = {expression(ctx, arg)};")
                arguments.append(f"argument{number}")
        ctx.leave_if_failed()
        writer.line(f"{ctx.name(stmt.target)} = {module.callees[call.callee]}({', '.join(arguments)});")
        if has_depth(callee):
            writer.line("failed = fault[0] >= 0;")
            ctx.leave_if_failed()


def _array(ctx: FunctionContext, parameter: Symbol, view: View, number: int) -> list[str]:
    """The arguments for an array: its data, extents, and strides in bytes where the parameter has them."""
    array, writer = view.array, ctx.writer
    strides = _strides(ctx, array)
    shape = [ctx.extent(array, axis) for axis in range(array.array.ndim)]
    data = ctx.name(array)
    if view.shape:
        rank = array.array.ndim
        texts = [expression(ctx, part) for part in (*view.first, *view.shape, *view.steps)]
        first, shape, steps = (
            texts[:rank],
            texts[rank : rank + len(view.shape)],
            texts[rank + len(view.shape) :],
        )
        strides = [
            " + ".join(
                f"{step} * ({stride})" for step, stride in zip(steps[k : k + rank], strides, strict=True)
            )
            for k in range(0, len(steps), rank)
        ]
        data = f"&{element(ctx, array, first)}"
    elements = f"{'const ' if parameter.array.readonly else ''}{storage_type(parameter.dtype)} *"
    out = [f"({elements}){data}"]
    wanted = [(f"extent{number}_", shape)]
    if parameter.array.layout is Layout.STRIDED:
        wanted.append((f"stride{number}_", strides))
    for name, values in wanted:
        for axis, value in enumerate(values):
            writer.line(f"const int64_t {name}{axis} = {value};")
            out.append(f"{name}{axis}")
    return out


def _strides(ctx: FunctionContext, array: Symbol) -> list[str]:
    """An array's strides in bytes."""
    kind = array.array
    if kind.layout is Layout.STRIDED:
        return [ctx.module.names.stride(array, axis) for axis in range(kind.ndim)]
    out, size = [], str(kind.dtype.itemsize)
    for axis in range(kind.ndim - 1, -1, -1) if kind.layout is Layout.C else range(kind.ndim):
        out.append(size)
        size = f"{size} * {ctx.extent(array, axis)}"
    return out[::-1] if kind.layout is Layout.C else out
