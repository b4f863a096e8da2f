// C functions for non-temporal stores of whole cache lines, with ordinary stores where the target has none.

//: stream_lines
#if defined(__clang__) || defined(__SSE2__)
/* A processor reads a line of memory before it writes a part of it, unless a hint says that all of the
 * line comes, and that it is not read soon. `to` is where a line starts; `bytes` is a multiple of one. */
static inline void stream_lines(void *const to, const void *const from, const int64_t bytes) {
#if defined(__AVX__)
    enum { width = 32 };
    typedef long long part __attribute__((vector_size(32), may_alias));
#else
    enum { width = 16 };
    typedef long long part __attribute__((vector_size(16), may_alias));
#endif
    for (int64_t at = 0; at < bytes; at += width) {
        part *const address = (part *)((char *)to + at);
        const part value = *(const part *)((const char *)from + at);
#if defined(__clang__)
        __builtin_nontemporal_store(value, address);
#elif defined(__AVX__)
        __builtin_ia32_movntdq256(address, value);
#else
        __builtin_ia32_movntdq(address, value);
#endif
    }
}
#else
extern void *memcpy(void *, const void *, __SIZE_TYPE__);
static inline void stream_lines(void *const to, const void *const from, const int64_t bytes) {
    memcpy(to, from, (__SIZE_TYPE__)bytes);
}
#endif

//: streams_end
/* What was written past the caches is there for other threads only after this. */
static inline void streams_end(void) {
#if defined(__SSE2__)
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

//: before_line
/* How many elements come before the next line of memory; -1 where none starts at one. */
static inline int64_t before_line(const void *const at, const int64_t size) {
    const int64_t bytes = (int64_t)(-(__UINTPTR_TYPE__)at % LINE_BYTES);
    return bytes % size ? -1 : bytes / size;
}
