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
from dataclasses import dataclass

from appyc.errors import Loc
from appyc.frontend.arrays.allocations import Bound, Memory
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.types.values import ArrayRef, Binding, Conflict, Tensor, TupleSlots, Value, parts_of
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Compare,
    Expr,
    ForAll,
    If,
    Likely,
    Load,
    Logical,
    Stmt,
    Symbol,
    Unary,
    Var,
)
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import rename


@dataclass(frozen=True, slots=True)
class Move:
    """A copy at the end of a path: from the array that a name is bound to, into the name's phi storage."""

    name: str
    home: ArrayRef
    source: ArrayRef | Tensor


def root(binding: Binding | Value) -> Symbol | None:
    """The array that backs a binding: the array itself, or the base of a view; None for a new value."""
    match binding:
        case ArrayRef():
            return binding.symbol
        case Tensor(element=Load(array=array), view=True):
            return array
        case _:
            return None


def arrays_of(values: Iterable[Value]) -> frozenset[Symbol]:
    """The arrays that back values, items of tuples and dicts included."""
    out: set[Symbol] = set()
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


def has_other_names(env: Mapping[str, Binding], array: Symbol, name: str) -> bool:
    """Whether another name is bound to the array or to a view of it."""
    return any(root(binding) == array and other != name for other, binding in all_leaves(env))


def new_home(supply: NameSupply, memory: Memory, name: str, dtype: DType, ndim: int, loc: Loc) -> ArrayRef:
    """New phi storage for a name, whose lengths are variables that the copies into it assign."""
    symbol = supply.fresh(name, ArrayType(dtype, ndim))
    memory.made.add(symbol)
    memory.homes[symbol] = supply.fresh(f"{name}_is", DType.INT64)
    lengths = (supply.fresh(f"{name}_n", DType.INT64) for _ in range(ndim))
    return ArrayRef(symbol, shape=tuple(Var(n, loc=loc) for n in lengths))


def without_elements(memory: Memory, home: ArrayRef, loc: Loc) -> list[Stmt]:
    """Initialises phi storage as an array without elements."""
    assert home.shape is not None
    lengths = [n.symbol for n in home.shape if isinstance(n, Var)]
    empty: list[Stmt] = [Assign(n, integer(0, loc), loc=loc) for n in lengths]
    memory.late.add(home.symbol)
    is_none = Assign(memory.homes[home.symbol], integer(0, loc), loc=loc)
    return [*empty, Alloc(home.symbol, home.shape, zero=False, loc=loc), is_none]


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
    memory: Memory,
    move: Move,
    name: Bound,
    targets: Mapping[str, Binding],
    sources: Mapping[str, Binding],
    given: frozenset[Symbol],
    since: int,
    needed: frozenset[str] | None = None,
) -> None:
    """Records the aliases of the array that is copied into phi storage: live names, callers, and their stores.

    Dead names do not count. given: arrays that a caller has names for. needed: the names that are live
    afterwards, where that is known.
    """
    array = root(move.source)
    if array is None:
        return
    memory.copied(array, move.home.symbol, name, since)
    outside = array not in memory.made
    read = {n: b for n, b in sources.items() if needed is None or n in needed}
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


def copies(supply: NameSupply, memory: Memory, moves: list[Move], loc: Loc, *, first: bool) -> list[Stmt]:
    """The statements of parallel copies. first: the phi storage has no memory on this path yet."""
    out: list[Stmt] = []
    overwritten: set[Symbol] = set()
    settled = []
    for move in moves:
        source = move.source
        if root(source) in {*overwritten, move.home.symbol}:
            source = _put_aside(supply, memory, move, loc, out)
        overwritten.add(move.home.symbol)
        settled.append((move.home, source))
    origins = [_origin(memory, move, loc) for move in moves]
    values = [_pinned(supply, origin, loc, out) if isinstance(origin, Var) else origin for origin in origins]
    for (home, source), value in zip(settled, values, strict=True):
        _copy(supply, memory, home, source, loc, out, first=first)
        out.append(Assign(memory.homes[home.symbol], value, loc=loc))
    return out


def _origin(memory: Memory, move: Move, loc: Loc) -> Expr:
    """The number of the caller's array that the phi storage is a copy of after the move; 0 for no such array."""
    array = root(move.source)
    if array is not None and _is_whole(move.source):
        if array in memory.homes:
            return Var(memory.homes[array], loc=loc)
        if array in memory.outside:
            return integer(memory.outside.index(array) + 1, loc)
    return integer(0, loc)


def _put_aside(supply: NameSupply, memory: Memory, move: Move, loc: Loc, out: list[Stmt]) -> ArrayRef:
    tensor = _tensor(supply, move.source, loc)
    aside = supply.fresh(f"{move.name}_aside", ArrayType(tensor.element.dtype, tensor.ndim))
    memory.made.add(aside)
    lengths = tuple(_pinned(supply, n, loc, out) for n in tensor.extents)
    out.append(Alloc(aside, lengths, zero=False, loc=loc))
    index = tuple(Var(axis, loc=loc) for axis in tensor.axes)
    out.append(ForAll(tensor.axes, lengths, aside, index, tensor.element, loc=loc))
    return ArrayRef(aside, shape=lengths)


def _copy(
    supply: NameSupply,
    memory: Memory,
    home: ArrayRef,
    source: ArrayRef | Tensor,
    loc: Loc,
    out: list[Stmt],
    *,
    first: bool,
) -> None:
    tensor = _tensor(supply, source, loc)
    assert home.shape is not None, "a home knows its lengths"
    pairs = list(zip(home.shape, tensor.extents, strict=True))
    if first:
        out += _sized(supply, home, tensor.extents, loc)
    elif different := [(n, extent) for n, extent in pairs if n != extent]:
        # Memory is reallocated only where a length changes, which is unlikely.
        tests: list[Expr] = [Compare("==", extent, n, loc=loc) for n, extent in different]
        same = tests[0]
        for test in tests[1:]:
            same = Logical("and", same, test, loc=loc)
        changed = Unary("~", same if home.symbol in memory.late else Likely(same, loc=loc), loc=loc)
        out.append(If(changed, tuple(_sized(supply, home, tensor.extents, loc)), loc=loc))
    index = tuple(Var(axis, loc=loc) for axis in tensor.axes)
    out.append(ForAll(tensor.axes, home.shape, home.symbol, index, tensor.element, loc=loc))


def _sized(supply: NameSupply, home: ArrayRef, extents: tuple[Expr, ...], loc: Loc) -> list[Stmt]:
    """Allocates phi storage of these lengths."""
    out: list[Stmt] = []
    kept = [_pinned(supply, extent, loc, out) for extent in extents] if len(extents) > 1 else extents
    assert home.shape is not None
    for length, extent in zip(home.shape, kept, strict=True):
        assert isinstance(length, Var)
        out.append(Assign(length.symbol, extent, loc=loc))
    return [*out, Alloc(home.symbol, home.shape, zero=False, loc=loc)]


def _pinned(supply: NameSupply, expr: Expr, loc: Loc, out: list[Stmt]) -> Expr:
    symbol = supply.fresh("n", DType.INT64)
    out.append(Assign(symbol, expr, loc=loc))
    return Var(symbol, loc=loc)


def _tensor(supply: NameSupply, value: ArrayRef | Tensor, loc: Loc) -> Tensor:
    """The value as a tensor over fresh axes, for use in one statement."""
    if isinstance(value, Tensor):
        axes = tuple(supply.fresh(axis.name, axis.type) for axis in value.axes)
        return Tensor(axes, value.extents, rename(value.element, dict(zip(value.axes, axes, strict=True))))
    extents = value.extents(loc)
    axes = tuple(supply.fresh("i", DType.INT64) for _ in extents)
    index = (*value.index, *(Var(axis, loc=loc) for axis in axes))
    return Tensor(axes, extents, Load(value.symbol, index, checked=bool(value.index), loc=loc))
