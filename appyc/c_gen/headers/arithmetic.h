// Operators and builtins of Python and NumPy that C has not, or has with another meaning.

// Python's builtins, which keep the left side when a NaN is on either.
//: min_D
static inline __attribute__((always_inline)) T min_D(const T a, const T b) { return b < a ? b : a; }

//: max_D
static inline __attribute__((always_inline)) T max_D(const T a, const T b) { return b > a ? b : a; }

// NumPy's: a NaN on either side is the result. Two choices in a row: of one choice with an `||` in it, gcc makes
// jumps where one is inside the other, as in a clip, and no lanes. The first is one instruction, which keeps `a`
// where that is a NaN; the second asks about `b` alone. In a reduction, where `a` is what has been found so far,
// a step has to wait for no more than these two, and of a constant `b` the second is left out.
//: maximum_D
static inline T maximum_D(const T a, const T b) {
    const T larger = b > a ? b : a;
    return b != b ? b : larger;
}

//: minimum_D
static inline T minimum_D(const T a, const T b) { return b < a ? b : a; }

// Asked in other words: where a minimum and a maximum of the same numbers ask the same, gcc puts the conditions
// together, outside of vectors, which takes five times as long.
//: minimum_of_float_D
static inline T minimum_D(const T a, const T b) {
    const T smaller = b < a ? b : a;
    return __builtin_isnan(b) ? b : smaller;
}

//: square_D
static inline T square_D(const T a) { return (T)(a * a); }

//: iabs_D
static inline T iabs_D(const T a) { return (T)(a < 0 ? -a : a); }

//: sign_D
static inline T sign_D(const T a) { return a > 0 ? (T)1 : a < 0 ? (T)-1 : a == 0 ? (T)0 : a; }

// Whether both fit into unsigned numbers of 32 bits, which processors divide in about half of the time of 64 bits.
// Constants are multiplied by their reciprocals, for which a condition takes longer than the division.
//: are_short_D
static inline bool are_short_D(const T a, const T b) {
    return sizeof(T) == 8 && !__builtin_constant_p(b) && ((uint64_t)a | (uint64_t)b) >> 32 == 0;
}

// Whether neither is negative, which needs no correction behind the division.
//: are_natural_D
static inline bool are_natural_D(const T a, const T b) {
    return sizeof(T) == 8 && !__builtin_constant_p(b) && ((int64_t)a | (int64_t)b) >= 0;
}

// As in Python and NumPy: rounded down; 0 where the divisor is 0; the smallest number by -1 wraps.
//: floordiv_i_D <- are_short are_natural
static inline T floordiv_i_D(const T a, const T b) {
    if (b == 0) return 0;
    if (are_short_D(a, b)) return (T)((uint32_t)a / (uint32_t)b);
    if (are_natural_D(a, b)) return (T)((U)a / (U)b);
    if (b == -1) return (T)(0 - (U)a);
    const T sign = (T)(a >> (BITS - 1));
    return b > 0 ? (T)((T)(a ^ sign) / b ^ sign) : (T)(a / b - (a % b > 0));
}

//: mod_i_D <- are_short are_natural
static inline T mod_i_D(const T a, const T b) {
    if (b == 0) return 0;
    if (are_short_D(a, b)) return (T)((uint32_t)a % (uint32_t)b);
    if (are_natural_D(a, b)) return (T)((U)a % (U)b);
    if (b == -1) return 0;
    const T rest = (T)(a % b);
    return (T)(rest + (b > 0 ? rest >> (BITS - 1) & b : rest > 0 ? b : 0));
}

// In lanes, where no operation waits for the one before: by the number's sign there are no branches, and floats, which
// hold integers of up to half of their width exactly, are divided in vectors.
//: floordiv_lanes_D
static inline T floordiv_lanes_D(const T a, const T b) {
#if BITS < 64
    typedef __typeof__(__builtin_choose_expr(BITS == 32, (double)0, (float)0)) real;
    const bool turns = (b == 0) | (b == -1);
    const real quotient = __builtin_floor((real)a / (real)b);
    return turns ? (T)(b & (T)(0 - (U)a)) : (T)(int32_t)(turns ? 0 : quotient);
#else
    if (b <= 0) return b == 0 ? 0 : b == -1 ? (T)(0 - (U)a) : (T)(a / b - (a % b > 0));
    const T sign = a >> 63;
    const U size = (U)(a ^ sign);
    const bool is_short = (size | (U)b) >> 32 == 0;
    return (T)(is_short ? (uint32_t)size / (uint32_t)b : size / (U)b) ^ sign;
#endif
}

//: mod_lanes_D <- floordiv_lanes
static inline T mod_lanes_D(const T a, const T b) {
    return b == 0 ? 0 : (T)((U)a - (U)floordiv_lanes_D(a, b) * (U)b);
}

//: floordiv_u_D <- are_short
static inline T floordiv_u_D(const T a, const T b) {
    if (b == 0) return 0;
    return are_short_D(a, b) ? (T)((uint32_t)a / (uint32_t)b) : (T)(a / b);
}

//: mod_u_D <- are_short
static inline T mod_u_D(const T a, const T b) {
    if (b == 0) return 0;
    return are_short_D(a, b) ? (T)((uint32_t)a % (uint32_t)b) : (T)(a % b);
}

//: floordiv_f_D <- fmod floor copysign
static inline T floordiv_f_D(const T a, const T b) {
    if (b == 0) return a / b;
    const T rest = fmodF(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return copysignF(0, a / b);
    const T below = floorF(quotient);
    return quotient - below > (T)0.5 ? below + 1 : below;
}

//: mod_f_D <- fmod copysign
static inline T mod_f_D(const T a, const T b) {
    const T rest = fmodF(a, b);
    if (b == 0) return rest;
    if (rest == 0) return copysignF(0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}

//: divisor_D <- raise_fault
static inline T divisor_D(const T b, const int64_t site, int64_t *fault, bool *failed) {
    if (__builtin_expect(b != 0, 1)) return b;
    *failed = true;
    raise_fault(fault, site, 0, 0);
    return 1;
}

//: exponent_D <- raise_fault
static inline T exponent_D(const T n, const int64_t site, int64_t *fault, bool *failed) {
    if (__builtin_expect(n >= 0, 1)) return n;
    *failed = true;
    raise_fault(fault, site, (int64_t)n, 0);
    return 0;
}

//: ipow_D
static inline T ipow_D(const T base, T n) {
    uint64_t result = 1, square = (uint64_t)base;
    for (; n > 0; n >>= 1) {
        if (n & 1) result *= square;
        square *= square;
    }
    return (T)result;
}

//: shl_D
static inline T shl_D(const T a, const T n) { return (U)n < BITS ? (T)((U)a << (U)n) : (T)0; }

//: shr_i_D
static inline T shr_i_D(const T a, const T n) { return (T)(a >> ((U)n < BITS ? (U)n : BITS - 1)); }

//: shr_u_D
static inline T shr_u_D(const T a, const T n) { return n < BITS ? (T)(a >> n) : (T)0; }

//: vector_bytes
#if defined(__AVX512F__) && !defined(short_vectors)
#define has_masks
enum { vector_bytes = 64 };
#elif defined(__AVX__)
enum { vector_bytes = 32 };
#else
enum { vector_bytes = 16 };
#endif

// As wide as the machine's registers, or as what the C compiler's own vectors store.
//: vector_D <- vector_bytes
typedef T vector_D __attribute__((vector_size(vector_bytes), aligned(BYTES), may_alias));

// Its first `count` elements from memory, zeros in the others.
//: vector_part_D <- vector
static inline vector_D vector_part_D(const T *const from, const int64_t count) {
#if defined(has_masks) && BITS == 64
    return __builtin_ia32_loadupd512_mask((const void *)from, (vector_D){0}, (uint8_t)((1u << count) - 1));
#elif defined(has_masks)
    return __builtin_ia32_loadups512_mask((const void *)from, (vector_D){0}, (uint16_t)((1u << count) - 1));
#elif defined(__AVX__) && BITS == 64
    typedef int64_t index __attribute__((vector_size(32)));
    return __builtin_ia32_maskloadpd256((const void *)from, (index){0, 1, 2, 3} < count);
#elif defined(__AVX__)
    typedef int32_t index __attribute__((vector_size(32)));
    return __builtin_ia32_maskloadps256((const void *)from, (index){0, 1, 2, 3, 4, 5, 6, 7} < (int32_t)count);
#else
    enum { width = sizeof(vector_D) / sizeof(T) };
    if (count >= width) return *(const vector_D *)from;
    vector_D out = {0};
    for (int i = 0; i < width; i += 1) {
        if (i < count) out[i] = from[i];
    }
    return out;
#endif
}

// Stores its first `count` elements.
//: vector_part_store_D <- vector
static inline void vector_part_store_D(T *const to, const int64_t count, const vector_D lanes) {
#if defined(has_masks) && BITS == 64
    __builtin_ia32_storeupd512_mask((void *)to, lanes, (uint8_t)((1u << count) - 1));
#elif defined(has_masks)
    __builtin_ia32_storeups512_mask((void *)to, lanes, (uint16_t)((1u << count) - 1));
#elif defined(__AVX__) && BITS == 64
    typedef int64_t index __attribute__((vector_size(32)));
    __builtin_ia32_maskstorepd256((void *)to, (index){0, 1, 2, 3} < count, lanes);
#elif defined(__AVX__)
    typedef int32_t index __attribute__((vector_size(32)));
    __builtin_ia32_maskstoreps256((void *)to, (index){0, 1, 2, 3, 4, 5, 6, 7} < (int32_t)count, lanes);
#else
    enum { width = sizeof(vector_D) / sizeof(T) };
    for (int i = 0; i < width; i += 1) {
        if (i < count) to[i] = lanes[i];
    }
#endif
}

// Its elements in descending order: one permutation, which gcc makes of the loop with `-ftree-slp-vectorize` only.
//: vector_reversed_D <- vector
static inline vector_D vector_reversed_D(const vector_D lanes) {
    enum { width = sizeof(vector_D) / sizeof(T) };
#ifdef __clang__
    vector_D out;
    for (int i = 0; i < width; i += 1) out[i] = lanes[width - 1 - i];
    return out;
#else
    typedef __typeof__(__builtin_choose_expr(sizeof(T) == 8, (int64_t)0, (int32_t)0)) index;
    index order __attribute__((vector_size(vector_bytes)));
    for (int i = 0; i < width; i += 1) order[i] = width - 1 - i;
    return __builtin_shuffle(lanes, order);
#endif
}

// The horizontal sum of a vector, half by half: halves of registers first, for which gcc takes elements apart otherwise.
//: vector_sum_D <- vector
static inline T vector_sum_D(const vector_D lanes) {
    enum { width = sizeof(vector_D) / sizeof(T), rest = width > 2 ? width / 4 : 1 };
    typedef T half_vector __attribute__((vector_size(sizeof(vector_D) / 2)));
    typedef T quarter_vector __attribute__((vector_size(rest * sizeof(T))));
    const union {
        vector_D whole;
        half_vector half[2];
    } both = {lanes};
    const union {
        half_vector whole;
        quarter_vector quarter[2];
    } sums = {both.half[0] + both.half[1]};
    if (width == 2) return sums.whole[0];
    const quarter_vector last = sums.quarter[0] + sums.quarter[1];
    T part[rest];
    for (int i = 0; i < rest; i += 1) part[i] = last[i];
    for (int half = rest / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i += 1) part[i] += part[i + half];
    }
    return part[0];
}

// Its first `count` elements, and -0.0, which changes no sum, in the others.
//: vector_only_D <- vector
static inline vector_D vector_only_D(const vector_D lanes, const int64_t count) {
    typedef __typeof__(__builtin_choose_expr(sizeof(T) == 8, (int64_t)0, (int32_t)0)) word;
    typedef word words __attribute__((vector_size(vector_bytes), aligned(BYTES), may_alias));
    enum { width = sizeof(vector_D) / sizeof(T) };
    static const word taken[2 * width] = {[0 ... width - 1] = -1};
    const words mask = *(const words *)(taken + width - count);
    return (vector_D)(((words)lanes & mask) | ((words)(-(vector_D){0}) & ~mask));
}

// The sum of its first `count` elements.
//: vector_part_sum_D <- vector_sum vector_only
static inline T vector_part_sum_D(const vector_D lanes, const int64_t count) {
    return vector_sum_D(vector_only_D(lanes, count));
}
