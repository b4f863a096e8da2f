/* What NumPy computes at once, since recording it costs more than it does: see appyc/lazy/at_once.py. Which memory
 * holds what the program has made of it, what NumPy is given for arguments, and what is given back for its results.
 * Part of _nodes.c, which alone includes it.
 */
#ifndef APPYC_PLAIN_H
#define APPYC_PLAIN_H

/* A method with one argument, which may be a tuple. */
static PyObject *call_method(PyObject *object, const char *name, PyObject *argument)
{
    OWNED PyObject *word = PyUnicode_FromString(name);
    return word ? PyObject_CallMethodOneArg(object, word, argument) : NULL;
}

/* The method of Python's, of which the name is given. */
static PyObject *by_method(PyObject *self, const char *name, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    OWNED PyObject *method = PyObject_GetAttrString(self, name);
    return method ? PyObject_Vectorcall(method, args, (size_t)count, keywords) : NULL;
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
        if (is_view(operand) && ((View *)operand)->buffer == buffer)
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

/* A product, or a number that is more than any bound. */
static Py_ssize_t times(Py_ssize_t size, Py_ssize_t more)
{
    Py_ssize_t out;
    return more < 0 || __builtin_mul_overflow(size, more, &out) ? PY_SSIZE_T_MAX : out;
}

/* How many elements, or a number that is more than any bound. */
static Py_ssize_t size_of(PyObject *shape)
{
    Py_ssize_t size = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); i++)
        size = times(size, PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i)));
    return size;
}

static int is_small(const Tally *tally, Py_ssize_t size)
{
    return 0 < tally->at_once && size <= tally->at_once;
}

static int has_plain_elements(const View *view)
{
    int type = ((PyArray_Descr *)view->dtype)->type_num;
    return PyTypeNum_ISNUMBER(type) || PyTypeNum_ISBOOL(type);
}

/* Whether a view is of numbers in rows, which compiled code does not read. */
static int is_field(PyObject *value)
{
    return is_view(value) && has_plain_elements((View *)value)
        && ((PyArray_Descr *)((View *)value)->buffer->dtype)->type_num == NPY_VOID;
}

/* The tally for a call, with its bound on what is computed at once: where operands are fields, their sizes. They would be
 * copied to be recorded, which takes as long as an operation. */
static Tally tally_for(const Tally *tally, PyObject *const *args, Py_ssize_t count)
{
    Tally out = *tally;
    for (Py_ssize_t i = 0; 0 < tally->at_once && i < count; i++)
        if (is_field(args[i])) {
            Py_ssize_t size = size_of(((View *)args[i])->shape);
            out.at_once = out.at_once > size ? out.at_once : size;
        }
    return out;
}

static PyObject *step_of(PyObject *memory, PyObject *step)
{
    if (!PyTuple_CheckExact(step))
        return call_method(step, "of", memory);
    Py_ssize_t count = PyTuple_GET_SIZE(step);
    if (count == 1 && PyLong_CheckExact(PyTuple_GET_ITEM(step, 0)) && PyArray_Check(memory)
        && PyArray_NDIM((PyArrayObject *)memory) > 1)
        return PyObject_GetItem(memory, PyTuple_GET_ITEM(step, 0));
    OWNED PyObject *key = PyTuple_New(count + 1);
    if (!key)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SET_ITEM(key, i, Py_NewRef(PyTuple_GET_ITEM(step, i)));
    PyTuple_SET_ITEM(key, count, Py_NewRef(Py_Ellipsis));  /* with it, a single element is an array too */
    return PyObject_GetItem(memory, key);
}

/* NumPy's view of a buffer's memory. Borrowed. */
static PyObject *values_of(View *view)
{
    PyObject *memory = view->buffer->memory;
    if (view->values && view->memory == memory)
        return view->values;
    PyObject *path = path_of(view);
    if (!path || !PyTuple_GET_SIZE(path))
        return path ? memory : NULL;
    PyObject *at = Py_NewRef(memory);
    for (Py_ssize_t i = 0; at && i < PyTuple_GET_SIZE(path); i++)
        Py_SETREF(at, step_of(at, PyTuple_GET_ITEM(path, i)));
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
    if (count != 3 || !PyObject_TypeCheck(args[0], &TallyType) || !is_view(args[1]))
        return PyErr_Format(PyExc_TypeError, "settled(tally, view, to_write)");
    View *view = (View *)args[1];
    if (!is_settled((Tally *)args[0], view->buffer, args[2] == Py_True))
        Py_RETURN_NONE;
    return Py_XNewRef(values_of(view));
}

/* What is recorded, as the class of arrays knows it. Borrowed. */
static Tally *tally_of(PyObject *view)
{
    static PyObject *name;
    if (!name && !(name = PyUnicode_InternFromString("recording")))
        return NULL;
    PyObject *found = _PyType_Lookup(Py_TYPE(view), name);
    return found && PyObject_TypeCheck(found, &TallyType) ? (Tally *)found : NULL;
}

/* ------------------------------------------------------------------ arguments */

static int is_python_number(PyObject *value)
{
    return PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value) || PyComplex_CheckExact(value);
}

/* The memory of a small array. NULL without an error where something must run before; with `to_write`, before the array
 * is written to. */
static PyObject *plain_array(const Tally *tally, View *view, int to_write)
{
    if (!is_small(tally, size_of(view->shape)) || !is_settled(tally, view->buffer, to_write))
        return NULL;
    PyObject *values = Py_XNewRef(values_of(view));
    return values && view->buffer->is_number ? PyArray_Return((PyArrayObject *)values) : values;
}

static int is_element_index(PyObject *item)
{
    return PyLong_CheckExact(item) || PyArray_IsScalar(item, Integer);
}

static int is_plain_bound(PyObject *bound)
{
    return bound == Py_None || is_element_index(bound);
}

static int is_simple(const Tally *tally, PyObject *value)
{
    if (PyArray_CheckExact(value))
        return is_small(tally, PyArray_SIZE((PyArrayObject *)value));
    if (PySlice_Check(value)) {
        PySliceObject *slice = (PySliceObject *)value;
        return is_plain_bound(slice->start) && is_plain_bound(slice->stop) && is_plain_bound(slice->step);
    }
    return is_python_number(value) || value == Py_None || value == Py_Ellipsis || PyUnicode_CheckExact(value)
        || PyArray_IsScalar(value, Generic) || PyArray_DescrCheck(value) || PyType_Check(value);
}

static PyObject *plain_argument(const Tally *tally, PyObject *value, int depth, int to_write);

/* A list or tuple with NumPy's arrays in it: itself, if it has none of appyc's. */
static PyObject *plain_items(const Tally *tally, PyObject *value, int depth, int to_write)
{
    OWNED PyObject *out = NULL;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(value, i);
        OWNED PyObject *plain = plain_argument(tally, item, depth, to_write);
        if (plain && plain != item && !out)
            out = PySequence_List(value);
        if (!plain || (plain != item && !out))
            return NULL;
        if (out)
            PyList_SetItem(out, i, Py_NewRef(plain));
    }
    if (!out)
        return Py_NewRef(value);
    return PyList_CheckExact(value) ? Py_NewRef(out) : PyList_AsTuple(out);
}

/* What NumPy is given for a value. NULL without an error where it takes more to tell, or as for `plain_array`. to_write:
 * the function may write to arrays. */
static PyObject *plain_argument(const Tally *tally, PyObject *value, int depth, int to_write)
{
    if (is_view(value))
        return plain_array(tally, (View *)value, to_write);
    if (PyTuple_CheckExact(value) || PyList_CheckExact(value))
        return depth ? plain_items(tally, value, depth - 1, to_write) : NULL;
    return is_simple(tally, value) ? Py_NewRef(value) : NULL;
}

/* ------------------------------------------------------------------ results */

/* Whether these are the extents of NumPy's array. */
static int is_shape_of(PyObject *shape, PyObject *values)
{
    int rank = PyArray_NDIM((PyArrayObject *)values), same = PyTuple_GET_SIZE(shape) == rank;
    for (int i = 0; same && i < rank; i++)
        same = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i)) == PyArray_DIM((PyArrayObject *)values, i);
    return same;
}

/* An array of the type with this memory, new and in C order. like: what may have its shape, or NULL. */
static PyObject *array_with(PyTypeObject *type, PyObject *values, PyObject *like)
{
    PyObject *dtype = (PyObject *)PyArray_DESCR((PyArrayObject *)values);
    int is_like = like && is_view(like) && is_shape_of(((View *)like)->shape, values);
    OWNED PyObject *shape = is_like ? Py_NewRef(((View *)like)->shape) : shape_of(values), *whole = PyTuple_New(0);
    OWNED Buffer *buffer = shape && whole ? new_buffer(shape, dtype, values) : NULL;
    return buffer ? (PyObject *)new_view(type, buffer, whole, shape, dtype) : NULL;
}

static int is_value_of_python(PyObject *value)
{
    return is_python_number(value) || value == Py_None || PyUnicode_CheckExact(value) || PyArray_IsScalar(value, Generic);
}

/* Whether an array has the elements of a new array in the same shape, to which nothing else refers: what NumPy gives that
 * brings a result into its shape last. */
static int is_all_of_its_base(PyArrayObject *array)
{
    PyArrayObject *base = (PyArrayObject *)PyArray_BASE(array);
    return base && PyArray_CheckExact((PyObject *)base) && Py_REFCNT(base) == 1 && !PyArray_BASE(base)
        && PyArray_CHKFLAGS(base, NPY_ARRAY_OWNDATA) && PyArray_ISCARRAY(base) && PyArray_ISCARRAY(array)
        && PyArray_DATA(base) == PyArray_DATA(array) && PyArray_DESCR(base) == PyArray_DESCR(array)
        && PyArray_SAMESHAPE(base, array);
}

/* What is given back for a result of NumPy's. Takes the reference. args: of the call, for which NumPy was given `given`, and
 * with `may_view` may have given back a view of. */
static PyObject *finish(PyTypeObject *array_type, PyObject *finished, PyObject *made, PyObject *const *args,
                        PyObject *const *given, Py_ssize_t count, int may_view)
{
    if (!made || (!PyArray_CheckExact(made) && is_value_of_python(made)))
        return made;
    OWNED PyObject *result = made;
    for (Py_ssize_t i = 0; i < count; i++)
        if (result == given[i] && is_view(args[i]))
            return Py_NewRef(args[i]);
    if (PyArray_CheckExact(result) && Py_REFCNT(result) == 1 && is_all_of_its_base((PyArrayObject *)result))
        Py_SETREF(result, Py_NewRef(PyArray_BASE((PyArrayObject *)result)));
    if (PyArray_CheckExact(result) && PyArray_ISCARRAY((PyArrayObject *)result) && Py_REFCNT(result) == 1
        && !PyArray_BASE((PyArrayObject *)result))
        return array_with(array_type, result, count ? args[0] : NULL);
    OWNED PyObject *all = tuple_of(args, may_view ? count : 0);
    return all ? PyObject_CallFunctionObjArgs(finished, result, all, NULL) : NULL;
}

#endif
