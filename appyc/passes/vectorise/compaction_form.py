"""Stream compaction: which loops store selected elements densely, and may do so without a branch for each.

The stored value is computed for all elements. So it has to be cheap, and in range also where the condition does not
hold. `c_gen/lanes/compaction.py` has the text.

Does not handle: values with calls; conditions on the loop's variable, which may guard an index; loops that read
what they fill.
"""

from __future__ import annotations

from appyc.ir.affine import operands
from appyc.ir.nodes import Binary, Cast, Const, Expr, For, Load, Store, Symbol, Var
from appyc.ir.packing_loops import selection_of
from appyc.ir.raising import can_fault
from appyc.ir.types import Layout
from appyc.ir.visit import contains, scalars_read, walk

MOST = 4
"""Arrays that one loop may compact into."""


def is_compaction(loop: For, *, boundscheck: bool) -> bool:
    """Whether a loop stores the elements that a condition selects, in order and without gaps, and does nothing else."""
    found = selection_of(loop)
    if found is None or found.counter.is_array or loop.step != 1 or not 1 <= len(found.stores) <= MOST:
        return False
    cond, counter = found.cond, found.counter
    filled = {store.array for store in found.stores if _is_at(store, counter)}
    if len(filled) < len(found.stores) or can_fault((cond, *(store.value for store in found.stores))):
        return False
    if any(isinstance(n, Load) and n.array in filled for n in walk(loop.body)) or counter in scalars_read(
        cond
    ):
        return False
    parts = operands(cond, "and", "or", "&", "|")
    if not all(contains(part, Load) for part in parts):
        return False  # a part that loads no element may guard an index
    known = {n for n in walk(cond) if isinstance(n, Load)} if not boundscheck else None
    return all(_is_cheap(store.value, counter, known) for store in found.stores)


def _is_at(store: Store, counter: Symbol) -> bool:
    at = Var(counter, loc=store.loc)
    return store.index == (at,) and store.mask is None and store.array.array.layout is Layout.C


def _is_cheap(value: Expr, counter: Symbol, known: set[Load] | None) -> bool:
    """Whether a value may be computed for all elements. known: the loads that are in range; None where all are."""
    for node in walk(value):
        match node:
            case Var(symbol=symbol) if symbol != counter:
                continue
            case Const() | Cast():
                continue
            case Binary(op="+" | "-" | "*"):
                continue
            case Load(index=index) if known is None or node in known:
                if contains(index, Load):
                    return False
            case _:
                return False
    return True
