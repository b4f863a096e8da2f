// NumPy's functions that sort vectors, with vector instructions where the processor has them.

//: appyc_sorts
/* What runtime/_sorts.h found, if the loader has set it: by type of element, in the order of `sort_row_D`, the functions
   that sort elements, and those that sort indices, a stable one last. NumPy ignores the last argument for numbers. */
const struct {
    int (*sort)(void *, int64_t, void *);
    int (*argsort[2])(void *, int64_t *, int64_t, void *);
} *appyc_sorts;

//: sort_row_D
/* The row of the table. */
enum { sort_row_D = _Generic((T)0, bool: 0, int8_t: 1, uint8_t: 2, int16_t: 3, uint16_t: 4, int32_t: 5, uint32_t: 6,
                           int64_t: 7, uint64_t: 8, float: 9, double: 10) };

//: numpy_sort_D <- appyc_sorts sort_row
/* Sorts n elements; false where nothing does. */
static inline bool numpy_sort_D(T *const a, const int64_t n) {
    return appyc_sorts && appyc_sorts[sort_row_D].sort && appyc_sorts[sort_row_D].sort(a, n, 0) == 0;
}

//: numpy_argsort_D <- appyc_sorts sort_row
/* Sorts n indices by the elements that they name. */
static inline bool numpy_argsort_D(const T *const a, int64_t *const order, const int64_t n) {
    return appyc_sorts && appyc_sorts[sort_row_D].argsort[0]
        && appyc_sorts[sort_row_D].argsort[0]((void *)a, order, n, 0) == 0;
}

//: numpy_stable_argsort_D <- appyc_sorts sort_row
/* The same; indices of equal elements stay in order. */
static inline bool numpy_stable_argsort_D(const T *const a, int64_t *const order, const int64_t n) {
    return appyc_sorts && appyc_sorts[sort_row_D].argsort[1]
        && appyc_sorts[sort_row_D].argsort[1]((void *)a, order, n, 0) == 0;
}
