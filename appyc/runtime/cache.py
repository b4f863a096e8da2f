"""The disk cache of compiled code: atomic writes, checksums and eviction.

    <root>/v1/entries/<key>/      the files of one entry, and meta.json with their checksums
    <root>/v1/index/<key>.json    see appyc.runtime.index
    <root>/v1/tmp-<random>        what is being written, or was when a process died

An entry is written under a temporary name and renamed, so a reader sees all of it or nothing, and
processes that store the same key at the same time each end with a whole entry. Only the
user may write the folder: the code in it is run. So every step of the way there is opened
by its parent's descriptor, and its owner and mode are looked at, once; from then on the folder
is reached by its own descriptor, whatever becomes of its name (`runtime/trusted.py`). Where it cannot
be used or must not be trusted, a warning says so, and entries live in a temporary folder of the process.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
import warnings
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from appyc.errors import ToolchainError
from appyc.runtime import trusted

VERSION = "v1"
"""The version of the layout on disk; entries of other versions are not read."""

MAX_BYTES = 1 << 30
_DAY = 86_400.0
_HOUR = 3_600.0
_STORES_BETWEEN_SWEEPS = 256
_META = "meta.json"


class CacheWarning(UserWarning):
    """The cache folder is not used, and why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `meta` is what was stored with it. owner: keeps the folder's descriptor open."""

    key: str
    folder: Path = field(compare=False)
    meta: dict[str, object]
    owner: Cache = field(compare=False, repr=False)

    def path(self, name: str) -> Path:
        return self.folder / name


class Cache:
    """A folder of entries. Making one touches no disk."""

    def __init__(self, root: Path, max_bytes: int = MAX_BYTES) -> None:
        self._root = root
        self._max_bytes = max_bytes
        self._open: int | None = None
        """The descriptor of the folder in use."""
        self._has_given_up = False
        self._stores = 0

    def lookup(self, key: str) -> Entry | None:
        """The entry, or None where there is none or it is damaged. Never raises."""
        folder = self._entry_folder(key)
        try:
            meta = _read_entry(self._descriptor(), key)
            if meta is None:
                return None
            if time.time() - folder.stat().st_mtime > _DAY:
                os.utime(folder)  # in use: among the last to be evicted
        except OSError:
            return None
        return Entry(key, folder, meta, self)

    def store(self, key: str, files: Mapping[str, bytes], meta: Mapping[str, object]) -> Entry:
        """Writes an entry, whole or not at all. A whole one that is there already is kept.

        key: hexadecimal digits, as `digest` gives. meta: JSON values.
        """
        try:
            folder = self._write_entry(key, files, meta)
        except OSError as error:
            self._give_up(f"cannot be written: {error.strerror or error}")
            folder = self._write_entry(key, files, meta)
        self._sweep_now_and_then()
        read_back = json.loads(json.dumps(dict(meta)))  # as a later look-up gives it
        return Entry(key, folder, read_back, self)

    def read_text(self, name: str) -> str | None:
        """A file that `write_text` wrote, or None where it is missing or damaged."""
        try:
            return _unsealed(trusted.read(self._descriptor(), name))
        except OSError:
            return None

    def remove(self, entry: Entry) -> None:
        """Removes an entry that is valid but unusable, so that it is compiled again."""
        with suppress(OSError):
            self._remove(self._entry_folder(entry.key))

    def write_text(self, name: str, text: str) -> None:
        """Writes a small file, replacing one of that name atomically."""
        try:
            self._write_text(name, text)
        except OSError as error:
            self._give_up(f"cannot be written: {error.strerror or error}")
            self._write_text(name, text)

    def folder(self) -> Path:
        """The folder of the entries: below the root, or a temporary folder where the root cannot be used."""
        return trusted.path_of(self._descriptor(), self._root / VERSION)

    def _descriptor(self) -> int:
        if self._open is None:
            try:
                self._use(trusted.open_folder(self._root / VERSION))
            except OSError as error:
                self._give_up(trusted.reason(error))
        assert self._open is not None
        return self._open

    def _use(self, descriptor: int) -> None:
        self._open = descriptor
        weakref.finalize(self, os.close, descriptor)

    def sweep(self) -> None:
        """Removes the entries used longest ago until the rest fits, and what dead writers left."""
        folder = self.folder()
        now = time.time()
        for left in folder.glob("tmp-*"):
            if now - _mtime(left) > _HOUR:
                _delete(left)
        found = sorted((_mtime(e), _size(e), e) for e in _listed(folder / "entries"))
        total = sum(size for _, size, _ in found)
        for _, size, entry in found:
            if total <= self._max_bytes:
                break
            self._remove(entry)
            total -= size
        for file in _listed(folder / "index"):
            if now - _mtime(file) > 90 * _DAY:
                file.unlink(missing_ok=True)

    def _entry_folder(self, key: str) -> Path:
        return self.folder() / "entries" / key

    def _aside(self) -> Path:
        return self.folder() / f"tmp-{os.urandom(8).hex()}"

    def _write_entry(self, key: str, files: Mapping[str, bytes], meta: Mapping[str, object]) -> Path:
        target = self._entry_folder(key)
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = self._aside()
        aside.mkdir(mode=0o700)
        try:
            for name, content in files.items():
                (aside / name).write_bytes(content)
            sums = {name: _checksum(content) for name, content in files.items()}
            (aside / _META).write_bytes(_sealed(json.dumps({"files": sums, "meta": dict(meta)})))
            self._put_in_place(aside, target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return target

    def _put_in_place(self, aside: Path, target: Path) -> None:
        """A folder is renamed only onto nothing, so one that is there is kept, or moved away if damaged."""
        for _ in range(8):
            try:
                aside.rename(target)
                return
            except OSError:
                if not target.exists():
                    raise
            if self._is_whole(target.name):
                return  # another process was first
            self._remove(target)
        raise OSError(f"{target} cannot be replaced")

    def _remove(self, entry: Path) -> None:
        """Removes an entry: it is renamed atomically, then deleted."""
        aside = self._aside()
        try:
            entry.rename(aside)
        except FileNotFoundError:
            return  # another process did it
        shutil.rmtree(aside, ignore_errors=True)

    def _write_text(self, name: str, text: str) -> None:
        target = self.folder() / name
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = self._aside()
        try:
            aside.write_bytes(_sealed(text))
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)

    def _sweep_now_and_then(self) -> None:
        self._stores += 1
        stamp = self.folder() / "swept"
        if self._stores % _STORES_BETWEEN_SWEEPS and time.time() - _mtime(stamp) < _DAY:
            return
        try:
            stamp.touch()
            self.sweep()
        except OSError:
            return  # it is housekeeping; the next store tries again

    def _is_whole(self, key: str) -> bool:
        try:
            return _read_entry(self._descriptor(), key) is not None
        except OSError:
            return False

    def _give_up(self, reason: str) -> None:
        if self._has_given_up:
            text = f"neither the cache folder {self._root} nor a temporary folder can be used: it {reason}"
            raise ToolchainError(text)
        self._has_given_up = True
        warnings.warn(
            f"the cache folder {self._root} {reason}; what is compiled is not kept. "
            "Set APPYC_CACHE_DIR to a folder of your own.",
            CacheWarning,
            stacklevel=2,
        )
        import tempfile  # noqa: PLC0415  (milliseconds, for what is seldom needed)

        try:
            scratch = Path(tempfile.mkdtemp(prefix="appyc-"))
            self._use(trusted.open_own(scratch))
        except OSError as error:
            self._give_up(trusted.reason(error))
        else:
            weakref.finalize(self, _delete_own, scratch, os.getpid())


def _read_entry(folder: int, key: str) -> dict[str, object] | None:
    """An entry's meta where all of its files are whole. Raises OSError where one is missing."""
    text = _unsealed(trusted.read(folder, f"entries/{key}/{_META}"))
    if text is None:
        return None
    content = json.loads(text)
    for name, checksum in content["files"].items():
        if _checksum(trusted.read(folder, f"entries/{key}/{name}")) != checksum:
            return None
    meta: dict[str, object] = content["meta"]
    return meta


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _delete_own(scratch: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child leaves its parent's folder alone
        _delete(scratch)


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _sealed(text: str) -> bytes:
    """The text below a line with its checksum."""
    content = text.encode()
    return _checksum(content).encode() + b"\n" + content


def _unsealed(content: bytes) -> str | None:
    checksum, _, text = content.partition(b"\n")
    return text.decode() if _checksum(text).encode() == checksum else None


def _listed(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _mtime(path: Path) -> float:
    """The time of the last change of a file; 0, older than any, where it is missing."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _size(folder: Path) -> int:
    try:
        return sum(file.stat().st_size for file in folder.iterdir())
    except OSError:
        return 0
