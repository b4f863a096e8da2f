/* Walks over the IR and rewrites of it: what the compiler does most (`ir/visit.py`).

A table maps the class of a node to the names of the fields that may hold nodes, alone or in tuples, and other classes
to None. It is a dict with `__missing__`, so that a class is looked at once. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "../_owned.h"

/* What a table has for an object's class: a tuple of names, or None; a new reference. */
static PyObject *fields_of(PyObject *table, PyObject *object)
{
    PyObject *kind = (PyObject *)Py_TYPE(object);
    PyObject *names = PyDict_GetItemWithError(table, kind);
    if (names)
        return Py_NewRef(names);
    return PyErr_Occurred() ? NULL : PyObject_GetItem(table, kind);
}

typedef struct {
    PyObject_HEAD
    PyObject *table;
    PyObject *stack; /* a list: what is to come, the next one last; what is no node is passed over */
} Walk;

static void walk_free(Walk *self)
{
    Py_XDECREF(self->table);
    Py_XDECREF(self->stack);
    Py_TYPE(self)->tp_free(self);
}

static int push(PyObject *stack, PyObject *value)
{
    if (value == Py_None)
        return 0;
    if (!PyTuple_Check(value))
        return PyList_Append(stack, value);
    for (Py_ssize_t i = PyTuple_GET_SIZE(value); i-- > 0;)
        if (PyList_Append(stack, PyTuple_GET_ITEM(value, i)))
            return -1;
    return 0;
}

static PyObject *walk_next(Walk *self)
{
    for (Py_ssize_t count; (count = PyList_GET_SIZE(self->stack));) {
        OWNED PyObject *top = Py_NewRef(PyList_GET_ITEM(self->stack, count - 1));
        OWNED PyObject *names = fields_of(self->table, top);
        if (!names || PyList_SetSlice(self->stack, count - 1, count, NULL))
            return NULL;
        if (names == Py_None)
            continue;
        for (Py_ssize_t k = PyTuple_GET_SIZE(names); k-- > 0;) {
            OWNED PyObject *value = PyObject_GetAttr(top, PyTuple_GET_ITEM(names, k));
            if (!value || push(self->stack, value))
                return NULL;
        }
        return Py_NewRef(top);
    }
    return NULL;
}

static PyTypeObject WalkType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.ir._trees.Walk",
    .tp_basicsize = sizeof(Walk),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = (destructor)walk_free,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)walk_next,
};

static PyObject *walk(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    if (nargs != 2 || !PyDict_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "walk takes nodes and a table");
    OWNED PyObject *names = fields_of(args[1], args[0]);
    OWNED PyObject *given = !names ? NULL : names == Py_None ? PySequence_Tuple(args[0]) : Py_NewRef(args[0]);
    OWNED PyObject *stack = given ? PyList_New(0) : NULL;
    Walk *self = stack && !push(stack, given) ? PyObject_New(Walk, &WalkType) : NULL;
    if (self) {
        self->table = Py_NewRef(args[1]);
        self->stack = Py_NewRef(stack);
    }
    return (PyObject *)self;
}

/* The arguments of a rewrite, the same for all nodes of a tree. */
typedef struct {
    PyObject *rule, *table, *with_changes;
} Rewrite;

static PyObject *rewritten(const Rewrite *how, PyObject *node);

/* The nodes of a tuple rewritten; the tuple itself where nothing changes. */
static PyObject *rewritten_each(const Rewrite *how, PyObject *nodes)
{
    Py_ssize_t count = PyTuple_GET_SIZE(nodes);
    OWNED PyObject *out = NULL; /* a list, from the first change on */
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *old = PyTuple_GET_ITEM(nodes, i);
        OWNED PyObject *new = rewritten(how, old);
        if (!new)
            return NULL;
        if (new == old && !out)
            continue;
        if (!out) {
            OWNED PyObject *same = PyTuple_GetSlice(nodes, 0, i);
            if (!same || !(out = PySequence_List(same)))
                return NULL;
        }
        Py_ssize_t end = PyList_GET_SIZE(out);
        if (PyTuple_Check(new) ? PyList_SetSlice(out, end, end, new) : PyList_Append(out, new))
            return NULL;
    }
    return out ? PyList_AsTuple(out) : Py_NewRef(nodes);
}

/* The value of a field, rewritten. */
static PyObject *rewritten_field(const Rewrite *how, PyObject *node, PyObject *name, PyObject *old)
{
    if (PyTuple_Check(old))
        return rewritten_each(how, old);
    PyObject *new = rewritten(how, old);
    if (new && PyTuple_Check(new)) {
        PyErr_Format(PyExc_AssertionError, "cannot put several nodes into %s.%U", Py_TYPE(node)->tp_name, name);
        Py_CLEAR(new);
    }
    return new;
}

/* A node with what is below it rewritten. */
static PyObject *rewritten_below(const Rewrite *how, PyObject *node, PyObject *names)
{
    OWNED PyObject *changes = NULL;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(names); k++) {
        PyObject *name = PyTuple_GET_ITEM(names, k);
        OWNED PyObject *old = PyObject_GetAttr(node, name);
        OWNED PyObject *new = old ? rewritten_field(how, node, name, old) : NULL;
        if (!new)
            return NULL;
        if (new == old)
            continue;
        if ((!changes && !(changes = PyDict_New())) || PyDict_SetItem(changes, name, new))
            return NULL;
    }
    return changes ? PyObject_CallFunctionObjArgs(how->with_changes, node, changes, NULL) : Py_NewRef(node);
}

static PyObject *rewritten(const Rewrite *how, PyObject *object)
{
    OWNED PyObject *names = fields_of(how->table, object);
    if (!names || names == Py_None || Py_EnterRecursiveCall(" in a rewrite"))
        return names == Py_None ? Py_NewRef(object) : NULL;
    OWNED PyObject *below = rewritten_below(how, object, names);
    Py_LeaveRecursiveCall();
    return below ? PyObject_CallOneArg(how->rule, below) : NULL;
}

static PyObject *rewrite(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    if (nargs != 4 || !PyDict_Check(args[2]))
        return PyErr_Format(PyExc_TypeError, "rewrite takes nodes, a rule, a table and what makes changed nodes");
    Rewrite how = {args[1], args[2], args[3]};
    return PyTuple_Check(args[0]) ? rewritten_each(&how, args[0]) : rewritten(&how, args[0]);
}

static PyMethodDef functions[] = {
    {"walk", (PyCFunction)(void (*)(void))walk, METH_FASTCALL,
     "An iterator over a node, or each of several, and all below, parents before children."},
    {"rewrite", (PyCFunction)(void (*)(void))rewrite, METH_FASTCALL,
     "A node, or a tuple of them, with a rule applied to each node below, children before parents."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "appyc.ir._trees", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__trees(void)
{
    return PyType_Ready(&WalkType) ? NULL : PyModule_Create(&module);
}
