/* The kind of a call, and calls of kinds that are handed to a Python function.
 *
 * A kind is a tuple that is equal for calls which can be compiled, or not, for the same reason: the types of
 * the arguments, with dtype and number of axes of arrays, the items of tuples, which function or class one is,
 * whether a list has more than LONGEST_LIST items; and the names of keywords. appyc/runtime/dispatch.py has
 * the same in Python. Part of _dispatch.c, which alone includes it.
 */
#ifndef APPYC_KINDS_H
#define APPYC_KINDS_H

#include <time.h>

enum { MOST_ITEMS = 64, LONGEST_LIST = 64 };

/* The number of items after those of `value`, or -1: an error, or too many. The items are new references. */
static int add_items(PyObject **items, int count, PyObject *value)
{
    if (count < 0 || count + 3 > MOST_ITEMS)
        goto failed;
    if (PyFunction_Check(value) || PyType_Check(value)) {
        if (!(items[count] = PyLong_FromVoidPtr(PyType_Check(value) ? value : PyFunction_GET_CODE(value))))
            goto failed;
        return count + 1;
    }
    items[count++] = Py_NewRef((PyObject *)Py_TYPE(value));
    if (PyArray_CheckExact(value)) {
        items[count++] = Py_NewRef((PyObject *)PyArray_DESCR((PyArrayObject *)value));
        items[count++] = PyLong_FromLong(PyArray_NDIM((PyArrayObject *)value));
    } else if (PyList_CheckExact(value)) {
        items[count++] = PyBool_FromLong(PyList_GET_SIZE(value) > LONGEST_LIST);
    } else if (PyTuple_CheckExact(value)) {
        items[count++] = PyLong_FromSsize_t(PyTuple_GET_SIZE(value));
        for (Py_ssize_t i = 0; count >= 0 && i < PyTuple_GET_SIZE(value); i++)
            count = add_items(items, count, PyTuple_GET_ITEM(value, i));
    }
    return count;
failed:
    for (int i = 0; i < count; i++)
        Py_DECREF(items[i]);
    return -1;
}

/* NULL without an exception for a call of no kind: too many arguments. */
static PyObject *kind_of_call(PyObject *const *args, Py_ssize_t positional, PyObject *names)
{
    PyObject *items[MOST_ITEMS];
    Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    int count = 0;
    for (Py_ssize_t i = 0; count >= 0 && i < positional + named; i++)
        count = add_items(items, count, args[i]);
    if (count < 0)
        return NULL;
    PyObject *kind = PyTuple_New(count + (named > 0));
    for (int i = 0; i < count; i++) {
        if (kind)
            PyTuple_SET_ITEM(kind, i, items[i]);
        else
            Py_DECREF(items[i]);
    }
    if (kind && named > 0)
        PyTuple_SET_ITEM(kind, count, Py_NewRef(names));
    PyErr_Clear();
    return kind;
}

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A call of a kind that `handed` has, where it says: {kind: (function, most nanoseconds)}. A call that takes longer
 * than that takes its kind out again; 0 for no limit. `*found` says whether there was one. */
static PyObject *call_handed(PyObject *handed, PyObject *const *args, size_t flags, PyObject *names, int *found)
{
    PyObject *kind = kind_of_call(args, PyVectorcall_NARGS(flags), names), *out = NULL;
    PyObject *entry = kind ? PyDict_GetItemWithError(handed, kind) : NULL;
    *found = entry != NULL;
    if (entry) {
        Py_INCREF(entry);
        int64_t most = PyLong_AsLongLong(PyTuple_GET_ITEM(entry, 1)), start = most ? nanoseconds() : 0;
        out = PyObject_Vectorcall(PyTuple_GET_ITEM(entry, 0), args, flags, names);
        if (out && most && nanoseconds() - start > most && PyDict_GetItemWithError(handed, kind) == entry)
            PyDict_DelItem(handed, kind);
        Py_DECREF(entry);
    } else {
        PyErr_Clear();
    }
    Py_XDECREF(kind);
    return out;
}

#endif
