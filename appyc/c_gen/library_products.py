"""The C function that has a library multiply two matrices.

A library takes matrices that lie by rows or by columns, with one element next to the other. The function looks
at the strides when it is called, turns the product round where the target lies by columns, and says no to what
the library cannot take. Nor is the library asked where it would not do as the loops do: it takes a factor of
0 as leave to skip a product, and so loses the NaN that comes of 0 times infinity.

Threads are OpenMP's, as for all loops: the product is cut into parts, and each thread calls the library for its
own, which is told to use one thread meanwhile. Threads of the library's would wait for work beside ours,
and two crowds that wait in turns for the same cores keep each other from them: of PolyBench's covariance, with
a loop after each panel's product, the time was six times NumPy's on two cores that had other work, and is
twice NumPy's with one crowd.
"""

from __future__ import annotations

NAMES = ("blas_by_rows", "blas_as_is", "blas_transposed", "blas_lower")
"""What these texts declare beside the functions."""

TABLE = """/* What runtime/blas.py found, if the loader has set it: by type of element gemm and syrk of a BLAS by C's
   interface, how many threads it uses and what changes that (none where it does not tell), and the longest side
   that it takes. */
const struct {
    void *gemm[4], *syrk[4];
    int (*threads)(void);
    void (*set_threads)(int);
    int64_t longest;
} *appyc_blas;
enum { blas_by_rows = 101, blas_as_is = 111, blas_transposed = 112, blas_lower = 122 };"""

MIRRORED = """/* The upper triangle of a square matrix from the lower one, in blocks that stay in cache. */
static void mirrored_D(const int64_t threads, T *const c, const int64_t n, const int64_t row) {
    enum { block = 32 };
#pragma omp parallel for num_threads((int)threads) schedule(dynamic, 1) if (threads > 1)
    for (int64_t i = 0; i < n; i += block) {
        for (int64_t j = 0; j <= i; j += block) {
            for (int64_t k = i; k < i + block && k < n; k += 1) {
                for (int64_t l = j; l < j + block && l < k; l += 1) c[l * row + k] = c[k * row + l];
            }
        }
    }
}"""

MULTIPLIED = """/* c = start * c + scale * a b, by rows. Integers of libraries that take 32 bits are 64 here, too:
   they fit, and travel in a register or a slot of the stack of that size. */
static void multiplied_D(
    const bool turn_a, const bool turn_b, const int64_t m, const int64_t n, const int64_t l, const T scale,
    const T *const a, const int64_t a_step, const T *const b, const int64_t b_step, const T start, T *const c,
    const int64_t c_step) {
    enum { is_real = sizeof(T) == sizeof(R), place = 2 * !is_real + (sizeof(R) == 8) };
    const int one = turn_a ? blas_transposed : blas_as_is, other = turn_b ? blas_transposed : blas_as_is;
    void *const gemm = appyc_blas->gemm[place];
    if (is_real)
        ((void (*)(int, int, int, int64_t, int64_t, int64_t, R, const T *, int64_t, const T *, int64_t, R, T *,
            int64_t))gemm)(
            blas_by_rows, one, other, m, n, l, (R)scale, a, a_step, b, b_step, (R)start, c, c_step);
    else
        ((void (*)(int, int, int, int64_t, int64_t, int64_t, const T *, const T *, int64_t, const T *, int64_t,
            const T *, T *, int64_t))gemm)(
            blas_by_rows, one, other, m, n, l, &scale, a, a_step, b, b_step, &start, c, c_step);
}"""

SQUARED = """/* The lower half of c = scale * a a', by rows. */
static void squared_D(
    const bool turn_a, const int64_t n, const int64_t l, const T scale, const T *const a, const int64_t a_step,
    T *const c, const int64_t c_step) {
    enum { is_real = sizeof(T) == sizeof(R), place = 2 * !is_real + (sizeof(R) == 8) };
    const int turn = turn_a ? blas_transposed : blas_as_is;
    const T none = 0;
    void *const syrk = appyc_blas->syrk[place];
    if (is_real)
        ((void (*)(int, int, int, int64_t, int64_t, R, const T *, int64_t, R, T *, int64_t))syrk)(
            blas_by_rows, blas_lower, turn, n, l, (R)scale, a, a_step, 0, c, c_step);
    else
        ((void (*)(int, int, int, int64_t, int64_t, const T *, const T *, int64_t, const T *, T *, int64_t))syrk)(
            blas_by_rows, blas_lower, turn, n, l, &scale, a, a_step, &none, c, c_step);
}"""

PRODUCT = """/* c = keep * c + scale * a b, for m by l and l by n matrices with strides in bytes; false where nothing
   was done. */
static __attribute__((noinline)) bool product_D(
    const int64_t threads, int64_t m, int64_t n, const int64_t l, const T scale, const bool keeps, const T keep,
    T *const c, int64_t c_row, int64_t c_column, const T *a, int64_t a_row, int64_t a_column,
    const T *b, int64_t b_row, int64_t b_column) {
    enum { is_real = sizeof(T) == sizeof(R), place = 2 * !is_real + (sizeof(R) == 8) };
    if (!appyc_blas || !appyc_blas->gemm[place] || scale == 0 || (keeps && keep == 0)) return false;
    int64_t *const strides[] = {&c_row, &c_column, &a_row, &a_column, &b_row, &b_column};
    for (int i = 0; i < 6; i += 1) {
        if (*strides[i] % (int64_t)sizeof(T) != 0) return false;
        *strides[i] /= (int64_t)sizeof(T);
    }
    if (c_column != 1) { /* by columns: the transposed product */
        int64_t other = c_row; c_row = c_column, c_column = other;
        other = m, m = n, n = other;
        const T *const first = a; a = b, b = first;
        const int64_t row = a_row, column = a_column;
        a_row = b_column, a_column = b_row, b_row = column, b_column = row;
    }
    const bool turn_a = a_column != 1, turn_b = b_column != 1;
    const int64_t a_step = turn_a ? a_column : a_row, b_step = turn_b ? b_column : b_row;
    if (c_column != 1 || c_row < n || (turn_a && a_row != 1) || (turn_b && b_row != 1)) return false;
    if (a_step < (turn_a ? m : l) || b_step < (turn_b ? l : n)) return false;
    const int64_t sides[] = {m, n, l, c_row, a_step, b_step};
    for (int i = 0; i < 6; i += 1) if (sides[i] > appyc_blas->longest) return false;
    /* The parts are for our threads, each of which calls the library for itself. */
    const int busy = appyc_blas->threads ? appyc_blas->threads() : 0;
    const double work = (double)sizeof(T) / 8 * (is_real ? 1 : 2);
    const double bytes = (double)sizeof(T) * ((double)m * n + (double)l * (m + n));
    const int64_t share = busy > 0 && threads > 1
        && threads_pay(threads, m * n, work * (double)l, 0, 0, bytes, 0) ? threads : 1;
    if (busy > 1) appyc_blas->set_threads(1);
    const T start = keeps ? keep : (T)0;
    if (a == b && m == n && a_row == b_column && a_column == b_row && !keeps && appyc_blas->syrk[place]) {
        /* A matrix by itself, transposed: the parts are rows up to the diagonal, the longest first. */
        const int64_t parts = share > 1 ? smaller(4 * share, n) : 1;
#pragma omp parallel for num_threads((int)share) schedule(dynamic, 1) if (share > 1)
        for (int64_t part = parts - 1; part >= 0; part -= 1) {
            const int64_t lo = piece_start(n, part, parts), hi = piece_start(n, part + 1, parts);
            const T *const rows = a + (turn_a ? lo : lo * a_step);
            if (lo > 0)
                multiplied_D(turn_a, turn_b, hi - lo, lo, l, scale, rows, a_step, b, b_step, 0, c + lo * c_row, c_row);
            squared_D(turn_a, hi - lo, l, scale, rows, a_step, c + lo * c_row + lo, c_row);
        }
        mirrored_D(share, c, n, c_row);
    } else {
        int64_t down = 1; /* of all ways to cut m by n into equal parts, the one whose parts are the squarest */
        for (int64_t d = 2; d <= share; d += 1)
            if (share % d == 0 && m / d + n / (share / d) < m / down + n / (share / down)) down = d;
        const int64_t along = share / down;
#pragma omp parallel for num_threads((int)share) schedule(static, 1) if (share > 1)
        for (int64_t part = 0; part < share; part += 1) {
            const int64_t top = piece_start(m, part / along, down), bottom = piece_start(m, part / along + 1, down);
            const int64_t lo = piece_start(n, part % along, along), hi = piece_start(n, part % along + 1, along);
            if (bottom > top && hi > lo)
                multiplied_D(turn_a, turn_b, bottom - top, hi - lo, l, scale, a + (turn_a ? top : top * a_step), a_step,
                    b + (turn_b ? lo * b_step : lo), b_step, start, c + top * c_row + lo, c_row);
        }
    }
    if (share > 1) threads_used();
    if (busy > 1) appyc_blas->set_threads(busy);
    return true;
}"""

PLAIN_PRODUCTS: dict[str, tuple[tuple[str, ...], str]] = {"appyc_blas": ((), TABLE)}
TYPED_PRODUCTS: dict[str, tuple[tuple[str, ...], str]] = {
    "mirrored": ((), MIRRORED),
    "multiplied": (("appyc_blas",), MULTIPLIED),
    "squared": (("appyc_blas",), SQUARED),
    "product": (
        ("piece_start", "smaller", "threads_pay", "threads_used", "multiplied", "squared", "mirrored"),
        PRODUCT,
    ),
}
"""As in `helpers.PLAIN` and `helpers.TEMPLATES`."""
