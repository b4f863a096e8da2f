"""Phi storage: the common array of a name that different paths bind to different arrays.

    x = b                               x_n = b.shape[0]; x = empty(x_n); x[:] = b
    for t in range(n):                  for t in range(n):
        x = A @ x              ->           product = A @ x
                                            if not likely(A.shape[0] == x_n):
                                                x_n = A.shape[0]; x = empty(x_n)
                                            x[:] = product

At the end of each path the array that the name is bound to is copied into the phi storage, as SSA
destruction copies scalars. The copy is equivalent to Python's rebinding as long as it cannot be
distinguished from the array: neither is stored into while another name, or the caller, refers to the
array. A store that would make the difference visible is refused (`Memory.freeze`), and the statement
stays in Python.

The copies of one path are parallel copies. Where one of them reads phi storage that another
overwrites (`a, b = b, a`), its source is copied into a temporary first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import itemgetter

from appyc.errors import Loc
from appyc.frontend.arrays.allocations import Bound, Memory
from appyc.frontend.arrays.tensors import as_tensor, materialise, renamed
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.facts import Fork
from appyc.frontend.scope import Scope
from appyc.frontend.types.value_parts import parts_of
from appyc.frontend.types.values import ArrayRef, Binding, Conflict, ListSlots, Tensor, TupleSlots, Value
from appyc.ir import nodes as ir
from appyc.ir.types import ArrayType, Container, DType


@dataclass(frozen=True, slots=True)
class Move:
    """A copy at the end of a path: from the array that a name is bound to, into the name's phi storage."""

    name: str
    home: ArrayRef
    source: ArrayRef | Tensor


def root(binding: Binding | Value) -> ir.Symbol | None:
    """The array that backs a binding: the array itself, or the base of a view; None for a new value."""
    match binding:
        case ArrayRef():
            return binding.symbol
        case Tensor(element=ir.Load(array=array), view=True):
            return array
        case _:
            return None


def arrays_of(values: Iterable[Value]) -> frozenset[ir.Symbol]:
    """The arrays that back values, items of tuples and dicts included."""
    out: set[ir.Symbol] = set()
    for value in values:
        array = root(value)
        out |= arrays_of(parts_of(value)) if array is None else {array}
    return frozenset(out)


def leaves(name: str, binding: Binding) -> Iterator[tuple[str, Binding]]:
    """The name with its binding; for a tuple or dict, the same for each of its items."""
    if isinstance(binding, TupleSlots):
        for number, item in enumerate(binding.items):
            yield from leaves(f"{name}_{number}", item)
    else:
        yield name, binding


def all_leaves(env: Mapping[str, Binding]) -> Iterator[tuple[str, Binding]]:
    for name, binding in env.items():
        yield from leaves(name, binding)


def has_other_names(env: Mapping[str, Binding], array: ir.Symbol, name: str) -> bool:
    """Whether another name is bound to the array or to a view of it, or to a list of arrays that are views of it."""
    return any(
        array in binding.columns
        if isinstance(binding, ListSlots)
        else root(binding) == array and other != name
        for other, binding in all_leaves(env)
    )


def new_home(
    scope: Scope, name: str, dtype: DType, ndim: int, loc: Loc, container: Container = Container.ARRAY
) -> ArrayRef:
    """New phi storage for a name, whose lengths are variables that the copies into it assign."""
    container = Container.TEXT if dtype is DType.TEXT else container
    symbol = scope.supply.fresh(name, ArrayType(dtype, ndim, container=container))
    scope.memory.made.add(symbol)
    scope.memory.homes[symbol] = scope.supply.fresh(f"{name}_is", DType.INT64)
    lengths = (scope.supply.fresh(f"{name}_n", DType.INT64) for _ in range(ndim))
    return ArrayRef(symbol, shape=tuple(ir.Var(n, loc=loc) for n in lengths))


def start_late(scope: Scope, loc: Loc) -> None:
    """Initialises the phi storage of names that only some paths bind to an array, and of returned arrays."""
    for name, kind in sorted(scope.facts.late.items()):
        scope.env[name] = _without_elements(scope, name, kind, loc)
    for position, (dtype, ndim, container) in sorted(scope.facts.returned_homes.items(), key=itemgetter(0)):
        scope.returned_homes[position] = _without_elements(scope, "result", (dtype, ndim), loc, container)


def _without_elements(
    scope: Scope, name: str, kind: tuple[DType, int], loc: Loc, container: Container = Container.ARRAY
) -> ArrayRef:
    """New phi storage, as an array without elements."""
    home = new_home(scope, name, *kind, loc, container)
    scope.memory.late.add(home.symbol)
    _sized(scope, home, (integer(0, loc),) * home.ndim, loc)
    scope.emit(ir.Assign(scope.memory.homes[home.symbol], integer(0, loc), loc=loc))
    return home


def moves_of(memory: Memory, targets: Mapping[str, Binding], sources: Mapping[str, Binding]) -> list[Move]:
    """The copies from the bindings at the end of a path into their phi storage."""
    there = dict(all_leaves(targets))
    out = []
    for name, source in all_leaves(sources):
        home = there.get(name)
        # Before the types at the loop's top reach their fixed point, a path may end with a number in the name.
        if not isinstance(home, ArrayRef) or not isinstance(source, ArrayRef | Tensor):
            continue
        if home.symbol in memory.homes and not home.index and home != source:  # no row of it
            out.append(Move(name, home, source))
    return out


def note(
    scope: Scope,
    move: Move,
    targets: Mapping[str, Binding],
    sources: Mapping[str, Binding],
    fork: Fork,
    loc: Loc,
) -> None:
    """Records the aliases of the array that is copied into phi storage: live names, callers, and their stores."""
    array = root(move.source)
    if array is None:
        return
    memory, given, name = scope.memory, scope.given, Bound(move.name, scope.bound_at.get(move.name, loc))
    since = scope.first_store(fork.stores)
    memory.copied(array, move.home.symbol, name, since)
    outside = array not in memory.made
    read = {n: b for n, b in sources.items() if n in fork.needed}
    alive = {n: b for n, b in all_leaves(read) if not isinstance(targets.get(n, _GONE), Conflict)}
    if not outside and array not in given and not has_other_names(alive, array, move.name):
        return
    memory.freeze(array, name, since)
    memory.freeze(move.home.symbol, name, since)
    if outside and _is_whole(move.source):
        if array not in memory.outside:
            memory.outside.append(array)
    elif outside or array in given:
        memory.seen.add(move.home.symbol)
    else:
        memory.shared.add(move.home.symbol)


def _is_whole(source: ArrayRef | Tensor) -> bool:
    return isinstance(source, ArrayRef) and not source.index


_GONE = Conflict("not bound")


def copy_in_parallel(scope: Scope, moves: list[Move], loc: Loc, *, first: bool) -> None:
    """Emits parallel copies. first: the phi storage has no memory on this path yet."""
    overwritten: set[ir.Symbol] = set()
    settled = []
    for move in moves:
        source = move.source
        if root(source) in {*overwritten, move.home.symbol}:
            tensor = as_tensor(scope, source, loc)
            extents = tuple(scope.temp("n", n) for n in tensor.extents)
            source = materialise(scope, replace(tensor, extents=extents), f"{move.name}_aside", loc)
        overwritten.add(move.home.symbol)
        settled.append((move.home, source))
    origins = [_origin(scope.memory, move, loc) for move in moves]
    values = [scope.temp("n", origin) if isinstance(origin, ir.Var) else origin for origin in origins]
    for (home, source), value in zip(settled, values, strict=True):
        _copy(scope, home, as_tensor(scope, source, loc), loc, first=first)
        scope.emit(ir.Assign(scope.memory.homes[home.symbol], value, loc=loc))


def origin_of_copy(scope: Scope, home: ArrayRef, value: ArrayRef | Tensor, loc: Loc) -> ir.Expr:
    """The number of the caller's array that phi storage stands for if it is a copy of this value, which has a name of
    its own: neither may be stored into any more."""
    move, named = Move("result", home, value), {"argument": value}
    note(scope, move, named, named, Fork({}, 0, frozenset(named)), loc)
    return _origin(scope.memory, move, loc)


def _origin(memory: Memory, move: Move, loc: Loc) -> ir.Expr:
    """The number of the caller's array that the phi storage is a copy of after the move; 0 for no such array."""
    array = root(move.source)
    if array is not None and _is_whole(move.source):
        if array in memory.homes:
            return ir.Var(memory.homes[array], loc=loc)
        if array in memory.outside:
            return integer(memory.outside.index(array) + 1, loc)
    return integer(0, loc)


def _copy(scope: Scope, home: ArrayRef, source: Tensor, loc: Loc, *, first: bool) -> None:
    assert home.shape is not None, "a home knows its lengths"
    if first:
        _sized(scope, home, source.extents, loc)
    elif different := [pair for pair in zip(source.extents, home.shape, strict=True) if pair[0] != pair[1]]:
        # Memory is reallocated only where a length changes, which is unlikely.
        tests: list[ir.Expr] = [ir.Compare("==", extent, n, loc=loc) for extent, n in different]
        same = reduce(lambda a, b: ir.Logical("and", a, b, loc=loc), tests)
        same = same if home.symbol in scope.memory.late else ir.Likely(same, loc=loc)
        with scope.collect() as grown:
            _sized(scope, home, source.extents, loc)
        scope.emit(ir.If(ir.Unary("~", same, loc=loc), tuple(grown), loc=loc))
    axes, element = renamed(scope, source)
    index = tuple(ir.Var(axis, loc=loc) for axis in axes)
    scope.emit(ir.ForAll(axes, home.shape, home.symbol, index, element, checked=False, loc=loc))


def _sized(scope: Scope, home: ArrayRef, extents: tuple[ir.Expr, ...], loc: Loc) -> None:
    """Allocates phi storage of these lengths."""
    assert home.shape is not None
    alone = len(extents) == 1
    kept = [n if alone or isinstance(n, ir.Const) else scope.temp("n", n) for n in extents]
    for length, extent in zip(home.shape, kept, strict=True):
        assert isinstance(length, ir.Var)
        scope.emit(ir.Assign(length.symbol, extent, loc=loc))
    scope.emit(ir.Alloc(home.symbol, home.shape, zero=False, loc=loc))
