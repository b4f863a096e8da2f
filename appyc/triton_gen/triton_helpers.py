"""The Triton run-time helpers of generated kernels.

They use builtins of `triton.language` alone. Its library functions (`tl.sum`, `tl.zeros`)
are jitted when Triton is imported, for the compiler or for the interpreter but not for both;
the same text has to run in both within one process.
"""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import indent

from appyc.ir.abi import FAULT_SLOTS


def _extreme(which: str, sign: str) -> str:
    """In double precision, which has no instruction for it, Triton's own takes four times the instructions."""
    return f"""
if a.dtype == tl.float64:
    return tl.where((a {sign} b) | (a != a), a, b)
else:
    return tl.{which}(a, b, propagate_nan=tl.PropagateNan.ALL)
"""


def _quotient(a: str, b: str) -> str:
    return f"({a} / {b} if a.dtype == tl.float64 else tl.div_rn({a}, {b}))"


_INVERSE = f"inverse = {_quotient('tl.full((), 1, a.dtype)', 'a')}\n"


def _root_power(whole: str, at_infinity: str) -> str:
    """A power that is `whole`, but for minus infinity, of which there is no root."""
    return f"""
root = tl.sqrt(a) if a.dtype == tl.float64 else tl.sqrt_rn(a)
return tl.where(a == float("-inf"), tl.full((), {at_infinity}, a.dtype), {whole})
"""


_BODIES = {
    "combine_add(a, b)": "return a + b",
    "combine_mul(a, b)": "return a * b",
    "combine_and(a, b)": "return a & b",
    "combine_or(a, b)": "return a | b",
    "combine_xor(a, b)": "return a ^ b",
    "combine_min(a, b)": "return tl.where(b < a, b, a)",
    "combine_max(a, b)": "return tl.where(b > a, b, a)",
    "combine_minimum(a, b)": _extreme("minimum", "<"),
    "combine_maximum(a, b)": _extreme("maximum", ">"),
    "combine_linear(factor, value, factor_2, value_2)": (
        "return factor_2 * factor, factor_2 * value + value_2"
    ),
    "any_lane(x)": "return tl.reduce(x.to(tl.int32), None, combine_or) != 0",
    "record_fault(words, site, bad, value, extent)": f"""
nothing = bad.to(tl.int64) * 0
slot = words + ({FAULT_SLOTS} * site + nothing)
earlier = tl.atomic_add(slot, nothing + 1, mask=bad, sem="relaxed")
first = bad & (earlier == 0)
tl.store(slot + 1, value + nothing, mask=first)
tl.store(slot + 2, extent + nothing, mask=first)
return first
""",
    "record_word(words, at, first, value)": """
nothing = first.to(tl.int64) * 0
tl.store(words + (at + nothing), value + nothing, mask=first)
""",
    "floor_divide_signed(a, b)": """
special = (b == 0) | (b == -1)
divisor = tl.where(special, b * 0 + 1, b)
quotient = a // divisor
rest = a - quotient * divisor
down = (rest != 0) & ((rest < 0) != (divisor < 0))
floored = tl.where(down, quotient - 1, quotient)
return tl.where(b == 0, a * 0, tl.where(b == -1, a * 0 - a, floored))
""",
    "floor_modulo_signed(a, b)": """
special = (b == 0) | (b == -1)
divisor = tl.where(special, b * 0 + 1, b)
rest = a - (a // divisor) * divisor
wrapped = tl.where((rest != 0) & ((rest < 0) != (divisor < 0)), rest + divisor, rest)
return tl.where(special, a * 0, wrapped)
""",
    "floor_divide_unsigned(a, b)": """
divisor = tl.where(b == 0, b * 0 + 1, b)
return tl.where(b == 0, a * 0, a // divisor)
""",
    "floor_modulo_unsigned(a, b)": """
divisor = tl.where(b == 0, b * 0 + 1, b)
return tl.where(b == 0, a * 0, a - (a // divisor) * divisor)
""",
    "floor_modulo_float(a, b)": """
rest = libdevice.fmod(a, b)
wrapped = tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
return tl.where(wrapped == 0, libdevice.copysign(wrapped, b), wrapped)
""",
    "floor_divide_float(a, b)": f"""
rest = libdevice.fmod(a, b)
whole = a - rest
quotient = {_quotient("whole", "b")}
lowered = tl.where((rest != 0) & ((rest < 0) != (b < 0)), quotient - 1, quotient)
below = tl.floor(lowered)
rounded = tl.where(lowered - below > tl.full((), 0.5, a.dtype), below + 1, below)
exact = {_quotient("a", "b")}
return tl.where(b == 0, exact, tl.where(lowered != 0, rounded, libdevice.copysign(lowered * 0, exact)))
""",
    "integer_power(base, exponent)": """
result = base * 0 + 1
factor = base
left = tl.where(exponent > 0, exponent, exponent * 0)
for _ in range(64):
    result = tl.where((left & 1) != 0, result * factor, result)
    factor = factor * factor
    left = left >> 1
negative = tl.where(base == 1, base * 0 + 1, base * 0)
return tl.where(exponent < 0, negative, result)
""",
    "power_1(a)": "return a",
    "power_2(a)": "return a * a",
    "power_3(a)": "return a * a * a",
    "power_4(a)": "return (a * a) * (a * a)",
    "power_half(a)": _root_power("root + 0", 'float("inf")'),
    "power_3_halves(a)": _root_power("a * root", 'float("inf")'),
    "power_minus_1(a)": f"{_INVERSE}return inverse",
    "power_minus_2(a)": f"{_INVERSE}return {_quotient('inverse', 'a')}",
    "power_minus_half(a)": _root_power(_quotient("tl.full((), 1, a.dtype)", "(root + 0)"), "0"),
    "power_minus_3_halves(a)": _INVERSE + _root_power(_quotient("inverse", "root"), "0").lstrip(),
    "sign_of(x)": """
one = tl.full((), 1, x.dtype)
return tl.where(x > 0, one, tl.where(x < 0, tl.full((), -1, x.dtype), x))
""",
    "sign_of_unsigned(x)": "return tl.where(x > 0, tl.full((), 1, x.dtype), x)",
    "to_uint64(x)": "return tl.where(x < 0, x.to(tl.int64).to(tl.uint64), x.to(tl.uint64))",
    "shift_left(x, by, bits: tl.constexpr)": """
inside = (by >= 0) & (by < bits)
return tl.where(inside, x << tl.where(inside, by, by * 0), x * 0)
""",
    "shift_right(x, by, bits: tl.constexpr)": """
inside = (by >= 0) & (by < bits)
moved = x >> tl.where(inside, by, by * 0)
return tl.where(inside, moved, tl.where(x < 0, x * 0 - 1, x * 0))
""",
    "shift_right_unsigned(x, by, bits: tl.constexpr)": """
inside = by < bits
return tl.where(inside, x >> tl.where(inside, by, by * 0), x * 0)
""",
}
"""The body of each helper, by its head."""

POWERS = {
    1: "power_1", 2: "power_2", 3: "power_3", 4: "power_4", 0.5: "power_half", 1.5: "power_3_halves",
    -1: "power_minus_1", -2: "power_minus_2", -0.5: "power_minus_half", -1.5: "power_minus_3_halves",
}  # fmt: skip
"""The helper for an exponent of which products, quotients and roots are as good as the library's function."""

COMBINE = {
    "+": "combine_add", "*": "combine_mul", "min": "combine_min", "max": "combine_max",
    "minimum": "combine_minimum", "maximum": "combine_maximum",
    "&": "combine_and", "|": "combine_or", "^": "combine_xor", "and": "combine_and", "or": "combine_or",
    "linear": "combine_linear",
}  # fmt: skip
"""The helper that combines two values of a reduction, or two steps of a scan."""

_TEXTS = {
    head.partition("(")[0]: f"@triton.jit\ndef {head}:\n{indent(body.strip(), '    ')}\n"
    for head, body in _BODIES.items()
}

HELPER_NAMES = frozenset(_TEXTS)


def helper_text(used: Iterable[str]) -> str:
    """The text of the helpers, those that they call first."""
    names = sorted(used)
    needed = ["combine_or"] if "any_lane" in names else []
    return "\n\n".join(_TEXTS[name] for name in dict.fromkeys([*needed, *names]))
