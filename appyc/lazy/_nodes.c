/* What recordings are made of, and the recording of one operation: see appyc/lazy/nodes.py, which holds
 * the same in Python and says what each field means; the tests run both.
 *
 * None of these objects is the garbage collector's business: a statement holds views, a view its buffer, a
 * buffer its memory, and none of them leads back. They go as soon as nobody refers to them.
 */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <stddef.h>
#include <structmember.h>

/* As in appyc/lazy/nodes.py: of what this module offers. */
enum { NODES_FORMAT = 4 };

/* As in appyc/lazy/nodes.py. */
enum { CALLERS = 8 };

/* As in appyc/lazy/views.py. */
enum { NEAR = 2 };

/* ------------------------------------------------------------------ buffers */

typedef struct {
    PyObject_HEAD
    PyObject *shape, *dtype, *memory, *ghost, *weak_references;
    char is_number, lent;
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
    self->is_number = self->lent = 0;
    return self;
}

static PyObject *buffer_new(PyTypeObject *Py_UNUSED(type), PyObject *args, PyObject *keywords)
{
    static char *names[] = {"shape", "dtype", "memory", NULL};
    PyObject *shape, *dtype, *memory = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|O:Buffer", names, &shape, &dtype, &memory))
        return NULL;
    return (PyObject *)new_buffer(shape, dtype, memory);
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
    char is_straight;
} View;

static PyTypeObject ViewType;

/* `type`: the class of arrays, which adds methods and no fields. */
static View *new_view(PyTypeObject *type, Buffer *buffer, PyObject *path, PyObject *shape, PyObject *dtype)
{
    View *self = (View *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->buffer = (Buffer *)Py_NewRef(buffer);
    self->path = Py_NewRef(path);
    self->shape = Py_NewRef(shape);
    self->dtype = Py_NewRef(dtype);
    self->ghost = Py_NewRef(Py_None);
    self->is_straight = 1;
    return self;
}

static PyObject *view_vectorcall(PyObject *type, PyObject *const *args, size_t flags, PyObject *keywords)
{
    if (PyVectorcall_NARGS(flags) != 4 || (keywords && PyTuple_GET_SIZE(keywords)) || Py_TYPE(args[0]) != &BufferType)
        return PyErr_Format(PyExc_TypeError, "a view is made of buffer, path, shape and dtype");
    return (PyObject *)new_view((PyTypeObject *)type, (Buffer *)args[0], args[1], args[2], args[3]);
}

static PyObject *view_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    if (keywords && PyDict_GET_SIZE(keywords))
        return PyErr_Format(PyExc_TypeError, "a view takes no keywords");
    return view_vectorcall((PyObject *)type, &PyTuple_GET_ITEM(args, 0), (size_t)PyTuple_GET_SIZE(args), NULL);
}

static void view_dealloc(View *self)
{
    if (self->weak_references)
        PyObject_ClearWeakRefs((PyObject *)self);
    Py_XDECREF(self->buffer);
    Py_XDECREF(self->path);
    Py_XDECREF(self->shape);
    Py_XDECREF(self->dtype);
    Py_XDECREF(self->ghost);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef view_members[] = {
    {"buffer", T_OBJECT_EX, offsetof(View, buffer), READONLY, NULL},
    {"path", T_OBJECT_EX, offsetof(View, path), READONLY, NULL},
    {"shape", T_OBJECT_EX, offsetof(View, shape), READONLY, NULL},
    {"dtype", T_OBJECT_EX, offsetof(View, dtype), READONLY, NULL},
    {"_ghost", T_OBJECT_EX, offsetof(View, ghost), 0, NULL},
    {"is_straight", T_BOOL, offsetof(View, is_straight), 0, NULL},
    {NULL},
};

static PyTypeObject ViewType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.View",
    .tp_doc = "A view of a buffer.",
    .tp_basicsize = sizeof(View),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = view_new,
    .tp_vectorcall = view_vectorcall,
    .tp_dealloc = (destructor)view_dealloc,
    .tp_weaklistoffset = offsetof(View, weak_references),
    .tp_members = view_members,
};

/* ------------------------------------------------------------------ indices */

typedef struct {
    PyObject_HEAD
    PyObject *items, *form, *numbers;  /* the last two together, when they are asked for */
} Index;

static PyTypeObject IndexType;
static PyObject *word_index, *word_slice, *word_number;

static Index *new_index(PyObject *items)
{
    Index *self = PyObject_New(Index, &IndexType);
    if (!self)
        return NULL;
    self->items = Py_NewRef(items);
    self->form = self->numbers = NULL;
    return self;
}

static PyObject *index_new(PyTypeObject *Py_UNUSED(type), PyObject *args, PyObject *keywords)
{
    static char *names[] = {"items", NULL};
    PyObject *items;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!:Index", names, &PyTuple_Type, &items))
        return NULL;
    return (PyObject *)new_index(items);
}

static void index_dealloc(Index *self)
{
    Py_DECREF(self->items);
    Py_XDECREF(self->form);
    Py_XDECREF(self->numbers);
    PyObject_Free(self);
}

/* A bound near an end is part of the code; of any other it is only told that there is one. */
static PyObject *bound_form(PyObject *bound, PyObject *numbers)
{
    if (bound == Py_None)
        return Py_NewRef(bound);
    Py_ssize_t value = PyLong_AsSsize_t(bound);
    if (value == -1 && PyErr_Occurred())
        return NULL;
    if (-NEAR <= value && value <= NEAR)
        return Py_NewRef(bound);
    return PyList_Append(numbers, bound) < 0 ? NULL : Py_NewRef(word_number);
}

static PyObject *item_form(PyObject *item, PyObject *numbers)
{
    if (!PySlice_Check(item))
        return bound_form(item, numbers);
    PySliceObject *slice = (PySliceObject *)item;
    PyObject *form = PyTuple_New(4), *start = NULL, *stop = NULL;
    if (form && (start = bound_form(slice->start, numbers)) && (stop = bound_form(slice->stop, numbers))) {
        PyTuple_SET_ITEM(form, 0, Py_NewRef(word_slice));
        PyTuple_SET_ITEM(form, 1, start);
        PyTuple_SET_ITEM(form, 2, stop);
        PyTuple_SET_ITEM(form, 3, Py_NewRef(slice->step));
        return form;
    }
    Py_XDECREF(start);
    Py_XDECREF(form);
    return NULL;
}

static int find_form(Index *self)
{
    Py_ssize_t count = PyTuple_GET_SIZE(self->items);
    PyObject *numbers = PyList_New(0), *forms = PyTuple_New(count);
    for (Py_ssize_t i = 0; numbers && forms && i < count; i++) {
        PyObject *form = item_form(PyTuple_GET_ITEM(self->items, i), numbers);
        if (form)
            PyTuple_SET_ITEM(forms, i, form);
        else
            Py_CLEAR(forms);
    }
    if (numbers && forms) {
        self->form = PyTuple_Pack(2, word_index, forms);
        self->numbers = PyList_AsTuple(numbers);
    }
    Py_XDECREF(numbers);
    Py_XDECREF(forms);
    if (self->form && self->numbers)
        return 0;
    Py_CLEAR(self->form);
    Py_CLEAR(self->numbers);
    return -1;
}

static PyObject *index_form(Index *self, void *Py_UNUSED(closure))
{
    return !self->form && find_form(self) < 0 ? NULL : Py_NewRef(self->form);
}

static PyObject *index_numbers(Index *self, void *Py_UNUSED(closure))
{
    return !self->form && find_form(self) < 0 ? NULL : Py_NewRef(self->numbers);
}

static PyObject *index_compare(PyObject *one, PyObject *two, int how)
{
    if (Py_TYPE(one) != &IndexType || Py_TYPE(two) != &IndexType)
        Py_RETURN_NOTIMPLEMENTED;
    return PyObject_RichCompare(((Index *)one)->items, ((Index *)two)->items, how);
}

static PyMemberDef index_members[] = {
    {"items", T_OBJECT_EX, offsetof(Index, items), READONLY, NULL},
    {NULL},
};

static PyGetSetDef index_properties[] = {
    {"form", (getter)index_form, NULL, NULL, NULL},
    {"numbers", (getter)index_numbers, NULL, NULL, NULL},
    {NULL},
};

static PyTypeObject IndexType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.Index",
    .tp_doc = "The step from a view to what a basic index gives of it.",
    .tp_basicsize = sizeof(Index),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = index_new,
    .tp_dealloc = (destructor)index_dealloc,
    .tp_richcompare = index_compare,
    .tp_hash = PyObject_HashNotImplemented,
    .tp_members = index_members,
    .tp_getset = index_properties,
};

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
    PyObject *first, *last, *by = PyLong_FromSsize_t(step > 0 || *length ? step : 1), *out = NULL;
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
    if (first && last && by)
        out = PySlice_New(first, last, by);
    Py_XDECREF(first);
    Py_XDECREF(last);
    Py_XDECREF(by);
    return out;
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

/* One item of an index. -1: an error; 0: NumPy would refuse it. */
static int add_item(Indexing *at, PyObject *item)
{
    if (item == Py_None) {
        PyObject *one = PyLong_FromLong(1);
        int failed = !one || PyList_Append(at->items, item) < 0 || PyList_Append(at->shape, one) < 0;
        Py_XDECREF(one);
        return failed ? -1 : 1;
    }
    PyObject *extent_there = PyTuple_GET_ITEM(at->whole, at->axis++);
    Py_ssize_t extent = PyLong_AsSsize_t(extent_there), length;
    if (is_whole(item))
        return PyList_Append(at->items, item) < 0 || PyList_Append(at->shape, extent_there) < 0 ? -1 : 1;
    if (PySlice_Check(item)) {
        PyObject *slice = slice_in_range(item, extent, &length);
        PyObject *size = slice ? PyLong_FromSsize_t(length) : NULL;
        int failed = !size || PyList_Append(at->items, slice) < 0 || PyList_Append(at->shape, size) < 0;
        Py_XDECREF(slice);
        Py_XDECREF(size);
        return failed ? -1 : 1;
    }
    Py_ssize_t value = PyLong_AsSsize_t(item);
    if (value == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    if (value < -extent || value >= extent)
        return 0;
    PyObject *number = near_bound(value < 0 ? value + extent : value, extent);
    int failed = !number || PyList_Append(at->items, number) < 0;
    Py_XDECREF(number);
    return failed ? -1 : 1;
}

/* All items, with whole slices for the dots and none at the end. */
static int add_items(Indexing *at, PyObject *const *items, Py_ssize_t count, PyObject *whole_slice)
{
    Py_ssize_t used = 0, dots = 0, rank = PyTuple_GET_SIZE(at->whole);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!is_plain(items[i]))
            return 0;
        dots += items[i] == Py_Ellipsis;
        used += items[i] != Py_None && items[i] != Py_Ellipsis;
    }
    if (used > rank || dots > 1)
        return 0;
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

static PyObject *view_after(View *view, PyObject *items, PyObject *shape_list)
{
    PyObject *inside = PyList_AsTuple(items), *shape = PyList_AsTuple(shape_list), *step = NULL, *path = NULL, *out = NULL;
    Py_ssize_t depth = PyTuple_GET_SIZE(view->path);
    if (inside && shape && (step = (PyObject *)new_index(inside)) && (path = PyTuple_New(depth + 1))) {
        for (Py_ssize_t i = 0; i < depth; i++)
            PyTuple_SET_ITEM(path, i, Py_NewRef(PyTuple_GET_ITEM(view->path, i)));
        PyTuple_SET_ITEM(path, depth, Py_NewRef(step));
        out = (PyObject *)new_view(Py_TYPE(view), view->buffer, path, shape, view->dtype);
    }
    Py_XDECREF(inside);
    Py_XDECREF(shape);
    Py_XDECREF(step);
    Py_XDECREF(path);
    return out;
}

/* indexed(view, key): the view that a basic index leads to; None where it takes more to tell, or is refused. */
static PyObject *indexed(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyObject_TypeCheck(args[0], &ViewType))
        return PyErr_Format(PyExc_TypeError, "indexed(view, key)");
    View *view = (View *)args[0];
    if (!view->is_straight || PyTuple_GET_SIZE(view->shape) == 0)  /* a number may be no array at all */
        Py_RETURN_NONE;
    int is_tuple = PyTuple_CheckExact(args[1]);
    PyObject *whole_slice = PySlice_New(NULL, NULL, NULL), *out = NULL;
    Indexing at = {PyList_New(0), PyList_New(0), view->shape, 0};
    int added = -1;
    if (whole_slice && at.items && at.shape)
        added = add_items(&at, is_tuple ? &PyTuple_GET_ITEM(args[1], 0) : &args[1],
                          is_tuple ? PyTuple_GET_SIZE(args[1]) : 1, whole_slice);
    if (added == 0)
        out = Py_NewRef(Py_None);
    else if (added > 0)
        out = PyList_GET_SIZE(at.items)
            ? view_after(view, at.items, at.shape)
            : (PyObject *)new_view(Py_TYPE(view), view->buffer, view->path, view->shape, view->dtype);
    Py_XDECREF(whole_slice);
    Py_XDECREF(at.items);
    Py_XDECREF(at.shape);
    return out;
}

/* ------------------------------------------------------------------ statements */

typedef struct {
    PyObject_HEAD
    PyObject *operation, *operands, *target, *path, *shape, *site;
} Statement;

static PyTypeObject StatementType;

static Statement *new_statement(PyObject *operation, PyObject *operands, PyObject *target, PyObject *path,
                                PyObject *shape, PyObject *site)
{
    if (!PyTuple_Check(operands)) {
        PyErr_SetString(PyExc_TypeError, "operands are a tuple");
        return NULL;
    }
    PyObject *reference = PyWeakref_NewRef(target, NULL);  /* the one that there is, if there is one */
    Statement *self = reference ? PyObject_New(Statement, &StatementType) : NULL;
    if (!self) {
        Py_XDECREF(reference);
        return NULL;
    }
    self->operation = Py_NewRef(operation);
    self->operands = Py_NewRef(operands);
    self->target = reference;
    self->path = Py_NewRef(path);
    self->shape = Py_NewRef(shape);
    self->site = Py_NewRef(site);
    return self;
}

static PyObject *statement_new(PyTypeObject *Py_UNUSED(type), PyObject *args, PyObject *keywords)
{
    static char *names[] = {"operation", "operands", "target", "path", "shape", "site", NULL};
    PyObject *operation, *operands, *target, *path, *shape, *site;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOOO:Statement", names, &operation, &operands, &target,
                                     &path, &shape, &site))
        return NULL;
    return (PyObject *)new_statement(operation, operands, target, path, shape, site);
}

static void statement_dealloc(Statement *self)
{
    Py_DECREF(self->operation);
    Py_DECREF(self->operands);
    Py_DECREF(self->target);
    Py_DECREF(self->path);
    Py_DECREF(self->shape);
    Py_DECREF(self->site);
    PyObject_Free(self);
}

static PyObject *statement_writes(Statement *self, PyObject *Py_UNUSED(none))
{
    PyObject *target = PyWeakref_GET_OBJECT(self->target);
    return target == Py_None ? PyTuple_New(0) : PyTuple_Pack(1, target);
}

static PyObject *statement_stored(Statement *self, PyObject *none)
{
    return self->path == Py_None ? PyTuple_New(0) : statement_writes(self, none);
}

static PyObject *statement_makes(Statement *self, PyObject *none)
{
    return self->path == Py_None ? statement_writes(self, none) : PyTuple_New(0);
}

static PyObject *statement_reads(Statement *self, PyObject *Py_UNUSED(none))
{
    PyObject *found = PyList_New(0);
    for (Py_ssize_t i = 0; found && i < PyTuple_GET_SIZE(self->operands); i++) {
        PyObject *operand = PyTuple_GET_ITEM(self->operands, i);
        if (PyObject_TypeCheck(operand, &ViewType) && PyList_Append(found, (PyObject *)((View *)operand)->buffer) < 0)
            Py_CLEAR(found);
    }
    return found;
}

static PyObject *statement_stores(Statement *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(self->path != Py_None);
}

static PyMemberDef statement_members[] = {
    {"operation", T_OBJECT_EX, offsetof(Statement, operation), READONLY, NULL},
    {"operands", T_OBJECT_EX, offsetof(Statement, operands), READONLY, NULL},
    {"target", T_OBJECT_EX, offsetof(Statement, target), READONLY, NULL},
    {"path", T_OBJECT_EX, offsetof(Statement, path), READONLY, NULL},
    {"shape", T_OBJECT_EX, offsetof(Statement, shape), READONLY, NULL},
    {"site", T_OBJECT_EX, offsetof(Statement, site), READONLY, NULL},
    {NULL},
};

static PyMethodDef statement_methods[] = {
    {"writes", (PyCFunction)statement_writes, METH_NOARGS, NULL},
    {"stored", (PyCFunction)statement_stored, METH_NOARGS, NULL},
    {"makes", (PyCFunction)statement_makes, METH_NOARGS, NULL},
    {"reads", (PyCFunction)statement_reads, METH_NOARGS, NULL},
    {NULL},
};

static PyGetSetDef statement_properties[] = {
    {"stores", (getter)statement_stores, NULL, NULL, NULL},
    {NULL},
};

static PyTypeObject StatementType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.Statement",
    .tp_doc = "One recorded operation.",
    .tp_basicsize = sizeof(Statement),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = statement_new,
    .tp_dealloc = (destructor)statement_dealloc,
    .tp_members = statement_members,
    .tp_methods = statement_methods,
    .tp_getset = statement_properties,
};

/* ------------------------------------------------------------------ recording */

/* How the frame was called: the same for the same calls, one in the other. */
static Py_hash_t way_to(PyFrameObject *frame)
{
    Py_uhash_t way = 0;
    Py_INCREF(frame);
    for (int i = 0; frame && i < CALLERS; i++) {
        PyFrameObject *back = PyFrame_GetBack(frame);
        PyCodeObject *code = PyFrame_GetCode(frame);
        way = way * 1000003 + ((Py_uhash_t)(uintptr_t)code >> 4) * 31 + (Py_uhash_t)PyFrame_GetLasti(frame);
        Py_DECREF(code);
        Py_SETREF(frame, back);
    }
    Py_XDECREF(frame);
    return (Py_hash_t)way;
}

/* caller(folder): code and instruction of the innermost frame whose file is not below the folder, and the way to it. */
static PyObject *caller(PyObject *Py_UNUSED(module), PyObject *folder)
{
    PyFrameObject *frame = (PyFrameObject *)Py_XNewRef((PyObject *)PyEval_GetFrame());
    while (frame) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        PyFrameObject *back = NULL;
        if (PyUnicode_Tailmatch(code->co_filename, folder, 0, PY_SSIZE_T_MAX, -1) == 1)
            back = PyFrame_GetBack(frame);
        if (!back) {
            PyObject *site = Py_BuildValue("Nin", code, PyFrame_GetLasti(frame), way_to(frame));
            Py_DECREF(frame);
            return site;
        }
        Py_DECREF(code);
        Py_SETREF(frame, back);
    }
    return PyErr_Format(PyExc_RuntimeError, "called from outside of Python");
}

/* made(type, statements, operation, operands, shape, dtype, site, is_number): a new array, and the statement that makes it,
 * which is appended. */
static PyObject *made(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 8 || !PyType_Check(args[0]) || !PyType_IsSubtype((PyTypeObject *)args[0], &ViewType)
        || !PyList_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "made(type, statements, operation, operands, shape, dtype, site, is_number)");
    Buffer *buffer = new_buffer(args[4], args[5], Py_None);
    if (!buffer)
        return NULL;
    buffer->is_number = args[7] == Py_True;
    PyObject *whole = PyTuple_New(0);
    View *view = whole ? new_view((PyTypeObject *)args[0], buffer, whole, args[4], args[5]) : NULL;
    Statement *statement = view ? new_statement(args[2], args[3], (PyObject *)buffer, Py_None, args[4], args[6]) : NULL;
    if (!statement || PyList_Append(args[1], (PyObject *)statement) < 0)
        Py_CLEAR(view);
    Py_XDECREF(statement);
    Py_XDECREF(whole);
    Py_DECREF(buffer);
    return (PyObject *)view;
}

/* ------------------------------------------------------------------ runs of calls */

/* Whether a number is the other one, bit by bit. What is neither Python's float nor int is not looked into. */
static int is_same_number(PyObject *one, PyObject *two)
{
    if (PyFloat_CheckExact(one) && PyFloat_CheckExact(two)) {
        double x = PyFloat_AS_DOUBLE(one), y = PyFloat_AS_DOUBLE(two);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    return PyLong_CheckExact(one) && PyLong_CheckExact(two) && PyObject_RichCompareBool(one, two, Py_EQ) == 1;
}

/* Whether a bound is that far from another one, and both are counted from the start; or from the end, for `by` 0. */
static int is_moved_bound(PyObject *from, PyObject *to, Py_ssize_t by)
{
    Py_ssize_t x = from == Py_None ? 0 : PyLong_AsSsize_t(from), y = to == Py_None ? 0 : PyLong_AsSsize_t(to);
    return x >= 0 && y >= 0 && y - x == by;
}

static int is_moved_item(PyObject *from, PyObject *to, Py_ssize_t by)
{
    if (PyLong_CheckExact(from) && PyLong_CheckExact(to))
        return is_moved_bound(from, to, by);
    if (!PySlice_Check(from) || !PySlice_Check(to))
        return 0;
    PySliceObject *x = (PySliceObject *)from, *y = (PySliceObject *)to;
    return x->stop != Py_None && y->stop != Py_None && PyObject_RichCompareBool(x->step, y->step, Py_EQ) == 1
        && is_moved_bound(x->start, y->start, by) && is_moved_bound(x->stop, y->stop, by);
}

/* How far the item moves; 0 where the next move is of another one, else `*at` goes on. */
static Py_ssize_t move_of(PyObject *moves, Py_ssize_t *at, Py_ssize_t operand, Py_ssize_t step, Py_ssize_t item)
{
    if (*at >= PyTuple_GET_SIZE(moves))
        return 0;
    PyObject *move = PyTuple_GET_ITEM(moves, *at);  /* (operand, step, item, by) */
    if (PyLong_AsSsize_t(PyTuple_GET_ITEM(move, 0)) != operand || PyLong_AsSsize_t(PyTuple_GET_ITEM(move, 1)) != step
        || PyLong_AsSsize_t(PyTuple_GET_ITEM(move, 2)) != item)
        return 0;
    ++*at;
    return PyLong_AsSsize_t(PyTuple_GET_ITEM(move, 3));
}

static int is_moved_view(const View *from, const View *to, Py_ssize_t operand, PyObject *moves, Py_ssize_t *at)
{
    Py_ssize_t depth = PyTuple_GET_SIZE(from->path);
    if (from->buffer != to->buffer || PyTuple_GET_SIZE(to->path) != depth)
        return 0;
    for (Py_ssize_t step = 0; step < depth; step++) {
        PyObject *one = PyTuple_GET_ITEM(from->path, step), *two = PyTuple_GET_ITEM(to->path, step);
        if (one == two)
            continue;
        if (Py_TYPE(one) != &IndexType || Py_TYPE(two) != &IndexType) {
            if (PyObject_RichCompareBool(one, two, Py_EQ) != 1)
                return 0;
            continue;
        }
        PyObject *ones = ((Index *)one)->items, *twos = ((Index *)two)->items;
        if (PyTuple_GET_SIZE(ones) != PyTuple_GET_SIZE(twos))
            return 0;
        for (Py_ssize_t item = 0; item < PyTuple_GET_SIZE(ones); item++) {
            PyObject *x = PyTuple_GET_ITEM(ones, item), *y = PyTuple_GET_ITEM(twos, item);
            Py_ssize_t by = move_of(moves, at, operand, step, item);
            if (by ? !is_moved_item(x, y, by) : x != y && PyObject_RichCompareBool(x, y, Py_EQ) != 1)
                return 0;
        }
    }
    return 1;
}

/* follows(last, operands, moves): whether the operands of a call are those of the last one, moved so. It may be
 * that they are and the answer is no. */
static PyObject *follows(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyTuple_Check(args[0]) || !PyTuple_Check(args[1]) || !PyTuple_Check(args[2]))
        return PyErr_Format(PyExc_TypeError, "follows(last, operands, moves)");
    Py_ssize_t at = 0;
    int same = PyTuple_GET_SIZE(args[0]) == PyTuple_GET_SIZE(args[1]);
    for (Py_ssize_t i = 0; same && i < PyTuple_GET_SIZE(args[0]); i++) {
        PyObject *one = PyTuple_GET_ITEM(args[0], i), *two = PyTuple_GET_ITEM(args[1], i);
        if (one == two)
            continue;
        if (PyObject_TypeCheck(one, &ViewType) && PyObject_TypeCheck(two, &ViewType))
            same = is_moved_view((View *)one, (View *)two, i, args[2], &at);
        else
            same = is_same_number(one, two);
    }
    if (PyErr_Occurred())
        return NULL;
    return PyBool_FromLong(same && at == PyTuple_GET_SIZE(args[2]));
}

static PyMethodDef module_methods[] = {
    {"indexed", (PyCFunction)(void (*)(void))indexed, METH_FASTCALL, "The view that a basic index leads to, or None."},
    {"caller", caller, METH_O, "Code and instruction of the innermost frame whose file is not below a folder."},
    {"follows", (PyCFunction)(void (*)(void))follows, METH_FASTCALL, "Whether a call's operands are those of the last, moved."},
    {"made", (PyCFunction)(void (*)(void))made, METH_FASTCALL, "A new array, whose statement is appended."},
    {NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "appyc.lazy._nodes",
    .m_doc = "What recordings are made of; see appyc.lazy.nodes.",
    .m_size = -1,
    .m_methods = module_methods,
};

PyMODINIT_FUNC PyInit__nodes(void)
{
    import_array();
    PyTypeObject *types[] = {&BufferType, &ViewType, &IndexType, &StatementType};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (PyType_Ready(types[i]) < 0)
            return NULL;
    if (!(word_index = PyUnicode_InternFromString("index")) || !(word_slice = PyUnicode_InternFromString("slice"))
        || !(word_number = PyUnicode_InternFromString("number")))
        return NULL;
    PyObject *module = PyModule_Create(&module_definition);
    if (module && (PyModule_AddObjectRef(module, "Buffer", (PyObject *)&BufferType) < 0
                   || PyModule_AddObjectRef(module, "View", (PyObject *)&ViewType) < 0
                   || PyModule_AddObjectRef(module, "Index", (PyObject *)&IndexType) < 0
                   || PyModule_AddObjectRef(module, "Statement", (PyObject *)&StatementType) < 0
                   || PyModule_AddIntConstant(module, "FORMAT", NODES_FORMAT) < 0))
        Py_CLEAR(module);
    return module;
}
