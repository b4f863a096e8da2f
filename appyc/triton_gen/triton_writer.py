"""Writer for generated Python text: lines with their indentation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Writer:
    """Collects lines; `block` indents what is written inside it.

    >>> w = Writer()
    >>> with w.block("while True:"):
    ...     w.line("work()")
    >>> print(w.text())
    while True:
        work()
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str = "") -> None:
        self._lines.append("    " * self._depth + text if text else "")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before:
            self.line("pass")
        self._depth -= 1

    def text(self) -> str:
        return "\n".join(self._lines)
