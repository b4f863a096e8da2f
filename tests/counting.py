"""Work as a count of function calls, which does not depend on the machine or on what else runs on it."""

from __future__ import annotations

import cProfile
from collections.abc import Callable


def calls_of(action: Callable[[], object]) -> int:
    """How many calls of functions an action takes, those in C included."""
    profile = cProfile.Profile()
    with profile:
        action()
    return sum(entry.callcount for entry in profile.getstats())
