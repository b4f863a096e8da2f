/* Where the threads run that share a loop: not on the processor of the thread that they share it with.
 *
 * A sleeping thread is often woken on the processor of the one that wakes it, or where it last ran, though
 * another is idle; both then take turns for milliseconds, and loops of half a millisecond take three to ten times as
 * long, call after call. So each thread but the caller's is kept off the caller's processor, which it is told
 * at the start of a loop: a comparison, and a call of the system where the caller has moved since. The caller's
 * own thread is never bound, nor is any thread of which the machine has fewer processors. Part of _dispatch.c.
 */
#ifndef APPYC_PLACING_H
#define APPYC_PLACING_H

#ifdef __linux__
#include <sched.h>
#endif

/* What kernels call; appyc/c_gen/threads_pay.py declares the same. */
typedef struct {
    int (*here)(void);
    void (*keep_off)(int processor, int threads);
} Placing;

#ifdef __linux__
static int processor_here(void)
{
    return sched_getcpu();
}

static void keep_off_processor(int processor, int threads)
{
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
    if (threads <= count)
        CPU_CLR(processor, &wanted);
    sched_setaffinity(0, sizeof(wanted), &wanted); /* where that is forbidden, it stays as it is */
}
#else
static int processor_here(void)
{
    return -1;
}

static void keep_off_processor(int processor, int threads)
{
    (void)processor, (void)threads;
}
#endif

static const Placing kernel_placing = {processor_here, keep_off_processor};

static PyObject *placing_address(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyLong_FromVoidPtr((void *)&kernel_placing);
}

#endif
