/* Plans of calls: what has been recorded before is recorded again without a look at what it means, for operands of the same
 * types and shapes: see appyc/lazy/call_plans.py. Part of _nodes.c, which alone includes it.
 *
 * An operation is recorded by the function in Python (`slowly`) at first. The second time a plan is made of what that has
 * recorded, for calls with operands of the same types and shapes.
 */
#ifndef APPYC_PLANS_H
#define APPYC_PLANS_H

enum { MOST_OPERANDS = 3, MOST_PARTS = 32, MOST_PLANS = 1 << 12 };

/* ------------------------------------------------------------------ plans */

/* The fields of a plan, which is a `Plan` of appyc/lazy/call_plans.py. */
enum { OPERATION, SHAPE, DTYPE, SAME, CONVERT, TAKEN, LEAST, MOST, NBYTES, IS_NUMBER, PLAN_FIELDS };

static PyObject *plan_part(PyObject *plan, int field)
{
    return PyTuple_GET_ITEM(plan, field);
}

static long long plan_number(PyObject *plan, int field)
{
    return PyLong_AsLongLong(PyTuple_GET_ITEM(plan, field));
}

/* ------------------------------------------------------------------ calls */

/* A new array; the first operand; the first argument, which is no operand; what NumPy alone knows, of which no call is
 * like another. */
enum { MAKES, UPDATES, STORES, RUNS };

/* What bounds the elements of a result: those of each argument, of which it may be a view, of all as they are broadcast,
 * of a product, or the product of the first two arguments, arrays or lengths. */
enum { EACH, BROADCAST, PRODUCT, GROWN };

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *slowly, *planned, *direct, *plain, *finished, *plans, *callers, *attributes, *weak_references;
    PyTypeObject *array_type, *number_type;
    Tally *tally;
    int operands, what, bound, is_swapped, is_by_value;
} Known;

static PyTypeObject KnownType;

/* A call: operands in their order, what it stores into (or NULL), and what it is found by. */
typedef struct {
    PyObject *operands[MOST_OPERANDS], *parts[MOST_PARTS];
    View *target;
    int count, used;
} Request;

static int add_part(Request *request, PyObject *part)
{
    if (request->used == MOST_PARTS)
        return 0;
    request->parts[request->used++] = part;
    return 1;
}

static int is_array(const Known *self, PyObject *value)
{
    return (Py_TYPE(value) == self->array_type || Py_TYPE(value) == self->number_type) && ((View *)value)->is_straight;
}

static int add_operand(const Known *self, Request *request, PyObject *value)
{
    request->operands[request->count++] = value;
    if (is_array(self, value))  /* without axes it may be an array or a number, and so may be what is made of it */
        return add_part(request, ((View *)value)->dtype) && add_part(request, ((View *)value)->shape)
            && (PyTuple_GET_SIZE(((View *)value)->shape) || add_part(request, (PyObject *)Py_TYPE(value)));
    if (is_python_number(value))
        return add_part(request, (PyObject *)Py_TYPE(value)) && (!self->is_by_value || add_part(request, value));
    return PyArray_IsScalar(value, Generic) && add_part(request, (PyObject *)Py_TYPE(value));
}

static int is_tuple_of_integers(PyObject *value)
{
    if (!PyTuple_CheckExact(value))
        return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++)
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(value, i)))
            return 0;
    return 1;
}

/* An argument whose value counts. Those that are equal and not the same are told apart by their types. */
static int add_constant(Request *request, PyObject *value)
{
    if (PyBool_Check(value))
        return add_part(request, (PyObject *)&PyBool_Type) && add_part(request, value);
    if (value == Py_None || PyLong_CheckExact(value) || PyUnicode_CheckExact(value) || PyType_Check(value)
        || PyArray_DescrCheck(value) || is_tuple_of_integers(value))
        return add_part(request, value);
    return 0;
}

static int set_target(const Known *self, Request *request, PyObject *value)
{
    if (Py_TYPE(value) != self->array_type || !((View *)value)->is_straight)
        return 0;
    request->target = (View *)value;
    Buffer *buffer = request->target->buffer;
    return !buffer->lent && PyTuple_GET_SIZE(buffer->shape) > 0;
}

static int is_out_alone(PyObject *keywords)
{
    return PyTuple_GET_SIZE(keywords) == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "out") == 0;
}

/* Fills the request. 0 where a call cannot be told from others by types, shapes and simple values. */
static int read_request(const Known *self, Request *request, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Py_ssize_t at = 0;
    if (self->what != MAKES && (keywords || count != self->operands + (self->what == STORES) || !set_target(self, request, args[0])))
        return 0;
    if (self->what == STORES) {
        at = 1;
        if (!add_part(request, request->target->dtype) || !add_part(request, request->target->shape))
            return 0;
    }
    if (count - at < self->operands)
        return 0;
    for (int i = 0; i < self->operands; i++)
        if (!add_operand(self, request, args[at + (self->is_swapped ? self->operands - 1 - i : i)]))
            return 0;
    for (at += self->operands; at < count; at++)
        if (!add_constant(request, args[at]))
            return 0;
    if (!keywords)
        return 1;
    if (!add_part(request, keywords))
        return 0;
    if (self->operands && count == self->operands && is_out_alone(keywords))
        return set_target(self, request, args[count]) && add_part(request, request->target->dtype)
            && add_part(request, request->target->shape);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keywords); i++)
        if (!add_constant(request, args[count + i]))
            return 0;
    return 1;
}

/* ------------------------------------------------------------------ what was recorded before */

/* The operands as a statement has them: one that shares its target's memory must not keep that alive. */
static PyObject *operands_of(const Known *self, PyObject *plan, const Request *request)
{
    PyObject *same = plan_part(plan, SAME), *convert = plan_part(plan, CONVERT);
    if (same != Py_None)
        return Py_NewRef(same);
    Py_ssize_t taken = (Py_ssize_t)plan_number(plan, TAKEN);
    PyObject *out = PyTuple_New(taken);
    for (Py_ssize_t i = 0; out && i < taken; i++) {
        PyObject *operand = request->operands[i];
        if (is_array(self, operand) && request->target && ((View *)operand)->buffer == request->target->buffer)
            operand = !path_of((View *)operand) ? NULL
                : (PyObject *)new_view(&ViewType, Py_None, ((View *)operand)->path, ((View *)operand)->shape,
                                       ((View *)operand)->dtype);
        else
            operand = convert != Py_None ? PyObject_CallOneArg(convert, operand) : Py_NewRef(operand);
        if (operand)
            PyTuple_SET_ITEM(out, i, operand);
        else
            Py_CLEAR(out);
    }
    return out;
}

/* Whether Python's integers among the operands are in the plan's range. */
static int fits_plan(PyObject *plan, const Request *request)
{
    for (int i = 0; i < request->count; i++) {
        if (!PyLong_CheckExact(request->operands[i]))
            continue;
        int overflow;
        long long value = PyLong_AsLongLongAndOverflow(request->operands[i], &overflow);
        if (overflow || value < plan_number(plan, LEAST) || value > plan_number(plan, MOST))
            return 0;
    }
    return 1;
}

static PyObject *record_store(const Known *self, PyObject *plan, const Request *request, PyObject *site)
{
    View *target = request->target;
    OWNED PyObject *operands = operands_of(self, plan, request);
    OWNED Statement *statement = operands && path_of(target) ? new_statement(plan_part(plan, OPERATION), operands, (PyObject *)target->buffer,
                                                          target->path, plan_part(plan, SHAPE), site)
                                          : NULL;
    if (!statement || PyList_Append(self->tally->statements, (PyObject *)statement) < 0)
        return NULL;
    return Py_NewRef(self->what == STORES ? Py_None : (PyObject *)target);
}

static PyObject *record_new(const Known *self, PyObject *plan, const Request *request, PyObject *site)
{
    OWNED PyObject *operands = operands_of(self, plan, request);
    int is_number = plan_part(plan, IS_NUMBER) == Py_True;
    return operands ? make(is_number ? self->number_type : self->array_type, self->tally->statements,
                           plan_part(plan, OPERATION), operands, plan_part(plan, SHAPE), plan_part(plan, DTYPE), site,
                           is_number)
                    : NULL;
}

static PyObject *caller(PyObject *module, PyObject *folder);

/* What the plan says. NULL without an error where something must run before. */
static PyObject *record_planned(const Known *self, PyObject *plan, const Request *request)
{
    long long nbytes = request->target ? 0 : plan_number(plan, NBYTES);
    if (!fits_plan(plan, request) || (nbytes && self->tally->nbytes + nbytes > self->tally->most_bytes))
        return NULL;
    if (self->what == STORES && is_array(self, request->operands[0]) && is_same_view((View *)request->operands[0], request->target))
        return Py_NewRef(Py_None);  /* `a[i] += x` stores what it changed into itself */
    if ((self->direct == Py_None && is_small(self->tally, size_of(plan_part(plan, SHAPE)))) || is_usual(self->tally) <= 0)
        return NULL;
    OWNED PyObject *site = self->tally->folder ? caller(NULL, self->tally->folder) : NULL;
    if (!site || !has_room(self->tally, site))
        return NULL;
    PyObject *out = (request->target ? record_store : record_new)(self, plan, request, site);
    self->tally->nbytes += out ? nbytes : 0;
    return out;
}

/* ------------------------------------------------------------------ learning */

/* What was recorded last, if that is a statement and no call. */
static Statement *last_statement(const Tally *tally)
{
    PyObject *statements = tally->statements;
    Py_ssize_t count = statements && PyList_CheckExact(statements) ? PyList_GET_SIZE(statements) : 0;
    PyObject *last = count ? PyList_GET_ITEM(statements, count - 1) : NULL;
    return last && Py_TYPE(last) == &StatementType ? (Statement *)last : NULL;
}

static int keep(Known *self, PyObject *key, PyObject *plan)
{
    if (PyDict_GET_SIZE(self->plans) >= MOST_PLANS)
        PyDict_Clear(self->plans);
    return PyDict_SetItem(self->plans, key, plan);
}

/* Keeps the plan for calls like this one that is made of the statement that it recorded, or None. What was computed at once
 * says nothing. -1: an error. */
static int learn(Known *self, const Request *request, PyObject *key, PyObject *result, const Statement *before)
{
    PyObject *last = (PyObject *)last_statement(self->tally);
    if (!last || last == (PyObject *)before)
        return 0;
    PyObject *target = request->target ? (PyObject *)request->target : Py_None;
    OWNED PyObject *operands = tuple_of(request->operands, request->count), *plan = NULL;
    if (operands)
        plan = PyObject_CallFunctionObjArgs(self->planned, target, operands, result, last, NULL);
    if (plan && plan != Py_None && (!PyTuple_Check(plan) || PyTuple_GET_SIZE(plan) != PLAN_FIELDS))
        PyErr_SetString(PyExc_TypeError, "a plan has the fields of call_plans.Plan");
    return !plan || PyErr_Occurred() ? -1 : keep(self, key, plan);
}

/* The call by the function in Python. key: of a call whose plan is made, else NULL. */
static PyObject *slowly(Known *self, const Request *request, PyObject *key, PyObject *const *args, size_t flags,
                        PyObject *keywords)
{
    OWNED Statement *before = (Statement *)Py_XNewRef((PyObject *)last_statement(self->tally));
    PyObject *out = PyObject_Vectorcall(self->slowly, args, flags, keywords);
    if (out && key && learn(self, request, key, out, before) < 0)
        Py_CLEAR(out);
    return out;
}

#endif
