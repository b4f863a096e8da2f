/* Functions of NumPy's. Of small arrays that are there NumPy computes them at once; others are recorded, by plans where
 * there are such (_plans.h). Part of _nodes.c, which alone includes it.
 */
#ifndef APPYC_KNOWN_H
#define APPYC_KNOWN_H

enum { MOST_ARGUMENTS = 12 };

/* ------------------------------------------------------------------ at once */

/* A bound on the elements of what is computed element by element: its axes are as long as the longest of the arguments. */
static Py_ssize_t size_of_all(PyObject *const *args, Py_ssize_t count)
{
    Py_ssize_t extents[NPY_MAXDIMS] = {0}, size = 1;
    PyObject *last = NULL;
    int most = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *shape = is_view(args[i]) ? ((View *)args[i])->shape : NULL;
        if ((!shape && !PyArray_Check(args[i])) || (shape && shape == last))
            continue;
        int rank = shape ? (int)PyTuple_GET_SIZE(shape) : PyArray_NDIM((PyArrayObject *)args[i]);
        if (rank > NPY_MAXDIMS)
            return PY_SSIZE_T_MAX;
        for (int k = 0; k < rank; k++) {
            Py_ssize_t extent = shape ? PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, rank - 1 - k))
                                      : PyArray_DIM((PyArrayObject *)args[i], rank - 1 - k);
            extents[k] = extent > extents[k] ? extent : extents[k];
        }
        most = rank > most ? rank : most;
        last = shape;
    }
    for (int k = 0; k < most; k++)
        size = times(size, extents[k]);
    return size;
}

/* The elements of a product of two arrays, or a number that is more than any bound. */
static Py_ssize_t size_of_product(PyObject *const *args, Py_ssize_t count)
{
    Py_ssize_t size = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!is_view(args[i]))
            return PY_SSIZE_T_MAX;
        PyObject *shape = ((View *)args[i])->shape;
        Py_ssize_t rank = PyTuple_GET_SIZE(shape), at = i == 0 || rank < 2 ? rank - 1 : rank - 2;
        Py_ssize_t summed = rank == 1 || rank == 2 ? PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, at)) : 0;
        if (!summed)
            return PY_SSIZE_T_MAX;
        size *= size_of(shape) / summed;
    }
    return size;
}

/* The elements of an array, or a length or shape. */
static Py_ssize_t extent_of(PyObject *value)
{
    if (is_view(value))
        return size_of(((View *)value)->shape);
    if (PyArray_Check(value))
        return PyArray_SIZE((PyArrayObject *)value);
    if (is_tuple_of_integers(value))
        return size_of(value);
    int overflow;
    long long length = PyLong_CheckExact(value) ? PyLong_AsLongLongAndOverflow(value, &overflow) : 1;
    return length < 0 || PyList_Check(value) || PyTuple_Check(value) ? PY_SSIZE_T_MAX : length;
}

/* Whether the result is known to be small, where each argument is. */
static int is_bounded(const Known *self, const Tally *tally, PyObject *const *args, Py_ssize_t count)
{
    switch (self->bound) {
    case BROADCAST:
        return is_small(tally, size_of_all(args, count));
    case PRODUCT:
        return count == 2 && is_small(tally, size_of_product(args, count));
    case GROWN:
        return count && is_small(tally, times(extent_of(args[0]), count > 1 ? extent_of(args[1]) : 1));
    default:
        return 1;
    }
}

/* What NumPy gives for the call. NULL without an error where it takes more to tell, or something must run before. */
static PyObject *call_directly(const Known *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Py_ssize_t all = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0), done = 0;
    int writes = self->what == RUNS || (self->what == MAKES && all > self->operands);
    int is_first_written = self->what == UPDATES || self->what == STORES;
    PyObject *given[MOST_ARGUMENTS], *out = NULL;
    Tally tally = tally_for(self->tally, args, count);
    if (self->direct == Py_None || tally.at_once <= 0 || all > MOST_ARGUMENTS
        || (is_first_written && (keywords || all != 2 || Py_TYPE(args[0]) != self->array_type))
        || !is_bounded(self, &tally, args, count))
        return NULL;
    while (done < all && (given[done] = plain_argument(&tally, args[done], 3, writes || (is_first_written && done == 0))))
        done++;
    if (done == all && (Py_TYPE(self->direct) != &PyMethodDescr_Type || (count && PyArray_Check(given[0])))) {
        PyObject *swapped[] = {all > 1 ? given[1] : NULL, all ? given[0] : NULL};
        out = PyObject_Vectorcall(self->direct, self->is_swapped ? swapped : given, (size_t)count, keywords);
        out = finish(self->array_type, self->finished, out, args, given, all, self->bound == EACH);
    }
    while (done--)
        Py_DECREF(given[done]);
    return out;
}

/* Whether the module that calls is one of these, which map their names to True. */
static int is_called_from(PyObject *modules)
{
    static PyObject *word;
    PyObject *globals = PyEval_GetGlobals();
    if (!globals || (!word && !(word = PyUnicode_InternFromString("__name__"))))
        return 0;
    PyObject *name = PyDict_GetItemWithError(globals, word);
    return name && PyDict_GetItemWithError(modules, name) == Py_True;
}

static PyObject *known_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Known *self = (Known *)callable;
    Request request;
    if (self->callers && !is_called_from(self->callers))
        return PyErr_Occurred() ? NULL : PyObject_Vectorcall(self->slowly, args, flags, keywords);
    PyObject *out = call_directly(self, args, PyVectorcall_NARGS(flags), keywords);
    if (out || PyErr_Occurred())
        return out;
    request.target = NULL;
    request.count = request.used = 0;
    if (keywords && PyTuple_GET_SIZE(keywords) == 0)
        keywords = NULL;
    if (self->what == RUNS || !read_request(self, &request, args, PyVectorcall_NARGS(flags), keywords))
        return PyObject_Vectorcall(self->slowly, args, flags, keywords);
    OWNED PyObject *key = tuple_of(request.parts, request.used);
    OWNED PyObject *plan = key ? Py_XNewRef(PyDict_GetItemWithError(self->plans, key)) : NULL;
    if (plan && PyTuple_Check(plan))
        out = record_planned(self, plan, &request);
    if (!out && !PyErr_Occurred())
        out = slowly(self, &request, plan == Py_False ? key : NULL, args, flags, keywords);
    if (out && !plan && keep(self, key, Py_False) < 0)  /* one like it has come once */
        Py_CLEAR(out);
    return out;
}

/* ------------------------------------------------------------------ asked by NumPy */

/* The functions for NumPy's ufuncs. */
static PyObject *known_ufuncs;

/* `__array_ufunc__(ufunc, method, *inputs)`: a call with numbers and arrays alone, as of `numpy.float64(2) * a`, is that of
 * the function for the ufunc. Others take more to tell. */
static PyObject *view_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    int is_call = count > 2 && (!keywords || !PyTuple_GET_SIZE(keywords)) && PyUnicode_CheckExact(args[1])
        && PyUnicode_CompareWithASCIIString(args[1], "__call__") == 0;
    for (Py_ssize_t i = 2; is_call && i < count; i++)
        is_call = is_view(args[i]) || PyArray_CheckExact(args[i]) || is_python_number(args[i])
            || PyArray_IsScalar(args[i], Generic);
    PyObject *known = is_call ? PyDict_GetItemWithError(known_ufuncs, args[0]) : NULL;
    if (known)
        return PyObject_Vectorcall(known, args + 2, (size_t)(count - 2), NULL);
    return PyErr_Occurred() ? NULL : by_method(self, "_by_ufunc", args, count, keywords);
}

/* ------------------------------------------------------------------ the type */

/* Which of the names it is; -1 where it is none. */
static int number_of(const char *name, const char *const *names, int count)
{
    while (count-- && strcmp(name, names[count]) != 0)
        ;
    return count;
}

static PyObject *known_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"slowly", "tally", "array_type", "number_type", "planned", "finished", "operands", "what",
                            "bound", "swapped", "by_value", "direct", "plain", "callers", NULL};
    static const char *const kinds[] = {"makes", "updates", "stores", "runs"};
    static const char *const bounds[] = {"each", "broadcast", "product", "grown"};
    PyObject *slowly, *tally, *array_type, *number_type, *planned, *finished, *direct = Py_None, *plain = NULL;
    PyObject *callers = NULL;
    const char *what = "makes", *bound = "each";
    int operands, is_swapped = 0, is_by_value = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO!O!O!OOi|$ssppOOO!:Known", names, &slowly, &TallyType, &tally,
                                     &PyType_Type, &array_type, &PyType_Type, &number_type, &planned, &finished,
                                     &operands, &what, &bound, &is_swapped, &is_by_value, &direct, &plain, &PyDict_Type,
                                     &callers))
        return NULL;
    int kind = number_of(what, kinds, 4), bounded = number_of(bound, bounds, 4);
    if (kind < 0 || bounded < 0 || operands < 0 || operands > MOST_OPERANDS
        || !PyType_IsSubtype((PyTypeObject *)array_type, &ViewType) || !PyType_IsSubtype((PyTypeObject *)number_type, &ViewType))
        return PyErr_Format(PyExc_ValueError, "Known of %i operands that %s", operands, what);
    Known *self = (Known *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->vectorcall = known_call;
    self->slowly = Py_NewRef(slowly);
    self->direct = Py_NewRef(direct);
    self->plain = Py_XNewRef(plain);
    self->callers = Py_XNewRef(callers);
    self->planned = Py_NewRef(planned);
    self->finished = Py_NewRef(finished);
    self->tally = (Tally *)Py_NewRef(tally);
    self->array_type = (PyTypeObject *)Py_NewRef(array_type);
    self->number_type = (PyTypeObject *)Py_NewRef(number_type);
    self->operands = operands;
    self->what = kind;
    self->bound = bounded;
    self->is_swapped = is_swapped;
    self->is_by_value = is_by_value;
    if (!(self->plans = PyDict_New()))
        Py_CLEAR(self);
    return (PyObject *)self;
}

/* A function of NumPy's looks like that. */
static PyObject *known_repr(Known *self)
{
    return PyObject_Repr(self->plain ? self->plain : self->slowly);
}

/* Equal to NumPy's own, which `__array_function__` and `__array_ufunc__` of other classes are given. */
static PyObject *known_compare(Known *self, PyObject *other, int how)
{
    if (!self->plain || other != self->plain || (how != Py_EQ && how != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong(how == Py_EQ);
}

static Py_hash_t known_hash(Known *self)
{
    return self->plain ? PyObject_Hash(self->plain) : _Py_HashPointer(self);
}

static PyObject *known_get(PyObject *self, PyObject *object, PyObject *Py_UNUSED(type))
{
    return !object || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

/* NumPy's own function, or the object itself where there is none. */
static PyObject *known_plain(Known *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(self->plain ? self->plain : (PyObject *)self);
}

static PyMemberDef known_members[] = {
    {"slowly", T_OBJECT_EX, offsetof(Known, slowly), READONLY, NULL},
    {"plans", T_OBJECT_EX, offsetof(Known, plans), READONLY, NULL},
    {"_plain", T_OBJECT_EX, offsetof(Known, plain), READONLY, NULL},
    {"_planned", T_OBJECT_EX, offsetof(Known, planned), READONLY, NULL},
    {"_callers", T_OBJECT_EX, offsetof(Known, callers), READONLY, NULL},
    {"_direct", T_OBJECT_EX, offsetof(Known, direct), READONLY, NULL},
    {"_finished", T_OBJECT_EX, offsetof(Known, finished), READONLY, NULL},
    {"_attributes", T_OBJECT_EX, offsetof(Known, attributes), READONLY, NULL},
    {"_array_type", T_OBJECT_EX, offsetof(Known, array_type), READONLY, NULL},
    {"_number_type", T_OBJECT_EX, offsetof(Known, number_type), READONLY, NULL},
    {"_tally", T_OBJECT_EX, offsetof(Known, tally), READONLY, NULL},
    {NULL},
};

static PyGetSetDef known_properties[] = {
    {"__appyc_plain__", (getter)known_plain, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL},
};

static PyTypeObject KnownType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.Known",
    .tp_doc = "A function that records again what it has recorded before, without a look at what it means.",
    .tp_basicsize = sizeof(Known),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = known_new,
    .tp_dealloc = parts_dealloc,
    .tp_call = PyVectorcall_Call,
    .tp_repr = (reprfunc)known_repr,
    .tp_richcompare = (richcmpfunc)known_compare,
    .tp_hash = (hashfunc)known_hash,
    .tp_vectorcall_offset = offsetof(Known, vectorcall),
    .tp_dictoffset = offsetof(Known, attributes),
    .tp_weaklistoffset = offsetof(Known, weak_references),
    .tp_members = known_members,
    .tp_methods = function_methods,
    .tp_getset = known_properties,
};

static PyTypeObject KnownMethodType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.KnownMethod",
    .tp_doc = "One that is a method, too, where it stands in a class.",
    .tp_base = &KnownType,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_descr_get = known_get,
};

#endif
