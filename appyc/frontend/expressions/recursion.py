"""Functions that are called, not inlined: recursive ones, large ones, and some of the library (`inlining.py`). Each is
specialised to one IR callee per combination of argument types.

    def fib(n):                                  def fib(n):
        return fib(10) + n                           t = fib_1(10)
                                       ->            return t + n
                                                 # and fib_1(n), which calls itself

Result types are a fixed point. They are inferred first from the paths without recursive calls; the function is then
lowered again until the types are stable. In the first round, a path ends where it needs an unknown result (`NoValue`).

The free symbols of a callee, which enclosing functions define or capture, become hidden parameters with the same
symbols (`with_callees`). Arrays are passed as views, lists as their columns and the number of their items; others,
whose lengths the callee changes, as `resized_lists.py` has it.

Does not handle: results that are new arrays or lists; parallel loops inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MethodType
from typing import Any, TypeAlias

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.arrays.tensors import as_tensor, materialise, refuse_lists
from appyc.frontend.control.returned_values import returned_view
from appyc.frontend.expressions.arithmetic import const, integer
from appyc.frontend.expressions.callee_facts import Made, Shape
from appyc.frontend.expressions.local_functions import LocalFunction
from appyc.frontend.expressions.resized_lists import load_sizes, names_of_lists, store_sizes, with_sizes
from appyc.frontend.facts import NoValue
from appyc.frontend.resolve import Called
from appyc.frontend.scope import Scope
from appyc.frontend.types.descriptions import describe
from appyc.frontend.types.made_values import MadeGenerator, MadeObject, ObjectMethod
from appyc.frontend.types.numbers import NumberType, column_types
from appyc.frontend.types.value_parts import numbers_of, parts_of, with_parts
from appyc.frontend.types.values import (
    ArrayRef,
    DictValue,
    ListRows,
    ListSlots,
    MaybeNone,
    Number,
    Opaque,
    Tensor,
    TupleValue,
    Value,
)
from appyc.ir import nodes as ir
from appyc.ir.names import of_function, unused
from appyc.ir.raising import DIVISION, is_settled
from appyc.ir.types import ArrayType, DType, Layout
from appyc.ir.visit import arrays_written, walk
from appyc.library.table import LIBRARY

MAX_CALLEES = 16
"""The most specialisations of one compiled function's callees, which bounds polymorphic recursion."""

MAX_PARAMETERS = 4096
"""The most parameters of all of these: a tuple of two tuples at each call has 65,536 numbers at the last one."""

Kind: TypeAlias = Any
"""The type of an argument, or the identity of an object; of a tuple, dict or optional number such a value of kinds."""


@dataclass(frozen=True, slots=True)
class ListKind:
    """The type of a list: those of its items' numbers, of_tuples as in ListSlots, whether it has room of its own for
    more, and whether the callee changes its length."""

    kinds: tuple[NumberType, ...]
    of_tuples: TupleValue | None
    may_grow: bool
    resized: bool


def lower_recursive(scope: Scope, called: Called, arguments: Mapping[str, Value], loc: Loc) -> Value:
    """The value of a call of a callee. Raises NoValue where its result type is not known yet."""
    callees = scope.callees
    resized = {name for key, name in callees.known.resized if key == called.key}
    flat = _Flat(scope, called.name, loc)
    kinds = tuple(flat.kind(value, name in resized) for name, value in arguments.items())
    around = _captured([*called.around.values(), *flat.functions], loc)
    key = (called.key, kinds, tuple(_kind_around(value, loc) for value in around))
    here = (key, tuple(map(_identity, around)))
    made = callees.made.get(here)
    if made is None:
        callees.parameters += len(flat.args)
        if len(callees.made) >= MAX_CALLEES or callees.parameters > MAX_PARAMETERS:
            raise UnsupportedError(f"{called.name} calls itself with ever other types", loc,
                                   "give it arguments of the same types each time")  # fmt: skip
        taken = {other.name for other in callees.made.values()}
        in_order = all(kind.layout is Layout.C for kind in kinds if isinstance(kind, ArrayType))
        library = LIBRARY.get(called.key, "") if in_order else ""
        made = callees.made[here] = Made(unused(f"{of_function(called.name)}_call", taken), key, library)
        _make(scope, made, called, arguments, kinds, loc)
    if key not in callees.known.results:
        callees.asked.add(key)
        raise NoValue
    result = callees.known.results[key]
    numbers = _numbers(result)
    arrays = [
        scope.supply.fresh(f"{made.name}_{k}", ArrayType(t.dtype, 1)) for k, t in enumerate(numbers[1:], 1)
    ]
    start, one = (integer(0, loc),), (integer(1, loc),)
    for array in arrays:
        scope.emit(ir.Alloc(array, one, zero=False, in_frame=True, loc=loc))
    for slots, sizes in flat.resized:
        scope.emit(ir.Alloc(sizes, (integer(2, loc),), zero=False, in_frame=True, loc=loc))
        store_sizes(scope, slots, sizes, loc)
    args = [
        replace(arg, written=number in callees.known.written[key]) if isinstance(arg, ir.View) else arg
        for number, arg in enumerate(flat.args)
    ]
    dtype = numbers[0].dtype if numbers else DType.INT64
    target = scope.supply.fresh(made.name, dtype)
    out = (_in_frame(array, 1, loc) for array in arrays)
    scope.emit(ir.Assign(target, ir.Call(made.name, (*args, *out), dtype, loc=loc), loc=loc))
    for stored in {arg.array for arg in args if isinstance(arg, ir.View) and arg.written} | made.stored:
        scope.memory.store(stored, loc)
    for slots, sizes in flat.resized:
        load_sizes(scope, slots, sizes, loc)
    more = (scope.temp(made.name, ir.Load(array, start, checked=False, loc=loc)) for array in arrays)
    returned = [ir.Var(target, loc=loc), *more]
    values = (
        Number(v, t.python, t.either, mixed=k in made.mixed)
        for k, (v, t) in enumerate(zip(returned, numbers, strict=False))
    )
    return _built(result, values, flat.leaves)


# ---------------------------------------------------------------- arguments


@dataclass
class _Flat:
    """The flattened arguments of a call, one per IR parameter. leaves: the values that they are made from. resized: the
    lists whose lengths the callee changes, and the array for these. functions: the nested functions among them."""

    scope: Scope
    name: str
    loc: Loc
    args: list[ir.Expr | ir.View] = field(default_factory=list)
    leaves: list[Value] = field(default_factory=list)
    resized: list[tuple[ListSlots, ir.Symbol]] = field(default_factory=list)
    functions: list[Value] = field(default_factory=list)

    def kind(self, value: Value, resized: bool = False) -> Kind:
        """The specialisation key of an argument: its type or constant. Its numbers and arrays are added to `args`."""
        match value:
            case Number():
                self._add(value.expr, value)
                return value.type
            case ArrayRef() | Tensor() if value.ndim:
                view, type_ = self._view(value)
                self._add(view, value)
                return type_
            case ListSlots() as slots:
                return self._list(slots, resized)
            case Opaque(obj=LocalFunction() as fn) if len(fn.home.calls) > 1:
                raise UnsupportedError("a function that a recursive one defines cannot be an argument", self.loc,
                                       "define it outside")  # fmt: skip
            case Opaque(obj=LocalFunction()):
                self.functions.append(value)
                return _kind_around(value, self.loc)
            case Opaque(obj=MadeGenerator() | MadeObject() | ObjectMethod()):
                raise _not_passed("a generator that a loop makes", self.loc)
            case Opaque():
                return _identity(value)
            case TupleValue() | DictValue() | MaybeNone() | ListRows():
                return with_parts(value, self.kind)
            case _:
                raise _not_passed(describe(value), self.loc)

    def _list(self, slots: ListSlots, resized: bool) -> ListKind:
        scope, loc = self.scope, self.loc
        if any(isinstance(arg, ir.View) and arg.array in slots.columns for arg in self.args):
            raise _not_passed("a list as two arguments", loc)
        may_grow = slots.room is not slots.count
        if resized and not may_grow:
            raise UnsupportedError(f"{self.name} is recursive, and changes the length of a list without a name", loc,
                                   "give the list a name first")  # fmt: skip
        for column in slots.columns:
            self._add(ir.View(column, resized=resized, loc=loc), slots)
        size: ir.Expr | ir.View = ir.Var(slots.count, loc=loc)
        if resized:
            sizes = scope.supply.fresh("sizes", ArrayType(DType.INT64, 1))
            self.resized.append((slots, sizes))
            size = _in_frame(sizes, 2, loc)
        self._add(size, slots)
        return ListKind(slots.kinds, slots.of_tuples, may_grow, resized)

    def _add(self, arg: ir.Expr | ir.View, value: Value) -> None:
        self.args.append(arg)
        self.leaves.append(value)

    def _view(self, value: ArrayRef | Tensor) -> tuple[ir.View, ArrayType]:
        scope, loc = self.scope, self.loc
        if isinstance(value, ArrayRef) and not value.index:
            kind = value.symbol.array
            return ir.View(value.symbol, loc=loc), kind if kind.is_list else replace(kind, readonly=False)
        tensor = as_tensor(scope, value, loc)
        refuse_lists([tensor], loc)
        if not tensor.view:
            copy = materialise(scope, tensor, "argument", loc).symbol
            return ir.View(copy, loc=loc), copy.array
        if tensor.unsettled or (shown := returned_view(scope, tensor, loc)) is None:
            raise UnsupportedError(f"this view of an array cannot be passed to {self.name}, which is recursive", loc,
                                   "make it a copy: x.copy()")  # fmt: skip
        later = iter(shown.later)
        numbers = [next(later).expr if n is None else integer(n, loc) for n in shown.numbers]
        array, rank = shown.array.symbol, shown.array.symbol.array.ndim
        first, shape, steps = numbers[:rank], numbers[rank : rank + shown.ndim], numbers[rank + shown.ndim :]
        # A vector of adjacent elements of a C-contiguous array is C-contiguous.
        along = [integer(int(k == rank - 1), loc) for k in range(rank)]
        in_order = array.array.layout is Layout.C and shown.ndim == 1 and steps == along
        layout = Layout.C if in_order else Layout.STRIDED
        view = ir.View(array, tuple(first), tuple(shape), tuple(steps), loc=loc)
        return view, ArrayType(array.dtype, shown.ndim, layout)


def _in_frame(array: ir.Symbol, length: int, loc: Loc) -> ir.View:
    """An array of the function's frame as an argument."""
    return ir.View(array, (integer(0, loc),), (integer(length, loc),), (integer(1, loc),), loc=loc)


def _not_passed(what: str, loc: Loc) -> UnsupportedError:
    return UnsupportedError(f"{what} cannot be passed to a recursive function", loc, "use arrays and numbers")


def _identity(value: Value) -> Kind:
    """The identity of a captured value or a Python object, as a hashable key."""
    match value:
        case Opaque(obj=MethodType() as method):
            return ("method", id(method.__self__), id(method.__func__))
        case Opaque(obj=obj):
            return ("object", obj if isinstance(obj, str | int | type(None)) else id(obj))
        case _:
            return with_parts(value, _identity)


def _captured(values: list[Value], loc: Loc) -> list[Value]:
    """Captured values, and those that the nested functions among them capture."""
    functions: list[LocalFunction] = []
    for value in values:  # which grows
        if isinstance(value, Opaque) and isinstance(fn := value.obj, LocalFunction) and fn not in functions:
            functions.append(fn)
            values += fn.around(loc).values()
    return values


def _kind_around(value: Value, loc: Loc) -> Kind:
    """The type of a captured value, as a key that is the same in every round of lowering."""
    match value:
        case Number():
            return value.type
        case ArrayRef():
            return (value.symbol.type, value.ndim)
        case Tensor():
            return (value.element.dtype, value.ndim)
        case Opaque(obj=LocalFunction() as fn):
            return ("local", fn.key)
        case Opaque(obj=MadeGenerator() | MadeObject() | ObjectMethod()):
            raise _not_passed("a generator that a loop makes", loc)
        case Opaque():
            return _identity(value)
        case TupleValue() | DictValue() | MaybeNone() | ListRows():
            return with_parts(value, lambda part: _kind_around(part, loc))
        case _:
            raise _not_passed(describe(value), loc)


def _received(scope: Scope, name: str, value: Value, kind: Kind, params: list[ir.Symbol], loc: Loc) -> Value:
    """An argument's value inside the callee, made of new parameters, which are added to `params`."""
    match kind:
        case NumberType(dtype=dtype):
            params.append(scope.supply.fresh(name, dtype))
            return Number(ir.Var(params[-1], loc=loc), kind.python, kind.either)
        case ArrayType():
            params.append(scope.supply.fresh(name, kind))
            return ArrayRef(params[-1])
        case ListKind(kinds=of_items, of_tuples=of_tuples):
            columns = tuple(scope.supply.fresh(name, ArrayType(dtype, 1)) for dtype in column_types(of_items))
            count = scope.supply.fresh(f"{name}_n", DType.INT64)
            room = scope.supply.fresh(f"{name}_room", DType.INT64) if kind.may_grow else count
            sizes = scope.supply.fresh(f"{name}_sizes", ArrayType(DType.INT64, 1)) if kind.resized else count
            params += [*columns, sizes]
            return ListSlots(columns, of_items, of_tuples, count, room)
        case TupleValue() | DictValue() | MaybeNone() | ListRows():
            kinds = enumerate(parts_of(kind))

            def part(inner: Value) -> Value:
                number, own = next(kinds)
                return _received(scope, f"{name}_{number}", inner, own, params, loc)

            return with_parts(value, part)
        case _:
            return value


# ---------------------------------------------------------------- the callee


def _make(
    scope: Scope, made: Made, called: Called, arguments: Mapping[str, Value], kinds: Sequence[Kind], loc: Loc
) -> None:
    """Lowers the callee, and records its result type and the parameters that it stores into."""
    params: list[ir.Symbol] = []
    values = {
        name: _received(scope, name, value, kind, params, loc)
        for (name, value), kind in zip(arguments.items(), kinds, strict=True)
    }
    lists = {name: value for name, value in values.items() if isinstance(value, ListSlots)}
    own_names = names_of_lists(scope, arguments)
    statements, value, inner = scope.lowering.callee(scope, called, values, frozenset(params), own_names, loc)
    _refuse(statements, is_large=called.key in scope.callees.known.inlining.outlined)
    statements = with_sizes(scope, called.key, lists, params, statements, loc)
    shape = _shape(value, params, called.name, inner.result.loc if inner.result is not None else loc)
    numbers = numbers_of(value)
    made.mixed = frozenset(number for number, value in enumerate(numbers) if value.mixed)
    arrays = [scope.supply.fresh(f"result_{k}", ArrayType(n.type.dtype, 1)) for k, n in enumerate(numbers)][
        1:
    ]
    start = (integer(0, loc),)
    stores = (
        ir.Store(array, start, n.expr, checked=False, loc=loc)
        for array, n in zip(arrays, numbers[1:], strict=True)
    )
    first = numbers[0] if numbers else Number(const(0, DType.INT64, loc), python=True)
    made.function = ir.Function(
        made.name,
        (*params, *arrays),
        (*statements, *stores),
        (ir.Result(first.expr, first.python, loc=loc),),
        tree=0,
        loc=inner.loc(inner.source.ast),
    )
    written = arrays_written(statements)
    own = {n.array for n in walk(statements) if isinstance(n, ir.Alloc)}
    made.stored = frozenset((written | {array for array, _ in inner.memory.stores}) - own - {*params})
    if inner.result is not None or inner.live:
        scope.callees.learn(
            made.key, shape, frozenset(number for number, symbol in enumerate(params) if symbol in written)
        )


def _refuse(statements: Sequence[ir.Stmt], *, is_large: bool) -> None:
    """Raises UnsupportedError for what a callee does not do. is_large: it need not be called, and only inlined code
    has guards in front of all stores."""
    for node in walk(statements):
        asked = node.clauses if isinstance(node, ir.For) else None
        if asked is not None and asked.request in ("parallel", "simd"):
            raise UnsupportedError("a loop inside a recursive function cannot run in parallel", node.loc,
                                   "leave the pragma out")  # fmt: skip
        if isinstance(node, ir.Fail) and not is_settled(node):
            raise UnsupportedError("types change in a loop of a recursive function", node.loc,
                                   "start with numbers of the types that follow")  # fmt: skip
        if is_large and isinstance(node, ir.Fail) and node.message == DIVISION:
            raise UnsupportedError("a callee does not divide what may be Python's own number", node.loc)


def _shape(value: Value, params: Sequence[ir.Symbol], name: str, loc: Loc) -> Shape:
    """The type of a returned value. Raises UnsupportedError for values that a callee cannot return."""
    match value:
        case Number():
            return value.type
        case ArrayRef(symbol=symbol, index=()) if symbol in params:
            return params.index(symbol)
        case Opaque(obj=None) | TupleValue() | DictValue() | MaybeNone():
            return with_parts(value, lambda part: _shape(part, params, name, loc))
        case _:
            raise UnsupportedError(
                f"{name} is recursive and returns {describe(value)}, which cannot be compiled", loc,
                "return numbers, or store into an array that is an argument",
            )  # fmt: skip


def _numbers(shape: Shape) -> list[NumberType]:
    """The types of the numbers in a result type, in order."""
    return (
        [shape] if isinstance(shape, NumberType) else [t for part in parts_of(shape) for t in _numbers(part)]
    )


def _built(shape: Shape, numbers: Iterator[Number], given: Sequence[Value]) -> Value:
    """The value of a result type, built from these numbers. given: the values of the parameters."""
    match shape:
        case NumberType():
            return next(numbers)
        case int(number):
            return given[number]
        case _:
            return with_parts(shape, lambda part: _built(part, numbers, given))
