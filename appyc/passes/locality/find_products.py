"""Recognises matrix products that a library may compute, and makes each a nest of its own.

A nest that is nothing but a product is marked (`For.product`): the C generator writes a call of the
library that is made where the product is large, and the loops for where it is small, where the library
cannot take the arrays, and where there is none. The host's part of a program for a GPU does the same with
CuPy's library.

    for i in range(m):                               # a product of matrices
        for j in range(n):                           for i in range(m):
            s = 0.0                                      for j in range(n):
            for k in range(l):                               s = 0.0
                s += A[i, k] * B[k, j]        ->             for k in range(l):
            C[i, j] = s                                          s += A[i, k] * B[k, j]
                                                             C[i, j] = s

A sum with more around it than that gets a second version, for large products. What is around stays as it
is, and finds the sum in memory:

                                                     if m * n * l >= ENOUGH_APART and ...:
                                                         T = np.empty((m, n))
    for i in range(m):                                   # a product of matrices: T = A B
        for j in range(n):                               ...
            s = c[j]                                     for i in range(m):
            for k in range(l):                ->             for j in range(n):
                s += A[i, k] * B[k, j]                           s = c[j]
            C[i, j] = max(s, 0.0)                                s += T[i, j]
                                                                 C[i, j] = max(s, 0.0)
                                                     else:
                                                         ... as it was, in one nest

A triangle, in which the columns begin or end one further on in each row, is a product too. Sums over triangles with
more around them are cut into panels of rows (`product_panels`); of products that are added step by step, most is
done once for many steps (`product_steps`). A loop around a product and no more, whose matrices lie at steps of one
size, is a stack of products, and called for as one. Any other loop around whose iterations threads may share runs in
order in a second version, where each product in it is so large that all threads are busy with it.

Requires `recognise_reductions` and all passes that move loops; runs before `check_parallel`, so that each
new nest gets verdicts of its own. Nothing in the nest may raise, and none of its loops may be held to its order by a
pragma.

Does not handle: factors that differ from row to row; products among other work, with a pragma's loop around that
threads share; operands that the same nest writes, but for triangles that read other rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appyc.analysis.dependences.verdicts import named
from appyc.analysis.patterns.matrix_products import added_up, product_of, stack_of
from appyc.analysis.patterns.panel_pattern import may_be_first, panels_of
from appyc.analysis.patterns.product_sums import pieces_of, sums_in
from appyc.analysis.patterns.step_pattern import steps_of
from appyc.ir.blocks import replace_outermost
from appyc.ir.names import NameSupply
from appyc.ir.nodes import For, Function, If, Stmt
from appyc.ir.visit import loops_of, with_body
from appyc.passes.locality.interchange_loops import has_threads
from appyc.passes.locality.product_panels import are_large, of_panels
from appyc.passes.locality.product_steps import of_steps
from appyc.passes.locality.product_versions import ProductVersions, is_large
from appyc.passes.node_builders import conjunction
from appyc.passes.pass_context import PassContext
from appyc.passes.simplify.normalise_loops import leaves_products_to_library


def find_products(fn: Function, ctx: PassContext) -> Function:
    """The function with its products marked, and in nests of their own. In its callees, which are not analysed, those
    are marked whose result is an array that the callee has made: nothing else has a name for it."""
    if not leaves_products_to_library(ctx):
        return fn
    if fn.callees:
        fn = replace(fn, callees=tuple(replace(c, function=_marked_callee(c.function)) for c in fn.callees))
    if not any(map(added_up, loops_of(fn.body))):
        return fn
    return with_body(fn, _Search(fn, ctx, NameSupply.after(fn)).block(fn.body, ()))


def _marked_callee(fn: Function) -> Function:
    def rule(stmt: Stmt) -> tuple[Stmt] | None:
        if not isinstance(stmt, For) or (product := product_of(stmt)) is None:
            return None
        return (replace(stmt, product=product),) if product.target.array not in fn.params else None

    return with_body(fn, replace_outermost(fn.body, rule))


@dataclass(frozen=True, slots=True)
class _Search:
    """The walk, from the outside in."""

    fn: Function
    ctx: PassContext
    names: NameSupply

    @property
    def _library(self) -> str:
        return "CuPy's BLAS" if self.ctx.options.on_gpu else "NumPy's BLAS"

    def block(self, body: tuple[Stmt, ...], around: tuple[For, ...]) -> tuple[Stmt, ...]:
        return replace_outermost(body, lambda s: (self._loop(s, around),) if isinstance(s, For) else None)

    def _loop(self, loop: For, around: tuple[For, ...]) -> Stmt:
        legality = self.ctx.legality(self.fn)
        if has_threads(around, legality):
            return loop
        if not self._is_free(loop):
            return replace(loop, body=self.block(loop.body, (*around, loop)))
        product = product_of(loop, of_sums=self.ctx.options.on_gpu)
        if product is not None:
            self._tell(loop, f"a product of matrices, which {self._library} computes where it is large")
            return replace(loop, product=product)
        stack = stack_of(loop)
        if stack is not None:
            self._tell(loop, f"products of matrices, which {self._library} computes where they are large")
            return replace(loop, product=stack)
        versions = ProductVersions(self.names, self.ctx)
        made = self._in_versions(loop, versions)
        if made is not None:
            self._tell(loop, f"the products in it are computed by {self._library} where they are large")
            return made
        if has_threads((loop,), legality) and loop.clauses is None:
            return versions.of_stack(loop, replace(loop, body=self.block(loop.body, around)))
        return replace(loop, body=self.block(loop.body, (*around, loop)))

    def _in_versions(self, loop: For, versions: ProductVersions) -> If | None:
        """The nest with a second version for large products, if there are any in it beside other work."""
        sums = sums_in(loop)
        if sums:
            columns = loop.body[0]
            assert isinstance(columns, For)
            large = conjunction([is_large((loop, columns, found.loop)) for found in sums])
            return versions.of_sums((loop, columns), (loop, columns), sums, large)
        legality = self.ctx.legality(self.fn)
        pieces = pieces_of(loop, legality)
        if pieces:
            return versions.of_pieces(loop, pieces)
        panels = panels_of(loop, legality)
        if panels is not None and self.ctx.options.on_gpu and may_be_first(panels):
            # The kernels of products take such sums as they are: one product has all rows.
            nest, axes = (panels.outer, panels.inner), (panels.cut, panels.across)
            return versions.of_sums(nest, axes, panels.sums, are_large(panels))
        if panels is not None:
            return of_panels(panels, versions)
        steps = steps_of(loop, legality)
        return None if steps is None else of_steps(steps, versions)

    def _is_free(self, loop: For) -> bool:
        """Whether no pragma holds the nest to its order, and it leaves no scalar behind."""
        if any(n.request == "sequential" for n in loops_of(loop)):
            return False
        scalars = self.ctx.legality(self.fn).scalars[loop.var]
        return not (scalars.last or scalars.carried or scalars.reductions)

    def _tell(self, loop: For, what: str) -> None:
        self.ctx.remark(loop.loc, f"{named(loop)}: {what}")
