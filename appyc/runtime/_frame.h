/* The frame of a kernel (appyc/ir/abi.py): filled from the arguments of a call where they
 * fit. Part of _dispatch.c, which alone includes it.
 */
#ifndef APPYC_FRAME_H
#define APPYC_FRAME_H

#include "_device.h"

/* Kinds in Kernel.record(). */
enum { ARRAY, LIST, TEXT, COLUMN, ROWS, FIELD, NUMPY_SCALAR, PYTHON_SCALAR, NONE, TUPLE, LIST_OF_TUPLES, LIST_OF_LISTS, LIST_OF_LISTS_OF_TUPLES, LIST_OF_ARRAYS,
       RECORDS, RECORD };
enum { STATUS_OK, STATUS_GUARD, STATUS_FAULT };
enum { STACK_SLOTS = 192, STACK_LEAVES = 32, FAULT_SLOTS = 7 };

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "results are read from the low bytes of a slot"
#endif

typedef int32_t (*KernelFunction)(int64_t *frame);

typedef struct {
    int kind;
    int type_number;
    int count;    /* ARRAY, FIELD: number of axes; TUPLE: number of items; LIST_OF_..., RECORDS: of arrays */
    int layout;   /* ARRAY; FIELD: what addresses of elements are multiples of */
    int written;  /* ARRAY: the kernel stores into it */
    int any_written;  /* ARRAY: the kernel stores into it, or into one that is the same elements */
    int slot;     /* the first slot in the frame */
    int grouped;  /* ARRAY: it is a member of a group */
    int leaf;     /* which of the leaf arguments it is */
    int64_t item; /* bytes of an element */
    int same;     /* ARRAY: the leaf that it must be the same elements as; its own number as a rule */
    PyTypeObject *type;  /* NUMPY_SCALAR, TUPLE: what a value's type must be, of `records`; NULL: none is taken */
    PyObject *text;      /* NONE: the text that a value must be, or None; RECORDS: the dtype; FIELD: (name, offset, shape);
                          * the array of the records' first bytes has no name */
    PyObject *last;      /* RECORDS: the dtype of an earlier call that is equal, or NULL; comparing takes a microsecond */
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

/* Memory for so many items, all zero; NULL with an exception. */
static void *new_items(Py_ssize_t count, size_t size)
{
    void *items = PyMem_Calloc((size_t)count + 1, size);
    return items ? items : PyErr_NoMemory();
}

/* ------------------------------------------------------------------ arguments to frame */

static int fits_layout(PyArrayObject *array, int layout)
{
    int c = PyArray_IS_C_CONTIGUOUS(array), f = PyArray_IS_F_CONTIGUOUS(array);
    if (!PyArray_ISNOTSWAPPED(array) || PyArray_ISALIGNED(array) != (layout != LAYOUT_PACKED))
        return 0;
    switch (layout) {
    case LAYOUT_PACKED: return 1;
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
    if (!typed && !fits_layout(array, a->layout))
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

/* Fills the arrays of a structured array: of its records' first bytes, and of each field. A record is an array of one. */
static int fill_records(Argument *a, PyObject *value, int64_t *frame)
{
    PyArray_Descr *descr;
    char *first;
    int64_t length = 1, stride = a->item, flags;
    if (a->kind == RECORD && Py_TYPE(value) == &PyVoidArrType_Type) {
        const PyVoidScalarObject *record = (PyVoidScalarObject *)value;
        descr = (PyArray_Descr *)record->descr;
        first = record->obval;
        flags = record->flags;
    } else if (a->kind == RECORDS && PyArray_CheckExact(value) && PyArray_NDIM((PyArrayObject *)value) == 1) {
        PyArrayObject *array = (PyArrayObject *)value;
        descr = PyArray_DESCR(array);
        first = PyArray_BYTES(array);
        flags = PyArray_FLAGS(array);
        length = PyArray_DIM(array, 0);
        stride = PyArray_STRIDE(array, 0);
    } else {
        return 0;
    }
    if ((PyObject *)descr != a->last) {
        if (!PyArray_EquivTypes(descr, (PyArray_Descr *)a->text))
            return 0;
        Py_XSETREF(a->last, Py_NewRef((PyObject *)descr));
    }
    if (a->written && !(flags & NPY_ARRAY_WRITEABLE))
        return 0;
    for (const Argument *field = a + 1; field <= a + a->count; field++) {
        int64_t *at = frame + field->slot, size = field->item;
        at[0] = (int64_t)(intptr_t)first + PyLong_AsLong(PyTuple_GET_ITEM(field->text, 1));
        if (length > 0 && (at[0] | (length > 1 ? stride : 0)) & (field->layout - 1))
            return 0;
        at[1] = length;
        at[1 + field->count] = stride;
        for (int axis = field->count - 1; axis > 0; size *= at[1 + axis--]) {
            at[1 + axis] = PyLong_AsLong(PyTuple_GET_ITEM(PyTuple_GET_ITEM(field->text, 2), axis - 1));
            at[1 + field->count + axis] = size;
        }
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
        Argument *a = &s->arguments[(*next)++];
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
        case RECORDS:
        case RECORD:
            fits = !s->host && fill_records(a, value, frame);
            for (int k = 0; fits && k < a->count; k++)
                leaves[(*leaf)++] = value;
            *next += a->count;
            break;
        case COLUMN:
        case ROWS:
        case FIELD: break; /* of the argument before it */
        }
        if (!fits)
            return 0;
        if (a->kind < NONE)
            leaves[(*leaf)++] = value;
    }
    return 1;
}

#endif
