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

//: stack_left
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
    static __thread char *lowest;
    char *const here = (char *)__builtin_frame_address(0);
    if (!lowest) {
#ifdef __APPLE__
        const __UINTPTR_TYPE__ self = pthread_self();
        lowest = (char *)pthread_get_stackaddr_np(self) - pthread_get_stacksize_np(self);
#else
        int64_t attributes[32];
        void *start = here - 262144;
        __SIZE_TYPE__ bytes;
        if (!pthread_getattr_np(pthread_self(), attributes)) {
            pthread_attr_getstack(attributes, &start, &bytes);
            pthread_attr_destroy(attributes);
        }
        lowest = (char *)start;
#endif
    }
    return here - lowest - 131072;
}

//: activations_left <- stack_left
/* How many functions may be called in each other, if each takes so many bytes of the stack. */
static int64_t activations_left(const int64_t limit, const int64_t bytes) {
    const int64_t room = stack_left() / bytes;
    return limit < room ? limit : room;
}

//: with_stack <- stack_left
/* Calls a kernel with so many bytes of stack: in a thread of its own, where this one has fewer left. */
extern int pthread_attr_init(void *);
extern int pthread_attr_setstacksize(void *, __SIZE_TYPE__);
extern int pthread_create(__UINTPTR_TYPE__ *, const void *, void *(*)(void *), void *);
extern int pthread_join(__UINTPTR_TYPE__, void **);
struct call { int32_t (*kernel)(int64_t *); int64_t *frame; int32_t status; };
static void *run_call(void *const given) {
    struct call *const call = given;
    call->status = call->kernel(call->frame);
    return 0;
}
static int32_t with_stack(int32_t (*const kernel)(int64_t *), int64_t *const frame, const int64_t bytes) {
    int64_t wanted = bytes + 262144;
    while (wanted > stack_left() && wanted > 1048576) {
        struct call call = {kernel, frame, 0};
        int64_t attributes[32];
        __UINTPTR_TYPE__ thread;
        pthread_attr_init(attributes);
        const bool failed = pthread_attr_setstacksize(attributes, (__SIZE_TYPE__)wanted)
            || pthread_create(&thread, attributes, run_call, &call);
        pthread_attr_destroy(attributes);
        if (!failed) {
            pthread_join(thread, 0);
            return call.status;
        }
        wanted /= 2;
    }
    return kernel(frame);
}
