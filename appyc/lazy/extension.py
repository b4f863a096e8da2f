"""The optional C extension of the recorder, `_nodes.c`; None where it was not built."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

FORMAT = 11
"""Of what `_nodes.c` offers. The same number stands there."""


EXTENSION: ModuleType | None
"""None for an installation without it: then the same is done in Python."""

try:
    EXTENSION = import_module("appyc.lazy._nodes")
except ImportError:
    EXTENSION = None
if EXTENSION is not None and EXTENSION.FORMAT != FORMAT:
    EXTENSION = None  # built for an earlier version
