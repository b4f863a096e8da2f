/* References of C functions that are dropped without a line for each: `OWNED PyObject *key = PyTuple_New(2);`. */
#ifndef APPYC_OWNED_H
#define APPYC_OWNED_H

static void drop(void *reference)
{
    Py_XDECREF(*(PyObject **)reference);
}

/* Of a variable whose reference, which may be NULL, is dropped where the variable goes out of scope. */
#define OWNED __attribute__((cleanup(drop)))

#endif
