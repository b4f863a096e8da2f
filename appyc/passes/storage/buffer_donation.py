"""Buffer donation: results take the memory of arguments that the caller gave away.

    # x is donated                              # x is donated
    t = empty((x.shape[0],))
    for i in range(0, x.shape[0]):        ->    for i in range(0, x.shape[0]):
        t[i] = x[i] * 2.0                           x[i] = x[i] * 2.0
    return t                                    return x

An array less is alive while the function runs, and a loop touches one where it touched two. Whoever donates an array
promises not to look at it again; of what is left in it, nothing is said.

A result may take the memory of an array with its type and its lengths, if no element is read after the result's has
been stored in its place. That is told by the text: statements before the first one that stores are free to read;
that one may be a loop, if both arrays' first index is its variable in all that it does, and so on for what it holds;
what comes after it must not read the argument.

Runs after all that moves loops, and joins them in blocks: these read an array again after they have stored beside it.
Requires: `check_bounds` has run, and arguments that are written share no memory with others (so there is nothing for
this in a version for arguments that do).

Does not handle: results of another type or shape than any donated array; arrays read at neighbouring elements in the
loop that stores; temporaries, whose memory goes back after the last statement that looks at them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.analysis.patterns.fill_pattern import touches
from appyc.ir.nodes import Alloc, Expr, Extent, For, Function, If, Load, Stmt, Store, Symbol, Update, Var
from appyc.ir.types import ArrayType, Layout
from appyc.ir.visit import arrays_read, arrays_written, rename, walk
from appyc.passes.pass_context import PassContext


def buffer_donation(fn: Function, ctx: PassContext) -> Function:
    """The function with results in the memory of arguments that `ctx.options.donate` names."""
    donated = [p for p in fn.params if p.name in ctx.options.donate and _is_plain(p)]
    if not donated:
        return fn
    equal = EqualExtents.of(fn.guards)
    returned = {r.value for r in fn.results if isinstance(r.value, Symbol)}
    donated = [p for p in donated if p not in returned and p not in arrays_written(fn)]
    made = [s for s in fn.body if isinstance(s, Alloc) and not s.zero and s.array in returned]
    for alloc in made:
        for param in donated:
            if _is_alike(alloc, param, equal) and _Reuse(param, alloc.array).is_legal(fn.body):
                ctx.remark(
                    alloc.loc, f"'{alloc.array.name}' takes the memory of '{param.name}', which is donated"
                )
                body = tuple(s for s in fn.body if s is not alloc)
                fn = rename(replace(fn, body=body), {alloc.array: param})
                donated.remove(param)
                break
    return fn


def _is_plain(param: Symbol) -> bool:
    return isinstance(param.type, ArrayType) and param.type.layout is Layout.C


def _is_alike(alloc: Alloc, param: Symbol, equal: EqualExtents) -> bool:
    """Whether an array of the kind and the size that is made is there."""
    one, other = alloc.array.type, param.type
    assert isinstance(one, ArrayType)
    assert isinstance(other, ArrayType)
    if (one.dtype, one.ndim, one.layout) != (other.dtype, other.ndim, other.layout):
        return False
    extents = [Extent(param, axis, loc=alloc.loc) for axis in range(other.ndim)]
    return all(equal.same(mine, theirs) for mine, theirs in zip(alloc.shape, extents, strict=True))


@dataclass(frozen=True, slots=True)
class _Reuse:
    """Whether `result` can be stored where `donated` is."""

    donated: Symbol
    result: Symbol

    def is_legal(self, block: Sequence[Stmt], prefix: tuple[Symbol, ...] = ()) -> bool:
        """prefix: variables that the first indices of all accesses in the block are, one value for all of it."""
        first = next((at for at, stmt in enumerate(block) if self.result in arrays_written(stmt)), None)
        if first is None:
            return True
        if any(self.donated in arrays_read(stmt) for stmt in block[first + 1 :]):
            return False
        storing = block[first]
        if self.donated not in arrays_read(storing):
            return True
        match storing:
            case Store():
                return True  # it reads before it stores
            case If(_, then, orelse):
                return self.is_legal(then, prefix) and self.is_legal(orelse, prefix)
            case For(var):
                deeper = (*prefix, var)
                return self._stays_in(storing, deeper) and self.is_legal(storing.body, deeper)
            case _:
                return False

    def _stays_in(self, loop: For, prefix: tuple[Symbol, ...]) -> bool:
        """Whether no iteration comes to an element of either array that is another one's. Indices that are checked may
        count from the end."""
        accesses = (n for n in walk(loop) if touches(n, self.donated) or touches(n, self.result))
        return all(
            isinstance(n, Load | Store | Update) and not n.checked and _starts_with(n.index, prefix)
            for n in accesses
        )


def _starts_with(index: tuple[Expr, ...], prefix: tuple[Symbol, ...]) -> bool:
    places = index[: len(prefix)]
    return len(places) == len(prefix) and all(
        isinstance(place, Var) and place.symbol == var for place, var in zip(places, prefix, strict=True)
    )
