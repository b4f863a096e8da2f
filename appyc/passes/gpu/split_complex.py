"""Complex numbers as pairs of real ones, for a target that has none.

    z = z * z + c[i]         z_re = z_re * z_re - z_im * z_im + real(c[i])
                       ->    z_im = (…)
    a[i] = z                 a[i] = complex(z_re, z_im)

Afterwards four kinds of nodes have a complex type: elements of arrays, read as `real(a[i])` and
`imag(a[i])` and written as `a[i] = complex(re, im)`; parameters, read once at the start; results;
and atomic additions. A complex expression that is evaluated conditionally (under `and` or in a
conditional expression) becomes an `If`. A product over iterations does not split into two
reductions; its loop becomes sequential.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from appyc.errors import InternalError, UnsupportedError
from appyc.ir import nodes as ir
from appyc.ir.blocks import map_blocks
from appyc.ir.names import NameSupply, ordered
from appyc.ir.types import DType
from appyc.ir.visit import map_operands, scalars_written
from appyc.passes.gpu.complex_parts import ComplexParts, works_on_complex
from appyc.passes.pass_context import PassContext


def split_complex(fn: ir.Function, ctx: PassContext) -> ir.Function:
    if not works_on_complex(fn) and not any(p.dtype.is_complex for p in fn.params):
        return fn
    split = _Splitter(NameSupply.after(fn), ctx)
    start: list[ir.Stmt] = []
    for param in fn.params:
        if not param.is_array and param.dtype.is_complex:
            split.assign(param, split.parts_of_scalar(ir.Var(param, loc=fn.loc)), start)
    body = split.block(fn.body)
    end: list[ir.Stmt] = []
    results = tuple(split.result(result, end) for result in fn.results)
    return replace(fn, body=(*start, *body, *end), results=results)


def split_block(
    body: tuple[ir.Stmt, ...], outside: Iterable[ir.Symbol], names: NameSupply, ctx: PassContext
) -> tuple[ir.Stmt, ...]:
    """The statements with complex scalars split into real and imaginary parts. outside: the complex scalars
    that the statements read but do not assign."""
    split = _Splitter(names, ctx)
    out: list[ir.Stmt] = []
    for symbol in outside:
        split.assign(symbol, split.parts_of_scalar(ir.Var(symbol, loc=body[0].loc)), out)
    return (*out, *split.block(body))


class _Splitter(ComplexParts):
    def block(self, body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        out: list[ir.Stmt] = []
        for stmt in body:
            self.stmt(stmt, out)
        return tuple(out)

    def stmt(self, s: ir.Stmt, out: list[ir.Stmt]) -> None:
        match s:
            case ir.Assign(target, value) if target.dtype.is_complex:
                self.assign(target, self.complex(value, out), out)
            case ir.Store() if s.value.dtype.is_complex:
                index = tuple(self.expr(i, out) for i in s.index)
                out.append(replace(s, index=index, value=self.whole(s.value, out)))
            case ir.Update() if s.target.dtype.is_complex:
                self._update(s, out)
            case ir.For():
                out.append(self._for(s, out))
            case ir.While():
                self._while(s, out)
            case ir.ForAll():
                raise InternalError("split_complex", "a tensor statement is left")
            case _:
                own = map_operands(s, lambda part: self.expr(part, out))
                out.append(map_blocks(own, self.block))

    def whole(self, value: ir.Expr, out: list[ir.Stmt]) -> ir.Expr:
        """A complex value composed of its parts, for a store."""
        a = self.complex(value, out)
        return ir.Intrinsic("complex", (a.re, a.im), value.dtype, loc=value.loc)

    def result(self, result: ir.Result, out: list[ir.Stmt]) -> ir.Result:
        if isinstance(result.value, ir.Symbol):
            return result
        if result.value.dtype.is_complex:
            return replace(result, value=self.whole(result.value, out))
        return replace(result, value=self.expr(result.value, out))

    def _update(self, s: ir.Update, out: list[ir.Stmt]) -> None:
        if s.atomic:
            if s.op != "+":
                raise UnsupportedError(
                    f"an atomic '{s.op}' on complex numbers does not run on the GPU", s.loc
                )
            out.append(replace(s, value=self.whole(s.value, out)))
        elif s.target.is_array:
            index = tuple(self.temp(self.expr(i, out), out, "index") for i in s.index)
            old = ir.Load(s.target, index, s.checked, s.mask, loc=s.loc)
            value = self.whole(ir.Binary(s.op, old, s.value, loc=s.loc), out)
            out.append(ir.Store(s.target, index, value, s.checked, s.mask, loc=s.loc))
        elif s.op == "+":
            a = self.complex(s.value, out)
            for symbol, part in zip(self.pair(s.target), (a.re, a.im), strict=True):
                out.append(ir.Update(symbol, (), "+", part, loc=s.loc))
        else:
            value_ = ir.Binary(s.op, ir.Var(s.target, loc=s.loc), s.value, loc=s.loc)
            self.assign(s.target, self.complex(value_, out), out)

    def _for(self, s: ir.For, out: list[ir.Stmt]) -> ir.For:
        s = replace(
            s,
            lo=self.expr(s.lo, out),
            hi=self.expr(s.hi, out),
            body=self.block(s.body),
            private=self.scalars(s.private),
            last=self.scalars(s.last),
        )
        if any(r.symbol.dtype.is_complex and r.op != "+" for r in s.reductions):
            self.ctx.missed(
                s.loc,
                "a product of complex numbers runs one step after the other on the GPU",
                "multiply real numbers, or sum logarithms",
            )
            return replace(s, mode=ir.LoopMode.SEQUENTIAL, reductions=())
        combined = tuple(ir.Reduction(r.op, part) for r in s.reductions for part in self.scalars((r.symbol,)))
        made = scalars_written(s.body) - {*s.private, *(r.symbol for r in combined)}
        own = ordered(made) if s.mode is not ir.LoopMode.SEQUENTIAL else ()
        return replace(s, reductions=combined, private=(*s.private, *own))

    def _while(self, s: ir.While, out: list[ir.Stmt]) -> None:
        if not works_on_complex(s.cond):
            out.append(replace(s, body=self.block(s.body)))
            return
        running = self.names.fresh("running", DType.BOOL)
        out.append(ir.Assign(running, self.expr(s.cond, out), loc=s.loc))
        body = list(self.block(s.body))
        body.append(ir.Assign(running, self.expr(s.cond, body), loc=s.loc))
        out.append(ir.While(ir.Var(running, loc=s.loc), tuple(body), loc=s.loc))
