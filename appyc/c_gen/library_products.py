"""The C function that has a library multiply two matrices.

A library takes matrices that lie by rows or by columns, with one element next to the other. The function looks
at the strides when it is called, turns the product round where the target lies by columns, and says no to what
the library cannot take. Nor is the library asked where it would not do as the loops do: it takes a factor of
0 as leave to skip a product, and so loses the NaN that comes of 0 times infinity.

The library has threads of its own, as many as its user wants, and never more than a call of appyc's may use.
"""

from __future__ import annotations

NAMES = ("blas_by_rows", "blas_as_is", "blas_transposed", "blas_lower")
"""What these texts declare beside the functions."""

TABLE = """/* What runtime/blas.py found, if the loader has set it: by type of element gemm and syrk of a BLAS by C's
   interface, how many threads it uses and what changes that, and the longest side that it takes. */
const struct {
    void *gemm[4], *syrk[4];
    int (*threads)(void);
    void (*set_threads)(int);
    int64_t longest;
} *appyc_blas;
enum { blas_by_rows = 101, blas_as_is = 111, blas_transposed = 112, blas_lower = 122 };"""

MIRRORED = """/* The upper triangle of a square matrix from the lower one, in blocks that stay in cache. */
static void mirrored_D(T *const c, const int64_t n, const int64_t row) {
    enum { block = 32 };
    for (int64_t i = 0; i < n; i += block) {
        for (int64_t j = 0; j <= i; j += block) {
            for (int64_t k = i; k < i + block && k < n; k += 1) {
                for (int64_t l = j; l < j + block && l < k; l += 1) c[l * row + k] = c[k * row + l];
            }
        }
    }
}"""

PRODUCT = """/* c = keep * c + scale * a b, for m by l and l by n matrices with strides in bytes; false where nothing
   was done. Integers of libraries that take 32 bits are 64 here, too: they fit, and travel in a register or a
   slot of the stack of that size. */
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
    const bool a_turned = a_column != 1, b_turned = b_column != 1;
    const int64_t a_step = a_turned ? a_column : a_row, b_step = b_turned ? b_column : b_row;
    if (c_column != 1 || c_row < n || (a_turned && a_row != 1) || (b_turned && b_row != 1)) return false;
    if (a_step < (a_turned ? m : l) || b_step < (b_turned ? l : n)) return false;
    const int64_t sides[] = {m, n, l, c_row, a_step, b_step};
    for (int i = 0; i < 6; i += 1) if (sides[i] > appyc_blas->longest) return false;
    const int busy = appyc_blas->threads && appyc_blas->set_threads ? appyc_blas->threads() : 0;
    if (busy > threads) appyc_blas->set_threads((int)threads);
    const int turn_a = a_turned ? blas_transposed : blas_as_is, turn_b = b_turned ? blas_transposed : blas_as_is;
    const T start = keeps ? keep : (T)0;
    const bool halves = a == b && m == n && a_row == b_column && a_column == b_row && !keeps && appyc_blas->syrk[place];
    void *const call = halves ? appyc_blas->syrk[place] : appyc_blas->gemm[place];
    if (halves) { /* a matrix by itself, transposed */
        if (is_real)
            ((void (*)(int, int, int, int64_t, int64_t, R, const T *, int64_t, R, T *, int64_t))call)(
                blas_by_rows, blas_lower, turn_a, n, l, (R)scale, a, a_step, 0, c, c_row);
        else
            ((void (*)(int, int, int, int64_t, int64_t, const T *, const T *, int64_t, const T *, T *, int64_t))call)(
                blas_by_rows, blas_lower, turn_a, n, l, &scale, a, a_step, &start, c, c_row);
        mirrored_D(c, n, c_row);
    } else if (is_real) {
        ((void (*)(int, int, int, int64_t, int64_t, int64_t, R, const T *, int64_t, const T *, int64_t, R, T *,
            int64_t))call)(
            blas_by_rows, turn_a, turn_b, m, n, l, (R)scale, a, a_step, b, b_step, (R)start, c, c_row);
    } else {
        ((void (*)(int, int, int, int64_t, int64_t, int64_t, const T *, const T *, int64_t, const T *, int64_t,
            const T *, T *, int64_t))call)(
            blas_by_rows, turn_a, turn_b, m, n, l, &scale, a, a_step, b, b_step, &start, c, c_row);
    }
    if (busy > threads) appyc_blas->set_threads(busy);
    return true;
}"""

PLAIN_PRODUCTS: dict[str, tuple[tuple[str, ...], str]] = {"appyc_blas": ((), TABLE)}
TYPED_PRODUCTS: dict[str, tuple[tuple[str, ...], str]] = {
    "mirrored": ((), MIRRORED),
    "product": (("appyc_blas", "mirrored"), PRODUCT),
}
"""As in `helpers.PLAIN` and `helpers.TEMPLATES`."""
