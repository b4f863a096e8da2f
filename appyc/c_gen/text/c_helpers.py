"""The C run-time helpers of generated code, instantiated by element type, and prototypes of library functions.

Each is emitted only where it is used. A name is `<operation>_<dtype>`; the text comes from
the operation's template, with T the type, U its unsigned counterpart, BITS its width, F the
suffix of math functions, R a complex type's real one, D the dtype's name.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from appyc.c_gen import draw_text
from appyc.c_gen.inspectors import PLAIN_INSPECTORS, TYPED_INSPECTORS
from appyc.c_gen.lanes import nontemporal_text
from appyc.c_gen.loops import threads_pay
from appyc.c_gen.products import library_products, own_products
from appyc.c_gen.text.c_types import TYPEDEFS, c_type, real_suffix
from appyc.c_gen.text.math_functions import IN_LANES, MATH_TEMPLATES, ONE_TOO_FAR, PROTOTYPES
from appyc.c_gen.translation_units import Definition
from appyc.ir.types import DType

_FAULT = "const int64_t site, int64_t *fault, bool *failed"

PLAIN: dict[str, tuple[tuple[str, ...], str | Definition]] = {
    **threads_pay.HELPERS,
    **nontemporal_text.HELPERS,
    **draw_text.HELPERS,
    **PLAIN_INSPECTORS,
    **library_products.PLAIN_PRODUCTS,
    **own_products.PLAIN_OWN,
    # The cold path of every check. The first fault of all threads is the one that is kept.
    "raise_fault": (
        (),
        """static __attribute__((noinline, cold)) void raise_fault(
    int64_t *fault, const int64_t site, const int64_t value, const int64_t extent) {
    int64_t none = -1;
    if (__atomic_compare_exchange_n(&fault[0], &none, site, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        fault[1] = value;
        fault[2] = extent;
    }
}""",
    ),
    **{
        f"{name}_checked": (
            ("raise_fault",),
            f"""static inline int64_t {name}_checked(const int64_t a, const int64_t b, {_FAULT}) {{
    int64_t result;
    if (__builtin_expect({wraps}, 0)) {{
        *failed = true;
        raise_fault(fault, site, 0, 0);
    }}
    return result;
}}""",
        )
        for name, wraps in (
            *((name, f"__builtin_{name}_overflow(a, b, &result)") for name in ("add", "sub", "mul")),
            # A negative shift is an error that the caller has looked for.
            (
                "shift",
                "(result = b > 62 ? 0 : a << (b < 0 ? 0 : b), a && (b > 62 || result >> (b < 0 ? 0 : b) != a))",
            ),
        )
    },
    "power_checked": (
        ("mul_checked",),
        f"""static int64_t power_checked(int64_t a, int64_t b, {_FAULT}) {{
    int64_t result = 1;
    if (a >= -1 && a <= 1) b = b > 1 ? 2 - (b & 1) : b;
    for (; b > 0 && !*failed; b -= 1) result = mul_checked(result, a, site, fault, failed);
    return result;
}}""",
    ),
    "stack_left": (
        (),
        """/* The bytes of the stack that this thread has left, but for some that functions of libraries may need. */
extern int pthread_getattr_np(__UINTPTR_TYPE__, void *);
extern int pthread_attr_getstack(const void *, void **, __SIZE_TYPE__ *);
extern int pthread_attr_destroy(void *);
extern __UINTPTR_TYPE__ pthread_self(void);
#ifdef __APPLE__
extern void *pthread_get_stackaddr_np(__UINTPTR_TYPE__);
extern __SIZE_TYPE__ pthread_get_stacksize_np(__UINTPTR_TYPE__);
#endif
static __attribute__((noinline)) int64_t stack_left(void) {
    static __thread char *lowest;
    char *const here = (char *)__builtin_frame_address(0);
    if (!lowest) {
#ifdef __APPLE__
        const __UINTPTR_TYPE__ self = pthread_self();
        lowest = (char *)pthread_get_stackaddr_np(self) - pthread_get_stacksize_np(self);
#else
        int64_t attributes[32];
        void *start = here - 262144;
        __SIZE_TYPE__ bytes;
        if (!pthread_getattr_np(pthread_self(), attributes)) {
            pthread_attr_getstack(attributes, &start, &bytes);
            pthread_attr_destroy(attributes);
        }
        lowest = (char *)start;
#endif
    }
    return here - lowest - 131072;
}""",
    ),
    "activations_left": (
        ("stack_left",),
        """/* How many functions may be called in each other, if each takes so many bytes of the stack. */
static int64_t activations_left(const int64_t limit, const int64_t bytes) {
    const int64_t room = stack_left() / bytes;
    return limit < room ? limit : room;
}""",
    ),
    "with_stack": (
        ("stack_left",),
        """/* Calls a kernel with so many bytes of stack: in a thread of its own, where this one has fewer left. */
extern int pthread_attr_init(void *);
extern int pthread_attr_setstacksize(void *, __SIZE_TYPE__);
extern int pthread_create(__UINTPTR_TYPE__ *, const void *, void *(*)(void *), void *);
extern int pthread_join(__UINTPTR_TYPE__, void **);
struct call { int32_t (*kernel)(int64_t *); int64_t *frame; int32_t status; };
static void *run_call(void *const given) {
    struct call *const call = given;
    call->status = call->kernel(call->frame);
    return 0;
}
static int32_t with_stack(int32_t (*const kernel)(int64_t *), int64_t *const frame, const int64_t bytes) {
    int64_t wanted = bytes + 262144;
    while (wanted > stack_left() && wanted > 1048576) {
        struct call call = {kernel, frame, 0};
        int64_t attributes[32];
        __UINTPTR_TYPE__ thread;
        pthread_attr_init(attributes);
        const bool failed = pthread_attr_setstacksize(attributes, (__SIZE_TYPE__)wanted)
            || pthread_create(&thread, attributes, run_call, &call);
        pthread_attr_destroy(attributes);
        if (!failed) {
            pthread_join(thread, 0);
            return call.status;
        }
        wanted /= 2;
    }
    return kernel(frame);
}""",
    ),
    "at": (
        ("raise_fault",),
        f"""/* An index that may count from the end, normalised; -1, and a fault, where it is out of range. */
static inline int64_t at(const int64_t index, const int64_t extent, {_FAULT}) {{
    const int64_t position = index < 0 ? index + extent : index;
    if (__builtin_expect((uint64_t)position < (uint64_t)extent, 1)) return position;
    *failed = true;
    raise_fault(fault, site, index, extent);
    return -1;
}}""",
    ),
    "trip_count": (
        (),
        """static inline int64_t trip_count(const int64_t lo, const int64_t hi, const int64_t step) {
    if (step > 0) return hi > lo ? (int64_t)(((uint64_t)hi - (uint64_t)lo - 1) / (uint64_t)step) + 1 : 0;
    return lo > hi ? (int64_t)(((uint64_t)lo - (uint64_t)hi - 1) / (0 - (uint64_t)step)) + 1 : 0;
}""",
    ),
    "to_uint64": (
        (),
        """static inline uint64_t to_uint64(const double x) {
    return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}""",
    ),
    "larger": (
        (),
        "static inline int64_t larger(const int64_t a, const int64_t b) { return a > b ? a : b; }",
    ),
    "smaller": (
        (),
        "static inline int64_t smaller(const int64_t a, const int64_t b) { return a < b ? a : b; }",
    ),
    "piece_start": (
        (),
        """/* Where piece number `piece` of `pieces` starts; the pieces' lengths differ by at most one. */
static inline int64_t piece_start(const int64_t trips, const int64_t piece, const int64_t pieces) {
    const int64_t rest = trips % pieces;
    return trips / pieces * piece + (piece < rest ? piece : rest);
}""",
    ),
    "memory": (
        (),
        """/* What keeps memory for the next call (runtime/_memory.h), if the loader has set it. */
const struct { void *(*take)(int64_t, bool); void (*give)(void *, int64_t); } *appyc_memory;
extern void *calloc(__SIZE_TYPE__, __SIZE_TYPE__);
extern void *aligned_alloc(__SIZE_TYPE__, __SIZE_TYPE__);
extern void free(void *);""",
    ),
    "bytes_of": (
        (),
        """/* The product of `sizes` bytes, none of them negative; -1 where that is too much. */
static int64_t bytes_of(const int64_t *sizes, const int64_t count) {
    int64_t bytes = 1;
    for (int64_t i = 0; i < count; i += 1) bytes = sizes[i] == 0 ? 0 : bytes;
    for (int64_t i = 0; i < count && bytes > 0; i += 1) {
        if (__builtin_mul_overflow(bytes, sizes[i], &bytes)) return -1;
    }
    return bytes > (int64_t)1 << 62 ? -1 : bytes;
}""",
    ),
    "allocate": (
        ("memory", "bytes_of"),
        Definition(
            "void *allocate(const int64_t *sizes, const int64_t count, const bool zero)",
            """ {
    const int64_t bytes = bytes_of(sizes, count);
    if (bytes < 0) return 0;
    if (appyc_memory) return appyc_memory->take(bytes, zero);
    if (zero) return calloc((__SIZE_TYPE__)bytes + 1, 1);
    return aligned_alloc(64, ((__SIZE_TYPE__)bytes / 64 + 1) * 64);
}""",
            comment="/* Memory of so many bytes; 0 where there is no such memory. */\n",
        ),
    ),
    "memset": ((), "extern void *memset(void *, int, __SIZE_TYPE__);"),
    "allocate_again": (
        ("bytes_of", "allocate", "release", "memset"),
        Definition(
            """void *allocate_again(
    void *const last, int64_t *const held, const int64_t *sizes, const int64_t count, const bool zero
)""",
            """ {
    const int64_t bytes = bytes_of(sizes, count);
    if (last && bytes >= 0 && bytes <= *held) return zero ? memset(last, 0, (__SIZE_TYPE__)bytes) : last;
    release(last, *held);
    *held = bytes;
    return allocate(sizes, count, zero);
}""",
            comment="/* As `allocate`; the memory of the last time, `held` bytes of it, serves again if it can. */\n",
        ),
    ),
    "release": (
        ("memory",),
        Definition(
            "void release(void *const taken, const int64_t bytes)",
            """ {
    if (appyc_memory) appyc_memory->give(taken, bytes);
    else free(taken);
}""",
            comment="/* Gives memory back of which so many bytes, or more, were asked for. */\n",
        ),
    ),
    "bits_to_double": (
        (),
        """static inline double bits_to_double(const int64_t bits) {
    return (union { int64_t bits; double value; }){.bits = bits}.value;
}""",
    ),
    "bits_to_float": (
        (),
        """static inline float bits_to_float(const int64_t bits) {
    return (union { int32_t bits; float value; }){.bits = (int32_t)bits}.value;
}""",
    ),
    "double_to_bits": (
        (),
        """static inline int64_t double_to_bits(const double value) {
    return (union { double value; int64_t bits; }){.value = value}.bits;
}""",
    ),
    "float_to_bits": (
        (),
        """static inline int64_t float_to_bits(const float value) {
    return (uint32_t)(union { float value; int32_t bits; }){.value = value}.bits;
}""",
    ),
}

TEMPLATES: dict[str, tuple[tuple[str, ...], str | Definition]] = {
    **TYPED_INSPECTORS,
    **MATH_TEMPLATES,
    **library_products.TYPED_PRODUCTS,
    **own_products.TYPED_OWN,
    # Python's builtins, which keep the left side when a NaN is on either.
    "min": ((), "static inline T min_D(const T a, const T b) { return b < a ? b : a; }"),
    "max": ((), "static inline T max_D(const T a, const T b) { return b > a ? b : a; }"),
    # NumPy's: a NaN on either side is the result. Two choices in a row: of one choice with an `||` in it, gcc makes
    # jumps where one is inside the other, as in a clip, and no lanes. The first is one instruction, which keeps `a`
    # where that is a NaN; the second asks about `b` alone. In a reduction, where `a` is what has been found so far,
    # a step has to wait for no more than these two, and of a constant `b` the second is left out.
    "maximum": (
        (),
        """static inline T maximum_D(const T a, const T b) {
    const T larger = b > a ? b : a;
    return b != b ? b : larger;
}""",
    ),
    "minimum": ((), "static inline T minimum_D(const T a, const T b) { return b < a ? b : a; }"),
    # Asked in other words: where a minimum and a maximum of the same numbers ask the same, gcc puts the conditions
    # together, outside of vectors, which takes five times as long.
    "minimum_of_float": (
        (),
        """static inline T minimum_D(const T a, const T b) {
    const T smaller = b < a ? b : a;
    return __builtin_isnan(b) ? b : smaller;
}""",
    ),
    "square": ((), "static inline T square_D(const T a) { return (T)(a * a); }"),
    "iabs": ((), "static inline T iabs_D(const T a) { return (T)(a < 0 ? -a : a); }"),
    "sign": (
        (),
        "static inline T sign_D(const T a) { return a > 0 ? (T)1 : a < 0 ? (T)-1 : a == 0 ? (T)0 : a; }",
    ),
    # As in Python and NumPy: rounded down; 0 where the divisor is 0; the smallest number by -1 wraps.
    "floordiv_i": (
        (),
        """static inline T floordiv_i_D(const T a, const T b) {
    if (b == 0) return 0;
    if (b == -1) return (T)(0 - (U)a);
    return (T)(a / b - ((a % b != 0) & ((a < 0) != (b < 0))));
}""",
    ),
    "mod_i": (
        (),
        """static inline T mod_i_D(const T a, const T b) {
    if (b == 0 || b == -1) return 0;
    const T rest = (T)(a % b);
    return (T)(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}""",
    ),
    "floordiv_u": ((), "static inline T floordiv_u_D(const T a, const T b) { return b ? (T)(a / b) : 0; }"),
    "mod_u": ((), "static inline T mod_u_D(const T a, const T b) { return b ? (T)(a % b) : 0; }"),
    "floordiv_f": (
        ("fmod", "floor", "copysign"),
        """static inline T floordiv_f_D(const T a, const T b) {
    if (b == 0) return a / b;
    const T rest = fmodF(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return copysignF(0, a / b);
    const T below = floorF(quotient);
    return quotient - below > (T)0.5 ? below + 1 : below;
}""",
    ),
    "mod_f": (
        ("fmod", "copysign"),
        """static inline T mod_f_D(const T a, const T b) {
    const T rest = fmodF(a, b);
    if (b == 0) return rest;
    if (rest == 0) return copysignF(0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}""",
    ),
    "divisor": (
        ("raise_fault",),
        f"""static inline T divisor_D(const T b, {_FAULT}) {{
    if (__builtin_expect(b != 0, 1)) return b;
    *failed = true;
    raise_fault(fault, site, 0, 0);
    return 1;
}}""",
    ),
    "exponent": (
        ("raise_fault",),
        f"""static inline T exponent_D(const T n, {_FAULT}) {{
    if (__builtin_expect(n >= 0, 1)) return n;
    *failed = true;
    raise_fault(fault, site, (int64_t)n, 0);
    return 0;
}}""",
    ),
    "ipow": (
        (),
        """static inline T ipow_D(const T base, T n) {
    uint64_t result = 1, square = (uint64_t)base;
    for (; n > 0; n >>= 1) {
        if (n & 1) result *= square;
        square *= square;
    }
    return (T)result;
}""",
    ),
    "shl": (
        (),
        "static inline T shl_D(const T a, const T n) { return (U)n < BITS ? (T)((U)a << (U)n) : (T)0; }",
    ),
    "shr_i": (
        (),
        "static inline T shr_i_D(const T a, const T n) { return (T)(a >> ((U)n < BITS ? (U)n : BITS - 1)); }",
    ),
    "shr_u": ((), "static inline T shr_u_D(const T a, const T n) { return n < BITS ? (T)(a >> n) : (T)0; }"),
}

_VECTOR_BYTES = """#if defined(__AVX512F__)
enum { vector_bytes = 64 };
#elif defined(__AVX__)
enum { vector_bytes = 32 };
#else
enum { vector_bytes = 16 };
#endif"""


_VECTOR_SUM = """static inline T vector_sum_D(const vector_D lanes) {
    enum { width = sizeof(vector_D) / sizeof(T) };
    T part[width];
    for (int i = 0; i < width; i += 1) part[i] = lanes[i];
    for (int half = width / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i += 1) part[i] += part[i + half];
    }
    return part[0];
}"""


def reserved_names() -> set[str]:
    """Every name that this module can put into a C file."""
    names = {*PLAIN, *threads_pay.NAMES, *library_products.NAMES, *own_products.NAMES}
    names |= {f"{operation}_{dtype}" for operation in TEMPLATES for dtype in DType}
    names |= {"vector_bytes"} | {
        f"{prefix}_{dtype}" for prefix in ("vector", "vector_sum") for dtype in DType
    }
    names |= {name + suffix for name in PROTOTYPES for suffix in ("", "f")}
    return names


class Helpers:
    """The functions that one C file needs, each after those that it calls."""

    def __init__(self, vector_functions: frozenset[str] = frozenset()) -> None:
        self._texts: dict[str, str | Definition] = {}
        self._needs: dict[str, tuple[str, ...]] = {}
        self._asked: dict[str, None] = {}
        """What the functions of the module call themselves."""
        self._vector_functions = vector_functions

    def plain(self, name: str) -> str:
        """Adds a helper that has no element type; returns its name."""
        return self._ask(self._plain(name))

    def typed(self, operation: str, dtype: DType) -> str:
        """Adds the helper of an operation on a type; returns its name."""
        return self._ask(self._typed(operation, dtype))

    def library(self, name: str, dtype: DType) -> str:
        """Adds the prototype of the C library's function for a type; returns its name."""
        return self._ask(self._library(name, dtype))

    def function(self, name: str, dtype: DType) -> str:
        """As `library`, for a call that may be made in lanes: there, results may need mending."""
        if name in ONE_TOO_FAR and name + real_suffix(dtype) in self._vector_functions:
            return self.typed(f"bounded_{name}", dtype)
        return self.library(name, dtype)

    def declared_reduction(self, op: str, dtype: DType) -> str:
        """Adds the declaration of an OpenMP reduction by one of our own functions; returns its name."""
        combine = self._typed(op, dtype)
        name = f"reduce_{combine}"
        text = (
            f"#pragma omp declare reduction({name} : {c_type(dtype)} : omp_out = {combine}(omp_out, omp_in)) "
            "initializer(omp_priv = omp_orig)"
        )
        return self._ask(self._add(name, text, (combine,)))

    def vector(self, dtype: DType) -> str:
        """Adds the type of a vector as wide as the machine's registers; returns its name."""
        return self._ask(self._vector(dtype))

    def vector_sum(self, dtype: DType) -> str:
        """Adds the horizontal sum of a vector, half by half; returns the function's name."""
        vector = self._vector(dtype)
        return self._ask(self._add(f"vector_sum_{dtype}", _filled(_VECTOR_SUM, dtype), (vector,)))

    def _ask(self, name: str) -> str:
        self._asked.setdefault(name)
        return name

    def _add(self, name: str, text: str | Definition, needs: tuple[str, ...] = ()) -> str:
        if name not in self._texts:
            self._texts[name] = text
            self._needs[name] = needs
        return name

    def _plain(self, name: str) -> str:
        if name not in self._texts:
            needs, text = PLAIN[name]
            self._add(name, text, tuple(self._plain(need) for need in needs))
        return name

    def _typed(self, operation: str, dtype: DType) -> str:
        name = f"{operation}_{dtype}"
        if name not in self._texts:
            special = f"{operation}_of_{'complex' if dtype.is_complex else 'float'}"
            is_special = (dtype.is_complex or dtype.is_float) and special in TEMPLATES
            needs, template = TEMPLATES[special if is_special else operation]
            found = tuple(self._need(need, dtype) for need in needs)
            text = (
                _filled(template, dtype)
                if isinstance(template, str)
                else template.filled(lambda part: _filled(part, dtype))
            )
            self._add(name, text, found)
        return name

    def _need(self, need: str, dtype: DType) -> str:
        """The helper that a template needs, for a type."""
        if need == "vector":
            return self._vector(dtype)
        if need in PLAIN:
            return self._plain(need)
        return self._typed(need, dtype) if need in TEMPLATES else self._library(need, dtype)

    def _library(self, name: str, dtype: DType) -> str:
        spelled = name + real_suffix(dtype)
        prototype = _filled(PROTOTYPES[name], dtype)
        if spelled in self._vector_functions:
            prototype = f"{IN_LANES} {prototype}"
        return self._add(spelled, prototype)

    def _vector(self, dtype: DType) -> str:
        width = self._add("vector_bytes", _VECTOR_BYTES)
        name = f"vector_{dtype}"
        attributes = f"vector_size(vector_bytes), aligned({dtype.itemsize}), may_alias"
        text = f"typedef {c_type(dtype)} {name} __attribute__(({attributes}));"
        return self._add(name, text, (width,))

    # ---- texts

    def text(self) -> str:
        """The text of all helpers, for a module of one file."""
        return "\n".join(text if isinstance(text, str) else text.static for text in self._texts.values())

    def declared(self) -> str:
        """The text of the helpers for one file of several: functions that have files of their own are only declared."""
        return self._shared(self._asked, frozenset())

    def libraries(self) -> tuple[str, ...]:
        """The files of those functions, which are the same whatever else a module needs: one for what loops in
        threads and arrays take, and one for the products of each type of element."""
        own = [name for name, text in self._texts.items() if isinstance(text, Definition)]
        plain = [name for name in own if name in PLAIN]
        out = [_support()] if plain else []
        types = [t for t in DType if any(f"{operation}_{t}" in own for operation in PRODUCTS)]
        return (*out, *map(_products_of, types))

    def _shared(self, roots: Iterable[str], own: frozenset[str]) -> str:
        """What these need: `own` defined for other files, what else has a file of its own declared."""
        needed: set[str] = set()
        stack = list(roots)
        while stack:
            name = stack.pop()
            if name not in needed:
                needed.add(name)
                if isinstance(self._texts[name], str) or name in own:
                    stack += self._needs[name]
        texts = ((name, text) for name, text in self._texts.items() if name in needed)
        return "\n".join(
            text if isinstance(text, str) else text.shared if name in own else text.declared
            for name, text in texts
        )


SUPPORT = (
    "threads_pay", "threads_used", "writes_past", "allocate", "allocate_again",
    "release",
)  # fmt: skip
"""Functions without an element type that are compiled once for all programs."""

PRODUCTS = ("product", "products")
"""Functions for an element type that are compiled once for all programs."""


@cache
def team_text() -> str:
    """The functions that parallel loops call, as the start of a C file."""
    return Path(__file__).with_name("team.c").read_text()


@cache
def _support() -> str:
    helpers = Helpers()
    return f"{team_text()}\n{_defined(helpers, [helpers.plain(name) for name in SUPPORT])}"


@cache
def _products_of(dtype: DType) -> str:
    helpers = Helpers()
    return _defined(helpers, [helpers.typed(name, dtype) for name in PRODUCTS])


def _defined(helpers: Helpers, names: list[str]) -> str:
    """The text of a C file that defines these functions."""
    return f"{TYPEDEFS}\n\n{helpers._shared(names, frozenset(names))}\n"


def _filled(template: str, dtype: DType) -> str:
    """The template with its one-letter placeholders filled in, word by word."""
    unsigned = f"uint{dtype.bits}_t"
    values = {
        "T": c_type(dtype),
        "U": unsigned,
        "R": c_type(dtype.part),
        "BITS": str(dtype.bits),
    }
    out: list[str] = []
    word = ""
    for char in template + " ":
        if char.isalnum() or char == "_":
            word += char
            continue
        out.append(values.get(word, _suffixed(word, dtype)))
        out.append(char)
        word = ""
    return "".join(out)[:-1]


def _suffixed(word: str, dtype: DType) -> str:
    if word.endswith("_D"):
        return f"{word[:-1]}{dtype}"
    if word.endswith("F") and word[:-1] in PROTOTYPES:
        return word[:-1] + real_suffix(dtype)
    return word
