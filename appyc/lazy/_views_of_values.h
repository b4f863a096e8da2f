/* Views of arrays that are there: NumPy's at first. The paths to them, which recording asks for, are found later. Part of
 * _nodes.c, which alone includes it.
 */
#ifndef APPYC_VIEWS_OF_VALUES_H
#define APPYC_VIEWS_OF_VALUES_H

/* Finds the path of a view that NumPy has made of another one's values. -1: an error. */
static int find_path(View *view)
{
    if (!view->from_shape) {
        PyObject *make = PyDict_GetItemString(steps, "reshape");
        OWNED PyObject *step = make ? PyObject_CallOneArg(make, view->key) : NULL;
        view->path = step ? path_after(view->from_path, step) : NULL;
        return view->path ? 0 : -1;
    }
    int is_element;
    OWNED PyObject *shape = NULL, *step = index_step(view->from_shape, view->key, &shape, &is_element);
    if (step)
        view->path = PyTuple_GET_SIZE(step) ? path_after(view->from_path, step) : Py_NewRef(view->from_path);
    return view->path ? 0 : -1;
}

/* A view whose path is found by these once it is asked for. from_shape: may be NULL. */
static PyObject *view_with_values(View *from, PyObject *values, PyObject *shape, PyObject *from_shape, PyObject *key)
{
    View *out = new_view(Py_TYPE(from), from->buffer, NULL, shape, from->dtype);
    if (out) {
        out->values = Py_NewRef(values);
        out->memory = Py_NewRef(from->buffer->memory);
        out->from_path = Py_NewRef(from->path);
        out->from_shape = Py_XNewRef(from_shape);
        out->key = Py_NewRef(key);
    }
    return (PyObject *)out;
}

/* The view of values that are there, whose path is found once it is asked for. NULL without an error where it takes more to
 * tell. */
static PyObject *view_of_values(View *view, PyObject *key)
{
    if (!view->is_straight || !PyArray_CheckExact(view->buffer->memory) || !is_plain_index(key) || !path_of(view)
        || PyTuple_GET_SIZE(view->path) >= LONG_PATH)
        return NULL;
    PyObject *values = values_of(view);
    OWNED PyObject *found = values ? PyObject_GetItem(values, key) : NULL;
    OWNED PyObject *shape = found && PyArray_CheckExact(found) ? shape_of(found) : NULL;
    return shape ? view_with_values(view, found, shape, view->shape, key) : NULL;
}

/* The view in another shape of values that are there and lie in C order, as `view_of_values`. */
static PyObject *view_in_shape(View *view, PyArray_Dims *wanted)
{
    PyObject *values = PyArray_CheckExact(view->buffer->memory) ? values_of(view) : NULL;
    if (!values || !PyArray_ISCARRAY((PyArrayObject *)values) || !path_of(view) || PyTuple_GET_SIZE(view->path) >= LONG_PATH)
        return NULL;
    OWNED PyObject *found = PyArray_Newshape((PyArrayObject *)values, wanted, NPY_CORDER);
    OWNED PyObject *shape = found ? shape_of(found) : NULL;
    return shape ? view_with_values(view, found, shape, NULL, shape) : NULL;
}

/* reshape(*shape): of a small array that is there, given integers or a tuple of them. */
static PyObject *view_reshape(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    View *view = (View *)self;
    Tally *tally = tally_of(self);
    int is_tuple = count == 1 && PyTuple_CheckExact(args[0]), known = count > 0 && !keywords && tally != NULL;
    PyObject *const *given = is_tuple ? &PyTuple_GET_ITEM(args[0], 0) : args;
    npy_intp extents[NPY_MAXDIMS];
    Py_ssize_t rank = is_tuple ? PyTuple_GET_SIZE(args[0]) : count;
    known = known && rank <= NPY_MAXDIMS && view->is_straight && is_small(tally, size_of(view->shape));
    for (Py_ssize_t i = 0; known && i < rank; i++)
        known = PyLong_CheckExact(given[i]) && ((extents[i] = PyLong_AsSsize_t(given[i])) != -1 || !PyErr_Occurred());
    PyArray_Dims wanted = {extents, (int)rank};
    PyObject *out = known ? view_in_shape(view, &wanted) : NULL;
    return out || PyErr_Occurred() ? out : by_method(self, "_reshape", args, count, keywords);
}

/* ravel(): of a small array that is there and lies in C order. */
static PyObject *view_ravel(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Tally *tally = tally_of(self);
    npy_intp extents[] = {-1};
    PyArray_Dims wanted = {extents, 1};
    int known = !count && !keywords && tally && ((View *)self)->is_straight && is_small(tally, size_of(((View *)self)->shape));
    PyObject *out = known ? view_in_shape((View *)self, &wanted) : NULL;
    return out || PyErr_Occurred() ? out : by_method(self, "_ravel", args, count, keywords);
}

#endif
