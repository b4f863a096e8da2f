"""Complex expressions as pairs of real ones: the part of `split_complex` below statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from appyc.errors import InternalError, UnsupportedError
from appyc.ir import nodes as ir
from appyc.ir.names import NameSupply
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
        self.known: dict[ir.Symbol, tuple[ir.Symbol, ir.Symbol]] = {}

    def pair(self, symbol: ir.Symbol) -> tuple[ir.Symbol, ir.Symbol]:
        if symbol not in self.known:
            part = symbol.dtype.part
            self.known[symbol] = (
                self.names.fresh(f"{symbol.name}_re", part),
                self.names.fresh(f"{symbol.name}_im", part),
            )
        return self.known[symbol]

    def scalars(self, symbols: tuple[ir.Symbol, ...]) -> tuple[ir.Symbol, ...]:
        return tuple(p for s in symbols for p in (self.pair(s) if s.dtype.is_complex else (s,)))

    def assign(self, target: ir.Symbol, value: Parts, out: list[ir.Stmt]) -> None:
        """Assigns the real and the imaginary part of a scalar. Both are computed before either is assigned,
        since the value may read the target."""
        value = self.simple(value, out)
        re, im = self.pair(target)
        out.append(ir.Assign(re, value.re, loc=value.re.loc))
        out.append(ir.Assign(im, value.im, loc=value.im.loc))

    def temp(self, value: ir.Expr, out: list[ir.Stmt], name: str = "part") -> ir.Expr:
        return value if is_simple(value) else let(name, value, self.names, out)

    def simple(self, value: Parts, out: list[ir.Stmt]) -> Parts:
        """The parts in new scalars: a variable may be assigned before it is read again."""
        re, im = (self.names.fresh(name, value.re.dtype) for name in ("re", "im"))
        out.append(ir.Assign(re, value.re, loc=value.re.loc))
        out.append(ir.Assign(im, value.im, loc=value.im.loc))
        return Parts(ir.Var(re, loc=value.re.loc), ir.Var(im, loc=value.im.loc))

    def parts_of_scalar(self, value: ir.Expr) -> Parts:
        part = value.dtype.part
        return Parts(
            ir.Intrinsic("real", (value,), part, loc=value.loc),
            ir.Intrinsic("imag", (value,), part, loc=value.loc),
        )

    def expr(self, e: ir.Expr, out: list[ir.Stmt]) -> ir.Expr:
        """A real expression without complex ones in it."""
        if not works_on_complex(e):
            return e
        match e:
            case ir.Logical() | ir.Select():
                return self._chosen(e, out)
            case ir.Compare() if e.lhs.dtype.is_complex:
                return self._compare(e, out)
            case ir.Cast() if e.arg.dtype.is_complex:
                return self._real_cast(e, out)
            case ir.Intrinsic() if e.args[0].dtype.is_complex:
                return self._real_function(e, out)
            case ir.Call() | ir.Reduce():
                raise InternalError("split_complex", f"{type(e).__name__} is left")
            case _:
                return map_operands(e, lambda part: self.expr(part, out))

    def complex(self, e: ir.Expr, out: list[ir.Stmt]) -> Parts:
        """The parts of a complex expression, simple ones."""
        match e:
            case ir.Const(value, dtype):
                number = complex(value)
                return Parts(
                    ir.Const(number.real, dtype.part, loc=e.loc), ir.Const(number.imag, dtype.part, loc=e.loc)
                )
            case ir.Var(symbol):
                re, im = self.pair(symbol)
                return Parts(ir.Var(re, loc=e.loc), ir.Var(im, loc=e.loc))
            case ir.Load():
                index = tuple(self.temp(self.expr(i, out), out, "index") for i in e.index)
                return self.simple(self.parts_of_scalar(replace(e, index=index)), out)
            case ir.Unary():
                return self.simple(parts.negative(self.complex(e.arg, out)), out)
            case ir.Binary():
                return self.simple(self._arithmetic(e, out), out)
            case ir.Select():
                return self._chosen_parts(e, out)
            case ir.Cast():
                return self._cast(e, out)
            case ir.Intrinsic("complex", (re, im)):
                return Parts(self.temp(self.expr(re, out), out), self.temp(self.expr(im, out), out))
            case ir.Intrinsic():
                return self.simple(self._function(e, out), out)
            case _:
                raise TypeError(f"{type(e).__name__} is never complex")

    def _arithmetic(self, e: ir.Binary, out: list[ir.Stmt]) -> Parts:
        if e.op == "**" and isinstance(e.rhs, ir.Const) and e.rhs.value in (1, 2, 3):
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

    def _quotient(self, e: ir.Binary, a: Parts, b: Parts, out: list[ir.Stmt]) -> Parts:
        if e.trap:
            wrong = ir.Fail("ZeroDivisionError", "complex division by zero", loc=e.loc)
            out.append(ir.If(parts.is_zero(b), (wrong,), loc=e.loc))

        def temp(value: ir.Expr, name: str) -> ir.Expr:
            return self.temp(value, out, name)

        return parts.quotient(a, parts.divisor(b, temp), temp)

    def _power(self, a: Parts, b: Parts, out: list[ir.Stmt]) -> Parts:
        """exp(b log a), and 0 for a = 0 unless b is 0 too."""
        log = self.simple(parts.logarithm(a), out)
        power = self.simple(parts.exponential(self.simple(parts.times(b, log), out)), out)
        none, loc = zero(a.re.dtype, a.re.loc), a.re.loc
        base_zero = self.temp(parts.is_zero(a), out, "base_zero")
        one = ir.Select(parts.is_zero(b), ir.Const(1.0, a.re.dtype, loc=loc), none, loc=loc)
        return Parts(
            ir.Select(base_zero, one, power.re, loc=loc), ir.Select(base_zero, none, power.im, loc=loc)
        )

    def _function(self, e: ir.Intrinsic, out: list[ir.Stmt]) -> Parts:
        a = self.complex(e.args[0], out)
        if e.name == "sqrt":
            size = parts.root_size(a, lambda value, name: self.temp(value, out, name))
            return parts.root(a, self.temp(size, out, "size"))
        if e.name not in _FUNCTIONS:
            raise UnsupportedError(f"'{e.name}' of a complex number does not run on the GPU", e.loc)
        return _FUNCTIONS[e.name](a)

    def _cast(self, e: ir.Cast, out: list[ir.Stmt]) -> Parts:
        part = e.dtype.part
        if not e.arg.dtype.is_complex:
            re = self.temp(_converted(self.expr(e.arg, out), part), out)
            return Parts(re, zero(part, e.loc))
        a = self.complex(e.arg, out)
        return self.simple(Parts(_converted(a.re, part), _converted(a.im, part)), out)

    def _compare(self, e: ir.Compare, out: list[ir.Stmt]) -> ir.Expr:
        if e.op not in ("==", "!="):
            raise UnsupportedError("complex numbers have no order", e.loc)
        a, b = self.complex(e.lhs, out), self.complex(e.rhs, out)
        re, im = ir.Compare(e.op, a.re, b.re, loc=e.loc), ir.Compare(e.op, a.im, b.im, loc=e.loc)
        return ir.Binary("&" if e.op == "==" else "|", re, im, loc=e.loc)

    def _real_cast(self, e: ir.Cast, out: list[ir.Stmt]) -> ir.Expr:
        a = self.complex(e.arg, out)
        if e.dtype is DType.BOOL:
            return ir.Unary("~", parts.is_zero(a), loc=e.loc)
        return _converted(a.re, e.dtype)

    def _real_function(self, e: ir.Intrinsic, out: list[ir.Stmt]) -> ir.Expr:
        a = self.complex(e.args[0], out)
        match e.name:
            case "real":
                return a.re
            case "imag":
                return a.im
            case "abs":
                return ir.Intrinsic("hypot", (a.re, a.im), e.dtype, loc=e.loc)
            case _:
                raise UnsupportedError(f"'{e.name}' of a complex number does not run on the GPU", e.loc)

    def _chosen(self, e: ir.Logical | ir.Select, out: list[ir.Stmt]) -> ir.Expr:
        """A real value that is computed only where it is asked for: statements under an `If`, unless anybody may
        compute it."""
        if isinstance(e, ir.Logical):
            lhs, ahead = self.expr(e.lhs, out), list[ir.Stmt]()
            rhs = self.expr(e.rhs, ahead)
            if not may_act(rhs) and all(isinstance(s, ir.Assign) and not may_act(s.value) for s in ahead):
                out += ahead
                return replace(e, lhs=lhs, rhs=rhs)
        chosen = self.names.fresh("chosen", e.dtype)
        if isinstance(e, ir.Logical):
            out.append(ir.Assign(chosen, lhs, loc=e.loc))
            ahead.append(ir.Assign(chosen, rhs, loc=e.loc))
            asked: ir.Expr = ir.Var(chosen, loc=e.loc)
            out.append(
                ir.If(asked if e.op == "and" else ir.Unary("~", asked, loc=e.loc), tuple(ahead), loc=e.loc)
            )
        else:
            cond, then, orelse = self.expr(e.cond, out), list[ir.Stmt](), list[ir.Stmt]()
            then.append(ir.Assign(chosen, self.expr(e.then, then), loc=e.loc))
            orelse.append(ir.Assign(chosen, self.expr(e.orelse, orelse), loc=e.loc))
            out.append(ir.If(cond, tuple(then), tuple(orelse), loc=e.loc))
        return ir.Var(chosen, loc=e.loc)

    def _chosen_parts(self, e: ir.Select, out: list[ir.Stmt]) -> Parts:
        chosen = self.names.fresh("chosen", e.dtype)
        cond, then, orelse = self.expr(e.cond, out), list[ir.Stmt](), list[ir.Stmt]()
        self.assign(chosen, self.complex(e.then, then), then)
        self.assign(chosen, self.complex(e.orelse, orelse), orelse)
        out.append(ir.If(cond, tuple(then), tuple(orelse), loc=e.loc))
        return self.complex(ir.Var(chosen, loc=e.loc), out)


_FUNCTIONS: dict[str, Callable[[Parts], Parts]] = {
    "conj": parts.conjugate,
    "exp": parts.exponential,
    "log": parts.logarithm,
    "sin": parts.sine,
    "cos": parts.cosine,
}


def _converted(value: ir.Expr, dtype: DType) -> ir.Expr:
    return value if value.dtype is dtype else ir.Cast(value, dtype, loc=value.loc)


def works_on_complex(node: ir.Node) -> bool:
    return any(
        isinstance(n, ir.Const | ir.Var | ir.Load | ir.Cast | ir.Intrinsic | ir.Update)
        and (n.target.dtype if isinstance(n, ir.Update) else n.dtype).is_complex
        for n in walk(node)
    )
