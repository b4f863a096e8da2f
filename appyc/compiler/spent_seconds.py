"""Seconds that processes have spent on a program without compiling it, kept in the cache folder."""

from __future__ import annotations

from dataclasses import dataclass

from appyc.compiler.disk_cache import disk_cache
from appyc.options import cache_dir
from appyc.runtime.fingerprint import digest


@dataclass(frozen=True, slots=True)
class SpentSeconds:
    """What processes before this one have spent on the program of a text. file: where it is kept."""

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
