/* What recordings are made of, and the recording of one operation: see appyc/lazy/recorded_nodes.py.
 *
 * None of these objects needs the cyclic garbage collector: a statement holds views, a view its buffer, a
 * buffer its memory, and none of them leads back. Each is freed with its last reference.
 */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>
#include <stddef.h>
#include <structmember.h>

#include "../_owned.h"
#include "_parts.h"
#include "_statements.h"
#include "_indices.h"
#include "_recording.h"
#include "_plain.h"
#include "_views_of_values.h"
#include "_at_once.h"
#include "_plans.h"
#include "_known.h"
#include "_runs.h"

static PyMethodDef view_methods[] = {
    {"_become", (PyCFunction)view_become, METH_O, "Becomes another view: memory, shape and dtype."},
    {"__array_ufunc__", (PyCFunction)(void (*)(void))view_ufunc, METH_FASTCALL | METH_KEYWORDS, "NumPy's protocol of ufuncs."},
    {"reshape", (PyCFunction)(void (*)(void))view_reshape, METH_FASTCALL | METH_KEYWORDS, "The array in another shape."},
    {"ravel", (PyCFunction)(void (*)(void))view_ravel, METH_FASTCALL | METH_KEYWORDS, "The array with one axis."},
    {NULL},
};

/* As in appyc/lazy/recorded_nodes.py: of what this module offers. */
enum { NODES_FORMAT = 19 };

static PyMethodDef module_methods[] = {
    {"indexed", (PyCFunction)(void (*)(void))indexed, METH_FASTCALL, "The view that a basic index leads to, or None."},
    {"basic_items", (PyCFunction)(void (*)(void))basic_items, METH_FASTCALL, "The items of a basic index, all bounds in range."},
    {"viewed", (PyCFunction)(void (*)(void))viewed, METH_FASTCALL, "A view, with what is known of how it lies in memory."},
    {"address", address, METH_O, "Of the first element of NumPy's array."},
    {"caller", caller, METH_O, "Code and instruction of the innermost frame whose file is not below a folder."},
    {"goes_on", (PyCFunction)(void (*)(void))goes_on, METH_FASTCALL, "Whether a call is the next one of the last run, and added."},
    {"comes_round", (PyCFunction)(void (*)(void))comes_round, METH_FASTCALL, "Whether the program is in a loop."},
    {"settled", (PyCFunction)(void (*)(void))settled, METH_FASTCALL, "NumPy's view of an array's memory, if it is settled."},
    {"made", (PyCFunction)(void (*)(void))made, METH_FASTCALL, "A new array, whose statement is appended."},
    {NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "appyc.lazy._nodes",
    .m_doc = "What recordings are made of; see appyc.lazy.recorded_nodes.",
    .m_size = -1,
    .m_methods = module_methods,
};

PyMODINIT_FUNC PyInit__nodes(void)
{
    import_array();
    import_umath();
    ViewType.tp_methods = view_methods;
    PyTypeObject *types[] = {&BufferType, &ViewType, &StatementType, &TallyType,
                             &RunType, &KnownType, &KnownMethodType};
    PyObject *module = PyModule_Create(&module_definition);
    for (size_t i = 0; module && i < sizeof types / sizeof *types; i++)
        if (PyModule_AddType(module, types[i]) < 0)
            Py_CLEAR(module);
    if (module && (!(steps = PyDict_New()) || PyModule_AddObjectRef(module, "steps", steps) < 0))
        Py_CLEAR(module);
    if (module && (!(known_ufuncs = PyDict_New()) || PyModule_AddObjectRef(module, "known_ufuncs", known_ufuncs) < 0))
        Py_CLEAR(module);
    if (module && (!(known_fields = PyDict_New()) || PyModule_AddObjectRef(module, "known_fields", known_fields) < 0))
        Py_CLEAR(module);
    if (module && PyModule_AddIntConstant(module, "FORMAT", NODES_FORMAT) < 0)
        Py_CLEAR(module);
    return module;
}
