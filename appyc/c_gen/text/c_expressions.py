"""Translation of the IR's expressions to C text.

Every expression of the IR becomes one C expression; a checked access becomes a statement
expression, so that it is evaluated exactly where and when Python would evaluate it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import assert_never

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.text.c_operators import combine, narrowed, power
from appyc.c_gen.text.c_types import c_type, constant, storage_type
from appyc.c_gen.text.coalesced_subscripts import coalesced_position
from appyc.errors import InternalError, Loc
from appyc.ir import nodes as ir
from appyc.ir import raising
from appyc.ir.types import Container, DType, Layout

_TRAP_MESSAGES = {
    ("/", False): "division by zero",
    ("/", True): "float division by zero",
    ("//", False): "integer division or modulo by zero",
    ("//", True): "float floor division by zero",
    ("%", False): "integer modulo by zero",
    ("%", True): "float modulo by zero",
}


def expression(ctx: FunctionContext, expr: ir.Expr) -> str:
    """The C text of an expression, in parentheses unless it is a single term."""
    match expr:
        case ir.Const():
            return constant(expr.value, expr.dtype)
        case ir.Var():
            return ctx.name(expr.symbol)
        case ir.Extent():
            return ctx.extent(expr.array, expr.axis)
        case ir.Load():
            return _load(ctx, expr)
        case ir.Unary():
            return _unary(ctx, expr)
        case ir.Binary():
            return _binary(ctx, expr)
        case ir.Compare():
            return _compare(ctx, expr)
        case ir.Logical():
            op = "&&" if expr.op == "and" else "||"
            return f"({expression(ctx, expr.lhs)} {op} {expression(ctx, expr.rhs)})"
        case ir.Select():
            cond, then, orelse = (expression(ctx, e) for e in (expr.cond, expr.then, expr.orelse))
            return f"({cond} ? {then} : {orelse})"
        case ir.Cast():
            return _converted(ctx, expression(ctx, expr.arg), expr.arg.dtype, expr.dtype)
        case ir.Intrinsic():
            return _sequenced(ctx, expr.args, lambda args: _function(ctx, expr, args))
        case ir.Draw():
            where = _generator(ctx, expr)
            return _sequenced(ctx, expr.args, lambda args: draw(ctx, expr.name, [where, *args]))
        case ir.AnyLane():
            return expression(ctx, expr.arg)  # here a lane is an iteration of its own
        case ir.Apart():
            return _apart(ctx, expr)
        case ir.Ascending():
            return _ascending(ctx, expr)
        case ir.Workers():
            return str(ir.CHAINS) if ctx.in_piece else f"({ir.CHAINS} * threads)"
        case ir.Likely():
            return f"__builtin_expect({expression(ctx, expr.arg)}, 1)"
        case ir.Call():
            raise InternalError("c_gen", "a call is a part of a larger expression")
        case ir.Reduce():
            raise InternalError("c_gen", "a tensor expression is left")
        case _:
            assert_never(expr)


def _sequenced(
    ctx: FunctionContext,
    operands: Sequence[ir.Expr],
    operation: Callable[[list[str]], str],
    raises: bool = False,
) -> str:
    """An operation whose operands are evaluated from left to right where more than one part may raise. C fixes no
    order, and the first exception is the one that Python raises. `raises`: the operation tests its last operand."""
    texts = [expression(ctx, operand) for operand in operands]
    declared = ""
    if not ctx.leaves_fast_loop:  # there an iteration that raises is run again
        later = raises
        for number in range(len(operands) - 1, -1, -1):
            if (number == 0 and not later) or not raising.can_fault(operands[number]):
                continue
            if later and number + 1 < len(operands):
                ctype = c_type(operands[number].dtype)
                declared = f"const {ctype} operand{number} = {texts[number]}; {declared}"
                texts[number] = f"operand{number}"
            later = True
    value = operation(texts)
    return f"({{ {declared}{value}; }})" if declared else value


def _generator(ctx: FunctionContext, expr: ir.Draw) -> str:
    return (
        f"&{ctx.generator(expr.generators)}"
        if expr.generators in ctx.generators
        else expression(ctx, expr.where)
    )


def draw(ctx: FunctionContext, name: str, operands: Sequence[str]) -> str:
    """A call of a function that draws from the generator whose address is the first operand."""
    return f"{ctx.module.helpers.plain(name)}((struct generator *){', '.join(operands)})"


def element(ctx: FunctionContext, array: ir.Symbol, positions: Sequence[str]) -> str:
    """An array's element, as something that can be assigned to."""
    data = ctx.name(array)
    names = ctx.module.names
    layout = array.array.layout
    if layout is Layout.STRIDED:
        const = "const " if array.array.readonly else ""
        terms = [f"{position} * {names.stride(array, axis)}" for axis, position in enumerate(positions)]
        address = f"({const}char *){data} + ({' + '.join(terms) or '0'})"
        unaligned = " __attribute__((aligned(1)))" if array.array.container is Container.PACKED else ""
        return f"*({const}{storage_type(array.dtype)}{unaligned} *)({address})"
    if not positions:
        return f"{data}[0]"
    order = range(len(positions)) if layout is Layout.C else range(len(positions) - 1, -1, -1)
    offset = ""
    for axis in order:
        offset = (
            f"({offset} * {names.extent(array, axis)} + {positions[axis]})" if offset else positions[axis]
        )
    return f"{data}[{offset[1:-1] if len(positions) > 1 else offset}]"


def element_at(ctx: FunctionContext, array: ir.Symbol, index: Sequence[ir.Expr]) -> str:
    """An array's element at indices that are in range."""
    position = coalesced_position(array, index)
    if position is None:
        return element(ctx, array, [expression(ctx, i) for i in index])
    at, start = position
    if not any(start):
        return f"{ctx.name(array)}[{expression(ctx, at)}]"
    row = element(ctx, array, [expression(ctx, i) if i is not None else "0" for i in start])
    return f"(&{row})[{expression(ctx, at)}]"


def _converted(ctx: FunctionContext, text: str, source: DType, dtype: DType) -> str:
    """A number of another type. A float16, which is its bits, is converted by way of a float.

    A narrow integer is, too, by way of a wider one: -2.0 becomes 254 in uint8, as in NumPy. In C the direct cast is
    undefined, and compilers make use of that in loops."""
    helper = ctx.module.helpers.plain
    if source is DType.FLOAT16:
        source, text = DType.FLOAT32, f"{helper('float_of_half')}({text})"
    if dtype is DType.FLOAT16:
        return f"{helper('half_of_double' if source is DType.FLOAT64 else 'half_of_float')}({text})"
    by_way_of = ""
    if source.is_float and dtype.is_integer:
        if dtype is DType.UINT64:
            by_way_of = helper("to_uint64")
        elif dtype.bits < 32:
            by_way_of = "(int32_t)"
        elif dtype is DType.UINT32:
            by_way_of = "(int64_t)"
    return f"({c_type(dtype)}){by_way_of}({text})"


def _apart(ctx: FunctionContext, expr: ir.Apart) -> str:
    """A call of the inspector with the elements written and the elements read; an empty list gets a dummy entry."""
    inspector = ctx.module.helpers.plain("apart")
    writes, reads = (
        ", ".join(_iteration_index(ctx, p) for p in group) for group in (expr.writes, expr.reads)
    )
    lo, hi, extent = (expression(ctx, e) for e in (expr.lo, expr.hi, expr.extent))
    threads = "1" if ctx.in_piece or ctx.module.sequential else "threads"
    return (
        f"{inspector}((const struct iteration_index[]){{{writes}}}, {len(expr.writes)}, "
        f"(const struct iteration_index[]){{{reads or '{0}'}}}, {len(expr.reads)}, "
        f"{lo}, {hi}, {expr.step}, {extent}, {threads}, {str(expr.optional).lower()})"
    )


def _iteration_index(ctx: FunctionContext, index: ir.IterationIndex) -> str:
    array, offset = index.array, expression(ctx, index.offset)
    dtype = DType.INT64 if array is None else array.dtype
    mark, touched = (ctx.module.helpers.typed(name, dtype) for name in ("mark", "touched"))
    if array is None:
        return f"{{0, 0, 0, {offset}, {mark}, {touched}}}"
    data, stride = _bytes_of(ctx, array)
    return f"{{{data}, {stride}, {ctx.extent(array, 0)}, {offset}, {mark}, {touched}}}"


def _ascending(ctx: FunctionContext, expr: ir.Ascending) -> str:
    inspector = ctx.module.helpers.typed("ascending", expr.array.dtype)
    lo, hi = (expression(ctx, e) for e in (expr.lo, expr.hi))
    data, stride = _bytes_of(ctx, expr.array)
    return f"{inspector}({data}, {stride}, {ctx.extent(expr.array, 0)}, {lo}, {hi})"


def _bytes_of(ctx: FunctionContext, array: ir.Symbol) -> tuple[str, str]:
    """A vector's address, and its stride in bytes."""
    strided = array.array.layout is Layout.STRIDED
    stride = ctx.module.names.stride(array, 0) if strided else str(array.dtype.itemsize)
    return f"(const char *){ctx.name(array)}", stride


def checked_positions(
    ctx: FunctionContext, array: ir.Symbol, index: Sequence[ir.Expr], loc: Loc, *, stored: bool = False
) -> list[tuple[str, str]]:
    """Names with their texts, in order. The last are `position0`, ..., the checked indices (-1: out of range)."""
    out = []
    if ctx.leaves_fast_loop:
        for axis, position in enumerate(index):
            extent = ctx.extent(array, axis)
            outside = f"__builtin_expect((uint64_t)index{axis} >= (uint64_t){extent}, 0)"
            declared = f"const int64_t index{axis} = {expression(ctx, position)};"
            out.append((f"position{axis}", f"({{ {declared} if ({outside}) break; index{axis}; }})"))
        return out
    ctx.module.helpers.plain("at")
    texts = [expression(ctx, position) for position in index]
    if raising.can_fault(index[1:]):  # Python evaluates all of them before the array tests the first
        out = [(f"index{axis}", text) for axis, text in enumerate(texts)]
        texts = [name for name, _ in out]
    for axis, text in enumerate(texts):
        fault = ctx.module.index_fault(array, axis, loc, stored=stored)
        out.append((f"position{axis}", f"at({text}, {ctx.extent(array, axis)}, {fault}, fault, &failed)"))
    return out


def _load(ctx: FunctionContext, load: ir.Load) -> str:
    zero = constant(0, load.dtype)
    if not load.checked or not load.index:
        value = _value(load.array, element_at(ctx, load.array, load.index))
    else:
        positions = checked_positions(ctx, load.array, load.index, load.loc)
        declared = "".join(f"const int64_t {name} = {text}; " for name, text in positions)
        names = [name for name, _ in positions[-len(load.index) :]]
        found = _value(load.array, element(ctx, load.array, names))
        if not ctx.leaves_fast_loop:
            found = f"({' | '.join(names)}) < 0 ? {zero} : {found}"
        value = f"({{ {declared}{found}; }})"
    if load.mask is None:
        return value
    return f"({expression(ctx, load.mask)} ? {value} : {zero})"


def _value(array: ir.Symbol, text: str) -> str:
    return f"({text} != 0)" if array.dtype is DType.BOOL else text


def _unary(ctx: FunctionContext, expr: ir.Unary) -> str:
    arg = expression(ctx, expr.arg)
    if expr.op == "~" and expr.dtype is DType.BOOL:
        return f"(!{arg})"
    return narrowed(f"({expr.op}{arg})", expr.dtype)


def _compare(ctx: FunctionContext, expr: ir.Compare) -> str:
    if expr.lhs.dtype.is_complex and expr.op not in ("==", "!="):
        raise InternalError("c_gen", f"complex numbers have no order for {expr.op!r}")
    return _sequenced(ctx, (expr.lhs, expr.rhs), lambda texts: f"({texts[0]} {expr.op} {texts[1]})")


def _binary(ctx: FunctionContext, expr: ir.Binary) -> str:
    raises = raising.divisor_may_be_zero(expr) or raising.exponent_may_be_negative(expr)
    return _sequenced(ctx, (expr.lhs, expr.rhs), lambda texts: _operator(ctx, expr, *texts), raises)


def _operator(ctx: FunctionContext, expr: ir.Binary, lhs: str, rhs: str) -> str:
    dtype = expr.dtype
    if raising.divisor_may_be_zero(expr):
        message = _TRAP_MESSAGES[expr.op, dtype.is_float]
        site = ctx.module.sites.add("ZeroDivisionError", message, expr.loc)
        rhs = f"{ctx.module.helpers.typed('divisor', dtype)}({rhs}, {site}, fault, &failed)"
    if raising.exponent_may_be_negative(expr):
        message = "Integers to negative integer powers are not allowed."
        site = ctx.module.sites.add("ValueError", message, expr.loc)
        rhs = f"{ctx.module.helpers.typed('exponent', dtype)}({rhs}, {site}, fault, &failed)"
    if raising.traps_overflow(expr):
        return checked(ctx, expr.op, lhs, rhs, expr.loc)
    if expr.op == "**":
        return power(ctx, expr, lhs, rhs)
    if isinstance(expr.rhs, ir.Const) and isinstance(expr.rhs.value, int) and dtype.is_integer:
        number = int(expr.rhs.value)
        if expr.op in ("<<", ">>") and 0 <= number < dtype.bits:
            return narrowed(f"({lhs} {expr.op} {number})", dtype)
        if expr.op in ("//", "%") and number.bit_count() == 1 and number > 0:  # rounded down, as a shift is
            shifted = (
                f"({lhs} >> {number.bit_length() - 1})" if expr.op == "//" else f"({lhs} & {number - 1})"
            )
            return narrowed(shifted, dtype)
    elif ctx.in_lanes and expr.op in ("//", "%") and dtype.kind == "i":
        name = "floordiv_lanes" if expr.op == "//" else "mod_lanes"
        return f"{ctx.module.helpers.typed(name, dtype)}({lhs}, {rhs})"
    return combine(ctx, expr.op, dtype, lhs, rhs)


def checked(ctx: FunctionContext, op: str, lhs: str, rhs: str, loc: Loc) -> str:
    """An operation on Python ints that fails where its result takes more than 64 bits."""
    function = ctx.module.helpers.plain(f"{raising.CHECKED[op]}_checked")
    return f"{function}({lhs}, {rhs}, {ctx.module.overflow_fault(loc)}, fault, &failed)"


def emit_combined(
    ctx: FunctionContext, reduction: ir.Reduction, part: str, loop: ir.For, head: str = ""
) -> None:
    """Writes that a reduction's scalar takes up a partial result. head: the loop over these."""
    symbol, name = reduction.symbol, ctx.name(reduction.symbol)
    traps = symbol in raising.trapping_sums(loop.body)
    value = combine(ctx, reduction.op, symbol.dtype, name, part)
    if traps:
        value = checked(ctx, reduction.op, name, part, loop.loc)
    ctx.writer.line(f"{head}{name} = {value};")
    if traps:
        ctx.leave_if_failed()


def _part(ctx: FunctionContext, name: str, number: ir.Expr) -> str:
    """A part of a complex number; of one that is read under a mask, it is the part that has it: lanes read floats."""
    if isinstance(number, ir.Load) and number.mask is not None:
        there = expression(ctx, replace(number, mask=None))
        return f"({expression(ctx, number.mask)} ? __{name}__ ({there}) : {constant(0, number.dtype.part)})"
    return f"(__{name}__ ({expression(ctx, number)}))"


_COMPLEX_FUNCTIONS = {
    "abs": "cabs",
    "exp": "cexp",
    "log": "clog",
    "sin": "csin",
    "cos": "ccos",
    "sqrt": "csqrt",
}


def _function(ctx: FunctionContext, expr: ir.Intrinsic, args: list[str]) -> str:
    helpers = ctx.module.helpers
    dtype = expr.args[0].dtype
    first = args[0]
    match expr.name:
        case "abs" if dtype.kind in "iu":
            return f"{helpers.typed('iabs', dtype)}({first})" if dtype.kind == "i" else first
        case "abs" if dtype.is_float:
            return f"{helpers.library('fabs', dtype)}({first})"
        case "sign":
            return f"{helpers.typed('sign', dtype)}({first})"
        case "float_bits":
            return f"((union {{ double number; int64_t word; }}){{{first}}}).word"
        case "mulhi":
            return f"(uint64_t)((unsigned __int128){first} * {args[1]} >> 64)"
        case "isnan" | "isinf" | "isfinite":
            return f"(__builtin_{expr.name}({first}) != 0)"
        case "real" | "imag":
            return _part(ctx, expr.name, expr.args[0])
        case "conj":
            return f"(~{first})"  # GNU C's conjugate
        case "complex":
            return f"__builtin_complex({first}, {args[1]})"
        case "abs" | "exp" if dtype.is_complex and not ctx.module.options.exact:
            return f"{helpers.typed('csize' if expr.name == 'abs' else 'cexp_', dtype)}({first})"
        case name if dtype.is_complex:
            if name not in _COMPLEX_FUNCTIONS:
                raise InternalError("c_gen", f"no intrinsic {name!r} on {dtype}")
            return f"{helpers.library(_COMPLEX_FUNCTIONS[name], dtype)}({first})"
        case name:
            return f"{helpers.function(name, dtype)}({', '.join(args)})"
