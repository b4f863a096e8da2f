"""Stream compaction: stores selected elements densely, without a branch for each element.

    for (i = lo; i < hi; i += 1)            for (start = lo; start < hi; start = stop) {
        if (a[i] > 0) {                         int64_t count = 0;
            found[k] = i;            ->         for (i = start; i < stop; i += 1) {
            k += 1;                                 found_part[count] = i;
        }                                           count += a[i] > 0;
                                                }
                                                memcpy(&found[k], found_part, count * sizeof *found_part);
                                                k += count;
                                            }

Where the elements are in no order, the branch cannot be predicted, and each misprediction costs as much as twenty
elements. Here every element is stored to a buffer, and the next one overwrites it where the condition does not hold.
The buffer has room for all elements of a part, which `found` may not have: where `found` is too short, the part runs
as the original loop, which raises. A SIMD reduction counts the elements selected in each piece of a part. A piece
without any is skipped. In a piece with few, a bit mask gives their positions.

The stored value is computed for all elements. So it has to be cheap, and in range also where the condition does not
hold.

Does not handle: values with calls; conditions on the loop's variable, which may guard an index; loops that read
what they fill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from appyc.c_gen.c_module import FunctionContext
from appyc.c_gen.lanes.simd import flag_bits
from appyc.c_gen.text.c_expressions import element, expression
from appyc.c_gen.text.c_types import storage_type
from appyc.ir.nodes import Binary, Cast, Const, Expr, For, If, Load, Logical, Stmt, Store, Symbol, Update, Var
from appyc.ir.raising import can_fault
from appyc.ir.types import Layout
from appyc.ir.visit import scalars_read, walk

Statements: TypeAlias = Callable[[FunctionContext, tuple[Stmt, ...]], None]

PART = 512
"""Elements of a part: its buffer stays in the cache next to the core."""

PIECE = 64
"""Elements of a piece, for which the condition is evaluated in lanes at first: the bits of a mask."""

FEW = 4
"""Selected elements of a piece up to which they are stored one by one, in the order of a mask's bits. Each of these
costs as much as several elements that are stored and counted; computing the mask costs a quarter of a piece."""

MOST = 4
"""Arrays that one loop may compact into."""


@dataclass(frozen=True, slots=True)
class PackingPlan:
    """A compaction. stores: run where `cond` holds, at the index `place`, a scalar that is then incremented."""

    cond: Expr
    stores: tuple[Store, ...]
    place: Symbol


def plan_packing(loop: For, *, boundscheck: bool) -> PackingPlan | None:
    """The plan for a loop that is a compaction; None for a loop that does anything else."""
    match loop.body:
        case (If(cond=cond, then=(*stores, Update(op="+", value=Const(value=1)) as step), orelse=()),):
            pass
        case _:
            return None
    place = step.target
    if place.is_array or loop.step != 1 or not 1 <= len(stores) <= MOST:
        return None
    kept = tuple(store for store in stores if isinstance(store, Store) and _is_at(store, place))
    filled = {store.array for store in kept}
    if len(filled) < len(stores) or can_fault((cond, *(store.value for store in kept))):
        return None
    if any(isinstance(n, Load) and n.array in filled for n in walk(loop.body)) or place in scalars_read(cond):
        return None
    if not all(any(isinstance(n, Load) for n in walk(part)) for part in _parts(cond)):
        return None
    known = {n for n in walk(cond) if isinstance(n, Load)} if not boundscheck else None
    if not all(_is_cheap(store.value, place, known) for store in kept):
        return None
    return PackingPlan(cond, kept, place)


def _is_at(store: Store, place: Symbol) -> bool:
    at = Var(place, loc=store.loc)
    return store.index == (at,) and store.mask is None and store.array.array.layout is Layout.C


def _parts(cond: Expr) -> Iterator[Expr]:
    """The operands of the condition's logical operators: one that loads no element may guard an index."""
    if isinstance(cond, Logical) or (isinstance(cond, Binary) and cond.op in ("&", "|")):
        yield from _parts(cond.lhs)
        yield from _parts(cond.rhs)
    else:
        yield cond


def _is_cheap(value: Expr, place: Symbol, known: set[Load] | None) -> bool:
    """Whether a value may be computed for all elements. known: the loads that are in range; None where all are."""
    for node in walk(value):
        match node:
            case Var(symbol=symbol) if symbol != place:
                continue
            case Const() | Cast():
                continue
            case Binary(op="+" | "-" | "*"):
                continue
            case Load(index=index) if known is None or node in known:
                if any(isinstance(n, Load) for n in walk(index)):
                    return False
            case _:
                return False
    return True


def emit_packing(
    ctx: FunctionContext, loop: For, plan: PackingPlan, lo: str, hi: str, body: Statements
) -> None:
    """Writes the loop from `lo` to `hi`. body: writes statements as they are."""
    writer, fresh = ctx.writer, ctx.module.names.fresh
    start, stop, count = fresh("start"), fresh("stop"), fresh("count")
    parts = {store.array: fresh(f"{store.array.name}_part") for store in plan.stores}
    place, var = ctx.name(plan.place), ctx.name(loop.var)
    for array, part in parts.items():
        writer.line(f"{storage_type(array.dtype)} {part}[{PART}];")
    writer.line(f"int64_t {start} = {lo};")
    with writer.block(f"while ({start} < {hi})"):
        writer.line(f"const int64_t {stop} = {hi} - {start} < {PART} ? {hi} : {start} + {PART};")
        writer.line(f"int64_t {count} = 0;")
        _emit_part(ctx, loop, plan, parts, (start, stop, count))
        checked = [store.array for store in plan.stores if store.checked]
        fits = " && ".join(f"{place} + {count} <= {ctx.extent(array, 0)}" for array in checked)
        with writer.block(f"if ({place} >= 0 && {fits})" if checked else f"if ({count})"):
            for array, part in parts.items():
                target = element(ctx, array, [place])
                writer.line(f"__builtin_memcpy(&{target}, {part}, (uint64_t){count} * sizeof *{part});")
            writer.line(f"{place} += {count};")
        if checked:
            with writer.block(f"else for (int64_t {var} = {start}; {var} < {stop}; {var} += 1)"):
                body(ctx, loop.body)
        writer.line(f"{start} = {stop};")


def _emit_part(
    ctx: FunctionContext,
    loop: For,
    plan: PackingPlan,
    parts: Mapping[Symbol, str],
    names: tuple[str, str, str],
) -> None:
    """Stores the selected elements from `start` to `stop` to the buffers, and counts them."""
    writer, fresh = ctx.writer, ctx.module.names.fresh
    start, stop, count = names
    piece, end, some, bits = (fresh(name) for name in ("piece", "end", "some", "bits"))
    var, cond = ctx.name(loop.var), expression(ctx, plan.cond)
    width = flag_bits(plan.cond)
    with writer.block(f"for (int64_t {piece} = {start}; {piece} < {stop}; {piece} += {PIECE})"):
        writer.line(f"const int64_t {end} = {stop} - {piece} < {PIECE} ? {stop} : {piece} + {PIECE};")
        writer.line(f"uint{width}_t {some} = 0;")
        writer.line(f"#pragma omp simd reduction(+ : {some})")
        with writer.block(f"for (int64_t {var} = {piece}; {var} < {end}; {var} += 1)"):
            writer.line(f"{some} += (uint{width}_t)(bool)({cond});")
        writer.line(f"if (!{some}) continue;")
        with writer.block(f"if ({some} <= {FEW})"):
            writer.line(f"uint64_t {bits} = 0;")
            writer.line(f"#pragma omp simd reduction(| : {bits})")
            with writer.block(f"for (int64_t {var} = {piece}; {var} < {end}; {var} += 1)"):
                writer.line(f"{bits} |= (uint64_t)(bool)({cond}) << ({var} - {piece});")
            with writer.block(f"for (; {bits}; {bits} &= {bits} - 1)"):
                writer.line(f"const int64_t {var} = {piece} + __builtin_ctzll({bits});")
                for store in plan.stores:
                    writer.line(f"{parts[store.array]}[{count}] = {expression(ctx, store.value)};")
                writer.line(f"{count} += 1;")
            writer.line("continue;")
        with writer.block(f"for (int64_t {var} = {piece}; {var} < {end}; {var} += 1)"):
            for store in plan.stores:
                writer.line(f"{parts[store.array]}[{count}] = {expression(ctx, store.value)};")
            writer.line(f"{count} += (bool)({cond});")
