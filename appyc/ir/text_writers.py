"""Writers of generated text: lines with their indentation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class _Writer:
    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str = "") -> None:
        self._lines.append("    " * self._depth + text if text else "")

    def text(self) -> str:
        return "\n".join(self._lines)


class CWriter(_Writer):
    """Collects lines; `block` indents what is written inside it and closes its brace.

    >>> w = CWriter()
    >>> with w.block("for (;;)"):
    ...     w.line("work();")
    >>> print(w.text())
    for (;;) {
        work();
    }
    """

    def label(self, name: str) -> None:
        """A label; the empty statement lets it stand before a declaration or a brace."""
        self._lines.append("    " * max(0, self._depth - 1) + f"{name}:;")

    @contextmanager
    def block(self, head: str = "", tail: str = "") -> Iterator[None]:
        self.line(f"{head} {{" if head else "{")
        self._depth += 1
        yield
        self._depth -= 1
        self.line("}" + tail)


class PythonWriter(_Writer):
    """Collects lines; `block` indents what is written inside it.

    >>> w = PythonWriter()
    >>> with w.block("while True:"):
    ...     w.line("work()")
    >>> print(w.text())
    while True:
        work()
    """

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before:
            self.line("pass")
        self._depth -= 1
