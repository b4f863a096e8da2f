/* Calls that NumPy computes at once: what it is given for arguments, and what is given back for its result. Part of
 * _nodes.c, which alone includes it.
 */
#ifndef APPYC_PLAIN_H
#define APPYC_PLAIN_H

static int is_simple(const Tally *tally, PyObject *value)
{
    if (PyArray_CheckExact(value))
        return is_small(tally, PyArray_SIZE((PyArrayObject *)value));
    return is_python_number(value) || value == Py_None || PyUnicode_CheckExact(value) || PyArray_IsScalar(value, Generic)
        || PyArray_DescrCheck(value) || PyType_Check(value);
}

static PyObject *plain_argument(const Tally *tally, PyObject *value, int depth, int to_write);

/* A list or tuple with NumPy's arrays in it: itself, if it has none of appyc's. */
static PyObject *plain_items(const Tally *tally, PyObject *value, int depth, int to_write)
{
    int is_list = PyList_CheckExact(value);
    PyObject *out = NULL;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(value, i), *plain = plain_argument(tally, item, depth, to_write);
        if (plain && plain != item && !out)
            out = is_list ? PyList_GetSlice(value, 0, PY_SSIZE_T_MAX) : PySequence_List(value);
        if (!plain || (plain != item && !out)) {
            Py_XDECREF(plain);
            Py_XDECREF(out);
            return NULL;
        }
        if (out)
            PyList_SetItem(out, i, plain);
        else
            Py_DECREF(plain);
    }
    if (out && !is_list)
        Py_SETREF(out, PyList_AsTuple(out));
    return out ? out : Py_NewRef(value);
}

/* What NumPy is given. NULL without an error as for `plain_value`. to_write: the function may write to arrays. */
static PyObject *plain_argument(const Tally *tally, PyObject *value, int depth, int to_write)
{
    if (PyObject_TypeCheck(value, &ViewType))
        return plain_value(tally, value, to_write);
    if (PyTuple_CheckExact(value) || PyList_CheckExact(value))
        return depth ? plain_items(tally, value, depth - 1, to_write) : NULL;
    return is_simple(tally, value) ? Py_NewRef(value) : NULL;
}

static int is_value_of_python(PyObject *value)
{
    return is_python_number(value) || value == Py_None || PyUnicode_CheckExact(value) || PyArray_IsScalar(value, Generic);
}

/* What is given back for a result of NumPy's. Takes the reference. args: of the call, for which NumPy was given `given`, and
 * with `may_view` may have given back a view of. */
static PyObject *finish(PyTypeObject *array_type, PyObject *finished, PyObject *result, PyObject *const *args,
                        PyObject *const *given, Py_ssize_t count, int may_view)
{
    if (!result || is_value_of_python(result))
        return result;
    for (Py_ssize_t i = 0; i < count; i++)
        if (result == given[i] && PyObject_TypeCheck(args[i], &ViewType)) {
            Py_DECREF(result);
            return Py_NewRef(args[i]);
        }
    if (PyArray_CheckExact(result) && PyArray_ISCARRAY((PyArrayObject *)result) && Py_REFCNT(result) == 1
        && !PyArray_BASE((PyArrayObject *)result))
        return array_with(array_type, result);
    PyObject *all = PyTuple_New(may_view ? count : 0), *out = NULL;
    for (Py_ssize_t i = 0; all && may_view && i < count; i++)
        PyTuple_SET_ITEM(all, i, Py_NewRef(args[i]));
    if (all)
        out = PyObject_CallFunctionObjArgs(finished, result, all, NULL);
    Py_XDECREF(all);
    Py_DECREF(result);
    return out;
}

#endif
