/* Runs of calls whose indices advance by constant strides, of each of which one loop is made. Part of _nodes.c, which alone
 * includes it.
 *
 *     f(a[0:10], b[0]); f(a[10:20], b[1]); ...    ->    for r in range(n): f(a[10*r : 10*r + 10], b[r])
 *
 * Only what can be seen in the recorded indices counts: whether the loop may run in parallel is for the dependence analysis
 * to say.
 */
#ifndef APPYC_RUNS_H
#define APPYC_RUNS_H

/* ------------------------------------------------------------------ what moves */

/* One item of one index of one operand's path grows by `by` from call to call. */
typedef struct {
    Py_ssize_t operand, step, item, by;
} Move;

enum { MOST_MOVES = 16 };

/* Whether a number is the other one, bit by bit. */
static int is_same_number(PyObject *one, PyObject *two)
{
    if (Py_TYPE(one) != Py_TYPE(two))
        return 0;
    if (PyFloat_CheckExact(one)) {
        double x = PyFloat_AS_DOUBLE(one), y = PyFloat_AS_DOUBLE(two);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    if (PyLong_CheckExact(one))
        return PyObject_RichCompareBool(one, two, Py_EQ) == 1;
    if (!is_python_number(one) && !PyArray_IsScalar(one, Generic))
        return 0;
    OWNED PyObject *first = PyObject_Repr(one), *second = first ? PyObject_Repr(two) : NULL;  /* -0.0 has its sign there */
    return second && PyUnicode_Compare(first, second) == 0;
}

static Py_ssize_t bound_of(PyObject *bound, Py_ssize_t none)
{
    return bound == Py_None ? none : PyLong_AsSsize_t(bound);
}

/* How far an item of an index is from another one of its kind; 0 where it is not only moved. */
static Py_ssize_t way_between(PyObject *from, PyObject *to)
{
    if (PyLong_CheckExact(from) && PyLong_CheckExact(to)) {
        Py_ssize_t x = PyLong_AsSsize_t(from), y = PyLong_AsSsize_t(to);
        return (x < 0) == (y < 0) ? y - x : 0;
    }
    if (!PySlice_Check(from) || !PySlice_Check(to))
        return 0;
    PySliceObject *one = (PySliceObject *)from, *two = (PySliceObject *)to;
    Py_ssize_t start = bound_of(one->start, 0), stop = bound_of(one->stop, -1);
    Py_ssize_t by = bound_of(two->start, 0) - start, last = bound_of(two->stop, -1);
    int is_counted_from_start = start >= 0 && start + by >= 0 && stop >= 0 && last >= 0;
    return is_counted_from_start && bound_of(one->step, 1) == bound_of(two->step, 1) && last - stop == by ? by : 0;
}

/* Adds the moves from a view to another one. 0: these are not all that differs. */
static int add_moves(Move *moves, int *moving, Py_ssize_t operand, View *from, View *to)
{
    if (!path_of(from) || !path_of(to))
        return 0;
    Py_ssize_t depth = PyTuple_GET_SIZE(from->path);
    if (from->buffer != to->buffer || PyTuple_GET_SIZE(to->path) != depth)
        return 0;
    for (Py_ssize_t step = 0; step < depth; step++) {
        PyObject *one = PyTuple_GET_ITEM(from->path, step), *two = PyTuple_GET_ITEM(to->path, step);
        if (one == two)
            continue;
        if (!PyTuple_CheckExact(one) || !PyTuple_CheckExact(two)) {
            if (PyObject_RichCompareBool(one, two, Py_EQ) != 1)
                return 0;
            continue;
        }
        if (PyTuple_GET_SIZE(one) != PyTuple_GET_SIZE(two))
            return 0;
        for (Py_ssize_t item = 0; item < PyTuple_GET_SIZE(one); item++) {
            PyObject *x = PyTuple_GET_ITEM(one, item), *y = PyTuple_GET_ITEM(two, item);
            if (x == y || PyObject_RichCompareBool(x, y, Py_EQ) == 1)
                continue;
            Py_ssize_t by = way_between(x, y);
            if (!by || *moving == MOST_MOVES)
                return 0;
            moves[(*moving)++] = (Move){operand, step, item, by};
        }
    }
    return 1;
}

/* The moves from the operands of a call to those of the next one; -1 where these are not all that differs. */
static int moves_between(Move *moves, PyObject *last, PyObject *const *operands, Py_ssize_t count)
{
    int moving = 0, fits = PyTuple_GET_SIZE(last) == count;
    for (Py_ssize_t i = 0; fits && i < count; i++) {
        PyObject *one = PyTuple_GET_ITEM(last, i), *two = operands[i];
        if (one == two)
            continue;
        if (is_view(one) && is_view(two))
            fits = add_moves(moves, &moving, i, (View *)one, (View *)two);
        else
            fits = is_same_number(one, two);
    }
    return fits ? moving : -1;
}

/* ------------------------------------------------------------------ the next call of a run */

/* The run that a call of the function may go on with, or NULL. Borrowed. */
static Run *last_run(const Tally *tally, const PyObject *function)
{
    PyObject *statements = tally->statements;
    if (tally->busy || !statements || !PyList_CheckExact(statements) || !PyList_GET_SIZE(statements))
        return NULL;
    Run *last = (Run *)PyList_GET_ITEM(statements, PyList_GET_SIZE(statements) - 1);
    int is_run = PyObject_TypeCheck(last, &RunType) && last->function == function && last->may_go_on && last->last
        && PyTuple_CheckExact(last->last);
    return is_run ? last : NULL;
}

/* Whether the variable of the context is True. -1: an error. */
static int is_set(PyObject *variable)
{
    PyObject *value;
    if (PyContextVar_Get(variable, Py_False, &value) < 0)
        return -1;
    Py_DECREF(value);
    return value == Py_True;
}

static int is_in_bytes(PyObject *bytes, const void *what, Py_ssize_t size)
{
    return bytes && PyBytes_Check(bytes) && PyBytes_GET_SIZE(bytes) == size
        && memcmp(PyBytes_AS_STRING(bytes), what, (size_t)size) == 0;
}

/* goes_on(tally, waiting, function, *operands): whether the call is the next one of the run that was recorded last, to which
 * it is added if so: its operands are views of the same buffers, by paths of the same form, so that what was found out about
 * the first call holds for all. waiting: the variable that says whether calls are recorded. */
static PyObject *goes_on(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count < 3 || !PyObject_TypeCheck(args[0], &TallyType) || !PyContextVar_CheckExact(args[1]))
        return PyErr_Format(PyExc_TypeError, "goes_on(tally, waiting, function, *operands)");
    Tally *tally = (Tally *)args[0];
    OWNED Run *run = (Run *)Py_XNewRef((PyObject *)last_run(tally, args[2]));
    OWNED PyObject *last = run ? Py_NewRef(run->last) : NULL, *next = NULL, *now = NULL;
    Move moves[MOST_MOVES];
    int waits = !run ? 0 : run->always_waits ? 1 : is_set(args[1]), is_next = 0;
    int moving = waits > 0 ? moves_between(moves, last, args + 3, count - 3) : -1;
    Py_ssize_t size = moving * (Py_ssize_t)sizeof *moves;
    if (moving >= 0 && (run->count == 1 || is_in_bytes(run->moves, moves, size)))
        next = tuple_of(args + 3, count - 3);
    if (next && run->count == 1)
        now = PyBytes_FromStringAndSize((const char *)moves, size);
    /* Comparing may run anything, and so may making a tuple. */
    if (next && !PyErr_Occurred() && last_run(tally, args[2]) == run && run->last == last) {
        Py_SETREF(run->last, Py_NewRef(next));
        if (now)
            Py_XSETREF(run->moves, Py_NewRef(now));
        run->count++;
        is_next = 1;
    }
    return PyErr_Occurred() ? NULL : PyBool_FromLong(is_next);
}

#endif
