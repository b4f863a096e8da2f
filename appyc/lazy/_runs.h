/* Runs of calls whose arguments move evenly: see appyc/lazy/runs.py. Part of _nodes.c, which alone includes it.
 */
#ifndef APPYC_RUNS_H
#define APPYC_RUNS_H

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

#endif
