"""A pragma's clauses against the verdict on its loop: reductions and private scalars must be the program's."""

from __future__ import annotations

from appyc.analysis.dependences.verdicts import LoopVerdict
from appyc.errors import Note, PragmaError
from appyc.ir.nodes import Clauses, For, Reduction, Update
from appyc.ir.visit import arrays_written, walk


def check_reduction_clause(loop: For, clauses: Clauses, verdict: LoopVerdict) -> None:
    found = {part.symbol: part.op for part in verdict.combined}
    for reduction in clauses.reductions:
        name, op = reduction.symbol.name, found.get(reduction.symbol)
        if op is None and reduction.symbol in arrays_written(loop.body):
            op = _operator(loop, reduction)  # every iteration combines into elements of its own
        if op != reduction.op:
            what = f"combines '{name}' with '{op}'" if op else f"does not combine anything into '{name}'"
            raise PragmaError(
                f"the clause reduction({reduction.op}: {name}) does not fit: the loop {what}",
                clauses.loc,
                related=(Note(loop.loc, "the loop"),),
                hints=("drop the clause: reductions are recognised without it",),
            )


def _operator(loop: For, wanted: Reduction) -> str:
    """The operator of the loop's updates of an array; the one wanted where there are none left."""
    updates = (n.op for n in walk(loop.body) if isinstance(n, Update) and n.target == wanted.symbol)
    return next(updates, wanted.op)


def check_private_clause(loop: For, clauses: Clauses, verdict: LoopVerdict) -> None:
    for symbol in clauses.private:
        shared = [part.symbol for part in verdict.combined]
        if symbol in shared:
            how = "combine into it" if shared.index(symbol) < len(verdict.all_reductions) else "hand it on"
            raise PragmaError(
                f"'{symbol.name}' is not private: iterations {how}",
                clauses.loc,
                related=(Note(loop.loc, "the loop"),),
                hints=(f"take '{symbol.name}' out of the clause, or assign it before it is updated",),
            )
