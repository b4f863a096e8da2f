"""Buffer donation: results take the memory of arguments that the caller gave away.

    # x is donated                              # x is donated
    t = empty((x.shape[0],))
    for i in range(0, x.shape[0]):        ->    for i in range(0, x.shape[0]):
        t[i] = x[i] * 2.0                           x[i] = x[i] * 2.0
    return t                                    return x

One array less is live while the function runs, and a loop accesses one array instead of two. The caller that donates
an array must not read it again; its contents after the call are unspecified.

A result may take the memory of an array with the same type and shape if no element is read after the result's element
has been stored at the same address. The test is syntactic. Statements before the first store may read the argument.
The first statement that stores may be a loop, if the loop variable is the first index of every access to both arrays;
its body is tested recursively. Statements behind it must not read the argument.

Runs after all passes that move loops or tile them into blocks: blocks read an array again after stores to neighbouring
elements. Requires: `check_bounds` has run, and arguments that are written share no memory with others. The version for
arguments that do has no donation.

Does not handle: results whose type or shape no donated array has; arrays read at neighbouring elements in the loop that
stores; temporaries, whose memory is freed after their last use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from appyc.analysis.dependences.fusion_legality import EqualExtents
from appyc.ir.array_accesses import is_access_to
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
    return isinstance(param.type, ArrayType) and param.type.layout is Layout.C and not param.type.is_list


def _is_alike(alloc: Alloc, param: Symbol, equal: EqualExtents) -> bool:
    """Whether the parameter has the type and the shape of the allocated array."""
    one, other = alloc.array.type, param.type
    assert isinstance(one, ArrayType)
    assert isinstance(other, ArrayType)
    if (one.dtype, one.ndim, one.layout) != (other.dtype, other.ndim, other.layout):
        return False
    extents = [Extent(param, axis, loc=alloc.loc) for axis in range(other.ndim)]
    return all(equal.same(mine, theirs) for mine, theirs in zip(alloc.shape, extents, strict=True))


@dataclass(frozen=True, slots=True)
class _Reuse:
    """Whether `result` can take the memory of `donated`."""

    donated: Symbol
    result: Symbol

    def is_legal(self, block: Sequence[Stmt], prefix: tuple[Symbol, ...] = ()) -> bool:
        """prefix: the variables of the enclosing loops, which are the first indices of all accesses in the block."""
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
        """Whether no two iterations access the same element of the arrays. Checked indices are rejected, as they may
        count from the end."""
        accesses = (n for n in walk(loop) if is_access_to(n, self.donated) or is_access_to(n, self.result))
        return all(
            isinstance(n, Load | Store | Update) and not n.checked and _starts_with(n.index, prefix)
            for n in accesses
        )


def _starts_with(index: tuple[Expr, ...], prefix: tuple[Symbol, ...]) -> bool:
    indices = index[: len(prefix)]
    return len(indices) == len(prefix) and all(
        isinstance(index, Var) and index.symbol == var for index, var in zip(indices, prefix, strict=True)
    )
