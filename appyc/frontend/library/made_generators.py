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

import numpy as np

from appyc.errors import CompileError, LibraryCallError, Loc
from appyc.frontend.access import AccessPath
from appyc.frontend.control.comprehensions import collected
from appyc.frontend.desugar.comprehension_loops import items_of
from appyc.frontend.expressions import arithmetic, expressions
from appyc.frontend.expressions.inlining import bind, called_with
from appyc.frontend.scope import Scope
from appyc.frontend.syntax.tree import is_list, tuple_in_place
from appyc.frontend.types.made_values import MadeGenerator, made_generator
from appyc.frontend.types.value_parts import numbers_of, parts_of
from appyc.frontend.types.values import Number, Opaque, TupleValue, Value
from appyc.ir.nodes import Assign, Symbol, Var
from appyc.ir.types import DType
from appyc.library import bit_generators

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
    one = made_generator(next(iter(given.values()), Opaque(None)))
    if kind == "of" or (kind == "default" and one is not None):
        return Opaque(replace(one, draws=True)) if one is not None else None
    values = [given.get(name, Opaque(None)) for name in ("seed", "key", "counter")]
    bits = _made(scope, "philox" if kind == "philox" else "pcg64", "made", values, loc)
    return Opaque(replace(bits, draws=kind == "default"))


def looked_at(scope: Scope, node: ast.expr) -> Value:
    """The value of an argument of which only the items are read: a tuple for a list, a vector for a range."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        return collected(scope, items_of(node, "item"))
    return expressions.lower_or_none(scope, tuple_in_place(node) if is_list(node) else node)


def lower_bits_method(scope: Scope, node: ast.Call, bits: MadeGenerator, name: str, loc: Loc) -> Value:
    """`bits.jumped(n)` of a Philox bit generator."""
    if bits.name != "philox" or name != "jumped" or node.keywords or len(node.args) > 1:
        raise LibraryCallError(f"the method {name!r} of a bit generator that a loop makes cannot be compiled", loc,
                               "jumped of a Philox can")  # fmt: skip
    jumps = expressions.lower_operands(scope, node.args) or [arithmetic.python_number(1, loc)]
    state = [TupleValue(_numbers(part, loc)) for part in (bits.fixed, bits.changing)]
    return Opaque(_made(scope, bits.name, name, [*state, *jumps], loc))


def _made(scope: Scope, name: str, how: str, values: Sequence[Value], loc: Loc) -> MadeGenerator:
    """A bit generator whose state a function of `library/bit_generators.py` gives."""
    try:
        state = of_text(scope, f"{name}_{how}", values, loc)
    except CompileError as error:
        raise LibraryCallError(
            f"a generator made of this cannot be compiled here: {error.summary}", loc,
            "make it of integers, Philox(key=k, counter=i) or default_rng([seed, i]), or in front of the loop",
        ) from None  # fmt: skip
    fixed, changing, half = (
        tuple(scope.temp(f"{name}_{k}", n.expr).symbol for k, n in enumerate(numbers_of(part)))
        for part in parts_of(state)
    )
    return MadeGenerator(name, fixed, changing, half)


def next_of(scope: Scope, bits: MadeGenerator, name: str, loc: Loc) -> Value | None:
    """The value of `next_word` or another primitive of `bit_generators` for this generator; None for other
    names."""
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
    value, changed = parts_of(of_text(scope, name, arguments, loc))
    assert isinstance(value, Number)
    pairs = zip(state, numbers_of(changed), strict=True)
    kept = [scope.temp(symbol.name, item.expr) for symbol, item in pairs]
    value = Number(scope.temp("drawn", value.expr), value.python)
    for symbol, new in zip(state, kept, strict=True):
        scope.emit(Assign(symbol, new, loc=loc))
    return value


def of_text(scope: Scope, name: str, values: Sequence[Value], loc: Loc) -> Value:
    """The result of a function of `library/bit_generators.py`."""
    return called_with(scope, getattr(bit_generators, name), values, loc, trusted=False)


def _numbers(symbols: tuple[Symbol, ...], loc: Loc) -> tuple[Number, ...]:
    return tuple(Number(Var(s, loc=loc), python=s.dtype is not DType.UINT64) for s in symbols)
