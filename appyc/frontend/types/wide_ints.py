"""Python ints beyond 63 bits: random generators and hashes, which are cut to 64 bits at each step.

    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    h = (h ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF

A Python int from 0 to 2**64 - 1 is held in uint64. What may be outside that range is known by its last 64 bits only
(`Wide`): sums, products, shifts to the left and bitwise operations of such need no more, and a mask or a modulus of
2**k, k up to 64, makes a number of it again. A constant of more bits is an `Opaque` int.
"""

from __future__ import annotations

from appyc.errors import Loc, UnsupportedError
from appyc.frontend.expressions import arithmetic
from appyc.frontend.expressions.arithmetic import cast, const, python_number
from appyc.frontend.types.numbers import holds
from appyc.frontend.types.values import Number, Opaque, Value, Wide
from appyc.ir.integers import limits, range_of
from appyc.ir.nodes import Binary, Expr, Unary
from appyc.ir.types import DType


class LargeIntError(UnsupportedError):
    """An operation on a Python int that is known by its last 64 bits only, and needs the others."""


_MOST_BITS = 4096
"""The most bits of a Python int constant that is computed at compile time."""

_SIGNED = limits(DType.INT64)[1]


def literal(value: bool | int | float | complex, loc: Loc) -> Number | Opaque:
    """A number that is written in the program, or one of its constants."""
    if isinstance(value, int) and not (holds(DType.INT64, value) or holds(DType.UINT64, value)):
        return Opaque(value)
    return python_number(value, loc)


def wide_operation(symbol: str, a: Value, b: Value, loc: Loc) -> Value | None:
    """`a op b`, where one of them or the result is a Python int beyond 63 bits; None of others."""
    x, y = known_int(a), known_int(b)
    if x is not None and y is not None and (value := _computed(symbol, x, y)) is not None:
        return None if holds(DType.INT64, value) else literal(value, loc)
    if isinstance(a, Opaque) or isinstance(b, Opaque):
        floats = [v.type.dtype.kind in "fc" for v in (a, b) if isinstance(v, Number)]
        if symbol == "/" or any(floats):
            sides = [_as_float(v, loc) for v in (a, b)]
            return arithmetic.binary(symbol, sides[0], sides[1], loc) if None not in sides else None  # type: ignore[arg-type]
    if not (_is_int(a) and _is_int(b)) or not (_is_wide(a) or _is_wide(b)) or symbol == "/":
        return None
    return _operation(symbol, a, b, loc)


def wide_sign(symbol: str, a: Value, loc: Loc) -> Value | None:
    """`-a` and `~a` of such an int; None of others."""
    value = known_int(a)
    if value is not None:
        signed = -value if symbol == "-" else ~value
        if not (holds(DType.INT64, value) and holds(DType.INT64, signed)):
            return literal(signed, loc)
    return Wide(Unary(symbol, _bits(a, loc), loc=loc)) if _is_int(a) and _is_wide(a) else None


def known_int(value: Value) -> int | None:
    """The Python int that a value is known to be."""
    found = value.obj if isinstance(value, Opaque) else value.constant if isinstance(value, Number) else None
    is_python = isinstance(value, Opaque) or (isinstance(value, Number) and value.python)
    return found if is_python and isinstance(found, int) and not isinstance(found, bool) else None


def _computed(symbol: str, x: int, y: int) -> int | None:
    """The value of an operation on two ints, where that is an int of no more bits than are sensible."""
    bits = {"**": x.bit_length() * y, "<<": x.bit_length() + y, "*": x.bit_length() + y.bit_length()}
    if bits.get(symbol, 0) > _MOST_BITS or (symbol in ("**", "<<", ">>") and y < 0) or symbol == "/":
        return None
    if y == 0 and symbol in ("//", "%"):
        return None
    value = arithmetic.PYTHON_BINARY[symbol](x, y) if symbol in arithmetic.PYTHON_BINARY else None
    return value if isinstance(value, int) else None


def _as_float(value: Value, loc: Loc) -> Number | None:
    if not isinstance(value, Opaque):
        return value if isinstance(value, Number) else None
    known = known_int(value)
    try:
        return python_number(float(known), loc) if known is not None else None
    except OverflowError:
        return None


def _is_int(value: Value) -> bool:
    if isinstance(value, Number):
        return value.python and value.type.dtype.kind in "biu"
    return isinstance(value, Wide) or known_int(value) is not None


def _is_wide(value: Value) -> bool:
    return not isinstance(value, Number) or value.type.dtype is DType.UINT64


def _bits(value: Value, loc: Loc) -> Expr:
    """The last 64 bits of an int."""
    if isinstance(value, Number):
        return cast(value.expr, DType.UINT64)
    if isinstance(value, Wide):
        return value.bits
    known = known_int(value)
    assert known is not None, "an int is a number, wide, or known"
    return const(known % 2**64, DType.UINT64, loc)


def _largest(value: Value) -> int | None:
    """The largest value of an int that is a number from 0 on; None of others."""
    if not isinstance(value, Number):
        return None
    low, high = range_of(value.expr)
    return high if low >= 0 else None


def _number(bits: Expr, largest: int) -> Number:
    """An int whose last 64 bits are all of it."""
    return Number(cast(bits, DType.INT64) if largest <= _SIGNED else bits, python=True)


def _operation(symbol: str, a: Value, b: Value, loc: Loc) -> Value:
    most, other, modulus = _largest(a), _largest(b), known_int(b)
    if symbol == "%" and modulus is not None and 0 < modulus <= 2**64 and modulus & (modulus - 1) == 0:
        last = const(modulus - 1, DType.UINT64, loc)
        return _number(Binary("&", _bits(a, loc), last, loc=loc), modulus - 1)
    count = known_int(b) if symbol == ">>" else None
    bits = Binary(symbol, _bits(a, loc), _bits(b, loc), symbol in ("//", "%") and modulus is None, loc=loc)
    match symbol:
        case "&" if most is not None or other is not None:
            return _number(bits, min(n for n in (most, other) if n is not None))
        case "|" | "^" if most is not None and other is not None:
            return _number(bits, max(most, other))
        case "+" | "-" | "*" | "&" | "|" | "^" | "<<" if symbol != "<<" or isinstance(b, Number):
            return Wide(bits)
        case "%" if most is not None and other is not None:
            return _number(bits, min(most, other))
        case "//" if most is not None and other is not None:
            return _number(bits, most if modulus is None else most // modulus)
        case ">>" if most is not None and isinstance(b, Number):
            return _number(bits, most if count is None or count < 0 else most >> count)
        case _:
            raise LargeIntError("this may be a Python int of more than 64 bits", loc,
                                "cut it with % 2**64 or & 0xFFFFFFFFFFFFFFFF first")  # fmt: skip
