"""Loop versioning for bounds checks that seldom fail: a fast loop, then the checked loop for the other iterations.

Before, each load depends on the result of its check:

    for (k = lo; k < hi; k += 1) { s += val[at(k)] * x[at(col[at(k)])]; if (failed) goto leave; }

After:

    int64_t k = lo;
    if (lo >= 0 && hi - 1 < val_n0 && lo >= 0 && hi - 1 < col_n0)
        for (; k < hi; k += 1) { if (col[k] is out of range) break; s += val[k] * x[col[k]]; }
    for (; k < hi; k += 1) ...              // as before, from the iteration that left the fast loop

An index that is the loop variable times an invariant, plus an invariant, is tested once, before the loop, for the
first and the last iteration. Other indices are tested where they are used, by a branch that is well predicted. The
fast loop exits before the iteration has a side effect. The checked loop also does the iterations with a
negative index, which counts from the end. The operations and their order stay the same.

Where no test remains in the fast loop, and its iterations are independent, it is vectorised. Which loops take this
form, `passes/vectorise/guarded_loops.py` says.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.c_gen.c_module import Body, FunctionContext
from appyc.c_gen.lanes.simd import emit_simd
from appyc.c_gen.text.c_expressions import expression
from appyc.ir.affine import slope
from appyc.ir.array_accesses import bounds_tests, without_check
from appyc.ir.nodes import Const, For, Node
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
    return without_check(node) if tests and all(test in form.ends for test in tests) else node


def _in_range(ctx: FunctionContext, loop: For, form: Guarded, lo: str, hi: str) -> list[str]:
    first, last = (ctx.spelling({loop.var: f"({end})"}) for end in (lo, f"{hi} - 1"))
    tests: dict[str, None] = {}
    for index, extent in form.ends:
        factor = slope(index, loop.var)
        assert factor is not None
        rises = isinstance(factor, Const) and factor.value in (0, 1)
        for end in (first,) if rises else (first, last):
            tests[f"{expression(end, index)} >= 0"] = None
        for end in (last,) if rises else (first, last):
            tests[f"{expression(end, index)} < {expression(ctx, extent)}"] = None
        if not rises:  # nor does it wrap in between
            length = f"((double)({hi}) - (double)({lo}))"
            tests[f"__builtin_fabs((double){expression(ctx, factor)}) * {length} < 0x1p62"] = None
    return list(tests)
