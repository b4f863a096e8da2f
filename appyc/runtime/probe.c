/* Times what the choice between one thread and several needs to know; see measure.py.
 *
 * Another program may take a core at any moment, so each figure is the least of many short runs,
 * and no kind of run is repeated for longer than its share of the time. */
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 2048 };
#define FEW __attribute__((noinline))
#define LEAST(out, runs, budget, setup, run, units)                                                     \
    do {                                                                                                \
        const double until_ = now() + (budget);                                                         \
        double least_ = 1e300;                                                                          \
        for (int k_ = 0; k_ < (runs) && (k_ < 3 || now() < until_); k_++) {                             \
            setup;                                                                                      \
            const double start_ = now();                                                                \
            run;                                                                                        \
            const double took_ = (now() - start_) / (double)(units);                                    \
            least_ = took_ < least_ ? took_ : least_;                                                   \
        }                                                                                               \
        (out) = least_;                                                                                 \
    } while (0)

static double now(void) { return omp_get_wtime() * 1e9; }

/* Four operations for each element: two loads, a product, a sum; and a store, which is a fifth. */
static FEW void in_lanes(double *restrict a, const double *restrict b, int64_t n, double x)
{
    for (int64_t i = 0; i < n; i++)
        a[i] = a[i] * x + b[i];
}

static FEW void one_by_one(double *restrict a, const double *restrict b, int64_t n, double x)
{
    for (int64_t i = 0; i < n; i++) {
        a[i] = a[i] * x + b[i];
        __asm__ volatile("" ::: "memory"); /* keeps it out of vectors, in any compiler */
    }
}

static FEW double sum_of(const double *a, const int64_t *indices, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[indices[i]];
    return sum;
}

static FEW void stream(double *restrict a, const double *restrict b, int64_t n, double x)
{
    for (int64_t i = 0; i < n; i++)
        a[i] = x * b[i];
}

static void stream_shared(double *a, const double *b, int64_t n, double x, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int piece = 0; piece < threads; piece++) {
        const int64_t begin = n * piece / threads, end = n * (piece + 1) / threads;
        stream(a + begin, b + begin, end - begin, x);
    }
}

static FEW void touch(int64_t *count, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int piece = 0; piece < threads; piece++)
        count[piece * 8] += 1;
}

static void idle(int64_t *count, int threads, double gap)
{
    touch(count, threads);
    const double until = now() + gap;
    while (now() < until) {
    }
}

static void nap(void)
{
    const struct timespec time = {0, 3000000};
    nanosleep(&time, 0);
}

/* Indices in an order that no prefetcher predicts, one in each line at most. */
static void shuffle(int64_t *indices, int64_t length)
{
    static uint64_t random = 1;
    for (int64_t i = 0; i < SMALL; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        indices[i] = (int64_t)((random >> 20) % (uint64_t)(length / 8)) * 8;
    }
}

/* out: in the order of the fields of Machine. far_bytes: more than a core's own cache holds. Returns
 * how often this thread lost its core to another, or -1 where there is no memory. */
long appyc_probe(double *out, int threads, int64_t far_bytes)
{
    struct rusage before, after;
    int64_t near_bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    near_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    if (near_bytes < (1 << 16))
        near_bytes = 1 << 20;
    if (far_bytes < 8 * near_bytes)
        far_bytes = 8 * near_bytes;
    const int64_t far = far_bytes / 16, few = near_bytes / 32; /* doubles in each of two arrays */
    double *a = malloc((size_t)far * 8), *b = malloc((size_t)far * 8);
    int64_t *indices = malloc(SMALL * 8), *count = calloc((size_t)threads * 8 + 8, 8);
    volatile double sink;
    getrusage(RUSAGE_SELF, &before);
    if (!a || !b || !indices || !count)
        return -1;
    stream_shared(b, a, far, 0, threads); /* pages come from the system, near those who use them */
    stream_shared(a, b, far, 0, threads);

    LEAST(out[0], 20, 4e6, , in_lanes(a, b, SMALL, 0.5), SMALL * 5);
    LEAST(out[1], 20, 4e6, , one_by_one(a, b, SMALL, 0.5), SMALL * 5);
    LEAST(out[2], 20, 4e6, shuffle(indices, few); sum_of(a, indices, SMALL), sink = sum_of(a, indices, SMALL), SMALL);
    LEAST(out[3], 20, 8e6, shuffle(indices, far), sink = sum_of(a, indices, SMALL), SMALL);
    out[4] = (double)near_bytes;
    LEAST(out[5], 20, 4e6, stream(a, b, few, 1), stream(a, b, few, 1), 24 * few);
    LEAST(out[6], 5, 2e7, , stream(a, b, far, 1), 24 * far);
    LEAST(out[7], 5, 2e7, , stream_shared(a, b, far, 1, threads), 24 * far);
    LEAST(out[8], 300, 1e7, , touch(count, threads), 1);
    LEAST(out[9], 8, 3e7, nap(), touch(count, threads), 1);
    if (out[7] > out[6])
        out[7] = out[6];
    if (out[9] < out[8])
        out[9] = out[8];
    for (double gap = out[10] = 5e4; gap < 4e6; gap *= 2) { /* the longest that leaves threads awake */
        double took;
        LEAST(took, 3, 0, idle(count, threads, gap), touch(count, threads), 1);
        if (took > (out[8] + out[9]) / 2)
            break;
        out[10] = gap;
    }
    out[11] = 1 << 25; /* see ir/machine_model.py: no way to measure it in a few milliseconds is known */
    out[12] = out[13] = 0; /* see measure.py: not by this function */
    sink = a[far / 2] + (double)count[0];
    getrusage(RUSAGE_SELF, &after);
    free(a), free(b), free(indices), free(count);
    return after.ru_nivcsw - before.ru_nivcsw;
}
