/* What a function returns, from the frame of its kernel (appyc/ir/abi.py). Part of _dispatch.c, which alone includes it.
 */
#ifndef APPYC_RESULTS_H
#define APPYC_RESULTS_H

#include "_frame.h"

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

/* An argument that is returned: itself, or a field of it. */
static PyObject *given_result(const Argument *a, PyObject *value)
{
    PyObject *name = a->kind == FIELD ? PyTuple_GET_ITEM(a->text, 0) : Py_None;
    return name == Py_None ? Py_NewRef(value) : PyObject_GetItem(value, name);
}

static inline PyObject *result(const Specialisation *s, int number, const int64_t *frame, PyObject **leaves)
{
    const Result *r = &s->results[number];
    if (r->leaf >= 0)
        return given_result(s->leaves[r->leaf], leaves[r->leaf]);
    return r->count >= 0 ? array_result(r, frame + r->slot) : scalar_result(r, frame + r->slot);
}

/* The results of a call: objects are made of those that are asked for. */
typedef struct {
    const Specialisation *s;
    const int64_t *frame;
    PyObject **leaves, **made;
} Values;

/* The n-th result, borrowed; NULL after an error. */
static PyObject *result_at(const Values *values, long n)
{
    if (n < 0 || n >= values->s->result_count) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_SystemError, "a kernel has no result %ld", n);
        return NULL;
    }
    if (!values->made[n])
        values->made[n] = result(values->s, (int)n, values->frame, values->leaves);
    return values->made[n];
}

/* The result whose number is in a list, borrowed. */
static PyObject *result_in(const Values *values, PyObject *numbers, Py_ssize_t at)
{
    return result_at(values, PyLong_AsLong(PyList_GET_ITEM(numbers, at)));
}

/* An integer among the results, by the same; -1 after an error. */
static Py_ssize_t size_in(const Values *values, PyObject *numbers, Py_ssize_t at)
{
    PyObject *number = result_in(values, numbers, at);
    return number ? PyNumber_AsSsize_t(number, PyExc_OverflowError) : -1;
}

/* A value that an object of ir/results.py makes of the results. */
static PyObject *built(PyObject *builder, const Values *values)
{
    for (int n = 0; n < values->s->result_count; n++)
        if (!result_at(values, n))
            return NULL;
    OWNED PyObject *all = tuple_of(values->made, values->s->result_count);
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
static PyObject *listed(PyObject *tree, const Values *values)
{
    Py_ssize_t columns = (PyList_GET_SIZE(tree) - 2) / 2, length = size_in(values, tree, 0);
    if (length < 0)
        return NULL;
    for (Py_ssize_t k = 0; k < columns; k++)
        if (!result_in(values, tree, 2 + 2 * k))
            return NULL;
#define COLUMN(k) (PyArrayObject *)result_in(values, tree, 2 + 2 * (k))
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
static Py_ssize_t number_of_view(PyObject *tree, Py_ssize_t at, const Values *values)
{
    PyObject *number = PyList_GET_ITEM(tree, at);
    if (PyTuple_Check(number))
        number = result_at(values, PyLong_AsLong(PyTuple_GET_ITEM(number, 0)));
    return number ? PyNumber_AsSsize_t(number, PyExc_OverflowError) : -1;
}

/* A view of an array. tree: None, the array, the number of axes, then the numbers of a ViewOf (ir/results.py). */
static PyObject *viewed(PyObject *tree, const Values *values)
{
    PyArrayObject *base = (PyArrayObject *)result_in(values, tree, 1);
    if (!base)
        return NULL;
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

/* A new structured array. tree: its dtype; the results that have the first element of each field that is copied, how many
 * there are and the distance between them; and the fields, which are contiguous. */
static PyObject *of_fields(PyObject *tree, const Values *values)
{
    PyArray_Descr *descr = (PyArray_Descr *)PyList_GET_ITEM(tree, 0);
    npy_intp part[3];
    for (int k = 0; k < 3; k++)
        part[k] = size_in(values, tree, 1 + k);
    for (Py_ssize_t k = 4; k < PyList_GET_SIZE(tree); k++)
        if (!result_in(values, tree, k))
            return NULL;
    PyObject *out = PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr *)Py_NewRef((PyObject *)descr), 1, &part[1], NULL, NULL,
                                         0, NULL);
    for (Py_ssize_t k = 0; out && k < PyTuple_GET_SIZE(PyDataType_NAMES(descr)); k++) {
        PyArrayObject *field = (PyArrayObject *)result_in(values, tree, 4 + k);
        PyObject *at = PyDict_GetItem(PyDataType_FIELDS(descr), PyTuple_GET_ITEM(PyDataType_NAMES(descr), k));
        const size_t size = (size_t)PyArray_STRIDE(field, 0);
        const char *from = PyArray_BYTES(field) + part[0] * (npy_intp)size;
        char *to = PyArray_BYTES((PyArrayObject *)out) + PyLong_AsLong(PyTuple_GET_ITEM(at, 1));
        npy_intp i = 0, step = part[2] * (npy_intp)size, item = PyDataType_ELSIZE(descr);
        for (; size == 8 && i < part[1]; i++, from += step, to += item)
            memcpy(to, from, 8);  /* no call */
        for (; i < part[1]; i++, from += step, to += item)
            memcpy(to, from, size);
    }
    return out;
}

/* One of several results, or None. tree: Ellipsis, then the numbers of a Chosen (ir/results.py). */
static PyObject *chosen(PyObject *tree, const Values *values)
{
    Py_ssize_t number = size_in(values, tree, 1);
    if (PyErr_Occurred())
        return NULL;
    return Py_XNewRef(number < 0 ? Py_None : result_in(values, tree, 2 + number));
}

/* The values in the shape that the function returns. */
static PyObject *nested(PyObject *tree, const Values *values)
{
    if (PyList_Check(tree)) {
        PyObject *first = PyList_GET_ITEM(tree, 0);
        return PyArray_DescrCheck(first) ? of_fields(tree, values)
            : first == Py_None ? viewed(tree, values)
            : first == Py_Ellipsis ? chosen(tree, values) : listed(tree, values);
    }
    if (tree == Py_None)
        Py_RETURN_NONE;
    if (PyLong_Check(tree))
        return Py_XNewRef(result_at(values, PyLong_AsLong(tree)));
    if (!PyTuple_Check(tree))
        return built(tree, values);
    PyObject *out = PyTuple_New(PyTuple_GET_SIZE(tree));
    for (Py_ssize_t i = 0; out && i < PyTuple_GET_SIZE(tree); i++) {
        PyObject *item = nested(PyTuple_GET_ITEM(tree, i), values);
        if (!item)
            Py_CLEAR(out);
        else
            PyTuple_SET_ITEM(out, i, item);
    }
    return out;
}

static PyObject *results(const Specialisation *s, const int64_t *frame, PyObject **leaves)
{
    if (s->tree == Py_None && s->result_count == 0)
        Py_RETURN_NONE;
    if (PyLong_Check(s->tree) && s->result_count == 1)
        return result(s, 0, frame, leaves);
    PyObject *few[STACK_LEAVES], **made = few;
    if (s->result_count > STACK_LEAVES)
        made = PyMem_Malloc((size_t)s->result_count * sizeof(PyObject *));
    if (!made)
        return PyErr_NoMemory();
    memset(made, 0, (size_t)s->result_count * sizeof(PyObject *));
    PyObject *out = nested(s->tree, &(Values){s, frame, leaves, made});
    for (int n = 0; n < s->result_count; n++) {
        const Result *r = &s->results[n];
        if (out && !made[n] && r->leaf < 0 && r->count >= 0) /* after an error it may be freed */
            free((void *)(uintptr_t)frame[r->slot]);
        Py_XDECREF(made[n]);
    }
    if (made != few)
        PyMem_Free(made);
    return out;
}

#endif
