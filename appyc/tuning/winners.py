"""Schedules that the tuner has found, kept in the cache folder by function, types, device, threads and size class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from typing import SupportsIndex

from appyc.analysis.cost.argument_sizes import Sized, sizes_of
from appyc.compiler.disk_cache import disk_cache
from appyc.compiler.requests import Request
from appyc.options import Options, c_compiler, cache_dir
from appyc.runtime.cache import Cache
from appyc.runtime.fingerprint import binary_fingerprint, digest
from appyc.runtime.gpu_device import cupy_with_device, device_name
from appyc.runtime.index import index_key
from appyc.runtime.threads import get_num_threads

SizeClass = tuple[tuple[str, tuple[int, ...]], ...]


def size_class(named: Mapping[str, object]) -> SizeClass:
    """The lengths and integers among arguments, each by its number of bits.

    >>> size_class({"n": 1000, "x": 0.5})
    (('n', (10,)), ('x', ()))
    """
    sizes = {n: v.shape if isinstance(v, Sized) else (v,) for n, v in sizes_of(named).items()}
    return tuple(
        (name, tuple(index(n).bit_length() for n in numbers if isinstance(n, SupportsIndex)))
        for name, numbers in sizes.items()
    )


@dataclass(frozen=True, slots=True)
class Winner:
    """The stored winner of one function for one size class. file: the cache entry that holds it."""

    file: str
    cache: Cache

    @classmethod
    def of(
        cls, text: str, qualname: str, wanted: Request, named: Mapping[str, object], options: Options
    ) -> Winner:
        compiler = binary_fingerprint(c_compiler() or "cc") or binary_fingerprint("gcc")
        cupy = cupy_with_device() if wanted.target == "gpu" else None
        device = device_name(cupy) if cupy is not None else f"{get_num_threads()} threads"
        size = digest(wanted.target, device, compiler or "", repr(size_class(named)))
        key = index_key(text, qualname, tuple(wanted.types.values()), options, size)
        return cls(f"index/tuned-{key}.txt", disk_cache(cache_dir() if options.cache else None)[0])

    def schedule(self) -> str | None:
        """The best schedule, "" for the default; None where nothing is known."""
        return self.cache.read_text(self.file)

    def keep(self, schedule: str) -> None:
        self.cache.write_text(self.file, schedule)
