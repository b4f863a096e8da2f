// Random numbers: the draws that are written out, and wrappers of NumPy's distributions.
//
// A `struct generator` is NumPy's `bitgen_t` (numpy/random/bitgen.h), or the state of a `random.Random`.

//: generator
struct generator {
    void *state;
    uint64_t (*next_uint64)(void *);
    uint32_t (*next_uint32)(void *);
    double (*next_double)(void *);
    uint64_t (*next_raw)(void *);
};

//: random_standard_uniform <- generator
static inline double random_standard_uniform(struct generator *const bits) {
    return bits->next_double(bits->state);
}

//: random_standard_normal <- generator
/* The library's normal numbers. Nearly all of them are a 52-bit number times a width, by one of 256 rows of the
   ziggurat, and a sign, which is no branch here: processors cannot foresee it. What the library does for a row
   is asked of it when this code is loaded; all other numbers the library draws, from the same bits. */
extern double random_standard_normal_of_library(struct generator *) __asm__("random_standard_normal");
static double normal_width[256];
static uint64_t normal_below[256];
struct normal_probe { struct generator *from; uint64_t first; int words, doubles; };
static uint64_t normal_word(void *const state) {
    struct normal_probe *const probe = state;
    if (probe->words++ == 0) return probe->first;
    return probe->from ? probe->from->next_uint64(probe->from->state) : 2;
}
static double normal_double(void *const state) {
    struct normal_probe *const probe = state;
    probe->doubles += 1;
    return probe->from ? probe->from->next_double(probe->from->state) : 0.5;
}
static __attribute__((noinline)) double normal_by_library(struct normal_probe *const probe) {
    return random_standard_normal_of_library(&(struct generator){probe, normal_word, 0, normal_double, normal_word});
}
static bool normal_is_sure(const uint64_t word, double *const number) {
    struct normal_probe probe = {0, word, 0, 0};
    *number = normal_by_library(&probe);
    return probe.words == 1 && probe.doubles == 0;
}
static inline double normal_of(const uint64_t word) {
    const double size = (double)(int64_t)(word >> 9 & 0xfffffffffffffu) * normal_width[word & 255];
    return (union { int64_t bits; double value; }){
        .bits = (union { double value; int64_t bits; }){.value = size}.bits ^ (int64_t)((word & 256) << 55)
    }.value;
}
static __attribute__((constructor)) void normal_prepare(void) {
    double number, widths[256];
    uint64_t below[256], word = 1;
    for (uint64_t row = 0; row < 256; row += 1) {
        uint64_t least = 0, most = (uint64_t)1 << 52;
        while (least < most) {
            const uint64_t half = (least + most) / 2;
            if (normal_is_sure(row | half << 9, &number)) least = half + 1;
            else most = half;
        }
        below[row] = least;
        widths[row] = least > 1 && normal_is_sure(row | 1 << 9, &number) ? number : 0.0;
        normal_width[row] = widths[row];
    }
    for (int i = 0; i < 4096; i += 1) {
        word = word * 6364136223846793005u + 1442695040888963407u;
        const uint64_t mixed = word ^ word >> 29;
        const bool is_below = (mixed >> 9 & 0xfffffffffffffu) < below[mixed & 255];
        if (normal_is_sure(mixed, &number) != is_below || (is_below && number != normal_of(mixed))) return;
    }
    for (int row = 0; row < 256; row += 1) normal_below[row] = below[row];
}
static double random_standard_normal(struct generator *) __asm__("appyc_standard_normal"); /* not the library's */
static inline double random_standard_normal(struct generator *const bits) {
    const uint64_t word = bits->next_uint64(bits->state);
    if (__builtin_expect((word >> 9 & 0xfffffffffffffu) < normal_below[word & 255], 1)) return normal_of(word);
    struct normal_probe rest = {bits, word, 0, 0};
    return normal_by_library(&rest);
}

//: random_normal <- random_standard_normal
static inline double random_normal(struct generator *const bits, const double loc, const double scale) {
    return loc + scale * random_standard_normal(bits);
}

//: random_uniform <- generator
static inline double random_uniform(struct generator *const bits, const double low, const double width) {
    return low + width * bits->next_double(bits->state);
}

//: random_bounded_uint64_fill <- generator
extern void random_bounded_uint64_fill(
    struct generator *, uint64_t, uint64_t, int64_t, bool, uint64_t *
);

//: bounded <- random_bounded_uint64_fill
static inline uint64_t bounded(struct generator *const bits, const uint64_t greatest) {
    uint64_t out;
    random_bounded_uint64_fill(bits, 0, greatest, 1, false, &out);
    return out;
}

//: binomial <- generator
extern int64_t random_binomial(struct generator *, double, int64_t, int64_t *);
static inline int64_t binomial(struct generator *const bits, const double p, const int64_t n) {
    static _Thread_local int64_t prepared[64]; /* a binomial_t, empty at first: what depends on n and p alone */
    return random_binomial(bits, p, n, prepared);
}

//: standard_uniform_float32 <- generator
extern float random_standard_uniform_f(struct generator *);
static inline float standard_uniform_float32(struct generator *const bits) {
    return random_standard_uniform_f(bits);
}

//: standard_normal_float32 <- generator
extern float random_standard_normal_f(struct generator *);
static inline float standard_normal_float32(struct generator *const bits) {
    return random_standard_normal_f(bits);
}

//: standard_exponential_float32 <- generator
extern float random_standard_exponential_f(struct generator *);
static inline float standard_exponential_float32(struct generator *const bits) {
    return random_standard_exponential_f(bits);
}

//: python_word <- generator
/* 32 bits of a random.Random: MT19937, its position and then its 624 words. */
static inline uint32_t python_twisted(const uint32_t word, const uint32_t next, const uint32_t far) {
    const uint32_t joined = (word & 0x80000000u) | (next & 0x7fffffffu);
    return far ^ joined >> 1 ^ (-(joined & 1) & 0x9908b0dfu);
}
static __attribute__((noinline)) void python_refill(uint32_t *const words) {
    for (int i = 0; i < 227; i += 1) words[i] = python_twisted(words[i], words[i + 1], words[i + 397]);
    for (int i = 227; i < 623; i += 1) words[i] = python_twisted(words[i], words[i + 1], words[i - 227]);
    words[623] = python_twisted(words[623], words[0], words[396]);
}
static inline uint32_t python_tempered(uint32_t word) {
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680u;
    word ^= word << 15 & 0xefc60000u;
    return word ^ word >> 18;
}
static inline uint32_t python_word(struct generator *const random) {
    uint32_t *const state = (uint32_t *)random;
    if (__builtin_expect(state[0] >= 624, 0)) {
        python_refill(state + 1);
        state[0] = 0;
    }
    return python_tempered(state[1 + state[0]++]);
}

//: python_random <- python_word
static inline double python_random(struct generator *const random) {
    const uint32_t high = python_word(random) >> 5, low = python_word(random) >> 6;
    return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
}

//: python_bits <- python_word
/* random.getrandbits(count) for 1 to 64 bits. */
static inline uint64_t python_bits(struct generator *const random, const int64_t count) {
    const uint64_t low = python_word(random);
    if (count <= 32) return low >> (32 - count);
    return low | (uint64_t)(python_word(random) >> (64 - count)) << 32;
}

//: python_below <- python_bits
/* A number below n, all of them as likely: the first of as many bits as n has that is. */
static inline uint64_t python_below(struct generator *const random, const uint64_t n) {
    const int64_t bits = 64 - __builtin_clzll(n);
    uint64_t out = python_bits(random, bits);
    while (out >= n) out = python_bits(random, bits);
    return out;
}
