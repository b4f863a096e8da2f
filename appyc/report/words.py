"""Names in reports: variables of the program keep theirs; the compiler's temporaries are described by source text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from appyc.compiler.analyse import Analysed
from appyc.errors import Loc
from appyc.ir.names import container_of
from appyc.ir.nodes import Alloc, Assign, For, Symbol
from appyc.ir.visit import symbols_of, walk

_QUOTED = re.compile(r"'([^\W\d][\w.]*)'")
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Words:
    """The names of symbols in reports.

    known: the identifiers on the source lines of the function. own: the symbols of the function before any pass.
    items: parameters for items of a tuple or list, or attributes of an object, as `weights_0`. made: where each
    symbol whose name is not in `known` is computed.
    """

    known: frozenset[str]
    own: frozenset[Symbol]
    items: frozenset[str]
    made: dict[str, dict[Symbol, Loc | None]]

    @classmethod
    def of(cls, analysed: Analysed) -> Words:
        nodes = [*walk(analysed.plain), *walk(analysed.function)]
        lines = {(node.loc.file, node.loc.line): node.loc for node in nodes}
        text = "\n".join(loc.source_line() or "" for loc in lines.values())
        words, params = set(_WORD.findall(text)), {p.name for p in analysed.plain.params}
        items = {name for name in params - words if name.rpartition("_")[0] in words}
        known = frozenset(words | params - items)
        made: dict[str, dict[Symbol, Loc | None]] = {}
        for symbol in dict.fromkeys(s for fn in (analysed.plain, analysed.function) for s in symbols_of(fn)):
            if symbol.name not in known:
                made.setdefault(symbol.name, {})[symbol] = None
        for node in nodes:
            if isinstance(node, Alloc | Assign):
                symbol = node.array if isinstance(node, Alloc) else node.target
                if symbol in made.get(symbol.name, {}):
                    made[symbol.name][symbol] = made[symbol.name][symbol] or node.loc
        return cls(known, frozenset(symbols_of(analysed.plain)), frozenset(items), made)

    def is_own(self, symbol: Symbol) -> bool:
        """Whether it is a variable of the program, and not a scalar that a pass made for an element."""
        return symbol in self.own and symbol.name in self.known

    def is_known(self, symbol: Symbol) -> bool:
        return symbol.name in self.known

    def called(self, symbol: Symbol) -> str:
        """`a` for a variable of the program, `a temporary for a[1:] * b` for one of the compiler."""
        if symbol.name in self.items:
            whole, _, part = symbol.name.rpartition("_")
            return f"{whole}[{part}]" if part.isdigit() else f"{whole}.{part}"
        if symbol.name in self.known:
            return symbol.name
        loc = self.made.get(symbol.name, {}).get(symbol)
        text = (loc.source_line() or "")[loc.col : loc.end_col].strip() if loc is not None else ""
        return f"a temporary for {text}" if text else "a temporary"

    def said(self, text: str) -> str:
        """A finding with the compiler's own names replaced; an ambiguous one becomes `a temporary`."""

        def name(found: re.Match[str]) -> str:
            symbols = self.made.get(found[1], {})
            if (whole := container_of(found[1])) != found[1]:
                return f"'{whole}'" if whole in self.known else "a temporary"
            if len(symbols) == 1:
                return self.called(*symbols)
            if found[1] in self.items:
                return self.called(next(s for s in self.own if s.name == found[1]))
            return "a temporary" if symbols else found[0]

        return _QUOTED.sub(name, text)

    def loop(self, loop: For) -> str:
        """The title of a loop in a report: `for` and its variable, where the program has one."""
        if loop.var.name in self.known and not loop.implied:
            return f"for {loop.var.name}"
        return "array loop" if loop.implied else "generated loop"
