/* The kind of a call, and calls of kinds that are handed to a Python function.
 *
 * A kind is a tuple that is equal for calls which can be compiled, or not, for the same reason: the types of
 * the arguments, with dtype and number of axes of arrays and whether they are writeable, the items of tuples,
 * which function or class one is, of a list the type of its first item and how long it is, to a factor of 4; and the
 * names of keywords.
 * Part of _dispatch.c, which alone includes it.
 */
#ifndef APPYC_KINDS_H
#define APPYC_KINDS_H

enum { MOST_ITEMS = 64 };

enum { OF_ROWS = 64 };

/* 0 for an empty list, and 1 more behind each power of 4; OF_ROWS more for a list of lists, which are taken to be like the
 * first of them. */
static int size_class(PyObject *list)
{
    Py_ssize_t length = PyList_GET_SIZE(list);
    int has_rows = length && PyList_CheckExact(PyList_GET_ITEM(list, 0));
    if (has_rows)
        length *= PyList_GET_SIZE(PyList_GET_ITEM(list, 0));
    int out = (length > 0) + has_rows * OF_ROWS;
    for (Py_ssize_t most = 1; most < length; most *= 4)
        out++;
    return out;
}

/* The type of the first item of a list, or of the first list in it, and so on; of what has none, its own. */
static PyTypeObject *type_in(PyObject *value)
{
    for (int k = 0; k < DEEPEST_LIST && PyList_CheckExact(value) && PyList_GET_SIZE(value); k++)
        value = PyList_GET_ITEM(value, 0);
    return Py_TYPE(value);
}

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
        long axes = PyArray_NDIM((PyArrayObject *)value);
        items[count++] = PyLong_FromLong(PyArray_ISWRITEABLE((PyArrayObject *)value) ? axes : -1 - axes);
    } else if (PyList_CheckExact(value)) {
        items[count++] = PyLong_FromLong(size_class(value));
        items[count++] = Py_NewRef((PyObject *)type_in(value));
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

enum { FEW_ARGUMENTS = 8 };

/* The kind of the last call whose arguments are told by their classes: a recursive function that runs in Python comes
 * by here at each of its calls. */
typedef struct {
    PyObject *kind;               /* keeps the classes; NULL: none */
    Py_ssize_t count;
    PyTypeObject *classes[FEW_ARGUMENTS], *types_in[FEW_ARGUMENTS];
    int size_classes[FEW_ARGUMENTS];
} LastKind;

static int is_of_last_kind(const LastKind *last, PyObject *const *args, Py_ssize_t count)
{
    if (!last->kind || last->count != count)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (Py_TYPE(args[i]) != last->classes[i]
            || (PyList_CheckExact(args[i])
                && (type_in(args[i]) != last->types_in[i] || size_class(args[i]) != last->size_classes[i])))
            return 0;
    return 1;
}

/* Keeps the kind of a call if nothing but classes and sizes of lists is in it. */
static void keep_kind(LastKind *last, PyObject *kind, PyObject *const *args, Py_ssize_t count)
{
    Py_CLEAR(last->kind);
    if (!kind || count > FEW_ARGUMENTS)
        return;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyArray_Check(args[i]) || PyTuple_Check(args[i]) || PyFunction_Check(args[i]) || PyType_Check(args[i]))
            return;
        last->classes[i] = Py_TYPE(args[i]);
        last->types_in[i] = type_in(args[i]);
        last->size_classes[i] = PyList_CheckExact(args[i]) ? size_class(args[i]) : 0;
    }
    last->count = count;
    last->kind = Py_NewRef(kind);
}

static PyObject *kind_again(LastKind *last, PyObject *const *args, Py_ssize_t positional, PyObject *names)
{
    if (names && PyTuple_GET_SIZE(names) > 0)
        return kind_of_call(args, positional, names);
    if (is_of_last_kind(last, args, positional))
        return Py_NewRef(last->kind);
    PyObject *kind = kind_of_call(args, positional, NULL);
    keep_kind(last, kind, args, positional);
    return kind;
}

/* Whether what was handed still stands: the name that a function calls itself by, in its globals, is bound to `self`. */
static int still_stands(PyObject *self, PyObject *entry)
{
    return PyTuple_GET_SIZE(entry) == 2
           || PyDict_GetItemWithError(PyTuple_GET_ITEM(entry, 2), PyTuple_GET_ITEM(entry, 3)) == self;
}

/* A call of a kind that `handed` has, where it says: {kind: (function, most nanoseconds)}, or four items with the
 * globals and the name that the function calls itself by. A call that takes longer than that takes its kind out again;
 * 0 for no limit. `*found` says whether there was one. */
static PyObject *call_handed(PyObject *self, PyObject *handed, LastKind *last, PyObject *const *args, size_t flags,
                             PyObject *names, int *found)
{
    OWNED PyObject *kind = kind_again(last, args, PyVectorcall_NARGS(flags), names);
    OWNED PyObject *entry = kind ? Py_XNewRef(PyDict_GetItemWithError(handed, kind)) : NULL;
    if (entry && !still_stands(self, entry)) {
        PyDict_DelItem(handed, kind);
        Py_CLEAR(entry);
    }
    *found = entry != NULL;
    if (!entry) {
        PyErr_Clear();
        return NULL;
    }
    int64_t most = PyLong_AsLongLong(PyTuple_GET_ITEM(entry, 1)), start = most ? nanoseconds_now() : 0;
    PyObject *out = PyObject_Vectorcall(PyTuple_GET_ITEM(entry, 0), args, flags, names);
    if (out && most && nanoseconds_now() - start > most && PyDict_GetItemWithError(handed, kind) == entry)
        PyDict_DelItem(handed, kind);
    return out;
}

#endif
