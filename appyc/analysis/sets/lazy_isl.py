"""isl, which is imported when it is first used: importing the passes does without it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import islpy as isl
else:

    class _Isl:
        def __getattr__(self, name: str) -> Any:
            found = getattr(importlib.import_module("islpy"), name)
            setattr(self, name, found)
            return found

    isl = _Isl()

__all__ = ["isl"]
