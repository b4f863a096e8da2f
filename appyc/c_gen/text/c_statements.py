"""Translation of the IR's statements to C text.

Sequential code leaves a function at the end of the statement that raised: a check sets the
local `failed`, and `goto leave` follows wherever a statement holds a check.
"""

from __future__ import annotations

from typing import assert_never

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.callee_functions import emit_call
from appyc.c_gen.lanes.simd import KEEP_IN_ORDER
from appyc.c_gen.loops.c_loops import emit_loop
from appyc.c_gen.text.c_expressions import checked, checked_positions, draw, element, element_at, expression
from appyc.c_gen.text.c_operators import combine
from appyc.c_gen.text.c_types import c_type, storage_type
from appyc.errors import InternalError
from appyc.ir import nodes as ir
from appyc.ir.raising import can_fault
from appyc.ir.types import DType


def emit_statements(ctx: FunctionContext, body: tuple[ir.Stmt, ...]) -> None:
    for stmt in body:
        emit_statement(ctx, stmt)


def emit_statement(ctx: FunctionContext, stmt: ir.Stmt) -> None:
    writer = ctx.writer
    match stmt:
        case ir.Assign(value=ir.Draw() as drawn) if can_fault(drawn):
            _emit_checked_draw(ctx, stmt.target, drawn)
        case ir.Assign(value=ir.Call() as call):
            emit_call(ctx, stmt, call)
        case ir.Assign():
            writer.line(f"{ctx.name(stmt.target)} = {expression(ctx, stmt.value)};")
            if can_fault(stmt.value):
                ctx.leave_if_failed()
        case ir.Update() if not stmt.index and not stmt.target.is_array:
            _emit_scalar_update(ctx, stmt)
        case ir.Store() | ir.Update():
            _emit_masked(ctx, stmt)
        case ir.For():
            emit_loop(ctx, stmt, emit_statements)
        case ir.While():
            _emit_while(ctx, stmt)
        case ir.If():
            _emit_if(ctx, stmt)
        case ir.Break():
            writer.line("break;")
        case ir.Continue():
            writer.line("continue;")
        case ir.Alloc():
            _emit_alloc(ctx, stmt)
        case ir.ForAll():
            raise InternalError("c_gen", "a tensor statement is left")
        case ir.Fail():
            ctx.fail(stmt.site, [expression(ctx, word) for word in stmt.values])
        case ir.BoundsCheck():
            _emit_bounds_check(ctx, stmt)
        case _:
            assert_never(stmt)


def _emit_bounds_check(ctx: FunctionContext, stmt: ir.BoundsCheck) -> None:
    index, extent = expression(ctx, stmt.index), expression(ctx, stmt.extent)
    if ctx.leaves_fast_loop:
        ctx.writer.line(f"if (__builtin_expect((uint64_t)({index}) >= (uint64_t)({extent}), 0)) break;")
        return
    at = ctx.module.helpers.plain("at")
    ctx.writer.line(f"{at}({index}, {extent}, {ctx.module.sites.number(stmt.site)}, fault, &failed);")
    ctx.leave_if_failed()


def _emit_checked_draw(ctx: FunctionContext, target: ir.Symbol, drawn: ir.Draw) -> None:
    """Nothing is drawn once a check has failed: which generator, and what it is given, come first."""
    operands = (drawn.where, *drawn.args)
    names = [f"operand{number}" for number in range(len(operands))]
    with ctx.writer.block():
        for name, operand in zip(names, operands, strict=True):
            ctx.writer.line(f"const {c_type(operand.dtype)} {name} = {expression(ctx, operand)};")
        ctx.leave_if_failed()
        ctx.writer.line(f"{ctx.name(target)} = {draw(ctx, drawn.name, names)};")


# ---------------------------------------------------------------- elements


def _emit_masked(ctx: FunctionContext, stmt: ir.Store | ir.Update) -> None:
    if stmt.mask is None:
        _emit_element(ctx, stmt)
        return
    with ctx.writer.block(f"if ({expression(ctx, stmt.mask)})"):
        _emit_element(ctx, stmt)


def _emit_element(ctx: FunctionContext, stmt: ir.Store | ir.Update) -> None:
    array = stmt.array if isinstance(stmt, ir.Store) else stmt.target
    if not can_fault(stmt):
        target = ctx.lines.get(array) or element_at(ctx, array, stmt.index)
        _emit_write(ctx, stmt, target, expression(ctx, stmt.value))
        return
    # As in Python, a store's value is first, and an update's element. Nothing is written once a check has failed.
    if stmt.checked:
        is_store = isinstance(stmt, ir.Store)  # an update reads its element first
        positions = checked_positions(ctx, array, stmt.index, stmt.loc, stored=is_store)
    else:
        positions = [(f"position{a}", expression(ctx, i)) for a, i in enumerate(stmt.index)]
    declared = [f"const int64_t {name} = {text};" for name, text in positions]
    value = f"const {c_type(array.dtype)} value = {expression(ctx, stmt.value)};"
    with ctx.writer.block():
        for line in (value, *declared) if isinstance(stmt, ir.Store) else (*declared, value):
            ctx.writer.line(line)
        ctx.leave_if_failed()
        names = [name for name, _ in positions[len(positions) - len(stmt.index) :]]
        _emit_write(ctx, stmt, element(ctx, array, names), "value")


def _emit_write(ctx: FunctionContext, stmt: ir.Store | ir.Update, target: str, value: str) -> None:
    if isinstance(stmt, ir.Store):
        ctx.writer.line(f"{target} = {value};")
    elif stmt.atomic and ctx.in_piece and stmt.target not in ctx.copied:
        _emit_atomic(ctx, stmt, target, value)
    elif _has_compound_assignment(stmt):
        ctx.writer.line(f"{target} {stmt.op}= {value};")
    else:
        with ctx.writer.block():
            ctx.writer.line(f"{storage_type(stmt.target.dtype)} *const slot = &{target};")
            ctx.writer.line(f"*slot = {combine(ctx, stmt.op, stmt.target.dtype, '(*slot)', value)};")


def _has_compound_assignment(stmt: ir.Update) -> bool:
    """True where C's `op=` does what the IR's operator does."""
    dtype = stmt.target.dtype
    if dtype is DType.BOOL or (dtype.is_complex and stmt.op == "*"):
        return False
    return stmt.op in ("+", "*", "&", "|", "^")


def _emit_atomic(ctx: FunctionContext, stmt: ir.Update, target: str, value: str) -> None:
    dtype = stmt.target.dtype
    writer = ctx.writer
    if _has_compound_assignment(stmt) and not dtype.is_complex:
        with writer.block():
            writer.line(f"const {c_type(dtype)} term = {value};")
            writer.line("#pragma omp atomic")
            writer.line(f"{target} {stmt.op}= term;")
        return
    stored = storage_type(dtype) if stmt.target.is_array else c_type(dtype)
    with writer.block():
        writer.line(f"const {c_type(dtype)} term = {value};")
        writer.line(f"{stored} *const slot = &{target};")
        combined = combine(ctx, stmt.op, dtype, "old" if not dtype.is_complex else "(*slot)", "term")
        if dtype.is_complex:  # two words: no processor's instruction for them can be relied on
            writer.line("#pragma omp critical(appyc_complex)")
            writer.line(f"*slot = {combined};")
            return
        writer.line(f"{stored} old = *slot, new;")
        writer.line(f"do new = {combined};")
        writer.line(
            "while (!__atomic_compare_exchange(slot, &old, &new, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));"
        )


def _emit_scalar_update(ctx: FunctionContext, stmt: ir.Update) -> None:
    name = ctx.name(stmt.target)
    value = expression(ctx, stmt.value)
    if stmt.atomic and stmt.target in ctx.behind_pointer:
        _emit_atomic(ctx, stmt, name, value)
    elif stmt.trap:
        op = stmt.op
        match stmt.value:
            case ir.Binary("-", ir.Const(value=0), term, trap=True) if op == "+":
                op, value = (
                    "-",
                    expression(ctx, term),
                )  # `0 - term` may leave 64 bits where the difference does not
        ctx.writer.line(f"{name} = {checked(ctx, op, name, value, stmt.loc)};")
    elif _has_compound_assignment(stmt):
        ctx.writer.line(f"{name} {stmt.op}= {value};")
    else:
        ctx.writer.line(f"{name} = {combine(ctx, stmt.op, stmt.target.dtype, name, value)};")
    if can_fault(stmt):
        ctx.leave_if_failed()


# ---------------------------------------------------------------- control flow


def _emit_while(ctx: FunctionContext, stmt: ir.While) -> None:
    cond = expression(ctx, stmt.cond)
    writer = ctx.writer
    writer.line(f"/* {ctx.location(stmt.loc)} */")
    if not can_fault(stmt.cond):
        with writer.block(f"while ({cond})"):
            emit_statements(ctx, stmt.body)
        return
    with writer.block("for (;;)"):
        writer.line(f"const bool again = {cond};")
        ctx.leave_if_failed()
        writer.line("if (!again) break;")
        emit_statements(ctx, stmt.body)


def _emit_if(ctx: FunctionContext, stmt: ir.If) -> None:
    cond = expression(ctx, stmt.cond)
    if can_fault(stmt.cond):
        name = ctx.module.names.fresh("holds")
        ctx.writer.line(f"const bool {name} = {cond};")
        ctx.leave_if_failed()
        cond = name
    with ctx.writer.block(f"if ({cond})"):
        if _is_kept(stmt) and not ctx.in_lanes:
            ctx.writer.line(KEEP_IN_ORDER)
        emit_statements(ctx, stmt.then)
    if stmt.orelse:
        with ctx.writer.block("else"):
            emit_statements(ctx, stmt.orelse)


def _is_kept(stmt: ir.If) -> bool:
    """Whether it is an unlikely branch that the C compiler would make a conditional move."""
    unlikely = isinstance(stmt.cond, ir.Unary) and isinstance(stmt.cond.arg, ir.Likely)
    return unlikely and all(isinstance(inner, ir.Assign) for inner in stmt.then)


def _emit_alloc(ctx: FunctionContext, stmt: ir.Alloc) -> None:
    """A loop may come here again, and takes the memory of the last time if that is large enough."""
    writer, helpers, array = ctx.writer, ctx.module.helpers, stmt.array
    if stmt.in_frame:
        sizes = "".join(f"[{expression(ctx, size)}]" for size in stmt.shape)
        value = " = {0}" if stmt.zero else ""
        writer.line(
            f"{storage_type(array.dtype)} {ctx.name(array)}{sizes} __attribute__((aligned(64))){value};"
        )
        return
    extents = [ctx.extent(array, axis) for axis in range(array.array.ndim)]
    for name, size in zip(extents, stmt.shape, strict=True):
        writer.line(f"{name} = {expression(ctx, size)};")
    if can_fault(stmt.shape):
        ctx.leave_if_failed()
    if extents:
        with writer.block(f"if ({' || '.join(f'{name} < 0' for name in extents)})"):
            ctx.fail(ir.Fail("ValueError", "negative dimensions are not allowed", loc=stmt.loc).site)
    sizes = f"(int64_t[]){{{', '.join([*extents, str(array.dtype.itemsize)])}}}"
    allocate = helpers.plain("allocate_again" if stmt.kept is None else "resize")
    zero = "true" if stmt.zero else "false"
    last = zero if stmt.kept is None else f"({expression(ctx, stmt.kept)}) * {array.dtype.itemsize}"
    name = ctx.name(array)
    writer.line(f"{name} = {allocate}({name}, &{name}_held, {sizes}, {len(extents) + 1}, {last});")
    with writer.block(f"if (!{name})"):
        ctx.fail(ir.Fail("MemoryError", f"cannot allocate '{array.name}'", loc=stmt.loc).site)
