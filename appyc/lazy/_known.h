/* Functions of NumPy's. Of small arrays that are there NumPy computes them at once. What has been recorded before is
 * recorded again without a look at what it means, for operands of the same types and shapes. Part of _nodes.c, which
 * alone includes it.
 *
 * The first time an operation is recorded by the function in Python (`slowly`), whose last statement is then looked
 * at: where it has the operands of the call, the same will do for each call with operands of the same types and
 * shapes. Nothing else that `slowly` looks at may decide of what it records, but for what is part of the key.
 */
#ifndef APPYC_KNOWN_H
#define APPYC_KNOWN_H

enum { MOST_OPERANDS = 3, MOST_ARGUMENTS = 12, MOST_PARTS = 32, MOST_PLANS = 1 << 12 };

/* ------------------------------------------------------------------ plans */

typedef struct {
    PyObject_HEAD
    PyObject *operation, *shape, *dtype;
    PyObject *operands;     /* where they are the same each time, else NULL */
    PyObject *convert;      /* called on a number that is stored, or NULL */
    Py_ssize_t taken;       /* how many of the call's operands the statement has */
    long long least, most;  /* of Python's integers among them */
    long long nbytes;       /* of the result */
    char is_number;         /* whether the result is NumPy's scalar */
} Plan;

static PyMemberDef plan_members[] = {
    {"operation", T_OBJECT_EX, offsetof(Plan, operation), READONLY, NULL},
    {"shape", T_OBJECT_EX, offsetof(Plan, shape), READONLY, NULL},
    {"dtype", T_OBJECT_EX, offsetof(Plan, dtype), READONLY, NULL},
    {"operands", T_OBJECT_EX, offsetof(Plan, operands), READONLY, NULL},
    {"convert", T_OBJECT_EX, offsetof(Plan, convert), READONLY, NULL},
    {NULL},
};

static PyTypeObject PlanType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.Plan",
    .tp_doc = "What is recorded for a call.",
    .tp_basicsize = sizeof(Plan),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = parts_dealloc,
    .tp_members = plan_members,
};

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
    PyObject *slowly, *direct, *finished, *plans, *attributes, *weak_references;
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

static PyObject *key_of(const Request *request)
{
    PyObject *key = PyTuple_New(request->used);
    for (int i = 0; key && i < request->used; i++)
        PyTuple_SET_ITEM(key, i, Py_NewRef(request->parts[i]));
    return key;
}

/* ------------------------------------------------------------------ what was recorded before */

/* The operands as a statement has them: one that shares its target's memory must not keep that alive. */
static PyObject *operands_of(const Known *self, const Plan *plan, const Request *request)
{
    if (plan->operands)
        return Py_NewRef(plan->operands);
    PyObject *out = PyTuple_New(plan->taken);
    for (Py_ssize_t i = 0; out && i < plan->taken; i++) {
        PyObject *operand = request->operands[i];
        if (is_array(self, operand) && request->target && ((View *)operand)->buffer == request->target->buffer)
            operand = (PyObject *)new_view(&ViewType, Py_None, ((View *)operand)->path, ((View *)operand)->shape,
                                           ((View *)operand)->dtype);
        else
            operand = plan->convert ? PyObject_CallOneArg(plan->convert, operand) : Py_NewRef(operand);
        if (operand)
            PyTuple_SET_ITEM(out, i, operand);
        else
            Py_CLEAR(out);
    }
    return out;
}

/* Whether Python's integers among the operands are in the plan's range. */
static int fits_plan(const Plan *plan, const Request *request)
{
    for (int i = 0; i < request->count; i++) {
        if (!PyLong_CheckExact(request->operands[i]))
            continue;
        int overflow;
        long long value = PyLong_AsLongLongAndOverflow(request->operands[i], &overflow);
        if (overflow || value < plan->least || value > plan->most)
            return 0;
    }
    return 1;
}

static PyObject *record_store(const Known *self, const Plan *plan, const Request *request, PyObject *site)
{
    View *target = request->target;
    PyObject *operands = operands_of(self, plan, request);
    Statement *statement = operands ? new_statement(plan->operation, operands, (PyObject *)target->buffer, target->path,
                                                    plan->shape, site)
                                    : NULL;
    int failed = !statement || PyList_Append(self->tally->statements, (PyObject *)statement) < 0;
    Py_XDECREF(operands);
    Py_XDECREF(statement);
    return failed ? NULL : Py_NewRef(self->what == STORES ? Py_None : (PyObject *)target);
}

static PyObject *record_new(const Known *self, const Plan *plan, const Request *request, PyObject *site)
{
    PyObject *operands = operands_of(self, plan, request);
    PyObject *out = operands ? make(plan->is_number ? self->number_type : self->array_type, self->tally->statements,
                                    plan->operation, operands, plan->shape, plan->dtype, site, plan->is_number)
                             : NULL;
    Py_XDECREF(operands);
    if (out)
        self->tally->nbytes += plan->nbytes;
    return out;
}

static PyObject *caller(PyObject *module, PyObject *folder);

/* What the plan says. NULL without an error where something must run before. */
static PyObject *record_planned(const Known *self, const Plan *plan, const Request *request)
{
    if (!fits_plan(plan, request) || (!request->target && self->tally->nbytes + plan->nbytes > self->tally->most_bytes))
        return NULL;
    if (self->what == STORES && is_array(self, request->operands[0]) && is_same_view(request->operands[0], request->target))
        return Py_NewRef(Py_None);  /* `a[i] += x` stores what it changed into itself */
    if ((self->direct == Py_None && is_small(self->tally, size_of(plan->shape))) || is_usual(self->tally) <= 0)
        return NULL;
    PyObject *site = self->tally->folder ? caller(NULL, self->tally->folder) : NULL, *out = NULL;
    if (site && has_room(self->tally, site))
        out = request->target ? record_store(self, plan, request, site) : record_new(self, plan, request, site);
    Py_XDECREF(site);
    return out;
}

/* ------------------------------------------------------------------ learning */

static void narrow(Plan *plan, PyArray_Descr *dtype)
{
    if (dtype->kind != 'i' && dtype->kind != 'u')
        return;
    long long bits = 8 * (long long)PyDataType_ELSIZE(dtype);
    long long most = bits == 64 ? LLONG_MAX : (1LL << (dtype->kind == 'i' ? bits - 1 : bits)) - 1;
    long long least = dtype->kind == 'u' ? 0 : -most - 1;
    plan->least = plan->least > least ? plan->least : least;
    plan->most = plan->most < most ? plan->most : most;
}

static void narrow_by(const Known *self, Plan *plan, const Request *request)
{
    plan->least = LLONG_MIN;
    plan->most = LLONG_MAX;
    if (request->target)
        narrow(plan, (PyArray_Descr *)request->target->dtype);
    for (int i = 0; i < request->count; i++) {
        if (is_array(self, request->operands[i]))
            narrow(plan, (PyArray_Descr *)((View *)request->operands[i])->dtype);
        else if (!is_python_number(request->operands[i])) {
            PyArray_Descr *dtype = PyArray_DescrFromScalar(request->operands[i]);
            if (dtype)
                narrow(plan, dtype);
            Py_XDECREF(dtype);
        }
    }
}

/* Whether a statement's operand is the call's, as it is or as `operands_of` makes it. */
static int is_operand(const Known *self, Plan *plan, const Request *request, PyObject *given, PyObject *found)
{
    if (given == found)
        return 1;
    if (Py_TYPE(found) == &ViewType)
        return request->target && is_array(self, given) && ((View *)given)->buffer == request->target->buffer
            && ((View *)found)->path == ((View *)given)->path;
    if (self->what != STORES || (!PyFloat_CheckExact(given) && !PyLong_CheckExact(given)))
        return 0;
    PyArray_Descr *dtype = (PyArray_Descr *)request->target->dtype;
    PyObject *type = (PyObject *)dtype->typeobj;
    if ((PyObject *)Py_TYPE(found) != type || (dtype->kind != 'f' && !(dtype->kind == 'i' && PyLong_CheckExact(given))))
        return 0;
    plan->convert = Py_XNewRef(type);
    return 1;
}

/* Whether the call's operands only say which type and shape is meant, as that of `zeros_like` does. */
static int is_made_of_types(const Known *self, const Request *request, PyObject *found)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(found); i++)
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(found, i)))  /* lengths; another number may come of the operands' values */
            return 0;
    for (int i = 0; i < request->count; i++)
        if (!is_array(self, request->operands[i]))
            return 0;
    return 1;
}

static int takes_operands(const Known *self, Plan *plan, const Request *request, PyObject *found)
{
    plan->taken = PyTuple_GET_SIZE(found);
    if (is_made_of_types(self, request, found)) {
        plan->operands = Py_NewRef(found);
        return 1;
    }
    if (plan->taken != request->count && !(self->is_by_value && 0 < plan->taken && plan->taken < request->count))
        return 0;
    for (Py_ssize_t i = 0; i < request->count; i++) {
        PyObject *given = request->operands[i];
        if (i >= plan->taken ? !is_python_number(given)
                             : !is_operand(self, plan, request, given, PyTuple_GET_ITEM(found, i)))
            return 0;
    }
    return 1;
}

/* Whether the statement is what the call recorded. */
static int is_of(const Known *self, const Request *request, const Statement *statement, PyObject *result)
{
    PyObject *target = PyWeakref_GET_OBJECT(statement->target);
    if (request->target)
        return target == (PyObject *)request->target->buffer && statement->path == request->target->path;
    if (Py_TYPE(result) != self->array_type && Py_TYPE(result) != self->number_type)
        return 0;
    View *view = (View *)result;
    return statement->path == Py_None && target == (PyObject *)view->buffer && PyTuple_GET_SIZE(view->path) == 0
        && view->shape == statement->shape;
}

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

/* Keeps the statement that a call recorded as the plan for calls like this one, where there is nothing else to it, or
 * that there is none. What was computed at once says nothing. -1: an error. */
static int learn(Known *self, const Request *request, PyObject *key, PyObject *result, const Statement *before)
{
    Statement *last = last_statement(self->tally);
    if (!last || last == before)
        return 0;
    if (!is_of(self, request, last, result))
        return keep(self, key, Py_None);
    Plan *plan = PyObject_New(Plan, &PlanType);
    if (!plan)
        return -1;
    plan->operands = plan->convert = NULL;
    plan->operation = Py_NewRef(last->operation);
    plan->shape = Py_NewRef(last->shape);
    plan->dtype = Py_NewRef(request->target ? request->target->dtype : ((View *)result)->dtype);
    plan->is_number = Py_TYPE(result) != self->array_type;
    plan->nbytes = PyDataType_ELSIZE((PyArray_Descr *)plan->dtype);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(plan->shape); i++)
        plan->nbytes *= PyLong_AsLongLong(PyTuple_GET_ITEM(plan->shape, i));
    narrow_by(self, plan, request);
    int failed = keep(self, key, takes_operands(self, plan, request, last->operands) ? (PyObject *)plan : Py_None) < 0;
    Py_DECREF(plan);
    return failed || PyErr_Occurred() ? -1 : 0;
}

/* The call by the function in Python. key: of a call that may be learnt from, else NULL. */
static PyObject *slowly(Known *self, const Request *request, PyObject *key, PyObject *const *args, size_t flags,
                        PyObject *keywords)
{
    Statement *before = (Statement *)Py_XNewRef((PyObject *)last_statement(self->tally));
    PyObject *out = PyObject_Vectorcall(self->slowly, args, flags, keywords);
    if (out && key && learn(self, request, key, out, before) < 0)
        Py_CLEAR(out);
    Py_XDECREF(before);
    return out;
}

/* ------------------------------------------------------------------ at once */

/* A bound on the elements of what is computed element by element. */
static Py_ssize_t size_of_all(PyObject *const *args, Py_ssize_t count)
{
    PyObject *shape = NULL;
    Py_ssize_t size = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyObject_TypeCheck(args[i], &ViewType) && !PyArray_Check(args[i]))
            continue;
        PyObject *other = PyArray_Check(args[i]) ? NULL : ((View *)args[i])->shape;
        if (shape && other && (shape == other || PyObject_RichCompareBool(shape, other, Py_EQ) == 1))
            continue;
        Py_ssize_t more = other ? size_of(other) : PyArray_SIZE((PyArrayObject *)args[i]);
        size = times(size, more);
        shape = shape ? shape : other;
    }
    return size;
}

/* The elements of a product of two arrays, or a number that is more than any bound. */
static Py_ssize_t size_of_product(PyObject *const *args, Py_ssize_t count)
{
    Py_ssize_t size = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyObject_TypeCheck(args[i], &ViewType))
            return PY_SSIZE_T_MAX;
        PyObject *shape = ((View *)args[i])->shape;
        Py_ssize_t rank = PyTuple_GET_SIZE(shape), at = i == 0 || rank < 2 ? rank - 1 : rank - 2;
        Py_ssize_t summed = rank == 1 || rank == 2 ? PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, at)) : 0;
        if (!summed)
            return PY_SSIZE_T_MAX;
        size *= size_of(shape) / summed;
    }
    return size;
}

/* The elements of an array, or a length or shape. */
static Py_ssize_t extent_of(PyObject *value)
{
    if (PyObject_TypeCheck(value, &ViewType))
        return size_of(((View *)value)->shape);
    if (PyArray_Check(value))
        return PyArray_SIZE((PyArrayObject *)value);
    if (is_tuple_of_integers(value))
        return size_of(value);
    int overflow;
    long long length = PyLong_CheckExact(value) ? PyLong_AsLongLongAndOverflow(value, &overflow) : 1;
    return length < 0 || PyList_Check(value) || PyTuple_Check(value) ? PY_SSIZE_T_MAX : length;
}

/* Whether the result is known to be small, where each argument is. */
static int is_bounded(const Known *self, const Tally *tally, PyObject *const *args, Py_ssize_t count)
{
    switch (self->bound) {
    case BROADCAST:
        return is_small(tally, size_of_all(args, count));
    case PRODUCT:
        return count == 2 && is_small(tally, size_of_product(args, count));
    case GROWN:
        return count && is_small(tally, times(extent_of(args[0]), count > 1 ? extent_of(args[1]) : 1));
    default:
        return 1;
    }
}

/* What NumPy gives for the call. NULL without an error where it takes more to tell, or something must run before. */
static PyObject *call_directly(const Known *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Py_ssize_t all = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0), done = 0;
    int writes = self->what == RUNS || (self->what == MAKES && all > self->operands);
    int is_first_written = self->what == UPDATES || self->what == STORES;
    PyObject *given[MOST_ARGUMENTS], *out = NULL;
    Tally tally = tally_for(self->tally, args, count);
    if (self->direct == Py_None || tally.at_once <= 0 || all > MOST_ARGUMENTS
        || (is_first_written && (keywords || all != 2 || Py_TYPE(args[0]) != self->array_type))
        || !is_bounded(self, &tally, args, count))
        return NULL;
    while (done < all && (given[done] = plain_argument(&tally, args[done], 3, writes || (is_first_written && done == 0))))
        done++;
    if (done == all && (Py_TYPE(self->direct) != &PyMethodDescr_Type || (count && PyArray_Check(given[0])))) {
        PyObject *swapped[] = {all > 1 ? given[1] : NULL, all ? given[0] : NULL};
        out = PyObject_Vectorcall(self->direct, self->is_swapped ? swapped : given, (size_t)count, keywords);
        out = finish(self->array_type, self->finished, out, args, given, all, self->bound == EACH);
    }
    while (done--)
        Py_DECREF(given[done]);
    return out;
}

static PyObject *known_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Known *self = (Known *)callable;
    Request request;
    PyObject *out = call_directly(self, args, PyVectorcall_NARGS(flags), keywords);
    if (out || PyErr_Occurred())
        return out;
    request.target = NULL;
    request.count = request.used = 0;
    if (keywords && PyTuple_GET_SIZE(keywords) == 0)
        keywords = NULL;
    if (self->what == RUNS || !read_request(self, &request, args, PyVectorcall_NARGS(flags), keywords))
        return PyObject_Vectorcall(self->slowly, args, flags, keywords);
    PyObject *key = key_of(&request);
    Plan *plan = key ? (Plan *)PyDict_GetItemWithError(self->plans, key) : NULL;
    if (plan && Py_TYPE(plan) == &PlanType) {
        Py_INCREF(plan);  /* what is recorded may free things, and that may run anything */
        out = record_planned(self, plan, &request);
        Py_DECREF(plan);
    }
    if (!out && !PyErr_Occurred())
        out = slowly(self, &request, plan ? NULL : key, args, flags, keywords);
    Py_XDECREF(key);
    return out;
}

/* ------------------------------------------------------------------ the type */

/* Which of the names it is; -1 where it is none. */
static int number_of(const char *name, const char *const *names, int count)
{
    while (count-- && strcmp(name, names[count]) != 0)
        ;
    return count;
}

static PyObject *known_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"slowly", "tally", "array_type", "number_type", "finished", "operands", "what", "bound",
                            "swapped", "by_value", "direct", NULL};
    static const char *const kinds[] = {"makes", "updates", "stores", "runs"};
    static const char *const bounds[] = {"each", "broadcast", "product", "grown"};
    PyObject *slowly, *tally, *array_type, *number_type, *finished, *direct = Py_None;
    const char *what = "makes", *bound = "each";
    int operands, is_swapped = 0, is_by_value = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO!O!O!Oi|$ssppO:Known", names, &slowly, &TallyType, &tally,
                                     &PyType_Type, &array_type, &PyType_Type, &number_type, &finished, &operands, &what,
                                     &bound, &is_swapped, &is_by_value, &direct))
        return NULL;
    int kind = number_of(what, kinds, 4), bounded = number_of(bound, bounds, 4);
    if (kind < 0 || bounded < 0 || operands < 0 || operands > MOST_OPERANDS
        || !PyType_IsSubtype((PyTypeObject *)array_type, &ViewType) || !PyType_IsSubtype((PyTypeObject *)number_type, &ViewType))
        return PyErr_Format(PyExc_ValueError, "Known of %i operands that %s", operands, what);
    Known *self = (Known *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->vectorcall = known_call;
    self->slowly = Py_NewRef(slowly);
    self->direct = Py_NewRef(direct);
    self->finished = Py_NewRef(finished);
    self->tally = (Tally *)Py_NewRef(tally);
    self->array_type = (PyTypeObject *)Py_NewRef(array_type);
    self->number_type = (PyTypeObject *)Py_NewRef(number_type);
    self->operands = operands;
    self->what = kind;
    self->bound = bounded;
    self->is_swapped = is_swapped;
    self->is_by_value = is_by_value;
    if (!(self->plans = PyDict_New()))
        Py_CLEAR(self);
    return (PyObject *)self;
}

/* A function of NumPy's looks like that. */
static PyObject *known_repr(Known *self)
{
    PyObject *of = PyObject_GetAttrString((PyObject *)self, "__wrapped__"), *out;
    if (!of)
        PyErr_Clear();
    out = PyObject_Repr(of ? of : self->slowly);
    Py_XDECREF(of);
    return out;
}

/* NumPy's own function, or the object itself where there is none. */
static PyObject *plain_function(PyObject *self)
{
    PyObject *of = PyObject_GetAttrString(self, "__appyc_plain__");
    if (!of)
        PyErr_Clear();
    return of ? of : Py_NewRef(self);
}

/* Equal to NumPy's own, which `__array_function__` and `__array_ufunc__` of other classes are given. */
static PyObject *known_compare(PyObject *self, PyObject *other, int how)
{
    PyObject *of = plain_function(self);
    int is_same = of == other;
    Py_DECREF(of);
    if (!is_same || (how != Py_EQ && how != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong(how == Py_EQ);
}

static Py_hash_t known_hash(PyObject *self)
{
    PyObject *of = plain_function(self);
    Py_hash_t hash = of == self ? _Py_HashPointer(self) : PyObject_Hash(of);
    Py_DECREF(of);
    return hash;
}

static PyObject *known_get(PyObject *self, PyObject *object, PyObject *Py_UNUSED(type))
{
    return !object || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

static PyMemberDef known_members[] = {
    {"slowly", T_OBJECT_EX, offsetof(Known, slowly), READONLY, NULL},
    {"plans", T_OBJECT_EX, offsetof(Known, plans), READONLY, NULL},
    {"_direct", T_OBJECT_EX, offsetof(Known, direct), READONLY, NULL},
    {"_finished", T_OBJECT_EX, offsetof(Known, finished), READONLY, NULL},
    {"_attributes", T_OBJECT_EX, offsetof(Known, attributes), READONLY, NULL},
    {"_array_type", T_OBJECT_EX, offsetof(Known, array_type), READONLY, NULL},
    {"_number_type", T_OBJECT_EX, offsetof(Known, number_type), READONLY, NULL},
    {"_tally", T_OBJECT_EX, offsetof(Known, tally), READONLY, NULL},
    {NULL},
};

static PyGetSetDef known_properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL},
};

static PyTypeObject KnownType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.Known",
    .tp_doc = "A function that records again what it has recorded before, without a look at what it means.",
    .tp_basicsize = sizeof(Known),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = known_new,
    .tp_dealloc = parts_dealloc,
    .tp_call = PyVectorcall_Call,
    .tp_repr = (reprfunc)known_repr,
    .tp_richcompare = known_compare,
    .tp_hash = known_hash,
    .tp_vectorcall_offset = offsetof(Known, vectorcall),
    .tp_dictoffset = offsetof(Known, attributes),
    .tp_weaklistoffset = offsetof(Known, weak_references),
    .tp_members = known_members,
    .tp_methods = function_methods,
    .tp_getset = known_properties,
};

static PyTypeObject KnownMethodType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "appyc.lazy._nodes.KnownMethod",
    .tp_doc = "One that is a method, too, where it stands in a class.",
    .tp_base = &KnownType,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_descr_get = known_get,
};

#endif
