"""Opens folders and files that only the user or root can have written, safe from races on their paths.

    /home/me/.cache/appyc/v1        each name by the descriptor of the folder around it, following no link

A name that was checked may refer to another file a moment later, where another user may rename it (a race between
check and use). So each component of a path is opened first, and the owner and mode of the open file are checked. A
folder that all users may write is accepted as a component only if it is sticky (/tmp), where a user cannot rename
files of others. A link is read and followed by the same rules if it belongs to the user or to root.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from appyc.errors import ToolchainError

_MOST_LINKS = 40
_STEP = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _STEP
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _STEP


class UntrustedError(OSError):
    """Something that another user can have written, or can write. strerror: what, in words that follow a name."""


def reason(error: OSError) -> str:
    """The reason why a folder is not used, as the words that follow its name in a message."""
    text = error.strerror or str(error)
    return text if isinstance(error, UntrustedError) else f"cannot be used: {text}"


def open_folder(path: Path) -> int:
    """Opens a folder of the user's own, and creates it where it is missing; returns the descriptor."""
    steps = list(Path(os.path.abspath(path)).parts)
    folder = os.open(steps.pop(0), _FOLDER)
    where, links = Path("/"), 0
    try:
        _check(os.fstat(folder), where, is_own=not steps)
        while steps:
            name = steps.pop(0)
            target = _link(folder, name, where)
            if target is not None:
                links += 1
                if links > _MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(where / name))
                given = Path(target).parts
                steps[:0] = given[1:] if target.startswith("/") else given
                if target.startswith("/"):
                    folder, where = _replaced(folder, os.open("/", _FOLDER)), Path("/")
                continue
            # ".." of a link is the folder around the one that was opened
            where = where.parent if name == ".." else where / name
            folder = _replaced(folder, _opened_or_made(folder, name))
            _check(os.fstat(folder), where, is_own=not steps)
    except BaseException:
        os.close(folder)
        raise
    return folder


def open_own(path: Path) -> int:
    """The descriptor of a folder that was just made, and is the user's own."""
    folder = os.open(path, _FOLDER)
    try:
        _check(os.fstat(folder), path, is_own=True)
    except BaseException:
        os.close(folder)
        raise
    return folder


def read(folder: int, name: str) -> bytes:
    """A file below an open folder, all steps to which are the user's own. Raises OSError."""
    *parents, last = name.split("/")
    at = os.dup(folder)
    try:
        for step in parents:
            at = _replaced(at, os.open(step, _FOLDER, dir_fd=at))
            _check(os.fstat(at), Path(step), is_own=True)
        with open(os.open(last, _FILE, dir_fd=at), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise UntrustedError(errno.EPERM, "is no file", last)
            _check(found, Path(last), is_own=True)
            return file.read()
    finally:
        os.close(at)


def path_of(folder: int, name: Path) -> Path:
    """A path to an open folder that stays right when its name is given to another one, where the system has such."""
    found = Path(f"/proc/self/fd/{folder}")
    return found if found.is_dir() else name


def _replaced(old: int, new: int) -> int:
    os.close(old)
    return new


def _link(folder: int, name: str, where: Path) -> str | None:
    """The target of a symbolic link in a folder; None for anything else."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISLNK(found.st_mode):
        return None
    if found.st_uid not in (0, os.getuid()):
        raise UntrustedError(errno.EPERM, f"is reached by a link of another user ({where / name})")
    return os.readlink(name, dir_fd=folder)


def _opened_or_made(folder: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        with suppress(FileExistsError):  # another process made it
            os.mkdir(name, 0o700, dir_fd=folder)
        return os.open(name, _FOLDER, dir_fd=folder)


def _check(found: os.stat_result, where: Path, *, is_own: bool) -> None:
    """Raises where another user can have written what was opened, or can write it."""
    mine = os.getuid()
    if found.st_uid != mine and (is_own or found.st_uid != 0):
        whose = "belongs to another user" if is_own else f"is in {where}, which belongs to another user"
        raise UntrustedError(errno.EPERM, whose)
    mode = found.st_mode
    if not is_own and mode & stat.S_ISVTX:
        return
    # Many systems give each user a group with the same number and no other member.
    by_group = mode & stat.S_IWGRP and (is_own or found.st_gid != found.st_uid)
    if by_group or mode & stat.S_IWOTH:
        what = "can be" if is_own else f"is in {where}, which can be"
        raise UntrustedError(errno.EPERM, f"{what} written by other users (chmod go-w would mend it)")


@contextmanager
def workspace() -> Iterator[Path]:
    """A temporary folder to compile in. Raises ToolchainError where there is none, or it is full."""
    import tempfile  # noqa: PLC0415  (a warm start needs none)

    try:
        with tempfile.TemporaryDirectory(prefix="appyc-") as folder:
            yield Path(folder)
    except OSError as error:
        where = f", {tempfile.tempdir}" if tempfile.tempdir else ""
        raise ToolchainError(
            f"nothing can be compiled in the folder for temporary files{where}: {error.strerror or error}. "
            "Set TMPDIR to a folder with space that you can write."
        ) from error
