"""Variables that may be None."""

from __future__ import annotations

from dataclasses import replace

from appyc.frontend.types.values import Slot, TupleSlots


def or_none(binding: Slot | TupleSlots) -> Slot | TupleSlots:
    """The same where a path may have bound the name to None."""
    if isinstance(binding, Slot):
        return replace(binding, optional=True, literal=None)
    plain = (replace(item, literal=None) if isinstance(item, Slot) else item for item in binding.items)
    return replace(binding, items=tuple(plain), table=None, optional=True)
