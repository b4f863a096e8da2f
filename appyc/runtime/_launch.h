/* Launches of GPU kernels: arguments are packed, the variant that they allow is looked up, and the driver is called.
 * Part of _dispatch.c, which alone includes it.
 */
#ifndef APPYC_LAUNCH_H
#define APPYC_LAUNCH_H

#include "_device.h"

enum { ALIGNMENT = 16, SOME_ALIGNMENT = 4 };  /* of `Variant` (appyc/runtime/kernel_variants.py) */
enum { SCRATCH_POINTERS = 2, MOST_BYTES = 32764 };
enum { KNOWN_ARRAYS = 64 };

/* cuLaunchKernel. */
typedef int (*LaunchFunction)(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threads_y,
                              unsigned threads_z, unsigned shared, void *stream, void **arguments, void **extra);

typedef struct {
    int code;        /* of `struct`; P for the address of an array */
    int offset;
    int measured;    /* addresses are sums or products of it */
    long long item;  /* of an array whose reach counts, bytes of an element; else 0 */
} Parameter;

/* What the compiler may assume of a kernel's arguments. */
typedef struct {
    int64_t lanes;
    int divisor, narrow;
} Variant;

typedef struct {
    Variant variant;
    void *function;
    unsigned threads, shared;
} Loaded;

/* A kernel's signature, and the variants of it that are loaded. */
typedef struct {
    int count, size, loaded_count;
    long long most;  /* sizes below this fit a narrow variant; 0: there is none */
    Parameter *parameters;
    Loaded *loaded;
} Signature;

typedef struct {
    int64_t address, reach;
} Reached;

/* An array that a program launches with; its address does not change while the program runs. */
typedef struct {
    PyObject *array;
    Reached memory;
} KnownArray;

/* What a host program calls to launch a kernel, in one thread and on one device. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *numbers;       /* {name: number of the kernel} */
    PyObject *load;          /* called with a name and a variant; returns (function, threads, shared) */
    PyObject *raise_status;  /* called with what the driver returns if it is not 0 */
    LaunchFunction launch;   /* NULL: arguments are packed only */
    unsigned long long stream;
    int kernel_count;
    Signature *kernels;
    KnownArray known[KNOWN_ARRAYS];
} Launcher;

/* ------------------------------------------------------------------ arguments */

/* The address of an array of NumPy's or of the device's, and how many bytes its elements reach; 0 with an exception. */
static int memory_of(PyObject *value, Reached *out)
{
    int64_t own_shape[NPY_MAXDIMS], own_strides[NPY_MAXDIMS];
    int axes = integers_of(value, shape_name, own_shape, NPY_MAXDIMS);
    int steps = axes < 0 ? -1 : integers_of(value, strides_name, own_strides, NPY_MAXDIMS);
    if (steps != axes || axes > NPY_MAXDIMS)
        PyErr_SetString(PyExc_TypeError, "an array without a stride for each axis");
    if (PyErr_Occurred())
        return 0;
    out->reach = 0;
    for (int i = 0; i < axes; i++)
        out->reach += llabs(own_strides[i]) * (own_shape[i] - 1);
    if (!PyArray_Check(value))
        return device_address(value, &out->address);
    out->address = (int64_t)(intptr_t)PyArray_DATA((PyArrayObject *)value);
    return 1;
}

/* The same, looked up among the arrays of launches before. */
static int known_memory(Launcher *self, PyObject *array, Reached *out)
{
    KnownArray *entry = &self->known[((uintptr_t)array >> 4) % KNOWN_ARRAYS];
    if (entry->array == array) {
        *out = entry->memory;
        return 1;
    }
    if (!memory_of(array, out))
        return 0;
    entry->memory = *out;
    Py_XSETREF(entry->array, Py_NewRef(array));
    return 1;
}

static int64_t integer_of(PyObject *value)
{
    if (PyLong_CheckExact(value))
        return PyLong_AsLongLong(value);
    if (PyArray_IsScalar(value, Int64))
        return PyArrayScalar_VAL(value, Int64);
    OWNED PyObject *index = PyNumber_Index(value);
    return index ? PyLong_AsLongLong(index) : -1;
}

static uint64_t unsigned_of(PyObject *value)
{
    OWNED PyObject *index = PyNumber_Index(value);
    return index ? PyLong_AsUnsignedLongLong(index) : 0;
}

#define STORE(type, number) do { type stored = (type)(number); memcpy(at, &stored, sizeof stored); } while (0)
#define STORE_INTEGER(type, number) \
    do { int64_t wide = (number); STORE(type, wide); fits = wide == (int64_t)(type)wide; } while (0)

/* A number, as its type in C; 0 with an exception. */
static int pack_number(int code, PyObject *value, char *at)
{
    int fits = 1;
    switch (code) {
    case 'q': STORE(int64_t, integer_of(value)); break;
    case 'd': STORE(double, PyFloat_AsDouble(value)); break;
    case 'e': PyFloat_Pack2(PyFloat_AsDouble(value), at, 1); break;
    case 'f': STORE(float, PyFloat_AsDouble(value)); break;
    case '?': STORE(_Bool, PyObject_IsTrue(value) > 0); break;
    case 'Q': STORE(uint64_t, unsigned_of(value)); break;
    case 'b': STORE_INTEGER(int8_t, integer_of(value)); break;
    case 'B': STORE_INTEGER(uint8_t, integer_of(value)); break;
    case 'h': STORE_INTEGER(int16_t, integer_of(value)); break;
    case 'H': STORE_INTEGER(uint16_t, integer_of(value)); break;
    case 'i': STORE_INTEGER(int32_t, integer_of(value)); break;
    default: STORE_INTEGER(uint32_t, integer_of(value)); break;
    }
    if (!fits && !PyErr_Occurred())
        PyErr_Format(PyExc_OverflowError, "a kernel's argument does not fit its type: %R", value);
    return !PyErr_Occurred();
}

/* Packs the arguments, and finds what a variant may assume of them. launcher: what knows arrays, or NULL. */
static int pack(const Signature *k, Launcher *launcher, PyObject *const *args, char *packed, Variant *variant)
{
    int64_t addresses = 0, integers = 0;
    variant->narrow = k->most > 0;
    memset(packed, 0, (size_t)k->size);
    for (int i = 0; i < k->count; i++) {
        const Parameter *p = &k->parameters[i];
        char *at = packed + p->offset;
        if (p->code == 'P') {
            Reached memory;
            if (!(launcher ? known_memory(launcher, args[i], &memory) : memory_of(args[i], &memory)))
                return 0;
            memcpy(at, &memory.address, sizeof memory.address);
            addresses |= memory.address;
            variant->narrow &= !p->item || memory.reach / p->item < k->most;
        } else {
            if (!pack_number(p->code, args[i], at))
                return 0;
            if (p->code == 'q') {
                int64_t number;
                memcpy(&number, at, sizeof number);
                integers |= p->measured ? number : 0;
                variant->narrow &= -k->most < number && number < k->most;
            }
        }
    }
    if (addresses % ALIGNMENT || integers % SOME_ALIGNMENT)
        variant->divisor = 1;
    else
        variant->divisor = integers % ALIGNMENT ? SOME_ALIGNMENT : ALIGNMENT;
    return 1;
}

/* ------------------------------------------------------------------ launches */

static int is_loaded(const Signature *k, Variant wanted, Loaded *out)
{
    for (int i = k->loaded_count - 1; i >= 0; i--) {
        Variant v = k->loaded[i].variant;
        if (v.lanes == wanted.lanes && v.divisor == wanted.divisor && v.narrow == wanted.narrow) {
            *out = k->loaded[i];
            return 1;
        }
    }
    return 0;
}

static int load(Launcher *self, Signature *k, PyObject *name, Variant wanted, Loaded *out)
{
    unsigned long long function;
    OWNED PyObject *found = PyObject_CallFunction(self->load, "OLiN", name, (long long)wanted.lanes, wanted.divisor,
                                                  PyBool_FromLong(wanted.narrow));
    if (!found || !PyArg_ParseTuple(found, "KII", &function, &out->threads, &out->shared))
        return 0;
    Loaded *more = PyMem_Realloc(k->loaded, ((size_t)k->loaded_count + 1) * sizeof(Loaded));
    if (!more) {
        PyErr_NoMemory();
        return 0;
    }
    out->variant = wanted;
    out->function = (void *)(uintptr_t)function;
    k->loaded = more;
    k->loaded[k->loaded_count++] = *out;
    return 1;
}

/* The kernel of this name, if it takes so many arguments. */
static Signature *signature(const Launcher *self, PyObject *name, Py_ssize_t count)
{
    PyObject *number = self->numbers ? PyDict_GetItemWithError(self->numbers, name) : NULL;
    Signature *k = number ? &self->kernels[PyLong_AsLong(number)] : NULL;
    if (k && k->count == count)
        return k;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "no kernel that takes these arguments");
    return NULL;
}

/* launcher(name, programs, lanes, *arguments) */
static PyObject *launcher_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Launcher *self = (Launcher *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags) - 3;
    if (count < 0 || keywords || !self->launch)
        return PyErr_Format(PyExc_TypeError, "a launch takes a name, programs, lanes and a kernel's arguments");
    Signature *k = signature(self, args[0], count);
    int64_t programs = k ? integer_of(args[1]) : 0;
    Variant wanted = {k ? integer_of(args[2]) : 0, 0, 0};
    if (!PyErr_Occurred() && programs > INT32_MAX)
        PyErr_Format(PyExc_OverflowError, "%lld programs of a kernel are too many", (long long)programs);
    if (PyErr_Occurred())
        return NULL;
    if (programs <= 0)
        Py_RETURN_NONE;
    int64_t packed[k->size / (int)sizeof(int64_t) + 1];
    void *pointers[k->count + SCRATCH_POINTERS], *stream = (void *)(uintptr_t)self->stream;
    Loaded l;
    int status;
    if (!pack(k, self, args + 3, (char *)packed, &wanted)
        || !(is_loaded(k, wanted, &l) || load(self, k, args[0], wanted, &l)))
        return NULL;
    for (int i = 0; i < k->count; i++)
        pointers[i] = (char *)packed + k->parameters[i].offset;
    for (int i = 0; i < SCRATCH_POINTERS; i++)
        pointers[k->count + i] = (char *)packed + k->size - (SCRATCH_POINTERS - i) * (int)sizeof(void *);
    Py_BEGIN_ALLOW_THREADS
    status = self->launch(l.function, (unsigned)programs, 1, 1, l.threads, 1, 1, l.shared, stream, pointers, NULL);
    Py_END_ALLOW_THREADS
    return status == 0 ? Py_NewRef(Py_None) : PyObject_CallFunction(self->raise_status, "i", status);
}

/* pack(name, arguments): the bytes that a launch passes, the divisor, and whether a narrow variant may run. */
static PyObject *launcher_pack(Launcher *self, PyObject *given)
{
    PyObject *name, *args;
    Variant variant;
    if (!PyArg_ParseTuple(given, "OO!", &name, &PyTuple_Type, &args))
        return NULL;
    Signature *k = signature(self, name, PyTuple_GET_SIZE(args));
    OWNED PyObject *bytes = k ? PyBytes_FromStringAndSize(NULL, k->size) : NULL;
    if (!bytes || !pack(k, NULL, ((PyTupleObject *)args)->ob_item, PyBytes_AS_STRING(bytes), &variant))
        return NULL;
    return Py_BuildValue("OiN", bytes, variant.divisor, PyBool_FromLong(variant.narrow));
}

static PyObject *launcher_forget(Launcher *self, PyObject *Py_UNUSED(none))
{
    for (int i = 0; i < KNOWN_ARRAYS; i++)
        Py_CLEAR(self->known[i].array);
    Py_RETURN_NONE;
}

/* Of (parameters, size, most): of each parameter its code, offset, whether it is measured, and bytes of an element. */
static int read_signature(Signature *k, PyObject *record)
{
    PyObject *records;
    if (!PyArg_ParseTuple(record, "O!iL", &PyTuple_Type, &records, &k->size, &k->most))
        return 0;
    k->count = (int)PyTuple_GET_SIZE(records);
    k->parameters = new_items(k->count, sizeof(Parameter));
    for (int i = 0; i < k->count && !PyErr_Occurred(); i++) {
        Parameter *p = &k->parameters[i];
        PyArg_ParseTuple(PyTuple_GET_ITEM(records, i), "CipL", &p->code, &p->offset, &p->measured, &p->item);
    }
    if (!PyErr_Occurred() && k->size > MOST_BYTES)
        PyErr_SetString(PyExc_ValueError, "a kernel has more arguments than a launch takes");
    return !PyErr_Occurred();
}

static int launcher_init(Launcher *self, PyObject *args, PyObject *Py_UNUSED(keywords))
{
    PyObject *kernels, *load, *raise_status, *name, *record;
    unsigned long long address;
    Py_ssize_t at = 0;
    if (self->numbers || !PyArg_ParseTuple(args, "O!OOK", &PyDict_Type, &kernels, &load, &raise_status, &address))
        return -1;
    self->load = Py_NewRef(load);
    self->raise_status = Py_NewRef(raise_status);
    self->launch = (LaunchFunction)(uintptr_t)address;
    self->vectorcall = launcher_call;
    self->kernels = new_items(PyDict_GET_SIZE(kernels), sizeof(Signature));
    self->numbers = self->kernels ? PyDict_New() : NULL;
    while (self->numbers && PyDict_Next(kernels, &at, &name, &record)) {
        OWNED PyObject *number = PyLong_FromLong(self->kernel_count);
        if (!number || !read_signature(&self->kernels[self->kernel_count++], record)
            || PyDict_SetItem(self->numbers, name, number) < 0)
            return -1;
    }
    return self->numbers ? 0 : -1;
}

static int launcher_traverse(Launcher *self, visitproc visit, void *arg)
{
    Py_VISIT(self->numbers);
    Py_VISIT(self->load);
    Py_VISIT(self->raise_status);
    for (int i = 0; i < KNOWN_ARRAYS; i++)
        Py_VISIT(self->known[i].array);
    return 0;
}

static int launcher_clear(Launcher *self)
{
    Py_CLEAR(self->numbers);
    Py_CLEAR(self->load);
    Py_CLEAR(self->raise_status);
    launcher_forget(self, NULL);
    return 0;
}

static void launcher_dealloc(Launcher *self)
{
    PyObject_GC_UnTrack(self);
    launcher_clear(self);
    for (int i = 0; i < self->kernel_count; i++) {
        PyMem_Free(self->kernels[i].parameters);
        PyMem_Free(self->kernels[i].loaded);
    }
    PyMem_Free(self->kernels);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef launcher_methods[] = {
    {"forget", (PyCFunction)launcher_forget, METH_NOARGS, "Drops its references to the arrays of earlier launches."},
    {"pack", (PyCFunction)launcher_pack, METH_VARARGS, "Packed arguments, their divisor, if they are narrow."},
    {NULL},
};

static PyMemberDef launcher_members[] = {
    {"stream", T_ULONGLONG, offsetof(Launcher, stream), 0, "The stream that kernels are launched on."},
    {NULL},
};

static PyTypeObject LauncherType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.runtime._dispatch.Launcher",
    .tp_doc = "Launcher(kernels, load, raise_status, address): called with a name, programs, lanes and arguments.",
    .tp_basicsize = sizeof(Launcher),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)launcher_init,
    .tp_dealloc = (destructor)launcher_dealloc,
    .tp_traverse = (traverseproc)launcher_traverse,
    .tp_clear = (inquiry)launcher_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Launcher, vectorcall),
    .tp_methods = launcher_methods,
    .tp_members = launcher_members,
};

#endif
