/* Buffers, views of them, and statements: see appyc/lazy/recorded_nodes.py. Part of _nodes.c, which alone includes it.
 */
#ifndef APPYC_PARTS_H
#define APPYC_PARTS_H

/* Of each type here: an object drops what its members refer to, and those of its bases. */
static void parts_dealloc(PyObject *self)
{
    Py_ssize_t references = Py_TYPE(self)->tp_weaklistoffset;
    if (references && *(PyObject **)((char *)self + references))
        PyObject_ClearWeakRefs(self);
    for (PyTypeObject *type = Py_TYPE(self); type; type = type->tp_base) {
        if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)  /* a class of Python's, which drops its own */
            continue;
        for (const PyMemberDef *member = type->tp_members; member && member->name; member++)
            if (member->type == T_OBJECT_EX)
                Py_XDECREF(*(PyObject **)((char *)self + member->offset));
    }
    Py_TYPE(self)->tp_free(self);
}

/* ------------------------------------------------------------------ buffers */

typedef struct {
    PyObject_HEAD
    PyObject *shape, *dtype, *memory, *ghost, *weak_references;
    char is_number, lent, is_watched;
} Buffer;

static PyTypeObject BufferType;

static Buffer *new_buffer(PyObject *shape, PyObject *dtype, PyObject *memory)
{
    if (!PyTuple_Check(shape) || !PyArray_DescrCheck(dtype)) {
        PyErr_SetString(PyExc_TypeError, "a buffer has a tuple as its shape, and a dtype");
        return NULL;
    }
    Buffer *self = PyObject_New(Buffer, &BufferType);
    if (!self)
        return NULL;
    self->shape = Py_NewRef(shape);
    self->dtype = Py_NewRef(dtype);
    self->memory = Py_NewRef(memory);
    self->ghost = Py_NewRef(Py_None);
    self->weak_references = NULL;
    self->is_number = self->lent = self->is_watched = 0;
    return self;
}

static void buffer_dealloc(Buffer *self)
{
    if (self->weak_references)
        PyObject_ClearWeakRefs((PyObject *)self);
    Py_DECREF(self->shape);
    Py_DECREF(self->dtype);
    Py_XDECREF(self->memory);
    Py_XDECREF(self->ghost);
    PyObject_Free(self);
}

static PyObject *buffer_new(PyTypeObject *Py_UNUSED(type), PyObject *args, PyObject *keywords)
{
    static char *names[] = {"shape", "dtype", "memory", NULL};
    PyObject *shape, *dtype, *memory = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|O:Buffer", names, &shape, &dtype, &memory))
        return NULL;
    return (PyObject *)new_buffer(shape, dtype, memory);
}

static PyObject *buffer_nbytes(Buffer *self, void *Py_UNUSED(closure))
{
    long long size = PyDataType_ELSIZE((PyArray_Descr *)self->dtype);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->shape); i++)
        size *= PyLong_AsLongLong(PyTuple_GET_ITEM(self->shape, i));
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(size);
}

static PyMemberDef buffer_members[] = {
    {"shape", T_OBJECT_EX, offsetof(Buffer, shape), READONLY, NULL},
    {"dtype", T_OBJECT_EX, offsetof(Buffer, dtype), READONLY, NULL},
    {"memory", T_OBJECT_EX, offsetof(Buffer, memory), 0, NULL},
    {"ghost", T_OBJECT_EX, offsetof(Buffer, ghost), 0, NULL},
    {"is_number", T_BOOL, offsetof(Buffer, is_number), 0, NULL},
    {"lent", T_BOOL, offsetof(Buffer, lent), 0, NULL},
    {"is_watched", T_BOOL, offsetof(Buffer, is_watched), 0, NULL},
    {NULL},
};

static PyGetSetDef buffer_properties[] = {
    {"nbytes", (getter)buffer_nbytes, NULL, NULL, NULL},
    {NULL},
};

static PyTypeObject BufferType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.Buffer",
    .tp_doc = "The memory of an array and its views.",
    .tp_basicsize = sizeof(Buffer),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = buffer_new,
    .tp_dealloc = (destructor)buffer_dealloc,
    .tp_weaklistoffset = offsetof(Buffer, weak_references),
    .tp_members = buffer_members,
    .tp_getset = buffer_properties,
};

/* ------------------------------------------------------------------ views */

typedef struct {
    PyObject_HEAD
    Buffer *buffer;
    PyObject *path, *shape, *dtype, *ghost, *weak_references;
    PyObject *values, *memory;  /* NumPy's view, of this memory; NULL until it is asked for */
    PyObject *from_path, *from_shape, *key;  /* of a view whose path is NULL until it is asked for: that of another by a key, or
                                              * in the shape that is the key, where from_shape is NULL */
    char is_straight;
} View;

static PyTypeObject ViewType;

/* NumPy's arrays and numbers, which are most of what is no view, are told by their first base. */
static int is_view(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return type != &PyArray_Type && (type->tp_base == &ViewType || PyType_IsSubtype(type, &ViewType));
}

/* `type`: the class of arrays, which adds methods and no fields. buffer: None for an operand that is a view of its
 * statement's target, which a statement does not keep alive. */
static View *new_view(PyTypeObject *type, void *buffer, PyObject *path, PyObject *shape, PyObject *dtype)
{
    View *self = (View *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->buffer = (Buffer *)Py_NewRef(buffer);
    self->path = Py_XNewRef(path);
    self->shape = Py_NewRef(shape);
    self->dtype = Py_NewRef(dtype);
    self->ghost = Py_NewRef(Py_None);
    self->is_straight = 1;
    return self;
}

static void view_dealloc(PyObject *self)
{
    View *view = (View *)self;
    if (view->weak_references)
        PyObject_ClearWeakRefs(self);
    Py_DECREF(view->buffer);
    Py_XDECREF(view->path);
    Py_DECREF(view->shape);
    Py_DECREF(view->dtype);
    Py_DECREF(view->ghost);
    Py_XDECREF(view->values);
    Py_XDECREF(view->memory);
    Py_XDECREF(view->from_path);
    Py_XDECREF(view->from_shape);
    Py_XDECREF(view->key);
    Py_TYPE(self)->tp_free(self);
}

static int find_path(View *view);

/* The steps to the view from its buffer. Borrowed; NULL with an error. */
static PyObject *path_of(View *view)
{
    return view->path || find_path(view) == 0 ? view->path : NULL;
}

static PyObject *view_path(View *view, void *Py_UNUSED(closure))
{
    return Py_XNewRef(path_of(view));
}

static PyObject *view_by(PyObject *type, PyObject *const *args, Py_ssize_t count)
{
    if (count < 4 || count > 6 || !PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, &ViewType)
        || (args[0] != Py_None && Py_TYPE(args[0]) != &BufferType) || !PyTuple_Check(args[1]) || !PyTuple_Check(args[2]))
        return PyErr_Format(PyExc_TypeError, "a view is made of buffer, path, shape and dtype (and is_straight, ghost)");
    View *out = new_view((PyTypeObject *)type, args[0], args[1], args[2], args[3]);
    if (out) {
        out->is_straight = count < 5 || args[4] == Py_True;
        Py_SETREF(out->ghost, Py_NewRef(count < 6 ? Py_None : args[5]));
    }
    return (PyObject *)out;
}

static PyObject *view_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(keywords))
{
    return view_by((PyObject *)type, &PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args));
}

/* viewed(type, buffer, path, shape, dtype, is_straight, ghost): a view, with what is known of how it lies in memory. */
static PyObject *viewed(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    return view_by(count ? args[0] : Py_None, args + 1, count - 1);
}

/* Of NumPy's array. */
static PyObject *shape_of(PyObject *array)
{
    int rank = PyArray_NDIM((PyArrayObject *)array);
    PyObject *shape = PyTuple_New(rank);
    for (int i = 0; shape && i < rank; i++) {
        PyObject *extent = PyLong_FromSsize_t(PyArray_DIM((PyArrayObject *)array, i));
        if (extent)
            PyTuple_SET_ITEM(shape, i, extent);
        else
            Py_CLEAR(shape);
    }
    return shape;
}

/* Of an array's first element. */
static PyObject *address(PyObject *Py_UNUSED(module), PyObject *array)
{
    if (!PyArray_Check(array))
        return PyErr_Format(PyExc_TypeError, "address(array)");
    return PyLong_FromVoidPtr(PyArray_DATA((PyArrayObject *)array));
}

/* become(other): becomes the other view: memory, shape and dtype, as `a.shape = ...` does. No statement may
   have it as an operand. */
static PyObject *view_become(View *self, PyObject *given)
{
    if (!is_view(given))
        return PyErr_Format(PyExc_TypeError, "become(view)");
    View *other = (View *)given;
    if (!path_of(other))
        return NULL;
    Py_XSETREF(self->buffer, (Buffer *)Py_NewRef(other->buffer));
    Py_XSETREF(self->path, Py_NewRef(other->path));
    Py_XSETREF(self->shape, Py_NewRef(other->shape));
    Py_XSETREF(self->dtype, Py_NewRef(other->dtype));
    Py_XSETREF(self->ghost, Py_NewRef(other->ghost));
    Py_CLEAR(self->values);
    Py_CLEAR(self->memory);
    self->is_straight = other->is_straight;
    Py_RETURN_NONE;
}

static int is_same_view(View *one, View *two)
{
    return one->buffer == two->buffer && path_of(one) && path_of(two)
        && (one->path == two->path || PyObject_RichCompareBool(one->path, two->path, Py_EQ) == 1);
}

static PyMemberDef view_members[] = {
    {"buffer", T_OBJECT_EX, offsetof(View, buffer), READONLY, NULL},
    {"shape", T_OBJECT_EX, offsetof(View, shape), READONLY, NULL},
    {"dtype", T_OBJECT_EX, offsetof(View, dtype), READONLY, NULL},
    {"_ghost", T_OBJECT_EX, offsetof(View, ghost), 0, NULL},
    {"_values", T_OBJECT_EX, offsetof(View, values), READONLY, NULL},
    {"_memory", T_OBJECT_EX, offsetof(View, memory), READONLY, NULL},
    {"is_straight", T_BOOL, offsetof(View, is_straight), 0, NULL},
    {NULL},
};

static PyObject *view_turned(View *self, void *closure);

static PyGetSetDef view_properties[] = {
    {"path", (getter)view_path, NULL, NULL, NULL},
    {"T", (getter)view_turned, NULL, NULL, NULL},
    {NULL},
};

static PyObject *view_subscript(PyObject *self, PyObject *key);
static int view_ass_subscript(PyObject *self, PyObject *key, PyObject *value);

static Py_ssize_t view_length(PyObject *self);

static PyMappingMethods view_mapping = {
    .mp_length = view_length,
    .mp_subscript = view_subscript,
    .mp_ass_subscript = view_ass_subscript,
};

static PyObject *view_item(PyObject *self, Py_ssize_t index);

static PySequenceMethods view_sequence = {
    .sq_item = view_item,
};

/* Python itself asks for `__buffer__` from 3.12 on. */
static int view_getbuffer(PyObject *self, Py_buffer *buffer, int flags)
{
    OWNED PyObject *view = PyObject_CallMethod(self, "__buffer__", "i", flags);
    return view ? PyObject_GetBuffer(view, buffer, flags) : -1;
}

static PyBufferProcs view_buffer = {.bf_getbuffer = view_getbuffer};

static PyTypeObject ViewType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.View",
    .tp_doc = "A view of a buffer.",
    .tp_basicsize = sizeof(View),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = view_new,
    .tp_as_mapping = &view_mapping,
    .tp_as_sequence = &view_sequence,
    .tp_as_buffer = &view_buffer,
    .tp_dealloc = view_dealloc,
    .tp_weaklistoffset = offsetof(View, weak_references),
    .tp_members = view_members,
    .tp_getset = view_properties,
};

#endif
