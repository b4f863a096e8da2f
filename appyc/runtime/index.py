"""The index of the disk cache: finds a function's compiled code by its source, without parsing it.

What a function compiles to is known by its own source and by what it calls and reads: its
callees, globals and closure. Those are found only by compiling, so the first compilation
writes them down, each with a digest of what it was. A warm start looks the function's own
source up here, asks for each dependency's digest as it is now, and takes the entry whose
digests agree. An edited callee or global therefore misses.

    key = index_key(source, qualname, types, options, compiler)
    found = index.find(key, lambda d: digest of what d.name is now)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from appyc.ir.arguments import ArgType
from appyc.options import Options
from appyc.runtime.cache import Cache, Entry
from appyc.runtime.fingerprint import digest, machine_fingerprint, package_fingerprint

_MAX_CANDIDATES = 16


class Dependency(NamedTuple):
    """Something outside the function. kind: "global", "closure" or "callee"; digest: what it was."""

    kind: str
    name: str
    digest: str


class Candidate(NamedTuple):
    """One compilation of the function. entry: its key in the cache. meta: JSON values beside it."""

    dependencies: tuple[Dependency, ...]
    entry: str
    meta: dict[str, object]


def index_key(
    source: str, qualname: str, types: Sequence[ArgType], options: Options, compiler: str | None
) -> str:
    """`compiler` is its fingerprint. The file's name is no part: moved code finds its entry again."""
    return digest(
        source,
        qualname,
        repr(tuple(types)),
        repr(options),
        compiler or "",
        package_fingerprint(),
        machine_fingerprint(),
    )


class Index:
    """The compilations known for each function, kept beside a cache's entries."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def find(self, key: str, current: Callable[[Dependency], str | None]) -> Entry | None:
        """The compilation whose every dependency still is what it was, with its own `meta`.

        `current` gives a dependency's digest as it is now, None where it is gone.
        """
        for candidate in self.candidates(key):
            if all(current(d) == d.digest for d in candidate.dependencies):
                entry = self._cache.lookup(candidate.entry)
                if entry is not None:
                    return replace(entry, meta=candidate.meta)
        return None

    def add(
        self, key: str, dependencies: Sequence[Dependency], entry: Entry, meta: dict[str, object]
    ) -> None:
        """Adds a compilation as the latest. Of two processes that do so simultaneously, one may lose its entry."""
        new = Candidate(tuple(dependencies), entry.key, meta)
        others = [c for c in self.candidates(key) if c.dependencies != new.dependencies]
        self._cache.write_text(_name(key), json.dumps([new, *others][:_MAX_CANDIDATES]))

    def candidates(self, key: str) -> list[Candidate]:
        """All that is known of a function, the latest first."""
        text = self._cache.read_text(_name(key))
        found = [] if text is None else json.loads(text)
        return [
            Candidate(tuple(Dependency(*d) for d in dependencies), *rest) for dependencies, *rest in found
        ]


def _name(key: str) -> str:
    return f"index/{key}.json"
