"""Fingerprints for cache keys: of appyc's source, the C compiler and the machine, cheap enough for a warm start.

No process is started and no file of the compiler is read: a binary is known by its path,
size and time of change.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent


def digest(*parts: str | bytes) -> str:
    """One name for all parts in their order; ("ab", "c") and ("a", "bc") differ."""
    out = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        out.update(len(data).to_bytes(8, "little"))
        out.update(data)
    return out.hexdigest()


@cache
def package_fingerprint() -> str:
    """The digest of appyc's own source, so that another version or an edited file compiles afresh."""
    return digest(*sorted(_source_files(str(_PACKAGE))))


def _source_files(folder: str) -> list[str]:
    out: list[str] = []
    with os.scandir(folder) as found:
        for item in found:
            if item.is_dir():
                if item.name != "__pycache__":
                    out += _source_files(item.path)
            elif item.name.endswith((".py", ".c", ".h")):
                stat = item.stat()
                out.append(f"{item.path[len(str(_PACKAGE)) :]} {stat.st_size} {stat.st_mtime_ns}")
    return out


def binary_fingerprint(command: str) -> str | None:
    """The digest of the program that a command starts, such as the C compiler; None where there is none."""
    path = shutil.which(command.split(maxsplit=1)[0]) if command.split() else None
    if path is None:
        return None
    real = Path(path).resolve()
    stat = real.stat()
    return digest(command, path, str(real), str(stat.st_size), str(stat.st_mtime_ns))


@cache
def machine_fingerprint() -> str:
    """The digest of the processor (code is compiled for its instruction set), the system, and Python's
    version."""
    system = os.uname()
    return digest(
        system.sysname, system.machine, _processor(), ".".join(map(str, sys.version_info[:2])), sys.byteorder
    )


def _processor() -> str:
    """Model and features of the first processor; the others are listed after it and not read."""
    wanted = ("model name", "flags", "Features", "CPU implementer", "CPU part", "cpu model", "isa")
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = []
            for line in file:
                if not line.strip():
                    break
                if line.startswith(wanted):
                    lines.append(line)
    except OSError:
        return os.uname().machine
    return "".join(lines)
