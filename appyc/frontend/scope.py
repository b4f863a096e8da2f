"""The state of lowering one function: statements emitted so far, bindings of names, places.

Bindings are followed along the paths of the program. An assignment that changes a
variable's type starts a new symbol; where paths meet, the types are joined as NumPy
joins them, and copies into a common symbol are emitted at the ends of the paths.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from appyc.errors import Loc, TypeInferenceError, UnknownNameError, UnsupportedError
from appyc.frontend.arrays.allocations import Memory
from appyc.frontend.control.buffer_rotation import Exchange
from appyc.frontend.control.phi_storage import new_home, without_elements
from appyc.frontend.expressions.arithmetic import const
from appyc.frontend.expressions.callee_facts import Callees
from appyc.frontend.pragmas.axis_requests import AxisRequests
from appyc.frontend.pragmas.pragmas import read_pragmas
from appyc.frontend.resolve import Names
from appyc.frontend.source import Source, parameters_of
from appyc.frontend.syntax.dict_names import own_dicts
from appyc.frontend.syntax.list_names import list_names
from appyc.frontend.syntax.liveness import names_behind
from appyc.frontend.syntax.read_lists import read_lists
from appyc.frontend.syntax.tree import loops_with_own_names, names_indexed
from appyc.frontend.types.numbers import Either, NumberType
from appyc.frontend.types.values import (
    ArrayRef,
    Binding,
    Conflict,
    DictSlots,
    DictValue,
    ListSlots,
    ListValue,
    Masked,
    MaybeNone,
    Number,
    Opaque,
    ReturnedChoice,
    ReturnedList,
    ReturnedView,
    Slot,
    Table,
    Tensor,
    TupleSlots,
    TupleValue,
    Value,
    Wide,
    or_none,
)
from appyc.ir.names import NameSupply
from appyc.ir.nodes import Assign, Const, Expr, Extent, Fail, If, Stmt, Symbol, Unary, Var
from appyc.ir.types import DType

Env = dict[str, Binding]

MAX_PEELED = 3
"""Iterations that go before a loop (`frontend/control/peeling.py`). Types widen, as from integers to floats to complex
numbers; names that take their types from one another need an iteration each."""

MAX_PARTED = 4
"""Branches of a function behind which all that follows stands twice."""


class Restart(Exception):  # noqa: N818  (no error: lowering starts anew with what it has learnt)
    """Raised when a fact is found that earlier statements should have been lowered with."""


class Recursive(Exception):  # noqa: N818  (the same)
    """Raised when a function is found to call itself (`frontend/expressions/recursion.py`)."""


class NoValue(Exception):  # noqa: N818  (nor this: a path ends that this attempt cannot follow)
    """Raised where what a recursive call returns is not known yet."""


@dataclass
class Facts:
    """What one attempt at a function learns for the next. Grows only, so attempts end."""

    flagged: set[str] = field(default_factory=set)
    """Variables that may be read unassigned: a flag beside each tells."""
    early: set[str] = field(default_factory=set)
    """Variables that a loop reads, further up in its body, from an earlier iteration only."""
    results: tuple[NumberType, ...] | None = None
    """Types of the returned scalars, joined over all returns."""
    late: dict[str, tuple[DType, int]] = field(default_factory=dict)
    """Names that some path binds to an array and another leaves unbound: its type, its number of axes."""
    lists: dict[str, tuple[bool, tuple[NumberType, ...]]] = field(default_factory=dict)
    """What the items of lists are: whether tuples, and the types of the numbers in them."""
    nones: set[str] = field(default_factory=set)
    """Names that some path binds to a number or a tuple, and another to None: a flag beside each tells."""
    none_results: dict[tuple[int, ...], int | None] = field(default_factory=dict)
    """Items of the returned value that are numbers, or tuples of so many, on some paths and None on others."""
    choices: set[tuple[int, ...]] = field(default_factory=set)
    """Items of the returned value that are different arrays on different paths."""
    copies_exchanged: bool = False
    """What follows a loop whose names exchange arrays cannot stand once for each arrangement of them."""
    peeled: dict[Loc, int] = field(default_factory=dict)
    """Loops whose first iterations give names other types than they had, and how many of those."""
    parted: set[Loc] = field(default_factory=set)
    """`if`s that leave a name with one type here and another there: what follows stands in each of their ways."""
    joins_returns: bool = False
    """The returns are of different arrays, and have to become one (`frontend/control/joined_returns.py`)."""

    def part(self, meeting: Conflict | Either) -> bool:
        """Keeps paths apart that leave a name with different types. Returns whether that is possible."""
        if meeting.loop is not None and self.peeled.get(meeting.loop, 0) < MAX_PEELED:
            self.peeled[meeting.loop] = self.peeled.get(meeting.loop, 0) + 1
            return True
        together = self.parted | set(meeting.branches)
        if len(together) == len(self.parted) or len(together) > MAX_PARTED:
            return False
        self.parted = together
        return True


@dataclass(frozen=True, slots=True)
class Result:
    """What the returns of a function agree on: the shape of the value, and homes of its scalars."""

    value: Value
    slots: tuple[Slot, ...]
    loc: Loc


@dataclass
class LoopFrame:
    """A loop being lowered. `head` is what every name is bound to at the top of an iteration."""

    head: Env
    stores: int = 0
    """How many stores the program had made, as it is written, before the loop."""
    ends: list[Env] = field(default_factory=list)
    """Bindings at each way back to the top or out: iteration ends, continue, break."""
    asked: bool = False
    """Whether somebody has asked for its iterations to run in any order."""
    broke: Symbol | None = None
    """Set by `break` where the loop has an else clause."""
    needed: frozenset[str] | None = None
    """Names that are read at the top of an iteration, or behind the loop."""
    behind: frozenset[str] | None = None
    """Names that are read behind the loop."""
    exchange: Exchange | None = None
    """Which names have one another's arrays in later iterations."""


@dataclass(frozen=True, slots=True)
class Lowering:
    """The functions that lower syntax which may hold syntax of every other kind. What they call gets at them by the
    scope (`Scope.lower` and so on), as it cannot import them.

    expression: a Masked, too, where a mask chooses. block: statements in a row (`control/statements.py`). inline: the
    body of a function that is called. callee: the same as a function of its own. array_of: the array that NumPy makes
    of a tuple. table_of: the array that holds the numbers of a tuple which is indexed at run time.
    """

    expression: Callable[[Scope, ast.expr], Value]
    statement: Callable[[Scope, ast.stmt], None]
    block: Callable[[Scope, list[ast.stmt], Callable[[], None] | None], None]
    inline: Callable[[Scope, Source, Names, object, Mapping[str, Value], Loc], Value]
    callee: Callable[[Scope, Source, Names, object, Loc], Callable[..., Any]]
    array_of: Callable[[Scope, Value, DType | None, Loc], Value]
    table_of: Callable[[Scope, Sequence[Value], str, Loc], Table | None]


class Scope:
    """One function, or one call of a function that is inlined."""

    def __init__(
        self,
        lowering: Lowering,
        source: Source,
        names: Names,
        supply: NameSupply,
        facts: Facts,
        calls: tuple[object, ...] = (),
        memory: Memory | None = None,
    ) -> None:
        self.lowering = lowering
        self.locals = assigned_names(source.ast)
        self.indexed = names_indexed(source.ast)
        self.read_lists = read_lists(source.ast, names.is_of_library)
        self.list_names = list_names(source.ast, names.is_of_library) - self.read_lists
        self.own_dicts = own_dicts(source.ast)
        self.lists: dict[str, ListSlots] = {}
        """The memory of lists, by name."""
        self.guessed: set[str] = set()
        """Lists of which it was not known what they hold when they were made."""
        self.narrower: dict[tuple[str, Loc, int], bool] = {}
        """Whether an item that goes into a list is of a narrower type than others."""
        self.own_names = loops_with_own_names(source.ast)
        self.pragmas = read_pragmas(source)
        self.source = source
        self.names = names
        self.supply = supply
        self.facts = facts
        self.calls = calls
        self.memory = Memory() if memory is None else memory
        self.given: frozenset[Symbol] = frozenset()
        """Arrays that the caller has names for."""
        self.fixed: frozenset[Symbol] = frozenset()
        """Parameters that keep the value of the call."""
        self.bound_at: dict[str, Loc] = {}
        """Where names were bound last."""
        self.env: Env = {}
        self.block: list[Stmt] = []
        self.first: list[Stmt] = []
        """What comes before all other statements."""
        self.loops: list[LoopFrame] = []
        self.flags: dict[str, Symbol] = {}
        self.none_flags: dict[str, Symbol] = {}
        self.live = True
        self.returned: Symbol | None = None
        """Set where the function has returned from inside a loop."""
        self.result: Result | None = None
        self.options: dict[tuple[int, ...], list[Symbol]] = {}
        """The arrays that returns have as one item of the returned value."""
        self.exchanged: Exchange | None = None
        """Set by a loop that has left its names in one of several arrangements, for what follows it."""
        self.requests: AxisRequests | None = None
        """What a pragma asks of the tensor statement that is being lowered."""

    @cached_property
    def names_behind(self) -> dict[ast.stmt, frozenset[str]]:
        """The names that are read behind each statement."""
        return names_behind(self.source.ast.body)

    @property
    def is_inlined(self) -> bool:
        return len(self.calls) > 1

    @property
    def callees(self) -> Callees:
        """Of the function that is compiled."""
        return self.names.environment.callees

    def loc(self, node: ast.AST) -> Loc:
        return self.source.loc(node)

    def lower(self, node: ast.expr) -> Value:
        """The value of an expression; a Masked where a mask chooses."""
        return self.lowering.expression(self, node)

    def lower_statement(self, node: ast.stmt) -> None:
        self.lowering.statement(self, node)

    def lower_block(self, body: list[ast.stmt], finish: Callable[[], None] | None = None) -> None:
        """Statements in a row; `finish` is called at the end of each path."""
        self.lowering.block(self, body, finish)

    def emit(self, stmt: Stmt) -> None:
        self.block.append(stmt)

    @contextmanager
    def collect(self) -> Iterator[list[Stmt]]:
        """Statements emitted inside go to the list that is yielded."""
        outer, self.block = self.block, []
        try:
            yield self.block
        finally:
            self.block = outer

    def found_slice(self, axis: Symbol, written: ast.Slice, extent: Expr) -> None:
        """A slice of the statement, with the axis made for it."""
        if self.requests is not None:
            for test in self.requests.found(axis, written, extent):
                self.emit(test)

    def same_axis(self, old: Symbol, new: Symbol) -> None:
        """From here on `new` runs over what `old` ran over: a pragma that speaks of one speaks of both."""
        if self.requests is not None:
            self.requests.follow(old, new)

    # ------------------------------------------------------------ variables

    def temp(self, name: str, expr: Expr) -> Var:
        """The value kept in a new variable."""
        symbol = self.supply.fresh(name, expr.dtype)
        self.emit(Assign(symbol, expr, loc=expr.loc))
        return Var(symbol, loc=expr.loc)

    def unchanging(self, expr: Expr) -> Expr:
        """The value of an expression now, whatever is assigned later."""
        if isinstance(expr, Const) or (isinstance(expr, Var) and expr.symbol in self.fixed):
            return expr
        if isinstance(expr, Extent) and expr.array not in self.memory.made:
            return expr
        return self.temp("bound", expr)

    def read(self, name: str, loc: Loc) -> Value:
        binding = self.env.get(name)
        if binding is None:
            if self.loops and name in self.locals and name not in self.facts.early:
                self.facts.early.add(name)
                raise Restart
            # In an iteration that stands before its loop, this may be where no iteration comes by at first.
            error = UnsupportedError if self.facts.peeled else UnknownNameError
            raise error(f"{name!r} is read before it is assigned", loc,
                                     hints=("assign it first, before the loop if this is in one",))  # fmt: skip
        if isinstance(binding, Conflict) and binding.array is not None and name not in self.facts.late:
            self.facts.late[name] = binding.array
            self.facts.flagged.add(name)
            raise Restart
        self._test_flag(name, binding, loc)
        if isinstance(binding, Slot | TupleSlots) and binding.optional:
            what = "a number" if isinstance(binding, Slot) else "a tuple"
            fail = Fail("TypeError", f"'{name}' is None, where {what} is needed", loc=loc)
            self.emit(If(Var(self.none_flags[name], loc=loc), (fail,), loc=loc))
        return self._value(name, binding, loc)

    def read_maybe(self, name: str, loc: Loc) -> Value:
        """The same, for those who can do with a `MaybeNone`."""
        binding = self.env.get(name)
        if not isinstance(binding, Slot | TupleSlots) or not binding.optional:
            return self.read(name, loc)
        self._test_flag(name, binding, loc)
        value = self._value(name, binding, loc)
        assert isinstance(value, Number | TupleValue)
        return MaybeNone(value, Number(Var(self.none_flags[name], loc=loc), python=True))

    def _value(self, name: str, binding: Binding, loc: Loc) -> Value:
        match binding:
            case Slot(wide=True):
                return Wide(Var(binding.symbol, loc=loc))
            case Slot():
                return Number(Var(binding.symbol, loc=loc), binding.python, binding.either)
            case TupleSlots():
                items = tuple(self._value(name, b, loc) for b in binding.items)
                return TupleValue(items, binding.table, binding.names)
            case Conflict() if self.facts.part(binding):
                raise Restart
            case Conflict():
                error = UnsupportedError if binding.unsupported else TypeInferenceError
                raise error(f"{name!r} is {binding.reason}", loc,
                            hints=("use two names, so that each has one meaning",))  # fmt: skip
            case Number():
                return replace(binding, expr=replace(binding.expr, loc=loc))
            case DictSlots():
                values = self._value(name, binding.values, loc)
                assert isinstance(values, TupleValue)
                return DictValue(binding.keys, values)
            case ListSlots():
                return ListValue(replace(binding, maybe=False))
            case ArrayRef() | Tensor() | Opaque():
                return binding

    def _test_flag(self, name: str, binding: Binding, loc: Loc) -> None:
        if not (_maybe(binding) or (isinstance(binding, ArrayRef) and binding.symbol in self.memory.late)):
            return
        if name not in self.facts.flagged:
            self.facts.flagged.add(name)
            raise Restart
        message = f"cannot access local variable '{name}' where it is not associated with a value"
        fail = Fail("UnboundLocalError", message, loc=loc)
        self.emit(If(Unary("~", Var(self.flags[name], loc=loc), loc=loc), (fail,), loc=loc))

    def start_flags(self, loc: Loc) -> None:
        """Every flag starts unset, before the first statement."""
        for name in sorted(self.facts.flagged):
            self.flags[name] = self.supply.fresh(f"{name}_is_set", DType.BOOL)
            self.emit(Assign(self.flags[name], const(False, DType.BOOL, loc), loc=loc))
        for name in sorted(self.facts.nones):
            self.none_flags[name] = self.supply.fresh(f"{name}_is_none", DType.BOOL)
            self.emit(Assign(self.none_flags[name], const(False, DType.BOOL, loc), loc=loc))

    def start_late(self, loc: Loc) -> None:
        """Names that are bound to an array on some paths only have one without elements at first."""
        for name, (dtype, ndim) in sorted(self.facts.late.items()):
            home = new_home(self.supply, self.memory, name, dtype, ndim, loc)
            self.block += without_elements(self.memory, home, loc)
            self.env[name] = home

    def bind(self, name: str, value: Value, loc: Loc) -> None:
        """`name = value`."""
        if isinstance(value, MaybeNone):
            self._bind_maybe(name, value, loc)
            return
        self.env[name] = bound = self._store(name, self.env.get(name), value, loc)
        self.set_none_flag(name, value, loc)
        if name in self.indexed and isinstance(bound, TupleSlots) and isinstance(value, TupleValue):
            table = value.table or self.lowering.table_of(self, value.items, name, loc)
            self.env[name] = replace(bound, table=table)
        self.bound_at[name] = loc
        self.set_flag(name, loc)

    def _bind_maybe(self, name: str, value: MaybeNone, loc: Loc) -> None:
        """A name that gets a number or a tuple, or None."""
        if name not in self.facts.nones:
            self.facts.nones.add(name)
            raise Restart
        is_none = self.temp("is_none", value.is_none.expr)
        self.bind(name, value.value, loc)
        bound = self.env[name]
        assert isinstance(bound, Slot | TupleSlots)
        self.env[name] = or_none(bound)
        self.emit(Assign(self.none_flags[name], is_none, loc=loc))

    def set_none_flag(self, name: str, value: Value | Binding, loc: Loc) -> None:
        """Notes whether the name is bound to None."""
        if name in self.none_flags:
            is_none = isinstance(value, Opaque) and value.obj is None
            self.emit(Assign(self.none_flags[name], const(is_none, DType.BOOL, loc), loc=loc))

    def set_flag(self, name: str, loc: Loc) -> None:
        """Notes that the name is bound."""
        if name in self.flags:
            self.emit(Assign(self.flags[name], const(True, DType.BOOL, loc), loc=loc))

    def _store(self, name: str, old: Binding | None, value: Value, loc: Loc) -> Binding:
        match value:
            case Number():
                if isinstance(old, Slot) and old.type == value.type:
                    symbol = old.symbol
                else:
                    symbol = self.supply.fresh(name, value.type.dtype)
                self.emit(Assign(symbol, value.expr, loc=loc))
                literal = value.constant if value.python else None
                return Slot(symbol, value.python, literal=literal, either=value.either)
            case Wide():
                keeps = isinstance(old, Slot) and old.symbol.dtype is DType.UINT64
                home = old.symbol if keeps else self.supply.fresh(name, DType.UINT64)  # type: ignore[union-attr]
                self.emit(Assign(home, value.bits, loc=loc))
                return Slot(home, python=True, wide=True)
            case TupleValue():
                olds = old.items if isinstance(old, TupleSlots) else ()
                # Items are read before any is written: `a, b` may be bound to `(b, a)`.
                items = [
                    replace(v, expr=self.temp(name, v.expr)) if isinstance(v, Number) else v
                    for v in value.items
                ]
                slots = [
                    self._store(f"{name}_{k}", olds[k] if k < len(olds) else None, v, loc)
                    for k, v in enumerate(items)
                ]
                return TupleSlots(tuple(slots), names=value.names)
            case ArrayRef() | Tensor() | Opaque():
                return value
            case ListValue():
                raise AssertionError("a list has one name, and that is bound where it is made")
            case Masked():
                raise AssertionError("what a mask chooses is put together before it gets a name")
            case DictValue():
                same = isinstance(old, DictSlots) and old.keys == value.keys
                values = self._store(name, old.values if same else None, value.values, loc)  # type: ignore[union-attr]
                assert isinstance(values, TupleSlots)
                return DictSlots(value.keys, values)
            case MaybeNone():
                raise UnsupportedError("a number that may be None cannot be kept in a tuple", loc,
                                       hints=("give it a name of its own",))  # fmt: skip
            case ReturnedView() | ReturnedChoice() | ReturnedList():
                raise AssertionError("what is returned has no name")


def _maybe(binding: Binding) -> bool:
    match binding:
        case Slot() | ListSlots():
            return binding.maybe
        case DictSlots():
            return _maybe(binding.values)
        case TupleSlots():
            return any(_maybe(b) for b in binding.items)
        case _:
            return False


def constant_truth(expr: Expr) -> bool | None:
    """The value of a condition that is known at compile time."""
    return bool(expr.value) if isinstance(expr, Const) else None


def assigned_names(function: ast.FunctionDef) -> frozenset[str]:
    """The names that are local to a function: its parameters and whatever its statements bind."""
    out = {a.arg for a in parameters_of(function)}
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            out.add(node.id)
        if isinstance(node, ast.Import | ast.ImportFrom):
            out |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            out.add(node.name)
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            stack.extend(ast.iter_child_nodes(node))
    return frozenset(out)
