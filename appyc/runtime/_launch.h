/* Launches of GPU kernels: arguments are packed, the variant that they allow is looked up, and the driver is called.
 * Part of _dispatch.c, which alone includes it.
 */
#ifndef APPYC_LAUNCH_H
#define APPYC_LAUNCH_H

#include "_device.h"

enum { ALIGNMENT = 16, SOME_ALIGNMENT = 4 };  /* as in appyc/runtime/kernel_variants.py */
enum { SCRATCH_POINTERS = 2, MOST_BYTES = 32764 };
enum { KNOWN_ARRAYS = 64 };

/* cuLaunchKernel. */
typedef int (*LaunchFunction)(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threads_y,
                              unsigned threads_z, unsigned shared, void *stream, void **arguments, void **extra);

typedef struct {
    char code;     /* of `struct`; P for the address of an array */
    int offset;
    int measured;  /* addresses are sums or products of it */
    int64_t item;  /* of an array whose reach counts, bytes of an element; else 0 */
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
    PyObject_HEAD
    int count, size, loaded_count;
    int64_t most;  /* sizes below this fit a narrow variant; 0: there is none */
    Parameter *parameters;
    Loaded *loaded;
} KernelLaunch;

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
    PyObject *kernels;    /* {name: KernelLaunch} */
    PyObject *load;       /* called with a name and a variant; returns (function, threads, shared) */
    PyObject *raise_status;  /* called with what the driver returns if it is not 0 */
    LaunchFunction launch;
    unsigned long long stream;
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
    KnownArray *place = &self->known[((uintptr_t)array >> 4) % KNOWN_ARRAYS];
    if (place->array == array) {
        *out = place->memory;
        return 1;
    }
    if (!memory_of(array, out))
        return 0;
    place->memory = *out;
    Py_XSETREF(place->array, Py_NewRef(array));
    return 1;
}

static int64_t integer_of(PyObject *value)
{
    if (PyLong_CheckExact(value))
        return PyLong_AsLongLong(value);
    if (PyArray_IsScalar(value, Int64))
        return PyArrayScalar_VAL(value, Int64);
    PyObject *index = PyNumber_Index(value);
    int64_t out = index ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
    return out;
}

static uint64_t unsigned_of(PyObject *value)
{
    PyObject *index = PyNumber_Index(value);
    uint64_t out = index ? PyLong_AsUnsignedLongLong(index) : 0;
    Py_XDECREF(index);
    return out;
}

#define STORE(type, number) do { type stored = (type)(number); memcpy(at, &stored, sizeof stored); } while (0)
#define STORE_INTEGER(type, number) \
    do { int64_t wide = (number); STORE(type, wide); fits = wide == (int64_t)(type)wide; } while (0)

/* A number, as its type in C; 0 with an exception. */
static int pack_number(char code, PyObject *value, char *at)
{
    int fits = 1;
    switch (code) {
    case 'q': STORE(int64_t, integer_of(value)); break;
    case 'd': STORE(double, PyFloat_AsDouble(value)); break;
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
static int pack(const KernelLaunch *k, Launcher *launcher, PyObject *const *args, char *packed, Variant *variant)
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

/* ------------------------------------------------------------------ a kernel */

static void kernel_launch_dealloc(KernelLaunch *self)
{
    PyMem_Free(self->parameters);
    PyMem_Free(self->loaded);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int kernel_launch_init(KernelLaunch *self, PyObject *args, PyObject *Py_UNUSED(keywords))
{
    PyObject *records;
    long long most;
    if (self->parameters || !PyArg_ParseTuple(args, "O!iL:KernelLaunch", &PyTuple_Type, &records, &self->size, &most))
        return -1;
    self->most = most;
    self->count = (int)PyTuple_GET_SIZE(records);
    if (!(self->parameters = PyMem_Calloc((size_t)self->count + 1, sizeof(Parameter)))) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < self->count; i++) {
        Parameter *p = &self->parameters[i];
        long long item;
        int code;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(records, i), "CipL", &code, &p->offset, &p->measured, &item))
            return -1;
        p->code = (char)code;
        p->item = item;
    }
    if (self->size > MOST_BYTES) {
        PyErr_SetString(PyExc_ValueError, "a kernel has more arguments than a launch takes");
        return -1;
    }
    return 0;
}

/* pack(arguments): the bytes that a launch passes, the divisor and whether a narrow variant may run. */
static PyObject *kernel_launch_pack(KernelLaunch *self, PyObject *given)
{
    PyObject *args = PySequence_Tuple(given), *out = NULL;
    PyObject *bytes = args ? PyBytes_FromStringAndSize(NULL, self->size) : NULL;
    Variant variant;
    if (bytes && PyTuple_GET_SIZE(args) != self->count)
        PyErr_Format(PyExc_TypeError, "a kernel takes %d arguments, not %zd", self->count, PyTuple_GET_SIZE(args));
    else if (bytes && pack(self, NULL, ((PyTupleObject *)args)->ob_item, PyBytes_AS_STRING(bytes), &variant))
        out = Py_BuildValue("OiN", bytes, variant.divisor, PyBool_FromLong(variant.narrow));
    Py_XDECREF(args);
    Py_XDECREF(bytes);
    return out;
}

static PyMethodDef kernel_launch_methods[] = {
    {"pack", (PyCFunction)kernel_launch_pack, METH_O, "The packed arguments, their divisor, whether they are narrow."},
    {NULL},
};

static PyTypeObject KernelLaunchType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.runtime._dispatch.KernelLaunch",
    .tp_doc = "KernelLaunch(parameters, size, most): the signature of a kernel, and its variants that are loaded.",
    .tp_basicsize = sizeof(KernelLaunch),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)kernel_launch_init,
    .tp_dealloc = (destructor)kernel_launch_dealloc,
    .tp_methods = kernel_launch_methods,
};

/* ------------------------------------------------------------------ launches */

static int is_loaded(const KernelLaunch *k, Variant wanted, Loaded *out)
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

static int load(Launcher *self, KernelLaunch *k, PyObject *name, Variant wanted, Loaded *out)
{
    unsigned long long function;
    PyObject *found = PyObject_CallFunction(self->load, "OLiN", name, (long long)wanted.lanes, wanted.divisor,
                                            PyBool_FromLong(wanted.narrow));
    int read = found && PyArg_ParseTuple(found, "KII", &function, &out->threads, &out->shared);
    Py_XDECREF(found);
    if (!read)
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

/* launcher(name, programs, lanes, *arguments) */
static PyObject *launcher_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Launcher *self = (Launcher *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags) - 3;
    PyObject *found = count >= 0 && !keywords && self->kernels ? PyDict_GetItemWithError(self->kernels, args[0]) : NULL;
    KernelLaunch *k = (KernelLaunch *)found;
    if (!k || k->count != count)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "no kernel that takes these arguments");
    int64_t programs = integer_of(args[1]);
    Variant wanted = {integer_of(args[2]), 0, 0};
    if (!PyErr_Occurred() && programs > INT32_MAX)
        PyErr_Format(PyExc_OverflowError, "%lld programs of a kernel are too many", (long long)programs);
    if (PyErr_Occurred())
        return NULL;
    if (programs <= 0)
        Py_RETURN_NONE;
    int64_t packed[k->size / (int)sizeof(int64_t) + 1];
    void *pointers[k->count + SCRATCH_POINTERS];
    Loaded loaded;
    Py_INCREF(k);
    int ready = pack(k, self, args + 3, (char *)packed, &wanted)
                && (is_loaded(k, wanted, &loaded) || load(self, k, args[0], wanted, &loaded));
    for (int i = 0; i < k->count; i++)
        pointers[i] = (char *)packed + k->parameters[i].offset;
    for (int i = 0; i < SCRATCH_POINTERS; i++)
        pointers[k->count + i] = (char *)packed + k->size - (SCRATCH_POINTERS - i) * (int)sizeof(void *);
    Py_DECREF(k);
    if (!ready)
        return NULL;
    int status;
    void *stream = (void *)(uintptr_t)self->stream;
    Py_BEGIN_ALLOW_THREADS
    status = self->launch(loaded.function, (unsigned)programs, 1, 1, loaded.threads, 1, 1, loaded.shared, stream,
                          pointers, NULL);
    Py_END_ALLOW_THREADS
    return status == 0 ? Py_NewRef(Py_None) : PyObject_CallFunction(self->raise_status, "i", status);
}

static int launcher_init(Launcher *self, PyObject *args, PyObject *Py_UNUSED(keywords))
{
    PyObject *kernels, *load, *raise_status, *name, *kernel;
    unsigned long long address;
    Py_ssize_t at = 0;
    if (self->kernels || !PyArg_ParseTuple(args, "O!OOK:Launcher", &PyDict_Type, &kernels, &load, &raise_status, &address))
        return -1;
    while (PyDict_Next(kernels, &at, &name, &kernel)) {
        if (!Py_IS_TYPE(kernel, &KernelLaunchType)) {
            PyErr_SetString(PyExc_TypeError, "kernels are of the class KernelLaunch");
            return -1;
        }
    }
    self->kernels = PyDict_Copy(kernels);
    self->load = Py_NewRef(load);
    self->raise_status = Py_NewRef(raise_status);
    self->launch = (LaunchFunction)(uintptr_t)address;
    self->vectorcall = launcher_call;
    return self->kernels ? 0 : -1;
}

static PyObject *launcher_forget(Launcher *self, PyObject *Py_UNUSED(none))
{
    for (int i = 0; i < KNOWN_ARRAYS; i++)
        Py_CLEAR(self->known[i].array);
    Py_RETURN_NONE;
}

static int launcher_traverse(Launcher *self, visitproc visit, void *arg)
{
    Py_VISIT(self->kernels);
    Py_VISIT(self->load);
    Py_VISIT(self->raise_status);
    for (int i = 0; i < KNOWN_ARRAYS; i++)
        Py_VISIT(self->known[i].array);
    return 0;
}

static int launcher_clear(Launcher *self)
{
    Py_CLEAR(self->kernels);
    Py_CLEAR(self->load);
    Py_CLEAR(self->raise_status);
    launcher_forget(self, NULL);
    return 0;
}

static void launcher_dealloc(Launcher *self)
{
    PyObject_GC_UnTrack(self);
    launcher_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef launcher_methods[] = {
    {"forget", (PyCFunction)launcher_forget, METH_NOARGS, "Lets go of the arrays of launches so far."},
    {NULL},
};

static PyMemberDef launcher_members[] = {
    {"stream", T_ULONGLONG, offsetof(Launcher, stream), 0, "The stream that kernels are launched on."},
    {NULL},
};

static PyTypeObject LauncherType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.runtime._dispatch.Launcher",
    .tp_doc = "Launcher(kernels, load, raise_status, address): called with a kernel's name, programs, lanes and arguments.",
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
