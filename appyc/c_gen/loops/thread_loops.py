"""C text for multithreaded loops: the body outlined as a function, and the parallel region that calls it.

Such a loop becomes a C function of its own, a *piece*, which runs a part of the iterations.
What it captures are parameters: pointers keep `restrict`, which compilers drop when they
outline an OpenMP region, and a loop that is too small for threads is one direct call. That is
decided by the loop's cost and the machine's rates (`threads_pay`).

    static void kernel_loop_3(begin, end, trips, fault, i_lo, a, a_n0, s_partial) {
        double s = *s_partial;
        for (int64_t i = i_lo + begin; i < i_lo + end; i += 1) { s += a[i]; }
        *s_partial = s;
    }

Reductions that round are deterministic: how the iterations are cut depends only on their number
and on that of the threads, and partial results are combined in the order of the pieces.
"""

from __future__ import annotations

from contextlib import ExitStack

from appyc.c_gen.array_copies import ArrayCopies, emit_allocation, emit_combination, emit_own, emit_release
from appyc.c_gen.c_function import emit_function
from appyc.c_gen.c_module import Body, FunctionContext, parameters_of_array
from appyc.c_gen.captures import Captures, captures_of, perfect_nest
from appyc.c_gen.lanes.nontemporal_stores import emit_choice, has_streams
from appyc.c_gen.lanes.simd import declare_scalars, named_outside_lanes
from appyc.c_gen.loops.counted_loops import emit_counted, emit_in_order
from appyc.c_gen.loops.loop_pieces import CUT_WORK, atomics_pay, cost_text, emit_pieces, rounds, work_text
from appyc.c_gen.loops.piece_patterns import pattern_of
from appyc.c_gen.profiled_loops import emit_end, emit_start
from appyc.c_gen.text.c_expressions import emit_combined, expression
from appyc.c_gen.text.c_types import c_type, partial_start
from appyc.c_gen.translation_units import HAS_TILES
from appyc.ir.nodes import For, LoopMode, Reduction, Symbol, Update
from appyc.ir.raising import can_fault
from appyc.ir.schedule import Accumulators, Dots, OuterLanes
from appyc.ir.visit import loops_of, scalars_written, walk


def runs_in_threads(ctx: FunctionContext, loop: For) -> bool:
    return loop.mode is LoopMode.PARALLEL and not ctx.in_piece and not ctx.module.sequential


# ---------------------------------------------------------------- the piece


def _piece(ctx: FunctionContext, nest: tuple[For, ...], captures: Captures, body: Body) -> str:
    """The function of a piece, which loops of one pattern share."""
    pattern, pieces = pattern_of(ctx, nest), ctx.module.pieces
    if pattern is None:
        return _emit_piece(ctx, nest, captures, body)
    if pattern not in pieces:
        pieces[pattern] = _emit_piece(ctx, nest, captures, body)
    return pieces[pattern]


def _emit_piece(
    ctx: FunctionContext, nest: tuple[For, ...], captures: Captures, body: Body, *, in_place: bool = False
) -> str:
    """Writes the function of a piece; returns its name. in_place: it has no copies of arrays."""
    module = ctx.module
    names = module.names
    name = names.fresh(f"{module.fn.name}_loop_{nest[0].loc.line}")
    parameters = ["const int64_t begin", "const int64_t end", "const int64_t trips", "int64_t *fault"]
    streams = has_streams(ctx, nest)
    parameters += ["const bool streams"] if streams else []
    parameters += [f"const int64_t {text}" for text in _nest_parameters(ctx, nest)]
    for array in captures.arrays:
        parameters += [f"{kind} {text}" for kind, text in parameters_of_array(module, array)]
    written = scalars_written(nest[-1].body)
    for symbol in captures.values:
        const = "" if symbol in written else "const "
        parameters.append(f"{const}{c_type(symbol.dtype)} {names.of(symbol)}")
    for symbol in [*captures.atomics]:
        parameters.append(f"{c_type(symbol.dtype)} *{names.of(symbol)}")
    for symbol in [*(r.symbol for r in captures.reductions), *captures.last]:
        parameters.append(f"{c_type(symbol.dtype)} *{names.of(symbol)}_out")

    inner = FunctionContext(
        module,
        in_piece=True,
        copied=frozenset(() if in_place else (r.symbol for r in captures.copied)),
        behind_pointer=frozenset(captures.atomics),
        allocated=captures.allocated,
        may_stream=streams,
        schedule=ctx.schedule,
    )

    def iterations() -> None:
        writer = inner.writer
        if captures.last:
            # OpenMP leaves a last value undefined where there is no iteration.
            writer.line("if (begin >= end) return;")
        outside = named_outside_lanes((nest[-1],), inner.schedule)
        declare_scalars(inner, [s for s in captures.private if s in outside])
        for reduction in captures.reductions:
            symbol = reduction.symbol
            writer.line(f"{c_type(symbol.dtype)} {names.of(symbol)} = *{names.of(symbol)}_out;")
        _emit_rows(inner, nest, body)
        if streams:
            writer.line(f"if (streams) {module.helpers.plain('streams_end')}();")
        for reduction in captures.reductions:
            writer.line(f"*{names.of(reduction.symbol)}_out = {names.of(reduction.symbol)};")
        if captures.last:
            with writer.block("if (end == trips)"):
                for symbol in captures.last:
                    writer.line(f"*{names.of(symbol)}_out = {names.of(symbol)};")

    has_tiles = any(
        isinstance(inner.schedule[loop.var].form, OuterLanes | Dots) for loop in loops_of(nest[-1:])
    )
    emit_function(inner, name, parameters, iterations, attributes=(HAS_TILES,) if has_tiles else ())
    return name


def _nest_parameters(ctx: FunctionContext, nest: tuple[For, ...]) -> list[str]:
    """The names of the lower bounds, then of the inner loops' trip counts."""
    names = ctx.module.names
    lows = [f"{names.of(loop.var)}_lo" for loop in nest]
    return lows + [f"{names.of(loop.var)}_trips" for loop in nest[1:]]


def _emit_rows(ctx: FunctionContext, nest: tuple[For, ...], body: Body) -> None:
    """The iterations `begin` to `end`, counted over the whole nest.

    Of a collapsed nest the innermost loop stays a loop: the outer variables are worked out
    once for each of its runs.
    """
    innermost = nest[-1]
    low, step = f"{ctx.name(innermost.var)}_lo", innermost.step
    if len(nest) == 1:
        emit_counted(ctx, innermost, f"({low} + begin * {step})", f"({low} + end * {step})", body)
        return
    trips = f"{ctx.name(innermost.var)}_trips"
    writer = ctx.writer
    with writer.block("for (int64_t at_ = begin, count_; at_ < end; at_ += count_)"):
        writer.line(f"const int64_t first_ = at_ % {trips};")
        writer.line(f"count_ = {trips} - first_ < end - at_ ? {trips} - first_ : end - at_;")
        writer.line(f"int64_t row_ = at_ / {trips};")
        for loop in reversed(nest[1:-1]):
            var = ctx.name(loop.var)
            writer.line(f"const int64_t {var} = {var}_lo + row_ % {var}_trips * {loop.step};")
            writer.line(f"row_ /= {var}_trips;")
        var = ctx.name(nest[0].var)
        writer.line(f"const int64_t {var} = {var}_lo + row_ * {nest[0].step};")
        writer.line(f"const int64_t from_ = {low} + first_ * {step};")
        emit_counted(ctx, innermost, "from_", f"(from_ + count_ * {step})", body)


# ---------------------------------------------------------------- the call


def emit_threads(ctx: FunctionContext, loop: For, body: Body) -> None:
    """Writes a piece's function, and here the code that runs all of them."""
    nest = perfect_nest(loop)
    captures = captures_of(nest)
    piece = _piece(ctx, nest, captures, body)
    copies = tuple(ArrayCopies(r.op, r.symbol) for r in captures.copied)
    names, writer = ctx.module.names, ctx.writer
    with ExitStack() as blocks:
        blocks.enter_context(writer.block())
        _emit_trips(ctx, nest)
        if (few := _in_order_below(ctx, nest, captures)) > 0:
            low = f"{names.of(loop.var)}_lo"
            high, work = f"({low} + trips * {loop.step})", work_text(ctx, nest)
            is_sum = isinstance(ctx.schedule[loop.var].form, Accumulators) and work is not None
            with writer.block(
                f"if (threads == 1 || {work} <= {CUT_WORK}.0)" if is_sum else f"if (trips < {few})"
            ):
                outside = named_outside_lanes(nest, ctx.schedule)
                declare_scalars(ctx, [s for s in captures.private if s in outside])
                (emit_counted if is_sum else emit_in_order)(ctx, loop, low, high, body)
            blocks.enter_context(writer.block("else"))
        if has_streams(ctx, nest):
            emit_choice(ctx, cost_text(ctx, nest))
        schedule = emit_pieces(ctx, nest)
        if ctx.module.profiled is not None:
            emit_start(ctx)
        atomic = bool(copies) and _are_atomic(nest, captures)
        if atomic:
            writer.line("const int64_t wanted = shared ? pieces : 1;")
        emit_allocation(ctx, copies, work_text(ctx, nest))
        if atomic:  # copies do not pay: threads may still share the array
            pays = atomics_pay(ctx, nest, {copy.array for copy in copies})
            writer.line(f"const bool in_place = pieces == 1 && wanted > 1 && {pays};")
            writer.line("if (in_place) pieces = wanted;")
        for reduction in captures.reductions:
            _emit_partials(ctx, reduction)
        if atomic:
            with writer.block("if (in_place)"):
                updating = _emit_piece(ctx, nest, captures, body, in_place=True)
                _emit_all(ctx, nest, captures, updating, (), schedule)
                writer.line(f"{ctx.module.helpers.plain('threads_used')}();")
        with writer.block(("else " if atomic else "") + "if (pieces == 1)"):
            writer.line(f"{piece}(0, trips, trips, {_arguments(ctx, nest, captures, '0')});")
        with writer.block("else if (shared)"):
            _emit_all(ctx, nest, captures, piece, copies, schedule)
            writer.line(f"{ctx.module.helpers.plain('threads_used')}();")
        if rounds(nest):
            with writer.block("else"):
                _emit_all(ctx, nest, captures, piece, copies, None)
        emit_release(ctx, copies)
        if ctx.module.profiled is not None:
            emit_end(ctx, nest)
        if can_fault(nest[-1].body):
            writer.line("failed = fault[0] >= 0;")
            ctx.leave_if_failed()
        for reduction in captures.reductions:
            part = f"{names.of(reduction.symbol)}_partial[piece]"
            each = "for (int64_t piece = 0; piece < pieces; piece += 1) "
            emit_combined(ctx, reduction, part, nest[-1], each)


def _in_order_below(ctx: FunctionContext, nest: tuple[For, ...], captures: Captures) -> int:
    """The number of iterations below which a loop inside another one is run here: calls of its piece would take as
    long. A sum whose vectors are written out is run here whenever one thread runs it."""
    if (
        len(nest) > 1
        or captures.last
        or captures.copied
        or captures.atomics
        or ctx.module.profiled is not None
    ):
        return 0
    return ctx.schedule[nest[0].var].in_order_below


def _emit_all(
    ctx: FunctionContext,
    nest: tuple[For, ...],
    captures: Captures,
    piece: str,
    copies: tuple[ArrayCopies, ...],
    schedule: str | None,
) -> None:
    """Calls all pieces, and combines the copies that they had. schedule: how threads share the
    pieces; None where one runs them all."""
    writer, start = ctx.writer, ctx.module.helpers.plain("piece_start")
    if schedule is not None:
        writer.line(f"#pragma omp parallel for num_threads((int)threads) schedule({schedule}, 1)")
    with writer.block("for (int64_t piece = 0; piece < pieces; piece += 1)"):
        writer.line(f"const int64_t begin = {start}(trips, piece, pieces);")
        writer.line(f"const int64_t end = {start}(trips, piece + 1, pieces);")
        own = {copy.array: emit_own(ctx, copy) for copy in copies}
        writer.line(f"{piece}(begin, end, trips, {_arguments(ctx, nest, captures, 'piece', own)});")
    emit_combination(ctx, copies, shared=schedule is not None)


def _are_atomic(nest: tuple[For, ...], captures: Captures) -> bool:
    """Whether every array that pieces have copies of may be updated by all of them, too."""
    copied = {r.symbol for r in captures.copied}
    return all(n.atomic for n in walk(nest[-1].body) if isinstance(n, Update) and n.target in copied)


def _arguments(
    ctx: FunctionContext,
    nest: tuple[For, ...],
    captures: Captures,
    piece: str,
    own: dict[Symbol, list[str]] | None = None,
) -> str:
    """The arguments of a piece's function after its range. own: the replacements of the arguments for arrays
    that have a copy."""
    names = ctx.module.names
    arguments = ["fault", *(["streams"] if has_streams(ctx, nest) else []), *_nest_parameters(ctx, nest)]
    for array in captures.arrays:
        arguments += (own or {}).get(array) or [text for _, text in parameters_of_array(ctx.module, array)]
    arguments += [names.of(s) for s in captures.values]
    arguments += [f"&{names.of(s)}" for s in captures.atomics]
    arguments += [f"&{names.of(r.symbol)}_partial[{piece}]" for r in captures.reductions]
    arguments += [f"&{names.of(s)}" for s in captures.last]
    return ", ".join(arguments)


def _emit_trips(ctx: FunctionContext, nest: tuple[For, ...]) -> None:
    """Declares lower bounds and trip counts; `trips` is the number of iterations of the nest."""
    writer, trip_count = ctx.writer, ctx.module.helpers.plain("trip_count")
    counts = []
    for number, loop in enumerate(nest):
        var = ctx.name(loop.var)
        count = f"{trip_count}({var}_lo, {expression(ctx, loop.hi)}, {loop.step})"
        writer.line(f"const int64_t {var}_lo = {expression(ctx, loop.lo)};")
        if number == 0 and len(nest) == 1:
            writer.line(f"const int64_t trips = {count};")
        else:
            writer.line(f"const int64_t {var}_trips = {count};")
        counts.append(f"{var}_trips")
    if any(can_fault(loop.bounds) for loop in nest):
        ctx.leave_if_failed()
    if len(nest) > 1:
        writer.line(f"const int64_t trips = {' * '.join(counts)};")


def _emit_partials(ctx: FunctionContext, reduction: Reduction) -> None:
    name, dtype = ctx.module.names.of(reduction.symbol), reduction.symbol.dtype
    start = partial_start(reduction.op, dtype, name)
    ctx.writer.line(f"{c_type(dtype)} {name}_partial[pieces];")
    ctx.writer.line(f"for (int64_t piece = 0; piece < pieces; piece += 1) {name}_partial[piece] = {start};")
