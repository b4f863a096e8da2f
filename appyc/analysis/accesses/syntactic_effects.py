"""Syntactic effects: the reads and writes of statements and their sizes, memoised by statement.

Passes that try to fuse adjacent loops ask about the same statements for every try. Statements never change, and a
rewritten loop shares most of its statements with the old one. So the effects of a block are combined from the
memoised effects of its statements.

    texts = Texts()
    texts.by(first.body)      reads every statement of it
    texts.by(second.body)     the same
    texts.by(joined.body)     first.body and second.body again, in one loop: nothing is read
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from appyc.ir.blocks import blocks_of, without_blocks
from appyc.ir.invariance import arrays_made
from appyc.ir.nodes import Break, Continue, Extent, Node, Stmt, Symbol, While
from appyc.ir.raising import raises_itself
from appyc.ir.visit import arrays_read, arrays_written, scalars_read, scalars_written, walk


@dataclass(frozen=True, slots=True)
class Touched:
    """The read and write sets of a statement, of arrays and scalars together.

    made: arrays that it makes, which it also writes. sizes: arrays whose lengths it asks for, which
    writing their elements does not change.
    """

    reads: frozenset[Symbol]
    writes: frozenset[Symbol]
    made: frozenset[Symbol]
    sizes: frozenset[Symbol]

    @classmethod
    def by(cls, node: Node | Iterable[Node]) -> Touched:
        made = frozenset(arrays_made(node))
        return cls(
            frozenset(arrays_read(node) | scalars_read(node)),
            frozenset(arrays_written(node) | scalars_written(node)) | made,
            made,
            frozenset(n.array for n in walk(node) if isinstance(n, Extent)),
        )

    def is_free_of(self, other: Touched) -> bool:
        """Whether there is no flow, anti or output dependence between the two, so that they may be reordered."""
        data = self.writes & (other.reads | other.writes) or self.reads & other.writes
        return not (data or self.made & other.sizes or self.sizes & other.made)


@dataclass(frozen=True, slots=True)
class Text:
    """The summary of some statements: what they touch; the arrays that they read and store into; their number of
    nodes; whether they have side effects."""

    touched: Touched
    loaded: frozenset[Symbol]
    stored: frozenset[Symbol]
    nodes: int
    has_effects: bool


@dataclass(slots=True)
class Texts:
    """A memo table of summaries, by the identity of statements, which are kept alive for that."""

    known: dict[int, tuple[Stmt, Text]] = field(default_factory=dict)

    def by(self, stmts: Iterable[Stmt]) -> Text:
        """The summary of several statements together."""
        return _together([self.of(stmt) for stmt in stmts])

    def of(self, stmt: Stmt) -> Text:
        """The summary of one statement."""
        found = self.known.get(id(stmt))
        if found is None:
            text = _together([_text(without_blocks(stmt)), *map(self.by, blocks_of(stmt))])
            found = self.known[id(stmt)] = stmt, text
        return found[1]


def _text(node: Node) -> Text:
    nodes = list(walk(node))
    return Text(
        Touched.by(node),
        frozenset(arrays_read(node)),
        frozenset(arrays_written(node)),
        len(nodes),
        any(map(has_effect_itself, nodes)),
    )


def _together(texts: list[Text]) -> Text:
    if len(texts) == 1:
        return texts[0]
    nothing = frozenset[Symbol]()
    return Text(
        Touched(
            nothing.union(*(t.touched.reads for t in texts)),
            nothing.union(*(t.touched.writes for t in texts)),
            nothing.union(*(t.touched.made for t in texts)),
            nothing.union(*(t.touched.sizes for t in texts)),
        ),
        nothing.union(*(t.loaded for t in texts)),
        nothing.union(*(t.stored for t in texts)),
        sum(t.nodes for t in texts),
        any(t.has_effects for t in texts),
    )


def has_effect_itself(node: Node) -> bool:
    """Whether a node has a side effect of its own, whatever its children have."""
    return isinstance(node, Break | Continue | While) or raises_itself(node)
