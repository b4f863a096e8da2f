/* The threads that share parallel loops, instead of libgomp's. Part of _dispatch.c, which alone includes it.
 *
 * A parallel region is run once for each of its members, as OpenMP has it; member 0 is the thread that calls. Threads
 * of a library wait for each other: a region ends when all have come. On a machine with other work a thread may come
 * milliseconds late to a loop of microseconds. Here the caller runs each member that no thread has begun by the time
 * it is done with its own, so it waits for members that have begun, never for a thread that has not come. Regions
 * hold one worksharing loop and no barrier, so that members may run one after another.
 *
 * Worker k runs member k and no other: a loop that is repeated finds its elements in the caches where it left them.
 * A worker keeps off the processor of the caller: a thread that sleeps is often woken where the thread is that wakes
 * it, and both then take turns beside an idle processor. The caller's own thread is never bound.
 *
 * A thread that loses its processor in the middle of a member still keeps the caller waiting. Once that has happened,
 * short loops are left to the caller for some times what it has waited (`is_crowded`, which kernels ask).
 *
 * Any number of threads may call at a time, as tasks of Dask's do, one for each processor. They share the threads that
 * kernels may use: a region has as many members as are idle, and at least the caller's share; how a kernel cuts its
 * loops does not depend on that. A region inside a region has one member. In a child made by fork there are no workers
 * until a region asks for them.
 */
#ifndef APPYC_TEAM_H
#define APPYC_TEAM_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#ifdef __linux__
#include <sched.h>
#include <sys/resource.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#define relax() __builtin_ia32_pause()
#else
#define relax() ((void)0)
#endif

enum { MOST_WORKERS = 1024 };
enum { IDLE_SPIN = 500000, JOIN_SPIN = 1000000 }; /* nanoseconds before a waiting worker, or caller, sleeps */
enum { LONG_MEMBER = 200000 }; /* nanoseconds: whether a shorter one lost its processor is not looked at */
enum { REST = 16, MOST_REST = 1000000000 }; /* times the time waited, and nanoseconds, for which a team is crowded */
#define ONE_CALL ((int64_t)1 << 32)

/* What kernels call; appyc/c_gen/text/team.c declares the same. */
typedef struct {
    void (*run)(void (*region)(void *), void *data, int members);
    int (*member)(void);
    int (*members)(void);
    void (*start)(long start, long end, long step, long chunk);
    bool (*next)(long *start, long *end);
    bool (*is_crowded)(void);
} Team;

/* A region that runs; on its caller's stack. All but `ended` is guarded by `team.lock`, and the loop by itself. */
typedef struct Region {
    void (*run)(void *);
    void *data;
    int members, processor;
    atomic_int ended;   /* members that are done */
    atomic_bool lost;   /* whether a worker has lost its processor in the middle of a member */
    unsigned char *begun; /* of each member, whether a thread has it */
    bool has_loop;
    long end, step, chunk;
    atomic_long next;
    struct Region *following;
} Region;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t joined;
    int waiting; /* callers that sleep until their members are done */
    int workers;
    Region *open;
    atomic_uint opened; /* regions so far */
    atomic_llong crowded_until;
    atomic_llong used; /* ONE_CALL for each call of a kernel at present, and 1 for each further member of its region */
    struct {
        pthread_cond_t called;
        bool asleep;
    } worker[MOST_WORKERS + 1]; /* from 1 on */
} team = {.lock = PTHREAD_MUTEX_INITIALIZER, .joined = PTHREAD_COND_INITIALIZER};

static _Thread_local struct {
    Region *region;
    int member;
} here;

static int64_t nanoseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int processor_here(void)
{
#ifdef __linux__
    return sched_getcpu();
#else
    return -1;
#endif
}

/* Keeps this worker off a processor, unless the region has as many members as there are processors or more. */
static void keep_off_processor(int processor, int members)
{
#ifdef __linux__
    static _Thread_local int avoided = -1;
    static _Thread_local int count = -1; /* processors that the thread may run on, by itself */
    static _Thread_local cpu_set_t allowed;
    cpu_set_t wanted;
    if (processor == avoided || processor < 0 || processor >= CPU_SETSIZE)
        return;
    if (count < 0)
        count = sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
    avoided = processor;
    if (count < 2)
        return;
    wanted = allowed;
    if (members <= count)
        CPU_CLR(processor, &wanted);
    sched_setaffinity(0, sizeof(wanted), &wanted); /* where that is forbidden, it stays as it is */
#else
    (void)processor, (void)members;
#endif
}

/* How often another thread has taken this one's processor. */
static long times_preempted(void)
{
#ifdef __linux__
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
#else
    return 0;
#endif
}

static bool is_crowded(void)
{
    const long long until = atomic_load_explicit(&team.crowded_until, memory_order_relaxed);
    return until && nanoseconds_now() < until;
}

static void run_member(Region *region, int member)
{
    here.region = region;
    here.member = member;
    region->run(region->data);
}

/* The open region whose member this worker has yet to begin; under the lock. */
static Region *region_for(int member)
{
    Region *region = team.open;
    while (region && (member >= region->members || region->begun[member]))
        region = region->following;
    return region;
}

static void *work(void *number)
{
    const int member = (int)(intptr_t)number;
    int64_t until = 0; /* when this worker has been idle for long enough to sleep */
    long preempted = times_preempted();
    pthread_mutex_lock(&team.lock);
    for (;;) {
        Region *const region = region_for(member);
        if (region) {
            const int members = region->members;
            region->begun[member] = 1;
            pthread_mutex_unlock(&team.lock);
            keep_off_processor(region->processor, members);
            const int64_t began = nanoseconds_now();
            run_member(region, member);
            const int64_t now = nanoseconds_now();
            if (now - began > LONG_MEMBER) {
                const long before = preempted;
                preempted = times_preempted();
                if (preempted > before)
                    atomic_store_explicit(&region->lost, true, memory_order_relaxed);
            }
            until = now + IDLE_SPIN;
            pthread_mutex_lock(&team.lock);
            /* Once the last member is done, the region may be gone. */
            if (atomic_fetch_add_explicit(&region->ended, 1, memory_order_release) + 1 == members && team.waiting)
                pthread_cond_broadcast(&team.joined);
            continue;
        }
        const unsigned seen = atomic_load_explicit(&team.opened, memory_order_relaxed);
        pthread_mutex_unlock(&team.lock);
        for (int turn = 0; atomic_load_explicit(&team.opened, memory_order_relaxed) == seen; turn++) {
            relax();
            if (turn % 64 == 63 && nanoseconds_now() > until)
                break;
        }
        pthread_mutex_lock(&team.lock);
        if (atomic_load_explicit(&team.opened, memory_order_relaxed) == seen) {
            team.worker[member].asleep = true;
            pthread_cond_wait(&team.worker[member].called, &team.lock);
            team.worker[member].asleep = false;
        }
    }
    return NULL;
}

/* Starts workers up to a number, as far as the system has threads; under the lock. They take no signals. */
static void hire(int wanted)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (team.workers < wanted && team.workers < MOST_WORKERS) {
        pthread_t thread;
        const int number = team.workers + 1;
        pthread_cond_init(&team.worker[number].called, NULL);
        team.worker[number].asleep = false;
        if (pthread_create(&thread, NULL, work, (void *)(intptr_t)number) != 0)
            break;
        pthread_detach(thread);
        team.workers = number;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Waits for the members that workers have begun. */
static void join_region(Region *region)
{
    const int64_t began = nanoseconds_now(), until = began + JOIN_SPIN;
    while (nanoseconds_now() < until) {
        if (atomic_load_explicit(&region->ended, memory_order_acquire) == region->members)
            return;
        relax();
    }
    pthread_mutex_lock(&team.lock);
    team.waiting++;
    while (atomic_load_explicit(&region->ended, memory_order_acquire) < region->members)
        pthread_cond_wait(&team.joined, &team.lock);
    team.waiting--;
    pthread_mutex_unlock(&team.lock);
    if (atomic_load_explicit(&region->lost, memory_order_relaxed)) {
        const int64_t now = nanoseconds_now(), rest = (now - began) * REST;
        atomic_store_explicit(&team.crowded_until, now + (rest < MOST_REST ? rest : MOST_REST), memory_order_relaxed);
    }
}

static void run_shared(Region *region)
{
    unsigned char begun[region->members];
    int ended = 1;
    memset(begun, 0, sizeof(begun));
    begun[0] = 1;
    region->begun = begun;
    region->processor = processor_here();
    pthread_mutex_lock(&team.lock);
    if (team.workers < region->members - 1)
        hire(region->members - 1);
    region->following = team.open;
    team.open = region;
    atomic_fetch_add_explicit(&team.opened, 1, memory_order_relaxed);
    for (int number = 1; number < region->members && number <= team.workers; number++)
        if (team.worker[number].asleep)
            pthread_cond_signal(&team.worker[number].called);
    pthread_mutex_unlock(&team.lock);
    run_member(region, 0);
    pthread_mutex_lock(&team.lock);
    for (int member = 1; member < region->members; member++)
        if (!begun[member]) {
            begun[member] = 1;
            pthread_mutex_unlock(&team.lock);
            run_member(region, member);
            ended++;
            pthread_mutex_lock(&team.lock);
        }
    Region **link = &team.open;
    while (*link != region)
        link = &(*link)->following;
    *link = region->following;
    pthread_mutex_unlock(&team.lock);
    if (atomic_fetch_add_explicit(&region->ended, ended, memory_order_acq_rel) + ended < region->members)
        join_region(region);
}

/* Notes that calls of kernels, and members of regions, begin or end. */
static void use(int64_t change)
{
    atomic_fetch_add_explicit(&team.used, change, memory_order_relaxed);
}

/* The members of a region of a kernel that may use some threads. */
static int members_for(int threads)
{
    const int64_t used = atomic_load_explicit(&team.used, memory_order_relaxed), callers = used / ONE_CALL;
    if (callers < 2)
        return threads;
    const int64_t share = threads / callers, idle = threads - (callers - 1) - used % ONE_CALL;
    return (int)(idle > share ? idle : share > 1 ? share : 1);
}

static void run_region(void (*run)(void *), void *data, int members)
{
    const __typeof__(here) around = here;
    if (members > 1 && members <= MOST_WORKERS && !around.region)
        members = members_for(members);
    else
        members = 1;
    Region region = {.run = run, .data = data, .members = members};
    if (members > 1) {
        use(members - 1);
        run_shared(&region);
        use(1 - members);
    } else {
        run_member(&region, 0);
    }
    here = around;
}

static int member_here(void)
{
    return here.region ? here.member : 0;
}

static int members_here(void)
{
    return here.region ? here.region->members : 1;
}

/* The loop of the region, whose iterations its members take in chunks. The first member that comes sets it up. */
static void start_loop(long start, long end, long step, long chunk)
{
    Region *const region = here.region;
    pthread_mutex_lock(&team.lock);
    if (!region->has_loop) {
        region->end = end;
        region->step = step;
        region->chunk = chunk * step;
        atomic_store(&region->next, start);
        region->has_loop = true;
    }
    pthread_mutex_unlock(&team.lock);
}

static bool next_chunk(long *start, long *end)
{
    Region *const region = here.region;
    const long at = atomic_fetch_add(&region->next, region->chunk), stop = at + region->chunk;
    const bool up = region->step > 0;
    if (up ? at >= region->end : at <= region->end)
        return false;
    *start = at;
    *end = (up ? stop > region->end : stop < region->end) ? region->end : stop;
    return true;
}

static const Team kernel_team = {run_region, member_here, members_here, start_loop, next_chunk, is_crowded};

static void forget_workers(void)
{
    pthread_mutex_init(&team.lock, NULL);
    pthread_cond_init(&team.joined, NULL);
    team.waiting = team.workers = 0;
    team.used = 0;
    team.open = NULL;
    here.region = NULL;
}

static PyObject *team_address(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyLong_FromVoidPtr((void *)&kernel_team);
}

#endif
