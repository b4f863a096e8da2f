/* Whether the arrays of a call share memory as a kernel expects it: apart, the same elements, or parts of one box
 * (appyc/runtime/shared_views.py). Part of _dispatch.c, which alone includes it.
 */
#ifndef APPYC_OVERLAP_H
#define APPYC_OVERLAP_H

#include "_frame.h"

/* An array argument as the frame has it: its address, extents and strides. */
typedef struct {
    const int64_t *shape, *strides;
    int64_t item;
    uintptr_t at;
    int axes;
} Array;

static Array array_of(const Argument *a, const int64_t *frame)
{
    const int64_t *at = frame + a->slot;
    return (Array){at + 1, at + 1 + a->count, a->item, (uintptr_t)at[0], a->count};
}

static int is_empty(const Array *array)
{
    for (int i = 0; i < array->axes; i++)
        if (array->shape[i] == 0)
            return 1;
    return 0;
}

/* Whether the arrays that the kernel takes for one are one: the slots of two arrays of one type are the same. */
static int shares_as_expected(const Specialisation *s, const int64_t *frame)
{
    for (int i = 0; i < s->argument_count; i++) {
        const Argument *a = &s->arguments[i], *other = s->leaves[a->same];
        if (a->kind == ARRAY && (a->count != other->count || memcmp(frame + a->slot, frame + other->slot,
                                                                    (size_t)(1 + 2 * a->count) * sizeof *frame) != 0))
            return 0;
    }
    return 1;
}

typedef struct {
    uintptr_t lo, hi;  /* the bytes from the first to one past the last element */
    int written;
    const Argument *argument;  /* NULL for the box of a group */
} Range;

/* Of an array with elements. */
static Range range_of(const Array *array, int written, const Argument *argument)
{
    Range r = {array->at, array->at, written, argument};
    for (int i = 0; i < array->axes; i++) {
        int64_t reach = (array->shape[i] - 1) * array->strides[i];
        if (reach < 0)
            r.lo += (uintptr_t)reach;
        else
            r.hi += (uintptr_t)reach;
    }
    r.hi += (uintptr_t)array->item;
    return r;
}

/* Whether no array that the kernel stores into shares bytes with one of a list, whose elements the kernel has copies of. */
static int arrays_are_apart(const Specialisation *s, PyObject **leaves, const int64_t *frame)
{
    for (int i = 0; i < s->argument_count; i++) {
        const Argument *a = &s->arguments[i];
        for (int j = 0; a->kind == LIST_OF_ARRAYS && j < s->argument_count; j++) {
            const Argument *b = &s->arguments[j];
            Array stored = (b->kind == ARRAY || b->kind == FIELD) && b->written ? array_of(b, frame) : (Array){0};
            if (!stored.at || is_empty(&stored))
                continue;
            Range one = range_of(&stored, 1, b);
            for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(leaves[a->leaf]); k++) {
                PyArrayObject *array = (PyArrayObject *)PySequence_Fast_GET_ITEM(leaves[a->leaf], k);
                Array item = {(const int64_t *)PyArray_DIMS(array), (const int64_t *)PyArray_STRIDES(array),
                              PyArray_ITEMSIZE(array), (uintptr_t)PyArray_DATA(array), PyArray_NDIM(array)};
                Range other = range_of(&item, 0, a);
                if (!is_empty(&item) && one.lo < other.hi && other.lo < one.hi)
                    return 0;
            }
        }
    }
    return 1;
}

/* Whether two indices may reach the same byte: sorted by stride, each axis must step over
 * all that the smaller ones reach. */
static int may_meet_itself(const Array *array)
{
    int64_t strides[NPY_MAXDIMS], reaches[NPY_MAXDIMS], covered = array->item;
    int count = 0;
    for (int i = 0; i < array->axes; i++) {
        int64_t stride = llabs(array->strides[i]);
        int at = count;
        if (array->shape[i] == 1)
            continue;
        for (; at > 0 && strides[at - 1] > stride; at--) {
            strides[at] = strides[at - 1];
            reaches[at] = reaches[at - 1];
        }
        strides[at] = stride;
        reaches[at] = stride * (array->shape[i] - 1);
        count++;
    }
    for (int i = 0; i < count; i++) {
        if (strides[i] < covered)
            return 1;
        covered += reaches[i];
    }
    return 0;
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
    int64_t stride, a, b;  /* and how many steps the arrays reach */
} CommonAxis;

/* The axes that two arrays have in common, the longest strides first and the bytes of an element last; 0 where their
 * strides differ. */
static int common_axes(const Array *a, const Array *b, CommonAxis *axes)
{
    int count = 0;
    if (a->axes != b->axes)
        return 0;
    for (int i = 0; i < a->axes; i++) {
        int64_t stride = a->strides[i];
        CommonAxis axis = {llabs(stride), a->shape[i], b->shape[i]};
        int at = count;
        if (axis.a == 1 && axis.b == 1)
            continue;
        if (stride == 0 || (stride != b->strides[i] && stride != -b->strides[i]))
            return 0;
        for (; at > 0 && axes[at - 1].stride < axis.stride; at--)
            axes[at] = axes[at - 1];
        axes[at] = axis;
        count++;
    }
    axes[count] = (CommonAxis){1, a->item, b->item};
    return count + 1;
}

/* Whether two arrays are boxes in one grid that have no byte in common: the left and the right columns of a matrix, odd
 * and even elements, real and imaginary parts. Not where that cannot be told by strides. */
static int are_boxes_apart(const Range *a, const Range *b, const int64_t *frame)
{
    CommonAxis axes[NPY_MAXDIMS + 1];
    if (!a->argument || !b->argument)
        return 0;
    const Array one = array_of(a->argument, frame), other = array_of(b->argument, frame);
    int count = common_axes(&one, &other, axes), apart = 0;
    int64_t rest = (int64_t)(b->lo - a->lo), most = INT64_MAX;
    for (int i = 0; i < count; i++) {
        int64_t stride = axes[i].stride, first = rest / stride;
        if (axes[i].a > most / stride || axes[i].b > most / stride - first)
            return 0;
        apart |= first >= axes[i].a;
        rest -= first * stride;
        most = stride;
    }
    return apart;
}

/* Of ranges sorted by where they begin. */
static int do_meet(const Range *ranges, int count, const int64_t *frame)
{
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count && ranges[j].lo < ranges[i].hi; j++)
            if ((ranges[i].written || ranges[j].written) && !are_boxes_apart(&ranges[i], &ranges[j], frame))
                return 1;
    return 0;
}

/* Whether arrays are parts of one as a group says; then the box that holds them is put into the frame, and its range
 * into `*range`. */
static int fill_group(const Specialisation *s, const Group *g, int64_t *frame, Range *range)
{
    const Array first = array_of(s->leaves[g->members[0]], frame);
    int64_t *shape = frame + g->slot + 1, *strides = shape + g->axes;
    uintptr_t base = first.at;
    for (int k = 0; k < g->axes; k++) {
        shape[k] = 0;
        strides[k] = first.strides[k];
        base -= (uintptr_t)(g->members[1 + k] * strides[k]);
    }
    for (int m = 0; m < g->count; m++) {
        const int *member = g->members + m * (1 + g->axes);
        const Array array = array_of(s->leaves[member[0]], frame);
        uintptr_t at = base;
        for (int k = 0; k < g->axes; k++) {
            int64_t end = member[1 + k] + array.shape[k];
            if (array.strides[k] != strides[k] || array.shape[k] == 0)
                return 0;
            at += (uintptr_t)(member[1 + k] * strides[k]);
            shape[k] = end > shape[k] ? end : shape[k];
        }
        if (at != array.at)
            return 0;
    }
    const Array box = {shape, strides, first.item, base, g->axes};
    if (may_meet_itself(&box) || !is_contiguous(g->layout, g->axes, shape, strides, first.item))
        return 0;
    frame[g->slot] = (int64_t)base;
    *range = range_of(&box, g->written, NULL);
    return 1;
}

/* Whether arrays that a kernel stores into, those of groups among them, may overlap others as it does not expect. The
 * boxes of groups are put into the frame. */
static int may_overlap(const Specialisation *s, int64_t *frame)
{
    Range few[STACK_LEAVES], *ranges = few;
    int count = 0, found = 0;
    if (s->leaf_count > STACK_LEAVES && !(ranges = PyMem_Malloc((size_t)s->leaf_count * sizeof *ranges)))
        return 1;
    for (int i = 0; i < s->group_count; i++)
        found |= !fill_group(s, &s->groups[i], frame, &ranges[count++]);
    for (int i = 0; i < s->leaf_count && !found; i++) {
        const Argument *a = s->leaves[i];
        const Array array = a->kind == ARRAY ? array_of(a, frame) : (Array){0};
        if (a->kind != ARRAY || is_empty(&array))
            continue;
        if (a->written && a->layout >= LAYOUT_STRIDED)
            found |= may_meet_itself(&array);
        /* Of arrays that are one, the first stands for all; any of them may be written. */
        if (!a->grouped && a->same == i)
            ranges[count++] = range_of(&array, a->any_written, a);
    }
    /* The fields of a structured array do not overlap each other: it counts as one array. */
    for (int i = 0; i < s->argument_count && !found; i++) {
        const Argument *a = &s->arguments[i];
        Array array = a->kind >= RECORDS ? array_of(a + 1, frame) : (Array){0};
        array.item = a->item;
        if (a->kind < RECORDS || is_empty(&array))
            continue;
        found |= a->any_written && may_meet_itself(&array);
        ranges[count++] = range_of(&array, a->any_written, NULL);
    }
    found = found || (may_meet(ranges, count) && do_meet(ranges, count, frame));
    if (ranges != few)
        PyMem_Free(ranges);
    return found;
}

#endif
