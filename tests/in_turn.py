"""Parameters of which the ordinary run takes each, but not each with all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def in_turn(cases: Iterable[Any], others: Sequence[Any]) -> list[Any]:
    """Each case with each of the others as two parameters; the ordinary run takes the others in turn, `-m slow` the
    remaining pairs."""
    return [
        pytest.param(case, other, marks=() if k % len(others) == at else pytest.mark.slow)
        for k, case in enumerate(cases)
        for at, other in enumerate(others)
    ]
