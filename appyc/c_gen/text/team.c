/* What gcc makes of OpenMP's parallel loops, done by the threads of the process (runtime/_team.h) instead of
 * libgomp's: the functions of libgomp that a parallel loop calls. Linked with every kernel that has one. clang calls
 * other functions and keeps its own library. Without a team, where the loader has set none, a region has one member. */
#include <time.h>

#ifndef __clang__
#define HIDDEN __attribute__((visibility("hidden")))

const struct {
    void (*run)(void (*)(void *), void *, int);
    int (*member)(void);
    int (*members)(void);
    void (*start)(long, long, long, long);
    _Bool (*next)(long *, long *);
    _Bool (*is_crowded)(void);
} *appyc_team;

HIDDEN _Bool team_is_crowded(void) { return appyc_team && appyc_team->is_crowded(); }
HIDDEN int omp_get_thread_num(void) { return appyc_team ? appyc_team->member() : 0; }
HIDDEN int omp_get_num_threads(void) { return appyc_team ? appyc_team->members() : 1; }

HIDDEN double omp_get_wtime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

HIDDEN void GOMP_parallel(void (*region)(void *), void *data, unsigned threads, unsigned flags) {
    (void)flags;
    if (appyc_team) appyc_team->run(region, data, (int)threads);
    else region(data);
}

/* Alone, one chunk is the whole loop. */
static __thread long alone_start, alone_end;

static _Bool next_chunk(long *start, long *end) {
    if (appyc_team) return appyc_team->next(start, end);
    if (alone_start == alone_end) return 0;
    *start = alone_start, *end = alone_start = alone_end;
    return 1;
}

static _Bool first_chunk(long start, long end, long step, long chunk, long *first, long *last) {
    if (appyc_team) appyc_team->start(start, end, step, chunk);
    else alone_start = start, alone_end = end;
    return next_chunk(first, last);
}

#define DYNAMIC(kind)                                                                                             \
    HIDDEN _Bool GOMP_loop_##kind##_start(long start, long end, long step, long chunk, long *first, long *last) {  \
        return first_chunk(start, end, step, chunk, first, last);                                                 \
    }                                                                                                             \
    HIDDEN _Bool GOMP_loop_##kind##_next(long *first, long *last) { return next_chunk(first, last); }

DYNAMIC(dynamic)
DYNAMIC(nonmonotonic_dynamic)

/* A region that is nothing but its loop. */
struct combined {
    void (*region)(void *);
    void *data;
    long start, end, step, chunk;
};

static void run_combined(void *given) {
    const struct combined *const loop = given;
    if (appyc_team) appyc_team->start(loop->start, loop->end, loop->step, loop->chunk);
    else alone_start = loop->start, alone_end = loop->end;
    loop->region(loop->data);
}

#define COMBINED(kind)                                                                                            \
    HIDDEN void GOMP_parallel_loop_##kind(void (*region)(void *), void *data, unsigned threads, long start,       \
                                          long end, long step, long chunk, unsigned flags) {                      \
        struct combined loop = {region, data, start, end, step, chunk};                                           \
        GOMP_parallel(run_combined, &loop, threads, flags);                                                       \
    }

COMBINED(dynamic)
COMBINED(nonmonotonic_dynamic)

HIDDEN void GOMP_loop_end_nowait(void) {}
HIDDEN void GOMP_loop_end(void) {}
#endif
