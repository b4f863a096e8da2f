"""The machine's rates for the cost model: when they are measured, where they are stored, which code reads them.

They decide between one thread and several, and between the BLAS library and our own matrix product.

    <cache>/v1/machine-<key>.json     the fields of `Machine`, sealed with a checksum

The key says on what they were measured: the processor, the cores that may be used, the C compiler, NumPy's
version and with it its library's, and how OpenMP's threads wait. The first function with a parallel loop that
is compiled here has the numbers measured (0.3 to 0.4 s, half of it compiling; again in the next two processes if
this machine is busy, and then in one process every ten minutes); `appyc machine` measures at once. A call of
compiled code never does. Until the numbers are there, where they cannot be had, and under APPYC_MACHINE=default,
those of an ordinary machine serve.

All compiled code of the process reads one table, so what is measured holds for loaded code too.
"""

from __future__ import annotations

import ctypes
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from appyc import options
from appyc.ir.machine_model import Machine
from appyc.runtime.fingerprint import binary_fingerprint, digest, machine_fingerprint

if TYPE_CHECKING:
    from appyc.runtime.cache import Cache

_FIELDS = tuple(field.name for field in fields(Machine))

_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "OMP_PROC_BIND", "OMP_PLACES")
"""Settings of OpenMP's that change what it costs to start threads."""

FASTEST, SLOWEST = 1e-5, 1e9
"""Numbers outside of this are no measurements."""

MAX_RUNS = 3
"""Measurements of a busy machine, one in each process that compiles, until the best of them is believed for a while."""

BELIEVED = 600.0
"""Seconds after which a machine that was busy each time is measured again."""


@dataclass(frozen=True, slots=True)
class Record:
    """The measurement on disk. runs: measurements that it is the best of. quiet: one of them was undisturbed.
    at: when the last of them was, in seconds since the epoch."""

    machine: Machine
    runs: int
    quiet: bool
    at: float = 0.0

    @property
    def is_due(self) -> bool:
        """Whether the machine is to be measured again."""
        return not self.quiet and (self.runs < MAX_RUNS or time.time() - self.at > BELIEVED)

    def better(self, other: Record) -> Record:
        """Merges two measurements: the least of each time, since other programs can only slow a measurement down."""
        pairs = zip(astuple(self.machine), astuple(other.machine), strict=True)
        best = replace(Machine(*(min(pair) for pair in pairs)), near_bytes=self.machine.near_bytes)
        best = replace(best, awake=max(self.machine.awake, other.machine.awake))
        quiet = self.quiet or other.quiet
        return Record(
            best if quiet else best.bounded(), self.runs + other.runs, quiet, max(self.at, other.at)
        )


class _Known:
    """The table that compiled code reads, and where its numbers come from."""

    def __init__(self) -> None:
        self.table = (ctypes.c_double * len(_FIELDS))(*astuple(Machine()))
        self.machine = Machine()
        self.record: Record | None = None
        self.looked = False
        """Whether the file has been looked for."""
        self.tried = False
        """Whether this process has measured."""

    def hold(self, machine: Machine) -> None:
        self.machine = machine
        for index, number in enumerate(astuple(machine)):
            self.table[index] = number


@cache
def _known() -> _Known:
    return _Known()


def table_address() -> int:
    """The address of the table of machine rates, which compiled libraries with parallel loops read."""
    current()
    return ctypes.addressof(_known().table)


def current() -> Machine:
    """The numbers in use: this machine's own where they are on disk, else those of an ordinary one."""
    known = _known()
    if not known.looked:
        known.looked = True
        known.record = _read(_cache()) if options.or_usual(options.machine_is_measured) else None
        if known.record is not None:
            known.hold(known.record.machine)
    return known.machine


def is_measured() -> bool:
    """Whether the numbers in use are this machine's own."""
    current()
    return _known().record is not None


def ensure_measured() -> None:
    """Measures this machine unless that has been done, or is not wanted. For when code is compiled."""
    current()
    known = _known()
    due = known.record is None or known.record.is_due
    if due and not known.tried and options.or_usual(options.machine_is_measured):
        remeasure(known.record)


def remeasure(before: Record | None = None) -> Machine | None:
    """Measures, and keeps the numbers. None, and nothing changes, where that is not possible here.

    before: earlier measurements, of which the better ones stay.
    """
    from appyc.runtime.measure import measure  # noqa: PLC0415  (once in a machine's life)

    known = _known()
    known.looked = known.tried = True
    found = measure(options.or_usual(options.num_threads))
    if found is None or not all(FASTEST <= number <= SLOWEST for number in astuple(found[0])):
        return None
    record = Record(found[0], 1, found[1], time.time())
    known.record = record if before is None else record.better(before)
    _cache().write_text(_file(), json.dumps(asdict(known.record)))
    known.hold(known.record.machine)
    return known.machine


@contextmanager
def using(machine: Machine) -> Iterator[None]:
    """Other numbers for a while, for all compiled code of the process."""
    before = current()
    _known().hold(machine)
    try:
        yield
    finally:
        _known().hold(before)


def _cache() -> Cache:
    from appyc.runtime.cache import Cache  # noqa: PLC0415

    return Cache(options.cache_dir())


def _file() -> str:
    compiler = binary_fingerprint(options.c_compiler() or "cc") or binary_fingerprint("gcc") or ""
    waiting = [os.environ.get(name, "") for name in _WAITING]
    key = digest(
        machine_fingerprint(), str(options.or_usual(options.num_threads)), compiler, np.__version__, *waiting
    )
    return f"machine-{key[:32]}.json"


def _read(cache_: Cache) -> Record | None:
    """The measurement that `remeasure` wrote; None where the file is missing or not valid."""
    text = cache_.read_text(_file())
    try:
        content = json.loads(text or "")
        numbers = {name: float(content["machine"][name]) for name in _FIELDS}
        runs, quiet, at = int(content["runs"]), bool(content["quiet"]), float(content["at"])
    except (ValueError, TypeError, KeyError):
        return None
    if not all(FASTEST <= number <= SLOWEST for number in numbers.values()):
        return None
    found = Machine(**numbers)
    return Record(found if found.has_cores else found.bounded(), runs, quiet and found.has_cores, at)
