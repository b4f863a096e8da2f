/* The frame of a kernel (appyc/ir/abi.py): filled from the arguments of a call where they
 * fit, and read for what the function returns. Part of _dispatch.c, which alone includes it.
 */
#ifndef APPYC_FRAME_H
#define APPYC_FRAME_H

#include "_device.h"

/* Kinds in Kernel.record(). */
enum { ARRAY, LIST, TEXT, COLUMN, ROWS, NUMPY_SCALAR, PYTHON_SCALAR, NONE, TUPLE, LIST_OF_TUPLES, LIST_OF_LISTS, LIST_OF_LISTS_OF_TUPLES, LIST_OF_ARRAYS };
enum { STATUS_OK, STATUS_GUARD, STATUS_FAULT };
enum { STACK_SLOTS = 192, STACK_LEAVES = 32, FAULT_SLOTS = 7 };

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "results are read from the low bytes of a slot"
#endif

typedef int32_t (*KernelFunction)(int64_t *frame);

typedef struct {
    int kind;
    int type_number;
    int count;    /* ARRAY: number of axes; TUPLE: number of items; LIST_OF_...: of arrays */
    int layout;   /* ARRAY */
    int written;  /* ARRAY: the kernel stores into it */
    int any_written;  /* ARRAY: the kernel stores into it, or into one that is the same elements */
    int slot;     /* the first slot in the frame */
    int grouped;  /* ARRAY: it is a member of a group */
    int leaf;     /* which of the leaf arguments it is */
    int64_t item; /* bytes of an element */
    int same;     /* ARRAY: the leaf that it must be the same elements as; its own number as a rule */
    PyTypeObject *type;  /* NUMPY_SCALAR, TUPLE: what a value's type must be, of `records`; NULL: none is taken */
    PyObject *text;      /* NONE: the text that a value must be, or None */
} Argument;

/* Arrays that are expected to be parts of one, with the same strides: each at its own offsets in a box that holds them
 * all, which is a hidden argument. */
typedef struct {
    int slot, layout, written, axes, count;
    int *members;  /* of each its leaf, and its offsets */
} Group;

typedef struct {
    int leaf;  /* an array: which of the leaf arguments it is; else -1 */
    int type_number;
    int python;
    int slot;
    int count;  /* an array that the kernel made: number of axes; else -1 */
} Result;

typedef struct {
    PyObject_HEAD
    KernelFunction function, checked;
    int parameters;  /* positional arguments of the Python function, without captures */
    int argument_count, leaf_count, result_count, frame_size, fault_slot;
    int shares;  /* whether some arrays are expected to be one */
    int writes;  /* whether any array is written */
    int lists;   /* whether any argument is a list, bytes or a text */
    int alone;   /* whether no other Python code may run meanwhile */
    Argument *arguments;  /* in order, each tuple before its items */
    const Argument **leaves;  /* those that are no tuples and not None */
    Result *results;
    Group *groups;
    int group_count;
    PyObject *records; /* of the arguments, with the classes of tuples */
    PyObject *tree;    /* how results are nested: None, a number, a list's columns, a view's numbers, a tuple of such, or what builds one */
    PyObject *watched;  /* a tuple of (dict or cell, name, value) */
    PyObject *captures; /* a tuple of (dict or cell, name): where the values are that follow the arguments */
    PyObject *kernel;  /* the Python object it was made from; keeps the code loaded */
    PyObject *checked_kernel;  /* that of `checked`, or None */
    PyObject *host;         /* called with the leaf arguments instead of `function`, or NULL */
    PyObject *device_array; /* the class of arrays in a GPU's memory that the host program takes */
    int takes_numpy;        /* whether it takes NumPy's too */
} Specialisation;

#include "_lists.h"

/* ------------------------------------------------------------------ arguments to frame */

static int fits_layout(PyArrayObject *array, int layout)
{
    int c = PyArray_IS_C_CONTIGUOUS(array), f = PyArray_IS_F_CONTIGUOUS(array);
    switch (layout) {
    case LAYOUT_C: return c;
    case LAYOUT_F: return f && !c;
    default: return !c && !f;
    }
}

/* typed: whether the caller has found that the value has this type, of which it may be a subclass. */
static int fill_array(const Argument *a, PyObject *value, int64_t *frame, int typed)
{
    if (!PyArray_CheckExact(value) && !(typed && PyArray_Check(value)))
        return 0;
    PyArrayObject *array = (PyArrayObject *)value;
    if (PyArray_NDIM(array) != a->count || (a->written && !PyArray_ISWRITEABLE(array)))
        return 0;
    if (!typed && !(fits_layout(array, a->layout) && PyArray_ISBEHAVED_RO(array)))
        return 0;
    int type_number = PyArray_TYPE(array);
    if (type_number != a->type_number && !PyArray_EquivTypenums(type_number, a->type_number))
        return 0;
    int64_t *at = frame + a->slot;
    *at++ = (int64_t)(intptr_t)PyArray_DATA(array);
    for (int i = 0; i < a->count; i++) {
        at[i] = PyArray_DIM(array, i);
        at[a->count + i] = PyArray_STRIDE(array, i);
    }
    return 1;
}

static int fill_device_array(const Argument *a, PyObject *value, int64_t *frame)
{
    int64_t *at = frame + a->slot, *shape = at + 1, *strides = shape + a->count;
    OWNED PyObject *dtype = PyObject_GetAttr(value, dtype_name);
    int fits = dtype && PyArray_DescrCheck(dtype)
               && PyArray_EquivTypenums(((PyArray_Descr *)dtype)->type_num, a->type_number)
               && device_address(value, at) && integers_of(value, shape_name, shape, a->count) == a->count
               && integers_of(value, strides_name, strides, a->count) == a->count
               && has_layout(a->layout, a->count, shape, strides, a->item);
    PyErr_Clear();
    return fits;
}

static int fill_numpy_scalar(const Argument *a, PyObject *value, int64_t *slot, int typed)
{
    if (Py_TYPE(value) != a->type) {
        if (!typed || !PyArray_CheckScalar(value))
            return 0;
        OWNED PyObject *same = PyObject_CallOneArg((PyObject *)a->type, value);
        PyErr_Clear();
        return same && fill_numpy_scalar(a, same, slot, 0);
    }
    memcpy(slot, &PyArrayScalar_VAL(value, Byte), (size_t)a->item);  /* behind the head, as that of all numbers */
    if (PyTypeNum_ISSIGNED(a->type_number)) {
        int unused = 64 - 8 * (int)a->item;
        *slot = (int64_t)((uint64_t)*slot << unused) >> unused;
    }
    return 1;
}

/* Whether a value is None, or the text that is built into the code. */
static int is_known(PyObject *text, PyObject *value)
{
    return value == text || (text != Py_None && PyUnicode_CheckExact(value) && PyUnicode_Compare(value, text) == 0);
}

/* Fills the slots of `count` arguments from `*next` on. 0 where one does not fit. typed: see fill_array. */
static int fill(const Specialisation *s, int *next, PyObject *const *values, Py_ssize_t count, int64_t *frame,
                PyObject **leaves, int *leaf, int typed)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        const Argument *a = &s->arguments[(*next)++];
        PyObject *value = values[i];
        int fits = 0;
        switch (a->kind) {
        case ARRAY:
            if (s->host && Py_TYPE(value) == (PyTypeObject *)s->device_array)
                fits = fill_device_array(a, value, frame);
            else
                fits = (!s->host || s->takes_numpy) && fill_array(a, value, frame, typed);
            break;
        case LIST: fits = fill_list(a, value, frame); break;
        case TEXT: fits = fill_text(a, value, frame); break;
        case NUMPY_SCALAR: fits = fill_numpy_scalar(a, value, frame + a->slot, typed); break;
        case PYTHON_SCALAR: fits = put_item(a->type_number, value, (char *)(frame + a->slot), typed); break;
        case NONE: fits = is_known(a->text, value); break;
        case TUPLE:
            fits = (Py_TYPE(value) == a->type || (typed && PyTuple_Check(value)))
                && PyTuple_GET_SIZE(value) == a->count
                && fill(s, next, &PyTuple_GET_ITEM(value, 0), a->count, frame, leaves, leaf, typed);
            break;
        case LIST_OF_TUPLES:
        case LIST_OF_LISTS:
        case LIST_OF_LISTS_OF_TUPLES:
        case LIST_OF_ARRAYS:
            fits = (PyList_CheckExact(value) || (a->kind == LIST_OF_ARRAYS && PyTuple_CheckExact(value)))
                && PySequence_Fast_GET_SIZE(value) > 0;
            for (int k = 0; fits && k < a->count; k++)
                leaves[(*leaf)++] = value;
            if (fits && a->kind == LIST_OF_TUPLES)
                fits = fill_columns(a + 1, a->count, value, frame);
            else if (fits && a->kind == LIST_OF_ARRAYS)
                fits = fill_arrays(a + 1, a->count, value, frame);
            else if (fits)
                fits = fill_rows(a + 1, a->count, a->kind == LIST_OF_LISTS ? 0 : a->count - 1, value, frame);
            *next += a->count;
            break;
        case COLUMN:
        case ROWS: break; /* of the list before it */
        }
        if (!fits)
            return 0;
        if (a->kind < NONE)
            leaves[(*leaf)++] = value;
    }
    return 1;
}

/* ------------------------------------------------------------------ frame to results */

static PyObject *scalar_result(const Result *r, const int64_t *slot)
{
    if (r->python)
        return item_from(r->type_number, (const char *)slot);
    OWNED PyArray_Descr *descr = PyArray_DescrFromType(r->type_number);
    return descr ? PyArray_Scalar((void *)slot, descr, NULL) : NULL;  /* an integer's low bytes are the first ones */
}

/* The capsule's context is the number of bytes. */
static void give_back(PyObject *capsule)
{
    give_memory(PyCapsule_GetPointer(capsule, NULL), (int64_t)(intptr_t)PyCapsule_GetContext(capsule));
}

/* The array (NULL after an error) in memory that was taken, which from now on is given back with it. */
static PyObject *with_owner(PyObject *out, void *memory)
{
    PyObject *owner = out ? PyCapsule_New(memory, NULL, give_back) : NULL;
    if (!owner) {
        Py_XDECREF(out);
        free(memory);
        return NULL;
    }
    PyCapsule_SetContext(owner, (void *)(intptr_t)PyArray_NBYTES((PyArrayObject *)out));
    if (PyArray_SetBaseObject((PyArrayObject *)out, owner) < 0)  /* takes the owner in any case */
        Py_CLEAR(out);
    return out;
}

/* An array in memory that the kernel took. */
static PyObject *array_result(const Result *r, const int64_t *slot)
{
    npy_intp shape[NPY_MAXDIMS];
    void *memory = (void *)(uintptr_t)slot[0];
    for (int axis = 0; axis < r->count; axis++)
        shape[axis] = (npy_intp)slot[1 + axis];
    return with_owner(PyArray_SimpleNewFromData(r->count, shape, r->type_number, memory), memory);
}

/* empty_like(array): in C order, with nothing in it, in memory that earlier calls gave back where there is such. */
static PyObject *empty_like(PyObject *Py_UNUSED(module), PyObject *value)
{
    if (!PyArray_Check(value) || !PyTypeNum_ISNUMBER(PyArray_TYPE((PyArrayObject *)value))) {
        PyErr_SetString(PyExc_TypeError, "an array of numbers is wanted");
        return NULL;
    }
    PyArrayObject *like = (PyArrayObject *)value;
    void *memory = take_memory((int64_t)PyArray_NBYTES(like), 0);
    if (!memory)
        return PyErr_NoMemory();
    PyObject *out = PyArray_SimpleNewFromData(PyArray_NDIM(like), PyArray_DIMS(like), PyArray_TYPE(like), memory);
    return with_owner(out, memory);
}

/* A value that an object of ir/results.py makes of the results. */
static PyObject *built(const Specialisation *s, PyObject *builder, PyObject **values)
{
    OWNED PyObject *all = tuple_of(values, s->result_count);
    return all ? PyObject_CallMethod(builder, "build", "(O)", all) : NULL;
}

/* A number of a column as Python's own, or as NumPy's. */
static inline PyObject *number_at(PyArrayObject *column, Py_ssize_t i, int own)
{
    char *at = PyArray_BYTES(column) + i * PyArray_STRIDE(column, 0);
    if (!own)
        return PyArray_ToScalar(at, column);
    if (PyArray_ISBEHAVED_RO(column) && PyArray_TYPE(column) == NPY_INT64)
        return PyLong_FromLongLong(*(npy_int64 *)at);
    if (PyArray_ISBEHAVED_RO(column) && PyArray_TYPE(column) == NPY_FLOAT64)
        return PyFloat_FromDouble(*(double *)at);
    return PyArray_GETITEM(column, at); /* takes twice as long */
}

static PyObject *list_of_numbers(PyArrayObject *column, Py_ssize_t length, int own)
{
    PyObject *out = PyList_New(length);
    for (Py_ssize_t i = 0; out && i < length; i++) {
        PyObject *number = number_at(column, i, own);
        if (number)
            PyList_SET_ITEM(out, i, number);
        else
            Py_CLEAR(out);
    }
    return out;
}

/* A list of numbers or of tuples of numbers. tree: where its length is, whether its items are tuples, then for each number
 * of an item the array that has it, and whether it is Python's own. */
static PyObject *listed(PyObject *tree, PyObject **values)
{
    Py_ssize_t columns = (PyList_GET_SIZE(tree) - 2) / 2, length;
    length = PyNumber_AsSsize_t(values[PyLong_AsLong(PyList_GET_ITEM(tree, 0))], PyExc_OverflowError);
    if (length < 0)
        return NULL;
#define COLUMN(k) (PyArrayObject *)values[PyLong_AsLong(PyList_GET_ITEM(tree, 2 + 2 * (k)))]
#define IS_OWN(k) (PyList_GET_ITEM(tree, 3 + 2 * (k)) == Py_True)
    if (PyList_GET_ITEM(tree, 1) != Py_True)
        return list_of_numbers(COLUMN(0), length, IS_OWN(0));
    PyObject *out = PyList_New(length);
    for (Py_ssize_t i = 0; out && i < length; i++) {
        PyObject *item = PyTuple_New(columns);
        for (Py_ssize_t k = 0; k < columns && item; k++) {
            PyObject *number = number_at(COLUMN(k), i, IS_OWN(k));
            if (number)
                PyTuple_SET_ITEM(item, k, number);
            else
                Py_CLEAR(item);
        }
        if (item)
            PyList_SET_ITEM(out, i, item);
        else
            Py_CLEAR(out);
    }
#undef COLUMN
#undef IS_OWN
    return out;
}

/* An integer of a view's description: itself, or in a tuple the number of the result that has it. */
static Py_ssize_t number_of_view(PyObject *tree, Py_ssize_t at, PyObject **values)
{
    PyObject *number = PyList_GET_ITEM(tree, at);
    if (PyTuple_Check(number))
        number = values[PyLong_AsLong(PyTuple_GET_ITEM(number, 0))];
    return PyNumber_AsSsize_t(number, PyExc_OverflowError);
}

/* A view of an array. tree: None, the array, the number of axes, then the numbers of a ViewOf (ir/results.py). */
static PyObject *viewed(PyObject *tree, PyObject **values)
{
    PyArrayObject *base = (PyArrayObject *)values[PyLong_AsLong(PyList_GET_ITEM(tree, 1))];
    int ndim = (int)PyLong_AsLong(PyList_GET_ITEM(tree, 2)), axes = PyArray_NDIM(base), is_empty = 0;
    npy_intp shape[NPY_MAXDIMS], strides[NPY_MAXDIMS], offset = 0;
    Py_ssize_t at = 3;
    for (int axis = 0; axis < axes; axis++)
        offset += number_of_view(tree, at++, values) * PyArray_STRIDE(base, axis);
    for (int k = 0; k < ndim; k++) {
        shape[k] = number_of_view(tree, at++, values);
        is_empty |= shape[k] == 0;
    }
    for (int k = 0; k < ndim; k++) {
        strides[k] = 0;
        for (int axis = 0; axis < axes; axis++)
            strides[k] += number_of_view(tree, at++, values) * PyArray_STRIDE(base, axis);
    }
    if (PyErr_Occurred())
        return NULL;
    char *first = PyArray_BYTES(base) + (is_empty ? 0 : offset);
    PyArray_Descr *descr = (PyArray_Descr *)Py_NewRef(PyArray_DESCR(base));  /* taken by the view */
    PyObject *out = PyArray_NewFromDescr(&PyArray_Type, descr, ndim, shape, strides, first,
                                         PyArray_FLAGS(base) & NPY_ARRAY_WRITEABLE, NULL);
    if (out && PyArray_SetBaseObject((PyArrayObject *)out, Py_NewRef(base)) < 0)
        Py_CLEAR(out);
    return out;
}

/* The values in the shape that the function returns. */
static PyObject *nested(const Specialisation *s, PyObject *tree, PyObject **values)
{
    if (PyList_Check(tree))
        return PyList_GET_ITEM(tree, 0) == Py_None ? viewed(tree, values) : listed(tree, values);
    if (tree == Py_None)
        Py_RETURN_NONE;
    if (PyLong_Check(tree)) {
        long n = PyLong_AsLong(tree);
        if (n < 0 || n >= s->result_count) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_SystemError, "a kernel has no result %ld", n);
            return NULL;
        }
        return Py_NewRef(values[n]);
    }
    if (!PyTuple_Check(tree))
        return built(s, tree, values);
    PyObject *out = PyTuple_New(PyTuple_GET_SIZE(tree));
    for (Py_ssize_t i = 0; out && i < PyTuple_GET_SIZE(tree); i++) {
        PyObject *item = nested(s, PyTuple_GET_ITEM(tree, i), values);
        if (!item)
            Py_CLEAR(out);
        else
            PyTuple_SET_ITEM(out, i, item);
    }
    return out;
}

static PyObject *results(const Specialisation *s, const int64_t *frame, PyObject **leaves)
{
    PyObject *few[STACK_LEAVES], **values = few, *out = NULL;
    int made = 0;
    if (s->result_count > STACK_LEAVES)
        values = PyMem_Malloc((size_t)s->result_count * sizeof(PyObject *));
    if (!values)
        return PyErr_NoMemory();
    for (int failed = 0; made < s->result_count && !failed; made++) {
        const Result *r = &s->results[made];
        if (r->leaf >= 0)
            values[made] = Py_NewRef(leaves[r->leaf]);
        else
            values[made] = r->count >= 0 ? array_result(r, frame + r->slot) : scalar_result(r, frame + r->slot);
        failed = !values[made];
    }
    if (made == 0 || values[made - 1])
        out = nested(s, s->tree, values);
    for (int n = 0; n < made; n++)
        Py_XDECREF(values[n]);
    if (values != few)
        PyMem_Free(values);
    return out;
}

#endif
