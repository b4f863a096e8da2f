"""State of the C back end while it writes one module: the contexts of the module and of a function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from appyc.c_gen.text.c_helpers import Helpers
from appyc.c_gen.text.c_names import Names
from appyc.c_gen.text.c_types import storage_type
from appyc.c_gen.translation_units import Definition
from appyc.errors import Loc
from appyc.ir.fault_words import FaultSite, FaultSites, index_error
from appyc.ir.nodes import For, Function, Stmt, Symbol
from appyc.ir.raising import overflow_error
from appyc.ir.schedule import UNSCHEDULED, Schedule
from appyc.ir.text_writers import CWriter
from appyc.ir.types import Layout
from appyc.options import Options


@dataclass(slots=True)
class ModuleContext:
    """The state of a C file that is being generated.

    functions: the finished C functions, callees first. sequential: leave out
    threads, SIMD and `restrict`, so that arrays may overlap. profiled: the loops whose time the
    code takes, in the order of the table; None where it takes none. callees: what those of the
    function are called in C. pieces: the functions of loops that threads share, by the loops' pattern.
    sites: what may raise.
    """

    fn: Function
    options: Options
    sequential: bool
    names: Names
    helpers: Helpers = field(default_factory=Helpers)
    functions: list[Definition] = field(default_factory=list)
    profiled: list[For] | None = None
    callees: dict[str, str] = field(default_factory=dict)
    pieces: dict[Hashable, str] = field(default_factory=dict)
    sites: FaultSites = field(default_factory=FaultSites)

    def overflow_fault(self, loc: Loc) -> int:
        """The fault site of an integer overflow."""
        return self.sites.add(*overflow_error(self.fn), loc)

    def index_fault(self, array: Symbol, axis: int, loc: Loc, *, stored: bool) -> int:
        if array.array.is_list:
            return self.sites.add(
                "IndexError", f"list {'assignment ' if stored else ''}index out of range", loc
            )
        return self.sites.number(index_error(array.name, axis, loc))


@dataclass(slots=True)
class FunctionContext:
    """The state of a C function that is being generated.

    in_piece: this function is a part of a parallel loop, and runs in several threads at
    once. copied: arrays of which it has a copy, so that nothing is atomic. behind_pointer: scalars
    that live elsewhere and are reached through a pointer. allocated: arrays that this function
    allocates, and frees where it ends. given: arrays that its caller frees, and that it may resize.
    resized: arrays that functions which it calls may resize. leaves: some `goto leave` has been written, so
    the label is needed. renamed: what some symbols are called just here.
    leaves_fast_loop: an index that is out of range ends the loop, and nothing is raised.
    in_lanes: iterations of the loop around are computed in vectors.
    in_callee: this function is one that is called, and knows how deep it is.
    may_stream: there is a variable `streams` that says whether non-temporal stores are used.
    lines: for arrays with non-temporal stores, the element of a line's buffer to store to instead. generators: arrays
    of generators whose first element is kept in a variable, so that it is not loaded again for each number.
    schedule: that of the function of the IR that this one is, or is a part of.
    """

    module: ModuleContext
    writer: CWriter = field(default_factory=CWriter)
    in_piece: bool = False
    copied: frozenset[Symbol] = frozenset()
    behind_pointer: frozenset[Symbol] = frozenset()
    allocated: tuple[Symbol, ...] = ()
    given: tuple[Symbol, ...] = ()
    resized: frozenset[Symbol] = frozenset()
    leaves: bool = False
    renamed: Mapping[Symbol, str] = field(default_factory=dict)
    leaves_fast_loop: bool = False
    may_stream: bool = False
    in_callee: bool = False
    in_lanes: bool = False
    lines: Mapping[Symbol, str] = field(default_factory=dict)
    generators: frozenset[Symbol] = frozenset()
    schedule: Schedule = UNSCHEDULED

    def name(self, symbol: Symbol) -> str:
        if symbol in self.renamed:
            return self.renamed[symbol]
        spelled = self.module.names.of(symbol)
        return f"(*{spelled})" if symbol in self.behind_pointer else spelled

    def spelling(self, names: Mapping[Symbol, str]) -> FunctionContext:
        """The context in which some symbols are called otherwise."""
        return replace(self, renamed={**self.renamed, **names})

    def extent(self, array: Symbol, axis: int) -> str:
        return self.module.names.extent(array, axis)

    def location(self, loc: Loc) -> str:
        """A source location in the user's program, for a comment."""
        file = loc.file.rsplit("/", 1)[-1].replace("*/", "* /")
        return f"{file}:{loc.line}"

    def generator(self, array: Symbol) -> str:
        """The variable with a copy of the first generator of an array."""
        return f"{self.name(array)}_bits"

    def leave_if_failed(self) -> None:
        if self.leaves_fast_loop:
            return
        self.leaves = True
        self.writer.line("if (failed) goto leave;")

    def fail(self, site: FaultSite, words: Sequence[str] = ()) -> None:
        """Raises here: the statement that follows is the function's end."""
        self.leaves = True
        raise_fault = self.module.helpers.plain("raise_fault")
        first, later = (*words, "0", "0")[:2], words[2:]
        call = f"{raise_fault}(fault, {self.module.sites.number(site)}, {', '.join(first)})"
        stores = "".join(f" fault[{k}] = {word};" for k, word in enumerate(later, 3))
        self.writer.line(f"if ({call}) {{{stores} }}" if later else f"{call};")
        self.writer.line("goto leave;")


Body: TypeAlias = Callable[[FunctionContext, tuple[Stmt, ...]], None]
"""A function that emits statements in a context."""


def parameters_of_array(ctx: ModuleContext, array: Symbol, *, apart: bool = True) -> list[tuple[str, str]]:
    """The C parameters (type, name) that describe an array: data, extents, strides if need be. apart: no other
    argument shares memory with it, unless the module is for such."""
    kind = array.array
    const = "const " if kind.readonly else ""
    restrict = "restrict " if apart and not ctx.sequential else ""
    out = [(f"{const}{storage_type(kind.dtype)} *{restrict}".rstrip(), ctx.names.of(array))]
    out += [("const int64_t", ctx.names.extent(array, axis)) for axis in range(kind.ndim)]
    if kind.layout is Layout.STRIDED:
        out += [("const int64_t", ctx.names.stride(array, axis)) for axis in range(kind.ndim)]
    return out
