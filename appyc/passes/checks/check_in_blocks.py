"""Vectorises loops whose iterations may raise: a block of lanes runs first, and its checks are tested after it."""

from __future__ import annotations

from dataclasses import replace

from appyc.ir.affine import apart
from appyc.ir.names import NameSupply
from appyc.ir.nodes import (
    Alloc,
    Assign,
    Binary,
    Break,
    Compare,
    Continue,
    Expr,
    Extent,
    For,
    Function,
    If,
    Load,
    Logical,
    LoopMode,
    Reduction,
    Stmt,
    Store,
    Symbol,
    Update,
    Var,
    While,
)
from appyc.ir.raising import raises_itself
from appyc.ir.schedule import LoopSchedule
from appyc.ir.types import ArrayType, DType
from appyc.ir.visit import (
    map_loops,
    rename,
    scalars_read,
    scalars_written,
    statements,
    walk,
)
from appyc.passes.checks.deferred_tests import DeferredTests, is_test
from appyc.passes.node_builders import integer, less, most_trips, shifted
from appyc.passes.pass_context import PassContext

BLOCK = 2048
"""Iterations of a block: enough to amortise the start of the lanes, and few enough that the saved elements stay in
the cache next to a core."""

LONG_BLOCK = 64
"""The same for iterations with inner loops."""

FEW = 32
"""Up to this trip count, a sequential loop is faster than lanes with a test behind them."""

MAX_BYTES = 1 << 16
"""The most bytes of overwritten elements that are saved for one block."""


def check_in_blocks(fn: Function, ctx: PassContext) -> Function:
    """In SIMD loops, failed tests are accumulated in a flag, which is read once for each block of iterations.

    Before:                              After:
        for i in range(n):  # simd           for at in range(0, n, 2048):
            v = int(a[i] * 255)                  end = min(at + 2048, n)
            if not 0 <= v <= 255:                for i in range(at, end): kept[i - at] = o[i]
                raise OverflowError              unfit = 0
            o[i] = v                             for i in range(at, end):  # simd, reduction(| : unfit)
                                                     v = int(a[i] * 255)
                                                     unfit |= not 0 <= v <= 255
                                                     o[i] = v
                                                 if unfit != 0:
                                                     for i in range(at, end): o[i] = kept[i - at]
                                                     for i in range(at, end): ...        # as before

    A block in which a test fails is rolled back, reductions too, and re-executed sequentially: when it raises, the
    arrays have the same contents as in Python. Statements behind a test that rely on it (an index, a loop) are guarded
    by it.

    Requires: modes are chosen. Does not handle: stores whose index is not the loop variable plus a loop
    invariant on one axis; loops that may raise for other reasons, too; loops inside a loop that threads share.
    """
    names = NameSupply.after(fn)
    made: list[Symbol] = []
    decided: dict[Symbol, LoopSchedule] = {}

    def rule(loop: For) -> For:
        if loop.mode is LoopMode.PARALLEL and made:
            own = scalars_written(loop.body) & set(made)
            loop = replace(loop, private=(*loop.private, *sorted(own, key=lambda s: s.uid)))
        if not _is_candidate(loop, ctx):
            return loop
        blocks = _Blocks(loop, names)
        new = blocks.built()
        if new is None:
            return loop
        made.extend(blocks.scalars)
        cost = fn.schedule[loop.var].cost
        decided[loop.var] = LoopSchedule()
        decided[new.var] = LoopSchedule(cost.of_blocks(blocks.size) if cost is not None else None)
        return new

    blocked = map_loops(fn, rule)
    return replace(blocked, schedule=fn.schedule.updated(decided)) if made else blocked


def _is_candidate(loop: For, ctx: PassContext) -> bool:
    """Whether the iterations may run in any order, and explicit `Fail` statements are all that may raise."""
    tests = [n for n in statements(loop.body) if isinstance(n, If) and is_test(n)]
    behind = {id(n) for test in tests for n in walk(test.then)}
    nodes = [n for n in walk(loop.body) if id(n) not in behind]
    if not tests or loop.mode is LoopMode.SEQUENTIAL or loop.step != 1:
        return False
    if loop.safelen is not None or loop.in_step or loop.scans:
        return False
    if any(r.symbol.is_array for r in loop.reductions) or (loop.reductions and ctx.options.fastmath):
        return False  # re-execution of a block must give the same result
    if loop.mode is LoopMode.PARALLEL and (loop.last or (loop.clauses is not None and loop.clauses.chunk)):
        return False
    if any(isinstance(n, For | Break | Continue | Alloc) or raises_itself(n) for n in nodes):
        return False
    trips = most_trips(loop)
    return trips is None or trips > FEW


class _Blocks:
    """Builds the loop over blocks that replaces the loop. unfit: not 0 where a test has failed. totals: for each
    reduction its value before the block."""

    def __init__(self, loop: For, names: NameSupply) -> None:
        self.loop, self.names, self.loc = loop, names, loop.loc
        self.at, self.end, self.unfit = (names.fresh(n, DType.INT64) for n in ("at", "end", "unfit"))
        self.written = scalars_written(loop.body)
        self.tests = DeferredTests(loop, self.at, self.end, self.unfit)
        self.totals: dict[Symbol, Symbol] = {}
        self.size = LONG_BLOCK if any(isinstance(n, While) for n in statements(loop.body)) else BLOCK

    @property
    def scalars(self) -> tuple[Symbol, ...]:
        return (self.end, self.unfit, *self.totals.values())

    def built(self) -> For | None:
        """None where what an iteration stores cannot be kept, or is not known to be free of what a test shows."""
        loop = self.loop
        body = self.tests.deferred(loop.body, ())
        stores = self._stores()
        if body is None or (stores is None and self.tests.notes):
            return None
        kept = {store: self._kept(store) for store in stores or () if self.tests.notes}
        if sum(array.dtype.itemsize * self.size for array in kept.values()) > MAX_BYTES:
            return None
        at, end = self._var(self.at), self._var(self.end)
        last = Binary("min", Binary("+", at, self._integer(self.size), loc=self.loc), loop.hi, loc=self.loc)
        noting = (Reduction("|", self.unfit),) if self.tests.notes else ()
        stays = scalars_written(body)
        lanes = replace(loop, lo=at, hi=end, body=body, mode=LoopMode.SIMD, clauses=None,
                        private=tuple(s for s in loop.private if s in stays),
                        reductions=(*(r for r in loop.reductions if r.symbol in stays), *noting))  # fmt: skip
        if self.tests.notes:
            self.totals = {
                r.symbol: self.names.fresh(f"{r.symbol.name}_kept", r.symbol.dtype)
                for r in lanes.reductions[:-1]
            }
        restored = [
            *(self._copied(store, array, back=True) for store, array in kept.items()),
            *(Assign(total, self._var(before), loc=self.loc) for total, before in self.totals.items()),
        ]
        failed = Compare("!=", self._var(self.unfit), self._integer(0), loc=self.loc)
        saved: tuple[Stmt, ...] = (lanes,)
        if self.tests.notes:
            saved = (
                *(Alloc(a, (self._integer(self.size),), zero=False, in_frame=True, loc=self.loc)
                  for a in kept.values()),
                *(self._copied(store, array, back=False) for store, array in kept.items()),
                *(Assign(before, self._var(total), loc=self.loc) for total, before in self.totals.items()),
                lanes,
                If(failed, (*restored, self._in_order()), loc=self.loc),
            )  # fmt: skip
        block = (
            Assign(self.end, last, loc=self.loc),
            Assign(self.unfit, self.tests.any_linear(), loc=self.loc),
            *((If(failed, (self._in_order(),), saved, loc=self.loc),) if self.tests.linear else saved),
        )
        is_shared = loop.mode is LoopMode.PARALLEL
        return replace(
            loop, var=self.at, step=self.size, body=block, last=(),
            mode=LoopMode.PARALLEL if is_shared else LoopMode.SEQUENTIAL,
            private=(*loop.private, *self.scalars) if is_shared else (),
            reductions=loop.reductions if is_shared else (),
            clauses=loop.clauses if is_shared else None,
        )  # fmt: skip

    def _in_order(self) -> For:
        """The block as the program has it."""
        again = replace(
            self.loop, lo=self._var(self.at), hi=self._var(self.end), mode=LoopMode.SEQUENTIAL, clauses=None,
            reductions=(), last=(),
        )  # fmt: skip
        return rename(again, {again.var: self.names.fresh(again.var.name, again.var.type)})

    # ---- what is overwritten

    def _stores(self) -> list[tuple[Symbol, tuple[Expr, ...]]] | None:
        """The elements that an iteration stores; None where they are not neighbours from one to the next."""
        found: dict[tuple[Symbol, tuple[Expr, ...]], None] = {}
        for node in walk(self.loop.body):
            match node:
                case Store(array=array, index=index, mask=None) if index:
                    pass
                case Update(target=array, index=index, mask=None, atomic=False) if index:
                    pass
                case Update() if not node.target.is_array:
                    continue
                case Store() | Update():
                    return None
                case _:
                    continue
            moving = [i for i in index if self._moves(i)]
            if len(moving) != 1 or apart(moving[0])[0] != self._var(self.loop.var):
                return None
            if any(isinstance(n, Load) for i in index for n in walk(i)) or scalars_read(index) & self.written:
                return None
            found[array, index] = None
        return list(found)

    def _moves(self, index: Expr) -> bool:
        return self.loop.var in scalars_read(index)

    def _kept(self, store: tuple[Symbol, tuple[Expr, ...]]) -> Symbol:
        return self.names.fresh(f"{store[0].name}_kept", ArrayType(store[0].dtype, 1))

    def _copied(self, store: tuple[Symbol, tuple[Expr, ...]], kept: Symbol, *, back: bool) -> Stmt:
        """The elements of a block that are there, kept or put back: a store under a condition may be to none."""
        array, index = store
        axis = next(a for a, i in enumerate(index) if self._moves(i))
        start = shifted(self._var(self.at), apart(index[axis])[1])
        stop = shifted(self._var(self.end), apart(index[axis])[1])
        element_index = self.names.fresh("element_index", DType.INT64)
        element = tuple(self._var(element_index) if a == axis else i for a, i in enumerate(index))
        number = (Binary("-", self._var(element_index), start, loc=self.loc),)
        one, other = ((array, element), (kept, number)) if back else ((kept, number), (array, element))
        copy = Store(*one, Load(*other, checked=False, loc=self.loc), checked=False, loc=self.loc)
        lo = Binary("max", start, self._integer(0), loc=self.loc)
        hi = Binary("min", stop, Extent(array, axis, loc=self.loc), loc=self.loc)
        loop = For(element_index, lo, hi, 1, (copy,), LoopMode.SIMD, loc=self.loc)
        inside = [
            Logical("and", Compare(">=", i, self._integer(0), loc=self.loc), less(i, Extent(array, a, loc=self.loc)),
                    loc=self.loc)
            for a, i in enumerate(index) if a != axis
        ]  # fmt: skip
        stmt: Stmt = loop
        for test in inside:
            stmt = If(test, (stmt,), loc=self.loc)
        return stmt

    # ---- short makers

    def _var(self, symbol: Symbol) -> Var:
        return Var(symbol, loc=self.loc)

    def _integer(self, value: int) -> Expr:
        return integer(value, self.loc)
