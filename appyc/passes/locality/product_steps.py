"""The version of a loop that adds rank-one products to a matrix in which many steps are one product.

for k in range(n):                      for first in range(0, n, STEPS):
    ...                                     end = min(first + STEPS, n)
    for i in range(k + 1, n):               for k in range(first, end):
        for j in range(k + 1, m):               ...
            A[i, j] -= A[i, k] * A[k, j]  ->    ... columns before end, then rows before end of the others
                                            # a product of matrices
                                            for i in range(end, n):
                                                for j in range(end, m):
                                                    for k in range(first, end):
                                                        A[i, j] -= A[i, k] * A[k, j]

Where it is not known that the product reads nothing that it writes, it has memory of its own, and is added then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from appyc.analysis.patterns.matrix_products import product_of
from appyc.analysis.patterns.product_sums import ProductSum
from appyc.analysis.patterns.step_pattern import Steps, is_apart, last_may_wait
from appyc.ir.affine import distance
from appyc.ir.blocks import nested
from appyc.ir.machine_model import FEWEST
from appyc.ir.nodes import Assign, Binary, Expr, For, If, Stmt, Var
from appyc.ir.types import DType
from appyc.ir.visit import substitute
from appyc.passes import node_builders as build
from appyc.passes.locality.product_versions import ProductVersions, from_memory

STEPS = 64
"""Steps that are done together: fewer give a library too little to do at a time, and more leave too much beside."""

WORTH = 4 * STEPS
"""Steps from which on that pays."""


def of_steps(steps: Steps, versions: ProductVersions) -> If | None:
    """The loop as it was for few steps, and in groups for many; None where a step needs what would wait."""
    outer, loc = steps.outer, steps.outer.loc
    first, last = (versions.names.fresh(name, DType.INT64) for name in ("first", "end"))
    group = _Group(steps, Var(last, loc=loc))
    step = replace(outer, lo=Var(first, loc=loc), hi=group.end)
    near = replace(step, body=(*outer.body[:-1], *map(versions.copy, group.near())))
    update = versions.copy(nested((group.far_rows, group.far_columns), (steps.update,)))
    if not last_may_wait(replace(near, body=(*near.body, update))):
        return None
    end = build.smaller(build.shifted(Var(first, loc=loc), STEPS), outer.hi)
    body = (Assign(last, end, loc=loc), versions.copy(near), *_far(group, step, versions))
    loop = For(first, outer.lo, outer.hi, STEPS, body, loc=loc)
    tests = [
        build.at_least(build.trip_count(outer.lo, outer.hi, 1), WORTH),
        build.at_least(steps.rows.hi, FEWEST),
    ]
    return If(build.conjunction(tests), (loop,), (outer,), loc=loc)


@dataclass(frozen=True, slots=True)
class _Group:
    """Some steps. end: the one after them."""

    steps: Steps
    end: Expr

    @property
    def far_rows(self) -> For:
        return replace(self.steps.rows, lo=self._from(self.steps.rows))

    @property
    def far_columns(self) -> For:
        return replace(self.steps.columns, lo=self._from(self.steps.columns))

    def near(self) -> tuple[For, ...]:
        """The loops of a step over the columns before the group's end, and over the rows before it in the
        other columns."""
        rows, columns = self.steps.rows, self.steps.columns
        until = [replace(n, hi=build.smaller(self.end, n.hi)) for n in (rows, columns)]
        body = columns.body
        before = replace(rows, body=(replace(until[1], body=body),))
        reach = distance(columns.hi, rows.var)
        if reach is not None and reach <= 1:
            return (before,)  # of a lower triangle, whose rows before the end have no columns beyond it
        return before, replace(until[0], body=(replace(self.far_columns, body=body),))

    def _from(self, loop: For) -> Expr:
        if distance(loop.lo, self.steps.outer.var) is not None:
            return self.end
        return build.larger(loop.lo, self.end)


def _far(group: _Group, step: For, versions: ProductVersions) -> tuple[Stmt, ...]:
    """All steps of a group together, for the rest of the matrix."""
    steps, update, loc = group.steps, group.steps.update, group.steps.update.loc
    rows, columns = (replace(loop, clauses=None) for loop in (group.far_rows, group.far_columns))
    if is_apart(steps):
        nests = [versions.copy(nest) for nest in _in_place(steps, rows, columns, step)]
        products = [product_of(nest, apart=True) for nest in nests]
        if all(products):
            return tuple(replace(n, product=product) for n, product in zip(nests, products, strict=True))
    last_row = Binary("-", rows.hi, build.integer(1, loc), loc=loc)
    wide = replace(columns, hi=substitute(columns.hi, {rows.var: last_row}))
    sides = [build.trip_count(loop.lo, loop.hi, 1) for loop in (rows, wide)]
    shape = tuple(build.larger(side, build.integer(0, loc)) for side in sides)
    found = ProductSum(0, replace(step, body=(update,)), update, steps.terms)
    out: list[Stmt] = []
    memory = versions.memory(found, build.numbers_of((rows, columns)), shape, out, "total")
    added = versions.copy(nested((rows, columns), (from_memory(update, memory),)))
    return (*out, *versions.computed(rows, wide, found, memory), added)


def _in_place(steps: Steps, rows: For, columns: For, step: For) -> Iterator[For]:
    """A nest for each term, which adds it where it belongs."""
    update = steps.update
    for term in steps.terms:
        summed = replace(step, clauses=None, body=(replace(update, value=term.value(update.loc)),))
        yield nested((rows, columns), (summed,))
