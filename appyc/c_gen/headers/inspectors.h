// C functions of the inspector-executor scheme: they test index arrays before a loop runs (`Apart`, `Ascending`).
//
// Iterations are independent where none accesses an element that another one writes. Every element that is
// written gets a bit, and a bit that is set already marks an element of two iterations. Each thread
// has a bitmap of its own, so that none waits for another. The intersection of two bitmaps shows the elements
// that both threads' parts of the loop write. Where the axis is long and the loop short, a hash table of
// the elements takes less memory than a bitmap, and one thread fills it.

//: iteration_index
/* The index that iteration i touches: element i + offset of an index array, or i + offset. */
struct iteration_index {
    const char *data;
    int64_t stride, length, offset;
    bool (*mark)(const struct iteration_index *, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, uint64_t *);
    int64_t (*touched)(const struct iteration_index *, int64_t, int64_t);
};

//: apart <- iteration_index trip_count piece_start
static bool marked_in_table(
    const struct iteration_index *const writes, const int64_t count, const int64_t lo, const int64_t step,
    const int64_t trips, const int64_t extent, uint64_t *const table, const uint64_t size) {
    for (int64_t k = 0; k < trips; k++) {
        for (int64_t w = 0; w < count; w++) {
            const int64_t i = lo + k * step, index = writes[w].touched(&writes[w], i, extent);
            bool own = index < 0;
            for (int64_t e = 0; e < w && !own; e++) own = writes[e].touched(&writes[e], i, extent) == index;
            if (own) continue;
            uint64_t at = (uint64_t)index * 0x9E3779B97F4A7C15u & (size - 1);
            while (table[at] != 0 && table[at] != (uint64_t)index + 1) at = (at + 1) & (size - 1);
            if (table[at] != 0) return true;
            table[at] = (uint64_t)index + 1;
        }
    }
    return false;
}

static bool is_in_table(const uint64_t *const table, const uint64_t size, const int64_t index) {
    uint64_t at = (uint64_t)index * 0x9E3779B97F4A7C15u & (size - 1);
    while (table[at] != 0 && table[at] != (uint64_t)index + 1) at = (at + 1) & (size - 1);
    return table[at] != 0;
}

/* Whether no iteration touches an index that another one writes. */
static __attribute__((noinline)) bool apart(
    const struct iteration_index *const writes, const int64_t writing, const struct iteration_index *const reads,
    const int64_t reading, const int64_t lo, const int64_t hi, const int64_t step, const int64_t extent,
    const int64_t threads, const bool optional) {
    const int64_t trips = trip_count(lo, hi, step), words = extent / 64 + 1;
    if (optional && (threads < 2 || trips < MIN_ITERATIONS)) return false;
    if (trips < 2) return true;
    const bool bits = words < trips * writing * 2 + 1024;
    const int64_t affordable = bits ? 1 + 4 * trips / words : 1; /* 32 bytes for an iteration at most */
    const int64_t wanted = threads < affordable ? threads : affordable;
    const int64_t pieces = wanted > 1 && trips >= MIN_ITERATIONS ? wanted : 1;
    uint64_t size = bits ? (uint64_t)words : 64;
    while (!bits && size < (uint64_t)(trips * writing) * 2) size *= 2;
    uint64_t *const seen = __builtin_calloc(size * (uint64_t)pieces, 8);
    if (!seen) return false;
    bool meets = !bits && marked_in_table(writes, writing, lo, step, trips, extent, seen, size);
#pragma omp parallel for num_threads((int)pieces) if (pieces > 1) reduction(| : meets)
    for (int64_t piece = 0; piece < (bits ? pieces : 0); piece++)
        for (int64_t w = 0; w < writing; w++)
            meets |= writes[w].mark(writes, w, lo, step, piece_start(trips, piece, pieces),
                                    piece_start(trips, piece + 1, pieces), extent, seen + piece * words);
    if (pieces > 1 && !meets) {
#pragma omp parallel for num_threads((int)pieces) reduction(| : meets)
        for (int64_t word = 0; word < words; word++) {
            uint64_t all = 0;
            for (int64_t piece = 0; piece < pieces; piece++) {
                meets |= (all & seen[piece * words + word]) != 0;
                all |= seen[piece * words + word];
            }
            seen[word] = all;
        }
    }
    if (reading > 0 && !meets) {
#pragma omp parallel for num_threads((int)pieces) if (pieces > 1) reduction(| : meets)
        for (int64_t k = 0; k < trips; k++) {
            const int64_t i = lo + k * step;
            for (int64_t r = 0; r < reading; r++) {
                const int64_t index = reads[r].touched(&reads[r], i, extent);
                if (index < 0) continue;
                if (!(bits ? seen[index / 64] >> (index % 64) & 1 : is_in_table(seen, size, index))) continue;
                bool own = false;
                for (int64_t w = 0; w < writing; w++) own |= writes[w].touched(&writes[w], i, extent) == index;
                meets |= !own;
            }
        }
    }
    __builtin_free(seen);
    return !meets;
}

//: touched_D <- iteration_index
static int64_t touched_D(const struct iteration_index *const at, int64_t i, const int64_t extent) {
    i += at->offset;
    if (at->data) {
        if (i < 0) i += at->length;
        if ((uint64_t)i >= (uint64_t)at->length) return -1;
        const T value = *(const T *)(at->data + i * at->stride);
        if ((T)-1 > 0 && (uint64_t)value >> 63) return -1;
        i = (int64_t)value;
    }
    if (i < 0) i += extent;
    return (uint64_t)i < (uint64_t)extent ? i : -1;
}

//: mark_D <- touched
/* Sets the bits of the indices that iterations [begin, end) write; true where one was set. */
static bool mark_D(
    const struct iteration_index *const writes, const int64_t which, const int64_t lo, const int64_t step,
    const int64_t begin, const int64_t end, const int64_t extent, uint64_t *const seen) {
    const struct iteration_index at = writes[which];
    for (int64_t k = begin; k < end; k++) {
        const int64_t i = lo + k * step, index = touched_D(&at, i, extent);
        bool own = index < 0;
        for (int64_t w = 0; w < which && !own; w++) own = writes[w].touched(&writes[w], i, extent) == index;
        if (own) continue;
        const uint64_t bit = (uint64_t)1 << (index % 64);
        if (seen[index / 64] & bit) return true;
        seen[index / 64] |= bit;
    }
    return false;
}

//: ascending_D
/* Whether elements lo to hi are no negative numbers, and none is less than the one before. */
static bool ascending_D(const char *const data, const int64_t stride, const int64_t length, const int64_t lo,
                        const int64_t hi) {
    if (lo >= hi) return true;
    if (lo < 0) return false;
    const int64_t end = hi < length ? hi + 1 : length;
    bool all = true;
    T last = 0;
    for (int64_t k = lo; k < end; k++) {
        const T value = *(const T *)(data + k * stride);
        all &= value >= last;
        last = value;
    }
    return all;
}
