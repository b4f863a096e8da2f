"""Lists whose lengths a callee changes: an array holds the number of items and the room, and the columns are resized.

    def visit(order, u):                         def visit(order, sizes, u):
        order.append(u)                              n = sizes[0]; room = sizes[1]
        visit(order, u + 1)                ->        (order grows if n == room); order[n] = u; n += 1
                                                     own[0] = n; own[1] = room
                                                     visit(order, own, u + 1)         # may resize order
                                                     n = own[0]; room = own[1]
                                                     sizes[0] = n; sizes[1] = room

Which lists these are is found where a callee has been lowered (`Known.resized`), and lowering starts again.

Does not handle: lists that are arguments of the compiled function, or that have no name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from appyc.errors import Loc
from appyc.frontend.expressions.arithmetic import integer
from appyc.frontend.facts import Recursive
from appyc.frontend.scope import Scope
from appyc.frontend.types.values import ListSlots, Value
from appyc.ir.nodes import Assign, Load, Stmt, Store, Symbol, Var
from appyc.ir.visit import scalars_written


def names_of_lists(scope: Scope, given: Mapping[str, Value]) -> dict[str, str]:
    """The caller's name of the list that each parameter of a called function gets."""
    names = {slots.columns: name for name, slots in scope.lists.items()}
    lists = {p: value.columns for p, value in given.items() if isinstance(value, ListSlots)}
    return {p: names[columns] for p, columns in lists.items() if columns in names}


def store_sizes(scope: Scope, slots: ListSlots, sizes: Symbol, loc: Loc) -> None:
    """Stores how many items a list has, and how many it has room for, for another function."""
    for k, number in enumerate((slots.count, slots.room)):
        scope.emit(Store(sizes, (integer(k, loc),), Var(number, loc=loc), checked=False, loc=loc))


def load_sizes(scope: Scope, slots: ListSlots, sizes: Symbol, loc: Loc) -> None:
    """Takes both from another function."""
    for k, number in enumerate((slots.count, slots.room)):
        scope.emit(Assign(number, Load(sizes, (integer(k, loc),), checked=False, loc=loc), loc=loc))


def with_sizes(
    scope: Scope,
    key: object,
    lists: Mapping[str, ListSlots],
    params: Sequence[Symbol],
    statements: tuple[Stmt, ...],
    loc: Loc,
) -> tuple[Stmt, ...]:
    """The statements of a callee, which takes the sizes of the lists that it resizes, and stores them at its end.
    Raises Recursive where it is newly found to resize one.

    key: the function's. lists: its parameters that are lists, by name. params: all of its parameters in the IR.
    """
    known, changed = scope.callees.known, scalars_written(statements)
    found = {(key, name) for name, slots in lists.items() if slots.count in changed}
    if not found <= known.resized:
        known.resized |= found
        raise Recursive
    for name, slots in lists.items():
        if (key, name) in known.resized:
            sizes = params[params.index(slots.columns[-1]) + 1]
            with scope.collect() as before:
                load_sizes(scope, slots, sizes, loc)
            with scope.collect() as after:
                store_sizes(scope, slots, sizes, loc)
            statements = (*before, *statements, *after)
    return statements
