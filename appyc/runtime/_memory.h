/* Memory for the arrays that kernels make, temporaries and results alike: what one call gives
 * back is kept for the next, because the system takes longer to find pages for a large array
 * than a kernel to fill it. Part of _dispatch.c, which alone includes it.
 *
 * Every block is the C library's own and may be freed by free(). Its size is a multiple of a
 * step that is an eighth of it or less, so a block serves all requests of nearly its size; who
 * gives it back need not know more than how much of it was asked for. What is kept is bounded
 * in bytes, and the block that has waited longest goes first.
 *
 * Kernels run without the GIL: a lock that is only ever tried guards the table. Who finds it
 * taken (by another thread, or for ever in a child that was forked just then) asks the C
 * library, as if nothing were kept.
 */
#ifndef APPYC_MEMORY_H
#define APPYC_MEMORY_H

#include <stdatomic.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { KEPT_BLOCKS = 64 };
enum { LEAST_KEPT = 1 << 16 };  /* bytes: for less, the C library keeps memory itself */
enum { MOST_CACHED = 1 << 10 };  /* bytes: so small blocks come of glibc's cache for each thread, unless aligned */
enum { HUGE_PAGE = 1 << 21, LEAST_HUGE = 1 << 22 };

/* What kernels call; appyc/c_gen/text/c_helpers.py declares the same. */
typedef struct {
    void *(*take)(int64_t bytes, _Bool zero);
    void (*give)(void *memory, int64_t bytes);
} Memory;

typedef struct {
    void *memory;
    int64_t bytes;
} Block;

static struct {
    atomic_flag busy;
    int count;
    int64_t bytes, limit;
    Block blocks[KEPT_BLOCKS];  /* the one that has waited longest first */
    int poison;                 /* what new memory is filled with, for tests; -1 for nothing */
} kept = {.busy = ATOMIC_FLAG_INIT, .poison = -1};

static int64_t block_size(int64_t bytes)
{
    int64_t step = 64;
    while (step * 16 <= bytes)
        step *= 2;
    return (bytes / step + 1) * step;
}

static Block remove_block(int at)
{
    Block block = kept.blocks[at];
    kept.count--;
    kept.bytes -= block.bytes;
    memmove(kept.blocks + at, kept.blocks + at + 1, (size_t)(kept.count - at) * sizeof(Block));
    return block;
}

/* A block of that size that is kept, the one that was used last; NULL where there is none. */
static void *kept_block(int64_t size)
{
    void *found = NULL;
    if (size < LEAST_KEPT || atomic_flag_test_and_set_explicit(&kept.busy, memory_order_acquire))
        return NULL;
    for (int at = kept.count - 1; at >= 0 && !found; at--)
        if (kept.blocks[at].bytes == size)
            found = remove_block(at).memory;
    atomic_flag_clear_explicit(&kept.busy, memory_order_release);
    return found;
}

/* Large arrays lie on large pages, as NumPy's do: a fault for every 2 MiB, not for every 4 KiB. */
static void prefer_huge_pages(void *memory, int64_t size)
{
#ifdef MADV_HUGEPAGE
    uintptr_t start = ((uintptr_t)memory + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)memory + (uintptr_t)size) & ~(uintptr_t)(HUGE_PAGE - 1);
    if (start < end)
        madvise((void *)start, end - start, MADV_HUGEPAGE);  /* a wish: it may fail */
#else
    (void)memory, (void)size;
#endif
}

static void *new_block(int64_t size, _Bool zero)
{
    int is_large = size >= LEAST_HUGE;
    void *memory;
    if (zero)
        memory = calloc((size_t)size, 1);
    else if (size <= MOST_CACHED)
        memory = malloc((size_t)size);
    else
        memory = aligned_alloc(is_large ? HUGE_PAGE : 64, (size_t)size);
    if (memory && is_large)
        prefer_huge_pages(memory, size);
    return memory;
}

static void *take_memory(int64_t bytes, _Bool zero)
{
    int64_t size = block_size(bytes);
    void *memory = kept_block(size);
    if (memory && zero)
        memset(memory, 0, (size_t)bytes);
    if (!memory)
        memory = new_block(size, zero);
    if (memory && !zero && kept.poison >= 0)
        memset(memory, kept.poison, (size_t)size);
    return memory;
}

/* Frees all blocks beyond `limit` bytes and `count` in number; returns their bytes. The lock is held. */
static int64_t drop_blocks(int64_t limit, int count)
{
    int64_t dropped = 0;
    while (kept.count > count || (kept.count && kept.bytes > limit)) {
        Block block = remove_block(0);
        dropped += block.bytes;
        free(block.memory);
    }
    return dropped;
}

static void give_memory(void *memory, int64_t bytes)
{
    int64_t size = block_size(bytes);
    if (!memory)
        return;
    if (size < LEAST_KEPT || size > kept.limit || atomic_flag_test_and_set_explicit(&kept.busy, memory_order_acquire)) {
        free(memory);
        return;
    }
    drop_blocks(kept.limit - size, KEPT_BLOCKS - 1);
    kept.blocks[kept.count++] = (Block){memory, size};
    kept.bytes += size;
    atomic_flag_clear_explicit(&kept.busy, memory_order_release);
}

static const Memory kernel_memory = {take_memory, give_memory};

/* ------------------------------------------------------------------ from Python */

static PyObject *memory_address(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyLong_FromVoidPtr((void *)&kernel_memory);
}

/* Frees what is kept beyond so many bytes; returns how many bytes that were. */
static PyObject *trim_memory(PyObject *Py_UNUSED(module), PyObject *value)
{
    int64_t limit = PyLong_AsLongLong(value), dropped;
    if (limit == -1 && PyErr_Occurred())
        return NULL;
    if (atomic_flag_test_and_set_explicit(&kept.busy, memory_order_acquire))
        return PyLong_FromLong(0);
    dropped = drop_blocks(limit, KEPT_BLOCKS);
    atomic_flag_clear_explicit(&kept.busy, memory_order_release);
    return PyLong_FromLongLong(dropped);
}

static PyObject *set_memory_limit(PyObject *module, PyObject *value)
{
    int64_t limit = PyLong_AsLongLong(value);
    if (limit == -1 && PyErr_Occurred())
        return NULL;
    kept.limit = limit;
    return trim_memory(module, value);
}

static PyObject *set_memory_poison(PyObject *Py_UNUSED(module), PyObject *value)
{
    long byte = PyLong_AsLong(value);
    if (byte == -1 && PyErr_Occurred())
        return NULL;
    kept.poison = (int)byte;
    Py_RETURN_NONE;
}

#endif
