"""Facts about scheduled statements: the scalars that have to come from outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from appyc.ir import gpu_program as gpu
from appyc.ir.nodes import Assign, Node, Symbol, Update, Var
from appyc.ir.visit import walk


def free_scalars(body: Iterable[gpu.ScheduledStmt]) -> list[Symbol]:
    """The scalars that may be read before the statements have set them, in program order."""
    free: dict[Symbol, None] = {}
    _scan(tuple(body), set(), free)
    return list(free)


def targets_of(stmt: gpu.ScheduledStmt) -> tuple[Symbol, ...]:
    """The scalars that a statement sets itself, those in its body left out."""
    match stmt:
        case (
            Assign(target)
            | gpu.Lanes(target)
            | gpu.LaneReduce(target)
            | gpu.ReadBack(target)
            | gpu.ChooseLanes(target)
        ):
            return (target,)
        case gpu.ProgramIndex(targets) | gpu.LaneScan(targets):
            return targets
        case Update(target) if not target.is_array:
            return (target,)
        case _:
            return ()


def head_of(stmt: gpu.ScheduledStmt) -> tuple[Node, ...]:
    """The nodes that a statement evaluates itself, apart from the statements nested in it."""
    match stmt:
        case gpu.Loop(_, lo, hi):
            return lo, hi
        case gpu.Repeat(cond) | gpu.Branch(cond):
            return (cond,)
        case gpu.Launch(_, programs):
            return (programs,)
        case gpu.Recorded():
            return ()
        case _:
            return (stmt,)


def bodies_of(stmt: gpu.ScheduledStmt) -> dict[str, tuple[gpu.ScheduledStmt, ...]]:
    """The statements inside one, by the name of the field. A kernel's are its own."""
    return {name: getattr(stmt, name) for name in ("body", "then", "orelse") if hasattr(stmt, name)}


def all_statements(body: Iterable[gpu.ScheduledStmt]) -> Iterator[gpu.ScheduledStmt]:
    """Each statement, an outer one before those in it; none of the kernels that the host launches."""
    for stmt in body:
        yield stmt
        for inner in bodies_of(stmt).values():
            yield from all_statements(inner)


def scalars_set(body: Iterable[gpu.ScheduledStmt]) -> Counter[Symbol]:
    """The scalars that the host may set in statements, each with the number of statements that set it."""
    found = Counter[Symbol]()
    for part in all_statements(body):
        found.update((part.var,) if isinstance(part, gpu.Loop) else targets_of(part))
    return found


def _scan(body: tuple[gpu.ScheduledStmt, ...], known: set[Symbol], free: dict[Symbol, None]) -> None:
    """Adds to `known` what the statements set in any case, to `free` what they need."""
    for stmt in body:
        for n in walk(head_of(stmt)):
            if isinstance(n, Var) and n.symbol not in known:
                free.setdefault(n.symbol)
            elif isinstance(n, Update) and not n.target.is_array and n.target not in known:
                free.setdefault(n.target)
        match stmt:
            case gpu.Loop(var, body=inner):
                _scan(inner, known | {var}, free)
            case gpu.Repeat(_, inner):
                _scan(inner, set(known), free)
            case gpu.Branch(_, then, orelse):
                after_then, after_else = set(known), set(known)
                _scan(then, after_then, free)
                _scan(orelse, after_else, free)
                known |= after_then & after_else
            case gpu.Recorded(_, inner):
                _scan(inner, known, free)
            case gpu.Launch(kernel):
                for symbol in free_scalars(kernel.body):
                    if symbol not in known and symbol not in kernel.lane_scalars:
                        free.setdefault(symbol)
            case _:
                known.update(targets_of(stmt))
