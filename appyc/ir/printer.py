"""IR as Python that runs: to read, to compare with a golden text, and to execute.

    import math
    import numpy as np

    def total(a: 'float64[:]'):
        s = 0.0
        #pragma parallel for reduction(+: s)
        for i in range(0, a.shape[0]):
            s = s + a[i]
        return np.float64(s)

What the text computes is what the IR means, to the type: constants of other types than
Python's own carry theirs, conversions are explicit, and operands are cast where Python's own
numbers would behave unlike NumPy's (a zero divisor). Integers that come from `range` and
shapes are Python's: they do not wrap at 64 bits.

`print_expr` and `print_stmt` are for messages: there, symbols have their plain names.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Collection, Iterable
from typing import assert_never

from appyc.ir import nodes as ir
from appyc.ir.expression_printer import CALLED_OPS, PYTHON_KINDS, ExpressionPrinter, strided
from appyc.ir.fault_words import AS_TUPLE
from appyc.ir.names import of_function, spellings
from appyc.ir.results import Chosen, DictOf, ListOf, MadeOf, NoneOr, ResultTree, ViewOf
from appyc.ir.visit import symbols_of, walk

_OWN_NAMES = (
    "np", "math", "range", "min", "max", "bool", "int", "float", "complex", "any_lane",
    "apart", "indices_of", "is_any", "ascending",
)  # fmt: skip


INSPECTORS = """\
def apart(iterations, writes, reads, extent):
    like = next(array for array, _ in (*writes, *reads) if array is not None)
    own = [indices_of(iterations, *w, extent, like) for w in writes]
    others = [indices_of(iterations, *r, extent, like) for r in reads]
    first = [np.where(is_any(index, own[:k]), extent, index) for k, index in enumerate(own)]
    seen = np.zeros_like(like, shape=extent + 1, dtype=bool)  # the last for an index out of range
    seen[np.concatenate(first)] = True
    seen[extent] = False
    if int(seen.sum()) != sum(int((index < extent).sum()) for index in first):
        return False
    return all(bool((is_any(index, own) | ~seen[index]).all()) for index in others)


def is_any(index, others):
    return sum((index == other for other in others), index != index)


def indices_of(iterations, array, offset, extent, like):
    index = np.arange(iterations.start, iterations.stop, iterations.step, like=like) + offset
    if array is not None and len(array):
        index = np.where(index < 0, index + len(array), index)
        there = (index >= 0) & (index < len(array))
        found = array[np.where(there, index, 0)]
        index = np.where(there & (found <= 2**63 - 1), found.astype("int64"), extent)
    elif array is not None:
        index = index * 0 + extent
    index = np.where(index < 0, index + extent, index)
    return np.where((index >= 0) & (index < extent), index, extent)


def ascending(array, lo, hi):
    part = array[max(lo, 0) : max(hi + 1, 0)]
    if lo >= hi or (lo >= 0 and len(part) == 0):
        return True
    return lo >= 0 and bool(part[0] >= 0) and bool((part[1:] >= part[:-1]).all())
"""
"""The Python functions that a printed `Apart` and `Ascending` call."""


def print_function(fn: ir.Function, *, located: bool = False) -> str:
    """The function as a Python module that defines it. located: lines say which ones of the program they come from."""
    whole = [fn, *(callee.function for callee in fn.callees)]
    fails = {n.error for n in walk(whole) if isinstance(n, ir.Fail)}
    reserved = {
        *keyword.kwlist,
        *_OWN_NAMES,
        *(error.rpartition(":")[2] for error in fails),
        *(of_function(part.name) for part in whole),
    }
    names = spellings(symbols_of(fn), reserved)
    printer = (_Located if located else _Printer)(names.__getitem__)
    lines = ["import math", "import numpy as np", ""]
    if any(isinstance(n, ir.Reduce) for n in walk(whole)):
        lines.insert(0, "import functools")
    if any(isinstance(n, ir.AnyLane) for n in walk(whole)):
        lines += ["any_lane = bool  # here lanes run in order", ""]
    if any(isinstance(n, ir.Apart | ir.Ascending) for n in walk(whole)):
        lines += [*INSPECTORS.splitlines(), ""]
    for module, _, name in (error.partition(":") for error in sorted(fails)):
        lines += [f"from {module} import {name}", ""] if name else []
    for error in sorted(fails & set(ir.OWN_ERRORS)):
        lines += [f"class {error}(Exception):", "    pass", ""]
    for callee in fn.callees:
        own = spellings(symbols_of(callee.function), reserved)
        lines += [*_Printer(own.__getitem__).function(callee.function), ""]
    lines += printer.function(fn)
    return "\n".join(lines) + "\n"


def print_expr(expr: ir.Expr) -> str:
    """An expression, for a message."""
    return _Printer(lambda symbol: symbol.name).bare(expr)


def expression_printer(
    name: Callable[[ir.Symbol], str], nonzero: Collection[ir.Symbol] = ()
) -> Callable[[ir.Expr], str]:
    """A printer of expressions that spells symbols as `name` does. nonzero: as for `ExpressionPrinter`."""
    return _Printer(name, nonzero).bare


def print_stmt(stmt: ir.Stmt) -> str:
    """A statement with what it contains, for a message."""
    return "\n".join(_Printer(lambda symbol: symbol.name).stmt(stmt))


class _Printer(ExpressionPrinter):
    # ------------------------------------------------------------ expressions

    def for_all(self, stmt: ir.ForAll) -> list[str]:
        """The values first, then the stores, in the same order."""
        axes = f"({', '.join(self.name(axis) for axis in stmt.axes)}{',' if len(stmt.axes) == 1 else ''})"
        each = self.each(stmt.axes, stmt.extents)
        if stmt.where is not None:
            each += f" if {self.bare(stmt.where)}"
        if stmt.position is None:
            head = f"for {axes}, value in [({axes}, {self.bare(stmt.value)}){each}]:"
        else:
            numbered = f"{self.name(stmt.position)}, {axes}"
            chosen = f"for {numbered} in enumerate([{axes}{each}])"
            head = f"for {numbered}, value in [({numbered}, {self.bare(stmt.value)}) {chosen}]:"
        element = self.element(stmt.array, stmt.index)
        value = "value" if stmt.op is None else self.combined(stmt.op, element, "value")
        return [head, f"    {element} = {value}"]

    # ------------------------------------------------------------ statements

    def block(self, body: Iterable[ir.Stmt]) -> list[str]:
        lines = [line for stmt in body for line in self.stmt(stmt)]
        return [f"    {line}" for line in lines or ["pass"]]

    def stmt(self, stmt: ir.Stmt) -> list[str]:
        match stmt:
            case ir.Assign():
                return [f"{self.name(stmt.target)} = {self.bare(stmt.value)}"]
            case ir.Store():
                line = f"{self.element(stmt.array, stmt.index)} = {self.bare(stmt.value)}"
                return self.masked(line, stmt.mask)
            case ir.Update():
                return self.masked(self.update(stmt), stmt.mask)
            case ir.For():
                bounds = f"{self.bare(stmt.lo)}, {self.bare(stmt.hi)}"
                step = "" if stmt.step == 1 else f", {stmt.step}"
                head = f"for {self.name(stmt.var)} in range({bounds}{step}):"
                return [*self.remarks(stmt), head, *self.block(stmt.body)]
            case ir.While():
                return [f"while {self.bare(stmt.cond)}:", *self.block(stmt.body)]
            case ir.If():
                return self.branch(stmt, "if")
            case ir.Break():
                return ["break"]
            case ir.Continue():
                return ["continue"]
            case ir.Alloc(array=array, shape=[length], kept=kept) if kept is not None:
                # In place: an array that a caller has given is resized there too.
                return [f"{self.name(array)}.resize({self.bare(length)}, refcheck=False)"]
            case ir.Alloc():
                shape = "".join(f"{self.bare(n)}, " for n in stmt.shape).strip()
                make = "zeros" if stmt.zero else "empty"
                return [f"{self.name(stmt.array)} = np.{make}(({shape}), np.{stmt.array.dtype})"]
            case ir.ForAll():
                return self.for_all(stmt)
            case ir.Fail():
                pairs = zip(stmt.values, stmt.kinds, strict=False)
                words = [self.word(word, kind) for word, kind in pairs]
                if not stmt.kinds:
                    named = zip(("value", "extent"), stmt.values, strict=False)
                    words = [f"{name}={self.bare(word)}" for name, word in named]
                text = f".format({', '.join(words)})" if words else ""
                given = repr(stmt.message) + text if stmt.message else ", ".join(words)
                if stmt.message == AS_TUPLE:
                    given = f"({', '.join(words)},)"
                return [f"raise {stmt.error.rpartition(':')[2]}({given})"]
            case ir.BoundsCheck():
                return [f"range({self.bare(stmt.extent)})[{self.bare(stmt.index)}]"]
            case _:
                assert_never(stmt)

    def word(self, word: ir.Expr, kind: str) -> str:
        """A number of a message, as the type that it has there."""
        if isinstance(word, ir.Intrinsic) and word.name == "float_bits":
            (word,) = word.args
        if isinstance(word, ir.Cast):
            word = word.arg
        owner, _, dtype = kind.rpartition(" ")
        return f"{dtype.rstrip('0123456789') if owner else f'np.{dtype}'}({self.bare(word)})"

    def masked(self, line: str, mask: ir.Expr | None) -> list[str]:
        return [line] if mask is None else [f"if {self.bare(mask)}:", f"    {line}"]

    def update(self, stmt: ir.Update) -> str:
        to_element = stmt.target.is_array
        target = self.element(stmt.target, stmt.index) if to_element else self.name(stmt.target)
        if stmt.op in CALLED_OPS:
            value = f"{CALLED_OPS[stmt.op]}({target}, {self.bare(stmt.value)})"
        elif stmt.trap:
            value = f"int({target}) {stmt.op} {self.pythons(stmt.value)}"
        else:
            value = f"{target} {stmt.op} {self.expr(stmt.value)}"
        return f"{target} = {value}" + ("  # atomic" if stmt.atomic else "")

    def branch(self, stmt: ir.If, word: str) -> list[str]:
        lines = [f"{word} {self.bare(stmt.cond)}:", *self.block(stmt.then)]
        if len(stmt.orelse) == 1 and isinstance(stmt.orelse[0], ir.If):
            return lines + self.branch(stmt.orelse[0], "elif")
        return lines + (["else:", *self.block(stmt.orelse)] if stmt.orelse else [])

    # ------------------------------------------------------------ what is known of a loop

    def remarks(self, loop: ir.For) -> list[str]:
        """Comments above a loop: what the user asked for, and how it runs."""
        lines = [] if loop.clauses is None else [f"# asked: {self.asked(loop.clauses)}"]
        if loop.product is not None:
            lines.append("# a product of matrices")
        facts = self.lists(private=loop.private, last=loop.last) + self.reductions(loop.reductions)
        match loop.mode:
            case ir.LoopMode.PARALLEL:
                lines.append(" ".join(["#pragma parallel for", *facts]))
            case ir.LoopMode.SIMD:
                limits = [] if loop.safelen is None else [f"safelen({loop.safelen})"]
                limits += ["in_step"] if loop.in_step else []
                lines.append(" ".join(["#pragma simd", *limits, *facts]))
            case ir.LoopMode.SEQUENTIAL:
                facts += [f"scan({scan.op}: {self.name(scan.symbol)})" for scan in loop.scans]
                if facts:
                    lines.append(" ".join(["# sequential", *facts]))
            case _:
                assert_never(loop.mode)
        return lines

    def asked(self, clauses: ir.Clauses) -> str:
        words = [
            f"{clauses.request} for" if clauses.request in ("parallel", "sequential") else clauses.request
        ]
        if clauses.simd:
            words.append("simd")
        if clauses.collapse != 1:
            words.append(f"collapse({clauses.collapse})")
        if clauses.block:
            words.append(f"block({', '.join(map(str, clauses.block))})")
        if clauses.num_warps is not None:
            words.append(f"num_warps({clauses.num_warps})")
        if clauses.num_stages is not None:
            words.append(f"num_stages({clauses.num_stages})")
        words += self.reductions(clauses.reductions)
        words += self.lists(private=clauses.private, shared=clauses.shared, to=clauses.to)
        words += [text.replace("from_", "from") for text in self.lists(from_=clauses.from_)]
        if clauses.schedule is not None:
            chunk = "" if clauses.chunk is None else f", {clauses.chunk}"
            words.append(f"schedule({clauses.schedule}{chunk})")
        if clauses.condition is not None:
            words.append(f"if({self.bare(clauses.condition)})")
        if clauses.independent:
            words.append("independent")
        words += map(str, clauses.transforms)
        return " ".join(words)

    def lists(self, **symbols: tuple[ir.Symbol, ...]) -> list[str]:
        return [f"{word}({', '.join(map(self.name, names))})" for word, names in symbols.items() if names]

    def reductions(self, reductions: tuple[ir.Reduction, ...]) -> list[str]:
        return [f"reduction({r.op}: {self.name(r.symbol)})" for r in reductions]

    # ------------------------------------------------------------ functions

    def function(self, fn: ir.Function) -> list[str]:
        params = ", ".join(f"{self.name(p)}: '{p.type}'" for p in fn.params)
        body = self.block(fn.body) if fn.body or fn.tree is None else []
        guards = [f"    # holds, or else indices are checked: {self.bare(g.holds)}" for g in fn.guards]
        result = [] if fn.tree is None else [f"    return {self.tree(fn.tree, fn.results)}"]
        return [f"def {of_function(fn.name)}({params}):", *guards, *body, *result]

    def tree(self, tree: ResultTree, results: tuple[ir.Result, ...]) -> str:
        match tree:
            case None:
                return "None"
            case tuple():
                items = [self.tree(item, results) for item in tree]
                return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
            case Chosen(which, options, or_none):
                arrays = ", ".join(self.result(results[n]) for n in options) + (", None" if or_none else "")
                return f"({arrays})[{self.result(results[which])}]"
            case ViewOf():
                return self._view(tree, results)
            case ListOf():
                return self._list(tree, results)
            case MadeOf(makes, lists):
                made = ", ".join(self.tree(item, results) for item in lists)
                return f"maker_of({makes!r})({made})"
            case DictOf(keys, items):
                pairs = zip(keys, items, strict=True)
                return f"{{{', '.join(f'{key!r}: {self.tree(item, results)}' for key, item in pairs)}}}"
            case NoneOr(is_none, value):
                return f"None if {self.result(results[is_none])} else {self.tree(value, results)}"
            case _:
                return self.result(results[tree])

    def _list(self, made: ListOf, results: tuple[ir.Result, ...]) -> str:
        count = self.result(results[made.count])
        parts = [f"{self.result(results[n])}[:{count}]" for n in made.columns]
        lists = [f"{part}.tolist()" if own else f"list({part})"
                 for part, own in zip(parts, made.python, strict=True)]  # fmt: skip
        if made.of_tuples is None:
            return lists[0]
        of = f"rows_of({made.of_tuples!r}, " if made.of_tuples else "zip("
        return f"list({of}{', '.join(lists)}))"

    def _view(self, view: ViewOf, results: tuple[ir.Result, ...]) -> str:
        base = self.result(results[view.array])
        later = (self.result(results[n]) for n in view.known_later)
        numbers = [next(later) if n is None else str(n) for n in view.numbers]
        rank = (len(numbers) - view.ndim) // (1 + view.ndim)
        return strided(
            base, rank, numbers[:rank], numbers[rank : rank + view.ndim], numbers[rank + view.ndim :]
        )

    def result(self, result: ir.Result) -> str:
        if isinstance(result.value, ir.Symbol):
            return self.name(result.value)
        dtype = result.value.dtype
        kind = PYTHON_KINDS[dtype.kind] if result.python else f"np.{dtype}"
        return f"{kind}({self.bare(result.value)})"


class _Located(_Printer):
    """Ends each line with a comment that `Source.origins` reads."""

    def stmt(self, stmt: ir.Stmt) -> list[str]:
        lines = super().stmt(stmt)
        if not isinstance(stmt, ir.If):
            lines[len(self.remarks(stmt)) if isinstance(stmt, ir.For) else 0] += self.origin(stmt)
        return lines

    def branch(self, stmt: ir.If, word: str) -> list[str]:
        first, *others = super().branch(stmt, word)
        return [first + self.origin(stmt), *others]

    @staticmethod
    def origin(stmt: ir.Stmt) -> str:
        loc = stmt.loc
        return f"  #line {loc.line}:{loc.col}-{loc.end_col} {loc.file}" if loc.line else ""
