/* The recording of one operation. Part of _nodes.c, which alone includes it.
 */
#ifndef APPYC_RECORDING_H
#define APPYC_RECORDING_H

/* As in appyc/lazy/recorded_nodes.py. */
enum { CALLERS = 8 };

/* ------------------------------------------------------------------ what is recorded */

typedef struct {
    PyObject_HEAD
    PyObject *statements, *left, *folder, *errors, *usual;
    long long nbytes, most_bytes;
    Py_ssize_t few, most_statements, at_once;
    char busy, running;
} Tally;

static PyObject *tally_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(keywords))
{
    return type->tp_alloc(type, 0);  /* the class of recordings fills it */
}

static PyMemberDef tally_members[] = {
    {"statements", T_OBJECT_EX, offsetof(Tally, statements), 0, NULL},
    {"left", T_OBJECT_EX, offsetof(Tally, left), 0, NULL},
    {"folder", T_OBJECT_EX, offsetof(Tally, folder), 0, NULL},
    {"errors", T_OBJECT_EX, offsetof(Tally, errors), 0, NULL},
    {"usual", T_OBJECT_EX, offsetof(Tally, usual), 0, NULL},
    {"nbytes", T_LONGLONG, offsetof(Tally, nbytes), 0, NULL},
    {"most_bytes", T_LONGLONG, offsetof(Tally, most_bytes), 0, NULL},
    {"few", T_PYSSIZET, offsetof(Tally, few), 0, NULL},
    {"most_statements", T_PYSSIZET, offsetof(Tally, most_statements), 0, NULL},
    {"at_once", T_PYSSIZET, offsetof(Tally, at_once), 0, NULL},
    {"busy", T_BOOL, offsetof(Tally, busy), 0, NULL},
    {"running", T_BOOL, offsetof(Tally, running), 0, NULL},
    {NULL},
};

static PyTypeObject TallyType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.Tally",
    .tp_doc = "The statements that have not run, and how many there may be.",
    .tp_basicsize = sizeof(Tally),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = tally_new,
    .tp_dealloc = parts_dealloc,
    .tp_members = tally_members,
};

/* The state by which a run of calls is recognised; the class of recorded calls adds the rest. last: the operands of the last
 * call. moves: from each call to the next, in bytes. may_go_on: it returns nothing. always_waits: it is recorded wherever it
 * is called. */
typedef struct {
    PyObject_HEAD
    PyObject *function, *last, *site, *moves;
    Py_ssize_t count;
    char may_go_on, always_waits;
} Run;

static PyMemberDef run_members[] = {
    {"function", T_OBJECT_EX, offsetof(Run, function), 0, NULL},
    {"last", T_OBJECT_EX, offsetof(Run, last), 0, NULL},
    {"site", T_OBJECT_EX, offsetof(Run, site), 0, NULL},
    {"moved", T_OBJECT_EX, offsetof(Run, moves), 0, NULL},
    {"count", T_PYSSIZET, offsetof(Run, count), 0, NULL},
    {"may_go_on", T_BOOL, offsetof(Run, may_go_on), 0, NULL},
    {"always_waits", T_BOOL, offsetof(Run, always_waits), 0, NULL},
    {NULL},
};

static PyTypeObject RunType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.Run",
    .tp_doc = "Calls of one function whose arguments move evenly.",
    .tp_basicsize = sizeof(Run),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = tally_new,  /* fields are set, as those of a tally are */
    .tp_dealloc = parts_dealloc,
    .tp_members = run_members,
};

/* Whether what `np.errstate` says is known to raise and call nothing. -1: an error. */
static int is_usual(const Tally *tally)
{
    PyObject *now = NULL;
    if (!tally->errors || PyContextVar_Get(tally->errors, NULL, &now) < 0)
        return PyErr_Occurred() ? -1 : 0;
    Py_XDECREF(now);
    return now == tally->usual;
}

/* ------------------------------------------------------------------ functions */

/* What pickle and `copy.deepcopy` find it by: its name in appyc.numpy. */
static PyObject *name_of(PyObject *self, PyObject *Py_UNUSED(none))
{
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyMethodDef function_methods[] = {
    {"__reduce__", name_of, METH_NOARGS, NULL},
    {NULL},
};

/* ------------------------------------------------------------------ where it was */

/* How the frame was called: the same for the same calls, one in the other. */
static Py_hash_t way_to(PyFrameObject *frame)
{
    Py_uhash_t way = 0;
    OWNED PyFrameObject *at = (PyFrameObject *)Py_NewRef((PyObject *)frame);
    for (int i = 0; at && i < CALLERS; i++) {
        OWNED PyCodeObject *code = PyFrame_GetCode(at);
        way = way * 1000003 + ((Py_uhash_t)(uintptr_t)code >> 4) * 31 + (Py_uhash_t)PyFrame_GetLasti(at);
        Py_SETREF(at, PyFrame_GetBack(at));
    }
    return (Py_hash_t)way;
}

/* caller(folder): code and instruction of the innermost frame whose file is not below the folder, and the way to it. */
static PyObject *caller(PyObject *Py_UNUSED(module), PyObject *folder)
{
    OWNED PyFrameObject *frame = (PyFrameObject *)Py_XNewRef((PyObject *)PyEval_GetFrame());
    while (frame) {
        OWNED PyCodeObject *code = PyFrame_GetCode(frame);
        int is_ours = PyUnicode_Tailmatch(code->co_filename, folder, 0, PY_SSIZE_T_MAX, -1) == 1;
        PyFrameObject *back = is_ours ? PyFrame_GetBack(frame) : NULL;
        if (!back)
            return Py_BuildValue("Oin", code, PyFrame_GetLasti(frame), way_to(frame));
        Py_SETREF(frame, back);
    }
    return PyErr_Format(PyExc_RuntimeError, "called from outside of Python");
}

/* Where a statement or a call was recorded: a site's hash, which is another for another site. */
static Py_ssize_t way_of(PyObject *statement)
{
    PyObject *site = Py_TYPE(statement) == &StatementType ? ((Statement *)statement)->site : ((Run *)statement)->site;
    return site && PyTuple_Check(site) ? PyLong_AsSsize_t(PyTuple_GET_ITEM(site, 2)) : -1;
}

/* Whether the last statements repeat with a period that this site continues, three times and long enough to run.
 * Statements before the loop are then not in one program with its iterations. A loop inside another one's body is not
 * taken for it, unless it records as many statements. */
static int in_a_loop(const Tally *tally, Py_ssize_t way)
{
    Py_ssize_t count = PyList_GET_SIZE(tally->statements), period = 1, again = 0;
    PyObject **statements = &PyList_GET_ITEM(tally->statements, 0);
    if (count < 2 * tally->few)
        return 0;
    while (period <= count / 2 && way_of(statements[count - period]) != way)
        period++;
    if (period > count / 2)
        return 0;
    for (Py_ssize_t at = count - 1; at >= period && way_of(statements[at]) == way_of(statements[at - period]); at--)
        again++;
    return again >= 2 * period && again + period >= 2 * tally->few;
}

/* comes_round(tally, site): whether the program is back at the site of the first of many statements, or in a loop after
 * others. */
static PyObject *comes_round(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyObject_TypeCheck(args[0], &TallyType) || !PyTuple_Check(args[1]) || PyTuple_GET_SIZE(args[1]) != 3)
        return PyErr_Format(PyExc_TypeError, "comes_round(tally, site)");
    const Tally *tally = (Tally *)args[0];
    Py_ssize_t way = PyLong_AsSsize_t(PyTuple_GET_ITEM(args[1], 2));
    return PyBool_FromLong(PyList_GET_SIZE(tally->statements) >= tally->few
                           && (way_of(PyList_GET_ITEM(tally->statements, 0)) == way || in_a_loop(tally, way)));
}

enum { SELDOM = 4 };

/* Whether nothing need run before a statement at this site is added. Where that takes more to tell, the answer is no. Loops
 * are looked for at each fourth statement: that the site may be any one of the loop makes up for it. */
static int has_room(const Tally *tally, PyObject *site)
{
    if (tally->busy || !tally->statements || !PyList_CheckExact(tally->statements))
        return 0;
    Py_ssize_t count = PyList_GET_SIZE(tally->statements), way = PyLong_AsSsize_t(PyTuple_GET_ITEM(site, 2));
    return count < tally->few
        || (count < tally->most_statements && way_of(PyList_GET_ITEM(tally->statements, 0)) != way
            && (count % SELDOM || !in_a_loop(tally, way)));
}

/* The new array of an operation, and the statement that makes it, which is appended. */
static PyObject *make(PyTypeObject *type, PyObject *statements, PyObject *operation, PyObject *operands,
                      PyObject *shape, PyObject *dtype, PyObject *site, int is_number)
{
    OWNED Buffer *buffer = new_buffer(shape, dtype, Py_None);
    if (!buffer)
        return NULL;
    buffer->is_number = (char)is_number;
    OWNED PyObject *whole = PyTuple_New(0);
    OWNED View *view = whole ? new_view(type, buffer, whole, shape, dtype) : NULL;
    OWNED Statement *made = view ? new_statement(operation, operands, (PyObject *)buffer, Py_None, shape, site) : NULL;
    return !made || PyList_Append(statements, (PyObject *)made) < 0 ? NULL : Py_NewRef((PyObject *)view);
}

/* made(type, statements, operation, operands, shape, dtype, site, is_number): a new array, and the statement that makes it,
 * which is appended. */
static PyObject *made(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 8 || !PyType_Check(args[0]) || !PyType_IsSubtype((PyTypeObject *)args[0], &ViewType)
        || !PyList_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "made(type, statements, operation, operands, shape, dtype, site, is_number)");
    return make((PyTypeObject *)args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7] == Py_True);
}

#endif
