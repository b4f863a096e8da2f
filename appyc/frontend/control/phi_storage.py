"""A name that is bound to another array on another path gets an array of its own: its home.

    x = b                               x_n = b.shape[0]; x = empty(x_n); x[:] = b
    for t in range(n):                  for t in range(n):
        x = A @ x              ->           product = A @ x
                                            if not likely(A.shape[0] == x_n):
                                                x_n = A.shape[0]; x = empty(x_n)
                                            x[:] = product

At the end of each path the array that the name is bound to there is copied into the home. That
is what Python's rebinding does as long as nobody can tell the copy from the array: nothing is
stored into either of them while another name, or the caller, has the array too. A store that
would tell is refused (`Memory.freeze`), and the statement stays in Python.

Where copies of one path read the homes that others of it overwrite (`a, b = b, a`), what they
read is put aside first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from appyc.errors import Loc
from appyc.frontend.arrays.allocations import Bound, Memory
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.types.values import (
    ArrayRef,
    Binding,
    Conflict,
    DictSlots,
    DictValue,
    Tensor,
    TupleSlots,
    TupleValue,
    Value,
)
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
from appyc.ir.visit import substitute


@dataclass(frozen=True, slots=True)
class Move:
    """At the end of a path: what a name is bound to there goes into its home."""

    name: str
    home: ArrayRef
    source: ArrayRef | Tensor


def root(binding: Binding | Value) -> Symbol | None:
    """The array whose memory a name stands for."""
    match binding:
        case ArrayRef():
            return binding.symbol
        case Tensor(element=Load(array=array), view=True):
            return array
        case _:
            return None


def arrays_of(values: Iterable[Value]) -> frozenset[Symbol]:
    """The arrays whose memory values stand for."""
    out: set[Symbol] = set()
    for value in values:
        if isinstance(value, DictValue):
            value = value.values
        if isinstance(value, TupleValue):
            out |= arrays_of(value.items)
        elif (array := root(value)) is not None:
            out.add(array)
    return frozenset(out)


def leaves(name: str, binding: Binding) -> Iterator[tuple[str, Binding]]:
    """The name with its binding, or the items of its tuple with theirs."""
    if isinstance(binding, DictSlots):
        binding = binding.values
    if isinstance(binding, TupleSlots):
        for number, item in enumerate(binding.items):
            yield from leaves(f"{name}_{number}", item)
    else:
        yield name, binding


def all_leaves(env: Mapping[str, Binding]) -> Iterator[tuple[str, Binding]]:
    for name, binding in env.items():
        yield from leaves(name, binding)


def has_other_names(env: Mapping[str, Binding], array: Symbol, name: str) -> bool:
    """Whether a name besides this one has (a view of) the array."""
    return any(root(binding) == array and other != name for other, binding in all_leaves(env))


def new_home(supply: NameSupply, memory: Memory, name: str, dtype: DType, ndim: int, loc: Loc) -> ArrayRef:
    """An array for a name, of lengths that its copies set."""
    symbol = supply.fresh(name, ArrayType(dtype, ndim))
    memory.made.add(symbol)
    memory.homes[symbol] = supply.fresh(f"{name}_is", DType.INT64)
    lengths = (supply.fresh(f"{name}_n", DType.INT64) for _ in range(ndim))
    return ArrayRef(symbol, shape=tuple(Var(n, loc=loc) for n in lengths))


def without_elements(memory: Memory, home: ArrayRef, loc: Loc) -> list[Stmt]:
    """A home that nothing has been copied into."""
    assert home.shape is not None
    lengths = [n.symbol for n in home.shape if isinstance(n, Var)]
    empty: list[Stmt] = [Assign(n, integer(0, loc), loc=loc) for n in lengths]
    memory.late.add(home.symbol)
    is_none = Assign(memory.homes[home.symbol], integer(0, loc), loc=loc)
    return [*empty, Alloc(home.symbol, home.shape, zero=False, loc=loc), is_none]


def moves_of(memory: Memory, targets: Mapping[str, Binding], sources: Mapping[str, Binding]) -> list[Move]:
    """The copies that bring the bindings of a path into their homes."""
    there = dict(all_leaves(targets))
    out = []
    for name, source in all_leaves(sources):
        home = there.get(name)
        # A path may end with a number in the name too, while it is not settled what there is at the top.
        if not isinstance(home, ArrayRef) or not isinstance(source, ArrayRef | Tensor):
            continue
        if home.symbol in memory.homes and not home.index and home != source:  # a row of a home is none
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
    """Notes who else may look at, or store into, the array that a name's home becomes a copy of.

    Names that mean nothing any more do not count. given: arrays that a caller has names for. needed: the
    names that are read afterwards, where that is known.
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
    """The statements of the moves. first: the homes have no memory on this path yet."""
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
    """What the home's name stands for after the move: an array of the caller's, by its number, or none."""
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
        # Lengths that stay what they are need no other memory; nearly all programs are such.
        tests: list[Expr] = [Compare("==", extent, n, loc=loc) for n, extent in different]
        same = tests[0]
        for test in tests[1:]:
            same = Logical("and", same, test, loc=loc)
        changed = Unary("~", same if home.symbol in memory.late else Likely(same, loc=loc), loc=loc)
        out.append(If(changed, tuple(_sized(supply, home, tensor.extents, loc)), loc=loc))
    index = tuple(Var(axis, loc=loc) for axis in tensor.axes)
    out.append(ForAll(tensor.axes, home.shape, home.symbol, index, tensor.element, loc=loc))


def _sized(supply: NameSupply, home: ArrayRef, extents: tuple[Expr, ...], loc: Loc) -> list[Stmt]:
    """Memory of these lengths for the home."""
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
    """The value over axes of its own: one statement's."""
    if isinstance(value, Tensor):
        axes = tuple(supply.fresh(axis.name, axis.type) for axis in value.axes)
        places: dict[Symbol, Expr] = {
            old: Var(new, loc=loc) for old, new in zip(value.axes, axes, strict=True)
        }
        return Tensor(axes, value.extents, substitute(value.element, places))
    extents = value.extents(loc)
    axes = tuple(supply.fresh("i", DType.INT64) for _ in extents)
    index = (*value.index, *(Var(axis, loc=loc) for axis in axes))
    return Tensor(axes, extents, Load(value.symbol, index, checked=bool(value.index), loc=loc))
