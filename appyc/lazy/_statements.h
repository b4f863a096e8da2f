/* Statements, each of one recorded operation. Part of _nodes.c, which alone includes it.
 */
#ifndef APPYC_STATEMENTS_H
#define APPYC_STATEMENTS_H

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
    OWNED PyObject *reference = PyWeakref_NewRef(target, NULL);  /* the one that there is, if there is one */
    Statement *self = reference ? PyObject_New(Statement, &StatementType) : NULL;
    if (!self)
        return NULL;
    self->operation = Py_NewRef(operation);
    self->operands = Py_NewRef(operands);
    self->target = Py_NewRef(reference);
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
        PyObject *read = is_view(operand) ? (PyObject *)((View *)operand)->buffer : Py_None;
        if (read != Py_None && PyList_Append(found, read) < 0)
            Py_CLEAR(found);
    }
    return found;
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

static PyTypeObject StatementType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.Statement",
    .tp_doc = "One recorded operation.",
    .tp_basicsize = sizeof(Statement),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = statement_new,
    .tp_dealloc = parts_dealloc,
    .tp_members = statement_members,
    .tp_methods = statement_methods,
};

#endif
