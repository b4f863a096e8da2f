/* References of C functions that are dropped without a line for each: `OWNED PyObject *key = tuple_of(items, 2);`. */
#ifndef APPYC_OWNED_H
#define APPYC_OWNED_H

static void drop(void *reference)
{
    Py_XDECREF(*(PyObject **)reference);
}

/* Of a variable whose reference, which may be NULL, is dropped where the variable goes out of scope. */
#define OWNED __attribute__((cleanup(drop)))

static PyObject *tuple_of(PyObject *const *items, Py_ssize_t count)
{
    PyObject *out = PyTuple_New(count);
    for (Py_ssize_t i = 0; out && i < count; i++)
        PyTuple_SET_ITEM(out, i, Py_NewRef(items[i]));
    return out;
}

#endif
