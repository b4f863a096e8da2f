"""Copy and constant propagation of scalars that are functions of parameters and loop variables.

    n = C.shape[0]
    last = n - 1
    for i in range(0, n):                for i in range(0, C.shape[0]):
        start = i + 1                        for j in range(i + 1, C.shape[0]):
        for j in range(start, n):   ->           C[j, C.shape[0] - 1] = alpha
            C[j, last] = alpha

Later passes then see bounds and indices in terms of parameters and loops, whatever names the program
gave them.

    while m > 0:                         while m > 0:
        n = m                                n = m
        if n == m: ...              ->       ...
        m = f(n)                             m = f(m)

A copy of a scalar that changes is replaced until that is written. Conditions that become constant are folded.

Requires: nothing. A scalar qualifies if it has a single assignment in the function, and if its value is an
expression of integer operations that cannot raise. The operands are constants, extents, parameters, variables of
enclosing loops, and scalars that qualify. A copy of a constant or of a parameter qualifies, too. A scalar that depends
on a loop variable is replaced only behind its assignment in the same iteration; where no operation may trap, its
operands may be scalars that only outer loops change (the index `first + j * step` of a range with a step known at run
time). The assignments stay; `dead_code_elimination` removes the dead ones.

Does not handle: scalars that are assigned more than once, whatever the values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace

from appyc.ir import nodes as ir
from appyc.ir.affine import linear_form
from appyc.ir.blocks import blocks_of, map_blocks, without_blocks
from appyc.ir.invariance import array_makings, arrays_made, changed_in
from appyc.ir.types import DType
from appyc.ir.visit import loops_of, rewrite_all, scalar_writes, statements, substitute, symbols_of, walk
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.constant_conditions import folded

_OPERATORS = ("+", "-", "*", "min", "max")
_DIVISIONS = ("//", "%")

MAX_NODES = 32
"""A value in terms of loops is no longer than this: it is computed wherever it is used."""


def copy_propagation(fn: ir.Function, ctx: PassContext) -> ir.Function:
    """The function with qualifying scalars replaced by their values."""
    new = _propagated(fn)
    return replace(new, body=rewrite_all(new.body, folded)) if new.body != fn.body else fn


def _propagated(fn: ir.Function) -> ir.Function:
    fn = substitute(fn, known_values(fn))
    if not loops_of(fn):
        return fn
    written = Counter(scalar_writes(fn))
    once = frozenset(symbol for symbol, times in written.items() if times == 1) - frozenset(fn.params)
    changing = frozenset({*written, *(loop.var for loop in loops_of(fn))})
    return replace(fn, body=_InLoops(changing, once).block(fn.body, {}, _Around()))


@dataclass(frozen=True, slots=True)
class _Around:
    """The loops around a statement: their variables, and what the innermost one changes."""

    variables: frozenset[ir.Symbol] = frozenset()
    changed: frozenset[ir.Symbol] = frozenset()

    def inside(self, stmt: ir.Stmt) -> _Around:
        if not isinstance(stmt, ir.For):
            return self
        return _Around(self.variables | {stmt.var}, frozenset(changed_in(stmt)))


@dataclass(frozen=True, slots=True)
class _InLoops:
    """The walk that replaces scalars in terms of loop variables.

    once: scalars that a single statement assigns. operands: of the values that have been found.
    """

    changing: frozenset[ir.Symbol]
    once: frozenset[ir.Symbol]
    operands: dict[ir.Symbol, frozenset[ir.Symbol]] = field(default_factory=dict)

    def block(
        self, body: tuple[ir.Stmt, ...], known: Mapping[ir.Symbol, ir.Expr], around: _Around
    ) -> tuple[ir.Stmt, ...]:
        """The rewritten statements. known: the scalars with known values."""
        here, out = dict(known), []
        for stmt in body:
            if here:  # a copy ends where its source is written, and lengths where their array is made anew
                ended = changed_in(stmt)
                for symbol in [s for s in here if not ended.isdisjoint(self.operands[s])] if ended else ():
                    del here[symbol]
            new = self._statement(stmt, here, around)
            out.append(new)
            if isinstance(new, ir.Assign) and new.target in self.once and self._is_known(new.value, around):
                here[new.target] = new.value
                self.operands[new.target] = frozenset(symbols_of(new.value))
        return tuple(out)

    def _statement(self, stmt: ir.Stmt, known: dict[ir.Symbol, ir.Expr], around: _Around) -> ir.Stmt:
        own = substitute(without_blocks(stmt), known) if known else stmt
        inside = around.inside(stmt)
        blocks = iter([self.block(block, known, inside) for block in blocks_of(stmt)])
        return map_blocks(own, lambda block: next(blocks))

    def _is_known(self, value: ir.Expr, around: _Around) -> bool:
        if isinstance(value, ir.Var) and value.dtype is DType.INT64:
            return bool(around.variables)
        nodes = list(walk(value))
        may_trap = any(isinstance(n, ir.Binary) and n.python for n in nodes)
        varying = (self.changing if may_trap else around.changed) - around.variables
        return bool(around.variables) and len(nodes) <= MAX_NODES and _qualifies(value, varying)


def known_values(fn: ir.Function) -> dict[ir.Symbol, ir.Expr]:
    """The values of qualifying scalars, in terms of parameters."""
    written = Counter(scalar_writes(fn))
    varying = {*written, *(loop.var for loop in loops_of(fn)), *_made_anew(fn)}
    values: dict[ir.Symbol, ir.Expr] = {}

    for node in statements(fn):
        # A parameter has a value before its assignment too.
        if isinstance(node, ir.Assign) and written[node.target] == 1 and node.target not in fn.params:
            value = substitute(node.value, values)
            if _qualifies(value, varying):
                values[node.target] = value
    return values


def _made_anew(fn: ir.Function) -> set[ir.Symbol]:
    """Arrays whose shape may change: those that several statements allocate, or one in a loop; parameters that are
    resized."""
    made = Counter((*fn.params, *array_makings(fn)))
    return {array for array, times in made.items() if times > 1} | arrays_made(loops_of(fn))


def _qualifies(expr: ir.Expr, varying: Set[ir.Symbol]) -> bool:
    """Whether a value may replace a scalar. varying: scalars, and arrays whose extents, must not be its operands."""
    match expr:
        case ir.Const():
            return True
        case ir.Extent(array=array):
            return array not in varying
        case ir.Var(symbol=symbol):
            return symbol not in varying
        case ir.Unary(op="-", arg=arg) | ir.Cast(arg=arg, dtype=DType.INT64):
            return arg.dtype.is_integer and _qualifies(arg, varying)
        case ir.Binary(op=op, lhs=lhs, rhs=rhs, trap=False) if expr.dtype is DType.INT64:
            if op in _DIVISIONS:
                is_shift = (
                    op == "%" and not linear_form(lhs).terms
                )  # as of `np.roll`: it becomes a difference
                if isinstance(rhs, ir.Const):
                    return rhs.value != 0 and _qualifies(lhs, varying)
                return is_shift and _is_positive(rhs) and _qualifies(rhs, varying)
            return op in _OPERATORS and _qualifies(lhs, varying) and _qualifies(rhs, varying)
        case _:
            return False


def _is_positive(divisor: ir.Expr) -> bool:
    match divisor:
        case ir.Binary(op="max", rhs=ir.Const(value=int(least))):
            return least > 0
        case _:
            return False
