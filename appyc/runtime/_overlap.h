/* Whether the arrays of a call share memory as a kernel expects it: apart, the same elements, or parts of one box
 * (appyc/runtime/shared_views.py). Part of _dispatch.c, which alone includes it.
 */
#ifndef APPYC_OVERLAP_H
#define APPYC_OVERLAP_H

#include "_frame.h"

/* Whether two arrays of one type have the same elements at the same addresses. */
static int are_one(PyArrayObject *a, PyArrayObject *b)
{
    if (PyArray_DATA(a) != PyArray_DATA(b) || PyArray_NDIM(a) != PyArray_NDIM(b))
        return 0;
    for (int i = 0; i < PyArray_NDIM(a); i++)
        if (PyArray_DIM(a, i) != PyArray_DIM(b, i) || PyArray_STRIDE(a, i) != PyArray_STRIDE(b, i))
            return 0;
    return 1;
}

/* Whether the arrays that the kernel takes for one are one. */
static int shares_as_expected(const Specialisation *s, PyObject **leaves)
{
    int leaf = 0;
    for (int i = 0; i < s->argument_count; i++) {
        const Argument *a = &s->arguments[i];
        if (a->kind >= NONE)
            continue;
        if (a->kind == ARRAY && a->same != leaf
            && !are_one((PyArrayObject *)leaves[leaf], (PyArrayObject *)leaves[a->same]))
            return 0;
        leaf++;
    }
    return 1;
}

typedef struct {
    uintptr_t lo, hi;  /* the bytes from the first to one past the last element */
    int written;
    PyArrayObject *array;
} Range;

static Range range_between(uintptr_t at, int axes, const npy_intp *shape, const npy_intp *strides, npy_intp item)
{
    Range r = {at, at, 0, NULL};
    for (int i = 0; i < axes; i++) {
        npy_intp reach = (shape[i] - 1) * strides[i];
        if (reach < 0)
            r.lo += (uintptr_t)reach;
        else
            r.hi += (uintptr_t)reach;
    }
    r.hi += (uintptr_t)item;
    return r;
}

/* Of an array with elements. */
static Range range_of(PyArrayObject *array)
{
    Range r = range_between((uintptr_t)PyArray_DATA(array), PyArray_NDIM(array), PyArray_DIMS(array),
                            PyArray_STRIDES(array), PyArray_ITEMSIZE(array));
    r.array = array;
    return r;
}

/* Whether two indices may reach the same byte: sorted by stride, each axis must step over
 * all that the smaller ones reach. */
static int may_meet_itself(int axes, const npy_intp *shape, const npy_intp *steps, npy_intp covered)
{
    npy_intp strides[NPY_MAXDIMS], reaches[NPY_MAXDIMS];
    int count = 0;
    for (int i = 0; i < axes; i++) {
        npy_intp stride = steps[i] < 0 ? -steps[i] : steps[i];
        int at = count;
        if (shape[i] == 1)
            continue;
        for (; at > 0 && strides[at - 1] > stride; at--) {
            strides[at] = strides[at - 1];
            reaches[at] = reaches[at - 1];
        }
        strides[at] = stride;
        reaches[at] = stride * (shape[i] - 1);
        count++;
    }
    for (int i = 0; i < count; i++) {
        if (strides[i] < covered)
            return 1;
        covered += reaches[i];
    }
    return 0;
}

static int may_overlap_itself(PyArrayObject *array)
{
    return PyArray_SIZE(array) != 0 && may_meet_itself(PyArray_NDIM(array), PyArray_DIMS(array), PyArray_STRIDES(array),
                                                       PyArray_ITEMSIZE(array));
}

static int by_address(const void *one, const void *other)
{
    uintptr_t a = ((const Range *)one)->lo, b = ((const Range *)other)->lo;
    return (a > b) - (a < b);
}

/* Whether one of the ranges that are written meets another one. Sorted by where they begin, each is compared with the
 * furthest end of those before it. */
static int may_meet(Range *ranges, int count)
{
    uintptr_t end = 0, written_end = 0;
    if (count > STACK_LEAVES)
        qsort(ranges, (size_t)count, sizeof *ranges, by_address);
    for (int i = 1; count <= STACK_LEAVES && i < count; i++) {
        Range r = ranges[i];
        int at = i;
        for (; at > 0 && ranges[at - 1].lo > r.lo; at--)
            ranges[at] = ranges[at - 1];
        ranges[at] = r;
    }
    for (int i = 0; i < count; i++) {
        if (ranges[i].lo < (ranges[i].written ? end : written_end))
            return 1;
        if (ranges[i].hi > end)
            end = ranges[i].hi;
        if (ranges[i].written && ranges[i].hi > written_end)
            written_end = ranges[i].hi;
    }
    return 0;
}

typedef struct {
    npy_intp stride, a, b;  /* and how many steps the arrays reach */
} CommonAxis;

/* The axes that two arrays have in common, the longest strides first and the bytes of an element last; 0 where their
 * strides differ. */
static int common_axes(PyArrayObject *a, PyArrayObject *b, CommonAxis *axes)
{
    int count = 0;
    if (!a || !b || PyArray_NDIM(a) != PyArray_NDIM(b))
        return 0;
    for (int i = 0; i < PyArray_NDIM(a); i++) {
        npy_intp stride = PyArray_STRIDE(a, i);
        CommonAxis axis = {stride < 0 ? -stride : stride, PyArray_DIM(a, i), PyArray_DIM(b, i)};
        int at = count;
        if (axis.a == 1 && axis.b == 1)
            continue;
        if (stride == 0 || (stride != PyArray_STRIDE(b, i) && stride != -PyArray_STRIDE(b, i)))
            return 0;
        for (; at > 0 && axes[at - 1].stride < axis.stride; at--)
            axes[at] = axes[at - 1];
        axes[at] = axis;
        count++;
    }
    axes[count] = (CommonAxis){1, PyArray_ITEMSIZE(a), PyArray_ITEMSIZE(b)};
    return count + 1;
}

/* Whether two arrays are boxes in one grid that have no byte in common: the left and the right columns of a matrix, odd
 * and even elements, real and imaginary parts. Not where that cannot be told by strides. */
static int are_boxes_apart(Range a, Range b)
{
    CommonAxis axes[NPY_MAXDIMS + 1];
    int count = common_axes(a.array, b.array, axes), apart = 0;
    npy_intp rest = (npy_intp)(b.lo - a.lo), most = NPY_MAX_INTP;
    for (int i = 0; i < count; i++) {
        npy_intp stride = axes[i].stride, first = rest / stride;
        if (axes[i].a > most / stride || axes[i].b > most / stride - first)
            return 0;
        apart |= first >= axes[i].a;
        rest -= first * stride;
        most = stride;
    }
    return apart;
}

/* Of ranges sorted by where they begin. */
static int do_meet(const Range *ranges, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count && ranges[j].lo < ranges[i].hi; j++)
            if ((ranges[i].written || ranges[j].written) && !are_boxes_apart(ranges[i], ranges[j]))
                return 1;
    return 0;
}

static int is_contiguous(int layout, int axes, const npy_intp *shape, const npy_intp *strides, npy_intp step)
{
    for (int i = 0; i < axes && layout != LAYOUT_STRIDED; i++) {
        int axis = layout == LAYOUT_C ? axes - 1 - i : i;
        if (shape[axis] != 1 && strides[axis] != step)
            return 0;
        step *= shape[axis];
    }
    return 1;
}

/* Whether arrays are parts of one as a group says; then the box that holds them is put into the frame, and its range
 * into `*range`. */
static int fill_group(const Group *g, PyObject **leaves, int64_t *frame, Range *range)
{
    PyArrayObject *first = (PyArrayObject *)leaves[g->members[0]];
    const npy_intp *strides = PyArray_STRIDES(first), item = PyArray_ITEMSIZE(first);
    npy_intp shape[NPY_MAXDIMS] = {0};
    intptr_t base = (intptr_t)PyArray_DATA(first);
    for (int k = 0; k < g->axes; k++)
        base -= g->members[1 + k] * strides[k];
    for (int m = 0; m < g->count; m++) {
        const int *member = g->members + m * (1 + g->axes);
        PyArrayObject *array = (PyArrayObject *)leaves[member[0]];
        intptr_t at = base;
        for (int k = 0; k < g->axes; k++) {
            npy_intp end = member[1 + k] + PyArray_DIM(array, k);
            if (PyArray_STRIDE(array, k) != strides[k] || PyArray_DIM(array, k) == 0)
                return 0;
            at += member[1 + k] * strides[k];
            shape[k] = end > shape[k] ? end : shape[k];
        }
        if (at != (intptr_t)PyArray_DATA(array))
            return 0;
    }
    if (may_meet_itself(g->axes, shape, strides, item) || !is_contiguous(g->layout, g->axes, shape, strides, item))
        return 0;
    frame[g->slot] = base;
    for (int k = 0; k < g->axes; k++) {
        frame[g->slot + 1 + k] = shape[k];
        frame[g->slot + 1 + g->axes + k] = strides[k];
    }
    *range = range_between((uintptr_t)base, g->axes, shape, strides, item);
    range->written = g->written;
    return 1;
}

/* Whether arrays that a kernel stores into, those of groups among them, may overlap others as it does not expect. The
 * boxes of groups are put into the frame. */
static int may_overlap(const Specialisation *s, PyObject **leaves, int64_t *frame)
{
    Range few[STACK_LEAVES], *ranges = few;
    int leaf = 0, count = 0, found = 0;
    if (s->leaf_count > STACK_LEAVES && !(ranges = PyMem_Malloc((size_t)s->leaf_count * sizeof *ranges)))
        return 1;
    for (int i = 0; i < s->group_count; i++)
        found |= !fill_group(&s->groups[i], leaves, frame, &ranges[count++]);
    for (int i = 0; i < s->argument_count; i++) {
        const Argument *a = &s->arguments[i];
        if (a->kind >= NONE)
            continue;
        PyArrayObject *array = (PyArrayObject *)leaves[leaf];
        if (a->kind == ARRAY && a->written && a->layout == LAYOUT_STRIDED)
            found |= may_overlap_itself(array);
        /* Of arrays that are one, the first stands for all; any of them may be written. */
        if (a->kind == ARRAY && !a->grouped && a->same == leaf && PyArray_SIZE(array) > 0) {
            ranges[count] = range_of(array);
            ranges[count++].written = a->any_written;
        }
        leaf++;
    }
    found = found || (may_meet(ranges, count) && do_meet(ranges, count));
    if (ranges != few)
        PyMem_Free(ranges);
    return found;
}

#endif
