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
    "sqrt": IntrinsicInfo(1, "np.sqrt"),
    "cbrt": IntrinsicInfo(1, "np.cbrt", "f"),
    "exp": IntrinsicInfo(1, "np.exp"),
    "exp2": IntrinsicInfo(1, "np.exp2", "f"),
    "expm1": IntrinsicInfo(1, "np.expm1", "f"),
    "log": IntrinsicInfo(1, "np.log"),
    "log2": IntrinsicInfo(1, "np.log2", "f"),
    "log10": IntrinsicInfo(1, "np.log10", "f"),
    "log1p": IntrinsicInfo(1, "np.log1p", "f"),
    "sin": IntrinsicInfo(1, "np.sin"),
    "cos": IntrinsicInfo(1, "np.cos"),
    "tan": IntrinsicInfo(1, "np.tan", "f"),
    "asin": IntrinsicInfo(1, "np.arcsin", "f"),
    "acos": IntrinsicInfo(1, "np.arccos", "f"),
    "atan": IntrinsicInfo(1, "np.arctan", "f"),
    "sinh": IntrinsicInfo(1, "np.sinh", "f"),
    "cosh": IntrinsicInfo(1, "np.cosh", "f"),
    "tanh": IntrinsicInfo(1, "np.tanh", "f"),
    "asinh": IntrinsicInfo(1, "np.arcsinh", "f"),
    "acosh": IntrinsicInfo(1, "np.arccosh", "f"),
    "atanh": IntrinsicInfo(1, "np.arctanh", "f"),
    "floor": IntrinsicInfo(1, "np.floor", "f"),
    "ceil": IntrinsicInfo(1, "np.ceil", "f"),
    "trunc": IntrinsicInfo(1, "np.trunc", "f"),
    "rint": IntrinsicInfo(1, "np.rint", "f"),  # half to even
    "isnan": IntrinsicInfo(1, "np.isnan", "f", "bool"),
    "isinf": IntrinsicInfo(1, "np.isinf", "f", "bool"),
    "isfinite": IntrinsicInfo(1, "np.isfinite", "f", "bool"),
    "erf": IntrinsicInfo(1, "math.erf", "f"),
    "erfc": IntrinsicInfo(1, "math.erfc", "f"),
    "tgamma": IntrinsicInfo(1, "math.gamma", "f"),
    "lgamma": IntrinsicInfo(1, "math.lgamma", "f"),
    "real": IntrinsicInfo(1, "np.real", "c", "part"),
    "imag": IntrinsicInfo(1, "np.imag", "c", "part"),
    "conj": IntrinsicInfo(1, "np.conj", "c"),
    "complex": IntrinsicInfo(2, "complex", "f", "complex"),  # two parts to one number
    "atan2": IntrinsicInfo(2, "np.arctan2", "f"),
    "hypot": IntrinsicInfo(2, "np.hypot", "f"),
    "copysign": IntrinsicInfo(2, "np.copysign", "f"),
    "fmod": IntrinsicInfo(2, "np.fmod", "f"),
    "float_bits": IntrinsicInfo(1, "float_bits", "f", "int64"),  # the word in memory
    "mulhi": IntrinsicInfo(2, "high_product", "u"),  # the upper half of a product of 64 bits by 64
}

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
