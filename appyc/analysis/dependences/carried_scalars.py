"""Classes of scalars that a loop carries: the flag of a name, the length of a list, a near reduction."""

from __future__ import annotations

from appyc.errors import Note
from appyc.ir.nodes import Alloc, Assign, Binary, Fail, For, If, Symbol, Unary, Update, Var
from appyc.ir.visit import scalars_read, walk


def is_set_flag(loop: For, symbol: Symbol) -> bool:
    """Whether a scalar tells whether a name of the program is bound: `if ~x_is_set: raise UnboundLocalError`."""
    return any(
        isinstance(node, If)
        and node.cond == Unary("~", Var(symbol, loc=node.loc), loc=node.loc)
        and any(isinstance(stmt, Fail) and stmt.error == "UnboundLocalError" for stmt in node.then)
        for node in walk(loop.body)
    )


def grown_by(loop: For, symbol: Symbol) -> Symbol | None:
    """The array that a loop resizes by a scalar, its length or capacity."""
    resized = (node for node in walk(loop.body) if isinstance(node, Alloc) and node.kept is not None)
    return next((node.array for node in resized if symbol in scalars_read(node)), None)


def how_to_combine(loop: For, symbol: Symbol) -> str:
    """The hint that says how a scalar that a loop carries could become a reduction."""
    name = symbol.name
    operators = {n.op for n in walk(loop.body) if isinstance(n, Update) and n.target == symbol}
    if len(operators) > 1:
        ways = " and ".join(f"`{op}`" for op in sorted(operators))
        return f"combine into '{name}' by one operator, not by {ways}: use a name for each"
    if operators:
        return f"iterations combine into '{name}' by `{operators.pop()}`: do nothing else with it in the loop"
    return (
        f"if iterations combine into '{name}', write it as `{name} = {name} + ...`, or with "
        "`*`, `min`, `max`, `&`, `|`, `^`, and use it nowhere else in the loop"
    )


def other_uses(loop: For, symbol: Symbol) -> tuple[Note, ...]:
    """The first use of a scalar beside the updates that iterations combine into it by, if there are such."""
    nodes = list(walk(loop.body))
    if not any(isinstance(n, Update) and n.target == symbol for n in nodes):
        return ()
    for node in nodes:
        if isinstance(node, Assign) and node.target == symbol:
            return (Note(node.loc, f"'{symbol.name}' is set here besides"),)
        if isinstance(node, Var) and node.symbol == symbol:
            return (Note(node.loc, f"'{symbol.name}' is read here besides"),)
    return ()


def swapped(loop: For, symbol: Symbol) -> str | None:
    """ "min" or "max" where the loop has `s = min(x, s)`, which is no reduction if x may be a NaN."""
    for node in walk(loop.body):
        match node:
            case Assign(value=Binary(op="min" | "max" as op, rhs=Var() as last)):
                if node.target == symbol == last.symbol:
                    return op
    return None
