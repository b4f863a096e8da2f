"""Generates the Triton text and the signature of one GPU kernel."""

from __future__ import annotations

import keyword
from collections import Counter
from dataclasses import dataclass

from appyc.errors import InternalError
from appyc.ir import gpu_program as gpu
from appyc.ir.abi import FAULT_SLOTS
from appyc.ir.kernel_scalars import bodies_of, free_scalars, targets_of
from appyc.ir.names import spellings
from appyc.ir.nodes import Assign, Const, Expr, Intrinsic, Store, Symbol, Update, Var
from appyc.ir.text_writers import PythonWriter
from appyc.ir.types import DType
from appyc.ir.visit import own_symbols, symbols_of, walk
from appyc.triton_gen.index_scalars import index_scalars
from appyc.triton_gen.lane_shapes import UNIFORM, lane_shapes
from appyc.triton_gen.triton_expressions import ExpressionEmitter, typed
from appyc.triton_gen.triton_helpers import COMBINE, HELPER_NAMES

FAULT_WORDS = "fault_words"
RESERVED = frozenset(
    {*keyword.kwlist, *HELPER_NAMES, "tl", "triton", "libdevice", "LANES", "ROWS", "INDEX", FAULT_WORDS}
)

SIGNATURE = {
    DType.BOOL: "i1", DType.FLOAT16: "fp16", DType.FLOAT32: "fp32", DType.FLOAT64: "fp64",
    **{d: f"{'u' if d.kind == 'u' else 'i'}{d.bits}" for d in DType if d.is_integer},
}  # fmt: skip

_ATOMICS = {
    "+": "add", "min": "min", "minimum": "min", "max": "max", "maximum": "max",
    "&": "and", "|": "or", "^": "xor",
}  # fmt: skip


_OF_BOOLS = {"min": "&", "minimum": "&", "max": "|", "maximum": "|"}
"""The bitwise operators that reduce bools, which are integers then."""


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a kernel. kind: "array", "n" and "s" (extent and stride of an axis, the
    stride in elements or parts of complex ones), "scalar", "grid" (a scalar that is in the program's index alone, of
    which no address is a multiple), "faults"."""

    name: str
    type: str
    kind: str
    symbol: Symbol | None = None
    axis: int = 0


@dataclass(frozen=True, slots=True)
class KernelText:
    """A kernel as generated. lanes, fewest_lanes: bounds of its constexpr `constant`, for lanes a power of two.
    tile, use: as in `Kernel`.
    num_stages: how many iterations' loads a loop around `tl.dot` has under way. rows_each, batch: as in `LoopSchedule`.
    scale: so many times the sizes have to fit the kernel's constexpr INDEX, their type and that of scalars that count;
    0: it has none."""

    name: str
    text: str
    params: tuple[Param, ...]
    lanes: int
    fewest_lanes: int
    num_warps: int
    helpers: frozenset[str]
    constant: str = "LANES"
    num_stages: int = 3
    rows_each: int = 1
    batch: int = 1
    scale: int = 0
    tile: gpu.Tile | None = None
    use: gpu.LaneUse = gpu.LaneUse.BLOCK

    def rows(self, lanes: int) -> int:
        """The rows of a program, for the lanes of a row."""
        return 1 if self.tile is None else self.tile.count(lanes)

    @property
    def signature(self) -> dict[str, str]:
        constants = [self.constant, *(["INDEX"] if self.scale else [])]
        return {**{p.name: p.type for p in self.params}, **dict.fromkeys(constants, "constexpr")}


def emit_kernel(kernel: gpu.Kernel) -> KernelText:
    return _KernelEmitter(kernel).emit()


class _KernelEmitter(ExpressionEmitter):
    def __init__(self, kernel: gpu.Kernel) -> None:
        self.kernel = kernel
        symbols = symbols_of(kernel.body)
        # What comes from outside keeps the user's names; temporaries give way.
        outside = [s for s in symbols if s.is_array] + free_scalars(kernel.body)
        names = spellings([*outside, *symbols], {*RESERVED, kernel.name})
        sizes = {kernel.chosen: "LANES", kernel.rows: "ROWS"}
        names |= {size: name for size, name in sizes.items() if size is not None}
        self.given = [s for s in free_scalars(kernel.body) if s not in kernel.lane_scalars and s not in sizes]
        self.declared = _declared(kernel.body, set(self.given))
        counts = {s: size for s, size in index_scalars(kernel).items() if s not in self.declared}
        super().__init__(names.__getitem__, lane_shapes(kernel), kernel.indices, counts)
        self.w = PythonWriter()
        self.faults = False

    def emit(self) -> KernelText:
        for symbol in self.declared:
            shape = self.shapes.text(self.shapes.axes.get(symbol, UNIFORM))
            self.w.line(f"{self.name(symbol)} = {typed(0, symbol.dtype, shape)}")
        for stmt in self.kernel.body:
            self.stmt(stmt)
        params = self._params(self.given)
        head = PythonWriter()
        constants = ["LANES: tl.constexpr", *(["INDEX: tl.constexpr"] if self.scale else [])]
        head.line("@triton.jit")
        head.line(f"def {self.kernel.name}({', '.join([*(p.name for p in params), *constants])}):")
        if (tile := self.kernel.tile) is not None:
            head.line(f"    ROWS: tl.constexpr = {tile.lanes} // LANES if LANES < {tile.below} else 1")
        for param in params:
            if self.scale and param.kind in ("n", "s"):
                head.line(f"    {param.name} = {param.name}.to(INDEX)")
        body = "\n".join(f"    {line}" if line else "" for line in (self.w.text() or "pass").splitlines())
        return KernelText(
            self.kernel.name,
            f"{head.text()}\n{body}\n",
            params,
            self.kernel.lanes,
            self.kernel.fewest_lanes,
            self.kernel.num_warps,
            frozenset(self.helpers),
            rows_each=self.kernel.rows_each,
            batch=self.kernel.batch,
            scale=self.scale,
            tile=self.kernel.tile,
            use=self.kernel.use,
        )

    def _params(self, given: list[Symbol]) -> tuple[Param, ...]:
        out = [Param(self.name(a), "*" + SIGNATURE[a.dtype.part], "array", a) for a in self.arrays]
        out += [Param(f"{self.name(a)}_{kind}{axis}", "i64", kind, a, axis) for a, kind, axis in self.sizes]
        grid = _only_in_grid(self.kernel.body)
        out += [Param(self.name(s), SIGNATURE[s.dtype], "grid" if s in grid else "scalar", s) for s in given]
        if self.faults:
            out.append(Param(FAULT_WORDS, "*i64", "faults"))
        return tuple(out)

    # ------------------------------------------------------------ statements

    def block(self, head: str, body: tuple[gpu.ScheduledStmt, ...]) -> None:
        with self.w.block(head):
            for stmt in body:
                self.stmt(stmt)

    def stmt(self, s: gpu.ScheduledStmt) -> None:
        match s:
            case Assign(target, value) if target in self.counts:
                self.w.line(f"{self.name(target)} = {self.bare_index(value)}")
            case Assign(target, value):
                self.w.line(f"{self.name(target)} = {self._shaped(target, value)}")
            case Store():
                self._store(s)
            case Update():
                self._atomic(s)
            case gpu.Loop():
                self._loop(s)
            case gpu.Repeat(cond, body):
                self.block(f"while {self.bare(cond)}:", body)
            case gpu.Branch(cond, then, orelse):
                self.block(f"if {self.bare(cond)}:", then)
                if orelse:
                    self.block("else:", orelse)
            case gpu.ProgramIndex():
                self._program_index(s)
            case gpu.Lanes(target, of_tile):
                tiled = "[:, None]" if of_tile else "[None, :]" if self.shapes.has_rows else ""
                self.w.line(
                    f"{self.name(target)} = tl.arange(0, {'ROWS' if of_tile else 'LANES'}){tiled}.to(tl.int64)"
                )
            case gpu.LaneReduce():
                self._lane_reduce(s)
            case gpu.LaneScan():
                self._lane_scan(s)
            case gpu.Barrier():
                self.w.line("tl.debug_barrier()")
            case gpu.Fault():
                self.faults = True
                words = [self.expr(word) for word in s.words]
                first, later = (*words, "0", "0")[:2], words[2:]
                bad = self.over(s.cond, self.shapes.of(s))
                record = self.call("record_fault", FAULT_WORDS, str(s.site), bad, *first)
                self.w.line(f"recorded = {record}" if later else record)
                for k, word in enumerate(later, FAULT_SLOTS * s.site + 3):
                    self.w.line(self.call("record_word", FAULT_WORDS, str(k), "recorded", word))
            case _:
                raise InternalError("triton_gen", f"{type(s).__name__} in a kernel")

    def _shaped(self, target: Symbol, value: Expr) -> str:
        """The value with the shape of its target."""
        axes = self.shapes.axes.get(target, UNIFORM)
        if axes and isinstance(value, Const):
            return typed(value.value, value.dtype, self.shapes.text(axes))
        return self.bare(value) if self.shapes.of(value) == axes else self.over(value, axes)

    def _loop(self, s: gpu.Loop) -> None:
        lo = str(s.lo.value) if isinstance(s.lo, Const) else self.bare(s.lo)
        step = s.step if isinstance(s.step, int) else self.expr(s.step)
        bounds = f"{lo}, {self.bare(s.hi)}" + (f", {step}" if step != 1 else "")
        with self.w.block(f"for {self.name(s.var)} in range({bounds}):"):
            # The interpreter's loop variable is Python's; the compiler's may be an int32.
            self.w.line(f"{self.name(s.var)} = tl.cast({self.name(s.var)}, tl.int64)")
            for stmt in s.body:
                self.stmt(stmt)

    def _program_index(self, s: gpu.ProgramIndex) -> None:
        """Divides in 32 bits, which takes a fifth of the instructions: no grid has 2**31 programs."""
        own = "tl.program_id(0)" if s.number is None else self.expr(s.number)
        rest = f"{own}.to(tl.uint32)" if s.counts else own
        for target, count in list(zip(s.targets[1:], s.counts, strict=True))[::-1]:
            divisor = f"{self.expr(count)}.to(tl.uint32)"
            self.w.line(f"{self.name(target)} = ({rest} % {divisor}).to({self._type(target)})")
            rest = f"({rest} // {divisor})"
        self.w.line(f"{self.name(s.targets[0])} = {rest}.to({self._type(s.targets[0])})")

    def _type(self, count: Symbol) -> str:
        return "INDEX" if count in self.counts else "tl.int64"

    def _combined(self, op: str, target: Symbol) -> tuple[str, str, str]:
        """The helper that combines two values, and what is written behind values and behind the result: bools are
        combined as integers of 32 bits."""
        is_bool = target.dtype is DType.BOOL
        combine = COMBINE[_OF_BOOLS.get(op, op) if is_bool else op]
        self.helpers.add(combine)
        return (combine, ".to(tl.int32)", " != 0") if is_bool else (combine, "", "")

    def _lane_reduce(self, s: gpu.LaneReduce) -> None:
        along = s.axes if self.shapes.has_rows else gpu.IN_ROWS
        axes = along | self.shapes.of(s.value)
        combine, before, after = self._combined(s.op, s.target)
        value = self.over(s.value, axes) + before
        if axes - along:  # a value for each row is left
            reduced = f"{min(along)}, {combine}, keep_dims=True"
        else:
            reduced = f"{None if self.shapes.has_rows else 0}, {combine}"
        self.w.line(f"{self.name(s.target)} = tl.reduce({value}, {reduced}){after}")

    def _lane_scan(self, s: gpu.LaneScan) -> None:
        axes = gpu.IN_ROWS | self.shapes.of_all(s.values)
        combine, before, after = self._combined(s.op, s.targets[0])
        values = [self.over(value, axes) + before for value in s.values]
        given = values[0] if len(values) == 1 else f"({', '.join(values)})"
        targets = ", ".join(self.name(target) for target in s.targets)
        axis = int(self.shapes.has_rows)
        self.w.line(f"{targets} = tl.associative_scan({given}, {axis}, {combine}){after}")

    # ------------------------------------------------------------ memory

    def _store(self, s: Store) -> None:
        if s.array.dtype.is_complex:
            if not isinstance(s.value, Intrinsic) or s.value.name != "complex":
                raise InternalError("triton_gen", "a complex value in one piece")
            with_parts = list(enumerate(s.value.args))
        else:
            with_parts = [(0, s.value)]
        for part, value in with_parts:
            self.w.line(f"tl.store({self._access(s.array, s.index, part, value, s.mask)})")

    def _atomic(self, s: Update) -> None:
        if not s.atomic:
            raise InternalError("triton_gen", "an update that is not atomic is left")
        parts = [s.value]
        if s.target.dtype.is_complex and isinstance(s.value, Intrinsic):
            parts = list(s.value.args)
        for part, value in enumerate(parts):
            args = self._access(s.target, s.index, part, value, s.mask)
            self.w.line(f'tl.atomic_{_ATOMICS[s.op]}({args}, sem="relaxed")')

    def _access(
        self, array: Symbol, index: tuple[Expr, ...], part: int, value: Expr, mask: Expr | None
    ) -> str:
        """Pointer, value and mask of a store, all along the same axes."""
        axes = self.shapes.of_all((*index, value, *(() if mask is None else (mask,))))
        text = f"{self.pointer(array, index, part, axes)}, {self.over(value, axes)}"
        return text if mask is None else f"{text}, mask={self.over(mask, axes)}"


def _declared(body: tuple[gpu.ScheduledStmt, ...], given: set[Symbol]) -> list[Symbol]:
    """Scalars that need a value before the statements: those set inside a block whose value
    crosses the block's border, because Triton wants a variable's type to be known there."""
    total = _occurrences(body)
    covered: Counter[Symbol] = Counter()
    assigned: dict[Symbol, None] = {}

    def scan(block: tuple[gpu.ScheduledStmt, ...], known: frozenset[Symbol]) -> None:
        count = total if block is body else _occurrences(block)
        targets = {symbol: None for stmt in block for symbol in targets_of(stmt)}
        assigned.update(targets)
        local = targets.keys() - set(free_scalars(block)) - known
        for symbol in local:
            covered[symbol] += count[symbol]
        for stmt in block:
            for inner in bodies_of(stmt).values():
                scan(inner, known | local)

    scan(body, frozenset())
    return [s for s in assigned if covered[s] < total[s] and s not in given]


def _only_in_grid(body: tuple[gpu.ScheduledStmt, ...]) -> set[Symbol]:
    """The scalars that only say which blocks of iterations a program has."""
    indices = [n for n in walk(body) if isinstance(n, gpu.ProgramIndex)]
    numbers = {index.number.symbol for index in indices if isinstance(index.number, Var)}
    parts = [count for index in indices for count in index.counts]
    parts += [
        bound for n in walk(body) if isinstance(n, gpu.Loop) and n.var in numbers for bound in (n.lo, n.hi)
    ]
    here, everywhere = (
        Counter(n.symbol for n in walk(nodes) if isinstance(n, Var)) for nodes in (parts, body)
    )
    return {symbol for symbol, times in here.items() if times == everywhere[symbol]}


def _occurrences(body: tuple[gpu.ScheduledStmt, ...]) -> Counter[Symbol]:
    return Counter(symbol for node in walk(body) for symbol in own_symbols(node))
