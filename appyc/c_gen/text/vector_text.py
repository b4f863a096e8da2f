"""Translation of expressions to GNU C vectors, with a lane for each iteration.

The text is the scalar expression's own: GNU C's vector types take the arithmetic operators,
and a scalar operand stands for itself in all lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.text.c_expressions import element_at, expression
from appyc.errors import InternalError
from appyc.ir.array_accesses import step_along_rows
from appyc.ir.nodes import Assign, Binary, Expr, Load, Symbol, Unary, Update, Var
from appyc.ir.visit import walk


@dataclass(frozen=True, slots=True)
class Vectors:
    """var: the loop whose iterations are lanes. scalars: those that hold a value for each lane.

    kind: the C type of a value in all lanes. part: how many of the lanes are iterations, as C text, if not all are.
    loaded: elements that variables hold: how they read, and the variable.
    """

    var: Symbol
    scalars: frozenset[Symbol]
    kind: str
    part: str = ""
    loaded: dict[str, str] = field(default_factory=dict)

    def is_uniform(self, expr: Expr) -> bool:
        """True for a value that is the same in all lanes."""
        return not any(
            isinstance(n, Var) and (n.symbol == self.var or n.symbol in self.scalars) for n in walk(expr)
        )

    def at(self, ctx: FunctionContext, array: Symbol, index: tuple[Expr, ...]) -> str:
        """The C lvalue of a vector of adjacent elements, beginning with the one at `index` in the first
        lane."""
        first = element_at(ctx, array, index)
        if self.part:
            return f"{ctx.module.helpers.typed('vector_part', array.dtype)}(&{first}, {self.part})"
        const = "const " if array.array.readonly else ""
        return f"(*({const}{self.kind} *)&{first})"

    def store(self, ctx: FunctionContext, array: Symbol, index: tuple[Expr, ...], value: str) -> None:
        if self.part:
            store, first = (
                ctx.module.helpers.typed("vector_part_store", array.dtype),
                element_at(ctx, array, index),
            )
            ctx.writer.line(f"{store}(&{first}, {self.part}, {value});")
        else:
            ctx.writer.line(f"{self.at(ctx, array, index)} = {value};")

    def load_once(self, ctx: FunctionContext, expr: Expr) -> None:
        """Declares variables for the vectors of an expression that none holds yet.

        Volatile, so that they stay: gcc takes a vector in memory to be as good as one in a
        register, and would load each where it is used.
        """
        for node in walk(expr):
            if isinstance(node, Load) and not self.is_uniform(node):
                memory = self.at(ctx, node.array, node.index)
                if memory not in self.loaded:
                    self.loaded[memory] = name = ctx.module.names.fresh(f"{node.array.name}_lanes")
                    first, value = f"&{element_at(ctx, node.array, node.index)}", "{}"
                    if step_along_rows(node.array, node.index, self.var) == -1:
                        first = f"({first} - (width - 1))"
                        value = f"{ctx.module.helpers.typed('vector_reversed', node.dtype)}({{}})"
                    vector = value.format(f"*(const volatile {self.kind} *){first}")
                    ctx.writer.line(f"const {self.kind} {name} = {vector};")

    def write(self, ctx: FunctionContext, stmt: Assign | Update) -> None:
        """Writes a statement whose operands are vectors."""
        if isinstance(stmt, Assign):
            ctx.writer.line(f"{ctx.name(stmt.target)} = {self.spread(ctx, stmt.value)};")
            return
        value = self.text(ctx, stmt.value)
        if stmt.target.is_array:
            before = self.at(ctx, stmt.target, stmt.index)
            self.store(ctx, stmt.target, stmt.index, f"{before} {stmt.op} {value}")
        else:
            ctx.writer.line(f"{ctx.name(stmt.target)} {stmt.op}= {value};")

    def spread(self, ctx: FunctionContext, expr: Expr) -> str:
        """A value in all lanes. Subtracting zero changes no number, -0.0 included."""
        text = self.text(ctx, expr)
        return f"({text} - ({self.kind}){{0}})" if self.is_uniform(expr) else text

    def text(self, ctx: FunctionContext, expr: Expr) -> str:
        """The value as a vector, or as a scalar where it is the same in all lanes."""
        if self.is_uniform(expr):
            return expression(ctx, expr)
        match expr:
            case Var():
                return ctx.name(expr.symbol)
            case Load():
                memory = self.at(ctx, expr.array, expr.index)
                return self.loaded.get(memory, memory)
            case Unary():
                return f"({expr.op}{self.text(ctx, expr.arg)})"
            case Binary(op="**", lhs=base):
                return f"({{ const {self.kind} base = {self.text(ctx, base)}; base * base; }})"
            case Binary():
                return f"({self.text(ctx, expr.lhs)} {expr.op} {self.text(ctx, expr.rhs)})"
            case _:
                raise InternalError("c_gen", f"{type(expr).__name__} in lanes")
