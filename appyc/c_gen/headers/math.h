// Replacements for some mathematical functions of the C library.

// pow(x, 0.5) is not sqrt(x) for -0.0 and -inf.
//: pow_half_D <- sqrt
static inline T pow_half_D(const T a) {
    return a == -__builtin_inf() ? (T)__builtin_inf() : sqrtF(a) + 0;
}

// The library's function takes one number at a time. Squares of what is very large or very small leave the
// range, and are taken of its multiple by a power of two; an infinite part outweighs a NaN.
//: csize_D
static inline R csize_D(const T a) {
    const double re = __builtin_fabs(__real__ a), im = __builtin_fabs(__imag__ a);
    const double larger = re > im ? re : im;
    const double scale = larger > 0x1p500 ? 0x1p-600 : larger < 0x1p-500 ? 0x1p600 : 1;
    const double back = larger > 0x1p500 ? 0x1p600 : larger < 0x1p-500 ? 0x1p-600 : 1;
    const double size = __builtin_sqrt(re * scale * (re * scale) + im * scale * (im * scale)) * back;
    return re == __builtin_inf() || im == __builtin_inf() ? (R)__builtin_inf() : (R)size;
}

// Two factors, since the whole may overflow where its product with a cosine does not. An angle that is no
// number, or infinite, does not count beside an infinite length. What is chosen between are arguments:
// a compiler would move calls whose results are chosen between into branches, and out of lanes.
//: cexp__D <- exp cos sin
static inline T cexp__D(const T a) {
    const R re = __real__ a, im = __imag__ a, infinity = (R)__builtin_inf();
    const bool turns = __builtin_fabs(im) < infinity;
    const R cosine = cosF((!turns & (__builtin_fabs(re) == infinity)) ? (R)0 : im);
    const R sine = sinF((!turns & (re == -infinity)) ? (R)0 : im);
    const R root = expF(re * (R)0.5), other = im == 0 ? (R)1 : root;
    return __builtin_complex(root * cosine * root, other * sine * other);
}

// Small powers by hand: a digit apart from pow(x, n), with the same infinities, zeros and NaN. The quotients
// are taken in order, since a product of divisors would overflow where the result does not.
//: pow_3_D
static inline T pow_3_D(const T a) { return a * a * a; }

//: pow_4_D
static inline T pow_4_D(const T a) { return (a * a) * (a * a); }

//: pow_minus_2_D
static inline T pow_minus_2_D(const T a) { return (T)1 / a / a; }

//: pow_3_halves_D <- sqrt
static inline T pow_3_halves_D(const T a) {
    return a == -__builtin_inf() ? (T)__builtin_inf() : a * sqrtF(a);
}

//: pow_minus_half_D <- sqrt
static inline T pow_minus_half_D(const T a) {
    return a == -__builtin_inf() ? (T)0 : (T)1 / (sqrtF(a) + 0);
}

//: pow_minus_3_halves_D <- sqrt
static inline T pow_minus_3_halves_D(const T a) {
    return a == -__builtin_inf() ? (T)0 : (T)1 / a / sqrtF(a);
}

//: bounded_sin_D <- sin
static inline T bounded_sin_D(const T a) {
    const T value = sinF(a);
    return value > 1 ? (T)1 : value < -1 ? (T)-1 : value;
}

//: bounded_cos_D <- cos
static inline T bounded_cos_D(const T a) {
    const T value = cosF(a);
    return value > 1 ? (T)1 : value < -1 ? (T)-1 : value;
}

// C's own complex products and quotients test for NaN; these are NumPy's.
//: cmul_D
static inline T cmul_D(const T a, const T b) {
    return __builtin_complex(__real__ a * __real__ b - __imag__ a * __imag__ b,
                             __real__ a * __imag__ b + __imag__ a * __real__ b);
}

//: cdiv_D <- fabs
static inline T cdiv_D(const T a, const T b) {
    const R ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
    if (fabsF(br) >= fabsF(bi)) {
        if (br == 0 && bi == 0) return __builtin_complex(ar / fabsF(br), ai / fabsF(br));
        const R ratio = bi / br, scale = (R)1 / (br + bi * ratio);
        return __builtin_complex((ar + ai * ratio) * scale, (ai - ar * ratio) * scale);
    }
    const R ratio = br / bi, scale = (R)1 / (bi + br * ratio);
    return __builtin_complex((ar * ratio + ai) * scale, (ai * ratio - ar) * scale);
}

//: csquare_D <- cmul
static inline T csquare_D(const T a) { return cmul_D(a, a); }

//: cpow__D <- cmul cdiv cpow
/* NumPy multiplies for small integer exponents. */
static inline T cpow__D(const T a, const T b) {
    const R real = __real__ b;
    const T one = __builtin_complex((R)1, (R)0);
    if (real == 0 && __imag__ b == 0) return one;
    if (a == 0) {
        if (real > 0) return __builtin_complex((R)0, (R)0);
        return __builtin_complex((R)__builtin_nan(""), (R)__builtin_nan(""));
    }
    if (__imag__ b != 0 || !(real > -100 && real < 100) || real != (R)(int)real) return cpowF(a, b);
    T result = one, square = a;
    for (int n = (int)(real < 0 ? -real : real); n > 0; n >>= 1) {
        if (n & 1) result = cmul_D(result, square);
        square = cmul_D(square, square);
    }
    return real < 0 ? cdiv_D(one, result) : result;
}
