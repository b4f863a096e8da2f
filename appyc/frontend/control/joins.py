"""Joins (phi nodes): the bindings of names behind a branch, and at the top of a loop's body.

    if cold:                          x has one phi variable of the joined type; the end of each path
        x = 1                  ->     copies its value into that
    else:
        x = 2.5

Both arms of a branch are lowered from the same bindings. Arrays have phi storage. Bindings without a common type
become a conflict, which raises where it is read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.control.phi_storage import copy_in_parallel, has_other_names, moves_of, new_home, note
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import cast
from appyc.frontend.expressions.ints_or_floats import are_ints_or_floats, is_int
from appyc.frontend.expressions.left_calls import leave_inexact
from appyc.frontend.expressions.selections import common_type
from appyc.frontend.facts import Env, Fork, LoopFrame
from appyc.frontend.scope import Scope
from appyc.frontend.types.characters import is_character, is_text, is_written
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.values import (
    ArrayRef,
    Binding,
    Conflict,
    ListRows,
    ListSlots,
    Number,
    Opaque,
    Records,
    Slot,
    Tensor,
    TupleRow,
    TupleSlots,
    dtype_of,
    or_none,
)
from appyc.ir.nodes import Assign, Expr, If, Stmt
from appyc.ir.types import Container, DType


def bring_home(scope: Scope, targets: Env, sources: Env, fork: Fork, loc: Loc, *, first: bool) -> None:
    """Emits the phi copies at the end of a path: from the path's bindings into the joined ones.

    first: the phi storage of arrays is not allocated on this path yet.
    """
    for name, target in targets.items():
        if name in sources:
            copy_into(scope, target, sources[name], loc)
    moves = moves_of(scope.memory, targets, sources)
    for move in moves:
        note(scope, move, targets, sources, fork, loc)
    copy_in_parallel(scope, moves, loc, first=first)


def copy_into(scope: Scope, target: Binding, source: Binding, loc: Loc) -> None:
    """Emits the phi copy of one binding that is not an array."""
    match target, source:
        case Slot(), Slot() | Number():
            value = source.number(loc) if isinstance(source, Slot) else source
            leave_inexact(scope, [value], target, loc)
            if is_character(value) != (target.symbol.dtype.kind == "s"):
                one, other = describe(value), describe(target)
                raise UnsupportedError(f"{target.symbol.name!r} is {one} on one path and {other} on another", loc,
                                       "use two names, so that each has one meaning")  # fmt: skip
            if not isinstance(source, Slot) or target.symbol != source.symbol:
                scope.emit(Assign(target.symbol, cast(value.expr, target.symbol.dtype), loc=loc))
            if target.is_int is not None and target.is_int != source.is_int:
                scope.emit(Assign(target.is_int, is_int(source, loc), loc=loc))
        case TupleSlots(), TupleSlots() if len(target.items) == len(source.items):
            for t, s in zip(target.items, source.items, strict=True):
                copy_into(scope, t, s, loc)
        case _:
            return  # one and the same array or object, or a conflict that may not be read


def join(scope: Scope, name: str, a: Binding | None, b: Binding | None, fork: Fork, loc: Loc) -> Binding:
    """The join of two bindings: a phi variable or phi storage; one's own symbol is kept where its type fits."""
    if a == b and a is not None:
        return a
    if a is None or b is None:
        present = a if a is not None else b
        assert present is not None
        return _as_maybe(scope, name, present)
    a, b = _as_variable(scope, name, a), _as_variable(scope, name, b)
    if (present := _value_or_none(a, b)) is not None and name in fork.needed & scope.locals:
        scope.facts.note(scope.facts.nones, name)
        return or_none(present)
    match a, b:
        case Slot(), Slot():
            if a.wide or b.wide:
                return _joined_bits(scope, name, a, b)
            t = common_type(a, b)
            if t is None:
                return _conflict(a, b)
            alike = (
                slot.symbol for slot in (a, b) if slot.symbol.dtype is t.dtype and slot.python == t.python
            )
            symbol = next(alike, None) or scope.supply.fresh(name, t.dtype)
            maybe, optional = a.maybe or b.maybe, a.optional or b.optional
            mixed = a.mixed or b.mixed or a.python != b.python
            flag = (a.is_int or b.is_int) if are_ints_or_floats(a, b) else None
            return Slot(symbol, t.python, maybe, optional=optional, either=t.either, mixed=mixed, is_int=flag)
        case TupleSlots(), TupleSlots() if _form(a) == _form(b):
            if name in fork.needed:
                fork = replace(fork, needed=fork.needed | {f"{name}_{k}" for k in range(len(a.items))})
            pairs = enumerate(zip(a.items, b.items, strict=True))
            joined = tuple(join(scope, f"{name}_{k}", x, y, fork, loc) for k, (x, y) in pairs)
            return replace(a, items=joined, table=None, optional=a.optional or b.optional)
        case ListSlots(), ListSlots():
            return replace(a, maybe=a.maybe or b.maybe)  # a name has one list's memory
        case Conflict(), _:
            return a
        case _, Conflict():
            return b
        case ((ArrayRef() | Tensor()), (ArrayRef() | Tensor())):
            return _join_arrays(scope, name, a, b, fork, loc)
        case _:
            _learn_texts(scope, name, a, b)
            whole = ArrayRef | Tensor | TupleSlots
            return _conflict(a, b, unsupported=isinstance(a, whole) or isinstance(b, whole))


def _form(value: TupleSlots) -> object:
    return len(value.items), value.names, value.made_by, value.keys


def _learn_texts(scope: Scope, name: str, a: Binding, b: Binding) -> None:
    """Notes a name that one path binds to a text or a character, and another to one that is written out."""
    is_one = [isinstance(one, Slot) and one.symbol.dtype is DType.CHARACTER for one in (a, b)]
    written = [one.obj for one in (a, b) if is_written(one)]
    if any(map(is_text, (a, b))) and (any(is_one) or written):
        scope.facts.note(scope.facts.texts, name)
    elif any(is_one) and written:
        is_short = len(str(written[0])) < 2
        scope.facts.note(scope.facts.characters if is_short else scope.facts.texts, name)


def _conflict(a: Binding, b: Binding, *, unsupported: bool = True) -> Conflict:
    one, other = describe(a), describe(b)
    return Conflict(
        f"{one} on one path and {other if other != one else 'another one'} on another", unsupported
    )


def _joined_bits(scope: Scope, name: str, a: Slot, b: Slot) -> Binding:
    """The phi variable of a Python int that may exceed 64 bits on one path."""
    if not all(slot.python and slot.symbol.dtype.kind in "biu" for slot in (a, b)):
        return _conflict(a, b)
    homes = (slot.symbol for slot in (a, b) if slot.symbol.dtype is DType.UINT64)
    symbol = next(homes, None) or scope.supply.fresh(name, DType.UINT64)
    return Slot(symbol, True, a.maybe or b.maybe, optional=a.optional or b.optional, wide=True)


def _join_arrays(
    scope: Scope, name: str, a: ArrayRef | Tensor, b: ArrayRef | Tensor, fork: Fork, loc: Loc
) -> Binding:
    """The phi storage of a name that two paths bind to different arrays; a conflict if their types differ."""
    if name not in fork.needed:
        return Conflict("another array on another path", unsupported=True)
    is_kept = not a.python or a.ndim > 1 or dtype_of(a) is DType.TEXT
    if (dtype_of(a), a.ndim, a.python) != (dtype_of(b), b.ndim, b.python) or not is_kept:
        return _conflict(a, b)
    before = fork.env.get(name)
    for home in (a, b) if b == before else (a,):
        is_home = isinstance(home, ArrayRef) and home.symbol in scope.memory.homes and not home.index
        if isinstance(home, ArrayRef) and is_home and not has_other_names(fork.env, home.symbol, name):
            return home
    return new_home(scope, name, dtype_of(a), a.ndim, loc, Container.LIST if a.python else Container.ARRAY)


def _as_variable(scope: Scope, name: str, binding: Binding) -> Binding:
    """The binding as a variable: an immutable number (a loop's own variable) needs a phi variable at a join."""
    if isinstance(binding, Number):
        flag = None if binding.is_int is None else scope.supply.fresh("is_int", DType.BOOL)
        return Slot(scope.supply.fresh(name, binding.expr.dtype), binding.python, is_int=flag)
    return binding


def _as_maybe(scope: Scope, name: str, binding: Binding) -> Binding:
    match binding:
        case Slot() | ListSlots():
            return replace(binding, maybe=True)
        case Number():
            return Slot(scope.supply.fresh(name, binding.expr.dtype), binding.python, maybe=True)
        case TupleSlots():
            items = tuple(_as_maybe(scope, f"{name}_{k}", b) for k, b in enumerate(binding.items))
            return replace(binding, items=items, table=None)
        case ArrayRef() | Tensor():
            kind = dtype_of(binding), binding.ndim
            return Conflict("assigned on one path only", unsupported=True, array=kind)
        case Opaque() | ListRows() | TupleRow() | Records():
            return Conflict("assigned on one path only", unsupported=True)
        case Conflict():
            return binding


def merge_branches(scope: Scope, branches: list[tuple[Env, list[Stmt], bool]], fork: Fork, loc: Loc) -> None:
    """Joins two branches, each given as (env, statements, whether its end is reachable). What a branch binds first, and
    nothing behind it reads, has no join: it would read what may not be assigned."""
    open_ends = [(env, block) for env, block, live in branches if live]
    if not open_ends:
        scope.live = False
        return
    if len(open_ends) == 1:
        scope.env = open_ends[0][0]
        return
    (one, _), (two, _) = open_ends
    merged: Env = {}
    unread = scope.locals - fork.needed - scope.named_in_clauses - fork.env.keys()
    for name in [*one, *(n for n in two if n not in one)]:
        if name in unread:
            continue
        binding = join(scope, name, one.get(name), two.get(name), fork, loc)
        is_old = isinstance(binding, Slot) and binding in (one.get(name), two.get(name))
        merged[name] = binding if is_old else _parted(binding, loc)
    for env, block in open_ends:
        outer, scope.block = scope.block, block
        bring_home(scope, merged, env, fork, loc, first=True)
        scope.block = outer
    scope.env = merged


def _parted(joined: Binding, loc: Loc) -> Binding:
    """The joined binding, marked with the branch at `loc` if its types conflict or depend on the path."""
    if isinstance(joined, Slot) and joined.either is not None and loc not in joined.either.branches:
        branches = (*joined.either.branches, loc)
        return replace(joined, either=replace(joined.either, branches=branches))
    if isinstance(joined, Conflict) and joined.array is None and loc not in joined.branches:
        return replace(joined, branches=(*joined.branches, loc))
    return joined


def _value_or_none(a: Binding, b: Binding) -> Slot | TupleSlots | None:
    """The number or the tuple of numbers among two bindings whose other one is None; else None."""
    match a, b:
        case (Slot() as number, Opaque(obj=None)) | (Opaque(obj=None), Slot() as number):
            return number
        case (TupleSlots() as items, Opaque(obj=None)) | (Opaque(obj=None), TupleSlots() as items):
            return items if _is_plain(items) else None
        case _:
            return None


def _is_plain(items: TupleSlots) -> bool:
    """Whether a tuple, and what is in it, is made of variables alone, as the numbers of a parameter are: others cannot
    be joined."""
    if not items.items or items.names or items.keys is not None:
        return False
    return all(
        _is_plain(item) if isinstance(item, TupleSlots) else isinstance(item, Slot) and not item.optional
        for item in items.items
    )


def end_path(scope: Scope, frame: LoopFrame, loc: Loc, *, emit: bool = True, leaves: bool = False) -> None:
    """The end of a path in a loop: a back edge, or an exit (`leaves`). Emits the path's phi copies."""
    frame.ends.append(dict(scope.env))
    if not emit:
        return
    exchanged = frame.exchange.names if frame.exchange is not None else ()
    head = {name: binding for name, binding in frame.head.items() if name not in exchanged}
    fork = replace(frame.fork, needed=frame.behind) if leaves else frame.fork
    bring_home(scope, head, scope.env, fork, loc, first=False)
    if frame.exchange is not None:
        scope.emit(frame.exchange.leave(scope.env, loc))


# ---------------------------------------------------------------- branches


def lower_only_if(
    scope: Scope, cond: Expr, body: list[ast.stmt], loc: Loc, finish: Callable[[], None] | None = None
) -> None:
    """`if cond: body`; finish: as in `lower_block`."""
    arms = (lambda: scope.lower_block(body, finish), lambda: scope.lower_block([], finish))
    lower_arms(scope, cond, arms, needed_behind(scope, body, []), loc)


def lower_arms(
    scope: Scope,
    cond: Expr,
    arms: tuple[Callable[[], None], Callable[[], None]],
    needed: frozenset[str],
    loc: Loc,
) -> None:
    """An `if` whose arms are emitted by two functions. needed: names that are live behind it."""
    fork = scope.fork(needed)
    ends = []
    for lower in arms:
        scope.env = dict(fork.env)
        scope.live = True
        with scope.collect() as block:
            lower()
        ends.append((scope.env, block, scope.live))
    scope.live = True
    merge_branches(scope, ends, fork, loc)
    then, other = tuple(ends[0][1]), tuple(ends[1][1])
    if then or not other:  # an empty one is kept: its condition may raise
        scope.emit(If(cond, then, other, loc=loc))
    else:
        scope.emit(If(arithmetic.logical_not(Number(cond, True), loc).expr, other, loc=loc))


def needed_behind(scope: Scope, body: list[ast.stmt], orelse: list[ast.stmt]) -> frozenset[str]:
    """Names that are live behind the two arms of a branch."""
    out: frozenset[str] = frozenset()
    for statements in (body, orelse):
        if statements:
            out |= scope.names_behind.get(statements[-1], scope.locals)
    return out
