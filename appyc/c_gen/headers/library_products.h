// The C functions that compute matrix products by calls of a BLAS library.
//
// A library takes matrices that lie by rows or by columns, with one element next to the other. The function looks
// at the strides when it is called, transposes the product where the target lies by columns, copies factors that BLAS
// does not take, and returns false for such a target. It returns false, too, where BLAS would differ from the loops: for
// a scale of 0 BLAS skips the product, and so loses the NaN of 0 times infinity.
//
// Of triangles, and of a matrix times its own transpose, half is computed: rectangles as products, and squares on the
// diagonal of a symmetric product by the library's function for these, which packs a matrix once. (Measured on a Xeon: of
// 1200 columns and 1400 rows, 29.5 ms on one thread where rectangles down to 32 rows take 42.5, and the product 56.8.)
//
// Products of real numbers are computed by `own_products` where a measurement on the machine found that faster.
//
// Threads are OpenMP's, as for all loops: the product is cut into parts, and each thread calls the library for its
// own part, with the library set to one thread meanwhile. A second thread pool, the library's, would spin for work
// on the same cores (oversubscription): PolyBench's covariance, with a loop after each panel's product, took six times
// NumPy's time on two cores that had other work, and takes twice NumPy's time with one pool.

//: appyc_blas
/* What runtime/blas.py found, if the loader has set it: by type of element gemm of a BLAS by C's interface,
   for real ones syrk and syr2k too (or none), how many threads it uses and what changes that (none where it does not
   tell), and the longest side that it takes. */
const struct {
    void *gemm[4], *syrk[2], *syr2k[2];
    int (*threads)(void);
    void (*set_threads)(int);
    int64_t longest;
} *appyc_blas;
enum { blas_by_rows = 101, blas_as_is = 111, blas_transposed = 112, blas_upper = 121, blas_lower = 122 };

//: shapes
enum { shape_all, shape_before, shape_from };

//: wanted
/* How many elements of a row are wanted. */
static inline int64_t wanted(const bool before, const int64_t edge, const int64_t n) {
    const int64_t inside = edge < 0 ? 0 : edge < n ? edge : n;
    return before ? inside : n - inside;
}

//: own_is_faster <- appyc_machine
/* Whether products are made here: measured so much faster that it is no accident. */
static inline bool own_is_faster(void) {
    const double *const at = appyc_machine;
    return at && at[machine_own_product] < OWN_WORTH * at[machine_library_product];
}

//: mirrored_D
/* The upper triangle of a square matrix from the lower one, in blocks that stay in cache. */
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
}

//: multiplied_D <- appyc_blas own_is_faster own
/* c = start * c + scale * a b, by rows. Integers of libraries that take 32 bits are 64 here, too:
   they fit, and travel in a register or a slot of the stack of that size. */
static void multiplied_D(
    const bool turn_a, const bool turn_b, const int64_t m, const int64_t n, const int64_t l, const T scale,
    const T *const a, const int64_t a_step, const T *const b, const int64_t b_step, const T start, T *const c,
    const int64_t c_step) {
    if (own_is_faster()
        && own_D(turn_a, turn_b, m, n, l, scale, a, a_step, b, b_step, start, c, c_step)) return;
    ((void (*)(int, int, int, int64_t, int64_t, int64_t, T, const T *, int64_t, const T *, int64_t, T, T *,
        int64_t))appyc_blas->gemm[sizeof(T) == 8])(
        blas_by_rows, turn_a ? blas_transposed : blas_as_is, turn_b ? blas_transposed : blas_as_is, m, n, l, scale,
        a, a_step, b, b_step, start, c, c_step);
}

//: ranked_D <- appyc_blas own_is_faster
/* The same for a square triangle with its diagonal, where the sum is symmetric: a a', or a b + (a b)'.
   False where it is not, or the library is not to be asked. */
static bool ranked_D(
    const bool before, const bool turn_a, const bool turn_b, const int64_t n, const int64_t l, const T scale,
    const T *const a, const int64_t a_step, const T *const b, const int64_t b_step, const T *const a_too,
    const T *const b_too, const T start, T *const c, const int64_t c_step) {
    enum { is_real = sizeof(T) == sizeof(R), kind = is_real && sizeof(T) == 8 };
    if (!is_real || turn_a == turn_b || own_is_faster()) return false;
    const int part = before ? blas_lower : blas_upper, turn = turn_a ? blas_transposed : blas_as_is;
    if (!a_too && a == b && a_step == b_step && appyc_blas->syrk[kind]) {
        ((void (*)(int, int, int, int64_t, int64_t, T, const T *, int64_t, T, T *, int64_t))appyc_blas->syrk[kind])(
            blas_by_rows, part, turn, n, l, scale, a, a_step, start, c, c_step);
        return true;
    }
    if (a_too == b && b_too == a && appyc_blas->syr2k[kind]) {
        ((void (*)(int, int, int, int64_t, int64_t, T, const T *, int64_t, const T *, int64_t, T, T *, int64_t))
            appyc_blas->syr2k[kind])(
            blas_by_rows, part, turn, n, l, scale, a, a_step, b, b_step, start, c, c_step);
        return true;
    }
    return false;
}

//: multiplied_of_complex_D <- appyc_blas
/* The same; a library takes the addresses of complex factors. */
static void multiplied_D(
    const bool turn_a, const bool turn_b, const int64_t m, const int64_t n, const int64_t l, const T scale,
    const T *const a, const int64_t a_step, const T *const b, const int64_t b_step, const T start, T *const c,
    const int64_t c_step) {
    ((void (*)(int, int, int, int64_t, int64_t, int64_t, const T *, const T *, int64_t, const T *, int64_t,
        const T *, T *, int64_t))appyc_blas->gemm[2 + (sizeof(R) == 8)])(
        blas_by_rows, turn_a ? blas_transposed : blas_as_is, turn_b ? blas_transposed : blas_as_is, m, n, l, &scale,
        a, a_step, b, b_step, &start, c, c_step);
}

//: both_D <- multiplied
/* c = start * c + scale * (a b + a_too b_too), where a_too is there. Its rows lie as b's columns do, and
   b_too's columns as a's rows. */
static void both_D(
    const bool turn_a, const bool turn_b, const int64_t m, const int64_t n, const int64_t l, const T scale,
    const T *const a, const int64_t a_step, const T *const b, const int64_t b_step, const T *const a_too,
    const T *const b_too, const T start, T *const c, const int64_t c_step) {
    multiplied_D(turn_a, turn_b, m, n, l, scale, a, a_step, b, b_step, start, c, c_step);
    if (a_too) multiplied_D(!turn_b, !turn_a, m, n, l, scale, a_too, b_step, b_too, a_step, 1, c, c_step);
}

//: triangle_D <- larger smaller both ranked
static const T *moved_D(const T *const to, const int64_t by) { return to ? to + by : to; }
/* The same as both_D, of which only these elements are wanted, and written: in row r the columns before first + r, or
   those from there on. Rectangles are cut off, and the rest is halved, until squares on the diagonal of a symmetric
   sum are left, or small ones along the edge, which are computed whole. */
static void triangle_D(
    const bool before, int64_t first, const bool turn_a, const bool turn_b, int64_t m, int64_t n, const int64_t l,
    const T scale, const T *a, const int64_t a_step, const T *b, const int64_t b_step, const T *a_too,
    const T *b_too, const T start, T *c, const int64_t c_step) {
    enum { small = 32 };
    const int64_t a_row = turn_a ? 1 : a_step, b_column = turn_b ? b_step : 1;
    const int64_t unwanted = before ? larger(1 - first, 0) : larger(first, 0);
    if (before) { /* the first rows, and the last columns */
        m -= unwanted, a += unwanted * a_row, a_too = moved_D(a_too, unwanted * b_column);
        c += unwanted * c_step, first += unwanted, n = smaller(n, first + m - 1);
    } else { /* the first columns, and the last rows */
        n -= unwanted, b += unwanted * b_column, b_too = moved_D(b_too, unwanted * a_row);
        c += unwanted, first -= unwanted, m = smaller(m, n - first);
    }
    if (m <= 0 || n <= 0) return;
    if (before ? first >= n : first + m <= 1) {
        both_D(turn_a, turn_b, m, n, l, scale, a, a_step, b, b_step, a_too, b_too, start, c, c_step);
    } else if (m == n && first == before
        && ranked_D(before, turn_a, turn_b, n, l, scale, a, a_step, b, b_step, a_too, b_too, start, c, c_step)) {
    } else if (m <= small && n <= small) {
        T square[small * small];
        both_D(turn_a, turn_b, m, n, l, scale, a, a_step, b, b_step, a_too, b_too, 0, square, n);
        for (int64_t i = 0; i < m; i += 1) {
            const int64_t edge = smaller(larger(first + i, 0), n);
            T *const row = c + i * c_step;
            const T *const from = square + i * n;
            for (int64_t j = before ? 0 : edge; j < (before ? edge : n); j += 1)
                row[j] = start == 0 ? from[j] : start * row[j] + from[j];
        }
    } else {
        const int64_t half = (m / 2 + small - 1) / small * small;
        const int64_t row = before ? (first > 1 ? 0 : m > n ? n : half) : first < 0 ? -first : n > m ? 0 : half;
        const int64_t column = row ? 0 : before ? first - 1 : m;
        triangle_D(before, first, turn_a, turn_b, row ? row : m, row ? n : column, l, scale, a, a_step, b, b_step,
            a_too, b_too, start, c, c_step);
        triangle_D(before, first + row - column, turn_a, turn_b, m - row, n - column, l, scale, a + row * a_row,
            a_step, b + column * b_column, b_step, moved_D(a_too, row * b_column), moved_D(b_too, column * a_row),
            start, c + row * c_step + column, c_step);
    }
}

//: is_taken
/* Whether BLAS takes a matrix with these strides, in elements. */
static inline bool is_taken(const int64_t rows, const int64_t columns, const int64_t row, const int64_t column) {
    return (column == 1 && row >= columns) || (row == 1 && column >= rows);
}

//: dense_D <- memory
/* A copy by rows of a matrix; none where there is no memory for it, or where elements are repeated: the copy of an
   array that is broadcast may be larger than all else. */
static __attribute__((noinline)) T *dense_D(
    const T *const from, const int64_t rows, const int64_t columns, const int64_t row, const int64_t column) {
    if ((row == 0 && rows > 1) || (column == 0 && columns > 1)) return 0;
    const __SIZE_TYPE__ bytes = sizeof(T) * (__SIZE_TYPE__)(rows * columns);
    T *const to = aligned_alloc(64, (bytes / 64 + 1) * 64);
    for (int64_t i = 0; to && i < rows; i += 1)
        for (int64_t j = 0; j < columns; j += 1) to[i * columns + j] = from[i * row + j * column];
    return to;
}

//: product_D <- shapes piece_start threads_pay threads_used wanted both triangle mirrored is_taken dense | shared
/* c = keep * c + scale * a b, for m by l and l by n matrices with strides in bytes; false where nothing
   was done. shape: all elements, or in row r those before first + r, or those from there on. a_too, b_too: none, or
   two more matrices whose product is added; a_too's rows lie as b's columns do, b_too's columns as a's rows. */
static __attribute__((noinline)) bool product_D(
    const int64_t threads, int64_t m, int64_t n, const int64_t l, int shape, int64_t first, const T scale,
    const bool keeps, const T keep, T *const c, int64_t c_row, int64_t c_column,
    const T *a, int64_t a_row, int64_t a_column, const T *b, int64_t b_row, int64_t b_column,
    const T *a_too, const T *b_too) {
    enum { is_real = sizeof(T) == sizeof(R), kind = 2 * !is_real + (sizeof(R) == 8) };
    if (!appyc_blas || !appyc_blas->gemm[kind] || scale == 0 || (keeps && keep == 0)) return false;
    int64_t *const strides[] = {&c_row, &c_column, &a_row, &a_column, &b_row, &b_column};
    for (int i = 0; i < 6; i += 1) {
        if (*strides[i] % (int64_t)sizeof(T) != 0) return false;
        *strides[i] /= (int64_t)sizeof(T);
    }
    const T *const all_of[] = {a, b, a_too, b_too, c};
    for (int i = 0; i < 5; i += 1)
        if ((__UINTPTR_TYPE__)all_of[i] % sizeof(R) != 0) return false;
    if (c_column != 1) { /* by columns: the transposed product */
        int64_t other = c_row; c_row = c_column, c_column = other;
        other = m, m = n, n = other;
        const T *matrix = a; a = b, b = matrix;
        matrix = a_too, a_too = b_too, b_too = matrix;
        const int64_t row = a_row, column = a_column;
        a_row = b_column, a_column = b_row, b_row = column, b_column = row;
        if (shape != shape_all) shape = shape == shape_before ? shape_from : shape_before, first = 1 - first;
    }
    if (c_column != 1 || c_row < n) return false;
    T *copy_a = 0, *copy_b = 0;
    const bool may_copy = shape == shape_all && !a_too; /* of a triangle, rows without columns need not exist */
    if (!is_taken(m, l, a_row, a_column)) {
        if (!may_copy || !(copy_a = dense_D(a, m, l, a_row, a_column))) return false;
        a = copy_a, a_row = l, a_column = 1;
    }
    if (!is_taken(l, n, b_row, b_column)) {
        if (!may_copy || !(copy_b = dense_D(b, l, n, b_row, b_column))) return free(copy_a), false;
        b = copy_b, b_row = n, b_column = 1;
    }
    const bool turn_a = a_column != 1 || a_row < l, turn_b = b_column != 1 || b_row < n;
    const int64_t a_step = turn_a ? a_column : a_row, b_step = turn_b ? b_column : b_row;
    const int64_t sides[] = {m, n, l, c_row, a_step, b_step};
    for (int i = 0; i < 6; i += 1)
        if (sides[i] > appyc_blas->longest) return free(copy_a), free(copy_b), false;
    const T start = keeps ? keep : (T)0;
    /* A matrix by itself, transposed, is computed by half. */
    const bool mirror = shape == shape_all && !a_too && a == b && m == n && a_row == b_column && a_column == b_row
        && !keeps;
    if (mirror) shape = shape_before, first = 1;
    const bool before = shape != shape_from;
    int64_t all = m * n;
    if (shape != shape_all) {
        all = 0;
        for (int64_t i = 0; i < m; i += 1) all += wanted(before, first + i, n);
    }
    /* The parts are for our threads, each of which calls the library for itself. */
    const int busy = appyc_blas->threads ? appyc_blas->threads() : 0;
    const double work = (double)sizeof(T) / 8 * (is_real ? 1 : 2) * (a_too ? 2 : 1);
    const double bytes = (double)sizeof(T) * ((double)all + (double)l * (m + n));
    const int64_t share = busy > 0 && threads > 1
        && threads_pay(threads, all, work * (double)l, 0, 0, bytes, 0) ? threads : 1;
    if (busy > 1) appyc_blas->set_threads(1);
    if (shape != shape_all) {
        const int64_t parts = share; /* rows with as many elements each */
        int64_t ends[parts];
        for (int64_t part = 0, row = 0, sum = 0; part < parts; part += 1) {
            for (; row < m && (part + 1 == parts || sum < all / parts * (part + 1)); row += 1)
                sum += wanted(before, first + row, n);
            ends[part] = row;
        }
#pragma omp parallel for num_threads((int)share) schedule(dynamic, 1) if (share > 1)
        for (int64_t part = 0; part < parts; part += 1) {
            const int64_t lo = part ? ends[part - 1] : 0;
            triangle_D(before, first + lo, turn_a, turn_b, ends[part] - lo, n, l, scale,
                a + lo * a_row, a_step, b, b_step, moved_D(a_too, lo * b_column), b_too, start, c + lo * c_row, c_row);
        }
        if (mirror) mirrored_D(share, c, n, c_row);
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
                both_D(turn_a, turn_b, bottom - top, hi - lo, l, scale, a + top * a_row, a_step, b + lo * b_column,
                    b_step, moved_D(a_too, top * b_column), moved_D(b_too, lo * a_row), start, c + top * c_row + lo,
                    c_row);
        }
    }
    if (share > 1) threads_used();
    if (busy > 1) appyc_blas->set_threads(busy);
    free(copy_a), free(copy_b);
    return true;
}

//: products_D <- product | shared
/* So many products, the matrices of each as many bytes behind those of the one before. */
static __attribute__((noinline)) bool products_D(
    const int64_t threads, const int64_t count, const int64_t c_next, const int64_t a_next, const int64_t b_next,
    const int64_t m, const int64_t n, const int64_t l, const T scale, const bool keeps, const T keep,
    T *const c, const int64_t c_row, const int64_t c_column, const T *const a, const int64_t a_row,
    const int64_t a_column, const T *const b, const int64_t b_row, const int64_t b_column) {
    /* Rows that go on from one matrix to the next, times one matrix: a single product. */
    if (b_next == 0 && a_next == m * a_row && c_next == m * c_row && product_D(threads, m * count, n, l, shape_all, 0,
            scale, keeps, keep, c, c_row, c_column, a, a_row, a_column, b, b_row, b_column, 0, 0)) return true;
    const bool apart = count >= threads; /* threads have products of their own, or share each of them */
    const int busy = appyc_blas && appyc_blas->threads ? appyc_blas->threads() : 0;
    const double multiplications = (double)m * n * l, elements = (double)m * n + (double)l * (m + n);
    const bool share = apart && busy > 0 && threads > 1 && threads_pay(
        threads, count, (double)sizeof(T) / 8 * multiplications, 0, 0, 0, (double)sizeof(T) * elements);
    if (busy > 1) appyc_blas->set_threads(1);
    const bool done = product_D(apart ? 1 : threads, m, n, l, shape_all, 0, scale, keeps, keep, c, c_row, c_column,
        a, a_row, a_column, b, b_row, b_column, 0, 0);
    /* If one can be computed so, all can: they differ in nothing but where they lie. */
#pragma omp parallel for num_threads((int)threads) schedule(dynamic, 1) if (share)
    for (int64_t i = 1; i < (done ? count : 0); i += 1)
        product_D(apart ? 1 : threads, m, n, l, shape_all, 0, scale, keeps, keep,
            (T *)((char *)c + i * c_next), c_row, c_column, (const T *)((const char *)a + i * a_next), a_row, a_column,
            (const T *)((const char *)b + i * b_next), b_row, b_column, 0, 0);
    if (share) threads_used();
    if (busy > 1) appyc_blas->set_threads(busy);
    return done;
}
