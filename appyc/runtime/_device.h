/* Layouts of arrays, and those in the memory of a GPU, which are known by CuPy's attributes. Part of _dispatch.c, which
 * alone includes it.
 */
#ifndef APPYC_DEVICE_H
#define APPYC_DEVICE_H

enum { LAYOUT_C, LAYOUT_F, LAYOUT_STRIDED, LAYOUT_PACKED }; /* packed: of any strides, and not aligned */

static int is_contiguous(int layout, int axes, const int64_t *shape, const int64_t *strides, int64_t step)
{
    for (int i = 0; i < axes && layout != LAYOUT_STRIDED; i++) {
        int axis = layout == LAYOUT_C ? axes - 1 - i : i;
        if (shape[axis] != 1 && strides[axis] != step)
            return 0;
        step *= shape[axis];
    }
    return 1;
}

/* Whether this is the layout that an array on a GPU has for `typeof`: C for one that is both. */
static int has_layout(int layout, int axes, const int64_t *shape, const int64_t *strides, int64_t item)
{
    int c = is_contiguous(LAYOUT_C, axes, shape, strides, item);
    for (int i = 0; i < axes; i++)
        c |= shape[i] == 0;
    if (c || layout == LAYOUT_C)
        return c && layout == LAYOUT_C;
    return is_contiguous(LAYOUT_F, axes, shape, strides, item) == (layout == LAYOUT_F);
}

static PyObject *data_name, *dtype_name, *ptr_name, *shape_name, *strides_name;

static int intern_names(void)
{
    return (data_name = PyUnicode_InternFromString("data")) && (dtype_name = PyUnicode_InternFromString("dtype"))
           && (ptr_name = PyUnicode_InternFromString("ptr")) && (shape_name = PyUnicode_InternFromString("shape"))
           && (strides_name = PyUnicode_InternFromString("strides"));
}

/* 0, with an exception, where it is no such array. */
static int device_address(PyObject *array, int64_t *out)
{
    OWNED PyObject *data = PyObject_GetAttr(array, data_name), *ptr = data ? PyObject_GetAttr(data, ptr_name) : NULL;
    *out = ptr ? (int64_t)PyLong_AsUnsignedLongLong(ptr) : 0;
    return !PyErr_Occurred();
}

/* The integers of an attribute that is a tuple, `most` at most; how many it has, or -1 with an exception. */
static int integers_of(PyObject *array, PyObject *name, int64_t *out, int most)
{
    OWNED PyObject *tuple = PyObject_GetAttr(array, name);
    if (tuple && !PyTuple_Check(tuple))
        PyErr_Format(PyExc_TypeError, "an array's %U is no tuple", name);
    int count = tuple && !PyErr_Occurred() ? (int)PyTuple_GET_SIZE(tuple) : -1;
    for (int i = 0; i < count && i < most; i++)
        out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
    return PyErr_Occurred() ? -1 : count;
}

#endif
