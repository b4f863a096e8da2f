"""Generates the C file of an IR function: its entry point, the program, and the bodies of parallel loops.

int32_t kernel_scale(int64_t *restrict frame)     what the dispatcher calls: takes the frame
                                                  apart, tests the guards, returns a Status
static void scale(frame, fault, threads, a, a_n0, ...)      the program
static void scale_loop_7(begin, end, ...)         one for every loop that runs in threads
"""

from __future__ import annotations

from dataclasses import dataclass

from appyc.c_gen import translation_units
from appyc.c_gen.c_function import arrays_gone, emit_function, emit_release
from appyc.c_gen.c_module import FunctionContext, ModuleContext, parameters_of_array
from appyc.c_gen.callee_functions import MAX_DEPTH, activation_bytes, callee_names, emit_callee, has_depth
from appyc.c_gen.captures import outside_symbols, perfect_nest
from appyc.c_gen.lanes.dot_loops import SHORT_VECTORS, reads_back
from appyc.c_gen.lanes.simd import declare_scalars, named_outside_lanes
from appyc.c_gen.loops.thread_loops import runs_in_threads
from appyc.c_gen.profiled_loops import TABLE
from appyc.c_gen.text.c_expressions import expression
from appyc.c_gen.text.c_helpers import Helpers
from appyc.c_gen.text.c_names import Names
from appyc.c_gen.text.c_statements import emit_statement
from appyc.c_gen.text.c_types import TYPEDEFS, c_type
from appyc.ir import nodes as ir
from appyc.ir.abi import FrameLayout, Status, frame_layout
from appyc.ir.draw_functions import OF_PYTHON
from appyc.ir.fault_words import FaultSite
from appyc.ir.invariance import resized_parameters
from appyc.ir.raising import can_fault
from appyc.ir.text_writers import CWriter
from appyc.ir.types import DType, Layout
from appyc.ir.visit import children, loops_of, symbols_of, walk
from appyc.options import Options

KEEP_CHOICES = '#pragma GCC optimize ("no-split-paths")'
"""With paths split, gcc makes branches of choices between numbers; by a drawn number processors cannot foresee them."""


@dataclass(frozen=True, slots=True)
class CModule:
    """C text, the name of the function to call, what a fault's number means, and the frame.

    threaded: it holds a loop that threads may share. profiled: the loops whose time it takes. needs: what it has that
    takes flags of its own (`toolchain.flags`). start, functions, end: the parts that `units` distributes.
    libraries: files that it needs beside those, the same in every program. draws: it calls NumPy's distributions.
    """

    text: str
    entry: str
    faults: tuple[FaultSite, ...]
    layout: FrameLayout
    threaded: bool = False
    profiled: tuple[ir.For, ...] = ()
    needs: tuple[str, ...] = ()
    start: str = ""
    functions: tuple[translation_units.Definition, ...] = ()
    end: str = ""
    libraries: tuple[str, ...] = ()
    draws: bool = False

    def units(self, most: int) -> tuple[translation_units.File, ...]:
        """Up to so many files that are the program together with `libraries`, as `text` is alone."""
        return translation_units.cut(self.start, self.functions, self.end, most)


def generate(
    fn: ir.Function,
    options: Options,
    *,
    sequential: bool = False,
    profile: bool = False,
    vector_functions: frozenset[str] = frozenset(),
) -> CModule:
    """The C file of a function whose loops have their modes.

    sequential: the variant for arguments that overlap in memory: one thread, no vectors by
    decree, no `restrict`. profile: with a table of what loops take (`c_gen/profiled_loops.py`).
    vector_functions: of the C library, those that lanes may call with vectors.
    """
    helpers = Helpers(frozenset() if sequential else vector_functions)
    module = ModuleContext(
        fn, options, sequential, Names(fn), helpers=helpers, profiled=[] if profile else None
    )
    layout = frame_layout(fn)
    callee_names(module)
    for callee in fn.callees:
        _emit_callee(module, callee.function, callee.library)
    called = [f"static {function.head};" for function in module.functions]
    program = _emit_program(module, layout)
    entry = module.names.fresh(f"kernel_{fn.name}")
    entry_text = _entry(module, layout, entry, program)
    profiled = module.profiled or []
    table = [f"double {TABLE}[{len(profiled)} * profile_width];"] if profiled else []
    functions = tuple(module.functions)
    written = [function.static for function in functions]
    parts = (fn, *(callee.function for callee in fn.callees))
    draws = any(isinstance(n, ir.Draw) for part in parts for n in walk(part))
    head = f"{KEEP_CHOICES}\n{TYPEDEFS}" if draws else TYPEDEFS
    helpers_text = module.helpers.text()
    if "vector_bytes" in helpers_text and any(map(reads_back, parts)):
        head = f"{SHORT_VECTORS}\n{head}"
    text = "\n\n".join([head, helpers_text, *table, *called, *written, entry_text]) + "\n"
    threaded = any(runs_in_threads(FunctionContext(module), n) for n in walk(fn) if isinstance(n, ir.For))
    masks = (
        (translation_units.MASKS,) if any(isinstance(n, ir.Alloc) and n.in_frame for n in walk(fn)) else ()
    )
    both = (translation_units.SINES_AND_COSINES,) if "sin(" in text and "cos(" in text else ()
    start = f"{head}\n\n{module.helpers.declared()}"
    return CModule(
        text, entry, module.sites.table(), layout, threaded, tuple(profiled), (*masks, *both),
        start, functions, entry_text, module.helpers.libraries(), draws,
    )  # fmt: skip


def _emit_callee(module: ModuleContext, fn: ir.Function, library: str) -> None:
    """Writes a function that the program calls."""
    resized = resized_parameters(fn)
    ctx = FunctionContext(
        module, allocated=tuple(a for a in _allocated(module, fn) if a not in resized),
        given=tuple(p for p in fn.params if p in resized), resized=_resized_by_calls(fn),
        in_callee=True, schedule=fn.schedule,
    )  # fmt: skip

    def statements() -> None:
        declare_scalars(ctx, _locals(module, fn))
        for stmt in fn.body:
            emit_statement(ctx, stmt)

    emit_callee(ctx, fn, library, statements)


def _allocated(module: ModuleContext, fn: ir.Function) -> tuple[ir.Symbol, ...]:
    """The arrays that the function gets memory for."""
    made = (n for n in _outside_threads(module, fn.body) if isinstance(n, ir.Alloc) and not n.in_frame)
    return tuple(dict.fromkeys(n.array for n in made))


def _resized_by_calls(fn: ir.Function) -> frozenset[ir.Symbol]:
    return frozenset(n.array for n in walk(fn.body) if isinstance(n, ir.View) and n.resized)


def _emit_program(module: ModuleContext, layout: FrameLayout) -> str:
    """Writes the function that holds the program; returns its name."""
    fn = module.fn
    allocated = _allocated(module, fn)
    generators = _first_generators(module)
    ctx = FunctionContext(
        module, allocated=allocated, resized=_resized_by_calls(fn), generators=frozenset(generators),
        schedule=fn.schedule,
    )  # fmt: skip
    name = module.names.fresh(fn.name)
    parameters = ["int64_t *frame", "int64_t *fault", "const int64_t threads"]
    for symbol in fn.params:
        if symbol.is_array:
            parameters += [f"{kind} {text}" for kind, text in parameters_of_array(module, symbol)]
        else:
            parameters.append(f"{c_type(symbol.dtype)} {module.names.of(symbol)}")

    def statements() -> None:
        declare_scalars(ctx, _locals(module, fn))
        for array in generators:
            first = f"*(struct generator *){ctx.name(array)}[0]"
            given = f"{ctx.extent(array, 0)} > 0 ? {first} : (struct generator){{0}}"
            ctx.writer.line(f"struct generator {ctx.generator(array)} = {given};")
        gone = arrays_gone(fn, frozenset(allocated))
        for at, stmt in enumerate(fn.body):
            emit_statement(ctx, stmt)
            for array in gone.get(at, ()):
                emit_release(ctx, array)
        for result, slot in zip(fn.results, layout.results, strict=True):
            if isinstance(result.value, ir.Symbol):
                if slot is not None:
                    _emit_array_result(ctx, result.value, slot)
            else:
                assert slot is not None
                _emit_result(ctx, expression(ctx, result.value), result.value.dtype, slot)
                if can_fault(result.value):
                    ctx.leave_if_failed()

    attributes: tuple[str, ...] = ()
    if _only_starts_loops(module):
        runs_few = any(
            ctx.schedule[n.var].in_order_below for n in loops_of(fn.body) if runs_in_threads(ctx, n)
        )
        attributes = (translation_units.RUNS_FEW if runs_few else translation_units.STARTS_LOOPS,)
    emit_function(ctx, name, parameters, statements, attributes=attributes)
    return name


def _first_generators(module: ModuleContext) -> list[ir.Symbol]:
    """Arrays of NumPy's generators of which the program draws from the first alone."""
    drawn = [n for n in walk(module.fn) if isinstance(n, ir.Draw)]
    others = {
        n.generators
        for n in drawn
        if n.name in OF_PYTHON or not (isinstance(n.where, ir.Load) and _is_first(n.where))
    }
    return [array for array in dict.fromkeys(n.generators for n in drawn) if array not in others]


def _is_first(load: ir.Load) -> bool:
    return not load.checked and isinstance(load.index[0], ir.Const) and load.index[0].value == 0


def _only_starts_loops(module: ModuleContext) -> bool:
    """Whether no code of the main function runs once for each element of an array: its loops only start others that are
    outlined. The same holds for what it calls, such as inspectors and the combination of copies."""
    ctx = FunctionContext(module)

    def has_threads(stmt: ir.Stmt) -> bool:
        return any(isinstance(n, ir.For) and runs_in_threads(ctx, n) for n in walk(stmt))

    if any(isinstance(n, ir.Apart | ir.Ascending) for n in walk(module.fn)):
        return False
    for stmt in _outside_threads(module, module.fn.body):
        if isinstance(stmt, ir.For | ir.While) and not has_threads(stmt):
            return False
        if isinstance(stmt, ir.For) and any(
            r.symbol.is_array for loop in perfect_nest(stmt) for r in loop.reductions
        ):
            return False
    return True


def _outside_threads(module: ModuleContext, body: tuple[ir.Stmt, ...]) -> list[ir.Stmt]:
    """The statements that stay in the main function."""
    ctx = FunctionContext(module)
    out: list[ir.Stmt] = []
    for stmt in body:
        out.append(stmt)
        if not (isinstance(stmt, ir.For) and runs_in_threads(ctx, stmt)):
            inner = tuple(child for child in children(stmt) if isinstance(child, ir.Stmt))
            out += _outside_threads(module, inner)
    return out


def _locals(module: ModuleContext, fn: ir.Function) -> list[ir.Symbol]:
    """The scalars that a function declares: neither parameters nor loop variables."""
    needed: set[ir.Symbol] = set()
    ctx = FunctionContext(module)
    for stmt in _outside_threads(module, fn.body):
        if isinstance(stmt, ir.For) and runs_in_threads(ctx, stmt):
            needed |= outside_symbols(stmt)
        else:
            below = {s for child in children(stmt) if isinstance(child, ir.Stmt) for s in symbols_of(child)}
            own = set(symbols_of(stmt))
            needed |= own - below if not isinstance(stmt, ir.For) else own
    needed &= named_outside_lanes(fn.body, fn.schedule)
    for result in fn.results:
        needed |= set(symbols_of(result))
    bound = {n.var for n in walk(fn.body) if isinstance(n, ir.For)}
    return [
        s for s in symbols_of(fn) if s in needed and not s.is_array and s not in fn.params and s not in bound
    ]


# ---------------------------------------------------------------- the frame


def _entry(module: ModuleContext, layout: FrameLayout, entry: str, program: str) -> str:
    writer = CWriter()
    restrict = "" if module.sequential else "restrict "
    ctx = FunctionContext(module, writer)
    goes_deep = any(has_depth(callee.function) for callee in module.fn.callees)
    inner = module.names.fresh(f"run_{module.fn.name}") if goes_deep else entry
    static = "static " if goes_deep else ""
    writer.line(f"__attribute__(({translation_units.STARTS_LOOPS}))")
    with writer.block(f"{static}int32_t {inner}(int64_t *{restrict}frame)"):
        writer.line(f"int64_t *fault = frame + {layout.fault};")
        writer.line("fault[0] = -1;")
        arguments = ["frame", "fault", "frame[0]"]
        for symbol, slot in zip(module.fn.params, layout.params, strict=True):
            if symbol.is_array:
                arguments += _emit_array_parameter(ctx, symbol, slot)
            else:
                name = module.names.of(symbol)
                writer.line(f"const {c_type(symbol.dtype)} {name} = {_from_slot(ctx, symbol.dtype, slot)};")
                arguments.append(name)
        for guard in module.fn.guards:
            writer.line(f"/* {ctx.location(guard.loc)}: {guard.reason.replace('*/', '* /')} */")
            writer.line(f"if (!{expression(ctx, guard.holds)}) return {int(Status.GUARD)};")
        writer.line(f"{program}({', '.join(arguments)});")
        writer.line(f"return fault[0] < 0 ? {int(Status.OK)} : {int(Status.FAULT)};")
    if goes_deep:
        with_stack = module.helpers.plain("with_stack")
        limit = f"frame[{layout.fault + 1}]"
        most = f"({limit} < {MAX_DEPTH} ? {limit} : {MAX_DEPTH}) * {activation_bytes(module.fn)}"
        with writer.block(f"int32_t {entry}(int64_t *frame)"):
            writer.line(f"return {with_stack}({inner}, frame, {most});")
    return writer.text()


def _emit_array_parameter(ctx: FunctionContext, array: ir.Symbol, slot: int) -> list[str]:
    """Declares an array's pointer, extents and strides from the frame; returns their names."""
    ndim = array.array.ndim
    parameters = parameters_of_array(ctx.module, array)
    slots = [slot, *range(slot + 1, slot + 1 + ndim)]
    if array.array.layout is Layout.STRIDED:
        slots += range(slot + 1 + ndim, slot + 1 + 2 * ndim)
    pointer, data = parameters[0]
    ctx.writer.line(f"{pointer} {data} = ({pointer.replace('restrict', '').rstrip()})frame[{slot}];")
    for (kind, name), at in zip(parameters[1:], slots[1:], strict=True):
        ctx.writer.line(f"{kind} {name} = frame[{at}];")
    return [name for _, name in parameters]


def _from_slot(ctx: FunctionContext, dtype: DType, slot: int) -> str:
    helper = ctx.module.helpers.plain
    match dtype:
        case DType.FLOAT64:
            return f"{helper('bits_to_double')}(frame[{slot}])"
        case DType.FLOAT32:
            return f"{helper('bits_to_float')}(frame[{slot}])"
        case DType.COMPLEX128:
            parts = [f"{helper('bits_to_double')}(frame[{at}])" for at in (slot, slot + 1)]
            return f"__builtin_complex({', '.join(parts)})"
        case DType.COMPLEX64:
            convert = helper("bits_to_float")
            return f"__builtin_complex({convert}(frame[{slot}]), {convert}(frame[{slot}] >> 32))"
        case _:
            return f"({c_type(dtype)})frame[{slot}]"


def _emit_array_result(ctx: FunctionContext, array: ir.Symbol, slot: int) -> None:
    """Hands an array that the function made to the caller, who frees it."""
    writer, name = ctx.writer, ctx.name(array)
    writer.line(f"frame[{slot}] = (int64_t){name};")
    for axis in range(array.array.ndim):
        writer.line(f"frame[{slot + 1 + axis}] = {ctx.extent(array, axis)};")
    writer.line(f"{name} = 0;")


def _emit_result(ctx: FunctionContext, text: str, dtype: DType, slot: int) -> None:
    helper, writer = ctx.module.helpers.plain, ctx.writer
    match dtype:
        case DType.FLOAT64:
            writer.line(f"frame[{slot}] = {helper('double_to_bits')}({text});")
        case DType.FLOAT32:
            writer.line(f"frame[{slot}] = {helper('float_to_bits')}({text});")
        case DType.COMPLEX128 | DType.COMPLEX64:
            with writer.block():
                convert = helper("double_to_bits" if dtype is DType.COMPLEX128 else "float_to_bits")
                writer.line(f"const {c_type(dtype)} value = {text};")
                real, imag = f"{convert}(__real__ value)", f"{convert}(__imag__ value)"
                if dtype is DType.COMPLEX128:
                    writer.line(f"frame[{slot}] = {real};")
                    writer.line(f"frame[{slot + 1}] = {imag};")
                else:
                    writer.line(f"frame[{slot}] = {real} | (int64_t)((uint64_t){imag} << 32);")
        case _:
            writer.line(f"frame[{slot}] = (int64_t)({text});")
