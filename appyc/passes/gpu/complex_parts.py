"""Complex expressions as pairs of real ones: the part of `split_complex` below statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from appyc.errors import InternalError, UnsupportedError
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Fail,
    If,
    Intrinsic,
    Load,
    Logical,
    Node,
    Reduce,
    Select,
    Stmt,
    Symbol,
    Unary,
    Update,
    Var,
)
from appyc.ir.types import DType
from appyc.ir.visit import map_operands, walk
from appyc.passes.gpu.lane_expressions import may_act
from appyc.passes.node_builders import is_simple, let, zero
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify import complex_arithmetic as parts
from appyc.passes.simplify.complex_arithmetic import Parts


class ComplexParts:
    """Real and imaginary parts of expressions. Statements that compute them are appended to `out`."""

    def __init__(self, names: NameSupply, ctx: PassContext) -> None:
        self.names, self.ctx = names, ctx
        self.known: dict[Symbol, tuple[Symbol, Symbol]] = {}

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
        return value if is_simple(value) else let(name, value, self.names, out)

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

    def expr(self, e: Expr, out: list[Stmt]) -> Expr:
        """A real expression without complex ones in it."""
        if not works_on_complex(e):
            return e
        match e:
            case Logical() | Select():
                return self._chosen(e, out)
            case Compare() if e.lhs.dtype.is_complex:
                return self._compare(e, out)
            case Cast() if e.arg.dtype.is_complex:
                return self._real_cast(e, out)
            case Intrinsic() if e.args[0].dtype.is_complex:
                return self._real_function(e, out)
            case Call() | Reduce():
                raise InternalError("split_complex", f"{type(e).__name__} is left")
            case _:
                return map_operands(e, lambda part: self.expr(part, out))

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
            size = parts.root_size(a, lambda value, name: self.temp(value, out, name))
            return parts.root(a, self.temp(size, out, "size"))
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

    def _compare(self, e: Compare, out: list[Stmt]) -> Expr:
        if e.op not in ("==", "!="):
            raise UnsupportedError("complex numbers have no order", e.loc)
        a, b = self.complex(e.lhs, out), self.complex(e.rhs, out)
        re, im = Compare(e.op, a.re, b.re, loc=e.loc), Compare(e.op, a.im, b.im, loc=e.loc)
        return Binary("&" if e.op == "==" else "|", re, im, loc=e.loc)

    def _real_cast(self, e: Cast, out: list[Stmt]) -> Expr:
        a = self.complex(e.arg, out)
        if e.dtype is DType.BOOL:
            return Unary("~", parts.is_zero(a), loc=e.loc)
        return _converted(a.re, e.dtype)

    def _real_function(self, e: Intrinsic, out: list[Stmt]) -> Expr:
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


_FUNCTIONS: dict[str, Callable[[Parts], Parts]] = {
    "conj": parts.conjugate,
    "exp": parts.exponential,
    "log": parts.logarithm,
    "sin": parts.sine,
    "cos": parts.cosine,
}


def _converted(value: Expr, dtype: DType) -> Expr:
    return value if value.dtype is dtype else Cast(value, dtype, loc=value.loc)


def works_on_complex(node: Node) -> bool:
    return any(
        isinstance(n, Const | Var | Load | Cast | Intrinsic | Update)
        and (n.target.dtype if isinstance(n, Update) else n.dtype).is_complex
        for n in walk(node)
    )
