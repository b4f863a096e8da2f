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

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import assert_never

from appyc.errors import InternalError, UnsupportedError
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Alloc,
    AnyLane,
    Apart,
    Ascending,
    Assign,
    Binary,
    Break,
    Call,
    Cast,
    Compare,
    Const,
    Continue,
    Draw,
    Expr,
    Extent,
    Fail,
    For,
    ForAll,
    Function,
    If,
    Intrinsic,
    Likely,
    Load,
    Logical,
    LoopMode,
    Node,
    Reduce,
    Reduction,
    Result,
    Select,
    Stmt,
    Store,
    Symbol,
    Unary,
    Update,
    Var,
    While,
    Workers,
)
from appyc.ir.types import DType
from appyc.ir.visit import scalars_written, walk
from appyc.passes.gpu.lane_expressions import may_act
from appyc.passes.node_builders import is_simple, zero
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify import complex_arithmetic as parts
from appyc.passes.simplify.complex_arithmetic import Parts

_FUNCTIONS: dict[str, Callable[[Parts], Parts]] = {
    "conj": parts.conjugate,
    "exp": parts.exponential,
    "log": parts.logarithm,
    "sin": parts.sine,
    "cos": parts.cosine,
}


def split_complex(fn: Function, ctx: PassContext) -> Function:
    if not _works_on_complex(fn) and not any(p.dtype.is_complex for p in fn.params):
        return fn
    split = _Splitter(NameSupply.after(fn), ctx)
    start: list[Stmt] = []
    for param in fn.params:
        if not param.is_array and param.dtype.is_complex:
            split.assign(param, split.parts_of_scalar(Var(param, loc=fn.loc)), start)
    body = split.block(fn.body)
    end: list[Stmt] = []
    results = tuple(split.result(result, end) for result in fn.results)
    return replace(fn, body=(*start, *body, *end), results=results)


def split_block(
    body: tuple[Stmt, ...], outside: Iterable[Symbol], names: NameSupply, ctx: PassContext
) -> tuple[Stmt, ...]:
    """The same for some statements. outside: the complex scalars that they read and do not make."""
    split = _Splitter(names, ctx)
    out: list[Stmt] = []
    for symbol in outside:
        split.assign(symbol, split.parts_of_scalar(Var(symbol, loc=body[0].loc)), out)
    return (*out, *split.block(body))


def _works_on_complex(node: Node) -> bool:
    return any(
        isinstance(n, Const | Var | Load | Cast | Intrinsic | Update)
        and (n.target.dtype if isinstance(n, Update) else n.dtype).is_complex
        for n in walk(node)
    )


class _Splitter:
    def __init__(self, names: NameSupply, ctx: PassContext) -> None:
        self.names, self.ctx = names, ctx
        self.known: dict[Symbol, tuple[Symbol, Symbol]] = {}

    # ------------------------------------------------------------ scalars

    def pair(self, symbol: Symbol) -> tuple[Symbol, Symbol]:
        if symbol not in self.known:
            part = symbol.dtype.part
            self.known[symbol] = (
                self.names.fresh(f"{symbol.name}_re", part),
                self.names.fresh(f"{symbol.name}_im", part),
            )
        return self.known[symbol]

    def scalars(self, symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        return tuple(p for s in symbols for p in (self.pair(s) if s.dtype.is_complex else (s,)))

    def assign(self, target: Symbol, value: Parts, out: list[Stmt]) -> None:
        """Both parts at once: the value may read the target."""
        value = self.simple(value, out)
        re, im = self.pair(target)
        out.append(Assign(re, value.re, loc=value.re.loc))
        out.append(Assign(im, value.im, loc=value.im.loc))

    def temp(self, value: Expr, out: list[Stmt], name: str = "part") -> Expr:
        if is_simple(value):
            return value
        symbol = self.names.fresh(name, value.dtype)
        out.append(Assign(symbol, value, loc=value.loc))
        return Var(symbol, loc=value.loc)

    def simple(self, value: Parts, out: list[Stmt]) -> Parts:
        """The parts in new scalars: a variable may be assigned before it is read again."""
        re, im = (self.names.fresh(name, value.re.dtype) for name in ("re", "im"))
        out.append(Assign(re, value.re, loc=value.re.loc))
        out.append(Assign(im, value.im, loc=value.im.loc))
        return Parts(Var(re, loc=value.re.loc), Var(im, loc=value.im.loc))

    def parts_of_scalar(self, value: Expr) -> Parts:
        part = value.dtype.part
        return Parts(
            Intrinsic("real", (value,), part, loc=value.loc), Intrinsic("imag", (value,), part, loc=value.loc)
        )

    # ------------------------------------------------------------ expressions

    def expr(self, e: Expr, out: list[Stmt]) -> Expr:
        """A real expression without complex ones in it."""
        if not _works_on_complex(e):
            return e
        match e:
            case Const() | Var() | Extent() | Workers():
                return e
            case Load():
                return replace(e, index=tuple(self.expr(i, out) for i in e.index))
            case Unary() | AnyLane() | Likely():
                return replace(e, arg=self.expr(e.arg, out))
            case Binary():
                return replace(e, lhs=self.expr(e.lhs, out), rhs=self.expr(e.rhs, out))
            case Compare():
                return self._compare(e, out)
            case Logical() | Select():
                return self._chosen(e, out)
            case Cast():
                return self._real_cast(e, out)
            case Intrinsic():
                return self._real_function(e, out)
            case Draw():
                return replace(e, args=tuple(self.expr(arg, out) for arg in e.args))
            case Apart() | Ascending():
                return e  # integers throughout
            case Call():
                raise InternalError("split_complex", "a call that is not inlined is left")
            case Reduce():
                raise InternalError("split_complex", "a tensor expression is left")
            case _:
                assert_never(e)

    def complex(self, e: Expr, out: list[Stmt]) -> Parts:
        """The parts of a complex expression, simple ones."""
        match e:
            case Const(value, dtype):
                number = complex(value)
                return Parts(
                    Const(number.real, dtype.part, loc=e.loc), Const(number.imag, dtype.part, loc=e.loc)
                )
            case Var(symbol):
                re, im = self.pair(symbol)
                return Parts(Var(re, loc=e.loc), Var(im, loc=e.loc))
            case Load():
                index = tuple(self.temp(self.expr(i, out), out, "index") for i in e.index)
                return self.simple(self.parts_of_scalar(replace(e, index=index)), out)
            case Unary():
                return self.simple(parts.negative(self.complex(e.arg, out)), out)
            case Binary():
                return self.simple(self._arithmetic(e, out), out)
            case Select():
                return self._chosen_parts(e, out)
            case Cast():
                return self._cast(e, out)
            case Intrinsic("complex", (re, im)):
                return Parts(self.temp(self.expr(re, out), out), self.temp(self.expr(im, out), out))
            case Intrinsic():
                return self.simple(self._function(e, out), out)
            case _:
                raise TypeError(f"{type(e).__name__} is never complex")

    def _arithmetic(self, e: Binary, out: list[Stmt]) -> Parts:
        if e.op == "**" and isinstance(e.rhs, Const) and e.rhs.value in (1, 2, 3):
            a = self.complex(e.lhs, out)
            product = a
            for _ in range(int(e.rhs.value.real) - 1):
                product = self.simple(parts.times(product, a), out)
            return product
        a, b = self.complex(e.lhs, out), self.complex(e.rhs, out)
        match e.op:
            case "+" | "-":
                return parts.plus(e.op, a, b)
            case "*":
                return parts.times(a, b)
            case "/":
                return self._quotient(e, a, b, out)
            case "**":
                return self._power(a, b, out)
            case _:
                raise UnsupportedError(f"'{e.op}' on complex numbers does not run on the GPU", e.loc)

    def _quotient(self, e: Binary, a: Parts, b: Parts, out: list[Stmt]) -> Parts:
        if e.trap:
            wrong = Fail("ZeroDivisionError", "complex division by zero", loc=e.loc)
            out.append(If(parts.is_zero(b), (wrong,), loc=e.loc))

        def temp(value: Expr, name: str) -> Expr:
            return self.temp(value, out, name)

        return parts.quotient(a, parts.divisor(b, temp), temp)

    def _power(self, a: Parts, b: Parts, out: list[Stmt]) -> Parts:
        """exp(b log a), and 0 for a = 0 unless b is 0 too."""
        log = self.simple(parts.logarithm(a), out)
        power = self.simple(parts.exponential(self.simple(parts.times(b, log), out)), out)
        none, loc = zero(a.re.dtype, a.re.loc), a.re.loc
        base_zero = self.temp(parts.is_zero(a), out, "base_zero")
        one = Select(parts.is_zero(b), Const(1.0, a.re.dtype, loc=loc), none, loc=loc)
        return Parts(Select(base_zero, one, power.re, loc=loc), Select(base_zero, none, power.im, loc=loc))

    def _function(self, e: Intrinsic, out: list[Stmt]) -> Parts:
        a = self.complex(e.args[0], out)
        if e.name == "sqrt":
            return parts.root(a, self.temp(parts.root_size(a), out, "size"))
        if e.name not in _FUNCTIONS:
            raise UnsupportedError(f"'{e.name}' of a complex number does not run on the GPU", e.loc)
        return _FUNCTIONS[e.name](a)

    def _cast(self, e: Cast, out: list[Stmt]) -> Parts:
        part = e.dtype.part
        if not e.arg.dtype.is_complex:
            re = self.temp(_converted(self.expr(e.arg, out), part), out)
            return Parts(re, zero(part, e.loc))
        a = self.complex(e.arg, out)
        return self.simple(Parts(_converted(a.re, part), _converted(a.im, part)), out)

    # ------------------------------------------------------------ real values of complex numbers

    def _compare(self, e: Compare, out: list[Stmt]) -> Expr:
        if not e.lhs.dtype.is_complex:
            return replace(e, lhs=self.expr(e.lhs, out), rhs=self.expr(e.rhs, out))
        if e.op not in ("==", "!="):
            raise UnsupportedError("complex numbers have no order", e.loc)
        a, b = self.complex(e.lhs, out), self.complex(e.rhs, out)
        re, im = Compare(e.op, a.re, b.re, loc=e.loc), Compare(e.op, a.im, b.im, loc=e.loc)
        return Binary("&" if e.op == "==" else "|", re, im, loc=e.loc)

    def _real_cast(self, e: Cast, out: list[Stmt]) -> Expr:
        if not e.arg.dtype.is_complex:
            return replace(e, arg=self.expr(e.arg, out))
        a = self.complex(e.arg, out)
        if e.dtype is DType.BOOL:
            return Unary("~", parts.is_zero(a), loc=e.loc)
        return _converted(a.re, e.dtype)

    def _real_function(self, e: Intrinsic, out: list[Stmt]) -> Expr:
        if not e.args[0].dtype.is_complex:
            return replace(e, args=tuple(self.expr(a, out) for a in e.args))
        a = self.complex(e.args[0], out)
        match e.name:
            case "real":
                return a.re
            case "imag":
                return a.im
            case "abs":
                return Intrinsic("hypot", (a.re, a.im), e.dtype, loc=e.loc)
            case _:
                raise UnsupportedError(f"'{e.name}' of a complex number does not run on the GPU", e.loc)

    def _chosen(self, e: Logical | Select, out: list[Stmt]) -> Expr:
        """A real value that is computed only where it is asked for: statements under an `If`, unless anybody may
        compute it."""
        if isinstance(e, Logical):
            lhs, ahead = self.expr(e.lhs, out), list[Stmt]()
            rhs = self.expr(e.rhs, ahead)
            if not may_act(rhs) and all(isinstance(s, Assign) and not may_act(s.value) for s in ahead):
                out += ahead
                return replace(e, lhs=lhs, rhs=rhs)
        chosen = self.names.fresh("chosen", e.dtype)
        if isinstance(e, Logical):
            out.append(Assign(chosen, lhs, loc=e.loc))
            ahead.append(Assign(chosen, rhs, loc=e.loc))
            asked: Expr = Var(chosen, loc=e.loc)
            out.append(If(asked if e.op == "and" else Unary("~", asked, loc=e.loc), tuple(ahead), loc=e.loc))
        else:
            cond, then, orelse = self.expr(e.cond, out), list[Stmt](), list[Stmt]()
            then.append(Assign(chosen, self.expr(e.then, then), loc=e.loc))
            orelse.append(Assign(chosen, self.expr(e.orelse, orelse), loc=e.loc))
            out.append(If(cond, tuple(then), tuple(orelse), loc=e.loc))
        return Var(chosen, loc=e.loc)

    def _chosen_parts(self, e: Select, out: list[Stmt]) -> Parts:
        chosen = self.names.fresh("chosen", e.dtype)
        cond, then, orelse = self.expr(e.cond, out), list[Stmt](), list[Stmt]()
        self.assign(chosen, self.complex(e.then, then), then)
        self.assign(chosen, self.complex(e.orelse, orelse), orelse)
        out.append(If(cond, tuple(then), tuple(orelse), loc=e.loc))
        return self.complex(Var(chosen, loc=e.loc), out)

    # ------------------------------------------------------------ statements

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for stmt in body:
            self.stmt(stmt, out)
        return tuple(out)

    def stmt(self, s: Stmt, out: list[Stmt]) -> None:
        match s:
            case Assign(target, value):
                if target.dtype.is_complex:
                    self.assign(target, self.complex(value, out), out)
                else:
                    out.append(replace(s, value=self.expr(value, out)))
            case Store():
                index = tuple(self.expr(i, out) for i in s.index)
                value = self.whole(s.value, out) if s.value.dtype.is_complex else self.expr(s.value, out)
                out.append(replace(s, index=index, value=value))
            case Update():
                self._update(s, out)
            case For():
                out.append(self._for(s, out))
            case While():
                self._while(s, out)
            case If():
                cond = self.expr(s.cond, out)
                out.append(replace(s, cond=cond, then=self.block(s.then), orelse=self.block(s.orelse)))
            case Alloc():
                out.append(replace(s, shape=tuple(self.expr(n, out) for n in s.shape)))
            case Break() | Continue() | Fail():
                out.append(s)
            case ForAll():
                raise InternalError("split_complex", "a tensor statement is left")
            case _:
                assert_never(s)

    def whole(self, value: Expr, out: list[Stmt]) -> Expr:
        """A complex value composed of its parts, for a store."""
        a = self.complex(value, out)
        return Intrinsic("complex", (a.re, a.im), value.dtype, loc=value.loc)

    def result(self, result: Result, out: list[Stmt]) -> Result:
        if isinstance(result.value, Symbol):
            return result
        if result.value.dtype.is_complex:
            return replace(result, value=self.whole(result.value, out))
        return replace(result, value=self.expr(result.value, out))

    def _update(self, s: Update, out: list[Stmt]) -> None:
        if not s.target.dtype.is_complex:
            index = tuple(self.expr(i, out) for i in s.index)
            out.append(replace(s, index=index, value=self.expr(s.value, out)))
        elif s.atomic:
            if s.op != "+":
                raise UnsupportedError(
                    f"an atomic '{s.op}' on complex numbers does not run on the GPU", s.loc
                )
            out.append(replace(s, value=self.whole(s.value, out)))
        elif s.target.is_array:
            index = tuple(self.temp(self.expr(i, out), out, "index") for i in s.index)
            old = Load(s.target, index, s.checked, s.mask, loc=s.loc)
            value = self.whole(Binary(s.op, old, s.value, loc=s.loc), out)
            out.append(Store(s.target, index, value, s.checked, s.mask, loc=s.loc))
        elif s.op == "+":
            a = self.complex(s.value, out)
            for symbol, part in zip(self.pair(s.target), (a.re, a.im), strict=True):
                out.append(Update(symbol, (), "+", part, loc=s.loc))
        else:
            value_ = Binary(s.op, Var(s.target, loc=s.loc), s.value, loc=s.loc)
            self.assign(s.target, self.complex(value_, out), out)

    def _for(self, s: For, out: list[Stmt]) -> For:
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
            return replace(s, mode=LoopMode.SEQUENTIAL, reductions=())
        combined = tuple(Reduction(r.op, part) for r in s.reductions for part in self.scalars((r.symbol,)))
        made = scalars_written(s.body) - {*s.private, *(r.symbol for r in combined)}
        own = sorted(made, key=lambda symbol: symbol.uid) if s.mode is not LoopMode.SEQUENTIAL else ()
        return replace(s, reductions=combined, private=(*s.private, *own))

    def _while(self, s: While, out: list[Stmt]) -> None:
        if not _works_on_complex(s.cond):
            out.append(replace(s, body=self.block(s.body)))
            return
        running = self.names.fresh("running", DType.BOOL)
        out.append(Assign(running, self.expr(s.cond, out), loc=s.loc))
        body = list(self.block(s.body))
        body.append(Assign(running, self.expr(s.cond, body), loc=s.loc))
        out.append(While(Var(running, loc=s.loc), tuple(body), loc=s.loc))


def _converted(value: Expr, dtype: DType) -> Expr:
    return value if value.dtype is dtype else Cast(value, dtype, loc=value.loc)
