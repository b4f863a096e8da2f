"""What reports call the names of a function: the program's as they are, a compiler's own by what they stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from appyc.compiler.analyse import Analysed
from appyc.errors import Loc
from appyc.ir.nodes import Alloc, Assign, For, Symbol
from appyc.ir.visit import symbols_of, walk

_QUOTED = re.compile(r"'([^\W\d]\w*)'")
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Words:
    """known: the words on the lines of the program that the function was made from. own: the symbols of the function
    before any pass. items: parameters for what a tuple, a list or an object holds, as `weights_0`. made: where each
    name that is none of the words is computed, by line.
    """

    known: frozenset[str]
    own: frozenset[Symbol]
    items: frozenset[str]
    made: dict[str, dict[int, Loc]]

    @classmethod
    def of(cls, analysed: Analysed) -> Words:
        nodes = [*walk(analysed.plain), *walk(analysed.function)]
        lines = {(node.loc.file, node.loc.line): node.loc for node in nodes}
        text = "\n".join(loc.source_line() or "" for loc in lines.values())
        words, params = set(_WORD.findall(text)), {p.name for p in analysed.plain.params}
        items = {name for name in params - words if name.rpartition("_")[0] in words}
        known = frozenset(words | params - items)
        made: dict[str, dict[int, Loc]] = {
            symbol.name: {}
            for fn in (analysed.plain, analysed.function)
            for symbol in symbols_of(fn)
            if symbol.name not in known
        }
        for node in nodes:
            if isinstance(node, Alloc | Assign):
                name = (node.array if isinstance(node, Alloc) else node.target).name
                if name in made:
                    made[name].setdefault(node.loc.line, node.loc)
        return cls(known, frozenset(symbols_of(analysed.plain)), frozenset(items), made)

    def is_own(self, symbol: Symbol) -> bool:
        """Whether it is a variable of the program, and not a scalar that a pass made for an element."""
        return symbol in self.own and symbol.name in self.known

    def is_known(self, symbol: Symbol) -> bool:
        return symbol.name in self.known

    def called(self, name: str, line: int) -> str:
        """`'a'`, or `a temporary for a[1:] * b` of what the compiler made. line: of the finding."""
        if name in self.items:
            whole, _, part = name.rpartition("_")
            return f"{whole}[{part}]" if part.isdigit() else f"{whole}.{part}"
        found = self.made.get(name)
        if found is None:
            return f"'{name}'"
        loc = found.get(line) or next(iter(found.values()), None)
        text = (loc.source_line() or "")[loc.col : loc.end_col].strip() if loc is not None else ""
        return f"a temporary for {text}" if text else "a temporary"

    def said(self, text: str, line: int) -> str:
        """A finding without the compiler's own names."""
        return _QUOTED.sub(lambda found: self.called(found[1], line), text)

    def loop(self, loop: For) -> str:
        """What a loop's line begins with: its variable, where the program has one."""
        if loop.var.name in self.known and not loop.implied:
            return f"for {loop.var.name}"
        return "array loop" if loop.implied else "generated loop"
