"""The disk cache of this process: in the user's folder, or in one that goes with the process; and what is kept there of
programs that are not compiled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from appyc.options import cache_dir
from appyc.runtime.cache import Cache
from appyc.runtime.fingerprint import digest
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


@dataclass(frozen=True, slots=True)
class SpentSeconds:
    """Seconds that processes before this one have spent on the program of a text, without compiling it. file: that
    keeps them."""

    file: str
    before: float

    @classmethod
    def of(cls, text: str) -> SpentSeconds:
        file = f"index/spent-{digest(text)}.txt"
        found = disk_cache(cache_dir())[0].read_text(file)
        return cls(file, float(found) if found else 0.0)

    def add(self, seconds: float) -> None:
        """Leaves the sum to the processes that follow. Of processes that end at the same time, one counts."""
        disk_cache(cache_dir())[0].write_text(self.file, repr(self.before + seconds))
