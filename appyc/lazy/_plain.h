/* Functions that NumPy runs on computed values: at once, where the arrays among the arguments are small and there, and
 * all else is simple. See `PythonPlain` in appyc/lazy/recorded_nodes.py. Part of _nodes.c, which alone includes it.
 */
#ifndef APPYC_PLAIN_H
#define APPYC_PLAIN_H

enum { MOST_PLAIN = 12 };

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *of, *slowly, *finished, *attributes, *weak_references;
    PyTypeObject *array_type;
    Tally *tally;
} Plain;

static int is_simple(const Tally *tally, PyObject *value)
{
    if (PyArray_CheckExact(value))
        return is_small(tally, PyArray_SIZE((PyArrayObject *)value));
    return is_python_number(value) || value == Py_None || PyUnicode_CheckExact(value) || PyArray_IsScalar(value, Generic)
        || PyArray_DescrCheck(value) || PyType_Check(value);
}

static PyObject *plain_argument(const Tally *tally, PyObject *value, int depth);

/* A list or tuple with NumPy's arrays in it: itself, if it has none of appyc's. */
static PyObject *plain_items(const Tally *tally, PyObject *value, int depth)
{
    int is_list = PyList_CheckExact(value);
    PyObject *out = NULL;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(value, i), *plain = plain_argument(tally, item, depth);
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

/* What NumPy is given. NULL without an error as for `plain_value`; the function may write to arrays. */
static PyObject *plain_argument(const Tally *tally, PyObject *value, int depth)
{
    if (PyObject_TypeCheck(value, &ViewType))
        return is_settled(tally, ((View *)value)->buffer, 1) ? plain_value(tally, value) : NULL;
    if (PyTuple_CheckExact(value) || PyList_CheckExact(value))
        return depth ? plain_items(tally, value, depth - 1) : NULL;
    return is_simple(tally, value) ? Py_NewRef(value) : NULL;
}

static int is_value_of_python(PyObject *value)
{
    return is_python_number(value) || value == Py_None || PyUnicode_CheckExact(value) || PyArray_IsScalar(value, Generic);
}

/* What is given back for a result of NumPy's. Takes the reference. is_apart: none of appyc's arrays was given, so that it
 * is none's view. */
static PyObject *finish(const Plain *self, PyObject *result, PyObject *const *args, Py_ssize_t count, PyObject *keywords,
                        int is_apart)
{
    if (!result || is_value_of_python(result))
        return result;
    if (PyArray_CheckExact(result) && PyArray_ISCARRAY((PyArrayObject *)result) && Py_REFCNT(result) == 1
        && (is_apart || !PyArray_BASE((PyArrayObject *)result)))
        return array_with(self->array_type, result, PyArray_DESCR((PyArrayObject *)result));
    PyObject *given = PyTuple_New(count + (keywords ? PyTuple_GET_SIZE(keywords) : 0)), *out = NULL;
    if (given) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); i++)
            PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
        out = PyObject_CallFunctionObjArgs(self->finished, result, given, NULL);
    }
    Py_XDECREF(given);
    Py_DECREF(result);
    return out;
}

static PyObject *plain_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Plain *self = (Plain *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags), all = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0), done = 0;
    PyObject *given[MOST_PLAIN], *out = NULL;
    int is_done = 0, is_apart = 1;
    while (self->tally->at_once > 0 && all <= MOST_PLAIN && done < all
           && (given[done] = plain_argument(self->tally, args[done], 3)))
        done++;
    if (done == all && self->tally->at_once > 0) {
        is_done = 1;
        for (Py_ssize_t i = 0; i < all; i++)
            is_apart &= given[i] == args[i];
        out = PyObject_Vectorcall(self->of, given, (size_t)count, keywords);
    }
    while (done--)
        Py_DECREF(given[done]);
    if (is_done)
        return finish(self, out, args, count, keywords, is_apart);
    return PyErr_Occurred() ? NULL : PyObject_Vectorcall(self->slowly, args, flags, keywords);
}

static PyObject *plain_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"of", "slowly", "finished", "tally", "array_type", NULL};
    PyObject *of, *slowly, *finished, *tally, *array_type;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOO!O!:Plain", names, &of, &slowly, &finished, &TallyType, &tally,
                                     &PyType_Type, &array_type))
        return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)array_type, &ViewType))
        return PyErr_Format(PyExc_TypeError, "%R is no class of views", array_type);
    Plain *self = (Plain *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->vectorcall = plain_call;
    self->of = Py_NewRef(of);
    self->slowly = Py_NewRef(slowly);
    self->finished = Py_NewRef(finished);
    self->tally = (Tally *)Py_NewRef(tally);
    self->array_type = (PyTypeObject *)Py_NewRef(array_type);
    return (PyObject *)self;
}

static void plain_dealloc(Plain *self)
{
    if (self->weak_references)
        PyObject_ClearWeakRefs((PyObject *)self);
    Py_XDECREF(self->of);
    Py_XDECREF(self->slowly);
    Py_XDECREF(self->finished);
    Py_XDECREF(self->attributes);
    Py_XDECREF(self->array_type);
    Py_XDECREF(self->tally);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* A function of NumPy's looks like that. */
static PyObject *plain_repr(Plain *self)
{
    return PyObject_Repr(self->of);
}

static PyMemberDef plain_members[] = {
    {"slowly", T_OBJECT_EX, offsetof(Plain, slowly), READONLY, NULL},
    {NULL},
};

static PyGetSetDef plain_properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL},
};

static PyTypeObject PlainType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.Plain",
    .tp_doc = "A function that NumPy runs, at once where it can.",
    .tp_basicsize = sizeof(Plain),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = plain_new,
    .tp_dealloc = (destructor)plain_dealloc,
    .tp_call = PyVectorcall_Call,
    .tp_repr = (reprfunc)plain_repr,
    .tp_vectorcall_offset = offsetof(Plain, vectorcall),
    .tp_dictoffset = offsetof(Plain, attributes),
    .tp_weaklistoffset = offsetof(Plain, weak_references),
    .tp_members = plain_members,
    .tp_methods = function_methods,
    .tp_getset = plain_properties,
};

#endif
