"""The C functions that decide, when a loop runs, whether threads should share it.

What a loop costs is in the code; how fast the machine is, in a table that whoever loads the code
points `appyc_machine` to (without one, threads share every loop). The arithmetic is that of
`appyc.ir.machine`.

Threads that have been idle for a while sleep, and take long to wake. A loop that would gain from
threads that run, but not enough to wake them, is left to one thread until the loops so left,
each of which came while threads would still have been awake, have lost as much as waking costs.
So the short loops of a time step soon have their threads, and a lone one never pays for them.
"""

from __future__ import annotations

from dataclasses import fields

from appyc.ir.machine import Machine

_PLACES = ", ".join(f"machine_{field.name}" for field in fields(Machine))

TABLE = f"""/* Nanoseconds, and bytes; set by whoever loads this. */
enum {{ {_PLACES} }};
const double *appyc_machine = 0;
#ifdef _OPENMP
extern double omp_get_wtime(void);
static __thread double threads_used_at = -1e300, loop_left_at = -1e300, left_behind = 0;
#endif"""

THREADS_USED = """static inline void threads_used(void) {
#ifdef _OPENMP
    if (appyc_machine) threads_used_at = omp_get_wtime() * 1e9;
#endif
}"""

THREADS_PAY = """static __attribute__((noinline)) bool threads_pay(
    const int64_t threads, const int64_t trips, double vector, double scalar, double gathers, double bytes,
    const double bytes_each) {
#ifdef _OPENMP
    const double *const at = appyc_machine;
    if (!at) return true;
    const double share = threads < trips ? (double)threads : (double)trips;
    vector *= (double)trips, scalar *= (double)trips, gathers *= (double)trips, bytes += (double)trips * bytes_each;
    const bool near = bytes <= at[machine_near_bytes];
    const double computing = vector * at[machine_vector] + scalar * at[machine_scalar]
        + gathers * at[near ? machine_gather_near : machine_gather_far];
    const double moving = bytes * at[near ? machine_byte_near : machine_byte_far];
    const double split = at[machine_byte_far] / share;
    const double moving_together = bytes / share <= at[machine_near_bytes] ? bytes / share * at[machine_byte_near]
        : bytes * (split > at[machine_byte_shared] ? split : at[machine_byte_shared]);
    const double alone = computing > moving ? computing : moving;
    const double together = computing / share > moving_together ? computing / share : moving_together;
    const double gain = alone - together - at[machine_fork], waking = at[machine_wake] - at[machine_fork];
    if (gain <= 0) return false;
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
}"""

HELPERS: dict[str, tuple[tuple[str, ...], str]] = {
    "appyc_machine": ((), TABLE),
    "threads_used": (("appyc_machine",), THREADS_USED),
    "threads_pay": (("appyc_machine",), THREADS_PAY),
}
"""As in `helpers.PLAIN`."""

NAMES = ("omp_get_wtime", "threads_used_at", "loop_left_at", "left_behind", *_PLACES.split(", "))
"""What these texts declare beside the functions."""
