/* A call of compiled code from Python for well under a microsecond.
 *
 * An Entry holds specialisations, each a compiled kernel with the argument types that it
 * was compiled for. A positional call that fits one exactly is made here, without a Python
 * frame: fill the kernel's frame (appyc/ir/abi.py) on the stack, release the GIL, call,
 * build the results. Other cases are handled by a Python callable, `fallback`.
 */
#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE /* madvise, for large pages */
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

#include "../_owned.h"
#include "_memory.h"
#include "_team.h"

#include "_frame.h"
#include "_results.h"
#include "_kinds.h"
#include "_overlap.h"
#include "_sorts.h"
#include "_launch.h"

/* As in appyc/runtime/dispatch.py: of Kernel.record(), and of what on_fault is called with. */
enum { RECORD_FORMAT = 23, HOST_RAISED = -1 };

/* For the whole process, as OpenMP's own setting is; every entry passes it on in slot 0. */
static int threads = 1;

/* ------------------------------------------------------------------ making a specialisation */

/* All that a specialisation holds a reference to. */
#define FOR_EACH_OBJECT(DO)                                                \
    DO(self->records); DO(self->tree); DO(self->watched); DO(self->captures); \
    DO(self->kernel); DO(self->checked_kernel); DO(self->host); DO(self->device_array)

static void specialisation_dealloc(Specialisation *self)
{
    PyObject_GC_UnTrack(self);
    for (int i = 0; self->arguments && i < self->argument_count; i++)
        Py_XDECREF(self->arguments[i].last);
    PyMem_Free(self->arguments);
    PyMem_Free(self->leaves);
    PyMem_Free(self->results);
    for (int i = 0; i < self->group_count; i++)
        PyMem_Free(self->groups[i].members);
    PyMem_Free(self->groups);
    FOR_EACH_OBJECT(Py_XDECREF);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int specialisation_traverse(Specialisation *self, visitproc visit, void *arg)
{
    FOR_EACH_OBJECT(Py_VISIT);
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
    if (!(self->arguments = new_items(self->argument_count, sizeof(Argument)))
        || !(self->leaves = new_items(self->argument_count, sizeof *self->leaves)))
        return -1;
    for (int i = 0; i < self->argument_count; i++) {
        Argument *a = &self->arguments[i];
        PyObject *class;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(records, i), "iiiippiiO", &a->kind, &a->type_number, &a->count,
                              &a->layout, &a->written, &a->any_written, &a->slot, &a->same, &class))
            return -1;
        a->type = PyType_Check(class) ? (PyTypeObject *)class : NULL;
        a->text = class;
        if (a->kind == ARRAY && a->same != self->leaf_count)
            self->shares = 1;
        a->leaf = self->leaf_count;
        self->lists |= a->kind == LIST || a->kind == TEXT || a->kind == COLUMN || a->kind == ROWS;
        if (a->kind >= RECORDS)
            a->item = PyDataType_ELSIZE((PyArray_Descr *)class);
        if (a->kind == FIELD && a->any_written) {
            Argument *whole = a - 1;
            while (whole->kind == FIELD)
                whole--;
            whole->any_written = 1;
            whole->written |= a->written;
        }
        if ((a->kind == ARRAY || a->kind == FIELD) && a->written)
            self->writes = 1;
        if (a->kind < NONE) {
            self->leaves[self->leaf_count++] = a;
            PyArray_Descr *descr = PyArray_DescrFromType(a->type_number);
            if (!descr)
                return -1;
            a->item = PyDataType_ELSIZE(descr);
            a->type = descr->typeobj;  /* one of NumPy's static types; needs no reference */
            Py_DECREF(descr);
        }
    }
    return 0;
}

static int read_results(Specialisation *self, PyObject *records)
{
    self->result_count = (int)PyTuple_GET_SIZE(records);
    if (!(self->results = new_items(self->result_count, sizeof(Result))))
        return -1;
    for (int i = 0; i < self->result_count; i++) {
        Result *r = &self->results[i];
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(records, i), "iipii", &r->leaf, &r->type_number, &r->python,
                              &r->slot, &r->count))
            return -1;
    }
    return 0;
}

/* Of (slot, layout, written, axes, numbers): of each member its leaf and its offsets. */
static int read_groups(Specialisation *self, PyObject *records)
{
    int count = (int)PyTuple_GET_SIZE(records);
    if (!(self->groups = new_items(count, sizeof(Group))))
        return -1;
    for (int i = 0; i < count; i++) {
        Group *g = &self->groups[self->group_count++];
        PyObject *numbers;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(records, i), "iipiO!", &g->slot, &g->layout, &g->written, &g->axes,
                              &PyTuple_Type, &numbers))
            return -1;
        Py_ssize_t length = PyTuple_GET_SIZE(numbers);
        if (!(g->members = new_items(length, sizeof(int))))
            return -1;
        g->count = (int)length / (1 + g->axes);
        for (Py_ssize_t k = 0; k < length; k++)
            g->members[k] = (int)PyLong_AsLong(PyTuple_GET_ITEM(numbers, k));
        for (int k = 0; k < self->argument_count; k++)
            for (int m = 0; self->arguments[k].kind == ARRAY && m < g->count; m++)
                self->arguments[k].grouped |= g->members[m * (1 + g->axes)] == self->arguments[k].leaf;
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* Borrowed; NULL for None. */
static PyObject *part_of_function(PyObject *function, PyObject *name)
{
    if (PyUnicode_CompareWithASCIIString(name, "__code__") == 0)
        return PyFunction_GET_CODE(function);
    if (PyUnicode_CompareWithASCIIString(name, "__defaults__") == 0)
        return PyFunction_GET_DEFAULTS(function);
    return PyFunction_GET_KW_DEFAULTS(function);
}

/* The value at (where, name, ...), borrowed; NULL where there is none. `where` is a dict, such as a function's globals, a
 * closure's cell, or a function, of which it is an attribute. */
static PyObject *value_at(PyObject *path)
{
    PyObject *where = PyTuple_GET_ITEM(path, 0), *name = PyTuple_GET_ITEM(path, 1);
    if (PyCell_Check(where))
        return PyCell_GET(where);
    if (PyFunction_Check(where))
        return part_of_function(where, name);
    PyObject *now = PyDict_GetItemWithError(where, name);
    if (!now)
        PyErr_Clear();
    return now;
}

/* Whether everything that was built into the code, (where, name, value), still is what it was. */
static int is_current(const Specialisation *s)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(s->watched); i++) {
        PyObject *watched = PyTuple_GET_ITEM(s->watched, i);
        if (value_at(watched) != PyTuple_GET_ITEM(watched, 2))
            return 0;
    }
    return 1;
}

/* The captured values, held while the kernel runs; NULL where one is missing. */
static PyObject *captured_values(const Specialisation *s)
{
    Py_ssize_t count = PyTuple_GET_SIZE(s->captures);
    PyObject *out = PyTuple_New(count);
    for (Py_ssize_t i = 0; out && i < count; i++) {
        PyObject *value = value_at(PyTuple_GET_ITEM(s->captures, i));
        if (value)
            PyTuple_SET_ITEM(out, i, Py_NewRef(value));
        else
            Py_CLEAR(out);
    }
    PyErr_Clear();
    return out;
}

static int are_locations(PyObject *locations, Py_ssize_t size)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(locations); i++) {
        PyObject *item = PyTuple_GET_ITEM(locations, i);
        if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != size
            || !(PyCell_Check(PyTuple_GET_ITEM(item, 0)) || PyDict_Check(PyTuple_GET_ITEM(item, 0))
                 || PyFunction_Check(PyTuple_GET_ITEM(item, 0)))) {
            PyErr_SetString(PyExc_TypeError, "a watched value is (dict, cell or function, name, value), a captured one the same without the value");
            return 0;
        }
    }
    return 1;
}

/* From `kernel.record()`: (address, checked address, parameters, arguments, results, tree, fault slot, size,
 * watched, captures, checked kernel, alone, groups, host program, class of the arrays on a GPU, takes NumPy's) */
static Specialisation *specialise(PyObject *kernel)
{
    unsigned long long function, checked;
    PyObject *arguments, *results, *tree, *watched, *captures, *checked_kernel, *groups, *host, *device_array;
    OWNED PyObject *record = PyObject_CallMethod(kernel, "record", NULL);
    OWNED Specialisation *self = record ? (Specialisation *)SpecialisationType.tp_alloc(&SpecialisationType, 0) : NULL;
    if (!self || !PyArg_ParseTuple(record, "KKiO!O!OiiO!O!OpO!OOp", &function, &checked, &self->parameters, &PyTuple_Type,
                                   &arguments, &PyTuple_Type, &results, &tree, &self->fault_slot,
                                   &self->frame_size, &PyTuple_Type, &watched, &PyTuple_Type, &captures,
                                   &checked_kernel, &self->alone, &PyTuple_Type, &groups, &host, &device_array, &self->takes_numpy)
        || !are_locations(watched, 3) || !are_locations(captures, 2) || read_arguments(self, arguments) < 0 || read_results(self, results) < 0
        || read_groups(self, groups) < 0)
        return NULL;
    self->function = (KernelFunction)(uintptr_t)function;
    self->checked = (KernelFunction)(uintptr_t)checked;
    self->records = Py_NewRef(arguments);
    self->tree = Py_NewRef(tree);
    self->watched = Py_NewRef(watched);
    self->captures = Py_NewRef(captures);
    self->kernel = Py_NewRef(kernel);
    self->checked_kernel = Py_NewRef(checked_kernel);
    self->host = host == Py_None ? NULL : Py_NewRef(host);
    self->device_array = Py_NewRef(device_array);
    return (Specialisation *)Py_NewRef((PyObject *)self);
}

/* ------------------------------------------------------------------ the entry */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *fallback, *on_fault;
    PyObject *before;           /* asked before the fallback, or None */
    PyObject *handed;           /* {kind of call: (function, most nanoseconds)}: see _kinds.h */
    LastKind last_kind;
    PyObject *names;            /* of the parameters, None for positional-only ones; () for a function with others */
    PyObject *defaults;         /* of the last parameters */
    int keyword_only;           /* how many of the last parameters are given by keyword only */
    PyObject *specialisations;  /* a tuple, replaced and never changed, so that a call in flight is safe */
    PyObject *weak_references;
} Entry;

/* `*ran`: the kernel whose faults those are. */
static int32_t run(const Specialisation *s, int64_t *frame, PyObject **ran)
{
    int32_t status;
    frame[0] = threads;
    frame[s->fault_slot + 1] = Py_GetRecursionLimit();
    *ran = s->kernel;
    PyThreadState *state = s->alone ? NULL : PyEval_SaveThread();
    if (state)
        use(ONE_CALL);
    status = s->function(frame);
    if (status == STATUS_GUARD && s->checked) {
        *ran = s->checked_kernel;
        status = s->checked(frame);
    }
    if (state) {
        use(-ONE_CALL);
        PyEval_RestoreThread(state);
    }
    return status;
}

/* The result of a call that stopped at a fault: an exception, or what on_fault computes in another way. */
static PyObject *fault(PyObject *on_fault, PyObject *kernel, const int64_t *at, PyObject *const *args,
                       Py_ssize_t count)
{
    OWNED PyObject *given = tuple_of(args, count), *words = given ? PyTuple_New(FAULT_SLOTS - 1) : NULL;
    for (int k = 0; words && k < FAULT_SLOTS - 1; k++) {
        PyObject *word = PyLong_FromLongLong(at[1 + k]);
        if (!word)
            return NULL;
        PyTuple_SET_ITEM(words, k, word);
    }
    return words ? PyObject_CallFunction(on_fault, "OLOO", kernel, (long long)at[0], words, given) : NULL;
}

/* The same for a host program that has raised: the site is HOST_RAISED, and the exception the only word. */
static PyObject *host_raised(PyObject *on_fault, PyObject *kernel, PyObject *const *args, Py_ssize_t count)
{
    OWNED PyObject *type, *error, *traceback, *given = NULL;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback)
        PyException_SetTraceback(error, traceback);
    given = tuple_of(args, count);
    return given ? PyObject_CallFunction(on_fault, "Oi(O)O", kernel, HOST_RAISED, error, given) : NULL;
}

/* Whether what a call has stored into lists stays there when it stops at this fault. */
static int keeps_lists(PyObject *kernel, int64_t site)
{
    OWNED PyObject *keeps = PyObject_CallMethod(kernel, "keeps_lists", "L", (long long)site);
    return keeps ? PyObject_IsTrue(keeps) : 0;
}

/* 1: called, `*out` is the result or NULL with an exception. 0: the arguments do not fit, or a guard does not hold.
 * typed: whether the arguments are known to have the types, and to be apart in memory as far as the kernel asks. */
static int try_call(PyObject *on_fault, const Specialisation *s, PyObject *const *args, Py_ssize_t count,
                    PyObject **out, int typed)
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
        OWNED PyObject *captured = PyTuple_GET_SIZE(s->captures) ? captured_values(s) : Py_NewRef(s->captures);
        int fits = captured && fill(s, &next, args, count, frame, leaves, &leaf, typed)
                   && fill(s, &next, &PyTuple_GET_ITEM(captured, 0), PyTuple_GET_SIZE(captured), frame, leaves, &leaf, 0);
        fits = fits && (!s->lists || (lists_are_apart(s, leaves) && arrays_are_apart(s, leaves, frame)))
               && (typed || !s->shares || shares_as_expected(s, frame))
               && (typed || !s->writes || !may_overlap(s, frame));
        if (fits && s->host) {
            if (!(*out = PyObject_Vectorcall(s->host, leaves, (size_t)leaf, NULL)))
                *out = host_raised(on_fault, s->kernel, args, count);
            called = 1;
        } else if (fits) {
            PyObject *ran;
            int32_t status = run(s, frame, &ran);
            called = status != STATUS_GUARD;
            int keep = called && s->lists && (status != STATUS_FAULT || keeps_lists(ran, frame[s->fault_slot]));
            if (s->lists && release_lists(s, frame, leaves, keep) < 0)
                *out = NULL;
            else if (status == STATUS_OK)
                *out = results(s, frame, leaves);
            else if (status == STATUS_FAULT)
                *out = fault(on_fault, ran, frame + s->fault_slot, args, count);
            else if (called)
                *out = PyErr_Format(PyExc_SystemError, "a kernel returned the unknown status %d", (int)status);
        } else if (s->lists) {
            release_lists(s, frame, leaves, 0);
        }
    }
    if (frame != slots)
        PyMem_Free(frame);
    if (leaves != few)
        PyMem_Free(leaves);
    return called;
}

enum { MOST_ASKED = 16 };

/* Whether what is asked before the fallback has done the call, which gives None. -1: an error. */
static int is_done_before(Entry *self, PyObject *const *args, Py_ssize_t count)
{
    PyObject *given[MOST_ASKED + 1] = {(PyObject *)self};
    if (self->before == Py_None || count > MOST_ASKED)
        return 0;
    memcpy(given + 1, args, (size_t)count * sizeof *args);
    OWNED PyObject *before = Py_NewRef(self->before);
    OWNED PyObject *out = PyObject_Vectorcall(before, given, (size_t)count + 1, NULL);
    return out ? out == Py_True : -1;
}

/* The arguments by position of a call with keywords or omitted ones; 0 where Python is to say what is wrong. */
static int bind(const Entry *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords, PyObject **all)
{
    Py_ssize_t total = PyTuple_GET_SIZE(self->names), required = total - PyTuple_GET_SIZE(self->defaults);
    for (Py_ssize_t i = 0; i < total; i++)
        all[i] = i < count ? args[i] : NULL;
    for (Py_ssize_t k = 0; keywords && k < PyTuple_GET_SIZE(keywords); k++) {
        Py_ssize_t at = PySequence_Index(self->names, PyTuple_GET_ITEM(keywords, k));
        if (at < 0 || all[at]) {
            PyErr_Clear();
            return 0;
        }
        all[at] = args[count + k];
    }
    for (Py_ssize_t i = count; i < total; i++) {
        if (!all[i] && i < required)
            return 0;
        if (!all[i])
            all[i] = PyTuple_GET_ITEM(self->defaults, i - required);
    }
    return 1;
}

/* Whether a kernel has taken these arguments by position; `*out` is the result or NULL with an exception. */
static int call_kernel(const Entry *self, PyObject *const *args, Py_ssize_t count, PyObject **out)
{
    OWNED PyObject *table = Py_NewRef(self->specialisations);
    int called = 0;
    for (Py_ssize_t i = 0; !called && i < PyTuple_GET_SIZE(table); i++) {
        const Specialisation *s = (Specialisation *)PyTuple_GET_ITEM(table, i);
        called = s->parameters == count && is_current(s) && try_call(self->on_fault, s, args, count, out, 0);
    }
    return called;
}

/* A call that no kernel has taken. */
static PyObject *call_otherwise(Entry *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    int is_positional = !keywords || PyTuple_GET_SIZE(keywords) == 0, called = 0;
    int is_done = is_positional ? is_done_before(self, args, PyVectorcall_NARGS(flags)) : 0;
    if (is_done)
        return is_done < 0 ? NULL : Py_NewRef(Py_None);
    if (PyDict_GET_SIZE(self->handed) > 0) {
        OWNED PyObject *handed = Py_NewRef(self->handed);
        PyObject *out = call_handed((PyObject *)self, handed, &self->last_kind, args, flags, keywords, &called);
        if (called)
            return out;
    }
    OWNED PyObject *fallback = Py_NewRef(self->fallback);
    return PyObject_Vectorcall(fallback, args, flags, keywords);
}

static PyObject *call_bound(Entry *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    PyObject *out = NULL;
    int is_positional = !keywords || PyTuple_GET_SIZE(keywords) == 0;
    if (is_positional && call_kernel(self, args, PyVectorcall_NARGS(flags), &out))
        return out;
    return call_otherwise(self, args, flags, keywords);
}

static PyObject *entry_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Entry *self = (Entry *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags), named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    PyObject *few[STACK_LEAVES], **all = few;
    if (!self->specialisations || !self->handed || !self->names)  /* the garbage collector has cleared it */
        return PyErr_Format(PyExc_ReferenceError, "a compiled function was called after its end");
    Py_ssize_t total = PyTuple_GET_SIZE(self->names);
    if (total == 0 || (!self->keyword_only && (count > total || (count == total && named == 0))))
        return call_bound(self, args, flags, keywords);
    if (total > STACK_LEAVES && !(all = PyMem_Malloc((size_t)total * sizeof *all)))
        return PyErr_NoMemory();
    PyObject *out = NULL;
    int is_bound = count <= total - self->keyword_only && bind(self, args, count, keywords, all);
    if (is_bound && !self->keyword_only)
        out = call_bound(self, all, (size_t)total, NULL);
    else if (!is_bound || !call_kernel(self, all, total, &out))
        out = call_otherwise(self, args, flags, keywords);
    if (all != few)
        PyMem_Free(all);
    return out;
}

static PyObject *entry_add(Entry *self, PyObject *kernel)
{
    OWNED Specialisation *new = specialise(kernel);
    OWNED PyObject *first = new ? PyTuple_Pack(1, new) : NULL;
    PyObject *table = first ? PySequence_Concat(first, self->specialisations) : NULL;
    if (!table)
        return NULL;
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

static PyTypeObject EntryType;

/* Classes of Python's inherit the slots of calls, and not the flags that let callers use them without a tuple of the
 * arguments and a bound method. */
static void inherit_flags(PyTypeObject *type)
{
    if (type->tp_call == EntryType.tp_call && type->tp_vectorcall_offset == EntryType.tp_vectorcall_offset)
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    if (type->tp_descr_get == EntryType.tp_descr_get)
        type->tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
}

static PyObject *entry_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(keywords))
{
    inherit_flags(type);
    Entry *self = (Entry *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->vectorcall = entry_call;
    self->fallback = Py_NewRef(Py_None);
    self->on_fault = Py_NewRef(Py_None);
    self->before = Py_NewRef(Py_None);
    self->handed = PyDict_New();
    self->specialisations = PyTuple_New(0);
    self->names = PyTuple_New(0);
    self->defaults = PyTuple_New(0);
    if (!self->specialisations || !self->handed || !self->names || !self->defaults)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static int entry_init(Entry *self, PyObject *args, PyObject *keywords)
{
    static char *parameters[] = {"fallback", "on_fault", "names", "defaults", "keyword_only", NULL};
    PyObject *fallback, *on_fault, *names = self->names, *defaults = self->defaults;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|O!O!i:Entry", parameters, &fallback, &on_fault,
                                     &PyTuple_Type, &names, &PyTuple_Type, &defaults, &self->keyword_only))
        return -1;
    if (PyTuple_GET_SIZE(defaults) > PyTuple_GET_SIZE(names)) {
        PyErr_SetString(PyExc_ValueError, "more defaults than names");
        return -1;
    }
    Py_SETREF(self->names, Py_NewRef(names));
    Py_SETREF(self->defaults, Py_NewRef(defaults));
    Py_SETREF(self->fallback, Py_NewRef(fallback));
    Py_SETREF(self->on_fault, Py_NewRef(on_fault));
    return 0;
}

/* All that an entry holds a reference to. */
#define FOR_EACH_REFERENCE(DO)                                                              \
    DO(self->fallback); DO(self->on_fault); DO(self->before); DO(self->handed);             \
    DO(self->last_kind.kind); DO(self->names); DO(self->defaults); DO(self->specialisations)

static int entry_traverse(Entry *self, visitproc visit, void *arg)
{
    FOR_EACH_REFERENCE(Py_VISIT);
    return 0;
}

static int entry_clear(Entry *self)
{
    FOR_EACH_REFERENCE(Py_CLEAR);
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

/* kind(args, keywords): for `handed`; None where it has none. */
static PyObject *entry_kind(PyObject *Py_UNUSED(self), PyObject *given)
{
    PyObject *args, *keywords, *kind = NULL;
    if (!PyArg_ParseTuple(given, "O!O!", &PyTuple_Type, &args, &PyDict_Type, &keywords))
        return NULL;
    OWNED PyObject *names = PySequence_Tuple(keywords), *all = PySequence_List(args), *values = PyDict_Values(keywords);
    if (names && all && values && PyList_SetSlice(all, PyList_GET_SIZE(all), PyList_GET_SIZE(all), values) == 0)
        kind = kind_of_call(((PyListObject *)all)->ob_item, PyTuple_GET_SIZE(args), names);
    return kind || PyErr_Occurred() ? kind : Py_NewRef(Py_None);
}

static PyMethodDef entry_methods[] = {
    {"kind", entry_kind, METH_VARARGS, "Of a call with such arguments and keywords, for `handed`; None if it has none."},
    {"add", (PyCFunction)entry_add, METH_O, "Puts a kernel in front of those that calls are matched with."},
    {"clear_kernels", (PyCFunction)entry_clear_kernels, METH_NOARGS, "Forgets all kernels."},
    {NULL},
};

static PyMemberDef entry_members[] = {
    {"before", T_OBJECT, offsetof(Entry, before), 0, "Asked before the fallback: True for a call that is done."},
    {"handed", T_OBJECT, offsetof(Entry, handed), READONLY, "By kind of call: the Python function, and its time limit."},
    {NULL},
};

static PyGetSetDef entry_properties[] = {
    {"kernels", (getter)entry_kernels, NULL, "The kernels, in the order in which they are tried."},
    {NULL},
};

static PyTypeObject EntryType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.runtime._dispatch.Entry",
    .tp_doc = "Entry(fallback, on_fault, names, defaults): a callable that runs the kernel which fits its arguments.",
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
    .tp_members = entry_members,
    .tp_getset = entry_properties,
};

/* ------------------------------------------------------------------ the module */

static PyObject *set_thread_count(PyObject *Py_UNUSED(module), PyObject *value)
{
    long count = PyLong_AsLong(value);
    if (count == -1 && PyErr_Occurred())
        return NULL;
    threads = (int)count;
    Py_RETURN_NONE;
}

static PyObject *thread_count(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyLong_FromLong(threads);
}

static PyObject *guard_failure;

/* invoke(kernel, arguments, on_fault): a call whose arguments have the kernel's types, subclasses included, and do not
 * overlap where they may not. */
static PyObject *invoke(PyObject *Py_UNUSED(module), PyObject *given)
{
    PyObject *kernel, *args, *on_fault, *out = NULL;
    if (!PyArg_ParseTuple(given, "OO!O:invoke", &kernel, &PyTuple_Type, &args, &on_fault))
        return NULL;
    OWNED Specialisation *s = specialise(kernel);
    if (!s)
        return NULL;
    if (PyTuple_GET_SIZE(args) != s->parameters)
        PyErr_Format(PyExc_TypeError, "a kernel takes %d arguments, not %zd", s->parameters, PyTuple_GET_SIZE(args));
    else if (!try_call(on_fault, s, ((PyTupleObject *)args)->ob_item, s->parameters, &out, 1))
        PyErr_SetString(guard_failure, "a guard does not hold");
    return out;
}

static PyMethodDef module_methods[] = {
    {"invoke", invoke, METH_VARARGS, "Calls a kernel with arguments of its types; raises GuardFailure."},
    {"item_types", item_types, METH_O, "Of a list: depth, if it is even, width of tuples, dtypes; or None."},
    {"set_thread_count", set_thread_count, METH_O, "How many threads kernels may use from now on."},
    {"thread_count", thread_count, METH_NOARGS, "That number."},
    {"empty_like", empty_like, METH_O, "An array with nothing in it, in memory that was given back, in C order."},
    {"team_address", team_address, METH_NOARGS, "Of what kernels share their parallel loops with."},
    {"sorts_address", sorts_address, METH_NOARGS, "Of NumPy's functions that sort vectors, by type of element."},
    {"memory_address", memory_address, METH_NOARGS, "Of what kernels take memory from and give it back to."},
    {"set_memory_limit", set_memory_limit, METH_O, "How many bytes that were given back may be kept."},
    {"set_memory_poison", set_memory_poison, METH_O, "The byte that new memory is filled with; -1 for none."},
    {"trim_memory", trim_memory, METH_O, "Frees what is kept beyond so many bytes; how many bytes that were."},
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
    if (pthread_atfork(NULL, NULL, forget_workers) != 0)
        return PyErr_NoMemory();
    if (!intern_names() || PyType_Ready(&SpecialisationType) < 0 || PyType_Ready(&EntryType) < 0
        || PyType_Ready(&LauncherType) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&module_definition);
    /* A guard does not hold, so an index may be out of range. Nothing has been written: a version that tests each has to run. */
    guard_failure = PyErr_NewException("appyc.runtime._dispatch.GuardFailure", NULL, NULL);
    if (module && (PyModule_AddObjectRef(module, "GuardFailure", guard_failure) < 0
                   || PyModule_AddObjectRef(module, "Entry", (PyObject *)&EntryType) < 0
                   || PyModule_AddObjectRef(module, "Launcher", (PyObject *)&LauncherType) < 0
                   || PyModule_AddIntConstant(module, "FORMAT", RECORD_FORMAT) < 0))
        Py_CLEAR(module);
    return module;
}
