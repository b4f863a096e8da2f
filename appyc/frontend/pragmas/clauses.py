"""A loop pragma's clauses with the symbols that its names stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches

from appyc.errors import PragmaError
from appyc.frontend.control.conditionals import lower_condition
from appyc.frontend.facts import Env
from appyc.frontend.pragmas.pragma_nodes import LoopPragma, Name
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.liveness import names_assigned
from appyc.frontend.types.values import ArrayRef, Binding, Number, Slot, Tensor, TupleSlots
from appyc.ir.nodes import Clauses, Reduction, Symbol


def loop_clauses(scope: Scope, node: ast.For, pragma: LoopPragma, head: Env) -> Clauses:
    """The clauses; `head` has what names are bound to inside the loop. Variables of the loop itself and of loops in
    it are private as they are, whether a clause says so or not.

    Raises PragmaError for a name that is no variable, or not of the kind that its clause takes.
    """
    counters = names_assigned([loop.target for loop in ast.walk(node) if isinstance(loop, ast.For)])
    for name in (*pragma.shared, *(name for clause in pragma.reductions for name in clause.names)):
        if name in counters and name not in head:
            raise PragmaError(f"{name!r} is the variable of a loop, and every iteration has its own", name.loc,
                              f"remove {name!r} from the clause")  # fmt: skip
    reductions = tuple(
        Reduction(clause.op, symbol)
        for clause in pragma.reductions
        for symbol in _symbols(scope, head, clause.names, "reduction")
    )
    named = [n for n in pragma.private if n not in counters or isinstance(head.get(n), Slot)]
    condition = lower_condition(scope, pragma.condition) if pragma.condition is not None else None
    return replace(
        pragma.clauses,
        reductions=reductions,
        private=_symbols(scope, head, named, "private"),
        shared=_symbols(scope, head, pragma.shared, "shared"),
        to=_symbols(scope, head, pragma.to, "to"),
        from_=_symbols(scope, head, pragma.from_, "from"),
        condition=condition,
    )


def _lookup(scope: Scope, head: Env, name: Name, clause: str) -> Binding:
    found = head.get(name)
    if found is not None:
        return found
    if name in scope.locals:
        raise PragmaError(f"{name!r} in {clause}(...) is not used in this loop", name.loc,
                          f"remove {name!r} from the clause")  # fmt: skip
    outer = scope.names.find(name)
    if outer is not None:
        return outer
    close = get_close_matches(name, sorted({*head, *scope.locals}), 1)
    raise PragmaError(
        f"{clause}({name}) names no variable", name.loc,
        "a clause names variables of this function", label=f"did you mean {close[0]!r}?" if close else "",
    )  # fmt: skip


def _symbols(scope: Scope, head: Env, names: Iterable[Name], clause: str) -> tuple[Symbol, ...]:
    """The symbols of a clause's variables."""
    return tuple(
        symbol for name in names for symbol in _symbols_of(_lookup(scope, head, name, clause), name, clause)
    )


def _symbols_of(found: Binding, name: Name, clause: str) -> list[Symbol]:
    """The symbols of one variable: an array's, or where the clause takes scalars theirs."""
    what = f"{name!r} in {clause}(...)"
    match found:
        case ArrayRef():
            return [found.symbol]
        case _ if clause in ("to", "from"):
            raise PragmaError(f"{what} is no array", name.loc,
                              "drop it from the clause: numbers need not be copied")  # fmt: skip
        case Slot():
            return [found.symbol]
        case _ if clause == "shared":
            return []
        case TupleSlots(keys=None):
            return [b.symbol for b in found.items if isinstance(b, Slot)]
        case Number():
            raise PragmaError(f"{what} is the loop's own variable or a constant", name.loc,
                              "drop it from the clause: every iteration has its own")  # fmt: skip
        case Tensor():
            raise PragmaError(f"{what} is an array, where a scalar is needed", name.loc,
                              "name scalar variables")  # fmt: skip
        case _:
            raise PragmaError(f"{what} is no scalar variable", name.loc, "drop it from the clause")
