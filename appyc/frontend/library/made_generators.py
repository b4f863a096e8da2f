"""Generators of random numbers that compiled code makes for itself, one for each iteration.

    for i in appyc.prange(n):
        rng = np.random.Generator(np.random.Philox(key=seed, counter=i))

Its state is in variables, and what it does is the text of `bit_generators.py`, inlined: no other iteration
sees them, so the iterations are as free as any others.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from dataclasses import replace
from types import FunctionType

import numpy as np

from appyc.errors import LibraryCallError, Loc
from appyc.frontend.access import AccessPath
from appyc.frontend.control.comprehensions import collected
from appyc.frontend.desugar.building import located
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.expressions.inlining import bind, inlined
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import is_list, tuple_in_place
from appyc.frontend.types.generators import MadeGenerator, made
from appyc.frontend.types.values import Number, Opaque, TupleValue, Value, describe
from appyc.ir.nodes import Assign, Expr, Symbol, Var
from appyc.ir.types import DType
from appyc.library import bit_generators

_U64 = DType.UINT64


_MAKERS: dict[object, str] = {
    np.random.Philox: "philox", np.random.PCG64: "pcg64", np.random.default_rng: "default", np.random.Generator: "of",
}  # fmt: skip


def lower_maker(scope: Scope, node: ast.Call, callee: object, loc: Loc) -> Value | None:
    """A generator, or a bit generator, that is made inside a loop; None for other calls."""
    kind = _MAKERS.get(callee)
    if kind is None or not (scope.loops or scope.is_inlined):
        return None
    name, signature = ast.unparse(node.func), inspect.signature(callee)  # type: ignore[arg-type]
    given = bind(scope, node, name, signature, None, loc, looked_at)
    given = {n: v for n, v in given.items() if not (isinstance(v, Opaque) and v.obj is None)}
    one = made(next(iter(given.values()), Opaque(None)))
    if kind == "of" or (kind == "default" and one is not None):
        return Opaque(replace(one, draws=True)) if one is not None else None
    if len(given) == 0:
        raise _refused("no seed", loc)
    bits = _philox(scope, given, loc) if kind == "philox" else _pcg64(scope, *given.values(), loc=loc)
    return Opaque(replace(bits, draws=kind == "default"))


def looked_at(scope: Scope, node: ast.expr) -> Value:
    """The value of an argument of which only the items are read: a tuple for a list, a vector for a range."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        over = ast.comprehension(ast.Name("item", ast.Store()), node, [], 0)
        return collected(scope, located(ast.ListComp(ast.Name("item", ast.Load()), [over]), node))
    return expressions.lower_or_none(scope, tuple_in_place(node) if is_list(node) else node)


def lower_bits_method(scope: Scope, node: ast.Call, bits: MadeGenerator, name: str, loc: Loc) -> Value:
    """`bits.jumped(n)` of a Philox bit generator."""
    if bits.name != "philox" or name != "jumped" or node.keywords or len(node.args) > 1:
        raise LibraryCallError(f"the method {name!r} of a bit generator that a loop makes cannot be compiled", loc,
                               hints=("jumped of a Philox can",))  # fmt: skip
    values = expressions.lower_operands(scope, node.args) or [arithmetic.python_number(1, loc)]
    jumps = _word(scope, values[0], "checked_jumps", loc)
    changing = TupleValue(_numbers(bits.changing, loc))
    counter = _inlined(scope, "philox_jumped", [changing, jumps], loc)
    return Opaque(_new(scope, "philox", _variables(bits.fixed, loc), _counting(counter, loc), loc))


def next_of(scope: Scope, bits: MadeGenerator, name: str, loc: Loc) -> Value | None:
    """What `bit_generators.next_word` and the other names of that file stand for; None for what it has not."""
    if name == "next_word":
        arguments: list[Value] = [TupleValue(_numbers(part, loc)) for part in (bits.fixed, bits.changing)]
        return _advanced(scope, f"{bits.name}_next", arguments, bits.changing, loc)
    if name == "next_half":
        has_half, half = _numbers(bits.half, loc)
        arguments = [Opaque(bits), has_half, half]
        return _advanced(scope, "take_half", arguments, bits.half, loc)
    if name in _ROWS:
        path = AccessPath((("module", "appyc.library.ziggurat"), ("attr", _ROWS[name])))
        from appyc.library import ziggurat  # noqa: PLC0415  (it asks NumPy for thousands of numbers)

        return scope.names.environment.capture(path, getattr(ziggurat, _ROWS[name]), loc)
    return None


_ROWS = {"normal_rows": "NORMAL", "exponential_rows": "EXPONENTIAL"}


def _advanced(
    scope: Scope, name: str, arguments: Sequence[Value], state: tuple[Symbol, ...], loc: Loc
) -> Value:
    """The first item of a function's result; the items of the second are the new state."""
    value, changed = _inlined(scope, name, arguments, loc).items
    assert isinstance(value, Number)
    assert isinstance(changed, TupleValue)
    kept = [scope.temp(symbol.name, _expr(item)) for symbol, item in zip(state, changed.items, strict=True)]
    value = Number(scope.temp("drawn", value.expr), value.python)
    for symbol, new in zip(state, kept, strict=True):
        scope.emit(Assign(symbol, new, loc=loc))
    return value


def _philox(scope: Scope, given: dict[str, Value], loc: Loc) -> MadeGenerator:
    counter = _words(scope, given, "counter", 4, loc)
    if "key" in given:
        if "seed" in given:
            raise _refused("a seed and a key", loc)
        key = _words(scope, given, "key", 2, loc)
    elif "seed" in given:
        key = [
            _expr(v) for v in _inlined(scope, "philox_seeded", [_seeds(scope, given["seed"], loc)], loc).items
        ]
    else:
        raise _refused("no seed and no key", loc)
    return _new(
        scope, "philox", key, _counting(TupleValue(tuple(Number(c, python=False) for c in counter)), loc), loc
    )


def _counting(counter: TupleValue, loc: Loc) -> list[Expr]:
    """The changing part of a Philox's state that has drawn nothing since its counter was set."""
    zero = arithmetic.const(0, _U64, loc)
    return [*map(_expr, counter.items), zero, zero, zero, zero, arithmetic.const(4, DType.INT64, loc)]


def _pcg64(scope: Scope, seed: Value, *, loc: Loc) -> MadeGenerator:
    words = _inlined(scope, "pcg64_seeded", [_seeds(scope, seed, loc)], loc).items
    return _new(scope, "pcg64", [_expr(v) for v in words[:2]], [_expr(v) for v in words[2:]], loc)


def _new(scope: Scope, name: str, fixed: list[Expr], changing: list[Expr], loc: Loc) -> MadeGenerator:
    half: list[Expr] = [arithmetic.const(False, DType.BOOL, loc), arithmetic.const(0, _U64, loc)]
    first, then, waiting = (
        tuple(scope.temp(f"{name}_{k}", value).symbol for k, value in enumerate(values))
        for values in (fixed, changing, half)
    )
    return MadeGenerator(name, first, then, waiting)


def _seeds(scope: Scope, seed: Value, loc: Loc) -> TupleValue:
    items = seed.items if isinstance(seed, TupleValue) else (seed,)
    if not 1 <= len(items) <= 2:
        raise _refused("more than two seeds", loc)
    return TupleValue(tuple(_word(scope, item, "checked_seed", loc) for item in items))


def _words(scope: Scope, given: dict[str, Value], name: str, count: int, loc: Loc) -> list[Expr]:
    """A key or a counter: an integer, or one for each word."""
    zero = arithmetic.const(0, _U64, loc)
    value = given.get(name)
    if value is None:
        return [zero] * count
    if isinstance(value, TupleValue):
        if len(value.items) != count:
            raise _refused(f"a {name} of {len(value.items)} words, where it has {count},", loc)
        numbers = [_integer(item, loc) for item in value.items]
        if len({n.type.dtype for n in numbers}) > 1:
            raise _refused(f"a {name} of integers of several types", loc)
        return [arithmetic.cast(n.expr, _U64) for n in numbers]
    check = f"checked_{name}"
    return [_word(scope, value, check, loc).expr, *[zero] * (count - 1)]


def _word(scope: Scope, value: Value, check: str, loc: Loc) -> Number:
    """An integer that is not negative."""
    number = _integer(value, loc)
    if number.type.dtype.kind == "i":
        number = expressions.number(of_text(scope, check, [number], loc), loc)
    return Number(arithmetic.cast(number.expr, _U64), python=False)


def _integer(value: Value, loc: Loc) -> Number:
    if not isinstance(value, Number) or not value.type.dtype.is_integer:
        raise _refused(describe(value), loc)
    return value


def of_text(scope: Scope, name: str, values: Sequence[Value], loc: Loc) -> Value:
    """The result of a function of `library/bit_generators.py`."""
    fn: FunctionType = getattr(bit_generators, name)
    return inlined(scope, fn, dict(zip(inspect.signature(fn).parameters, values, strict=True)), loc)


def _inlined(scope: Scope, name: str, values: Sequence[Value], loc: Loc) -> TupleValue:
    out = of_text(scope, name, values, loc)
    assert isinstance(out, TupleValue)
    return out


def _expr(value: Value) -> Expr:
    assert isinstance(value, Number)
    return value.expr


def _numbers(symbols: tuple[Symbol, ...], loc: Loc) -> tuple[Number, ...]:
    return tuple(Number(Var(s, loc=loc), python=s.dtype is not _U64) for s in symbols)


def _variables(symbols: tuple[Symbol, ...], loc: Loc) -> list[Expr]:
    return [Var(s, loc=loc) for s in symbols]


def _refused(what: str, loc: Loc) -> LibraryCallError:
    return LibraryCallError(
        f"a generator made of {what} cannot be compiled here", loc,
        hints=("make it of integers, Philox(key=k, counter=i) or default_rng([seed, i]), or in front of the loop",),
    )  # fmt: skip
