/* Basic indices: the steps that they are, and the views that they lead to. Part of _nodes.c, which alone includes it.
 */
#ifndef APPYC_INDICES_H
#define APPYC_INDICES_H

/* A step that is an index is the tuple of its items. Steps that are objects of Python's (views.py): by its number of axes, the one that puts them the other way round; by its
 * name, what makes the one to another shape. */
static PyObject *steps;

/* As in appyc/lazy/views.py. */
enum { NEAR = 2 };

/* ------------------------------------------------------------------ indices */

static PyObject *step_of(PyObject *memory, PyObject *step);

/* A bound counted from the end where that is near and the start is not. */
static PyObject *near_bound(Py_ssize_t bound, Py_ssize_t extent)
{
    Py_ssize_t left = extent - bound;
    return PyLong_FromSsize_t(0 < left && left <= NEAR && NEAR < bound ? -left : bound);
}

static PyObject *none_or_near(int none, Py_ssize_t bound, Py_ssize_t extent)
{
    return none ? Py_NewRef(Py_None) : near_bound(bound, extent);
}

/* The slice with bounds in range; `*length`: of what it takes. */
static PyObject *slice_in_range(PyObject *slice, Py_ssize_t extent, Py_ssize_t *length)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0)
        return NULL;
    *length = PySlice_AdjustIndices(extent, &start, &stop, step);
    OWNED PyObject *first = NULL, *last = NULL, *by = PyLong_FromSsize_t(step > 0 || *length ? step : 1);
    if (step > 0) {
        stop = stop < start ? start : stop;
        first = none_or_near(start == 0, start, extent);
        last = none_or_near(stop == extent, stop, extent);
    } else if (*length == 0) {
        first = PyLong_FromLong(0);
        last = PyLong_FromLong(0);
    } else {
        first = none_or_near(start == extent - 1, start, extent);
        last = none_or_near(stop < 0, stop, extent);
    }
    return first && last && by ? PySlice_New(first, last, by) : NULL;
}

static int is_whole(PyObject *item)
{
    PySliceObject *slice = (PySliceObject *)item;
    return PySlice_Check(item) && slice->start == Py_None && slice->stop == Py_None && slice->step == Py_None;
}

static int is_bound(PyObject *bound)
{
    return bound == Py_None || PyLong_CheckExact(bound);
}

/* Whether an item is None, dots, an integer or a slice between integers. */
static int is_plain(PyObject *item)
{
    if (!PySlice_Check(item))
        return is_bound(item) || item == Py_Ellipsis;
    PySliceObject *slice = (PySliceObject *)item;
    return is_bound(slice->start) && is_bound(slice->stop) && is_bound(slice->step);
}

typedef struct {
    PyObject *items, *shape;  /* lists: of the index, and of the view that it leads to */
    PyObject *whole;          /* the shape of what is indexed */
    Py_ssize_t axis;
} Indexing;

/* One item of an index. -1: an error. */
static int add_item(Indexing *at, PyObject *item)
{
    if (item == Py_None) {
        OWNED PyObject *one = PyLong_FromLong(1);
        return !one || PyList_Append(at->items, item) < 0 || PyList_Append(at->shape, one) < 0 ? -1 : 1;
    }
    PyObject *extent_there = PyTuple_GET_ITEM(at->whole, at->axis++);
    Py_ssize_t extent = PyLong_AsSsize_t(extent_there), length;
    if (is_whole(item))
        return PyList_Append(at->items, item) < 0 || PyList_Append(at->shape, extent_there) < 0 ? -1 : 1;
    if (PySlice_Check(item)) {
        OWNED PyObject *slice = slice_in_range(item, extent, &length);
        OWNED PyObject *size = slice ? PyLong_FromSsize_t(length) : NULL;
        return !size || PyList_Append(at->items, slice) < 0 || PyList_Append(at->shape, size) < 0 ? -1 : 1;
    }
    Py_ssize_t value = PyLong_AsSsize_t(item);
    if ((value == -1 && PyErr_Occurred()) || value < -extent || value >= extent) {
        PyErr_Format(PyExc_IndexError, "index %S is out of bounds for axis %zd with size %zd", item, at->axis - 1, extent);
        return -1;
    }
    OWNED PyObject *number = near_bound(value < 0 ? value + extent : value, extent);
    return !number || PyList_Append(at->items, number) < 0 ? -1 : 1;
}

/* All items, with whole slices for the dots and none at the end. -1: an error; 0: they lead to a single element. */
static int add_items(Indexing *at, PyObject *const *items, Py_ssize_t count, PyObject *whole_slice)
{
    Py_ssize_t used = 0, dots = 0, rank = PyTuple_GET_SIZE(at->whole);
    for (Py_ssize_t i = 0; i < count; i++) {
        dots += items[i] == Py_Ellipsis;
        used += items[i] != Py_None && items[i] != Py_Ellipsis;
    }
    if (used > rank || dots > 1) {
        if (used > rank)
            PyErr_Format(PyExc_IndexError, "too many indices for array: array is %zd-dimensional, but %zd were indexed",
                         rank, used);
        else
            PyErr_SetString(PyExc_IndexError, "an index can only have a single ellipsis ('...')");
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t times = items[i] == Py_Ellipsis ? rank - used : 1;
        for (Py_ssize_t k = 0; k < times; k++) {
            int added = add_item(at, items[i] == Py_Ellipsis ? whole_slice : items[i]);
            if (added <= 0)
                return added;
        }
    }
    for (Py_ssize_t last = PyList_GET_SIZE(at->items); last > 0 && is_whole(PyList_GET_ITEM(at->items, last - 1)); last--)
        if (PyList_SetSlice(at->items, last - 1, last, NULL) < 0)
            return -1;
    for (; at->axis < rank; at->axis++)
        if (PyList_Append(at->shape, PyTuple_GET_ITEM(at->whole, at->axis)) < 0)
            return -1;
    return PyList_GET_SIZE(at->shape) || dots;
}

static PyObject *values_of(View *view);

/* Finds NumPy's view of memory that is there, after a transposition, or an index of a view. -1: an error. */
static int find_values(View *out, View *from, PyObject *step)
{
    int is_index = PyTuple_CheckExact(step);
    if (!PyArray_CheckExact(from->buffer->memory) || (is_index && !PyTuple_GET_SIZE(path_of(from))))
        return 0;
    PyObject *values = values_of(from);
    if (!values || !(out->values = is_index ? step_of(values, step) : PyArray_Transpose((PyArrayObject *)values, NULL)))
        return -1;
    out->memory = Py_NewRef(from->buffer->memory);
    return 0;
}

/* The path with one more step. */
static PyObject *path_after(PyObject *path, PyObject *step)
{
    Py_ssize_t depth = PyTuple_GET_SIZE(path);
    PyObject *out = PyTuple_New(depth + 1);
    for (Py_ssize_t i = 0; out && i < depth; i++)
        PyTuple_SET_ITEM(out, i, Py_NewRef(PyTuple_GET_ITEM(path, i)));
    if (out)
        PyTuple_SET_ITEM(out, depth, Py_NewRef(step));
    return out;
}

/* The view after an index or a reversal of its axes, which leads to this shape; each of both may be NULL. */
static View *view_after(View *view, PyObject *step, PyObject *shape)
{
    OWNED PyObject *path = step && shape && path_of(view) ? path_after(view->path, step) : NULL;
    if (!path)
        return NULL;
    View *out = new_view(Py_TYPE(view), view->buffer, path, shape, view->dtype);
    if (out && find_values(out, view, step) < 0)
        Py_CLEAR(out);
    return out;
}

/* As in views.py: a longer path is shortened by arrays.py. */
enum { LONG_PATH = 16 };

/* `view[key]` for an integer and a view of two axes and more. NULL without an error where it takes more to tell. */
static PyObject *view_at(View *view, PyObject *key)
{
    Py_ssize_t rank = PyTuple_GET_SIZE(view->shape);
    if (!view->is_straight || rank < 2 || !path_of(view) || PyTuple_GET_SIZE(view->path) >= LONG_PATH)
        return NULL;
    Py_ssize_t extent = PyLong_AsSsize_t(PyTuple_GET_ITEM(view->shape, 0)), value = PyLong_AsSsize_t(key);
    if (PyErr_Occurred())
        PyErr_Clear();  /* too large */
    else if (-extent <= value && value < extent) {
        OWNED PyObject *item = near_bound(value < 0 ? value + extent : value, extent);
        OWNED PyObject *step = item ? PyTuple_Pack(1, item) : NULL, *shape = PyTuple_GetSlice(view->shape, 1, rank);
        return (PyObject *)view_after(view, step, shape);
    }
    return NULL;
}

static int is_plain_index(PyObject *key)
{
    if (!PyTuple_CheckExact(key))
        return is_plain(key);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++)
        if (!is_plain(PyTuple_GET_ITEM(key, i)))
            return 0;
    return 1;
}

/* The step that a basic index is, its bounds in range, and the shape that it leads to; `*is_element`: it is a single
 * element. NULL: an error, as IndexError. */
static PyObject *index_step(PyObject *whole, PyObject *key, PyObject **shape, int *is_element)
{
    int is_tuple = PyTuple_CheckExact(key), added = -1;
    OWNED PyObject *items = PyList_New(0), *extents = PyList_New(0), *whole_slice = PySlice_New(NULL, NULL, NULL);
    Indexing at = {items, extents, whole, 0};
    if (items && extents && whole_slice)
        added = add_items(&at, is_tuple ? &PyTuple_GET_ITEM(key, 0) : &key, is_tuple ? PyTuple_GET_SIZE(key) : 1, whole_slice);
    *is_element = added == 0;
    *shape = added < 0 ? NULL : PyList_AsTuple(extents);
    return *shape ? PyList_AsTuple(items) : NULL;
}

/* indexed(view, key): the view that a basic index leads to; None where it takes more to tell. Raises IndexError. */
static PyObject *indexed(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !is_view(args[0]))
        return PyErr_Format(PyExc_TypeError, "indexed(view, key)");
    View *view = (View *)args[0];
    if (!path_of(view))
        return NULL;
    if (!view->is_straight || PyTuple_GET_SIZE(view->shape) == 0  /* a number may be no array at all */
        || PyTuple_GET_SIZE(view->path) >= LONG_PATH || !is_plain_index(args[1]))
        Py_RETURN_NONE;
    int is_element;
    OWNED PyObject *shape = NULL, *step = index_step(view->shape, args[1], &shape, &is_element);
    if (is_element)
        Py_RETURN_NONE;
    if (step && PyTuple_GET_SIZE(step) == 0)
        return (PyObject *)new_view(Py_TYPE(view), view->buffer, view->path, view->shape, view->dtype);
    return (PyObject *)view_after(view, step, shape);
}

/* basic_items(items, shape): the items of a basic index, all bounds in range. Raises IndexError. */
static PyObject *basic_items(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyTuple_CheckExact(args[0]) || !PyTuple_CheckExact(args[1]))
        return PyErr_Format(PyExc_TypeError, "basic_items(items, shape)");
    int is_element;
    OWNED PyObject *shape = NULL, *step = index_step(args[1], args[0], &shape, &is_element);
    return Py_XNewRef(step);
}

/* ------------------------------------------------------------------ transposition */

/* The view with its axes the other way round. NULL without an error where it takes more to tell how it lies in memory. */
static PyObject *turned(View *view)
{
    PyObject *path = path_of(view);
    if (!path)
        return NULL;
    Py_ssize_t rank = PyTuple_GET_SIZE(view->shape), depth = PyTuple_GET_SIZE(path), long_axes = 0;
    OWNED PyObject *number = PyLong_FromSsize_t(rank);
    PyObject *step = number ? PyDict_GetItemWithError(steps, number) : NULL;
    if (!step || !view->is_straight || rank < 2
        || (depth && !PyTuple_CheckExact(PyTuple_GET_ITEM(path, depth - 1))))
        return NULL;
    for (Py_ssize_t i = 0; i < rank; i++) {
        Py_ssize_t length = PyLong_AsSsize_t(PyTuple_GET_ITEM(view->shape, i));
        if (length == 0)  /* of arrays without elements, strides say nothing */
            return NULL;
        long_axes += length > 1;
    }
    OWNED PyObject *shape = PyTuple_New(rank);
    for (Py_ssize_t i = 0; shape && i < rank; i++)
        PyTuple_SET_ITEM(shape, i, Py_NewRef(PyTuple_GET_ITEM(view->shape, rank - 1 - i)));
    View *out = view_after(view, step, shape);
    if (out)
        out->is_straight = long_axes < 2;
    return (PyObject *)out;
}

static PyObject *view_turned(View *self, void *Py_UNUSED(closure))
{
    int has_axes = PyTuple_GET_SIZE(self->shape) > 1;
    View *same = !has_axes && path_of(self) ? new_view(Py_TYPE(self), self->buffer, self->path, self->shape, self->dtype) : NULL;
    if (same)
        same->is_straight = self->is_straight;
    if (!has_axes)
        return (PyObject *)same;
    PyObject *out = turned(self);
    return out || PyErr_Occurred() ? out : PyObject_CallMethod((PyObject *)self, "transpose", NULL);
}

static Py_ssize_t view_length(PyObject *self)
{
    PyObject *shape = ((View *)self)->shape;
    if (PyTuple_GET_SIZE(shape))
        return PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, 0));
    PyErr_SetString(PyExc_TypeError, "len() of unsized object");
    return -1;
}

#endif
