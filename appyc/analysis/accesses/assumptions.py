"""The conditions of a function that nearly every call fulfils (`Likely`), with the iterations that test them."""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.accesses.access_relations import AccessCollector
from appyc.analysis.accesses.accesses import FunctionAccesses
from appyc.analysis.sets.affine_values import Affine
from appyc.analysis.sets.lazy_isl import isl
from appyc.analysis.sets.presburger import Presburger
from appyc.ir.blocks import never_completes
from appyc.ir.nodes import BoundsCheck, Function, If, Load, Node, Store, Symbol, Unary, Update
from appyc.ir.visit import arrays_written, rewrite


def assumptions_of(fn: Function, sets: Presburger, refused: frozenset[int]) -> FunctionAccesses:
    """The `Likely` conditions of a function, without its accesses.

    Each is taken to hold where others depend on it, but for those refused, by identity.
    """
    affine = Affine(sets, arrays_written(fn), wary=True, refused=refused)
    return _AssumptionCollector(
        rewrite(fn, lambda n: _without_unlikely(n, affine)), FunctionAccesses(affine)
    ).collect()


def _without_unlikely(node: Node, affine: Affine) -> Node:
    """A branch for what is assumed not to be, without its statements: what they assign keeps its value."""
    match node:
        case If(cond=Unary(op="~", arg=arg), then=then) if affine.is_assumed(arg) and not never_completes(
            then
        ):
            return replace(node, then=())
        case _:
            return node


class _AssumptionCollector(AccessCollector):
    """The walk where indices do not matter."""

    def access(self, node: Load | Store | Update, array: Symbol, op: str, domain: isl.Set) -> None:
        self.operands(node, domain)

    def bounds_check(self, stmt: BoundsCheck, domain: isl.Set) -> None:
        self.expression(stmt, domain)
