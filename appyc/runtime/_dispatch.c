/* A call of compiled code from Python for well under a microsecond.
 *
 * An Entry holds specialisations, each a compiled kernel with the argument types that it
 * was compiled for. A positional call that fits one exactly is made here, without a Python
 * frame: fill the kernel's frame (appyc/ir/abi.py) on the stack, release the GIL, call,
 * build the results. Whatever is out of the ordinary goes to a Python callable, `fallback`.
 * appyc/runtime/dispatch.py holds the same in Python; the tests run both.
 */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ARRAY, NUMPY_SCALAR, PYTHON_SCALAR, NONE, TUPLE };  /* kinds in Kernel.record() */
enum { LAYOUT_C, LAYOUT_F, LAYOUT_STRIDED };
enum { STATUS_OK, STATUS_GUARD, STATUS_FAULT };
enum { STACK_SLOTS = 192, STACK_LEAVES = 32, FAULT_SLOTS = 3 };

typedef int32_t (*KernelFunction)(int64_t *frame);

/* For the whole process, as OpenMP's own setting is; every entry passes it on in slot 0. */
static int thread_count = 1;

typedef struct {
    int kind;
    int type_number;
    int count;    /* ARRAY: number of axes; TUPLE: number of items */
    int layout;   /* ARRAY */
    int written;  /* ARRAY: the kernel stores into it */
    int slot;     /* the first slot in the frame */
    PyTypeObject *scalar_type;  /* NUMPY_SCALAR: what a value's type must be */
} Argument;

typedef struct {
    int leaf;  /* an array: which of the leaf arguments it is; else -1 */
    int type_number;
    int python;
    int slot;
} Result;

typedef struct {
    PyObject_HEAD
    KernelFunction function, checked;
    int parameters;  /* positional arguments of the Python function */
    int argument_count, leaf_count, result_count, frame_size, fault_slot;
    int writes;  /* whether any array is written */
    Argument *arguments;  /* in order, each tuple before its items */
    Result *results;
    PyObject *tree;    /* how results are nested: None, a number, a tuple of such */
    PyObject *kernel;  /* the Python object it was made from; keeps the code loaded */
} Specialisation;

/* ------------------------------------------------------------------ making a specialisation */

static void specialisation_dealloc(Specialisation *self)
{
    PyObject_GC_UnTrack(self);
    PyMem_Free(self->arguments);
    PyMem_Free(self->results);
    Py_XDECREF(self->tree);
    Py_XDECREF(self->kernel);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int specialisation_traverse(Specialisation *self, visitproc visit, void *arg)
{
    Py_VISIT(self->tree);
    Py_VISIT(self->kernel);
    return 0;
}

static PyTypeObject SpecialisationType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.runtime._dispatch.Specialisation",
    .tp_basicsize = sizeof(Specialisation),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_dealloc = (destructor)specialisation_dealloc,
    .tp_traverse = (traverseproc)specialisation_traverse,
};

static int read_arguments(Specialisation *self, PyObject *records)
{
    self->argument_count = (int)PyTuple_GET_SIZE(records);
    self->arguments = PyMem_Calloc((size_t)self->argument_count + 1, sizeof(Argument));
    if (!self->arguments) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < self->argument_count; i++) {
        Argument *a = &self->arguments[i];
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(records, i), "iiiipi", &a->kind, &a->type_number, &a->count,
                              &a->layout, &a->written, &a->slot))
            return -1;
        if (a->kind < NONE)
            self->leaf_count++;
        if (a->kind == ARRAY && a->written)
            self->writes = 1;
        if (a->kind == NUMPY_SCALAR) {
            PyArray_Descr *descr = PyArray_DescrFromType(a->type_number);
            if (!descr)
                return -1;
            a->scalar_type = descr->typeobj;  /* one of NumPy's static types; needs no reference */
            Py_DECREF(descr);
        }
    }
    return 0;
}

static int read_results(Specialisation *self, PyObject *records)
{
    self->result_count = (int)PyTuple_GET_SIZE(records);
    self->results = PyMem_Calloc((size_t)self->result_count + 1, sizeof(Result));
    if (!self->results) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < self->result_count; i++) {
        Result *r = &self->results[i];
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(records, i), "iipi", &r->leaf, &r->type_number, &r->python,
                              &r->slot))
            return -1;
    }
    return 0;
}

/* From `kernel.record()`: (address, checked address, parameters, arguments, results, tree, fault slot, size) */
static Specialisation *specialise(PyObject *kernel)
{
    unsigned long long function, checked;
    PyObject *arguments, *results, *tree;
    PyObject *record = PyObject_CallMethod(kernel, "record", NULL);
    if (!record)
        return NULL;
    Specialisation *self = (Specialisation *)SpecialisationType.tp_alloc(&SpecialisationType, 0);
    if (self && PyArg_ParseTuple(record, "KKiO!O!Oii", &function, &checked, &self->parameters, &PyTuple_Type,
                                 &arguments, &PyTuple_Type, &results, &tree, &self->fault_slot,
                                 &self->frame_size)
        && read_arguments(self, arguments) == 0 && read_results(self, results) == 0) {
        self->function = (KernelFunction)(uintptr_t)function;
        self->checked = (KernelFunction)(uintptr_t)checked;
        self->tree = Py_NewRef(tree);
        self->kernel = Py_NewRef(kernel);
        Py_DECREF(record);
        return self;
    }
    Py_DECREF(record);
    Py_XDECREF(self);
    return NULL;
}

/* ------------------------------------------------------------------ arguments to frame */

static int fits_layout(PyArrayObject *array, int layout)
{
    int c = PyArray_IS_C_CONTIGUOUS(array), f = PyArray_IS_F_CONTIGUOUS(array);
    switch (layout) {
    case LAYOUT_C: return c;
    case LAYOUT_F: return f && !c;
    default: return !c && !f;
    }
}

static int fill_array(const Argument *a, PyObject *value, int64_t *frame)
{
    if (!PyArray_CheckExact(value))
        return 0;
    PyArrayObject *array = (PyArrayObject *)value;
    if (PyArray_NDIM(array) != a->count || !fits_layout(array, a->layout) || !PyArray_ISBEHAVED_RO(array)
        || (a->written && !PyArray_ISWRITEABLE(array)))
        return 0;
    int type_number = PyArray_TYPE(array);
    if (type_number != a->type_number && !PyArray_EquivTypenums(type_number, a->type_number))
        return 0;
    int64_t *at = frame + a->slot;
    *at++ = (int64_t)(intptr_t)PyArray_DATA(array);
    for (int i = 0; i < a->count; i++) {
        at[i] = PyArray_DIM(array, i);
        at[a->count + i] = PyArray_STRIDE(array, i);
    }
    return 1;
}

static int fill_python_scalar(const Argument *a, PyObject *value, int64_t *slot)
{
    double parts[2];
    switch (a->type_number) {
    case NPY_BOOL:
        *slot = value == Py_True;
        return PyBool_Check(value);
    case NPY_DOUBLE:
        if (!PyFloat_CheckExact(value))
            return 0;
        parts[0] = PyFloat_AS_DOUBLE(value);
        memcpy(slot, parts, sizeof(double));
        return 1;
    case NPY_CDOUBLE:
        if (!PyComplex_CheckExact(value))
            return 0;
        parts[0] = PyComplex_RealAsDouble(value);
        parts[1] = PyComplex_ImagAsDouble(value);
        memcpy(slot, parts, sizeof parts);
        return 1;
    default: {
        int overflow;
        if (!PyLong_CheckExact(value))
            return 0;
        *slot = PyLong_AsLongLongAndOverflow(value, &overflow);
        return !overflow;
    }
    }
}

static int fill_numpy_scalar(const Argument *a, PyObject *value, int64_t *slot)
{
    if (Py_TYPE(value) != a->scalar_type)
        return 0;
    switch (a->type_number) {
    case NPY_BOOL: *slot = PyArrayScalar_VAL(value, Bool); return 1;
    case NPY_BYTE: *slot = PyArrayScalar_VAL(value, Byte); return 1;
    case NPY_SHORT: *slot = PyArrayScalar_VAL(value, Short); return 1;
    case NPY_INT: *slot = PyArrayScalar_VAL(value, Int); return 1;
    case NPY_LONG: *slot = PyArrayScalar_VAL(value, Long); return 1;
    case NPY_LONGLONG: *slot = PyArrayScalar_VAL(value, LongLong); return 1;
    case NPY_UBYTE: *slot = PyArrayScalar_VAL(value, UByte); return 1;
    case NPY_USHORT: *slot = PyArrayScalar_VAL(value, UShort); return 1;
    case NPY_UINT: *slot = PyArrayScalar_VAL(value, UInt); return 1;
    case NPY_ULONG: *slot = (int64_t)PyArrayScalar_VAL(value, ULong); return 1;
    case NPY_ULONGLONG: *slot = (int64_t)PyArrayScalar_VAL(value, ULongLong); return 1;
    case NPY_FLOAT:
    case NPY_DOUBLE:
    case NPY_CFLOAT:
    case NPY_CDOUBLE: PyArray_ScalarAsCtype(value, slot); return 1;
    default: return 0;
    }
}

/* Fills the slots of `count` arguments from `*next` on. 0 where one does not fit. */
static int fill(const Specialisation *s, int *next, PyObject *const *values, Py_ssize_t count, int64_t *frame,
                PyObject **leaves, int *leaf)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        const Argument *a = &s->arguments[(*next)++];
        PyObject *value = values[i];
        int fits = 0;
        switch (a->kind) {
        case ARRAY: fits = fill_array(a, value, frame); break;
        case NUMPY_SCALAR: fits = fill_numpy_scalar(a, value, frame + a->slot); break;
        case PYTHON_SCALAR: fits = fill_python_scalar(a, value, frame + a->slot); break;
        case NONE: fits = value == Py_None; break;
        case TUPLE:
            fits = PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == a->count
                && fill(s, next, &PyTuple_GET_ITEM(value, 0), a->count, frame, leaves, leaf);
            break;
        }
        if (!fits)
            return 0;
        if (a->kind < NONE)
            leaves[(*leaf)++] = value;
    }
    return 1;
}

/* ------------------------------------------------------------------ overlap */

typedef struct {
    uintptr_t lo, hi;  /* the bytes from the first to one past the last element */
} Range;

static Range range_of(PyArrayObject *array)
{
    Range r = {(uintptr_t)PyArray_DATA(array), (uintptr_t)PyArray_DATA(array)};
    if (PyArray_SIZE(array) == 0)
        return r;
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        npy_intp reach = (PyArray_DIM(array, i) - 1) * PyArray_STRIDE(array, i);
        if (reach < 0)
            r.lo += (uintptr_t)reach;
        else
            r.hi += (uintptr_t)reach;
    }
    r.hi += (uintptr_t)PyArray_ITEMSIZE(array);
    return r;
}

/* Whether two indices may reach the same byte: sorted by stride, each axis must step over
 * all that the smaller ones reach. */
static int may_overlap_itself(PyArrayObject *array)
{
    npy_intp strides[NPY_MAXDIMS], reaches[NPY_MAXDIMS];
    int axes = 0;
    if (PyArray_SIZE(array) == 0)
        return 0;
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        npy_intp stride = PyArray_STRIDE(array, i), extent = PyArray_DIM(array, i);
        int at = axes;
        if (extent == 1)
            continue;
        stride = stride < 0 ? -stride : stride;
        for (; at > 0 && strides[at - 1] > stride; at--) {
            strides[at] = strides[at - 1];
            reaches[at] = reaches[at - 1];
        }
        strides[at] = stride;
        reaches[at] = stride * (extent - 1);
        axes++;
    }
    npy_intp covered = PyArray_ITEMSIZE(array);
    for (int i = 0; i < axes; i++) {
        if (strides[i] < covered)
            return 1;
        covered += reaches[i];
    }
    return 0;
}

static int may_overlap(const Specialisation *s, PyObject **leaves)
{
    Range ranges[STACK_LEAVES];
    int written[STACK_LEAVES], leaf = 0, found = 0;
    if (s->leaf_count > STACK_LEAVES)
        return 1;  /* the fallback looks closely */
    for (int i = 0; i < s->argument_count; i++) {
        const Argument *a = &s->arguments[i];
        if (a->kind >= NONE)
            continue;
        written[leaf] = a->kind == ARRAY && a->written;
        ranges[leaf] = (Range){0, 0};
        if (a->kind == ARRAY)
            ranges[leaf] = range_of((PyArrayObject *)leaves[leaf]);
        if (written[leaf] && a->layout == LAYOUT_STRIDED)
            found |= may_overlap_itself((PyArrayObject *)leaves[leaf]);
        leaf++;
    }
    for (int i = 0; i < leaf; i++)
        for (int j = 0; written[i] && j < leaf; j++)
            found |= i != j && ranges[i].lo < ranges[j].hi && ranges[j].lo < ranges[i].hi;
    return found;
}

/* ------------------------------------------------------------------ frame to results */

static PyObject *scalar_result(const Result *r, const int64_t *slot)
{
    union { npy_bool b; int8_t i8; int16_t i16; int32_t i32; int64_t i64; } low;
    double parts[2];
    memcpy(parts, slot, r->type_number == NPY_CDOUBLE ? sizeof parts : sizeof(double));
    if (r->python) {
        switch (r->type_number) {
        case NPY_BOOL: return PyBool_FromLong(*slot != 0);
        case NPY_DOUBLE: return PyFloat_FromDouble(parts[0]);
        case NPY_CDOUBLE: return PyComplex_FromDoubles(parts[0], parts[1]);
        default: return PyLong_FromLongLong(*slot);
        }
    }
    const void *data = slot;  /* floats and complex numbers lie there as they are */
    PyArray_Descr *descr = PyArray_DescrFromType(r->type_number);
    if (!descr)
        return NULL;
    if (r->type_number == NPY_BOOL) {
        low.b = *slot != 0;
        data = &low;
    } else if (PyTypeNum_ISINTEGER(r->type_number)) {
        switch (PyDataType_ELSIZE(descr)) {
        case 1: low.i8 = (int8_t)*slot; break;
        case 2: low.i16 = (int16_t)*slot; break;
        case 4: low.i32 = (int32_t)*slot; break;
        default: low.i64 = *slot;
        }
        data = &low;
    }
    PyObject *out = PyArray_Scalar((void *)data, descr, NULL);
    Py_DECREF(descr);
    return out;
}

static PyObject *build(const Specialisation *s, PyObject *tree, const int64_t *frame, PyObject **leaves)
{
    if (tree == Py_None)
        Py_RETURN_NONE;
    if (!PyTuple_Check(tree)) {
        long n = PyLong_AsLong(tree);
        if (n < 0 || n >= s->result_count) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_SystemError, "a kernel has no result %ld", n);
            return NULL;
        }
        const Result *r = &s->results[n];
        return r->leaf >= 0 ? Py_NewRef(leaves[r->leaf]) : scalar_result(r, frame + r->slot);
    }
    PyObject *out = PyTuple_New(PyTuple_GET_SIZE(tree));
    for (Py_ssize_t i = 0; out && i < PyTuple_GET_SIZE(tree); i++) {
        PyObject *item = build(s, PyTuple_GET_ITEM(tree, i), frame, leaves);
        if (!item)
            Py_CLEAR(out);
        else
            PyTuple_SET_ITEM(out, i, item);
    }
    return out;
}

/* ------------------------------------------------------------------ the entry */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *fallback, *on_fault;
    PyObject *specialisations;  /* a tuple, replaced and never changed, so that a call in flight is safe */
    PyObject *weak_references;
} Entry;

static int32_t run(const Specialisation *s, int64_t *frame)
{
    int32_t status;
    frame[0] = thread_count;
    Py_BEGIN_ALLOW_THREADS
    status = s->function(frame);
    if (status == STATUS_GUARD && s->checked)
        status = s->checked(frame);
    Py_END_ALLOW_THREADS
    return status;
}

static PyObject *fault(const Entry *self, const Specialisation *s, const int64_t *at)
{
    PyObject *out = PyObject_CallFunction(self->on_fault, "OLLL", s->kernel, (long long)at[0], (long long)at[1],
                                          (long long)at[2]);
    if (out) {
        Py_DECREF(out);
        PyErr_SetString(PyExc_SystemError, "on_fault returned without an exception");
    }
    return NULL;
}

/* 1: called, `*out` is the result or NULL with an exception. 0: the fallback must be called. */
static int try_call(const Entry *self, const Specialisation *s, PyObject *const *args, Py_ssize_t count,
                    PyObject **out)
{
    int64_t slots[STACK_SLOTS], *frame = slots;
    PyObject *few[STACK_LEAVES], **leaves = few;
    int next = 0, leaf = 0, called = 0;
    if (s->frame_size > STACK_SLOTS)
        frame = PyMem_Malloc((size_t)s->frame_size * sizeof(int64_t));
    if (s->leaf_count > STACK_LEAVES)
        leaves = PyMem_Malloc((size_t)s->leaf_count * sizeof(PyObject *));
    if (!frame || !leaves) {
        *out = PyErr_NoMemory();
        called = 1;
    } else {
        memset(frame, 0, (size_t)s->frame_size * sizeof(int64_t));
        if (fill(s, &next, args, count, frame, leaves, &leaf) && !(s->writes && may_overlap(s, leaves))) {
            int32_t status = run(s, frame);
            called = status != STATUS_GUARD;
            if (status == STATUS_OK)
                *out = build(s, s->tree, frame, leaves);
            else if (status == STATUS_FAULT)
                *out = fault(self, s, frame + s->fault_slot);
            else if (called)
                *out = PyErr_Format(PyExc_SystemError, "a kernel returned the unknown status %d", (int)status);
        }
    }
    if (frame != slots)
        PyMem_Free(frame);
    if (leaves != few)
        PyMem_Free(leaves);
    return called;
}

static PyObject *entry_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Entry *self = (Entry *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (!self->specialisations)  /* a finalizer calls what the garbage collector has cleared */
        return PyErr_Format(PyExc_ReferenceError, "a compiled function was called after its end");
    PyObject *out = NULL, *table = Py_NewRef(self->specialisations);
    int called = 0;
    if (!keywords || PyTuple_GET_SIZE(keywords) == 0) {
        for (Py_ssize_t i = 0; !called && i < PyTuple_GET_SIZE(table); i++) {
            const Specialisation *s = (Specialisation *)PyTuple_GET_ITEM(table, i);
            called = s->parameters == count && try_call(self, s, args, count, &out);
        }
    }
    Py_DECREF(table);
    if (called)
        return out;
    PyObject *fallback = Py_NewRef(self->fallback);
    out = PyObject_Vectorcall(fallback, args, flags, keywords);
    Py_DECREF(fallback);
    return out;
}

static PyObject *entry_add(Entry *self, PyObject *kernel)
{
    Specialisation *new = specialise(kernel);
    if (!new)
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(self->specialisations);
    PyObject *table = PyTuple_New(count + 1);
    if (!table) {
        Py_DECREF(new);
        return NULL;
    }
    PyTuple_SET_ITEM(table, 0, (PyObject *)new);
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SET_ITEM(table, i + 1, Py_NewRef(PyTuple_GET_ITEM(self->specialisations, i)));
    Py_SETREF(self->specialisations, table);
    Py_RETURN_NONE;
}

static PyObject *entry_clear_kernels(Entry *self, PyObject *Py_UNUSED(none))
{
    PyObject *empty = PyTuple_New(0);
    if (!empty)
        return NULL;
    Py_SETREF(self->specialisations, empty);
    Py_RETURN_NONE;
}

static PyObject *entry_kernels(Entry *self, void *Py_UNUSED(closure))
{
    Py_ssize_t count = PyTuple_GET_SIZE(self->specialisations);
    PyObject *out = PyTuple_New(count);
    for (Py_ssize_t i = 0; out && i < count; i++) {
        Specialisation *s = (Specialisation *)PyTuple_GET_ITEM(self->specialisations, i);
        PyTuple_SET_ITEM(out, i, Py_NewRef(s->kernel));
    }
    return out;
}

static PyObject *entry_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(keywords))
{
    Entry *self = (Entry *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->vectorcall = entry_call;
    self->fallback = Py_NewRef(Py_None);
    self->on_fault = Py_NewRef(Py_None);
    self->specialisations = PyTuple_New(0);
    if (!self->specialisations)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static int entry_init(Entry *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"fallback", "on_fault", NULL};
    PyObject *fallback, *on_fault;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:Entry", names, &fallback, &on_fault))
        return -1;
    Py_SETREF(self->fallback, Py_NewRef(fallback));
    Py_SETREF(self->on_fault, Py_NewRef(on_fault));
    return 0;
}

static int entry_traverse(Entry *self, visitproc visit, void *arg)
{
    Py_VISIT(self->fallback);
    Py_VISIT(self->on_fault);
    Py_VISIT(self->specialisations);
    return 0;
}

static int entry_clear(Entry *self)
{
    Py_CLEAR(self->fallback);
    Py_CLEAR(self->on_fault);
    Py_CLEAR(self->specialisations);
    return 0;
}

static void entry_dealloc(Entry *self)
{
    PyObject_GC_UnTrack(self);
    if (self->weak_references)
        PyObject_ClearWeakRefs((PyObject *)self);
    entry_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* As a function has it: found on an instance, an entry is a bound method. */
static PyObject *entry_bind(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(owner))
{
    return instance && instance != Py_None ? PyMethod_New(self, instance) : Py_NewRef(self);
}

static PyMethodDef entry_methods[] = {
    {"add", (PyCFunction)entry_add, METH_O, "Puts a kernel in front of those that calls are matched with."},
    {"clear_kernels", (PyCFunction)entry_clear_kernels, METH_NOARGS, "Forgets all kernels."},
    {NULL},
};

static PyGetSetDef entry_properties[] = {
    {"kernels", (getter)entry_kernels, NULL, "The kernels, in the order in which they are tried."},
    {NULL},
};

static PyTypeObject EntryType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.runtime._dispatch.Entry",
    .tp_doc = "Entry(fallback, on_fault): a callable that runs the kernel which fits its arguments.",
    .tp_basicsize = sizeof(Entry),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL
        | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_new = entry_new,
    .tp_init = (initproc)entry_init,
    .tp_dealloc = (destructor)entry_dealloc,
    .tp_traverse = (traverseproc)entry_traverse,
    .tp_clear = (inquiry)entry_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Entry, vectorcall),
    .tp_weaklistoffset = offsetof(Entry, weak_references),
    .tp_descr_get = entry_bind,
    .tp_methods = entry_methods,
    .tp_getset = entry_properties,
};

/* ------------------------------------------------------------------ the module */

static PyObject *set_thread_count(PyObject *Py_UNUSED(module), PyObject *value)
{
    long count = PyLong_AsLong(value);
    if (count == -1 && PyErr_Occurred())
        return NULL;
    thread_count = (int)count;
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"set_thread_count", set_thread_count, METH_O, "How many threads kernels may use from now on."},
    {NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "appyc.runtime._dispatch",
    .m_doc = "Calls of compiled kernels; see appyc.runtime.dispatch.",
    .m_size = -1,
    .m_methods = module_methods,
};

PyMODINIT_FUNC PyInit__dispatch(void)
{
    import_array();
    if (PyType_Ready(&SpecialisationType) < 0 || PyType_Ready(&EntryType) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&module_definition);
    if (module && PyModule_AddObjectRef(module, "Entry", (PyObject *)&EntryType) < 0)
        Py_CLEAR(module);
    return module;
}
