/* Elements and indices of arrays: at once where what they say is there. Part of _nodes.c, which alone includes it.
 */
#ifndef APPYC_AT_ONCE_H
#define APPYC_AT_ONCE_H

enum { BASIC, ELEMENT, ADVANCED, UNKNOWN };

/* Whether NumPy may take an item for an integer only once it has looked at it. */
static int is_without_axes(PyObject *item)
{
    return is_view(item) ? !PyTuple_GET_SIZE(((View *)item)->shape)
        : PyArray_Check(item) ? !PyArray_NDIM((PyArrayObject *)item) : 0;
}

/* What an index leads to: a view, one element, or new memory. */
static int kind_of_index(const View *view, PyObject *key)
{
    int is_tuple = PyTuple_CheckExact(key), kind = ELEMENT;
    PyObject *const *items = is_tuple ? &PyTuple_GET_ITEM(key, 0) : &key;
    Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (is_element_index(items[i]))
            continue;
        if (is_without_axes(items[i]))
            return UNKNOWN;
        if (items[i] != Py_None && items[i] != Py_Ellipsis && !PySlice_Check(items[i]))
            kind = ADVANCED;
        else if (kind == ELEMENT)
            kind = BASIC;
    }
    if (kind == ADVANCED)
        return kind;
    return kind == ELEMENT && count == PyTuple_GET_SIZE(view->shape) ? ELEMENT : BASIC;
}

/* How many elements an item of an index chooses, which is an array or a list of integers; -1 for a mask. */
static Py_ssize_t chosen_by(PyObject *item)
{
    if (is_view(item))
        return PyTypeNum_ISINTEGER(((PyArray_Descr *)((View *)item)->dtype)->type_num) ? size_of(((View *)item)->shape) : -1;
    if (PyArray_CheckExact(item))
        return PyArray_ISINTEGER((PyArrayObject *)item) ? PyArray_SIZE((PyArrayObject *)item) : -1;
    if (!PyList_CheckExact(item))
        return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(item); i++)
        if (!is_element_index(PyList_GET_ITEM(item, i)) || PyBool_Check(PyList_GET_ITEM(item, i)))
            return -1;
    return PyList_GET_SIZE(item);
}

/* A bound on the elements that an index chooses; all of the array, where it has a mask. */
static Py_ssize_t size_of_index(const View *view, PyObject *key)
{
    int is_tuple = PyTuple_CheckExact(key);
    PyObject *const *items = is_tuple ? &PyTuple_GET_ITEM(key, 0) : &key;
    Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(key) : 1, rank = PyTuple_GET_SIZE(view->shape), axis = 0;
    Py_ssize_t size = 1, chosen = -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (items[i] == Py_None)
            continue;
        if (items[i] == Py_Ellipsis || axis == rank)
            return size_of(view->shape);
        Py_ssize_t extent = PyLong_AsSsize_t(PyTuple_GET_ITEM(view->shape, axis++)), more;
        if (PySlice_Check(items[i])) {
            Py_ssize_t start, stop, step;
            if (PySlice_Unpack(items[i], &start, &stop, &step) < 0) {
                PyErr_Clear();  /* for NumPy to refuse */
                return size_of(view->shape);
            }
            size = times(size, PySlice_AdjustIndices(extent, &start, &stop, step));
        } else if (!is_element_index(items[i])) {
            if ((more = chosen_by(items[i])) < 0)
                return size_of(view->shape);
            chosen = chosen < 0 || chosen == more ? more : times(chosen, more);
        }
    }
    for (; axis < rank; axis++)
        size = times(size, PyLong_AsSsize_t(PyTuple_GET_ITEM(view->shape, axis)));
    return times(size, chosen < 0 ? 1 : chosen);
}

/* Whether few elements of an array are read or stored into, however large it is. */
static int is_at_once(const Tally *tally, const View *view, int kind, PyObject *key)
{
    return has_plain_elements(view) && !view->buffer->is_number && PyTuple_GET_SIZE(view->shape)
        && is_small(tally, kind == ELEMENT ? 1 : kind == UNKNOWN ? size_of(view->shape) : size_of_index(view, key));
}

static PyObject *load_at_once(const Tally *tally, View *view, PyObject *key)
{
    OWNED PyObject *index = plain_argument(tally, key, 2, 0);
    PyObject *values = index ? values_of(view) : NULL;
    OWNED PyObject *out = values ? PyObject_GetItem(values, index) : NULL;
    if (!out || !PyArray_Check(out))
        return Py_XNewRef(out);
    if (PyArray_IS_C_CONTIGUOUS((PyArrayObject *)out) && !PyArray_BASE((PyArrayObject *)out))
        return array_with(Py_TYPE(view), out, NULL);
    return call_method((PyObject *)view, "_wrapped", out);  /* its axes have an order of their own in memory */
}

static PyObject *indexed(PyObject *module, PyObject *const *args, Py_ssize_t count);

static PyObject *view_at(View *view, PyObject *key);

/* Of arrays of rows, by shape, dtype and the field's name: the path to the field, its shape and its dtype. */
static PyObject *known_fields;

/* The view of a field that is known. NULL without an error where it takes more to tell. */
static PyObject *field_of(View *view, PyObject *name)
{
    if (!path_of(view) || PyTuple_GET_SIZE(view->path) || !PyTuple_GET_SIZE(view->shape))
        return NULL;
    PyObject *memory = view->buffer->memory;
    OWNED PyObject *key = PyTuple_Pack(3, view->shape, view->dtype, name);
    PyObject *found = key ? PyDict_GetItemWithError(known_fields, key) : NULL;
    View *out = !found ? NULL : new_view(Py_TYPE(view), view->buffer, PyTuple_GET_ITEM(found, 0),
                                         PyTuple_GET_ITEM(found, 1), PyTuple_GET_ITEM(found, 2));
    if (out)
        out->is_straight = 0;
    if (out && PyArray_CheckExact(memory) && (out->values = PyObject_GetItem(memory, name)))
        out->memory = Py_NewRef(memory);
    else if (PyErr_Occurred())
        Py_CLEAR(out);
    return (PyObject *)out;
}

static PyObject *view_subscript(PyObject *self, PyObject *key)
{
    View *view = (View *)self;
    if (PyUnicode_CheckExact(key)) {
        PyObject *field = field_of(view, key);
        return field || PyErr_Occurred() ? field : call_method(self, "_at", key);
    }
    Tally *tally = tally_of(self);
    int kind = kind_of_index(view, key);
    PyObject *out = NULL;
    if (kind == BASIC && tally && tally->at_once > 1 && is_small(tally, size_of_index(view, key))
        && ((out = view_of_values(view, key)) || PyErr_Occurred()))
        return out;
    if (kind == BASIC && PyLong_CheckExact(key) && ((out = view_at(view, key)) || PyErr_Occurred()))
        return out;
    if (kind == BASIC) {
        PyObject *args[] = {self, key};
        if (!(out = indexed(NULL, args, 2)) || out != Py_None)
            return out;
        Py_CLEAR(out);
    } else if (tally && kind != UNKNOWN && is_at_once(tally, view, kind, key) && is_settled(tally, view->buffer, 0)) {
        if (kind == ELEMENT) {
            PyObject *values = values_of(view);
            return values ? PyObject_GetItem(values, key) : NULL;
        }
        if ((out = load_at_once(tally, view, key)) || PyErr_Occurred())
            return out;
    }
    return call_method(self, "_at", key);
}

/* For those who ask for a sequence. */
static PyObject *view_item(PyObject *self, Py_ssize_t index)
{
    OWNED PyObject *key = PyLong_FromSsize_t(index);
    return key ? view_subscript(self, key) : NULL;
}

/* 1: stored; 0: it takes more than that; -1: an error. */
static int store_at_once(const Tally *tally, View *view, PyObject *key, PyObject *value)
{
    OWNED PyObject *index = plain_argument(tally, key, 2, 0);
    OWNED PyObject *given = index ? plain_argument(tally, value, 3, 0) : NULL;
    PyObject *values = given ? values_of(view) : NULL;
    int failed = values ? PyObject_SetItem(values, index, given) : 0;
    return failed < 0 || PyErr_Occurred() ? -1 : values != NULL;
}

/* 1: the values of a field are stored; 0: it takes more than that; -1: an error. */
static int store_field(const Tally *tally, View *view, PyObject *name, PyObject *value)
{
    OWNED PyObject *field = field_of(view, name);
    if (!field)
        return PyErr_Occurred() ? -1 : 0;
    if (is_view(value) && is_same_view((View *)value, (View *)field))
        return 1;  /* `a["x"] += y` stores what it changed into itself */
    if (!tally || !is_field(field) || !is_settled(tally, view->buffer, 1))
        return 0;
    Tally bounded = tally_for(tally, &field, 1);
    return store_at_once(&bounded, (View *)field, Py_Ellipsis, value);
}

static int view_ass_subscript(PyObject *self, PyObject *key, PyObject *value)
{
    View *view = (View *)self;
    Tally *tally = tally_of(self);
    if (!value) {
        PyErr_SetString(PyExc_ValueError, "cannot delete array elements");
        return -1;
    }
    if (PyUnicode_CheckExact(key)) {
        int done = store_field(tally, view, key, value);
        if (done)
            return done < 0 ? -1 : 0;
    } else if (tally && is_at_once(tally, view, kind_of_index(view, key), key) && is_settled(tally, view->buffer, 1)) {
        int done = store_at_once(tally, view, key, value);
        if (done)
            return done < 0 ? -1 : 0;
    }
    OWNED PyObject *out = PyObject_CallMethod(self, "_put", "OO", key, value);
    return out ? 0 : -1;
}

#endif
