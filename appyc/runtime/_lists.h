/* Lists of numbers as arguments: a call gets arrays of their items, and what it changes there is put into the lists
 * when it ends. Items are Python's own numbers, of one type; a list without items has none. Part of _dispatch.c, which
 * alone includes it.
 */
#ifndef APPYC_LISTS_H
#define APPYC_LISTS_H

/* NumPy's number of the type that an item has in an array; -1 for what is no number, or a subclass of one. */
static int type_of_item(PyObject *item)
{
    return PyBool_Check(item)           ? NPY_BOOL
           : PyLong_CheckExact(item)    ? NPY_INT64
           : PyFloat_CheckExact(item)   ? NPY_DOUBLE
           : PyComplex_CheckExact(item) ? NPY_CDOUBLE
                                        : -1;
}

static size_t item_size(int type_number)
{
    return type_number == NPY_BOOL ? 1 : type_number == NPY_CDOUBLE ? 16 : 8;
}

/* Puts an item at `to`; 0 where it has another type, or is an int of more than 64 bits. */
static int put_item(int type_number, PyObject *item, char *to)
{
    int overflow;
    double parts[2];
    if (type_of_item(item) != type_number)
        return 0;
    switch (type_number) {
    case NPY_BOOL: *to = item == Py_True; return 1;
    case NPY_DOUBLE: *(double *)to = PyFloat_AS_DOUBLE(item); return 1;
    case NPY_CDOUBLE:
        parts[0] = PyComplex_RealAsDouble(item);
        parts[1] = PyComplex_ImagAsDouble(item);
        memcpy(to, parts, sizeof parts);
        return 1;
    default: *(int64_t *)to = PyLong_AsLongLongAndOverflow(item, &overflow); return !overflow;
    }
}

static PyObject *item_from(int type_number, const char *from)
{
    switch (type_number) {
    case NPY_BOOL: return PyBool_FromLong(*from);
    case NPY_DOUBLE: return PyFloat_FromDouble(*(const double *)from);
    case NPY_CDOUBLE: return PyComplex_FromDoubles(((const double *)from)[0], ((const double *)from)[1]);
    default: return PyLong_FromLongLong(*(const int64_t *)from);
    }
}

/* Puts the items of a list at `to`, or its own into the list where they differ (`back`). 0 where one does not fit; -1
 * with an exception. */
static int move_items(int type_number, PyObject *list, Py_ssize_t length, char *to, int back)
{
    size_t size = item_size(type_number);
    char old[16];
    for (Py_ssize_t i = 0; i < length && i < PyList_GET_SIZE(list); i++, to += size) {
        PyObject *item = PyList_GET_ITEM(list, i);
        if (!back && !put_item(type_number, item, to))
            return 0;
        if (!back || (put_item(type_number, item, old) && memcmp(old, to, size) == 0))
            continue;
        if (!(item = item_from(type_number, to)) || PyList_SetItem(list, i, item) < 0)
            return -1;
    }
    return 1;
}

static int fill_list(const Argument *a, PyObject *value, int64_t *frame)
{
    if (!PyList_CheckExact(value) || PyList_GET_SIZE(value) == 0)
        return 0;
    int64_t *at = frame + a->slot, length = PyList_GET_SIZE(value), size = (int64_t)item_size(a->type_number);
    if (!(at[0] = (int64_t)(intptr_t)take_memory(length * size, 0)))
        return 0;
    at[1] = length;
    at[2] = size;
    return move_items(a->type_number, value, length, (char *)(intptr_t)at[0], 0);
}

/* Whether no list is given twice. */
static int lists_are_apart(const Specialisation *s, PyObject **leaves)
{
    for (int i = 0; i < s->argument_count; i++)
        for (int k = 0; s->arguments[i].kind == LIST && k < i; k++)
            if (s->arguments[k].kind == LIST && leaves[s->arguments[i].leaf] == leaves[s->arguments[k].leaf])
                return 0;
    return 1;
}

/* Gives the memory of a call's lists back. keep: whether to put into the lists what the call has changed. -1: an error. */
static int release_lists(const Specialisation *s, const int64_t *frame, PyObject **leaves, int keep)
{
    int failed = 0;
    for (int i = 0; i < s->argument_count; i++) {
        const Argument *a = &s->arguments[i];
        const int64_t *at = frame + a->slot;
        if (a->kind != LIST || !at[0])
            continue;
        if (keep && a->written && !failed)
            failed = move_items(a->type_number, leaves[a->leaf], at[1], (char *)(intptr_t)at[0], 1) < 0;
        give_memory((void *)(intptr_t)at[0], at[1] * at[2]);
    }
    return failed ? -1 : 0;
}

/* item_type(list): the dtype of all items of a list; None where they have none in common. */
static PyObject *item_type(PyObject *Py_UNUSED(module), PyObject *value)
{
    char to[16];
    Py_ssize_t length = PyList_CheckExact(value) ? PyList_GET_SIZE(value) : 0;
    int type_number = length ? type_of_item(PyList_GET_ITEM(value, 0)) : -1;
    for (Py_ssize_t i = 0; i < length && type_number >= 0; i++)
        if (!put_item(type_number, PyList_GET_ITEM(value, i), to))
            type_number = -1;
    return type_number < 0 ? Py_NewRef(Py_None) : (PyObject *)PyArray_DescrFromType(type_number);
}

#endif
