"""Mathematical functions of the C library: prototypes, and which of them `headers/math.h` replaces."""

from __future__ import annotations

ONE_TOO_FAR = ("sin", "cos")
"""Functions whose form for vectors comes out a digit above 1 now and then, where sqrt(1 - x * x) is NaN."""

IN_LANES = '__attribute__((simd("notinbranch"), const))'
"""The library has the function for vectors too. To clang this means nothing; it knows by itself."""

POWERS: dict[complex, str] = {
    3: "pow_3",
    4: "pow_4",
    -2: "pow_minus_2",
    1.5: "pow_3_halves",
    -0.5: "pow_minus_half",
    -1.5: "pow_minus_3_halves",
}
"""Exponents for which a product, a quotient or a root is as good as the library's function."""

_UNARY_MATH = """
    fabs sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh
    asinh acosh atanh floor ceil trunc rint erf erfc tgamma lgamma
"""
_BINARY_MATH = "pow fmod atan2 hypot copysign"
_COMPLEX_MATH = "cexp clog csin ccos csqrt"

PROTOTYPES: dict[str, str] = {
    **{name: f"extern R {name}F(R);" for name in _UNARY_MATH.split()},
    **{name: f"extern R {name}F(R, R);" for name in _BINARY_MATH.split()},
    **{name: f"extern T {name}F(T);" for name in _COMPLEX_MATH.split()},
    "cabs": "extern R cabsF(T);",
    "cpow": "extern T cpowF(T, T);",
}
