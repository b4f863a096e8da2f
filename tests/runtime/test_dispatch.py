from __future__ import annotations

import gc
import math
import sys
import threading
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appyc.ir.abi import FAULT_SLOTS, FrameLayout
from appyc.ir.arguments import NoneArg, ScalarArg, TupleArg, leaves
from appyc.ir.fault_words import FaultSite
from appyc.ir.results import Chosen, nested
from appyc.ir.types import ArrayType, DType, Layout
from appyc.runtime import dispatch
from appyc.runtime.dispatch import GuardFailure
from appyc.runtime.frame import Interface, Kernel, KernelResult, invoke, raise_fault
from appyc.runtime.overlap import any_overlap
from appyc.runtime.threads import get_num_threads, set_num_threads
from tests.runtime.dispatch_rules import fits

F64 = ArrayType(DType.FLOAT64, 1)
STRIDED = ArrayType(DType.FLOAT64, 1, Layout.STRIDED)
INT = ScalarArg(DType.INT64, python=True)
FAULT = FaultSite(
    "IndexError", "index {value} is out of bounds for axis 0 of 'a' with size {extent}", "f.py", 3, 0, 0
)


def slots(type_):
    if isinstance(type_, ArrayType):
        return 1 + 2 * type_.ndim
    return 2 if type_.dtype is DType.COMPLEX128 else 1


def make_kernel(address, arguments, *, written=(), results=(), tree=None, checked=None, owner=None, same=()):
    at, params = 1, []
    for leaf in leaves(arguments):
        params.append(at)
        at += slots(leaf)
    places = []
    for result in results:
        places.append(None if result.param is not None else at)
        at += 0 if result.param is not None else slots(ScalarArg(result.dtype)) + (result.ndim or 0)
    layout = FrameLayout(tuple(params), tuple(places), at, at + FAULT_SLOTS)
    face = Interface(tuple(arguments), layout, frozenset(written), tuple(results), tree, (FAULT,))
    return Kernel(face, address, checked, owner, same=same)


def missed(*args, **keywords):
    return ("fallback", args, keywords)


def is_miss(out):
    return isinstance(out, tuple) and len(out) == 3 and out[0] == "fallback"


def make_entry(entry_type, *kernels, fallback=missed):
    entry = entry_type(fallback, raise_fault)
    for kernel in kernels:
        entry.add(kernel)
    return entry


@pytest.fixture
def axpy(entry_type, address):
    double = ScalarArg(DType.FLOAT64, python=True)
    return make_entry(entry_type, make_kernel(address("axpy"), (double, F64, F64), written={2}))


def test_call_that_fits_runs_the_kernel(axpy):
    x, y = np.arange(4.0), np.ones(4)
    assert axpy(2.0, x, y) is None
    np.testing.assert_array_equal(y, [1, 3, 5, 7])


@pytest.mark.parametrize(
    "change",
    [
        lambda a, x, y: (2, x, y),  # a Python int where a float was
        lambda a, x, y: (np.float64(a), x, y),
        lambda a, x, y: (a, x.astype(np.float32), y),
        lambda a, x, y: (a, x[::2], y),
        lambda a, x, y: (a, x.reshape(2, 2), y),
        lambda a, x, y: (a, x.tolist(), y),
        lambda a, x, y: (a, x.view(np.recarray), y),
        lambda a, x, y: (a, x.astype(">f8"), y),
        lambda a, x, y: (a, np.frombuffer(bytes(33), np.uint8)[1:].view(np.float64), y),
        lambda a, x, y: (a, x),
        lambda a, x, y: (a, x, y, None),
        lambda a, x, y: (a, y, y),
    ],
)
def test_what_does_not_fit_goes_to_the_fallback(axpy, change):
    args = change(2.0, np.arange(4.0), np.ones(4))
    out = axpy(*args)
    assert is_miss(out)
    assert len(out[1]) == len(args)
    assert all(a is b for a, b in zip(out[1], args, strict=True))


def test_keywords_go_to_the_fallback(axpy):
    x, y = np.arange(4.0), np.ones(4)
    out = axpy(2.0, x, y=y)
    assert out[1] == (2.0, x)
    assert out[2] == {"y": y}


def test_read_only_array_may_be_read_but_not_written(axpy):
    x, y = np.arange(4.0), np.ones(4)
    x.flags.writeable = False
    assert axpy(1.0, x, y) is None
    assert is_miss(axpy(1.0, np.ones(4), x))


def test_layouts_are_told_apart(entry_type, address):
    matrix = [ArrayType(DType.FLOAT64, 2, layout) for layout in Layout]
    entries = [make_entry(entry_type, make_kernel(address("nothing"), (t,))) for t in matrix]
    c = np.zeros((4, 6))
    for array, layout in [
        (c, 0), (c.T, 1), (c[:, ::2], 2), (c[::2], 2), (c[::-1], 2), (c[:1], 0), (c[:, :1], 2),
        (np.zeros((0, 3)), 0)
    ]:  # fmt: skip
        assert [is_miss(e(array)) for e in entries] == [i != layout for i in range(3)]


@pytest.mark.parametrize("dtype", [d for d in DType if d.kind != "s"])
def test_numpy_scalar_goes_there_and_back(entry_type, address, dtype):
    wide = dtype is DType.COMPLEX128
    kernel = make_kernel(
        address("echo_wide" if wide else "echo"), (ScalarArg(dtype),), results=[KernelResult(dtype)], tree=0
    )
    entry = make_entry(entry_type, kernel)
    one = dtype.numpy.type
    values = [one(0), one(1)]
    if dtype.is_integer:
        values += [np.iinfo(dtype.numpy).min, np.iinfo(dtype.numpy).max]
    elif dtype.is_float:
        values += [-0.0, math.inf, -1.5]
    elif dtype.is_complex:
        values += [1 - 2j, -0.5 + 0.25j]
    for value in map(one, values):
        out = entry(value)
        assert type(out) is one
        assert out.tobytes() == value.tobytes()


@pytest.mark.parametrize("value", [0, 5, -(2**63), 2**63 - 1, True, False, 2.5, -0.0, 1 - 2j])
def test_python_number_goes_there_and_back(entry_type, address, value):
    dtype = {bool: DType.BOOL, int: DType.INT64, float: DType.FLOAT64, complex: DType.COMPLEX128}[type(value)]
    name = "echo_wide" if dtype is DType.COMPLEX128 else "echo"
    result = KernelResult(dtype, python=True)
    entry = make_entry(
        entry_type, make_kernel(address(name), (ScalarArg(dtype, python=True),), results=[result], tree=0)
    )
    out = entry(value)
    assert type(out) is type(value)
    assert repr(out) == repr(value)


def test_numbers_of_other_types_do_not_fit(entry_type, address):
    entry = make_entry(entry_type, make_kernel(address("nothing"), (INT,)))
    for value in (True, 1.0, np.int64(1), 2**63, -(2**63) - 1, "1", None):
        assert is_miss(entry(value))


def test_tuples_and_none_are_matched_item_by_item(entry_type, address):
    kernel = make_kernel(
        address("echo"), (TupleArg((NoneArg(), INT)), NoneArg()), results=[KernelResult(DType.INT64)], tree=0
    )
    entry = make_entry(entry_type, kernel)
    assert entry((None, 3), None) == 3
    for args in [((None, 3), 1), ((3, None), None), ((None,), None), ([None, 3], None), ((None, 3, 4), None)]:
        assert is_miss(entry(*args))


def test_results_are_nested_as_the_tree_says(entry_type, address):
    results = [KernelResult(DType.INT64), KernelResult(DType.FLOAT64, param=1), KernelResult(DType.INT64)]
    kernel = make_kernel(address("nothing"), (INT, F64), results=results, tree=((1,), (), None, (0, (2, 1))))
    x = np.zeros(3)
    out = make_entry(entry_type, kernel)(1, x)
    assert out == ((x,), (), None, (0, (0, x)))
    assert out[0][0] is x


def test_one_of_several_results_is_chosen(entry_type, address):
    results = [KernelResult(DType.INT64), *(KernelResult(DType.FLOAT64, ndim=1) for _ in range(2))]
    for tree in (
        Chosen(0, (1, 2), or_none=True),
        ((Chosen(0, (1, 2), or_none=True),), 0),
        (0, Chosen(0, (2, 1)), 1, 2),
    ):
        kernel = make_kernel(address("one_of_two"), (INT,), results=results, tree=tree)
        entry = make_entry(entry_type, kernel)
        arrays = [np.zeros(2 * (k == 0)) for k in range(2)]
        np.testing.assert_equal(entry(0), nested(tree, [0, *arrays]))
        np.testing.assert_equal(entry(1), nested(tree, [1, *reversed(arrays)]))
        if isinstance(tree, Chosen):
            assert entry(-1) is None


def test_a_kernel_added_later_is_tried_first(entry_type, address):
    first = make_kernel(address("guarded"), (INT,), results=[KernelResult(DType.INT64)], tree=0)
    second = make_kernel(address("checked"), (INT,), results=[KernelResult(DType.INT64)], tree=0)
    entry = make_entry(entry_type, first)
    assert entry(1) == 2
    entry.add(second)
    assert entry.kernels == (second, first)
    assert entry(1) == -1
    entry.clear_kernels()
    assert is_miss(entry(1))


def test_failed_guard_goes_to_the_checked_version_or_the_fallback(entry_type, address):
    results = [KernelResult(DType.INT64)]
    bare = make_kernel(address("guarded"), (INT,), results=results, tree=0)
    checked = make_kernel(address("checked"), (INT,), results=results, tree=0)
    both = make_kernel(address("guarded"), (INT,), results=results, tree=0, checked=checked)
    assert is_miss(make_entry(entry_type, bare)(-5))
    assert make_entry(entry_type, both)(-5) == -1
    with pytest.raises(GuardFailure):
        invoke(bare, (-5,))


def test_a_fault_of_the_checked_version_is_its_own(entry_type, address):
    """Its table of faults is another one than that of the version whose guard failed."""
    results = [KernelResult(DType.INT64)]
    other = FaultSite("ValueError", "the other table", "f.py", 9, 0, 0)
    faulty = make_kernel(address("faulty"), (INT,), results=results, tree=0)
    checked = replace(faulty, interface=replace(faulty.interface, faults=(other,)))
    kernel = make_kernel(address("guarded"), (INT,), results=results, tree=0, checked=checked)
    with pytest.raises(ValueError, match="the other table"):
        make_entry(entry_type, kernel)(-5)
    with pytest.raises(ValueError, match="the other table"):
        invoke(kernel, (-5,))


def test_a_fault_is_reported_with_the_arguments(entry_type, address):
    seen = []
    kernel = make_kernel(address("faulty"), (INT,), results=[KernelResult(DType.INT64)], tree=0)

    def on_fault(*report):
        seen.append(report)
        raise KeyError

    entry = entry_type(missed, on_fault)
    entry.add(kernel)
    with pytest.raises(KeyError):
        entry(12)
    assert seen == [(kernel, 0, (12, 10, 0, 0, 0, 0), (12,))]


@pytest.fixture
def axpy_of_one(entry_type, address):
    double = ScalarArg(DType.FLOAT64, python=True)
    kernel = make_kernel(address("axpy"), (double, F64, F64), written={1, 2}, same=(0, 1, 1))
    return make_entry(entry_type, kernel)


def test_a_kernel_for_one_array_takes_the_same_array_twice(axpy_of_one):
    x = np.ones(4)
    assert axpy_of_one(2.0, x, x) is None
    np.testing.assert_array_equal(x, [3, 3, 3, 3])
    assert axpy_of_one(2.0, x[:2], x[:2]) is None
    np.testing.assert_array_equal(x, [9, 9, 3, 3])


@pytest.mark.parametrize(
    "arrays",
    [
        lambda x: (x, x.copy()),
        lambda x: (x, x[:3]),
        lambda x: (x[1:], x[:-1]),
    ],
)
def test_a_kernel_for_one_array_takes_no_others(axpy_of_one, arrays):
    assert is_miss(axpy_of_one(2.0, *arrays(np.ones(4))))


def test_a_read_only_view_of_the_array_that_is_written_is_left_to_the_fallback(axpy_of_one):
    x = np.ones(4)
    view = x[:]
    view.flags.writeable = False
    assert is_miss(axpy_of_one(2.0, view, x))


def test_one_array_may_not_overlap_a_third(entry_type, address):
    kernel = make_kernel(address("five"), (F64,) * 5, written={4}, same=(0, 1, 2, 3, 0))
    entry = make_entry(entry_type, kernel)
    x, y = np.ones(5), np.ones(5)
    assert entry(x, y, y, y, x) is None
    assert is_miss(entry(x[:4], y[:4], x[1:], y[:4], x[:4]))


def test_fault_raises_the_programs_error(entry_type, address):
    kernel = make_kernel(address("faulty"), (INT,), results=[KernelResult(DType.INT64)], tree=0)
    with pytest.raises(
        IndexError, match=r"index 12 is out of bounds for axis 0 of 'a' with size 10"
    ) as caught:
        make_entry(entry_type, kernel)(12)
    assert "f.py:3" in caught.value.__notes__[0]


def test_unknown_status_is_our_fault(entry_type, address):
    with pytest.raises(Exception, match="unknown status 7"):
        make_entry(entry_type, make_kernel(address("unknown"), (INT,)))(1)


def test_fallback_raises_through(entry_type):
    def fails(*args):
        raise KeyError("x")

    with pytest.raises(KeyError):
        make_entry(entry_type, fallback=fails)(1)


def test_number_of_threads_reaches_the_kernel(entry_type, address):
    entry = make_entry(
        entry_type,
        make_kernel(address("threads"), (), results=[KernelResult(DType.INT64, python=True)], tree=0),
    )
    before = get_num_threads()
    try:
        set_num_threads(3)
        assert entry() == 3
    finally:
        set_num_threads(before)
    assert entry() == before


def test_overlapping_views_go_to_the_fallback(axpy):
    base = np.arange(8.0)
    assert axpy(1.0, base[:4], base[4:]) is None
    assert is_miss(axpy(1.0, base[:5], base[4:]))
    assert is_miss(axpy(1.0, base[4:], base[:5]))


def test_strided_views_are_compared_by_their_ranges(entry_type, address):
    double = ScalarArg(DType.FLOAT64, python=True)
    entry = make_entry(entry_type, make_kernel(address("axpy"), (double, STRIDED, STRIDED), written={2}))
    base = np.arange(16.0)
    assert entry(1.0, base[:8:2], base[8::2]) is None
    assert entry(1.0, base[7::-2], base[8::2]) is None
    assert entry(1.0, base[::2], base[1::2]) is None  # apart in one grid
    assert is_miss(entry(1.0, base[::4], base[1:5:2]))  # only a close look would tell
    assert is_miss(entry(1.0, base[8::-2], base[8::2]))
    repeated = np.lib.stride_tricks.as_strided(np.zeros(1), (4,), (0,))
    assert is_miss(entry(1.0, np.zeros(8)[::2], repeated))


def test_found_on_an_instance_it_is_a_method(entry_type):
    class Holder:
        run = make_entry(entry_type)

    holder = Holder()
    assert holder.run(1)[1] == (holder, 1)
    assert Holder.run(1)[1] == (1,)


def test_can_be_subclassed_with_attributes(entry_type, address):
    class Jitted(entry_type):
        def __init__(self, name):
            super().__init__(self.compile, raise_fault)
            self.name = name

        def compile(self, *args):
            self.add(make_kernel(address("echo"), (INT,), results=[KernelResult(DType.INT64, True)], tree=0))
            return self(*args)

    jitted = Jitted("f")
    assert jitted.name == "f"
    assert jitted(4) == 4
    assert len(jitted.kernels) == 1
    assert jitted(5) == 5
    assert len(jitted.kernels) == 1


def test_many_parameters(entry_type, address):
    types = tuple(ArrayType(DType.FLOAT64, 3) for _ in range(40))
    entry = make_entry(entry_type, make_kernel(address("nothing"), types))
    assert entry(*(np.zeros((2, 2, 2)) for _ in types)) is None


@pytest.mark.parametrize("count", [5, 60])
@pytest.mark.parametrize("order", [1, -1])
def test_of_many_arrays_those_that_are_written_are_apart_from_all_others(entry_type, address, count, order):
    memory = np.zeros((count, 8))
    entry = make_entry(entry_type, make_kernel(address("nothing"), (F64,) * count, written={1, count - 2}))
    apart = list(memory[::order])
    assert entry(*apart) is None
    read = apart.copy()
    read[0] = read[2]  # two that are only read may be one
    assert entry(*read) is None
    for number, other in ((1, 2), (0, count - 2), (count - 2, 1)):
        meeting = apart.copy()
        meeting[number] = memory.ravel()[(meeting[other].ctypes.data - memory.ctypes.data) // 8 + 4 :][:4]
        assert is_miss(entry(*meeting))


def test_nothing_leaks(entry_type, address):
    double = ScalarArg(DType.FLOAT64, python=True)
    kernel = make_kernel(
        address("axpy"),
        (double, F64, F64),
        written={2},
        results=[KernelResult(DType.FLOAT64, param=2)],
        tree=(0, 0),
    )
    entry = make_entry(entry_type, kernel)
    x, y, a = np.zeros(4), np.zeros(4), 1234.5

    def counts():
        return [sys.getrefcount(o) for o in (x, y, a, kernel, entry, missed)]

    gc.collect()  # what other tests left must not fall away in between
    before = counts()
    for _ in range(2000):
        entry(a, x, y)
        entry(a, x, x)
        entry(a, x, y=y)
    assert counts() == before


def test_entry_and_kernel_are_freed_in_a_cycle(entry_type, address):
    class Owner:
        pass

    owner = Owner()

    class Jitted(entry_type):
        def __init__(self):
            super().__init__(self.missed, raise_fault)

        def missed(self, *args):
            return None

    entry = Jitted()
    entry.add(make_kernel(address("nothing"), (), owner=owner))
    alive = [weakref.ref(owner), weakref.ref(entry)]
    del owner, entry
    gc.collect()
    assert [ref() for ref in alive] == [None, None]


def test_threads_call_while_kernels_are_added(entry_type, address):
    result = [KernelResult(DType.INT64, python=True)]
    kernel = make_kernel(address("echo"), (INT,), results=result, tree=0)
    entry = make_entry(entry_type, kernel)
    wrong = []

    def call(n):
        for i in range(n, n + 3000):
            out = entry(i)
            if out != i and not is_miss(out):
                wrong.append(out)

    workers = [threading.Thread(target=call, args=(n,)) for n in range(4)]
    for worker in workers:
        worker.start()
    for _ in range(50):
        entry.add(kernel)
        entry.clear_kernels()
        entry.add(kernel)
    for worker in workers:
        worker.join()
    assert wrong == []


@pytest.mark.parametrize("bad", [0, -1, 1 << 20])
def test_set_num_threads_refuses(bad):
    with pytest.raises(ValueError, match="number of threads"):
        set_num_threads(bad)


def test_set_num_threads_wants_an_integer():
    with pytest.raises(TypeError):
        set_num_threads(2.0)


@settings(max_examples=300, deadline=None)
@given(
    views=st.lists(
        st.tuples(
            st.integers(0, 60), st.tuples(st.integers(0, 4), st.integers(0, 4)),
            st.tuples(st.integers(-6, 6), st.integers(-6, 6)),
        ),
        min_size=2, max_size=2,
    )
)  # fmt: skip
def test_calls_are_taken_by_the_rules(address, views):
    """Over views of one array, which overlap or not, and are contiguous or not."""
    base = np.zeros(200)
    args = [
        np.lib.stride_tricks.as_strided(base[100 + at :], shape, (8 * steps[0], 8 * steps[1]))
        for at, shape, steps in views
    ]
    for layout in Layout:
        types = tuple(ArrayType(DType.FLOAT64, 2, layout) for _ in args)
        kernel = make_kernel(address("nothing"), types, written={1})
        is_taken = not is_miss(make_entry(dispatch.Entry, kernel)(*args))
        if fits(kernel, args):
            assert is_taken
        elif is_taken:  # their ranges of bytes overlap, their elements do not
            assert fits(make_kernel(address("nothing"), types), args)
            assert not any_overlap(args, frozenset({1}))


GRID = np.zeros((6, 8))
NUMBERS = np.zeros((4, 4), complex)


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [
        (GRID[:, :3], GRID[:, 3:6], True),
        (GRID[:, :3], GRID[2:, 3:], True),
        (GRID[:, :4], GRID[:, 3:], False),
        (GRID[1:, 1::2], GRID[:-1, ::2], True),
        (GRID[::2, ::2], GRID[1::2, ::2], True),
        (GRID[::-2, ::-2], GRID[1::2, 1::2], False),
        (GRID[::-1, 1::2], GRID[:, ::2], True),
        (GRID[:, 6:], GRID[1:, :2], True),
        (NUMBERS.real, NUMBERS.imag, True),
        (NUMBERS.real, NUMBERS.real[::-1], False),
        (GRID[:3, :3].T, GRID[1:4, 4:7].T, True),
        (GRID[:, :3], GRID[:, 4::2], False),  # not told by strides that differ
    ],
)
def test_boxes_of_one_array_that_have_no_element_in_common_are_taken(address, a, b, apart):
    kernel = make_kernel(address("nothing"), (ArrayType(DType.FLOAT64, 2, Layout.STRIDED),) * 2, written={0})
    for args in ((a, b), (b, a)):
        assert is_miss(make_entry(dispatch.Entry, kernel)(*args)) != apart


def test_what_is_asked_before_the_fallback_may_have_done_the_call(entry_type, address):
    asked = []

    def before(entry, *args):
        asked.append((entry, args))
        if args == (0,):
            raise ValueError("zero")
        return args == (2,)

    entry = make_entry(entry_type, make_kernel(address("nothing"), (F64,)))
    assert entry.before is None
    entry.before = before
    assert entry(2) is None
    assert entry(3) == missed(3)
    assert entry(x=2) == missed(x=2)
    assert entry(*range(30)) == missed(*range(30))
    with pytest.raises(ValueError, match="zero"):
        entry(0)
    assert entry(np.ones(3)) is None  # the kernel's, which gives nothing
    assert [args for _, args in asked if len(args) == 1] == [(2,), (3,), (0,)]
    assert all(e is entry for e, _ in asked)
    entry.before = None
    assert entry(2) == missed(2)


def test_classes_of_pythons_are_called_without_a_tuple_and_a_bound_method() -> None:
    class Plain(dispatch.Entry):
        pass

    class Counted(dispatch.Entry):
        def __call__(self, *args: object) -> object:
            return "counted", *args

        def __get__(self, instance: object, owner: object = None) -> object:
            return "found"

    class Owner:
        plain = Plain(lambda *args: args, None)
        counted = Counted(lambda *args: args, None)

    vectorcall, method_descriptor = 1 << 11, 1 << 17
    assert Plain.__flags__ & vectorcall
    assert Plain.__flags__ & method_descriptor
    assert not Counted.__flags__ & (vectorcall | method_descriptor)
    owner = Owner()
    assert owner.plain(1) == (owner, 1)
    assert owner.counted == "found"
    assert vars(Owner)["counted"](1) == ("counted", 1)
