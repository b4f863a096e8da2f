/* What a flush does for each statement: the memory it holds, and its structure. See appyc/lazy/gathering.py, which
 * handles all other cases. Part of _nodes.c, which alone includes it.
 */
#ifndef APPYC_FLUSHING_H
#define APPYC_FLUSHING_H

/* ------------------------------------------------------------------ what they hold */

static int count_one(PyObject *counts, PyObject *key)
{
    PyObject *before = PyDict_GetItemWithError(counts, key);
    PyObject *after = PyErr_Occurred() ? NULL : PyLong_FromSsize_t(before ? PyLong_AsSsize_t(before) + 1 : 1);
    int failed = !after || PyDict_SetItem(counts, key, after) < 0;
    Py_XDECREF(after);
    return failed ? -1 : 0;
}

/* held_alone(statements): bytes of computed arrays that only these statements keep alive. */
static PyObject *held_alone(PyObject *Py_UNUSED(module), PyObject *statements)
{
    if (!PyList_CheckExact(statements))
        return PyErr_Format(PyExc_TypeError, "held_alone(statements)");
    PyObject *views = PyDict_New(), *buffers = PyDict_New(), *key, *times;  /* how often each is held */
    int failed = !views || !buffers;
    long long bytes = 0;
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(statements); i++) {
        Statement *statement = (Statement *)PyList_GET_ITEM(statements, i);
        if (Py_TYPE(statement) != &StatementType)
            continue;
        for (Py_ssize_t k = 0; !failed && k < PyTuple_GET_SIZE(statement->operands); k++) {
            PyObject *operand = PyTuple_GET_ITEM(statement->operands, k), *address;
            if (!PyObject_TypeCheck(operand, &ViewType) || ((View *)operand)->buffer->memory == Py_None)
                continue;
            failed = !(address = PyLong_FromVoidPtr(operand)) || count_one(views, address) < 0;
            Py_XDECREF(address);
        }
    }
    for (Py_ssize_t at = 0; !failed && PyDict_Next(views, &at, &key, &times);) {
        View *view = PyLong_AsVoidPtr(key);
        if (Py_REFCNT(view) == PyLong_AsSsize_t(times))
            failed = count_one(buffers, (PyObject *)view->buffer) < 0;
    }
    for (Py_ssize_t at = 0; !failed && PyDict_Next(buffers, &at, &key, &times);)
        if (Py_REFCNT(key) == PyLong_AsSsize_t(times) + 1 && PyArray_Check(((Buffer *)key)->memory))
            bytes += PyArray_NBYTES((PyArrayObject *)((Buffer *)key)->memory);
    Py_XDECREF(views);
    Py_XDECREF(buffers);
    return failed ? NULL : PyLong_FromLongLong(bytes);
}

/* ------------------------------------------------------------------ what they are */

/* Lists of a `Gathered`, the numbers of buffers, and the operations whose operands may be stretched. */
typedef struct {
    PyObject *lines, *sites, *buffers, *inputs, *scalars, *numbers, *stretching, *picking, *created;
} Gathering;

/* The number of a buffer, which is an input if it has none. Borrowed. */
static PyObject *number_of(const Gathering *to, PyObject *buffer)
{
    PyObject *found = PyDict_GetItemWithError(to->numbers, buffer);
    if (found || PyErr_Occurred())
        return found;
    PyObject *number = PyLong_FromSsize_t(PyList_GET_SIZE(to->buffers));
    int failed = !number || PyDict_SetItem(to->numbers, buffer, number) < 0 || PyList_Append(to->buffers, buffer) < 0
        || PyList_Append(to->inputs, buffer) < 0;
    Py_XDECREF(number);  /* which the numbers hold */
    return failed ? NULL : number;
}

static int add_all(PyObject *list, PyObject *items)
{
    Py_ssize_t size = PyList_GET_SIZE(list);
    return PyTuple_GET_SIZE(items) ? PyList_SetSlice(list, size, size, items) : 0;
}

/* The structure of a path; its numbers go to the arguments. */
static PyObject *form_of_path(const Gathering *to, PyObject *path)
{
    PyObject *out = PyTuple_New(PyTuple_GET_SIZE(path));
    for (Py_ssize_t i = 0; out && i < PyTuple_GET_SIZE(path); i++) {
        PyObject *step = PyTuple_GET_ITEM(path, i), *form, *numbers;
        if (Py_TYPE(step) == &IndexType) {
            form = index_form((Index *)step, NULL);
            numbers = index_numbers((Index *)step, NULL);
        } else {
            form = PyObject_GetAttrString(step, "form");
            numbers = form ? PyObject_GetAttrString(step, "numbers") : NULL;
        }
        if (form)
            PyTuple_SET_ITEM(out, i, form);
        if (!form || !numbers || !PyTuple_CheckExact(numbers) || add_all(to->scalars, numbers) < 0)
            Py_CLEAR(out);
        Py_XDECREF(numbers);
    }
    return out;
}

static int is_one(PyObject *extent)
{
    return PyLong_AsSsize_t(extent) == 1;
}

/* Which axes of an operand have one element where the result has another number. */
static PyObject *stretch_of(const Gathering *to, PyObject *shape, const Statement *statement)
{
    PyObject *whole = statement->shape, *out = NULL;
    Py_ssize_t rank = PyTuple_GET_SIZE(shape), more = PyTuple_GET_SIZE(whole) - rank;
    int is_any = 0;
    if (shape == whole || !PySequence_Contains(to->stretching, (PyObject *)Py_TYPE(statement->operation)))
        return PyTuple_New(0);
    for (Py_ssize_t i = 0; i < rank && more >= 0; i++)
        is_any |= is_one(PyTuple_GET_ITEM(shape, i)) && !is_one(PyTuple_GET_ITEM(whole, more + i));
    out = PyTuple_New(is_any ? rank : 0);
    for (Py_ssize_t i = 0; out && i < PyTuple_GET_SIZE(out); i++)
        PyTuple_SET_ITEM(out, i, PyBool_FromLong(is_one(PyTuple_GET_ITEM(shape, i))
                                                 && !is_one(PyTuple_GET_ITEM(whole, more + i))));
    return out;
}

static PyObject *form_of_view(const Gathering *to, PyObject *number, PyObject *path, PyObject *shape,
                              const Statement *statement)
{
    PyObject *stretched = stretch_of(to, shape, statement), *out = NULL;
    if (stretched && !PyTuple_GET_SIZE(path) && !PyTuple_GET_SIZE(stretched))
        out = Py_NewRef(number);
    else if (stretched) {
        PyObject *steps = form_of_path(to, path);
        out = steps ? PyTuple_Pack(3, number, steps, stretched) : NULL;
        Py_XDECREF(steps);
    }
    Py_XDECREF(stretched);
    return out;
}

static PyObject *form_of_operand(const Gathering *to, PyObject *operand, PyObject *target, const Statement *statement)
{
    if (PyObject_TypeCheck(operand, &ViewType)) {
        View *view = (View *)operand;
        PyObject *number = number_of(to, (PyObject *)view->buffer);
        return number ? form_of_view(to, number, view->path, view->shape, statement) : NULL;
    }
    if (Py_TYPE(operand) == &OwnType) {
        PyObject *number = number_of(to, target);
        return number ? form_of_view(to, number, ((Own *)operand)->path, ((Own *)operand)->shape, statement) : NULL;
    }
    return PyList_Append(to->scalars, operand) < 0 ? NULL : Py_NewRef(word_number);
}

static int add_line_of(const Gathering *to, const Statement *statement, PyObject *target)
{
    Py_ssize_t count = PyTuple_GET_SIZE(statement->operands);
    PyObject *forms = PyTuple_New(count), *path = NULL, *number = NULL, *line = NULL;
    for (Py_ssize_t i = 0; forms && i < count; i++) {
        PyObject *form = form_of_operand(to, PyTuple_GET_ITEM(statement->operands, i), target, statement);
        if (form)
            PyTuple_SET_ITEM(forms, i, form);
        else
            Py_CLEAR(forms);
    }
    if (forms && statement->path == Py_None) {
        path = Py_NewRef(Py_None);
        number = PyLong_FromSsize_t(PyList_GET_SIZE(to->buffers));
        if (number && (PyDict_SetItem(to->numbers, target, number) < 0 || PyList_Append(to->buffers, statement->target) < 0))
            Py_CLEAR(number);
    } else if (forms && (path = form_of_path(to, statement->path)))
        number = Py_XNewRef(number_of(to, target));
    if (number)
        line = PyTuple_Pack(4, statement->operation, forms, number, path);
    int failed = !line || PyList_Append(to->lines, line) < 0 || PyList_Append(to->sites, statement->site) < 0;
    Py_XDECREF(forms);
    Py_XDECREF(path);
    Py_XDECREF(number);
    Py_XDECREF(line);
    return failed ? -1 : 0;
}

/* The elements that a statement computes, or looks at, if these are more: a sum is one number. */
static Py_ssize_t work_of(const Gathering *to, const Statement *statement)
{
    Py_ssize_t most = size_of(statement->shape);
    int picks = PySequence_Contains(to->picking, (PyObject *)Py_TYPE(statement->operation));
    for (Py_ssize_t i = 0; !picks && i < PyTuple_GET_SIZE(statement->operands); i++) {
        PyObject *operand = PyTuple_GET_ITEM(statement->operands, i);
        PyObject *shape = PyObject_TypeCheck(operand, &ViewType) ? ((View *)operand)->shape
            : Py_TYPE(operand) == &OwnType                      ? ((Own *)operand)->shape
                                                                : NULL;
        Py_ssize_t size = shape && shape != statement->shape ? size_of(shape) : 0;
        most = size > most ? size : most;
    }
    return most;
}

/* add_lines(lines, sites, buffers, inputs, scalars, numbers, stretching, picking, created, statements, at): adds lines for the
 * statements from the one at `at`, up to one that is no plain statement, or creates an array (its operation's class is
 * `created`). The number of that one, and the elements computed or looked at. */
static PyObject *add_lines(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    for (int i = 0; i < 5; i++)
        if (count != 11 || !PyList_CheckExact(args[i]) || !PyDict_CheckExact(args[5]) || !PyList_CheckExact(args[9]))
            return PyErr_Format(PyExc_TypeError, "add_lines: five lists, a dict, classes, a class, statements, and a number");
    Gathering to = {args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7], args[8]};
    PyObject *statements = args[9];
    Py_ssize_t at = PyLong_AsSsize_t(args[10]), work = 0;
    for (; at >= 0 && at < PyList_GET_SIZE(statements); at++) {
        Statement *statement = (Statement *)PyList_GET_ITEM(statements, at);
        if (Py_TYPE(statement) != &StatementType || (PyObject *)Py_TYPE(statement->operation) == to.created)
            break;
        PyObject *target = Py_NewRef(PyWeakref_GET_OBJECT(statement->target));
        int failed = target == Py_None;
        if (failed)
            PyErr_SetString(PyExc_AssertionError, "a dead statement was to run");
        failed = failed || add_line_of(&to, statement, target) < 0;
        Py_DECREF(target);
        if (failed)
            return NULL;
        Py_ssize_t size = work_of(&to, statement);
        work = size > PY_SSIZE_T_MAX - work ? PY_SSIZE_T_MAX : work + size;
    }
    return PyErr_Occurred() ? NULL : Py_BuildValue("nn", at, work);
}

#endif
