"""The optional C extension of the recorder, `_nodes.c`; None where it was not built."""

from __future__ import annotations

from types import ModuleType

FORMAT = 11
"""Of what `_nodes.c` offers. The same number stands there."""


def _extension() -> ModuleType | None:
    try:
        from appyc.lazy import _nodes  # noqa: PLC0415  (it is optional)
    except ImportError:
        return None
    return _nodes if _nodes.FORMAT == FORMAT else None  # a build of an earlier version is as good as none


EXTENSION = _extension()
"""None for an installation without it: then the same is done in Python."""
