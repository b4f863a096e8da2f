// Checks of indices and integers, bounds of loops, casts.

// The cold path of every check. The first fault of all threads is the one that is kept; true for that.
//: raise_fault
static __attribute__((noinline, cold)) bool raise_fault(
    int64_t *fault, const int64_t site, const int64_t value, const int64_t extent) {
    int64_t none = -1;
    const bool first = __atomic_compare_exchange_n(&fault[0], &none, site, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if (first) {
        fault[1] = value;
        fault[2] = extent;
    }
    return first;
}

//: add_checked <- raise_fault
static inline int64_t add_checked(const int64_t a, const int64_t b, const int64_t site, int64_t *fault, bool *failed) {
    int64_t result;
    if (__builtin_expect(__builtin_add_overflow(a, b, &result), 0)) {
        *failed = true;
        raise_fault(fault, site, 0, 0);
    }
    return result;
}

//: sub_checked <- raise_fault
static inline int64_t sub_checked(const int64_t a, const int64_t b, const int64_t site, int64_t *fault, bool *failed) {
    int64_t result;
    if (__builtin_expect(__builtin_sub_overflow(a, b, &result), 0)) {
        *failed = true;
        raise_fault(fault, site, 0, 0);
    }
    return result;
}

//: mul_checked <- raise_fault
static inline int64_t mul_checked(const int64_t a, const int64_t b, const int64_t site, int64_t *fault, bool *failed) {
    int64_t result;
    if (__builtin_expect(__builtin_mul_overflow(a, b, &result), 0)) {
        *failed = true;
        raise_fault(fault, site, 0, 0);
    }
    return result;
}

//: shift_checked <- raise_fault
static inline int64_t shift_checked(const int64_t a, const int64_t b, const int64_t site, int64_t *fault, bool *failed) {
    int64_t result;
    if (__builtin_expect((result = b > 62 ? 0 : a << (b < 0 ? 0 : b), a && (b > 62 || result >> (b < 0 ? 0 : b) != a)), 0)) {
        *failed = true;
        raise_fault(fault, site, 0, 0);
    }
    return result;
}

//: power_checked <- mul_checked
static int64_t power_checked(int64_t a, int64_t b, const int64_t site, int64_t *fault, bool *failed) {
    int64_t result = 1;
    if (a >= -1 && a <= 1) b = b > 1 ? 2 - (b & 1) : b;
    for (; b > 0 && !*failed; b -= 1) result = mul_checked(result, a, site, fault, failed);
    return result;
}

//: at <- raise_fault
/* An index that may count from the end, normalised; -1, and a fault, where it is out of range. */
static inline int64_t at(const int64_t index, const int64_t extent, const int64_t site, int64_t *fault, bool *failed) {
    const int64_t position = index < 0 ? index + extent : index;
    if (__builtin_expect((uint64_t)position < (uint64_t)extent, 1)) return position;
    *failed = true;
    raise_fault(fault, site, index, extent);
    return -1;
}

//: trip_count
static inline __attribute__((always_inline)) int64_t trip_count(const int64_t lo, const int64_t hi, const int64_t step) {
    if (step > 0) return hi > lo ? (int64_t)(((uint64_t)hi - (uint64_t)lo - 1) / (uint64_t)step) + 1 : 0;
    return lo > hi ? (int64_t)(((uint64_t)lo - (uint64_t)hi - 1) / (0 - (uint64_t)step)) + 1 : 0;
}

//: to_uint64
static inline uint64_t to_uint64(const double x) {
    return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

//: larger
static inline int64_t larger(const int64_t a, const int64_t b) { return a > b ? a : b; }

//: smaller
static inline int64_t smaller(const int64_t a, const int64_t b) { return a < b ? a : b; }

//: piece_start
/* Where piece number `piece` of `pieces` starts; the pieces' lengths differ by at most one. */
static inline int64_t piece_start(const int64_t trips, const int64_t piece, const int64_t pieces) {
    const int64_t rest = trips % pieces;
    return trips / pieces * piece + (piece < rest ? piece : rest);
}

//: bits_to_double
static inline double bits_to_double(const int64_t bits) {
    return (union { int64_t bits; double value; }){.bits = bits}.value;
}

//: bits_to_float
static inline float bits_to_float(const int64_t bits) {
    return (union { int32_t bits; float value; }){.bits = (int32_t)bits}.value;
}

//: double_to_bits
static inline int64_t double_to_bits(const double value) {
    return (union { double value; int64_t bits; }){.value = value}.bits;
}

//: float_to_bits
static inline int64_t float_to_bits(const float value) {
    return (uint32_t)(union { float value; int32_t bits; }){.value = value}.bits;
}

// A float16 is kept as its bits: its own type is not in every compiler, and gcc 12 makes wrong vectors of it.
//: float_of_half <- bits_to_float
static inline float float_of_half(const uint16_t half) {
    const uint32_t body = (uint32_t)(half & 0x7fffU) << 13;
    const uint32_t scaled = body + (body < 0x0f800000U ? 0x38000000U : 0x70000000U);
    const float subnormal = bits_to_float((int64_t)(body + 0x38800000U)) - 0x1p-14f;
    const float size = body < 0x00800000U ? subnormal : bits_to_float((int64_t)scaled);
    return (half & 0x8000U) ? -size : size;
}

//: half_of_float <- bits_to_float float_to_bits
static inline uint16_t half_of_float(const float value) {
    const uint32_t bits = (uint32_t)float_to_bits(value), size = bits & 0x7fffffffU;
    const uint32_t normal = (size + 0xc8000fffU + ((size >> 13) & 1U)) >> 13;  // rounded to even
    const uint32_t subnormal = (uint32_t)float_to_bits(bits_to_float((int64_t)size) + 0.5f) - 0x3f000000U;
    const uint32_t finite = size < 0x38800000U ? subnormal : normal;
    const uint32_t half = size < 0x477ff000U ? finite : size > 0x7f800000U ? 0x7e00U : 0x7c00U;
    return (uint16_t)(half | ((bits >> 16) & 0x8000U));
}

// By way of a float that is rounded to odd, so that rounding it again is as rounding once.
//: half_of_double <- half_of_float bits_to_float float_to_bits
static inline uint16_t half_of_double(const double value) {
    const float near = (float)value;
    const bool is_farther = __builtin_fabs((double)near) > __builtin_fabs(value);
    const uint32_t bits = (uint32_t)float_to_bits(near);
    return half_of_float((double)near == value || value != value ? near
                         : bits_to_float((int64_t)((bits - is_farther) | 1U)));
}
