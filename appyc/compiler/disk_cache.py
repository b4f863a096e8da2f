"""The disk cache of this process: in the user's folder, or in one that goes with the process."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from appyc.runtime.cache import Cache
from appyc.runtime.index import Index

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory


@cache
def disk_cache(root: Path | None) -> tuple[Cache, Index]:
    """The cache in a folder, or one that lasts as long as the process."""
    if root is None:
        return disk_cache(Path(_process_folder().name))
    found = Cache(root)
    return found, Index(found)


@cache
def _process_folder() -> TemporaryDirectory[str]:
    from tempfile import TemporaryDirectory  # noqa: PLC0415  (not needed where there is a disk cache)

    return TemporaryDirectory(prefix="appyc-")
