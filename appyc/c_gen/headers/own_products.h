// A packed, register-tiled matrix product in C, for machines on which it is faster than the BLAS library.
//
// A library has kernels for the processors of its time. On a later one it may use half of a vector register,
// where the C compiler uses all: an OpenBLAS of 2025 multiplies at half of this one's speed on a Zen 5.
// Which of the two is faster is measured once on a machine (`runtime/measure.py`).
//
// Both matrices are packed, block by block for the caches, into strips as wide as a tile of the result. The elements of
// one step are adjacent in a strip, whatever the layout of the matrices. A tile's sums stay in registers.
//
// As in a BLAS library, multiplication and addition are fused (FMA), without rounding between.

//: tile_rows
/* Sums of a tile, and what they are made of in a step, fill the registers for vectors. */
#if defined(__AVX512F__) || defined(__aarch64__)
enum { tile_rows = 8, tile_vectors = 3 };
#else
enum { tile_rows = 4, tile_vectors = 3 };
#endif

//: tile_D <- vector tile_rows
/* c = start * c + scale * a b, for a strip of a and one of b. */
#ifndef __clang__
__attribute__((optimize("fp-contract=fast")))
#endif
static __attribute__((noinline)) void tile_D(
    const int64_t l, const T *a, const T *b, const T scale, const T start, T *const c, const int64_t c_step,
    const int64_t rows, const int64_t columns) {
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
    enum { width = sizeof(vector_D) / sizeof(T), all = tile_vectors * width };
    vector_D sum[tile_rows][tile_vectors] = {0};
    for (int64_t k = 0; k < l; k += 1, a += tile_rows, b += all) {
        vector_D line[tile_vectors];
        for (int j = 0; j < tile_vectors; j += 1) line[j] = *(const vector_D *)(b + j * width);
        for (int i = 0; i < tile_rows; i += 1)
            for (int j = 0; j < tile_vectors; j += 1) sum[i][j] += a[i] * line[j];
    }
    if (rows == tile_rows && columns == all) {
        for (int i = 0; i < tile_rows; i += 1) {
            for (int j = 0; j < tile_vectors; j += 1) {
                vector_D *const to = (vector_D *)(c + i * c_step + j * width);
                *to = start == 0 ? scale * sum[i][j] : start * *to + scale * sum[i][j];
            }
        }
        return;
    }
    T out[tile_rows][all]; /* at an edge */
    for (int i = 0; i < tile_rows; i += 1)
        for (int j = 0; j < tile_vectors; j += 1) *(vector_D *)&out[i][j * width] = scale * sum[i][j];
    for (int64_t i = 0; i < rows; i += 1) {
        T *const to = c + i * c_step;
        for (int64_t j = 0; j < columns; j += 1) to[j] = start == 0 ? out[i][j] : start * to[j] + out[i][j];
    }
}

//: packed_D <- smaller
/* Strips of `size` of the n lines of a matrix, each of l elements; those of one step adjacent, as they
   are already where lines are columns. What is missing from the last strip is 0. */
static inline __attribute__((always_inline)) void packed_D(
    const int size, const bool columns, const int64_t n, const int64_t l, const T *const from, const int64_t step,
    T *to) {
    for (int64_t lo = 0; lo < n; lo += size, to += size * l) {
        const int64_t some = smaller(size, n - lo);
        if (columns && some == size) {
            for (int64_t k = 0; k < l; k += 1)
                for (int i = 0; i < size; i += 1) to[k * size + i] = from[k * step + lo + i];
        } else if (columns) {
            for (int64_t k = 0; k < l; k += 1)
                for (int i = 0; i < size; i += 1) to[k * size + i] = i < some ? from[k * step + lo + i] : 0;
        } else {
            for (int i = 0; i < size; i += 1)
                for (int64_t k = 0; k < l; k += 1) to[k * size + i] = i < some ? from[(lo + i) * step + k] : 0;
        }
    }
}

//: own_D <- memory tile packed
/* c = start * c + scale * a b, by rows; false where there is no memory for it. */
static __attribute__((noinline)) bool own_D(
    const bool turn_a, const bool turn_b, const int64_t m, const int64_t n, const int64_t l, const T scale,
    const T *const a, const int64_t a_step, const T *const b, const int64_t b_step, const T start, T *const c,
    const int64_t c_step) {
    enum { all = tile_vectors * sizeof(vector_D) / sizeof(T), line = 64 };
    /* Of a as much as a core's own cache holds, of b what a larger one does, next to what others have there. */
    enum { most_sums = 256, most_rows = 240, most_columns = 64 * all };
    const int64_t depth = smaller(l, most_sums), width = smaller((n + all - 1) / all * all, most_columns);
    const int64_t height = smaller((m + tile_rows - 1) / tile_rows * tile_rows, most_rows);
    const __SIZE_TYPE__ bytes = sizeof(T) * (__SIZE_TYPE__)(depth * (height + width));
    T *const memory = aligned_alloc(line, (bytes + line - 1) / line * line);
    if (!memory) return false;
    T *const strips_a = memory, *const strips_b = memory + depth * height;
    for (int64_t j = 0; j < n; j += most_columns) {
        const int64_t columns = smaller(most_columns, n - j);
        for (int64_t k = 0; k < l; k += most_sums) {
            const int64_t sums = smaller(most_sums, l - k);
            packed_D(all, !turn_b, columns, sums, b + (turn_b ? j * b_step + k : k * b_step + j), b_step, strips_b);
            for (int64_t i = 0; i < m; i += most_rows) {
                const int64_t rows = smaller(most_rows, m - i);
                packed_D(
                    tile_rows, turn_a, rows, sums, a + (turn_a ? k * a_step + i : i * a_step + k), a_step, strips_a);
                for (int64_t y = 0; y < columns; y += all)
                    for (int64_t x = 0; x < rows; x += tile_rows)
                        tile_D(sums, strips_a + x * sums, strips_b + y * sums, scale, k ? 1 : start,
                            c + (i + x) * c_step + j + y, c_step, smaller(tile_rows, rows - x),
                            smaller(all, columns - y));
            }
        }
    }
    free(memory);
    return true;
}
