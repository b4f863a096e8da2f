/* NumPy's functions that sort vectors of numbers, for compiled code (`c_gen/headers/sorting.h`). */

static struct {
    PyArray_SortFunc *sort;
    PyArray_ArgSortFunc *argsort[2];
} sorts[] = {[10] = {0}};

static PyObject *sorts_address(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    static const int types[] = {NPY_BOOL, NPY_INT8, NPY_UINT8, NPY_INT16, NPY_UINT16, NPY_INT32,
                                NPY_UINT32, NPY_INT64, NPY_UINT64, NPY_FLOAT32, NPY_FLOAT64};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        PyArray_Descr *dtype = PyArray_DescrFromType(types[k]);
        if (!dtype)
            return NULL;
        PyArray_ArrFuncs *found = PyDataType_GetArrFuncs(dtype);
        sorts[k].sort = found->sort[NPY_QUICKSORT];
        sorts[k].argsort[0] = found->argsort[NPY_QUICKSORT];
        sorts[k].argsort[1] = found->argsort[NPY_STABLESORT];
        Py_DECREF(dtype);
    }
    return PyLong_FromVoidPtr(sorts);
}
