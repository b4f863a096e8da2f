/* The loops of tests/dependences in C, as one would write them: what vectorise.py measures beside appyc.
 *
 * Each takes one record with the arrays of the corpus by name; pointers are `restrict`, since
 * appyc knows as much. Results that are not arrays go to `results`. */

#include <math.h>
#include <stdint.h>
#include <time.h>

struct arguments {
    int64_t n, m, k;
    float alpha;
    float *a, *b, *c, *d, *e, *aa, *bb, *flat, *hist, *last;
    int64_t *perm, *some, *key, *out;
    double results[4];
};

#define LOOP(name)                                                                            \
    __attribute__((noinline)) void name(struct arguments *restrict g)

#define VECTORS                                                                               \
    const int64_t n = g->n, m = g->m, k = g->k;                                               \
    const float alpha = g->alpha;                                                             \
    float *restrict a = g->a, *restrict b = g->b, *restrict c = g->c, *restrict d = g->d,     \
          *restrict e = g->e, *restrict aa = g->aa, *restrict bb = g->bb,                     \
          *restrict flat = g->flat, *restrict hist = g->hist, *restrict last = g->last;       \
    int64_t *restrict perm = g->perm, *restrict some = g->some, *restrict key = g->key,       \
            *restrict out = g->out;

#define AA(i, j) aa[(i) * m + (j)]
#define BB(i, j) bb[(i) * m + (j)]

/* ---- straight */

LOOP(triad) { VECTORS for (int64_t i = 0; i < n; i++) a[i] = b[i] * c[i] + d[i]; }
LOOP(odd_from_even) { VECTORS for (int64_t i = 1; i < n; i += 2) a[i] = a[i - 1] + b[i]; }
LOOP(running_total) { VECTORS for (int64_t i = 1; i < n; i++) a[i] = a[i - 1] + b[i]; }
LOOP(shift_down) { VECTORS for (int64_t i = 0; i < n - 1; i++) a[i] = a[i + 1] + b[i]; }
LOOP(shift_up_backwards) { VECTORS for (int64_t i = n - 2; i >= 0; i--) a[i + 1] = a[i] + b[i]; }
LOOP(sixteen_behind) { VECTORS for (int64_t i = 16; i < n; i++) a[i] = a[i - 16] + b[i]; }
LOOP(halves) { VECTORS int64_t h = n / 2; for (int64_t i = 0; i < h; i++) a[i] = a[i + h] + b[i]; }
LOOP(back_to_front) { VECTORS for (int64_t i = 0; i < n; i++) a[n - 1 - i] = b[i] * b[i]; }
LOOP(mirror) { VECTORS for (int64_t i = 0; i < n; i++) a[i] = a[n - 1 - i] * b[i]; }
LOOP(evens_from_odds) { VECTORS for (int64_t i = 0; i < n / 2; i++) a[2 * i] = a[2 * i + 1] + b[i]; }
LOOP(downwards) { VECTORS for (int64_t i = n - 1; i >= 0; i--) a[i] = a[i] + b[i]; }
LOOP(every_second) { VECTORS int64_t j = -1; for (int64_t i = 0; i < n / 2; i++) { j += 2; a[j] = a[j - 1] + b[i]; } }
LOOP(two_pointers) {
    VECTORS int64_t j = 0, l = 1;
    for (int64_t i = 0; i < n / 2; i++) { a[i] = b[j] * c[l]; j += 1; l += 2; }
}
LOOP(counts_down) { VECTORS int64_t l = n; for (int64_t i = 0; i < n; i++) { l -= 1; a[i] = b[l] + b[i]; } }
LOOP(coupled) {
    VECTORS int64_t j = 0;
    for (int64_t i = 0; i < n / 2; i++) { j += 1; int64_t l = i + j; a[l] = b[i] + b[l]; }
}
LOOP(packed_triangle) {
    VECTORS int64_t l = 0;
    for (int64_t i = 0; i < m / 2; i++) for (int64_t j = 0; j < i + 1; j++) { a[l] = AA(i, j); l += 1; }
}
LOOP(packed_square) {
    VECTORS int64_t l = 0;
    for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < m; j++) { flat[l] = AA(i, j) + flat[l]; l += 1; }
}
LOOP(stepped_in_both) {
    VECTORS int64_t j = -1;
    for (int64_t i = 0; i < n / 2; i++) {
        if (b[i] > 0.0f) { j += 1; a[j] = b[i] + c[i]; } else { j += 1; a[j] = d[i] + c[i]; }
    }
}
LOOP(wraps_index) {
    VECTORS int64_t p = n - 1;
    for (int64_t i = 0; i < n; i++) { a[i] = (b[i] + b[p]) * 0.5f; p = i; }
}
LOOP(wraps_twice) {
    VECTORS int64_t p = n - 1, q = n - 2;
    for (int64_t i = 0; i < n; i++) { a[i] = (b[i] + b[p] + b[q]) * 0.333f; q = p; p = i; }
}
LOOP(carries_a_value) {
    VECTORS float x = b[n - 1];
    for (int64_t i = 0; i < n; i++) { a[i] = (b[i] + x) * 0.5f; x = b[i]; }
}
LOOP(reader_first) {
    VECTORS for (int64_t i = 1; i < n - 1; i++) { a[i] = b[i - 1] + c[i] * d[i]; b[i] = b[i + 1] - e[i] * d[i]; }
}
LOOP(overwritten_ahead) {
    VECTORS for (int64_t i = 0; i < n - 1; i++) { a[i] = a[i] * c[i]; b[i] = b[i] + a[i + 1] * d[i]; }
}
LOOP(writer_first) { VECTORS for (int64_t i = 1; i < n; i++) { a[i] = c[i] * 2.0f; b[i] = a[i - 1] + c[i]; } }
LOOP(three_in_a_row) {
    VECTORS for (int64_t i = 2; i < n; i++) { a[i] = d[i] * 0.5f; b[i] = a[i - 1] + d[i]; c[i] = b[i - 2] * a[i]; }
}
LOOP(beside_a_recurrence) {
    VECTORS for (int64_t i = 1; i < n; i++) { a[i] = a[i] + c[i] * d[i]; b[i] = b[i - 1] + a[i] + d[i]; }
}
LOOP(around_a_recurrence) {
    VECTORS for (int64_t i = 1; i < n; i++) {
        a[i] = a[i] + b[i] * c[i]; e[i] = e[i - 1] * e[i - 1]; a[i] = a[i] - b[i] * c[i];
    }
}
LOOP(total_and_square) {
    VECTORS float s = 0;
    for (int64_t i = 0; i < n; i++) { c[i] = b[i] * b[i] + c[i]; s = s + b[i]; a[i] = s; }
}
LOOP(scalar_between) {
    VECTORS for (int64_t i = 1; i < n; i++) { float t = b[i] * c[i]; a[i] = a[i - 1] * 0.5f + t; d[i] = t + c[i]; }
}
LOOP(reads_ahead) {
    VECTORS for (int64_t i = 0; i < n - 1; i++) { a[i] = b[i] * c[i] * d[i]; b[i] = a[i] * a[i + 1] * d[i]; }
}
LOOP(between_two_writes) {
    VECTORS for (int64_t i = 0; i < n - 1; i++) {
        a[i] = b[i] + c[i] * d[i]; b[i] = a[i] + d[i] * e[i]; a[i] = b[i] + a[i + 1] * d[i];
    }
}
LOOP(writes_ahead) {
    VECTORS for (int64_t i = 0; i < n - 1; i++) {
        a[i] = b[i] + c[i] * d[i]; b[i] = c[i] + b[i]; a[i + 1] = b[i] + a[i + 1] * d[i];
    }
}
LOOP(three_point_ahead) {
    VECTORS for (int64_t i = 0; i < n - 2; i++) a[i] = a[i] * 0.25f + a[i + 1] * 0.5f + a[i + 2] * 0.25f + b[i];
}
LOOP(own_scalar) { VECTORS for (int64_t i = 0; i < n; i++) { float s = b[i] + c[i]; a[i] = s * s; } }
LOOP(scalar_of_before) {
    VECTORS float t = 0;
    for (int64_t i = 0; i < n; i++) { float s = b[i] * c[i]; a[i] = s + t; t = s; }
}
LOOP(scalar_in_branch) {
    VECTORS for (int64_t i = 0; i < n; i++)
        if (a[i] > b[i]) { float s = a[i] - b[i] * d[i]; c[i] = c[i] + s; a[i] = s; }
}
LOOP(one_cell) { VECTORS for (int64_t i = 0; i < n; i++) { last[0] = b[i] * 2.0f; a[i] = last[0] + b[i]; } }
LOOP(swap) { VECTORS for (int64_t i = 0; i < n; i++) { float t = a[i]; a[i] = b[i]; b[i] = t; } }
LOOP(last_one_wins) {
    VECTORS float t = 0;
    for (int64_t i = 0; i < n; i++) { t = b[i] * 2.0f; a[i] = t + 1.0f; }
    g->results[0] = t;
}
LOOP(where_positive) { VECTORS for (int64_t i = 0; i < n; i++) if (b[i] > 0.0f) a[i] = a[i] + b[i] * c[i]; }
LOOP(both_ways) {
    VECTORS for (int64_t i = 0; i < n; i++) {
        a[i] = b[i] + c[i] * d[i];
        if (a[i] > 0.0f) b[i] = a[i] + b[i]; else a[i] = d[i] * c[i];
    }
}
LOOP(nested_conditions) {
    VECTORS for (int64_t i = 0; i < n; i++) {
        if (a[i] > 0.0f) { if (b[i] > 0.0f) c[i] = a[i] * b[i]; else c[i] = d[i]; }
        else if (b[i] > a[i]) c[i] = -d[i];
    }
}
LOOP(skips) { VECTORS for (int64_t i = 0; i < n; i++) { if (b[i] < 0.0f) continue; a[i] = b[i] * c[i] + a[i]; } }
LOOP(first_half_only) { VECTORS for (int64_t i = 0; i < n; i++) if (i < n / 2) a[i] = a[i] + b[i]; }
LOOP(clipped) {
    VECTORS for (int64_t i = 0; i < n; i++) { float x = b[i]; a[i] = x > 0.5f ? 0.5f : x < -0.5f ? -0.5f : x; }
}
LOOP(invariant_condition) {
    VECTORS for (int64_t i = 0; i < n; i++) if (k > 0) a[i] = a[i] + b[i] * c[i]; else a[i] = a[i] - b[i];
}
LOOP(meets_itself) {
    VECTORS for (int64_t i = 0; i < n; i++) { float x = a[n - 1 - i] + b[i] * c[i]; a[i] = x - 1.0f; b[i] = x; }
}
LOOP(one_writes_all_read) { VECTORS for (int64_t i = 0; i < n; i++) a[i] = a[n / 2] + b[i]; }
LOOP(other_half) { VECTORS for (int64_t i = 0; i < n / 2; i++) a[i] = a[n - 1 - i] * b[i]; }
LOOP(shifted_by_k) { VECTORS for (int64_t i = 0; i < n - 8; i++) a[i] = a[i + k] + b[i]; }
LOOP(half_apart) { VECTORS int64_t h = n / 2; for (int64_t i = 0; i < h; i++) a[i + h] = a[i] + b[i]; }
LOOP(stride_k) { VECTORS for (int64_t i = 0; i < n / 4; i++) a[i * k] = b[i]; }
LOOP(reads_one) { VECTORS for (int64_t i = 0; i < n - 1; i++) a[i] = a[k] * b[i]; }
LOOP(every_third) { VECTORS for (int64_t i = 0; i < n / 3; i++) a[3 * i] = b[3 * i + 1] + b[i]; }
LOOP(step_five) { VECTORS for (int64_t i = 0; i < n; i += 5) a[i] = b[i] * 2.0f; }
LOOP(interleaves) { VECTORS for (int64_t i = 0; i < n / 2; i++) { a[2 * i] = b[i]; a[2 * i + 1] = c[i]; } }
LOOP(complex_product) {
    VECTORS for (int64_t i = 0; i < n / 2; i++) {
        a[2 * i] = b[2 * i] * c[2 * i] - b[2 * i + 1] * c[2 * i + 1];
        a[2 * i + 1] = b[2 * i] * c[2 * i + 1] + b[2 * i + 1] * c[2 * i];
    }
}
LOOP(unrolled_five) {
    VECTORS for (int64_t i = 0; i < n - 4; i += 5) {
        a[i] += alpha * b[i]; a[i + 1] += alpha * b[i + 1]; a[i + 2] += alpha * b[i + 2];
        a[i + 3] += alpha * b[i + 3]; a[i + 4] += alpha * b[i + 4];
    }
}
LOOP(unrolled_dot) {
    VECTORS float s = 0;
    for (int64_t i = 0; i < n - 3; i += 4)
        s = s + a[i] * b[i] + a[i + 1] * b[i + 1] + a[i + 2] * b[i + 2] + a[i + 3] * b[i + 3];
    g->results[0] = s;
}

/* ---- indexed */

LOOP(down_the_columns) {
    VECTORS for (int64_t i = 0; i < m; i++) for (int64_t j = 1; j < m; j++) AA(j, i) = AA(j - 1, i) + BB(j, i);
}
LOOP(row_after_row) {
    VECTORS for (int64_t i = 1; i < m; i++) for (int64_t j = 0; j < m; j++) AA(i, j) = AA(i - 1, j) + BB(i, j);
}
LOOP(triangle_of_chains) {
    VECTORS for (int64_t j = 1; j < m; j++)
        for (int64_t i = 1; i < j + 1; i++) AA(j, i) = AA(j, i - 1) * AA(j, i - 1) * 0.25f + BB(j, i);
}
LOOP(wavefront) {
    VECTORS for (int64_t i = 1; i < m; i++)
        for (int64_t j = 1; j < m; j++) AA(i, j) = (AA(i - 1, j) + AA(i, j - 1)) * 0.5f;
}
LOOP(transposed) { VECTORS for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < m; j++) BB(j, i) = AA(i, j); }
LOOP(transposed_in_place) {
    VECTORS for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < i; j++) { float t = AA(i, j); AA(i, j) = AA(j, i); AA(j, i) = t; }
}
LOOP(diagonal) { VECTORS for (int64_t i = 0; i < m; i++) AA(i, i) = AA(i, i) + a[i]; }
LOOP(upper_triangle) {
    VECTORS for (int64_t i = 0; i < m; i++) for (int64_t j = i; j < m; j++) AA(i, j) = AA(i, j) * BB(j, i);
}
LOOP(anti_diagonals) {
    VECTORS for (int64_t r = 1; r < m; r++)
        for (int64_t i = 0; i < r; i++) AA(i, r - 1 - i) = BB(i, r - 1 - i) * 2.0f;
}
LOOP(row_sums) {
    VECTORS for (int64_t i = 0; i < m; i++) { float s = 0; for (int64_t j = 0; j < m; j++) s += AA(i, j); a[i] = s; }
}
LOOP(column_sums) { VECTORS for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < m; j++) a[j] += AA(i, j); }
LOOP(matrix_vector) { VECTORS for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < m; j++) a[i] += AA(i, j) * b[j]; }
LOOP(all_of_square) {
    VECTORS float s = 0;
    for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < m; j++) s += AA(i, j);
    g->results[0] = s;
}
LOOP(shared_row) {
    VECTORS for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++) a[j] = AA(i, j) * 2.0f;
        for (int64_t j = 0; j < m; j++) BB(i, j) = a[j] + a[j] * a[j];
    }
}
LOOP(shortest_paths) {
    VECTORS for (int64_t l = 0; l < m; l++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < m; j++) {
                float x = AA(i, l) + AA(l, j);
                AA(i, j) = x < AA(i, j) ? x : AA(i, j);
            }
}
LOOP(five_points) {
    VECTORS for (int64_t i = 1; i < m - 1; i++)
        for (int64_t j = 1; j < m - 1; j++)
            BB(i, j) = 0.2f * (AA(i, j) + AA(i - 1, j) + AA(i + 1, j) + AA(i, j - 1) + AA(i, j + 1));
}
LOOP(flat_square) {
    VECTORS for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) flat[i * m + j] = AA(i, j) + flat[i * m + j];
}
LOOP(flat_rows) {
    VECTORS for (int64_t i = 1; i < m; i++)
        for (int64_t j = 0; j < m; j++) flat[i * m + j] = flat[(i - 1) * m + j] * 0.5f + flat[i * m + j];
}
LOOP(flat_by_division) { VECTORS for (int64_t i = 0; i < m * m; i++) flat[i] = AA(i / m, i % m); }
LOOP(pairs_by_division) { VECTORS for (int64_t i = 0; i < n; i++) a[i] = b[i / 2] + b[i / 2 * 2]; }
LOOP(gathered) { VECTORS for (int64_t i = 0; i < n; i++) a[i] = b[perm[i]] * 2.0f; }
LOOP(gathered_sum) { VECTORS float s = 0; for (int64_t i = 0; i < n; i++) s += b[some[i]]; g->results[0] = s; }
LOOP(scattered) { VECTORS for (int64_t i = 0; i < n; i++) a[perm[i]] = b[i] * 2.0f; }
LOOP(scattered_twice) { VECTORS for (int64_t i = 0; i < n; i++) a[some[i]] = b[i]; }
LOOP(histogram) { VECTORS for (int64_t i = 0; i < n; i++) hist[key[i]] += a[i]; }
LOOP(through_permutation) { VECTORS for (int64_t i = 0; i < n; i++) a[perm[i]] = a[perm[i]] * 0.5f + b[i]; }
LOOP(follows_pointers) { VECTORS for (int64_t i = 0; i < n; i++) a[i] = a[some[i]] + b[i]; }
LOOP(two_gathers) { VECTORS for (int64_t i = 0; i < n; i++) a[i] = b[perm[i]] + c[some[i]] * b[i]; }

/* ---- combining */

LOOP(total) { VECTORS float s = 0; for (int64_t i = 0; i < n; i++) s += a[i]; g->results[0] = s; }
LOOP(dot) { VECTORS float s = 0; for (int64_t i = 0; i < n; i++) s += a[i] * b[i]; g->results[0] = s; }
LOOP(product) { VECTORS float s = 1; for (int64_t i = 0; i < n; i++) s *= a[i] * 0.001f + 1.0f; g->results[0] = s; }
LOOP(largest) { VECTORS float x = a[0]; for (int64_t i = 0; i < n; i++) if (a[i] > x) x = a[i]; g->results[0] = x; }
LOOP(smallest_by_min) {
    VECTORS float x = a[0]; for (int64_t i = 1; i < n; i++) x = a[i] < x ? a[i] : x; g->results[0] = x;
}
LOOP(total_of_positive) {
    VECTORS float s = 0; for (int64_t i = 0; i < n; i++) if (a[i] > 0.0f) s += a[i]; g->results[0] = s;
}
LOOP(how_many) { VECTORS int64_t s = 0; for (int64_t i = 0; i < n; i++) if (a[i] > 0.25f) s += 1; g->results[0] = s; }
LOOP(two_at_once) {
    VECTORS float s = 0, t = 0;
    for (int64_t i = 0; i < n; i++) { s += a[i] * b[i]; t += a[i] * a[i]; }
    g->results[0] = s; g->results[1] = t;
}
LOOP(every_fourth) { VECTORS float s = 0; for (int64_t i = 0; i < n; i += 4) s += a[i]; g->results[0] = s; }
LOOP(largest_magnitude) {
    VECTORS float x = 0; for (int64_t i = 0; i < n; i++) if (fabsf(a[i]) > x) x = fabsf(a[i]); g->results[0] = x;
}
LOOP(any_above) { VECTORS int x = 0; for (int64_t i = 0; i < n; i++) x = x || a[i] > 2.0f; g->results[0] = x; }
LOOP(checksum) {
    VECTORS int64_t x = 0; for (int64_t i = 0; i < n; i++) x ^= perm[i] * 2654435761; g->results[0] = x;
}
LOOP(into_one_element) { VECTORS for (int64_t i = 0; i < n; i++) last[0] += a[i]; }
LOOP(largest_of_square) {
    VECTORS float x = AA(0, 0);
    for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < m; j++) if (AA(i, j) > x) x = AA(i, j);
    g->results[0] = x;
}
LOOP(where_largest) {
    VECTORS float x = a[0]; int64_t w = 0;
    for (int64_t i = 1; i < n; i++) if (a[i] > x) { x = a[i]; w = i; }
    g->results[0] = x; g->results[1] = w;
}
LOOP(where_smallest_last) {
    VECTORS float x = a[0]; int64_t w = 0;
    for (int64_t i = 0; i < n; i++) if (a[i] <= x) { x = a[i]; w = i; }
    g->results[0] = w;
}
LOOP(where_largest_magnitude) {
    VECTORS float x = fabsf(a[0]); int64_t w = 0;
    for (int64_t i = 0; i < n; i++) if (fabsf(a[i]) > x) { x = fabsf(a[i]); w = i; }
    g->results[0] = x; g->results[1] = w;
}
LOOP(where_in_square) {
    VECTORS float x = AA(0, 0); int64_t r = 0, w = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) if (AA(i, j) > x) { x = AA(i, j); r = i; w = j; }
    g->results[0] = x; g->results[1] = r; g->results[2] = w;
}
LOOP(last_positive) { VECTORS float x = -1; for (int64_t i = 0; i < n; i++) if (a[i] > 0.0f) x = a[i]; g->results[0] = x; }
LOOP(where_last_negative) {
    VECTORS int64_t w = -1; for (int64_t i = 0; i < n; i++) if (a[i] < 0.0f) w = i; g->results[0] = w;
}
LOOP(running_scalar) { VECTORS float s = 0; for (int64_t i = 0; i < n; i++) { s += a[i]; b[i] = s; } }
LOOP(running_largest) {
    VECTORS float x = a[0]; for (int64_t i = 0; i < n; i++) { x = a[i] > x ? a[i] : x; b[i] = x; }
}
LOOP(first_order) { VECTORS for (int64_t i = 1; i < n; i++) a[i] = a[i - 1] * b[i] + c[i]; }
LOOP(smoothed) {
    VECTORS float s = a[0]; for (int64_t i = 0; i < n; i++) { s = alpha * a[i] + (1 - alpha) * s; b[i] = s; }
}
LOOP(first_above) {
    VECTORS int64_t w = -1; for (int64_t i = 0; i < n; i++) if (a[i] > 2.0f) { w = i; break; } g->results[0] = w;
}
LOOP(is_there) {
    VECTORS int w = 0; for (int64_t i = 0; i < n; i++) if (a[i] == alpha) { w = 1; break; } g->results[0] = w;
}
LOOP(pack_positive) {
    VECTORS int64_t j = 0; for (int64_t i = 0; i < n; i++) if (b[i] > 0.0f) { a[j] = b[i]; j += 1; } g->results[0] = j;
}
LOOP(unpack_positive) {
    VECTORS int64_t j = 0; for (int64_t i = 0; i < n; i++) if (b[i] > 0.0f) { a[i] = c[j]; j += 1; }
}
LOOP(indices_of_negative) {
    VECTORS int64_t j = 0; for (int64_t i = 0; i < n; i++) if (a[i] < 0.0f) { out[j] = i; j += 1; } g->results[0] = j;
}
LOOP(split_in_two) {
    VECTORS int64_t j = 0, l = 0;
    for (int64_t i = 0; i < n; i++) if (a[i] > 0.0f) { b[j] = a[i]; j += 1; } else { c[l] = a[i]; l += 1; }
    g->results[0] = j;
}

/* ---- the clock */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* One call of a kernel of either kind, in seconds. */
double time_loop(void (*loop)(struct arguments *), struct arguments *g)
{
    double begin = now();
    loop(g);
    return now() - begin;
}

int32_t (*timed_kernel)(int64_t *);
double kernel_seconds;

/* Has a kernel's own interface, so that what calls kernels calls it. */
int32_t time_kernel(int64_t *frame)
{
    double begin = now();
    int32_t status = timed_kernel(frame);
    kernel_seconds = now() - begin;
    return status;
}
