"""Functions that are called, not inlined: recursive ones, large ones, and some of the library (`inlining.py`). Each is
specialised to one IR callee per combination of argument types.

    def fib(n):                                  def fib(n):
        return fib(10) + n                           t = fib_1(10)
                                       ->            return t + n
                                                 # and fib_1(n), which calls itself

Result types are a fixed point. They are inferred first from the paths without recursive calls; the function is then
lowered again until the types are stable. In the first round, a path ends where it needs an unknown result (`NoValue`).

The free symbols of a callee, which enclosing functions define or capture, become hidden parameters with the same
symbols (`with_callees`). Arrays are passed as views, lists as their columns and the number of their items; others,
whose lengths the callee changes, as `resized_lists.py` has it; new arrays are returned as `callee_results.py` has it.

Does not handle: results that are views of arguments; parallel loops inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.control.returned_values import with_chosen_arrays
from appyc.frontend.expressions.arithmetic import const, integer
from appyc.frontend.expressions.callee_arguments import (
    FlatArguments,
    Kind,
    captured_values,
    identity,
    in_frame,
    kind_around,
    received,
)
from appyc.frontend.expressions.callee_facts import Made
from appyc.frontend.expressions.callee_results import (
    arrays_in,
    built,
    is_vector,
    made_in_place,
    new_arrays,
    numbers_in,
    put_elements,
    result_shape,
    with_copied_views,
    with_lengths,
)
from appyc.frontend.expressions.resized_lists import load_sizes, names_of_lists, store_sizes, with_sizes
from appyc.frontend.facts import NoValue
from appyc.frontend.resolve import Called
from appyc.frontend.scope import Scope
from appyc.frontend.types.value_parts import numbers_of
from appyc.frontend.types.values import ListSlots, Number, Value
from appyc.ir import nodes as ir
from appyc.ir.names import of_function, unused
from appyc.ir.raising import DIVISION, is_settled
from appyc.ir.types import ArrayType, DType, Layout
from appyc.ir.visit import arrays_written, walk
from appyc.library.table import LIBRARY

MAX_CALLEES = 16
"""The most specialisations of one compiled function's callees, which bounds polymorphic recursion."""

MAX_PARAMETERS = 4096
"""The most parameters of all of these: a tuple of two tuples at each call has 65,536 numbers at the last one."""


def lower_recursive(scope: Scope, called: Called, arguments: Mapping[str, Value], loc: Loc) -> Value:
    """The value of a call of a callee. Raises NoValue where its result type is not known yet."""
    callees = scope.callees
    resized = {name for key, name in callees.known.resized if key == called.key}
    flat = FlatArguments(scope, called.name, loc)
    kinds = tuple(flat.kind(value, name in resized) for name, value in arguments.items())
    around = captured_values([*called.around.values(), *flat.functions], loc)
    key = (called.key, kinds, tuple(kind_around(value, loc) for value in around))
    here = (key, tuple(map(identity, around)))
    made = callees.made.get(here)
    if made is None:
        callees.parameters += len(flat.args)
        if len(callees.made) >= MAX_CALLEES or callees.parameters > MAX_PARAMETERS:
            raise UnsupportedError(f"{called.name} calls itself with ever other types", loc,
                                   "give it arguments of the same types each time")  # fmt: skip
        taken = {other.name for other in callees.made.values()}
        in_order = all(kind.layout is Layout.C for kind in kinds if isinstance(kind, ArrayType))
        library = LIBRARY.get(called.key, "") if in_order else ""
        made = callees.made[here] = Made(unused(f"{of_function(called.name)}_call", taken), key, library)
        _make(scope, made, called, arguments, kinds, loc)
    if key not in callees.known.results:
        callees.asked.add(key)
        raise NoValue
    result = callees.known.results[key]
    numbers = numbers_in(result)
    arrays = [
        scope.supply.fresh(f"{made.name}_{k}", ArrayType(t.dtype, 1)) for k, t in enumerate(numbers[1:], 1)
    ]
    start, one = (integer(0, loc),), (integer(1, loc),)
    for array in arrays:
        scope.emit(ir.Alloc(array, one, zero=False, in_frame=True, loc=loc))
    outs = [scope.supply.fresh("elements", ArrayType(type_.kind.dtype, 1)) for type_ in arrays_in(result)]
    for out in outs:
        scope.emit(ir.Alloc(out, start, zero=False, loc=loc))
    for slots, sizes in flat.resized:
        scope.emit(ir.Alloc(sizes, (integer(2, loc),), zero=False, in_frame=True, loc=loc))
        store_sizes(scope, slots, sizes, loc)
    args = [
        replace(arg, written=number in callees.known.written[key]) if isinstance(arg, ir.View) else arg
        for number, arg in enumerate(flat.args)
    ]
    dtype = numbers[0].dtype if numbers else DType.INT64
    target = scope.supply.fresh(made.name, dtype)
    args += [in_frame(array, 1, loc) for array in arrays]
    args += [ir.View(out, written=True, resized=True, loc=loc) for out in outs]
    scope.emit(ir.Assign(target, ir.Call(made.name, tuple(args), dtype, loc=loc), loc=loc))
    for stored in {arg.array for arg in args if isinstance(arg, ir.View) and arg.written} | made.stored:
        scope.memory.store(stored, loc)
    for slots, sizes in flat.resized:
        load_sizes(scope, slots, sizes, loc)
    more = (scope.temp(made.name, ir.Load(array, start, checked=False, loc=loc)) for array in arrays)
    returned = [ir.Var(target, loc=loc), *more]
    values = (
        Number(v, t.python, t.either, mixed=k in made.mixed)
        for k, (v, t) in enumerate(zip(returned, numbers, strict=False))
    )
    return built(scope, result, values, iter(outs), flat.leaves, loc)


# ---------------------------------------------------------------- the callee


def _make(
    scope: Scope, made: Made, called: Called, arguments: Mapping[str, Value], kinds: Sequence[Kind], loc: Loc
) -> None:
    """Lowers the callee, and records its result type and the parameters that it stores into."""
    params: list[ir.Symbol] = []
    values = {
        name: received(scope, name, value, kind, params, loc)
        for (name, value), kind in zip(arguments.items(), kinds, strict=True)
    }
    lists = {name: value for name, value in values.items() if isinstance(value, ListSlots)}
    own_names = names_of_lists(scope, arguments)
    statements, value, inner = scope.lowering.callee(scope, called, values, frozenset(params), own_names, loc)
    is_large = called.key in scope.callees.known.inlining.outlined
    _refuse(statements, is_large=is_large)
    end = len(inner.block)
    value = with_copied_views(inner, with_chosen_arrays(inner, inner, value, loc), loc)
    statements += tuple(inner.block[end:])
    statements = with_sizes(scope, called.key, lists, params, statements, loc)
    new = new_arrays(value, inner.memory, params)
    shape = result_shape(
        value, params, new, inner.memory, called.name, inner.result.loc if inner.result is not None else loc
    )
    if is_large and any(type_.given for type_ in arrays_in(shape)):
        raise UnsupportedError(f"{called.name} may return its argument, and is inlined", loc)
    numbers = numbers_of(with_lengths(value, new, inner.memory, params, loc))
    outs = [scope.supply.fresh("elements", ArrayType(array.symbol.dtype, 1)) for array in new]
    in_place = {
        array.symbol: out for array, out in zip(new, outs, strict=True) if is_vector(array.symbol.array)
    }
    copies = [
        stmt
        for array, out in zip(new, outs, strict=True)
        if array.symbol not in in_place
        for stmt in put_elements(scope, array, out, loc)
    ]
    made.mixed = frozenset(number for number, value in enumerate(numbers) if value.mixed)
    arrays = [scope.supply.fresh(f"result_{k}", ArrayType(n.type.dtype, 1)) for k, n in enumerate(numbers)][
        1:
    ]
    start = (integer(0, loc),)
    stores = (
        ir.Store(array, start, n.expr, checked=False, loc=loc)
        for array, n in zip(arrays, numbers[1:], strict=True)
    )
    first = numbers[0] if numbers else Number(const(0, DType.INT64, loc), python=True)
    function = ir.Function(
        made.name,
        (*params, *arrays, *outs),
        (*statements, *stores, *copies),
        (ir.Result(first.expr, first.python, loc=loc),),
        tree=0,
        loc=inner.loc(inner.source.ast),
    )
    made.function = made_in_place(scope, function, in_place)
    written = arrays_written(statements)
    own = {n.array for n in walk(statements) if isinstance(n, ir.Alloc)}
    made.stored = frozenset((written | {array for array, _ in inner.memory.stores}) - own - {*params})
    if inner.result is not None or inner.live:
        scope.callees.learn(
            made.key, shape, frozenset(number for number, symbol in enumerate(params) if symbol in written)
        )


def _refuse(statements: Sequence[ir.Stmt], *, is_large: bool) -> None:
    """Raises UnsupportedError for what a callee does not do. is_large: it need not be called, and only inlined code
    has guards in front of all stores."""
    for node in walk(statements):
        asked = node.clauses if isinstance(node, ir.For) else None
        if asked is not None and asked.request in ("parallel", "simd"):
            raise UnsupportedError("a loop inside a recursive function cannot run in parallel", node.loc,
                                   "leave the pragma out")  # fmt: skip
        if isinstance(node, ir.Fail) and not is_settled(node):
            raise UnsupportedError("types change in a loop of a recursive function", node.loc,
                                   "start with numbers of the types that follow")  # fmt: skip
        if is_large and isinstance(node, ir.Fail) and node.message == DIVISION:
            raise UnsupportedError("a callee does not divide what may be Python's own number", node.loc)
