"""The words of a pragma, with their positions, and errors located at them."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NoReturn

from appyc.errors import Loc, PragmaError
from appyc.frontend.pragmas.pragma_nodes import Name
from appyc.frontend.source import Source


@dataclass(frozen=True, slots=True)
class PragmaText:
    """The text behind `#pragma`, continuation lines joined; `positions` has line and column of each
    character."""

    source: Source
    text: str
    positions: tuple[tuple[int, int], ...]
    head: Loc

    def loc(self, start: int, end: int) -> Loc:
        line, col = self.positions[start]
        return Loc(self.source.file, line, col, self.positions[max(start, end - 1)][1] + 1)

    def expression(self, start: int, end: int) -> ast.expr:
        """The expression in text[start:end], its nodes with their locations in the file.

        Raises SyntaxError where it is none.
        """
        # In a bracket of its own the text may begin with a blank.
        return self._located(ast.parse(f"({self.text[start:end]})", mode="eval").body, start, 1)

    def subscript(self, start: int, end: int) -> ast.expr:
        """The index in text[start:end], usually a slice. Raises SyntaxError where it is none."""
        tree = ast.parse(f"_[{self.text[start:end]}]", mode="eval").body
        if not isinstance(tree, ast.Subscript):
            raise SyntaxError("not an index")
        return self._located(tree.slice, start, 2)

    def _located(self, tree: ast.expr, start: int, lead: int) -> ast.expr:
        data = b"_" * lead + self.text[start:].encode()
        shift = start - lead

        def byte_position(offset: int, past: int) -> tuple[int, int]:
            at = len(data[:offset].decode()) + shift - past
            line, col = self.positions[at]
            return line, len(self.source.line(line)[: col + past].encode())

        for node in ast.walk(tree):
            if isinstance(node, ast.expr):
                end = node.end_col_offset or node.col_offset + 1
                node.lineno, node.col_offset = byte_position(node.col_offset, 0)
                node.end_lineno, node.end_col_offset = byte_position(end, 1)
        return tree


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    start: int
    end: int

    @property
    def shown(self) -> str:
        """The word as an error message names it."""
        return repr(self.text) if self.text else "the end of the pragma"


_WORD = re.compile(r"=>|&&|\|\||[^\W\d]\w*|\d\w*|\S")


class Reader:
    """The words of a pragma, in order, and errors located at them."""

    def __init__(self, pragma: PragmaText) -> None:
        self.pragma = pragma
        self.last = Word("", 0, 0)  # the word taken last
        self._words = [Word(m.group(), m.start(), m.end()) for m in _WORD.finditer(pragma.text)]
        self._at = 0

    def peek(self) -> str:
        """The next word; empty at the end."""
        return self._words[self._at].text if self._at < len(self._words) else ""

    def next(self) -> Word:
        """Takes the next word; at the end, an empty one at the last character."""
        if self._at < len(self._words):
            self.last = self._words[self._at]
            self._at += 1
        else:
            self.last = Word("", max(0, self.last.end - 1), self.last.end)
        return self.last

    def accept(self, text: str) -> bool:
        if self.peek() != text:
            return False
        self.next()
        return True

    def loc(self, word: Word) -> Loc:
        return self.pragma.loc(word.start, word.end)

    def fail(self, summary: str, word: Word, *hints: str, label: str = "") -> NoReturn:
        raise PragmaError(summary, self.loc(word), *hints, label=label)

    def unknown(self, what: str, word: Word, known: Iterable[str], *hints: str) -> NoReturn:
        """The error for a word that is none of `known`: gives the hints, else names the one meant, else lists them."""
        known = tuple(known)
        close = [] if hints else get_close_matches(word.text, known, 1, 0.6)
        label = f"did you mean {close[0]!r}?" if close else ""
        plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
        listed = () if close or hints else (f"{plural} are {', '.join(known)}",)
        self.fail(f"unknown {what} {word.text!r}", word, *hints, *listed, label=label)

    def open(self, clause: Word, form: str) -> None:
        if not self.accept("("):
            self.fail(f"{clause.text!r} lacks its argument", clause, f"write {form}")

    def close(self, clause: Word) -> None:
        if self.accept(")"):
            return
        word = self.next()
        if not word.text:
            self.fail(f"{clause.text!r} lacks its closing ')'", clause)
        self.fail(f"expected ')' or ',' in {clause.text!r}, found {word.shown}", word)

    def integer(self, clause: Word) -> int:
        word = self.next()
        if not word.text.isdecimal() or int(word.text) == 0:
            found = word.text + (self.peek() if word.text == "-" else "")
            shown = repr(found) if found else word.shown
            self.fail(f"{clause.text!r} takes a positive whole number, not {shown}", word)
        return int(word.text)

    def choice(self, what: str, choices: Iterable[str], *hints: str) -> str:
        word = self.next()
        if word.text not in tuple(choices):
            self.unknown(what, word, choices, *hints)
        return word.text

    def names(self, clause: Word) -> tuple[Name, ...]:
        """One name or more, with commas between; no name twice."""
        out: dict[str, Name] = {}
        while True:
            word = self.next()
            if not word.text.isidentifier() or keyword.iskeyword(word.text):
                self.fail(f"{clause.text!r} takes names of variables, not {word.shown}", word)
            if word.text in out:
                self.fail(f"{word.text!r} is named twice in {clause.text!r}", word)
            out[word.text] = Name(word.text, self.loc(word))
            if not self.accept(","):
                return tuple(out.values())

    def until(self, stop: str, what: Word) -> tuple[int, int]:
        """Skips to the word `stop` that no bracket encloses; the extent of the text before it."""
        start, depth = self.last.end, 0
        while self.peek() != stop or depth:
            word = self.next()
            if not word.text:
                self.fail(f"{what.text!r} lacks its closing {stop!r}", what)
            depth += (word.text in ("(", "[", "{")) - (word.text in (")", "]", "}"))
        return start, self._words[self._at].start
