/* What is computed at once, since recording it costs more than it does: see appyc/lazy/at_once.py, which holds the
 * same in Python. Part of _nodes.c, which alone includes it.
 */
#ifndef APPYC_AT_ONCE_H
#define APPYC_AT_ONCE_H

/* A method with one argument, which may be a tuple. */
static PyObject *call_method(PyObject *object, const char *name, PyObject *argument)
{
    PyObject *word = PyUnicode_FromString(name), *out = word ? PyObject_CallMethodOneArg(object, word, argument) : NULL;
    Py_XDECREF(word);
    return out;
}

/* ------------------------------------------------------------------ what is there */

/* Whether a recorded statement stores into the buffer, or, with `to_write`, has anything to do with it. */
static int is_touched(PyObject *statement, const Buffer *buffer, int to_write)
{
    if (Py_TYPE(statement) != &StatementType)
        return 1;  /* a call: it takes more to tell */
    Statement *there = (Statement *)statement;
    if (PyWeakref_GET_OBJECT(there->target) == (PyObject *)buffer)
        return 1;
    for (Py_ssize_t i = 0; to_write && i < PyTuple_GET_SIZE(there->operands); i++) {
        PyObject *operand = PyTuple_GET_ITEM(there->operands, i);
        if (PyObject_TypeCheck(operand, &ViewType) && ((View *)operand)->buffer == buffer)
            return 1;
    }
    return 0;
}

/* Whether a buffer's memory holds what the program has made of it; with `to_write`, whether nothing waits to read it. */
static int is_settled(const Tally *tally, const Buffer *buffer, int to_write)
{
    if (!buffer->memory || buffer->memory == Py_None || buffer->is_watched || tally->busy || tally->running
        || !PyArray_CheckExact(buffer->memory) || !tally->statements || !PyList_CheckExact(tally->statements)
        || (to_write && !tally->left))
        return 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tally->statements); i++)
        if (is_touched(PyList_GET_ITEM(tally->statements, i), buffer, to_write))
            return 0;
    for (Py_ssize_t i = 0; to_write && i < PyList_GET_SIZE(tally->left); i++)
        if (is_touched(PyList_GET_ITEM(tally->left, i), buffer, to_write))
            return 0;
    return 1;
}

/* How many elements, or a number that is more than any bound. */
static Py_ssize_t size_of(PyObject *shape)
{
    Py_ssize_t size = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); i++) {
        Py_ssize_t extent = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i));
        if (extent == 0)
            return 0;
        size = extent < 0 || size > PY_SSIZE_T_MAX / extent ? PY_SSIZE_T_MAX : size * extent;
    }
    return size;
}

static int is_small(const Tally *tally, Py_ssize_t size)
{
    return 0 < tally->at_once && size <= tally->at_once;
}

static PyObject *step_of(PyObject *memory, PyObject *step)
{
    if (Py_TYPE(step) != &IndexType)
        return call_method(step, "of", memory);
    PyObject *items = ((Index *)step)->items;
    Py_ssize_t count = PyTuple_GET_SIZE(items);
    if (count == 1 && PyLong_CheckExact(PyTuple_GET_ITEM(items, 0)) && PyArray_Check(memory)
        && PyArray_NDIM((PyArrayObject *)memory) > 1)
        return PyObject_GetItem(memory, PyTuple_GET_ITEM(items, 0));
    PyObject *key = PyTuple_New(count + 1), *out = NULL;
    if (key) {
        for (Py_ssize_t i = 0; i < count; i++)
            PyTuple_SET_ITEM(key, i, Py_NewRef(PyTuple_GET_ITEM(items, i)));
        PyTuple_SET_ITEM(key, count, Py_NewRef(Py_Ellipsis));  /* with it, a single element is an array too */
        out = PyObject_GetItem(memory, key);
    }
    Py_XDECREF(key);
    return out;
}

/* NumPy's view of a buffer's memory. Borrowed. */
static PyObject *values_of(View *view)
{
    PyObject *memory = view->buffer->memory;
    if (PyTuple_GET_SIZE(view->path) == 0)
        return memory;
    if (view->values && view->memory == memory)
        return view->values;
    PyObject *at = Py_NewRef(memory);
    for (Py_ssize_t i = 0; at && i < PyTuple_GET_SIZE(view->path); i++)
        Py_SETREF(at, step_of(at, PyTuple_GET_ITEM(view->path, i)));
    if (at && !PyArray_Check(at)) {
        PyErr_SetString(PyExc_TypeError, "a step of a path leads to a view");
        Py_CLEAR(at);
    }
    if (at) {
        Py_XSETREF(view->memory, Py_NewRef(memory));
        Py_XSETREF(view->values, at);
    }
    return at;
}

/* settled(tally, view, to_write): NumPy's view of the array's memory, or None where something must run before. */
static PyObject *settled(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyObject_TypeCheck(args[0], &TallyType) || !PyObject_TypeCheck(args[1], &ViewType))
        return PyErr_Format(PyExc_TypeError, "settled(tally, view, to_write)");
    View *view = (View *)args[1];
    if (!is_settled((Tally *)args[0], view->buffer, args[2] == Py_True))
        Py_RETURN_NONE;
    return Py_XNewRef(values_of(view));
}

/* ------------------------------------------------------------------ arguments */

static int is_python_number(PyObject *value)
{
    return PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value) || PyComplex_CheckExact(value);
}

/* What NumPy is given for a value: itself, or a small array's memory. NULL without an error where it takes more to
 * tell, or something must run before; with `to_write`, before the array is written to. */
static PyObject *plain_value(const Tally *tally, PyObject *value, int to_write)
{
    if (PyObject_TypeCheck(value, &ViewType)) {
        View *view = (View *)value;
        if (!is_small(tally, size_of(view->shape)) || !is_settled(tally, view->buffer, to_write))
            return NULL;
        PyObject *values = values_of(view);
        return !values ? NULL
            : view->buffer->is_number ? PyArray_Return((PyArrayObject *)Py_NewRef(values)) : Py_NewRef(values);
    }
    if (PyArray_CheckExact(value))
        return is_small(tally, PyArray_SIZE((PyArrayObject *)value)) ? Py_NewRef(value) : NULL;
    return is_python_number(value) || PyArray_IsScalar(value, Generic) ? Py_NewRef(value) : NULL;
}

static int is_element_index(PyObject *item)
{
    return PyLong_CheckExact(item) || PyArray_IsScalar(item, Integer);
}

enum { BASIC, ELEMENT, ADVANCED, UNKNOWN };

/* Whether NumPy may take an item for an integer only once it has looked at it. */
static int is_without_axes(PyObject *item)
{
    return PyObject_TypeCheck(item, &ViewType) ? !PyTuple_GET_SIZE(((View *)item)->shape)
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

/* A list of numbers, with lists of such in it. */
static int is_list_of_numbers(PyObject *value)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value); i++) {
        PyObject *item = PyList_GET_ITEM(value, i);
        if (!is_python_number(item) && !PyArray_IsScalar(item, Generic)
            && !(PyList_CheckExact(item) && is_list_of_numbers(item)))
            return 0;
    }
    return 1;
}

static PyObject *plain_item(const Tally *tally, PyObject *item)
{
    if (item == Py_None || item == Py_Ellipsis || PyLong_CheckExact(item))
        return Py_NewRef(item);
    if (PySlice_Check(item)) {
        PySliceObject *slice = (PySliceObject *)item;
        PyObject *bounds[] = {slice->start, slice->stop, slice->step};
        for (int i = 0; i < 3; i++)
            if (bounds[i] != Py_None && !is_element_index(bounds[i]))
                return NULL;
        return Py_NewRef(item);
    }
    if (PyList_CheckExact(item))
        return is_small(tally, PyList_GET_SIZE(item)) && is_list_of_numbers(item) ? Py_NewRef(item) : NULL;
    return plain_value(tally, item, 0);
}

/* An index as NumPy is given it. NULL without an error as for `plain_value`. */
static PyObject *plain_index(const Tally *tally, PyObject *key)
{
    if (!PyTuple_CheckExact(key))
        return plain_item(tally, key);
    PyObject *out = PyTuple_New(PyTuple_GET_SIZE(key));
    for (Py_ssize_t i = 0; out && i < PyTuple_GET_SIZE(key); i++) {
        PyObject *item = plain_item(tally, PyTuple_GET_ITEM(key, i));
        if (item)
            PyTuple_SET_ITEM(out, i, item);
        else
            Py_CLEAR(out);
    }
    return out;
}

/* ------------------------------------------------------------------ results */

/* An array of the type with this memory, new and in C order. Takes the reference. */
static PyObject *array_with(PyTypeObject *type, PyObject *values)
{
    PyArrayObject *array = (PyArrayObject *)values;
    int rank = PyArray_NDIM(array);
    PyObject *shape = PyTuple_New(rank), *whole = PyTuple_New(0);
    Buffer *buffer = NULL;
    View *view = NULL;
    for (int i = 0; shape && i < rank; i++) {
        PyObject *extent = PyLong_FromSsize_t(PyArray_DIM(array, i));
        if (extent)
            PyTuple_SET_ITEM(shape, i, extent);
        else
            Py_CLEAR(shape);
    }
    if (shape && whole && (buffer = new_buffer(shape, (PyObject *)PyArray_DESCR(array), values)))
        view = new_view(type, buffer, whole, shape, (PyObject *)PyArray_DESCR(array));
    Py_XDECREF(shape);
    Py_XDECREF(whole);
    Py_XDECREF(buffer);
    Py_DECREF(values);
    return (PyObject *)view;
}

/* ------------------------------------------------------------------ elements and indices */

/* What is recorded, as the class of arrays knows it. Borrowed. */
static Tally *tally_of(PyObject *view)
{
    static PyObject *name;
    if (!name && !(name = PyUnicode_InternFromString("recording")))
        return NULL;
    PyObject *found = _PyType_Lookup(Py_TYPE(view), name);
    return found && PyObject_TypeCheck(found, &TallyType) ? (Tally *)found : NULL;
}

static int has_plain_elements(const View *view)
{
    int type = ((PyArray_Descr *)view->dtype)->type_num;
    return PyTypeNum_ISNUMBER(type) || PyTypeNum_ISBOOL(type);
}

static Py_ssize_t times(Py_ssize_t size, Py_ssize_t more)
{
    return more && size > PY_SSIZE_T_MAX / more ? PY_SSIZE_T_MAX : size * more;
}

/* How many elements an item of an index chooses, which is an array or a list of integers; -1 for a mask. */
static Py_ssize_t chosen_by(PyObject *item)
{
    if (PyObject_TypeCheck(item, &ViewType))
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

/* A bound on the elements that a load looks at: of those that arrays of indices choose, on the result; else, all. */
static Py_ssize_t size_of_load(const View *view, PyObject *key)
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
        if (PySlice_Check(items[i]))
            size = times(size, extent);
        else if (!is_element_index(items[i])) {
            if ((more = chosen_by(items[i])) < 0)
                return size_of(view->shape);
            chosen = chosen < 0 || chosen == more ? more : times(chosen, more);
        }
    }
    for (; axis < rank; axis++)
        size = times(size, PyLong_AsSsize_t(PyTuple_GET_ITEM(view->shape, axis)));
    return times(size, chosen < 0 ? 1 : chosen);
}

/* Whether an index says which element is wanted, or the array is small: then it is for NumPy to say what it gives. */
static int is_at_once(const Tally *tally, const View *view, int kind)
{
    return has_plain_elements(view) && !view->buffer->is_number && PyTuple_GET_SIZE(view->shape)
        && is_small(tally, kind == ELEMENT ? 1 : size_of(view->shape));
}

/* Whether few elements of an array are wanted, however large it is. */
static int is_load_at_once(const Tally *tally, const View *view, int kind, PyObject *key)
{
    return kind == ADVANCED && has_plain_elements(view) && !view->buffer->is_number
        && is_small(tally, size_of_load(view, key));
}

static PyObject *load_at_once(const Tally *tally, View *view, PyObject *key)
{
    PyObject *index = plain_index(tally, key), *out = NULL;
    PyObject *values = index ? values_of(view) : NULL;
    if (values && (out = PyObject_GetItem(values, index)) && PyArray_Check(out)) {
        if (PyArray_IS_C_CONTIGUOUS((PyArrayObject *)out) && !PyArray_BASE((PyArrayObject *)out))
            out = array_with(Py_TYPE(view), out);
        else  /* its axes have an order of their own in memory */
            Py_SETREF(out, call_method((PyObject *)view, "_wrapped", out));
    }
    Py_XDECREF(index);
    return out;
}

static PyObject *indexed(PyObject *module, PyObject *const *args, Py_ssize_t count);

static PyObject *view_at(View *view, PyObject *key);

/* A view of a small part of an array that is there: what NumPy has for it is found now, by one step from the array. */
static PyObject *with_values(const Tally *tally, View *view, PyObject *key, PyObject *out)
{
    View *part = (View *)out;
    if (!out || out == Py_None || !tally || !PyArray_CheckExact(view->buffer->memory) || !is_small(tally, size_of(part->shape))
        || !PyTuple_GET_SIZE(view->shape) || !PyTuple_GET_SIZE(part->shape))
        return out;
    PyObject *values = values_of(view), *found = values ? PyObject_GetItem(values, key) : NULL;
    if (found && PyArray_CheckExact(found)) {
        part->values = Py_NewRef(found);
        part->memory = Py_NewRef(view->buffer->memory);
    }
    Py_XDECREF(found);
    if (!values || !found)
        Py_CLEAR(out);
    return out;
}

static PyObject *view_subscript(PyObject *self, PyObject *key)
{
    View *view = (View *)self;
    Tally *tally = tally_of(self);
    int kind = kind_of_index(view, key);
    PyObject *out = NULL;
    if (kind == BASIC && PyLong_CheckExact(key) && ((out = view_at(view, key)) || PyErr_Occurred()))
        return with_values(tally, view, key, out);
    if (kind == BASIC) {
        PyObject *args[] = {self, key};
        if (!(out = indexed(NULL, args, 2)) || out != Py_None)
            return with_values(tally, view, key, out);
        Py_CLEAR(out);
    } else if (tally && kind != UNKNOWN && (is_at_once(tally, view, kind) || is_load_at_once(tally, view, kind, key))
               && is_settled(tally, view->buffer, 0)) {
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
    PyObject *key = PyLong_FromSsize_t(index), *out = key ? view_subscript(self, key) : NULL;
    Py_XDECREF(key);
    return out;
}

/* 1: stored; 0: it takes more than that; -1: an error. */
static int store_at_once(const Tally *tally, View *view, PyObject *key, PyObject *value)
{
    PyObject *index = plain_index(tally, key), *given = NULL;
    if (index)
        given = PyList_CheckExact(value) && is_list_of_numbers(value) ? Py_NewRef(value) : plain_value(tally, value, 0);
    PyObject *values = given ? values_of(view) : NULL;
    int failed = values ? PyObject_SetItem(values, index, given) : 0;
    Py_XDECREF(index);
    Py_XDECREF(given);
    return failed < 0 || PyErr_Occurred() ? -1 : values != NULL;
}

static int view_ass_subscript(PyObject *self, PyObject *key, PyObject *value)
{
    View *view = (View *)self;
    Tally *tally = tally_of(self);
    if (!value) {
        PyErr_SetString(PyExc_ValueError, "cannot delete array elements");
        return -1;
    }
    if (tally && is_at_once(tally, view, kind_of_index(view, key)) && is_settled(tally, view->buffer, 1)) {
        int done = store_at_once(tally, view, key, value);
        if (done)
            return done < 0 ? -1 : 0;
    }
    PyObject *out = PyObject_CallMethod(self, "_put", "OO", key, value);
    Py_XDECREF(out);
    return out ? 0 : -1;
}

#endif
