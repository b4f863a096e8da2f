"""Matrix products: their recognition in loop nests, by what the nests read and write, in any loop order.

    for i in range(m):                          for i in range(m):
        for j in range(n):                          for k in range(l):
            s = 0.0                                     for j in range(n):
            for k in range(l):                              C[i, j] += alpha * A[i, k] * B[k, j]
                s += A[i, k] * B[k, j]
            C[i, j] = beta * C[i, j] + alpha * s

Both are C = keep * C + scale * A B. The order of the loops, which way each array lies and where its part
begins make no difference. Bounds must not depend on the loops of the nest, but that one bound of the columns may go
with the rows, as in `for j in range(min(i + 1, n))`: of such a triangle, nothing else is written.
"""

from __future__ import annotations

from dataclasses import replace

from appyc.analysis.patterns import product_terms
from appyc.analysis.patterns.scans import linear_in
from appyc.ir import nodes as ir
from appyc.ir.affine import coefficient
from appyc.ir.blocks import perfect_nest
from appyc.ir.raising import may_raise
from appyc.ir.schedule import Operand, Product, ProductShape
from appyc.ir.types import ScalarType
from appyc.ir.visit import loops_of, rewrite, scalars_read, scalars_written, substitute, walk

MAX_STATEMENTS = 8
"""Statements of a loop that adds up products: the values of some are put into others."""


def product_of(loop: ir.For, *, apart: bool = False, of_sums: bool = False) -> Product | None:
    """The product that a nest is, all of it; None where it is something else, or something more.

    apart: whether it is known that what the nest adds to is no element that it multiplies, in one array or not.
    of_sums: whether sums may be longer, or shorter, in each row (`ProductShape`).
    """
    chain = perfect_nest(loop)[:3]
    if len(chain) < 2 or may_raise(chain):
        return None
    if len(chain) == 3 and len(updates := added_up(chain[2])) == 1 and updates[0].index:
        return _into_elements((chain[0], chain[1], chain[2]), updates[0], apart, of_sums)
    return _by_sums(chain[0], chain[1], of_sums)


def stack_of(loop: ir.For) -> Product | None:
    """The products that a loop around one makes, with matrices at steps of one size each; None for any other loop."""
    if len(loop.body) != 1 or not isinstance(inner := loop.body[0], ir.For) or loop.step != 1:
        return None
    product = product_of(inner)
    if product is None or product.shape is not ProductShape.ALL:
        return None
    loops = {n.var: n for n in loops_of(inner)}
    rows, columns, summed = (loops[s] for s in (product.rows, product.columns, product.summed))
    nest = (loop, rows, columns, summed)
    bounds = [bound for n in nest for bound in n.bounds]
    if not product_terms.is_fixed(
        [*bounds, *(e for e in (product.scale, product.keep) if e is not None)], nest
    ):
        return None
    if not all(product_terms.is_matrix(operand.index, nest) for operand in (product.left, product.right)):
        return None
    if not product_terms.is_one_place_each(product.target.index, (loop, rows, columns), nest):
        return None
    return replace(product, stack=loop.var)


def added_up(loop: ir.For) -> tuple[ir.Update, ...]:
    """The updates of a loop by products, with the definitions of its scalars substituted into them; none where the
    loop does anything else."""
    if len(loop.body) > MAX_STATEMENTS:
        return ()
    values: dict[ir.Symbol, ir.Expr] = {}
    found: list[ir.Update] = []
    for stmt in loop.body:
        match stmt:
            case ir.Assign() if stmt.target not in values:
                values[stmt.target] = substitute(stmt.value, values)
            case ir.Update(op="+", atomic=False, mask=None) if stmt.value.dtype in product_terms.DTYPES:
                found.append(replace(stmt, value=substitute(stmt.value, values)) if values else stmt)
            case ir.Store(mask=None) if stmt.value.dtype in product_terms.DTYPES:
                added = _added(stmt, substitute(stmt.value, values))
                if added is None:
                    return ()
                found.append(
                    ir.Update(stmt.array, stmt.index, "+", added, checked=stmt.checked, loc=stmt.loc)
                )
            case _:
                return ()
    unknown = values.keys() & (scalars_read(found) | {update.target for update in found})
    return () if unknown else tuple(found)


def _added(store: ir.Store, value: ir.Expr) -> ir.Expr | None:
    """The value that a store adds to the element that it writes; None where it does anything else."""
    match value:
        case (
            ir.Binary(op="+", lhs=ir.Load() as old, rhs=added)
            | ir.Binary(op="+", lhs=added, rhs=ir.Load() as old)
        ) if _is_place(old, store):
            return added
        case ir.Binary(op="-", lhs=ir.Load() as old, rhs=taken) if _is_place(old, store):
            return ir.Unary("-", taken, loc=taken.loc)
        case _:
            return None


def _is_place(load: ir.Load, store: ir.Store) -> bool:
    return (load.array, load.index, load.mask) == (store.array, store.index, None)


# ---------------------------------------------------------------- the two forms


def _into_elements(
    nest: tuple[ir.For, ir.For, ir.For], update: ir.Update, apart: bool, of_sums: bool
) -> Product | None:
    """`C[i, j] += scale * A[i, k] * B[k, j]`, with the three loops in any order."""
    along = [loop for loop in nest if product_terms.depends_on(update.index, loop)]
    if len(along) != 2 or not product_terms.is_one_place_each(update.index, along, nest):
        return None
    rows, columns = along
    summed = next(loop for loop in nest if loop not in along)
    shape = _shape(rows, columns, summed, of_sums)
    term, exchanged = _term(update.value, rows, columns, summed, shape)
    if shape is None or term is None:
        return None
    if update.target in (term.left.array, term.right.array) and not apart:
        return None
    one = product_terms.one_of(update.value)
    target = Operand(update.target, update.index, loc=update.loc)
    product = _product((rows, columns, summed), shape, target, term, term.scale, one)
    return replace(product, exchanged=exchanged)


def _by_sums(rows: ir.For, columns: ir.For, of_sums: bool) -> Product | None:
    """A sum for each pair of row and column, stored when it is complete."""
    sums = [stmt for stmt in columns.body if isinstance(stmt, ir.For)]
    stores = [stmt for stmt in columns.body if isinstance(stmt, ir.Store)]
    if len(sums) != 1 or not stores:
        return None
    summed, last = sums[0], stores[-1]
    nest = (rows, columns, summed)
    shape = _shape(rows, columns, summed, of_sums)
    if shape is None or not product_terms.is_one_place_each(last.index, [rows, columns], nest):
        return None
    updates = added_up(summed)
    if len(updates) != 1 or (update := updates[0]).index:
        return None
    term, exchanged = _term(update.value, rows, columns, summed, shape)
    if term is None or last.array in (term.left.array, term.right.array):
        return None
    stored = _value_stored(columns.body, summed, update.target, last)
    loaded = ir.Load(last.array, last.index, checked=False, loc=last.loc)
    factors = None if stored is None else _factors(stored, update.target, loaded, nest)
    if factors is None:
        return None
    scale = _times(factors[0], term.scale)
    target = Operand(last.array, last.index, loc=last.loc)
    product = _product(nest, shape, target, term, None if _is_one(scale) else scale, factors[1])
    return replace(product, exchanged=exchanged)


def _term(
    value: ir.Expr, rows: ir.For, columns: ir.For, summed: ir.For, shape: ProductShape | None
) -> tuple[product_terms.Term | None, bool]:
    """The one term that is added up, if it is one; True where its transpose is, too."""
    terms = product_terms.terms_of(value, (rows, columns), summed) if shape is not None else None
    if terms is None or shape is None:
        return None, False
    exchanged = _are_exchanged(terms, rows, columns, shape)
    return (terms[0] if len(terms) == 1 or exchanged else None), exchanged


def _are_exchanged(
    terms: list[product_terms.Term], rows: ir.For, columns: ir.For, shape: ProductShape
) -> bool:
    """Whether two terms are one product and its transpose, in a triangle: each reads by rows what the other reads by
    columns."""
    if (
        len(terms) != 2
        or shape not in (ProductShape.BEFORE, ProductShape.FROM)
        or terms[0].scale != terms[1].scale
    ):
        return False
    one, other = terms
    to_rows = substitute(one.right, {columns.var: ir.Var(rows.var, loc=rows.loc)})
    to_columns = substitute(one.left, {rows.var: ir.Var(columns.var, loc=columns.loc)})
    return (to_rows, to_columns) == (other.left, other.right)


def _product(
    nest: tuple[ir.For, ir.For, ir.For],
    shape: ProductShape,
    target: Operand,
    term: product_terms.Term,
    scale: ir.Expr | None,
    keep: ir.Expr | None,
) -> Product:
    left, right = (Operand(load.array, load.index, loc=load.loc) for load in (term.left, term.right))
    rows, columns, summed = (loop.var for loop in nest)
    return Product(rows, columns, summed, target, left, right, scale, keep, shape, loc=nest[0].loc)


def _shape(rows: ir.For, columns: ir.For, summed: ir.For, of_sums: bool) -> ProductShape | None:
    """Which elements the nest computes; None where bounds go with anything else than columns, or with `of_sums` the
    sum, with rows."""
    nest = (rows, columns, summed)
    if _has_fixed_bounds(nest):
        return ProductShape.ALL
    if any(loop.step != 1 for loop in ((rows, columns, summed) if of_sums else (rows, columns))):
        return None
    if _has_fixed_bounds((rows, summed), nest):
        return _cut(columns, rows, nest, (ProductShape.BEFORE, ProductShape.FROM))
    if of_sums and _has_fixed_bounds((rows, columns), nest):
        return _cut(summed, rows, nest, (ProductShape.SUM_BEFORE, ProductShape.SUM_FROM))
    return None


def _cut(
    loop: ir.For, rows: ir.For, nest: tuple[ir.For, ...], shapes: tuple[ProductShape, ProductShape]
) -> ProductShape | None:
    """Which bound of a loop goes with the row, by one in each."""
    match _slope(loop.lo, "max", rows, nest), _slope(loop.hi, "min", rows, nest):
        case (0, 1):
            return shapes[0]
        case (1, 0):
            return shapes[1]
        case _:
            return None


def _slope(bound: ir.Expr, limit: str, rows: ir.For, nest: tuple[ir.For, ...]) -> int | None:
    """The slope of a bound in the row, which may be the `limit` (min or max) of two bounds; None where the
    bound has other varying terms."""
    match bound:
        case ir.Binary(op=op, lhs=lhs, rhs=rhs) if op == limit:
            one, other = (_slope(part, "", rows, nest) for part in (lhs, rhs))
            return None if one is None or other is None or (one and other) else one + other
        case _:
            others = [n for n in walk(bound) if not (isinstance(n, ir.Var) and n.symbol == rows.var)]
            is_plain = all(product_terms.is_fixed(n, nest) for n in others if isinstance(n, ir.Var | ir.Load))
            return coefficient(bound, rows.var) if is_plain else None


def _has_fixed_bounds(loops: tuple[ir.For, ...], nest: tuple[ir.For, ...] | None = None) -> bool:
    return all(product_terms.is_fixed(loop.bounds, nest or loops) for loop in loops)


def _value_stored(
    body: tuple[ir.Stmt, ...], summed: ir.For, total: ir.Symbol, last: ir.Store
) -> ir.Expr | None:
    """The value that statements in a row leave in one element, in terms of the sum (a read of `total`), the
    element's old value and loop-invariant values; None where they do anything else.

    The element is the last store's; no other may be touched in its array, nor written in any.
    """
    loaded = ir.Load(last.array, last.index, checked=False, loc=last.loc)
    scalars: dict[ir.Symbol, ir.Expr] = {}
    element: ir.Expr = loaded

    def now(value: ir.Expr) -> ir.Expr:
        def rule(node: ir.Node) -> ir.Node:
            if isinstance(node, ir.Var):
                return scalars.get(node.symbol, node)
            return element if node == loaded else node

        return rewrite(value, rule)

    for stmt in body:
        match stmt:
            case ir.Assign():
                scalars[stmt.target] = now(stmt.value)
            case ir.For() if stmt is summed:
                start = scalars.get(total)
                if start is None:
                    return None
                for symbol in scalars_written(summed.body):
                    scalars.pop(symbol, None)  # its value is then unknown
                added = ir.Var(total, loc=stmt.loc)
                scalars[total] = added if _is_zero(start) else ir.Binary("+", start, added, loc=stmt.loc)
            case ir.Store(mask=None) if (stmt.array, stmt.index) == (last.array, last.index):
                element = now(stmt.value)
            case ir.Update(mask=None, atomic=False) if (stmt.target, stmt.index) == (last.array, last.index):
                element = ir.Binary(stmt.op, element, now(stmt.value), loc=stmt.loc)
            case _:
                return None
    return element


def _factors(
    value: ir.Expr, total: ir.Symbol, loaded: ir.Load, nest: tuple[ir.For, ...]
) -> tuple[ir.Expr, ir.Expr | None] | None:
    """The factors of a sum and of an element's old value (None: it is not read) in a value that is nothing else, and
    None for any other value."""
    one, old = product_terms.one_of(value), ir.Symbol("old", -1, ScalarType(loaded.dtype))
    value = rewrite(value, lambda n: ir.Var(old, loc=n.loc) if n == loaded else n)
    if any(isinstance(n, ir.Binary) and n.op == "/" and scalars_read(n) & {total, old} for n in walk(value)):
        return None  # a product by the inverse rounds otherwise
    found = linear_in(value, total)
    kept = None if found is None or found.value is None else linear_in(found.value, old)
    if found is None or not _is_zero(found.value if kept is None else kept.value):
        return None
    scale, keep = found.factor or one, None if kept is None else kept.factor or one
    is_plain = old not in scalars_read(scale) and product_terms.is_fixed((scale, keep or one), nest)
    return (scale, keep) if is_plain else None


def _is_zero(value: ir.Expr | None) -> bool:
    match value:
        case None | ir.Const(value=0) | ir.Cast(arg=ir.Const(value=0)):
            return True
        case _:
            return False


def _times(factor: ir.Expr, other: ir.Expr | None) -> ir.Expr:
    if other is None or _is_one(other):
        return factor
    return other if _is_one(factor) else ir.Binary("*", factor, other, loc=factor.loc)


def _is_one(value: ir.Expr) -> bool:
    return isinstance(value, ir.Const) and value.value == 1
