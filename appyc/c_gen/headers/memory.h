// Memory for arrays, and the stack.

//: memory
/* What keeps memory for the next call (runtime/_memory.h), if the loader has set it. */
const struct { void *(*take)(int64_t, bool); void (*give)(void *, int64_t); } *appyc_memory;
extern void *calloc(__SIZE_TYPE__, __SIZE_TYPE__);
extern void *aligned_alloc(__SIZE_TYPE__, __SIZE_TYPE__);
extern void free(void *);

//: bytes_of
/* The product of `sizes` bytes, none of them negative; -1 where that is too much. */
static int64_t bytes_of(const int64_t *sizes, const int64_t count) {
    int64_t bytes = 1;
    for (int64_t i = 0; i < count; i += 1) bytes = sizes[i] == 0 ? 0 : bytes;
    for (int64_t i = 0; i < count && bytes > 0; i += 1) {
        if (__builtin_mul_overflow(bytes, sizes[i], &bytes)) return -1;
    }
    return bytes > (int64_t)1 << 62 ? -1 : bytes;
}

//: allocate <- memory bytes_of | shared
/* Memory of so many bytes; 0 where there is no such memory. */
static void *allocate(const int64_t *sizes, const int64_t count, const bool zero) {
    const int64_t bytes = bytes_of(sizes, count);
    if (bytes < 0) return 0;
    if (appyc_memory) return appyc_memory->take(bytes, zero);
    if (zero) return calloc((__SIZE_TYPE__)bytes + 1, 1);
    return aligned_alloc(64, ((__SIZE_TYPE__)bytes / 64 + 1) * 64);
}

//: memset
extern void *memset(void *, int, __SIZE_TYPE__);

//: allocate_again <- bytes_of allocate release memset | shared
/* As `allocate`; the memory of the last time, `held` bytes of it, serves again if it can. */
static void *allocate_again(
    void *const last, int64_t *const held, const int64_t *sizes, const int64_t count, const bool zero
) {
    const int64_t bytes = bytes_of(sizes, count);
    if (last && bytes >= 0 && bytes <= *held) return zero ? memset(last, 0, (__SIZE_TYPE__)bytes) : last;
    release(last, *held);
    *held = bytes;
    return allocate(sizes, count, zero);
}

//: resize <- bytes_of allocate release | shared
/* As `allocate_again`, and the first `kept` bytes are those of the last time. */
static void *resize(
    void *const last, int64_t *const held, const int64_t *sizes, const int64_t count, const int64_t kept
) {
    const int64_t bytes = bytes_of(sizes, count);
    if (last && bytes >= 0 && bytes <= *held) return last;
    void *const wider = allocate(sizes, count, false);
    if (!wider) return 0;
    if (kept > 0) __builtin_memcpy(wider, last, (__SIZE_TYPE__)kept);
    release(last, *held);
    *held = bytes;
    return wider;
}

//: release <- memory | shared
/* Gives memory back of which so many bytes, or more, were asked for. */
static void release(void *const taken, const int64_t bytes) {
    if (appyc_memory) appyc_memory->give(taken, bytes);
    else free(taken);
}

//: stack_end | shared
/* Where this thread's stack ends, 0 before anyone has asked: one variable for all files of a program. */
static char **stack_end(void) {
    static __thread char *end;
    return &end;
}

//: stack_left <- stack_end
/* The bytes of the stack that this thread has left, but for some that functions of libraries may need. */
extern int pthread_getattr_np(__UINTPTR_TYPE__, void *);
extern int pthread_attr_getstack(const void *, void **, __SIZE_TYPE__ *);
extern int pthread_attr_destroy(void *);
extern __UINTPTR_TYPE__ pthread_self(void);
#ifdef __APPLE__
extern void *pthread_get_stackaddr_np(__UINTPTR_TYPE__);
extern __SIZE_TYPE__ pthread_get_stacksize_np(__UINTPTR_TYPE__);
#endif
static __attribute__((noinline)) int64_t stack_left(void) {
    char *const here = (char *)__builtin_frame_address(0), **const end = stack_end();
    if (!*end) {
#ifdef __APPLE__
        const __UINTPTR_TYPE__ self = pthread_self();
        *end = (char *)pthread_get_stackaddr_np(self) - pthread_get_stacksize_np(self);
#else
        int64_t attributes[32];
        void *start = here - 262144;
        __SIZE_TYPE__ bytes;
        if (!pthread_getattr_np(pthread_self(), attributes)) {
            pthread_attr_getstack(attributes, &start, &bytes);
            pthread_attr_destroy(attributes);
        }
        *end = (char *)start;
#endif
    }
    return here - *end - 131072;
}

//: activations_left <- stack_left
/* How many functions may be called in each other, if each takes so many bytes of the stack. */
static int64_t activations_left(const int64_t limit, const int64_t bytes) {
    const int64_t room = stack_left() / bytes;
    return limit < room ? limit : room;
}

//: with_stack <- stack_left
/* Calls a kernel with so many bytes of stack: on one of its own, where this thread's has fewer left. The last one is
   kept, with the memory of its first MiB: a new one takes as long as thousands of activations. */
#include <limits.h> /* which tells whether the library is glibc */
#ifdef __GLIBC__
#include <sys/mman.h>
#include <ucontext.h>
enum { STACK_PAGES = 65536, STACK_KEPT = 1048576 };
struct stack {
    char *memory;
    int64_t bytes, *frame;
    int32_t (*kernel)(int64_t *), status;
    ucontext_t caller, callee;
};
static struct stack *kept_stack;
static void free_stack(struct stack *const stack) {
    if (stack) munmap(stack->memory, (__SIZE_TYPE__)stack->bytes);
    __builtin_free(stack);
}
static struct stack *new_stack(const int64_t bytes) {
    struct stack *const made = __builtin_malloc(sizeof(struct stack));
    if (!made) return 0;
    made->bytes = bytes;
    made->memory = mmap(0, (__SIZE_TYPE__)bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made->memory == MAP_FAILED) {
        __builtin_free(made);
        return 0;
    }
    mprotect(made->memory, STACK_PAGES, PROT_NONE);
    return made;
}
static void run_on_stack(const unsigned high, const unsigned low) {
    struct stack *const stack = (struct stack *)((__UINTPTR_TYPE__)high << 32 | low);
    stack->status = stack->kernel(stack->frame);
}
static int32_t with_stack(int32_t (*const kernel)(int64_t *), int64_t *const frame, const int64_t bytes) {
    int64_t wanted = (bytes / STACK_PAGES + 5) * STACK_PAGES;
    if (wanted <= stack_left()) return kernel(frame);
    struct stack *stack = __atomic_exchange_n(&kept_stack, 0, __ATOMIC_ACQ_REL);
    if (stack && stack->bytes < wanted) {
        free_stack(stack);
        stack = 0;
    }
    for (; !stack && wanted > STACK_KEPT && wanted > stack_left(); wanted = wanted / 2 / STACK_PAGES * STACK_PAGES)
        stack = new_stack(wanted);
    if (!stack) return kernel(frame);
    char **const end = stack_end(), *const before = *end, *const kept = stack->memory + stack->bytes - STACK_KEPT;
    const __UINTPTR_TYPE__ at = (__UINTPTR_TYPE__)stack;
    stack->kernel = kernel;
    stack->frame = frame;
    getcontext(&stack->callee);
    stack->callee.uc_stack.ss_sp = stack->memory;
    stack->callee.uc_stack.ss_size = (__SIZE_TYPE__)stack->bytes;
    stack->callee.uc_link = &stack->caller;
    makecontext(&stack->callee, (void (*)(void))run_on_stack, 2, (unsigned)(at >> 32), (unsigned)at);
    *end = stack->memory + STACK_PAGES;
    swapcontext(&stack->caller, &stack->callee);
    *end = before;
    const int32_t status = stack->status;
    unsigned char is_used[STACK_PAGES / 4096] = {0};
    mincore(kept - STACK_PAGES, STACK_PAGES, is_used);
    if (__builtin_memchr(is_used, 1, sizeof is_used))
        madvise(stack->memory, (__SIZE_TYPE__)(kept - stack->memory), MADV_DONTNEED);
    free_stack(__atomic_exchange_n(&kept_stack, stack, __ATOMIC_ACQ_REL));
    return status;
}
#else
static int32_t with_stack(int32_t (*const kernel)(int64_t *), int64_t *const frame, const int64_t bytes) {
    (void)bytes;
    return kernel(frame);
}
#endif
