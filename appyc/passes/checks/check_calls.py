"""Legality of marked loops in functions that pass arrays to compiled callees.

Nothing is known of what those do with an array but whether they store into it, so such a function has no loop that
runs in parallel; what it calls may be a loop of its own, with a pragma.
"""

from __future__ import annotations

from appyc.errors import DependenceError, Note
from appyc.ir.nodes import Call, Function
from appyc.ir.visit import loops_of, walk
from appyc.passes.pass_context import PassContext


def passes_arrays(fn: Function) -> bool:
    """Whether the function passes arrays to functions that it calls."""
    return any(isinstance(n, Call) and n.views for n in walk(fn.body))


def check_calls(fn: Function, ctx: PassContext) -> Function:
    """The function as it is. Raises DependenceError for a loop that was asked to run in parallel.

    #pragma parallel for                          DependenceError: `sort` may store into 'a' ...
    for i in range(n):
        sort(a, lo[i], hi[i])
    """
    for loop in loops_of(fn.body):
        clauses = loop.clauses
        if clauses is None or not (clauses.request in ("parallel", "simd") or clauses.transforms):
            continue
        what = "run in parallel" if clauses.request in ("parallel", "simd") else "be transformed"
        calls = [n for n in walk(loop.body) if isinstance(n, Call) and n.views]
        call = (calls or [n for n in walk(fn.body) if isinstance(n, Call) and n.views])[0]
        names = ", ".join(sorted({f"'{view.array.name}'" for view in call.views}))
        where = "iterations call a recursive function" if calls else "the function calls a recursive one"
        raise DependenceError(
            f"the loop cannot {what}: {where} with {names}, and what that touches is not known", clauses.loc,
            "leave the pragma out", "or call the recursive function in a function without this loop",
            label="asked for here", related=(Note(call.loc, "the call"),),
        )  # fmt: skip
    return fn
