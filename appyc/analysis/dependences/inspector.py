"""Inspector conditions: run-time tests of index arrays under which a loop carries no dependence.

    for i in range(n):
        a[idx[i]] = b[i]                      free where idx[0:n] holds no value twice

    for i in range(n):
        a[idx[i]] = a[jdx[i]] + a[i]          free where no iteration writes an element that another reads

    for r in range(n):
        for k in range(ptr[r], ptr[r + 1]):
            y[k] = x[k] * w[r]                free where ptr[0:n + 1] ascends

Each access to `a` has as its index on one axis an element of an index array, or the
loop's variable itself. The index arrays alone then decide which iterations share an index.
(Saltz and others, "Run-time parallelization and scheduling of loops", 1991.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from appyc.ir import nodes as ir
from appyc.ir.affine import LinearForm, linear_form, offset_from, written
from appyc.ir.array_accesses import accesses_in
from appyc.ir.invariance import changed_in, is_invariant
from appyc.ir.types import DType
from appyc.ir.visit import arrays_written, contains, loops_of, substitute, walk

Look: TypeAlias = ir.Apart | ir.Ascending


def inspections(loop: ir.For, *, optional: bool = False) -> dict[ir.Symbol, Look]:
    """Arrays written in the loop, with the condition under which the loop carries no dependence on them.

    Index arrays are one-dimensional and not written in the loop; they are indexed by the loop's
    variable plus a loop-invariant offset. There is no condition where the loop's bounds are read
    from arrays, or where no access is indirect. optional: as in `Apart`.
    """
    if contains(loop.bounds, ir.Load):
        return {}
    found = _Loop.of(loop)
    out: dict[ir.Symbol, Look] = {}
    for array in found.written:
        for axis in range(array.array.ndim):
            look = found.segments(array, axis) or found.apart(array, axis, optional)
            if look is not None:
                out[array] = look
                break
    return out


def condition_text(looks: dict[ir.Symbol, Look]) -> str:
    """The inspected conditions as a text for messages: `the values that it reads in 'idx' are distinct`."""
    said: dict[str, set[str]] = {}
    for array, look in looks.items():
        if isinstance(look, ir.Ascending):
            said.setdefault("the values that it reads in {} ascend", set()).add(look.array.name)
        elif look.reads or len(look.writes) > 1:
            text = f"no iteration touches an element of '{array.name}' that another one writes, by the values in {{}}"
            said.setdefault(text, set()).update(names_of(look))
        else:
            said.setdefault("the values that it reads in {} are distinct", set()).update(names_of(look))
    return " and ".join(
        text.format(", ".join(f"'{name}'" for name in sorted(names))) for text, names in said.items()
    )


def names_of(look: ir.Apart) -> set[str]:
    """The index arrays that are inspected."""
    return {p.array.name for p in (*look.writes, *look.reads) if p.array is not None}


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop with the definitions of its scalars.

    known: scalars that the body's own statements assign, once and before any use: `j = idx[i]`.
    changed: scalars that are not loop-invariant, the loops' variables included.
    """

    loop: ir.For
    written: set[ir.Symbol]
    known: dict[ir.Symbol, ir.Expr]
    changed: set[ir.Symbol]

    @classmethod
    def of(cls, loop: ir.For) -> _Loop:
        times = Counter(n.target for n in walk(loop.body) if isinstance(n, ir.Assign | ir.Update))
        seen: set[ir.Symbol] = set()
        known: dict[ir.Symbol, ir.Expr] = {}
        for stmt in loop.body:
            if isinstance(stmt, ir.Assign) and times[stmt.target] == 1 and stmt.target not in seen:
                known[stmt.target] = substitute(stmt.value, known)
            seen |= {n.symbol for n in walk(stmt) if isinstance(n, ir.Var)}
        return cls(loop, arrays_written(loop.body), known, changed_in(loop))

    def _accesses(self, array: ir.Symbol, axis: int) -> Iterator[tuple[bool, ir.Expr]]:
        """Whether it writes, and the index on this axis, for each access."""
        for accessed, index, writes in accesses_in(self.loop.body):
            if accessed == array:
                yield writes, substitute(index[axis], self.known)

    def apart(self, array: ir.Symbol, axis: int, optional: bool) -> ir.Apart | None:
        writes: dict[ir.IterationIndex, None] = {}
        reads: dict[ir.IterationIndex, None] = {}
        for is_write, index in self._accesses(array, axis):
            touched = self._iteration_index(index)
            if touched is None:
                return None
            (writes if is_write else reads).setdefault(touched)
        reads = {touched: None for touched in reads if touched not in writes}
        if not any(touched.array is not None for touched in (*writes, *reads)):
            return None
        loop = self.loop
        extent = ir.Extent(array, axis, loc=loop.loc)
        return ir.Apart(
            loop.lo, loop.hi, loop.step, tuple(writes), tuple(reads), extent, optional, loc=loop.loc
        )

    def _iteration_index(self, index: ir.Expr) -> ir.IterationIndex | None:
        index, holds_all = _unwrapped(index)
        if not isinstance(index, ir.Load):
            offset = self._offset(index)
            return None if offset is None else ir.IterationIndex(None, offset, loc=index.loc)
        if not self._is_index_array(index) or not (holds_all or index.dtype is not DType.UINT64):
            return None
        offset = self._offset(index.index[0])
        return None if offset is None else ir.IterationIndex(index.array, offset, loc=index.loc)

    def _is_index_array(self, load: ir.Load) -> bool:
        array = load.array
        return (
            array not in self.written
            and array.array.ndim == 1
            and load.dtype.is_integer
            and load.mask is None
        )

    def _offset(self, index: ir.Expr) -> ir.Expr | None:
        """The offset of an index from the loop's variable; None if it has no loop-invariant one."""
        rest = offset_from(index, self.loop.var)
        if rest is None or not is_invariant(rest.terms, self.changed):
            return None
        return written(rest, index.loc)

    def segments(self, array: ir.Symbol, axis: int) -> ir.Ascending | None:
        """`ptr` where each access is in the segment from ptr[i + c] to ptr[i + c + 1]."""
        inner = {n.var: n for n in loops_of(self.loop.body)}
        found: set[tuple[ir.Symbol, ir.Expr]] = set()
        for _, index in self._accesses(array, axis):
            around = inner.get(index.symbol) if isinstance(index, ir.Var) else None
            segment = None if around is None else self._segment(around)
            if segment is None:
                return None
            found.add(segment)
        if len(found) != 1 or self.loop.step < 1:
            return None
        ((pointers, offset),) = found
        lo, hi = (
            written(linear_form(bound).plus(linear_form(offset)), bound.loc)
            for bound in (self.loop.lo, self.loop.hi)
        )
        return ir.Ascending(pointers, lo, hi, loc=self.loop.loc)

    def _segment(self, inner: ir.For) -> tuple[ir.Symbol, ir.Expr] | None:
        """ptr and c where the loop runs within ptr[i + c] to ptr[i + c + 1], if these ascend."""
        lo, hi = (substitute(bound, self.known) for bound in inner.bounds)
        if inner.step < 1:
            return None
        for load in (n for n in walk(lo) if isinstance(n, ir.Load)):
            first = self._element(load)
            if first is None:
                continue
            array, offset = first
            last = (array, written(linear_form(offset).plus(LinearForm({}, 1)), offset.loc))
            ends = (first, last)
            if self._is_bound(lo, ends, "max", "min") and self._is_bound(hi, ends, "min", "max"):
                return first
        return None

    def _is_bound(self, bound: ir.Expr, ends: tuple[object, object], either: str, both: str) -> bool:
        """Whether a bound stays within the segment: at or after its start (`either` is "max"),
        or at or before its end ("min")."""
        match _unwrapped(bound)[0]:
            case ir.Load() as load:
                return self._element(load) in ends
            case ir.Binary(op=op, lhs=lhs, rhs=rhs) if op in (either, both):
                sides = [self._is_bound(side, ends, either, both) for side in (lhs, rhs)]
                return any(sides) if op == either else all(sides)
            case _:
                return False

    def _element(self, load: ir.Load) -> tuple[ir.Symbol, ir.Expr] | None:
        """`ptr` and c of ptr[i + c]."""
        if not self._is_index_array(load) or load.dtype is DType.UINT64:
            return None
        offset = self._offset(load.index[0])
        return None if offset is None else (load.array, offset)


def _unwrapped(index: ir.Expr) -> tuple[ir.Expr, bool]:
    """The index without conversions that keep its value; whether one of them kept a large unsigned
    number from wrapping to a negative one."""
    kept = False
    while True:
        match index:
            case ir.Cast(arg=arg, dtype=DType.INT64) if arg.dtype.is_integer:
                index = arg
            case ir.Binary(op="min", lhs=lhs, rhs=ir.Const()) if lhs.dtype is DType.UINT64:
                index, kept = lhs, True
            case _:
                return index, kept
