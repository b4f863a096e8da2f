"""The state of lowering one function: emitted statements, bindings of names, source locations.

Bindings are tracked along the control-flow paths, as in SSA construction. An assignment that
changes a variable's type starts a new symbol. At a join the types are promoted as in NumPy, and
phi copies into a common symbol are emitted at the ends of the paths.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from appyc.errors import Loc, TypeInferenceError, UnknownNameError, UnsupportedError
from appyc.frontend.arrays.allocations import Bound, Memory
from appyc.frontend.control.buffer_rotation import Exchange
from appyc.frontend.expressions.arithmetic import const
from appyc.frontend.expressions.callee_facts import Callees
from appyc.frontend.expressions.list_parameters import list_calls
from appyc.frontend.facts import Env, Facts, Fork, LoopFrame, NoValue, Restart, Result
from appyc.frontend.pragmas.axis_requests import AxisRequests
from appyc.frontend.pragmas.pragma_nodes import LoopPragma
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.resolve import Called, Names
from appyc.frontend.source import Source
from appyc.frontend.syntax.containers import list_names, read_lists, shared_lists
from appyc.frontend.syntax.fixed_containers import own_dicts, shared_tables, table_names
from appyc.frontend.syntax.liveness import names_behind
from appyc.frontend.syntax.tree import assigned_names, loops_with_own_names, names_indexed
from appyc.frontend.types import values as vals
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.numbers import NumberType
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Alloc, Assign, Const, Expr, Extent, Fail, If, Stmt, Symbol, Unary, Var
from appyc.ir.types import ArrayType, Container, DType


@dataclass(frozen=True, slots=True)
class Lowering:
    """The mutually recursive lowering functions. Their callees reach them through the scope (`Scope.lower` and so
    on), since a direct import would be circular.

    expression: lowers an expression, to a `Masked` for a selection by a mask. block: lowers a sequence of statements
    (`control/statements.py`). inline: inlines a called function's body. callee: lowers it as a separate function, which
    has these symbols as parameters, to statements, a value and a scope; what the caller calls lists that it gives is
    known by parameter. array_of: the array that NumPy makes of a tuple. table_of: the lookup table of a tuple that is
    indexed at run time.
    """

    expression: Callable[[Scope, ast.expr], vals.Value]
    statement: Callable[[Scope, ast.stmt], None]
    block: Callable[[Scope, list[ast.stmt], Callable[[], None] | None], None]
    inline: Callable[[Scope, Called, Mapping[str, vals.Value], Loc], vals.Value]
    callee: Callable[
        [Scope, Called, Mapping[str, vals.Value], frozenset[Symbol], Mapping[str, str], Loc],
        tuple[Any, vals.Value, Scope],
    ]
    array_of: Callable[[Scope, vals.Value, DType | None, Loc], vals.Value]
    table_of: Callable[[Scope, Sequence[vals.Value], str, Loc], vals.Table | None]


class Scope:
    """The state of lowering one function, or one inlined call."""

    def __init__(
        self,
        lowering: Lowering,
        source: Source,
        names: Names,
        supply: NameSupply,
        facts: Facts,
        calls: tuple[object, ...] = (),
        memory: Memory | None = None,
        given_lists: frozenset[str] = frozenset(),
    ) -> None:
        self.lowering, self.names, self.facts, self.given_lists = lowering, names, facts, given_lists
        tree, remember = source.ast, source.remember
        self.locals = remember("locals", lambda: assigned_names(tree))
        self.indexed = remember("indexed", lambda: names_indexed(tree, is_library=source.trusted))
        self.read_lists = remember("read lists", lambda: read_lists(tree, names.is_of_library))
        lists = remember(
            f"lists beside {sorted(given_lists)} and {sorted(facts.list_calls)}",
            lambda: list_names(tree, list_calls(source, names, facts), given_lists),
        )
        self.tables = remember("tables", lambda: table_names(tree))
        self.list_names = lists - self.read_lists - self.tables.keys()
        self.shared_tables = remember("shared tables", lambda: shared_tables(tree))
        self.shared_lists = remember("shared lists", lambda: shared_lists(tree)) - self.read_lists
        self.own_dicts = remember("own dicts", lambda: own_dicts(tree))
        self.lists: dict[str, vals.ListSlots] = {}
        """The storage of lists, by name."""
        self.givers: dict[str, tuple[Scope, str] | None] = {}
        """Parameters that are lists: whose, and the name there; None for a list without a name."""
        self.guessed: set[str] = set()
        """Lists whose item type was not known at their creation."""
        self.unsure: set[Symbol] = set()
        """Scalars that are read behind a test whether they are assigned."""
        self.undecided: frozenset[str] = frozenset()
        """Loop-carried names whose types this round of lowering finds."""
        self.stored: dict[tuple[str, Loc, tuple[NumberType, ...]], None] = {}
        """The items that lists get, in order: the list's name, where, and the own types of the item's numbers."""
        self.own_names = remember("own names", lambda: loops_with_own_names(tree))
        self.pragmas = remember("pragmas", lambda: read_pragmas(source))
        asked = (pragma.variables for pragma in self.pragmas.values() if isinstance(pragma, LoopPragma))
        self.named_in_clauses: frozenset[str] = frozenset().union(*asked)
        self.source, self.supply, self.calls = source, supply, calls
        self.memory = Memory() if memory is None else memory
        self.given: frozenset[Symbol] = frozenset()
        """Arrays that the caller may have names for."""
        self.fixed: frozenset[Symbol] = frozenset()
        """Parameters that are never rebound."""
        self.bound_at: dict[str, Loc] = {}
        """The location of each name's latest binding."""
        self.env: Env = {}
        self.block: list[Stmt] = []
        self.first: list[Stmt] = []
        """The prologue: statements that precede all others."""
        self.tests = self.first
        """The tests of the arguments before the call has side effects; an inlined function's are its caller's."""
        self.in_loop = False
        """Whether the call that is inlined stands in a loop."""
        self.loops: list[LoopFrame] = []
        self.unrollable: list[Loc] = []
        self.flags, self.none_flags = (
            defaultdict[str, Symbol](lambda: supply.fresh("flag", DType.BOOL)) for _ in range(2)
        )
        self.live = True
        self.returned: Symbol | None = None
        """The has-returned flag, for returns that are not at the function's end."""
        self.result: Result | None = None
        self.options: dict[tuple[int, ...], list[Symbol]] = {}
        """The arrays that the returns choose among, by item of the returned value."""
        self.returned_homes: dict[int, vals.ArrayRef] = {}
        self.exchanged: Exchange | None = None
        """The exchange of the loop just lowered, whose rotations the code behind it must be versioned for."""
        self.requests: AxisRequests | None = None
        """A pragma's requests for the tensor statement that is being lowered."""

    @cached_property
    def names_behind(self) -> dict[ast.stmt, frozenset[str]]:
        """The live-out names of each statement."""
        return dict(self.source.remember("names behind", lambda: names_behind(self.source.ast.body)))

    @property
    def is_inlined(self) -> bool:
        return len(self.calls) > 1

    @property
    def callees(self) -> Callees:
        """The callees of the compiled function."""
        return self.names.environment.callees

    def loc(self, node: ast.AST) -> Loc:
        return self.source.loc(node)

    def lower(self, node: ast.expr) -> vals.Value:
        """The value of an expression; a `Masked` for a selection by a mask."""
        return self.lowering.expression(self, node)

    def lower_statement(self, node: ast.stmt) -> None:
        self.lowering.statement(self, node)

    def lower_block(self, body: list[ast.stmt], finish: Callable[[], None] | None = None) -> None:
        """Lowers a sequence of statements; `finish` is called at the end of each path."""
        self.lowering.block(self, body, finish)

    def emit(self, stmt: Stmt) -> None:
        self.block.append(stmt)

    @contextmanager
    def collect(self) -> Iterator[list[Stmt]]:
        """Collects the statements emitted inside the context in the list that is yielded."""
        outer, self.block = self.block, []
        try:
            yield self.block
        finally:
            self.block = outer

    def found_slice(self, axis: Symbol, written: ast.Slice, extent: Expr) -> None:
        """Registers a slice of the statement and its axis with the pragma's requests, and emits their tests."""
        if self.requests is not None:
            for test in self.requests.found(axis, written, extent):
                self.emit(test)

    def same_axis(self, old: Symbol, new: Symbol) -> None:
        """Declares that `new` iterates over the same range as `old`, so that a pragma for one applies to both."""
        if self.requests is not None:
            self.requests.follow(old, new)

    def fork(self, needed: frozenset[str]) -> Fork:
        """The point where paths fork. needed: as in `Fork`."""
        return Fork(dict(self.env), len(self.memory.stores), needed)

    def first_store(self, since: int) -> int:
        """The number of the first store that may follow those ahead of number `since`: iterations repeat stores."""
        return min([since, *(frame.fork.stores for frame in self.loops)])

    def temp(self, name: str, expr: Expr) -> Var:
        """A new variable that is assigned the expression's value."""
        symbol = self.supply.fresh(name, expr.dtype)
        self.emit(Assign(symbol, expr, loc=expr.loc))
        return Var(symbol, loc=expr.loc)

    def new_array(
        self,
        name: str,
        dtype: DType,
        lengths: Sequence[Expr],
        loc: Loc,
        container: Container = Container.ARRAY,
        *,
        zero: bool = False,
    ) -> Symbol:
        """A new array, of zeros or of anything."""
        array = self.supply.fresh(name, ArrayType(dtype, len(lengths), container=container))
        self.memory.made.add(array)
        self.emit(Alloc(array, tuple(lengths), zero, loc=loc))
        return array

    def fail_if(self, cond: Expr, error: str, message: str, loc: Loc, words: tuple[Expr, ...] = ()) -> None:
        """Emits the test that raises an exception where the condition holds."""
        self.emit(If(cond, (Fail(error, message, words, loc=loc),), loc=loc))

    def keep_equal(self, array: Symbol, copy: Symbol, name: str, loc: Loc) -> None:
        """Freezes an array and its copy, which must stay equal: in Python the two may be one array."""
        since = self.first_store(len(self.memory.stores))
        for one in (array, copy):
            self.memory.freeze(one, Bound(name, loc, shares=True), since)

    def unchanging(self, expr: Expr) -> Expr:
        """The expression's current value, which later assignments do not change."""
        if isinstance(expr, Const) or (isinstance(expr, Var) and expr.symbol in self.fixed):
            return expr
        if isinstance(expr, Extent) and expr.array not in self.memory.made:
            return expr
        return self.temp("bound", expr)

    def read(self, name: str, loc: Loc) -> vals.Value:
        binding = self.env.get(name)
        if binding is None:
            if name in self.undecided:
                raise NoValue
            # In a peeled iteration, control may not reach this read.
            error = UnsupportedError if self.facts.peeled else UnknownNameError
            raise error(f"{name!r} is read before it is assigned", loc,
                        "assign it first, before the loop if this is in one")  # fmt: skip
        if isinstance(binding, vals.Conflict) and binding.array is not None and name not in self.facts.late:
            self.facts.late[name] = binding.array
            self.facts.flagged.add(name)
            raise Restart
        self._test_flag(name, binding, loc)
        if isinstance(binding, vals.Slot | vals.TupleSlots) and binding.optional:
            what = "a number" if isinstance(binding, vals.Slot) else "a tuple"
            is_none = Var(self.none_flags[name], loc=loc)
            self.fail_if(is_none, "TypeError", f"'{name}' is None, where {what} is needed", loc)
        return self._value(name, binding, loc)

    def read_maybe(self, name: str, loc: Loc) -> vals.Value:
        """The value of a name; a `MaybeNone` if the name may be bound to None."""
        binding = self.env.get(name)
        if not isinstance(binding, vals.Slot | vals.TupleSlots) or not binding.optional:
            return self.read(name, loc)
        self._test_flag(name, binding, loc)
        value = self._value(name, binding, loc)
        assert isinstance(value, vals.Number | vals.TupleValue)
        return vals.MaybeNone(value, vals.Number(Var(self.none_flags[name], loc=loc), python=True))

    def _value(self, name: str, binding: vals.Binding, loc: Loc) -> vals.Value:
        match binding:
            case vals.Slot(wide=True):
                return vals.Wide(Var(binding.symbol, loc=loc))
            case vals.Slot():
                return binding.number(loc)
            case vals.TupleSlots(items=items):
                found = tuple(self._value(name, b, loc) for b in items)
                value = vals.TupleValue(found, binding.table, binding.names, binding.made_by)
                return value if binding.keys is None else vals.DictValue(binding.keys, value)
            case vals.Conflict() if self.facts.part(binding):
                raise Restart
            case vals.Conflict():
                error = UnsupportedError if binding.unsupported else TypeInferenceError
                raise error(f"{name!r} is {binding.reason}", loc,
                            "use two names, so that each has one meaning, or change the parts of one")  # fmt: skip
            case vals.Number():
                return replace(binding, expr=replace(binding.expr, loc=loc))
            case vals.ListSlots():
                return replace(binding, maybe=False)
            case _:
                return binding

    def _test_flag(self, name: str, binding: vals.Binding, loc: Loc) -> None:
        if not (
            _is_unsure(binding) or (isinstance(binding, vals.ArrayRef) and binding.symbol in self.memory.late)
        ):
            return
        self.facts.note(self.facts.flagged, name)
        self.unsure |= {slot.symbol for slot in vals.slots_of(binding)}
        message = f"cannot access local variable '{name}' where it is not associated with a value"
        self.fail_if(Unary("~", Var(self.flags[name], loc=loc), loc=loc), "UnboundLocalError", message, loc)

    def start_flags(self, loc: Loc) -> None:
        """Clears every is-set and is-None flag before the first statement."""
        for name in sorted(self.facts.flagged):
            self.flags[name] = self.supply.fresh(f"{name}_is_set", DType.BOOL)
            self.emit(Assign(self.flags[name], const(False, DType.BOOL, loc), loc=loc))
        for name in sorted(self.facts.nones):
            self.none_flags[name] = self.supply.fresh(f"{name}_is_none", DType.BOOL)
            self.emit(Assign(self.none_flags[name], const(False, DType.BOOL, loc), loc=loc))

    def bind(self, name: str, value: vals.Value, loc: Loc) -> None:
        """Binds a name to a value, and emits the stores: `name = value`."""
        if isinstance(value, vals.MaybeNone):
            self._bind_maybe(name, value, loc)
            return
        self.env[name] = bound = self._store(name, self.env.get(name), value, loc)
        self.set_none_flag(name, value, loc)
        if name in self.indexed and isinstance(bound, vals.TupleSlots) and isinstance(value, vals.TupleValue):
            table = value.table or self.lowering.table_of(self, value.items, name, loc)
            self.env[name] = replace(bound, table=table)
        self.bound_at[name] = loc
        self.set_flag(name, loc)

    def _bind_maybe(self, name: str, value: vals.MaybeNone, loc: Loc) -> None:
        """Binds a name to a number or a tuple that may be None."""
        self.facts.note(self.facts.nones, name)
        is_none = self.temp("is_none", value.is_none.expr)
        self.bind(name, value.value, loc)
        bound = self.env[name]
        assert isinstance(bound, vals.Slot | vals.TupleSlots)
        self.env[name] = vals.or_none(bound)
        self.emit(Assign(self.none_flags[name], is_none, loc=loc))

    def set_none_flag(self, name: str, value: vals.Value | vals.Binding, loc: Loc) -> None:
        """Assigns the is-None flag of a name, if it has one."""
        if name in self.none_flags:
            self.emit(Assign(self.none_flags[name], const(vals.is_none(value), DType.BOOL, loc), loc=loc))

    def set_flag(self, name: str, loc: Loc) -> None:
        """Sets the is-set flag of a name, if it has one."""
        if name in self.flags:
            self.emit(Assign(self.flags[name], const(True, DType.BOOL, loc), loc=loc))

    def _store(self, name: str, old: vals.Binding | None, value: vals.Value, loc: Loc) -> vals.Binding:
        match value:
            case vals.Number(expr=Const()) if name in self.source.constants:
                return value
            case vals.Number():
                same = isinstance(old, vals.Slot) and old.type == value.type
                symbol = old.symbol if same else self.supply.fresh(name, value.type.dtype)  # type: ignore[union-attr]
                flag = None if value.is_int is None else self.temp("is_int", value.is_int).symbol
                self.emit(Assign(symbol, value.expr, loc=loc))
                return value.kept_in(symbol, flag)
            case vals.Wide():
                keeps = isinstance(old, vals.Slot) and old.symbol.dtype is DType.UINT64
                home = old.symbol if keeps else self.supply.fresh(name, DType.UINT64)  # type: ignore[union-attr]
                self.emit(Assign(home, value.bits, loc=loc))
                return vals.Slot(home, python=True, wide=True)
            case vals.TupleValue():
                olds = old.items if isinstance(old, vals.TupleSlots) else ()
                # Items are read before any is written: `a, b` may be bound to `(b, a)`.
                is_constant = name in self.source.constants
                items = [
                    v
                    if not isinstance(v, vals.Number) or (is_constant and isinstance(v.expr, Const))
                    else replace(v, expr=self.temp(name, v.expr))
                    for v in value.items
                ]
                slots = [
                    v
                    if is_constant and isinstance(v, vals.Number) and isinstance(v.expr, Const)
                    else self._store(f"{name}_{k}", olds[k] if k < len(olds) else None, v, loc)
                    for k, v in enumerate(items)
                ]
                return vals.TupleSlots(tuple(slots), None, value.names, value.made_by)
            case vals.ArrayRef() | vals.Tensor() | vals.Opaque():
                return value
            case vals.ListRows() | vals.TupleRow() | vals.Records():
                return value
            case vals.DictValue():
                same = isinstance(old, vals.TupleSlots) and old.keys == value.keys
                values = self._store(name, old if same else None, value.values, loc)
                assert isinstance(values, vals.TupleSlots)
                return replace(values, keys=value.keys)
            case vals.MaybeNone():
                raise UnsupportedError("a number that may be None cannot be kept in a tuple", loc,
                                       "give it a name of its own")  # fmt: skip
            case _:
                raise UnsupportedError(f"{describe(value)} cannot get another name in compiled code", loc,
                                       "copy it")  # fmt: skip


def _is_unsure(binding: vals.Binding) -> bool:
    """Whether some path has not assigned a variable."""
    if isinstance(binding, vals.TupleSlots):
        return any(map(_is_unsure, binding.items))
    return isinstance(binding, vals.Slot | vals.ListSlots) and binding.maybe
