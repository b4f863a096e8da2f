// C functions that evaluate the cost model when a loop runs, to decide whether threads share it.
//
// What a loop costs is in the code; how fast the machine is, in a table that whoever loads the code
// points `appyc_machine` to (without one, threads share every loop). The arithmetic is that of
// `appyc.ir.machine_model`.
//
// Threads that have been idle for a while sleep, and take long to wake. A loop that would gain from
// threads that run, but not enough to wake them, is left to one thread until the loops so left,
// each of which came while threads would still have been awake, have lost as much as waking costs.
// So the short loops of a time step soon have their threads, and a lone one never pays for them.
//
// On a machine whose processors others use, a thread that loses its processor keeps the others of a loop waiting for as
// long as the system's time slice. A loop that takes less than that alone has one thread while this happens (`_team.h`).

//: appyc_machine
/* Nanoseconds, and bytes; set by whoever loads this. */
enum { MACHINE_INDICES };
static const double machine_worth = MACHINE_WORTH;
const double *appyc_machine;
#ifdef _OPENMP
extern double omp_get_wtime(void);
extern bool team_is_crowded(void) __attribute__((weak)); /* c_gen/text/team.c, where that is linked */
static const double time_slice = 4e6;
static __thread double threads_used_at = -1e300, loop_left_at = -1e300, left_behind = 0;
#endif

//: threads_used <- appyc_machine | shared
static void threads_used(void) {
#ifdef _OPENMP
    if (appyc_machine) threads_used_at = omp_get_wtime() * 1e9;
#endif
}

//: loop_times <- appyc_machine
/* Nanoseconds for a loop on one thread, and on `share` of them that run already. */
static inline void loop_times(
    const double share, const double trips, double vector, double scalar, double gathers, double bytes,
    const double bytes_each, double *alone, double *together) {
    const double *const at = appyc_machine;
    vector *= trips, scalar *= trips, gathers *= trips, bytes += trips * bytes_each;
    const bool near = bytes <= at[machine_near_bytes];
    const double computing = vector * at[machine_vector] + scalar * at[machine_scalar]
        + gathers * at[near ? machine_gather_near : machine_gather_far];
    const double moving = bytes * at[near ? machine_byte_near : machine_byte_far];
    const double split = at[machine_byte_far] / share;
    const double moving_together = bytes / share <= at[machine_near_bytes] ? bytes / share * at[machine_byte_near]
        : bytes * (split > at[machine_byte_shared] ? split : at[machine_byte_shared]);
    *alone = computing > moving ? computing : moving;
    *together = computing / share > moving_together ? computing / share : moving_together;
}

//: threads_pay <- loop_times | shared
static __attribute__((noinline)) bool threads_pay(
    const int64_t share, const int64_t trips, const double vector, const double scalar, const double gathers,
    const double bytes, const double bytes_each) {
#ifdef _OPENMP
    const double *const at = appyc_machine;
    if (!at) return true;
    double alone, together;
    loop_times((double)share, (double)trips, vector, scalar, gathers, bytes, bytes_each, &alone, &together);
    if (alone * machine_worth <= at[machine_fork]) return false; /* soon, since inner loops come here often */
    const double gain = alone * machine_worth - together - at[machine_fork];
    const double waking = at[machine_wake] - at[machine_fork];
    if (gain <= 0 || (alone < time_slice && team_is_crowded && team_is_crowded())) return false;
    if (gain > waking) return true;
    const double now = omp_get_wtime() * 1e9;
    if (now - threads_used_at < at[machine_awake]) return true;
    left_behind = (now - loop_left_at < at[machine_awake] ? left_behind : 0) + gain;
    loop_left_at = now;
    if (left_behind <= waking) return false;
    left_behind = 0;
    return true;
#else
    return false;
#endif
}

//: threads_may_pay <- appyc_machine threads_pay
/* Whether threads pay, for loops which are often too short for them, inside others: these ask no further. */
static inline __attribute__((always_inline)) bool threads_may_pay(
    const int64_t share, const int64_t trips, const double vector, const double scalar, const double gathers,
    const double bytes, const double bytes_each) {
    const double most = (double)trips * ((vector + scalar) * 8 + bytes_each) + bytes; /* nanoseconds at any rates */
    if (appyc_machine && gathers == 0 && most <= appyc_machine[machine_fork]) return false;
    return threads_pay(share, trips, vector, scalar, gathers, bytes, bytes_each);
}

//: writes_past <- loop_times | shared
/* Whether results go past the caches: the loop touches more than these hold, and waits for memory. */
static bool writes_past(
    const double trips, const double vector, const double scalar, const double gathers, const double bytes,
    const double bytes_each) {
    const double all = bytes + trips * bytes_each;
    if (!appyc_machine || all < appyc_machine[machine_past_bytes]) return false;
    double alone, together;
    loop_times(1, trips, vector, scalar, gathers, bytes, bytes_each, &alone, &together);
    return alone <= all * appyc_machine[machine_byte_far];
}

//: nanoseconds <- appyc_machine
static inline double nanoseconds(void) {
#ifdef _OPENMP
    return omp_get_wtime() * 1e9;
#else
    return 0;
#endif
}

//: profile_add <- loop_times nanoseconds
enum { profile_width = 10 };
extern double appyc_profile[];
static void profile_add(
    double *row, const int64_t iterations, const bool shared, const double took, const int64_t threads,
    const int64_t trips, const double vector, const double scalar, const double gathers, const double bytes,
    const double bytes_each) {
    double alone = 0, together = 0;
    const double count = (double)trips, share = (double)(threads < iterations ? threads : iterations);
    if (appyc_machine && share > 0)
        loop_times(share, count, vector, scalar, gathers, bytes, bytes_each, &alone, &together);
    const double add[profile_width] = {1, (double)iterations, count * vector, count * scalar, count * gathers,
                                       bytes + count * bytes_each, alone, together, shared, took};
    for (int i = 0; i < profile_width; i += 1) row[i] += add[i];
}
