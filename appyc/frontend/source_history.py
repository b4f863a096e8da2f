"""The text of functions that were typed at a prompt, from the readline history."""

from __future__ import annotations

import inspect
import linecache
import sys
import tokenize
import zlib
from collections.abc import Sequence
from types import CodeType
from typing import Protocol, cast

_HISTORY_SEARCHED = 400
"""The number of lines of an interactive session's history that are searched for a function."""


FUTURE_FLAGS = 0x1FF0000
"""The bits of `co_flags` that `from __future__ import` sets."""


class _History(Protocol):
    def get_current_history_length(self) -> int: ...
    def get_history_item(self, index: int, /) -> str | None: ...


def from_history(code: CodeType) -> tuple[str, Sequence[str]]:
    """The text of a function entered in the interactive interpreter, from the line editor's history.

    Before 3.13 Python keeps no text of interactive input. The history lacks blank lines and
    repeated lines, so text is accepted only if it compiles to the same code object.
    """
    history = cast("_History | None", sys.modules.get("readline"))
    if history is None:
        return code.co_filename, ()
    length = history.get_current_history_length()
    numbers = range(max(1, length - _HISTORY_SEARCHED), length + 1)
    lines = [(history.get_history_item(i) or "") + "\n" for i in numbers]
    for start in range(len(lines) - 1, -1, -1):
        if lines[start][0].isspace() or not any(code.co_name in line for line in lines[start:]):
            continue
        statement = lines[start:]
        statement = statement[: block_length(statement)]
        if _compiles_to("".join(statement), code):
            return _remember("".join(statement)), statement
    return code.co_filename, ()


def _compiles_to(text: str, code: CodeType) -> bool:
    try:
        pending = [compile(text, code.co_filename, "exec", code.co_flags & FUTURE_FLAGS, dont_inherit=True)]
    except (SyntaxError, ValueError):
        return False
    while pending:
        found = pending.pop()
        if found == code:
            return True
        pending.extend(const for const in found.co_consts if isinstance(const, CodeType))
    return False


def _remember(text: str) -> str:
    """Registers the text in `linecache`, so that errors and tracebacks find its lines; gives its file name."""
    name = f"<python-input-{zlib.crc32(text.encode()):08x}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return name


def block_length(lines: Sequence[str]) -> int:
    """The number of lines of the function that starts at the first line, decorators included.

    Comments behind the last statement count if they are indented as the body is: a pragma among them is an error to
    report.
    """
    try:
        return len(inspect.getblock(lines))
    except (tokenize.TokenError, SyntaxError):
        return len(lines)  # not Python: parsing will say so
