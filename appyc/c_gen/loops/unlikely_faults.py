"""Loop versioning for bounds checks that seldom fail: a fast loop, then the checked loop for the other iterations.

Before, each load depends on the result of its check:

    for (k = lo; k < hi; k += 1) { s += val[at(k)] * x[at(col[at(k)])]; if (failed) goto leave; }

After:

    int64_t k = lo;
    if (lo >= 0 && hi - 1 < val_n0 && lo >= 0 && hi - 1 < col_n0)
        for (; k < hi; k += 1) { if (col[k] is out of range) break; s += val[k] * x[col[k]]; }
    for (; k < hi; k += 1) ...              // as before, from the iteration that left the fast loop

An index that is the loop variable times an invariant, plus an invariant, is tested once, before the loop, for the
first and the last iteration, in 128 bits. Other indices are tested where they are used, by a branch that is well
predicted. The fast loop exits before the iteration has a side effect. The checked loop also does the iterations with
a negative index, which counts from the end. The operations and their order stay the same.

Where no test remains in the fast loop, and its iterations are independent, it is vectorised. Which loops take this
form, `passes/vectorise/guarded_loops.py` says.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.lanes.simd import emit_simd
from appyc.c_gen.text.c_expressions import expression
from appyc.ir.affine import slope
from appyc.ir.array_accesses import bounds_tests, in_bounds, may_wrap, without_traps
from appyc.ir.nodes import Binary, Const, Expr, For, Node, Symbol, Unary
from appyc.ir.schedule import Guarded
from appyc.ir.visit import rewrite_all


def emit_fast_loop(ctx: FunctionContext, loop: For, form: Guarded, lo: str, hi: str, body: Body) -> None:
    """Writes both loops; `lo` and `hi` are terms that do not change while they run."""
    writer, var = ctx.writer, ctx.name(loop.var)
    unchecked = rewrite_all(loop.body, lambda n: _without_check(n, form))
    careful = f"for (; {var} < {hi}; {var} += {loop.step})"
    writer.line(f"int64_t {var} = {lo};")
    with writer.block(f"if ({' && '.join(_in_range(ctx, loop, form, lo, hi)) or 'true'})"):
        if form.lanes:
            emit_simd(ctx, replace(loop, body=unchecked), lo, hi, body)
            writer.line(f"{var} = {hi};")
        else:
            with writer.block(careful):
                body(replace(ctx, leaves_fast_loop=True), unchecked)
    with writer.block(careful):
        body(ctx, loop.body)


def _without_check(node: Node, form: Guarded) -> Node | tuple[Node, ...]:
    """An access whose indices are tested before the loop, without its own check."""
    tests = bounds_tests(node)
    return in_bounds(node) if tests and all(test in form.ends for test in tests) else node


def _in_range(ctx: FunctionContext, loop: For, form: Guarded, lo: str, hi: str) -> list[str]:
    tests: dict[str, None] = {}
    for index, extent in form.ends:
        factor = slope(without_traps(index), loop.var)
        first, last = (_wide(ctx, index, loop.var, f"({end})") for end in (lo, f"{hi} - 1"))
        rises = isinstance(factor, Const) and factor.value in (0, 1)
        for end in (first,) if rises else (first, last):
            tests[f"{end} >= 0"] = None
        for end in (last,) if rises else (first, last):
            tests[f"{end} < {expression(ctx, extent)}"] = None
    return list(tests)


def _wide(ctx: FunctionContext, index: Expr, var: Symbol, value: str) -> str:
    """An index for a value of the loop variable, in 128 bits where 64 may not hold it."""
    if may_wrap(index, var):
        match index:
            case Binary(op=op, lhs=lhs, rhs=rhs):
                return f"({_wide(ctx, lhs, var, value)} {op} {_wide(ctx, rhs, var, value)})"
            case Unary(arg=arg):
                return f"(-{_wide(ctx, arg, var, value)})"
    return f"(__int128){expression(ctx.spelling({var: value}), index)}"
