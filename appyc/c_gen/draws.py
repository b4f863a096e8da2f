"""C text for drawing numbers: prototypes of NumPy's distributions, and what is written out beside them.

A `struct generator` is NumPy's `bitgen_t` (numpy/random/bitgen.h), or the state of a `random.Random`.
"""

from __future__ import annotations

from appyc.c_gen.scalars import c_type
from appyc.ir.draws import LIBRARY, DrawInfo

_GENERATOR = """struct generator {
    void *state;
    uint64_t (*next_uint64)(void *);
    uint32_t (*next_uint32)(void *);
    double (*next_double)(void *);
    uint64_t (*next_raw)(void *);
};"""


def _prototype(name: str, info: DrawInfo) -> str:
    parameters = ", ".join(("struct generator *", *map(c_type, info.arguments)))
    return f"extern {c_type(info.result)} {name}({parameters});"


_PYTHON_BITS = """/* 32 bits of a random.Random: MT19937, its position and then its 624 words. */
static __attribute__((noinline)) void python_refill(uint32_t *const words) {
    for (int i = 0; i < 624; i += 1) {
        const int next = i + 1 < 624 ? i + 1 : 0, far = i + 397 < 624 ? i + 397 : i - 227;
        const uint32_t joined = (words[i] & 0x80000000u) | (words[next] & 0x7fffffffu);
        words[i] = words[far] ^ joined >> 1 ^ (joined & 1 ? 0x9908b0dfu : 0);
    }
}
static inline uint32_t python_word(struct generator *const random) {
    uint32_t *const state = (uint32_t *)random;
    if (__builtin_expect(state[0] >= 624, 0)) {
        python_refill(state + 1);
        state[0] = 0;
    }
    uint32_t word = state[1 + state[0]++];
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680u;
    word ^= word << 15 & 0xefc60000u;
    return word ^ word >> 18;
}"""

HELPERS: dict[str, tuple[tuple[str, ...], str]] = {
    "generator": ((), _GENERATOR),
    **{name: (("generator",), _prototype(name, info)) for name, info in LIBRARY.items()},
    "random_standard_uniform": (
        ("generator",),
        """static inline double random_standard_uniform(struct generator *const bits) {
    return bits->next_double(bits->state);
}""",
    ),
    "random_bounded_uint64_fill": (
        ("generator",),
        """extern void random_bounded_uint64_fill(
    struct generator *, uint64_t, uint64_t, int64_t, bool, uint64_t *
);""",
    ),
    **{
        name: (
            ("random_bounded_uint64_fill",),
            f"""static inline uint64_t {name}(struct generator *const bits, const uint64_t greatest) {{
    uint64_t out;
    random_bounded_uint64_fill(bits, 0, greatest, 1, {masked}, &out);
    return out;
}}""",
        )
        for name, masked in (("bounded", "false"), ("bounded_masked", "true"))
    },
    "binomial": (
        ("generator",),
        """extern int64_t random_binomial(struct generator *, double, int64_t, int64_t *);
static inline int64_t binomial(struct generator *const bits, const double p, const int64_t n) {
    static _Thread_local int64_t prepared[64]; /* a binomial_t, empty at first: what depends on n and p alone */
    return random_binomial(bits, p, n, prepared);
}""",
    ),
    **{
        f"standard_{name}_float32": (
            ("generator",),
            f"""extern float random_standard_{name}_f(struct generator *);
static inline float standard_{name}_float32(struct generator *const bits) {{
    return random_standard_{name}_f(bits);
}}""",
        )
        for name in ("uniform", "normal", "exponential")
    },
    "python_word": (("generator",), _PYTHON_BITS),
    "python_random": (
        ("python_word",),
        """static inline double python_random(struct generator *const random) {
    const uint32_t high = python_word(random) >> 5, low = python_word(random) >> 6;
    return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
}""",
    ),
    "python_bits": (
        ("python_word",),
        """/* random.getrandbits(count) for 1 to 64 bits. */
static inline uint64_t python_bits(struct generator *const random, const int64_t count) {
    const uint64_t low = python_word(random);
    if (count <= 32) return low >> (32 - count);
    return low | (uint64_t)(python_word(random) >> (64 - count)) << 32;
}""",
    ),
}
