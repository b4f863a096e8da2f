/* Lists of numbers as arguments, and lists of such lists of one length: a call gets arrays of their items, and what it
 * changes there is put into the lists when it ends. Lists of tuples, and lists of lists of any length, are read alone. Items are Python's own numbers, of one type; a list without items has none. Part of _dispatch.c, which
 * alone includes it.
 */
#ifndef APPYC_LISTS_H
#define APPYC_LISTS_H

enum { DEEPEST_LIST = 8 };

/* NumPy's number of the type that an item has in an array; -1 for what is no number, or a subclass of one. */
static int type_of_item(PyObject *item)
{
    return PyBool_Check(item)           ? NPY_BOOL
           : PyLong_CheckExact(item)    ? NPY_INT64
           : PyFloat_CheckExact(item)   ? NPY_DOUBLE
           : PyComplex_CheckExact(item) ? NPY_CDOUBLE
                                        : -1;
}

/* typed: whether the caller has found that it has this type, of which it may be a subclass. */
static inline int has_type(int type_number, PyObject *item, int typed)
{
    switch (type_number) {
    case NPY_BOOL: return PyBool_Check(item);
    case NPY_DOUBLE: return PyFloat_CheckExact(item) || (typed && PyFloat_Check(item));
    case NPY_CDOUBLE: return PyComplex_CheckExact(item) || (typed && PyComplex_Check(item));
    default: return PyLong_CheckExact(item) || (typed && PyLong_Check(item));
    }
}

static inline size_t item_size(int type_number)
{
    return type_number == NPY_BOOL ? 1 : type_number == NPY_CDOUBLE ? 16 : 8;
}

/* Puts a number at `to`; 0 where it has another type, or is an int of more than 64 bits. typed: see has_type. */
static inline int put_item(int type_number, PyObject *item, char *to, int typed)
{
    int overflow;
    double parts[2];
    if (!has_type(type_number, item, typed))
        return 0;
    switch (type_number) {
    case NPY_BOOL: *to = item == Py_True; return 1;
    case NPY_DOUBLE: *(double *)to = PyFloat_AS_DOUBLE(item); return 1;
    case NPY_CDOUBLE:
        parts[0] = PyComplex_RealAsDouble(item);
        parts[1] = PyComplex_ImagAsDouble(item);
        memcpy(to, parts, sizeof parts);
        return 1;
    case NPY_UINT64:
        *(uint64_t *)to = PyLong_AsUnsignedLongLong(item);
        overflow = PyErr_Occurred() != NULL;
        PyErr_Clear();
        return !overflow && *(int64_t *)to < 0;  /* what fits in 63 bits is an int64 */
    default: *(int64_t *)to = PyLong_AsLongLongAndOverflow(item, &overflow); return !overflow;
    }
}

static PyObject *item_from(int type_number, const char *from)
{
    switch (type_number) {
    case NPY_BOOL: return PyBool_FromLong(*from);
    case NPY_DOUBLE: return PyFloat_FromDouble(*(const double *)from);
    case NPY_CDOUBLE: return PyComplex_FromDoubles(((const double *)from)[0], ((const double *)from)[1]);
    case NPY_UINT64: return PyLong_FromUnsignedLongLong(*(const uint64_t *)from);
    default: return PyLong_FromLongLong(*(const int64_t *)from);
    }
}

/* Puts the items of a list at `to`, or its own into the list where they differ (`back`). 0 where one does not fit; -1
 * with an exception. It is compiled for each type. */
static inline __attribute__((always_inline)) int
move_typed(int type_number, PyObject *list, Py_ssize_t length, char *to, int back)
{
    size_t size = item_size(type_number);
    char old[16];
    for (Py_ssize_t i = 0; i < length && i < PyList_GET_SIZE(list); i++, to += size) {
        PyObject *item = PyList_GET_ITEM(list, i);
        if (!back && !put_item(type_number, item, to, 0))
            return 0;
        if (!back || (put_item(type_number, item, old, 0) && memcmp(old, to, size) == 0))
            continue;
        if (!(item = item_from(type_number, to)) || PyList_SetItem(list, i, item) < 0)
            return -1;
    }
    return 1;
}

static int move_items(int type_number, PyObject *list, Py_ssize_t length, char *to, int back)
{
    switch (type_number) {
    case NPY_BOOL: return move_typed(NPY_BOOL, list, length, to, back);
    case NPY_DOUBLE: return move_typed(NPY_DOUBLE, list, length, to, back);
    case NPY_CDOUBLE: return move_typed(NPY_CDOUBLE, list, length, to, back);
    default: return move_typed(NPY_INT64, list, length, to, back);
    }
}

/* Whether a list, and the lists in it, have these lengths. */
static int are_even(PyObject *value, int axes, const Py_ssize_t *lengths)
{
    int even = PyList_CheckExact(value) && PyList_GET_SIZE(value) == lengths[0];
    for (Py_ssize_t i = 0; even && axes > 1 && i < lengths[0]; i++)
        even = are_even(PyList_GET_ITEM(value, i), axes - 1, lengths + 1);
    return even;
}

/* The number of a list's axes and their lengths: lists in it, of one length, are another axis. 0 where it has none. */
static int axes_of(PyObject *value, Py_ssize_t lengths[DEEPEST_LIST])
{
    int axes = 0;
    for (PyObject *at = value; PyList_CheckExact(at) && axes < DEEPEST_LIST; at = PyList_GET_ITEM(at, 0))
        if (!(lengths[axes++] = PyList_GET_SIZE(at)))
            return 0;
    return axes && are_even(value, axes, lengths) ? axes : 0;
}

/* `move_items` for a list, or for each of those in it. */
static int move_rows(int type_number, PyObject *value, int axes, const Py_ssize_t *lengths, char *to, int back)
{
    if (axes == 1)
        return move_items(type_number, value, lengths[0], to, back);
    Py_ssize_t size = (Py_ssize_t)item_size(type_number);
    for (int axis = 1; axis < axes; axis++)
        size *= lengths[axis];
    for (Py_ssize_t i = 0; i < lengths[0] && i < PyList_GET_SIZE(value); i++, to += size) {
        PyObject *row = PyList_GET_ITEM(value, i);
        int fits = !PyList_CheckExact(row) ? 0 : move_rows(type_number, row, axes - 1, lengths + 1, to, back);
        if (fits < 0 || (!fits && !back))
            return fits;
    }
    return 1;
}

static int fill_list(const Argument *a, PyObject *value, int64_t *frame)
{
    Py_ssize_t lengths[DEEPEST_LIST], size = (Py_ssize_t)a->item;
    if (axes_of(value, lengths) != a->count)
        return 0;
    int64_t *at = frame + a->slot;
    for (int axis = a->count - 1; axis >= 0; size *= lengths[axis--]) {
        at[1 + axis] = lengths[axis];
        at[1 + a->count + axis] = size;
    }
    if (!(at[0] = (int64_t)(intptr_t)take_memory(size, 0)))
        return 0;
    return move_rows(a->type_number, value, a->count, lengths, (char *)(intptr_t)at[0], 0);
}

/* Bytes where they are, or the code points of a text, which are copied unless they have 32 bits there. */
static int fill_text(const Argument *a, PyObject *value, int64_t *frame)
{
    int64_t *at = frame + a->slot;
    int is_bytes = a->type_number == NPY_UBYTE;
    if (is_bytes ? !PyBytes_CheckExact(value) : !PyUnicode_CheckExact(value))
        return 0;
    at[1] = is_bytes ? PyBytes_GET_SIZE(value) : PyUnicode_GET_LENGTH(value);
    at[2] = a->item;
    if (is_bytes || PyUnicode_KIND(value) == PyUnicode_4BYTE_KIND) {
        at[0] = (int64_t)(intptr_t)(is_bytes ? (void *)PyBytes_AS_STRING(value) : PyUnicode_DATA(value));
        return 1;
    }
    Py_UCS4 *copy = take_memory(at[1] * at[2], 0);
    at[0] = (int64_t)(intptr_t)copy;
    for (Py_ssize_t i = 0; copy && i < at[1]; i++)
        copy[i] = PyUnicode_READ_CHAR(value, i);
    return copy != NULL;
}

/* Puts the items of a list at `to`: numbers (width 0), or what tuples of so many have at a position. 0 where one does not
 * fit. */
static int put_column(int type_number, PyObject *list, int position, int width, char *to)
{
    if (!width)
        return move_items(type_number, list, PyList_GET_SIZE(list), to, 0);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++, to += item_size(type_number)) {
        PyObject *item = PyList_GET_ITEM(list, i);
        if (!PyTuple_CheckExact(item) || PyTuple_GET_SIZE(item) != width
            || !put_item(type_number, PyTuple_GET_ITEM(item, position), to, 0))
            return 0;
    }
    return 1;
}

/* Memory for an array of one axis, which the frame gets; NULL where there is none. */
static char *take_column(const Argument *a, Py_ssize_t length, int64_t *frame)
{
    int64_t *at = frame + a->slot;
    at[1] = length;
    at[2] = a->item;
    char *memory = take_memory(at[1] * at[2], 0);
    at[0] = (int64_t)(intptr_t)memory;
    return memory;
}

/* What the tuples of a list have at each position, which is of one type. */
static int fill_columns(const Argument *columns, int width, PyObject *list, int64_t *frame)
{
    int fits = 1;
    for (int k = 0; fits && k < width; k++) {
        char *to = take_column(&columns[k], PyList_GET_SIZE(list), frame);
        fits = to && put_column(columns[k].type_number, list, k, width, to);
    }
    return fits;
}

/* The items of all rows of a list, one row after another, as `put_column` does; the last of the `count` arrays tells
 * where each row begins, and the last one ends. */
static int fill_rows(const Argument *columns, int count, int width, PyObject *list, int64_t *frame)
{
    Py_ssize_t rows = PyList_GET_SIZE(list);
    int64_t *starts = (int64_t *)take_column(&columns[count - 1], rows + 1, frame);
    int fits = starts != NULL;
    for (Py_ssize_t i = 0, first = 0; fits && i <= rows; i++) {
        starts[i] = first;
        fits = i == rows || PyList_CheckExact(PyList_GET_ITEM(list, i));
        first += fits && i < rows ? PyList_GET_SIZE(PyList_GET_ITEM(list, i)) : 0;
    }
    for (int k = 0; fits && k < count - 1; k++) {
        char *to = take_column(&columns[k], starts[rows], frame);
        fits = to != NULL;
        for (Py_ssize_t i = 0; fits && i < rows; i++)
            fits = put_column(columns[k].type_number, PyList_GET_ITEM(list, i), k, width, to + columns[k].item * starts[i]);
    }
    return fits;
}

/* The elements of all arrays of a list or tuple, one array after another; then the lengths along each axis, and where each array
 * begins and the last one ends. */
static int fill_arrays(const Argument *columns, int count, PyObject *list, int64_t *frame)
{
    Py_ssize_t rows = PySequence_Fast_GET_SIZE(list), total = 0;
    int64_t *numbers[NPY_MAXDIMS + 2];
    for (int k = 1; k < count; k++)
        if (!(numbers[k] = (int64_t *)take_column(&columns[k], rows + (k == count - 1), frame)))
            return 0;
    for (Py_ssize_t i = 0; i < rows; i++) {
        PyArrayObject *array = (PyArrayObject *)PySequence_Fast_GET_ITEM(list, i);
        if (!PyArray_CheckExact(array) || PyArray_NDIM(array) != count - 2 || !PyArray_ISNOTSWAPPED(array)
            || !PyArray_EquivTypenums(PyArray_TYPE(array), columns[0].type_number))
            return 0;
        numbers[count - 1][i] = total;
        for (int axis = 0; axis < count - 2; axis++)
            numbers[1 + axis][i] = PyArray_DIM(array, axis);
        total += PyArray_SIZE(array);
    }
    numbers[count - 1][rows] = total;
    char *to = take_column(&columns[0], total, frame);
    for (Py_ssize_t i = 0; to && i < rows; i++) {
        PyArrayObject *array = (PyArrayObject *)PySequence_Fast_GET_ITEM(list, i);
        if (PyArray_IS_C_CONTIGUOUS(array)) {
            memcpy(to, PyArray_DATA(array), (size_t)PyArray_NBYTES(array));
        } else {
            OWNED PyObject *copy = PyArray_SimpleNewFromData(count - 2, PyArray_DIMS(array), columns[0].type_number, to);
            if (!copy || PyArray_CopyInto((PyArrayObject *)copy, array) < 0)
                return 0;
        }
        to += PyArray_NBYTES(array);
    }
    return to != NULL;
}

/* Whether the memory that an argument has in the frame was taken for the call. */
static int is_copied(const Argument *a, const int64_t *at, PyObject *const *leaves)
{
    if (a->kind != TEXT || !at[0])
        return (a->kind == LIST || a->kind == COLUMN || a->kind == ROWS) && at[0];
    return a->type_number != NPY_UBYTE && PyUnicode_KIND(leaves[a->leaf]) != PyUnicode_4BYTE_KIND;
}

static int compare_numbers(const void *one, const void *other)
{
    uintptr_t a = *(const uintptr_t *)one, b = *(const uintptr_t *)other;
    return (a > b) - (a < b);
}

/* The number of an argument's lists, those in it too; their addresses go to `out` if there is one. */
static Py_ssize_t lists_in(const Argument *a, PyObject *value, int axes, uintptr_t *out)
{
    Py_ssize_t count = 1;
    if (axes < 1 || !PyList_Check(value))
        return 0;
    if (out)
        *out = (uintptr_t)value + (a->written != 0);
    for (Py_ssize_t i = 0; axes > 1 && i < PyList_GET_SIZE(value); i++)
        count += lists_in(a, PyList_GET_ITEM(value, i), axes - 1, out ? out + count : NULL);
    return count;
}

static inline int list_axes(const Argument *a)
{
    return a->kind == LIST ? a->count : a->kind == ROWS ? 2 : 0;
}

/* Whether no list that the kernel stores into is there twice, as an argument or as a row. */
static int lists_are_apart(const Specialisation *s, PyObject **leaves)
{
    uintptr_t few[STACK_LEAVES], *all = few; /* addresses, which are even, and 1 more where the kernel stores */
    Py_ssize_t count = 0, at = 0, writes = 0, apart = 1;
    for (int i = 0; i < s->argument_count; i++) {
        const Argument *a = &s->arguments[i];
        writes |= a->kind == LIST && a->written;
        count += lists_in(a, leaves[a->leaf], list_axes(a), NULL);
    }
    if (!writes || count < 2)
        return 1;
    if (count > STACK_LEAVES && !(all = PyMem_Malloc((size_t)count * sizeof *all)))
        return 0;
    for (int i = 0; i < s->argument_count; i++) {
        const Argument *a = &s->arguments[i];
        at += lists_in(a, leaves[a->leaf], list_axes(a), all + at);
    }
    qsort(all, (size_t)count, sizeof *all, compare_numbers);
    for (at = 1; at < count; at++)
        apart &= all[at] >> 1 != all[at - 1] >> 1 || !(all[at] & 1);
    if (all != few)
        PyMem_Free(all);
    return (int)apart;
}

/* Gives the memory of a call's lists back. keep: whether to put into the lists what the call has changed. -1: an error. */
static int release_lists(const Specialisation *s, const int64_t *frame, PyObject **leaves, int keep)
{
    int failed = 0;
    for (int i = 0; i < s->argument_count; i++) {
        const Argument *a = &s->arguments[i];
        const int64_t *at = frame + a->slot;
        if (!is_copied(a, at, leaves))
            continue;
        Py_ssize_t lengths[DEEPEST_LIST];
        for (int axis = 0; axis < DEEPEST_LIST && axis < a->count; axis++)
            lengths[axis] = (Py_ssize_t)at[1 + axis];
        if (keep && a->written && !failed)
            failed = move_rows(a->type_number, leaves[a->leaf], a->count, lengths, (char *)(intptr_t)at[0], 1) < 0;
        give_memory((void *)(intptr_t)at[0], at[1] * at[1 + a->count]);
    }
    return failed ? -1 : 0;
}

/* The dtypes of a number, or of the numbers of a tuple, as a tuple; None for what is neither. */
static PyObject *types_of(PyObject *item)
{
    OWNED PyObject *numbers = PyTuple_CheckExact(item) ? Py_NewRef(item) : PyTuple_Pack(1, item);
    Py_ssize_t width = numbers ? PyTuple_GET_SIZE(numbers) : 0;
    PyObject *out = width ? PyTuple_New(width) : NULL;
    for (Py_ssize_t k = 0; out && k < width; k++) {
        int type_number = type_of_item(PyTuple_GET_ITEM(numbers, k));
        if (type_number < 0)
            Py_CLEAR(out);
        else
            PyTuple_SET_ITEM(out, k, (PyObject *)PyArray_DescrFromType(type_number));
    }
    return out || PyErr_Occurred() ? out : Py_NewRef(Py_None);
}

/* Whether all items of a list are numbers of the type that one is of, or tuples that have such at each position. */
static int are_like(PyObject *first, PyObject *list)
{
    char to[16];
    int is_tuple = PyTuple_CheckExact(first);
    Py_ssize_t width = is_tuple ? PyTuple_GET_SIZE(first) : 1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        PyObject *item = PyList_GET_ITEM(list, i);
        if (is_tuple && (!PyTuple_CheckExact(item) || PyTuple_GET_SIZE(item) != width))
            return 0;
        for (Py_ssize_t k = 0; k < width; k++) {
            int type_number = type_of_item(is_tuple ? PyTuple_GET_ITEM(first, k) : first);
            if (type_number < 0 || !put_item(type_number, is_tuple ? PyTuple_GET_ITEM(item, k) : item, to, 0))
                return 0;
        }
    }
    return 1;
}

/* Whether all items of the lists in a list, `depth` of them inside each other, are alike; `first` is one of them. even: cleared
 * where such lists differ in length, or have no items. */
static int all_alike(PyObject *value, int depth, Py_ssize_t *lengths, PyObject **first, int *even)
{
    if (!PyList_CheckExact(value))
        return 0;
    Py_ssize_t length = PyList_GET_SIZE(value);
    lengths[0] = lengths[0] < 0 ? length : lengths[0];
    *even &= length && length == lengths[0];
    for (Py_ssize_t i = 0; depth > 1 && i < length; i++)
        if (!all_alike(PyList_GET_ITEM(value, i), depth - 1, lengths + 1, first, even))
            return 0;
    if (depth > 1 || !length)
        return 1;
    *first = *first ? *first : PyList_GET_ITEM(value, 0);
    return are_like(*first, value);
}

/* item_types(list): of a list of numbers, of tuples of such, or of lists of either, how many lists are inside each other,
 * whether all at one depth are as long, and not empty, the width of the tuples (0: there are none), and the dtype that all
 * have at each position; None where they have several, and for anything else. */
static PyObject *item_types(PyObject *Py_UNUSED(module), PyObject *value)
{
    Py_ssize_t lengths[DEEPEST_LIST];
    PyObject *first = NULL;
    int depth = 0, even = 1;
    for (PyObject *at = value; at && PyList_CheckExact(at) && depth < DEEPEST_LIST;
         at = PyList_GET_SIZE(at) ? PyList_GET_ITEM(at, 0) : NULL)
        lengths[depth++] = -1;
    if (!depth || !all_alike(value, depth, lengths, &first, &even))
        Py_RETURN_NONE;
    PyObject *types = first ? types_of(first) : Py_NewRef(Py_None);
    if (!types || types == Py_None)
        return types;
    Py_ssize_t width = PyTuple_CheckExact(first) ? PyTuple_GET_SIZE(first) : 0;
    return Py_BuildValue("(iNnN)", depth, PyBool_FromLong(even), width, types);
}

#endif
