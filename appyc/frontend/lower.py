"""Entry point of the front end: lowers a Python function, for given argument types, to an ir.Function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from types import FunctionType

import numpy as np

from appyc.errors import CompileError, Loc, UnsupportedError
from appyc.frontend import syntax_dispatch
from appyc.frontend.access import AccessPath, python_function
from appyc.frontend.arrays.allocations import Memory
from appyc.frontend.arrays.tensors import held
from appyc.frontend.control import returns
from appyc.frontend.control.phi_storage import arrays_of, start_late
from appyc.frontend.control.returned_values import ResultTrees, with_chosen_arrays, without_elements
from appyc.frontend.control.statements import lower_block, lower_statement
from appyc.frontend.desugar.array_iterators import without_array_iterators
from appyc.frontend.desugar.array_lists import without_array_lists
from appyc.frontend.desugar.bound_methods import without_bound_methods
from appyc.frontend.desugar.constant_sets import without_constant_sets
from appyc.frontend.desugar.consumed_generators import without_generator_calls
from appyc.frontend.desugar.generator_loops import without_generators
from appyc.frontend.desugar.hash_tables import without_hash_tables
from appyc.frontend.desugar.list_rules import with_lifted_lists, with_named_lists
from appyc.frontend.desugar.mapped import without_maps, without_strict_zips
from appyc.frontend.desugar.memo_dicts import without_caches
from appyc.frontend.desugar.nested_lists import without_nested_lists
from appyc.frontend.desugar.range_names import without_range_names
from appyc.frontend.desugar.rebound_names import with_names_for_rebound
from appyc.frontend.desugar.rewriting import with_split_assignments
from appyc.frontend.desugar.sequences import without_byte_arrays, without_deques, without_list_methods
from appyc.frontend.desugar.tries import without_tries
from appyc.frontend.desugar.unswitched_loops import with_unswitched_loops
from appyc.frontend.expressions import structured_arrays
from appyc.frontend.expressions.arithmetic import cast, const
from appyc.frontend.expressions.callee_facts import Callees, Known, with_callees
from appyc.frontend.expressions.indexed_tuples import table_of
from appyc.frontend.expressions.left_calls import settled_callees, settled_calls, tests_of_callee
from appyc.frontend.expressions.list_storage import columns_of, give_list, settle_mixed
from appyc.frontend.expressions.recursion import lower_recursive
from appyc.frontend.expressions.resized_lists import names_of_lists
from appyc.frontend.expressions.strings import bind_parameters
from appyc.frontend.expressions.written_texts import note_texts
from appyc.frontend.facts import Facts, NoValue, Recursive, Restart
from appyc.frontend.library.array_makers import array_of
from appyc.frontend.resolve import Called, Capture, Dependency, Environment, Names, is_function_of_library
from appyc.frontend.scope import Lowering, Scope
from appyc.frontend.source import LibraryText, Source
from appyc.frontend.syntax.tree import parameters_of, walk
from appyc.frontend.types import values as vals
from appyc.frontend.types.characters import is_text, without_characters
from appyc.ir.arguments import ArgType, NoneArg, ScalarArg, TupleArg, TupleKind
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Assign, Const, Extent, Function, Result, Stmt, Symbol, Var
from appyc.ir.types import ArrayType, Container, DType
from appyc.ir.visit import loops_of, rename
from appyc.library.table import LIST_LOOPS

_MAX_ATTEMPTS = 50


@dataclass(frozen=True, slots=True)
class Lowered:
    """A function in IR, with its captured values and compile-time dependencies.

    captures: hidden parameters, which follow the others in `function.params`.
    """

    function: Function
    captures: tuple[Capture, ...]
    dependencies: tuple[Dependency, ...]


@dataclass(frozen=True, slots=True)
class ObjectArg:
    """An argument that is neither number nor array; its attributes are captured where they are read."""

    value: object


def lower_function(
    fn: FunctionType,
    source: Source,
    arguments: Mapping[str, ArgType | ObjectArg],
    typeof: Callable[[object, str, Loc], ArgType],
    *,
    texts_from: float = 0,
    may_call: bool = True,
) -> Lowered:
    """IR for `fn` called with arguments of these types (by parameter name, in order).

    typeof: how to type a value found in a closure, a global or an attribute. texts_from: see `Environment`.
    may_call: see `Known`. Raises CompileError for what cannot be compiled.
    """
    facts, known = Facts(), Known(may_call=may_call)
    types = {name: type_ for name, type_ in arguments.items() if isinstance(type_, ArrayType)}
    source = replace(source, facts={})  # some are about globals, which change between calls
    for _ in range(_MAX_ATTEMPTS):
        facts.noted = False
        supply, callees = NameSupply(), Callees(known)
        environment = Environment(supply, typeof, fn, callees, texts_from=texts_from)
        names = Names(fn, environment, AccessPath())
        scope = Scope(
            LOWERING,
            _source(source, names, facts),
            names,
            supply,
            facts,
            (fn.__code__,),
            given_lists=frozenset(
                n for n, t in types.items() if t.container is Container.LIST and t.ndim == 1
            ),
        )
        try:
            lowered = _lower(scope, fn, arguments, environment)
        except (Restart, Recursive):
            continue
        except CompileError as error:
            if not facts.restarts(error):
                raise
            continue
        if known.called & LIST_LOOPS and any(n.clauses for n in loops_of(lowered.function.body)):
            known.called -= LIST_LOOPS
            known.inlines_all = True
        elif callees.is_done():
            whole = settled_callees(with_callees(lowered.function, callees))
            return replace(lowered, function=without_characters(_named(whole, scope)))
    if known.called:
        loc = Loc(source.file, source.first_line)
        raise UnsupportedError("the types that a recursive function returns do not settle", loc,
                               "return values of the same types on every path")  # fmt: skip
    raise AssertionError("lowering does not settle")


def _named(function: Function, scope: Scope) -> Function:
    """The function with the program's names for the arrays that it makes."""
    named = {array: replace(array, name=name) for array, name in scope.memory.named.items()}
    return rename(function, {array: new for array, new in named.items() if array in scope.memory.made})


def _source(source: Source, names: Names, facts: Facts, *, is_inlined: bool = False) -> Source:
    if isinstance(source, LibraryText):  # which is the same for calls at several locations
        return source
    note_texts(source, facts, names.environment.callees, is_inlined=is_inlined)
    what = f"containers {sorted(facts.array_lists.items())} {sorted(facts.hashed)} {is_inlined}"
    return source.remember(what, lambda: _without_containers(source, names, facts, is_inlined))


def _without_containers(source: Source, names: Names, facts: Facts, is_inlined: bool) -> Source:
    source = without_bound_methods(without_caches(source, names.plain), names.plain)
    source = without_maps(with_split_assignments(source), names.plain)
    source = without_generator_calls(source, names.plain)
    source = without_range_names(without_generators(source, names.plain), names.plain)
    source = without_strict_zips(with_names_for_rebound(source), names.plain)
    source = without_array_lists(with_split_assignments(source), facts.array_lists, names.plain)
    source = without_array_iterators(without_tries(source, names.plain), names.plain)
    for rule in (
        with_named_lists,
        without_byte_arrays,
        without_deques,
        without_constant_sets,
        partial(without_hash_tables, of_texts=frozenset(facts.hashed)),
        with_lifted_lists,
        partial(without_nested_lists, gives_tables=is_inlined),
        without_list_methods,
    ):
        source = rule(source, names.plain)
    return with_unswitched_loops(source, names.plain)


def _zeroed(symbols: Iterable[Symbol], loc: Loc) -> list[Stmt]:
    return [Assign(s, cast(const(0, DType.INT64, loc), s.dtype), loc=loc) for s in symbols]


def _unsure(scope: Scope, loc: Loc) -> list[Stmt]:
    """Definitions of what is only read behind a test that then fails: passes may remove all others."""
    return _zeroed(sorted(scope.unsure, key=lambda symbol: symbol.uid), loc)


def _lower(
    scope: Scope, fn: FunctionType, arguments: Mapping[str, ArgType | ObjectArg], environment: Environment
) -> Lowered:
    node = scope.source.ast
    loc = scope.loc(node)
    params: list[Symbol] = []
    locations = {a.arg: scope.loc(a) for a in parameters_of(node)}
    rebound = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del)}
    for name, arg in arguments.items():
        before = len(params)
        value = _parameter(scope, name, arg, params, locations[name])
        scope.env[name] = _as_binding(value)
        if isinstance(value, vals.TupleValue) and name in scope.indexed:
            scope.bind(name, value, locations[name])  # with a lookup table
        elif name not in rebound:
            scope.fixed |= {*params[before:]}
    if fn.__code__ in scope.callees.known.called:
        scope.locals |= arguments.keys()
        _lower_call_of_itself(scope, fn, arguments, loc)
    else:
        scope.start_flags(loc)
        _lower_body(scope, node)
    value = returns.final_value(scope, loc)
    results: list[Result] = []
    tree = ResultTrees(scope, results, scope.result.loc if scope.result is not None else loc).tree(value)
    captures = tuple(environment.captures.values())
    scope.block[:0] = [*_unsure(scope, loc), *scope.first, *without_elements(scope, loc)]
    given = frozenset((*params, *(c.symbol for c in captures)))
    function = Function(
        fn.__name__,
        (*params, *(c.symbol for c in captures)),
        settled_calls(tuple(scope.block), given),
        tuple(results),
        tree,
        loc=loc,
    )
    return Lowered(function, captures, tuple(environment.dependencies.values()))


def _lower_call_of_itself(
    scope: Scope, fn: FunctionType, arguments: Mapping[str, ArgType | ObjectArg], loc: Loc
) -> None:
    """The entry of a recursive function: a call of the callee that the function is compiled to."""
    given = {name: scope.read(name, loc) for name in arguments}
    called = Called(fn.__name__, fn.__code__, scope.source, scope.names)
    with suppress(NoValue):  # the next round has the result's type
        returns.keep(scope, returns.stored(scope, lower_recursive(scope, called, given, loc), loc), loc)
    scope.live = False


def _lower_body(scope: Scope, node: ast.FunctionDef) -> None:
    """Lowers the statements of a function whose parameters are bound, behind `Scope.start_flags`."""
    loc = scope.loc(node)
    if scope.source.remember("returns early", lambda: returns.returns_early(node)):
        scope.returned = scope.supply.fresh("returned", DType.BOOL)
        scope.emit(Assign(scope.returned, const(False, DType.BOOL, loc), loc=loc))
    for name, binding in scope.env.items():
        if name in scope.flags:
            scope.emit(Assign(scope.flags[name], const(True, DType.BOOL, loc), loc=loc))
        if not (isinstance(binding, vals.Slot | vals.TupleSlots) and binding.optional):
            scope.set_none_flag(name, binding, loc)
    bind_parameters(scope, loc)
    start_late(scope, loc)
    lower_block(scope, returns.with_end(scope, node.body))
    scope.facts.settle()
    settle_mixed(scope)


def _parameter(
    scope: Scope, name: str, arg: ArgType | ObjectArg, params: list[Symbol], loc: Loc
) -> vals.Value:
    match arg:
        case ArrayType():
            is_text = arg.container is Container.TEXT
            params.append(scope.supply.fresh(name, replace(arg, dtype=DType.TEXT) if is_text else arg))
            return vals.ArrayRef(params[-1])
        case ScalarArg():
            params.append(scope.supply.fresh(name, arg.dtype))
            return vals.Number(Var(params[-1], loc=loc), arg.python)
        case TupleArg():
            first = len(params)
            items = tuple(_parameter(scope, f"{name}_{k}", a, params, loc) for k, a in enumerate(arg.items))
            match arg.kind:
                case TupleKind.TUPLE:
                    return vals.TupleValue(items, names=arg.names, made_by=arg.made_by)
                case TupleKind.TUPLES:
                    return columns_of(scope, name, params[first:], loc)
                case TupleKind.ROWS | TupleKind.ROWS_OF_TUPLES | TupleKind.ARRAYS:
                    of_tuples = arg.kind is TupleKind.ROWS_OF_TUPLES
                    of_arrays = arg.kind is TupleKind.ARRAYS
                    columns = vals.TupleValue(items[:-1])
                    return vals.ListRows(columns, vals.ArrayRef(params[-1]), of_tuples, of_arrays)
                case TupleKind.RECORDS | TupleKind.RECORD:
                    return structured_arrays.of_parameters(arg, params[first:], loc)
        case NoneArg():
            return vals.Opaque(None)
        case ObjectArg():
            path = AccessPath((("param", name),))
            is_function = python_function(arg.value) is not None or is_function_of_library(arg.value, path)
            if is_function or isinstance(arg.value, type | np.dtype):
                scope.names.environment.depend(path, arg.value)  # it is compiled in
            return vals.Opaque(arg.value, path)


def _as_binding(value: vals.Value) -> vals.Binding:
    match value:
        case vals.Number(expr=Var(symbol=symbol)):
            return vals.Slot(symbol, value.python)
        case vals.TupleValue():
            return vals.TupleSlots(tuple(map(_as_binding, value.items)), None, value.names, value.made_by)
        case vals.ListSlots() | vals.ListRows() | vals.Records() | vals.ArrayRef() | vals.Opaque():
            return value
        case _:
            raise AssertionError(f"a parameter cannot be {value}")


def lower_inline(caller: Scope, called: Called, given: Mapping[str, vals.Value], loc: Loc) -> vals.Value:
    """Inlines a function's body into the caller's block, with its parameters bound to these values."""
    own_names = names_of_lists(caller, {**called.around, **given})
    statements, value, scope = lower_callee(caller, called, given, None, own_names, loc)
    caller.block += statements
    return with_chosen_arrays(caller, scope, value, loc)


def lower_callee(
    caller: Scope,
    called: Called,
    given: Mapping[str, vals.Value],
    params: frozenset[Symbol] | None,
    own_names: Mapping[str, str],
    loc: Loc,
) -> tuple[tuple[Stmt, ...], vals.Value, Scope]:
    """The lowered body of a called function, its value and its scope.

    Captured names are among its parameters. params: those of a separate function, whose memory analysis is its own;
    None where it is inlined. own_names: by parameter, what the caller calls the lists that it gives.
    """
    items = caller.callees.known.items
    facts, source = Facts(lists={n: of for (key, n), of in items.items() if key == called.key}), called.source
    arguments = {**called.around, **given}
    lists = frozenset(
        name
        for name, value in arguments.items()
        if (vals.is_list_itself(value) or isinstance(value, vals.ListSlots))
        and (source.trusted or not is_text(value))
    )
    is_inlined = params is None
    memory = caller.memory if is_inlined else Memory()
    calls = (*caller.calls, called.key) if is_inlined else (None, called.key)
    for _ in range(_MAX_ATTEMPTS):
        facts.noted = False
        text = _source(source, called.names, facts, is_inlined=True)
        scope = Scope(caller.lowering, text, called.names, caller.supply, facts, calls, memory, lists)
        scope.locals |= arguments.keys()
        scope.given = caller.given | arrays_of(arguments.values())
        scope.fixed = caller.fixed | (params or frozenset())
        scope.tests = caller.tests if is_inlined else []
        scope.requests = caller.requests.inside() if is_inlined and caller.requests is not None else None
        scope.in_loop = is_inlined and (caller.in_loop or bool(caller.loops))
        try:
            scope.start_flags(loc)
            for name, argument in arguments.items():
                value = argument if name in source.read_once else held(scope, argument, name, loc)
                if (
                    isinstance(value, vals.Number)
                    and name in source.constants
                    and isinstance(value.expr, Const | Extent | Var)
                ):
                    scope.env[name] = value
                elif isinstance(
                    value, vals.Number | vals.Wide | vals.TupleValue | vals.DictValue | vals.MaybeNone
                ):
                    scope.bind(name, value, loc)
                elif isinstance(value, vals.ListSlots) and name in lists:
                    give_list(scope, name, value, (caller, own_names[name]) if name in own_names else None)
                else:
                    assert not isinstance(value, vals.Returned | vals.Masked), (
                        "no argument: the caller has made it one"
                    )
                    scope.env[name] = value
            _lower_body(scope, scope.source.ast)
            value = returns.final_value(scope, loc)
        except Restart:
            continue
        except CompileError as error:
            if not facts.restarts(error):
                raise  # the types may conflict in the caller
            continue
        starts: list[Stmt] = []
        if scope.returned is not None and scope.result is not None:
            # Every path through the callee assigns them, but that is provable only through its flag.
            symbols = (s for slot in scope.result.slots for s in (slot.symbol, slot.is_int) if s is not None)
            starts = _zeroed(symbols, loc)
        statements = (
            *starts,
            *_unsure(scope, loc),
            *scope.first,
            *([] if is_inlined else tests_of_callee(scope)),
            *without_elements(scope, loc),
            *scope.block,
        )
        return statements, value, scope
    raise AssertionError("lowering does not settle")


LOWERING = Lowering(
    expression=syntax_dispatch.lower,
    statement=lower_statement,
    block=lower_block,
    inline=lower_inline,
    callee=lower_callee,
    array_of=array_of,
    table_of=table_of,
)
