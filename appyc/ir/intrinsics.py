"""The functions of scalars that the IR knows, with what they mean.

One table: the front end maps NumPy's, math's and Python's names to these, the printer and
the generators map them to their target. Arguments have one float (or, where marked,
integer or complex) type, and so has the result unless the table says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IntrinsicInfo:
    """arity: number of arguments. kinds: element kinds accepted (as DType.kind).

    result: "same" (the arguments' type), "bool", "int64", or "part" (a complex argument's parts).
    numpy: the printer's spelling, a NumPy function with the same value.
    """

    arity: int
    numpy: str
    kinds: str = "fc"
    result: str = "same"


INTRINSICS: dict[str, IntrinsicInfo] = {
    "abs": IntrinsicInfo(1, "np.abs", "iufc", "part"),
    "sign": IntrinsicInfo(1, "np.sign", "iuf"),
    **{name: IntrinsicInfo(1, f"np.{name}") for name in ("sqrt", "exp", "log", "sin", "cos")},
    **{name: IntrinsicInfo(1, f"np.{name}", "f") for name in (
        "cbrt", "exp2", "expm1", "log2", "log10", "log1p", "tan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc",
        "rint",  # half to even
    )},
    **{f"a{name}": IntrinsicInfo(1, f"np.arc{name}", "f") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: IntrinsicInfo(1, f"np.{name}", "f", "bool") for name in ("isnan", "isinf", "isfinite")},
    "erf": IntrinsicInfo(1, "math.erf", "f"),
    "erfc": IntrinsicInfo(1, "math.erfc", "f"),
    "tgamma": IntrinsicInfo(1, "math.gamma", "f"),
    "lgamma": IntrinsicInfo(1, "math.lgamma", "f"),
    "real": IntrinsicInfo(1, "np.real", "c", "part"),
    "imag": IntrinsicInfo(1, "np.imag", "c", "part"),
    "conj": IntrinsicInfo(1, "np.conj", "c"),
    "complex": IntrinsicInfo(2, "complex", "f", "complex"),  # two parts to one number
    "atan2": IntrinsicInfo(2, "np.arctan2", "f"),
    **{name: IntrinsicInfo(2, f"np.{name}", "f") for name in ("hypot", "copysign", "fmod")},
    "float_bits": IntrinsicInfo(1, "float_bits", "f", "int64"),  # the word in memory
    "mulhi": IntrinsicInfo(2, "high_product", "u"),  # the upper half of a product of 64 bits by 64
}  # fmt: skip

VECTOR_FUNCTIONS: dict[str, int] = {
    **dict.fromkeys(
        ("exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
         "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc"), 1,
    ),
    "atan2": 2,
    "hypot": 2,
    "pow": 2,
}  # fmt: skip
"""Functions that libraries for vectors compute within 4 ulp, by their number of
arguments: those that still give the exact values which programs count on. log10 of a power of ten and
cbrt of a cube, say, may come out beside the integer, which floor() would then make another one."""
