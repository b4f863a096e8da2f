"""The launcher (`_launch.h`), with a function in Python in place of the driver's."""

from __future__ import annotations

import ctypes
import gc
import struct
import threading
import weakref
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from appyc.ir.nodes import Symbol
from appyc.ir.types import ArrayType, DType
from appyc.runtime.dispatch import Launcher
from appyc.runtime.kernel_variants import KernelArguments, packed_layout
from appyc.triton_gen.triton_kernel import KernelText, Param
from tests.stand_in_cupy import DRIVER_FUNCTION

Loaded = tuple[str, int, int, bool]


def kernel(*types: str, scale: int = 0) -> KernelText:
    symbol = Symbol("a", 0, ArrayType(DType.FLOAT64, 1))
    params = tuple(
        Param(f"p{n}", t, "array", symbol) if t[0] == "*" else Param(f"p{n}", t, "scalar")
        for n, t in enumerate(types)
    )
    return KernelText("k", "", params, 128, 128, 4, frozenset(), scale=scale)


class Driver:
    """launched: of each launch the function, the programs, the threads, the shared bytes, the stream and the numbers;
    loaded: what variants were loaded. during: is called while it launches."""

    def __init__(self, *types: str, status: int = 0, scale: int = 0) -> None:
        self.launched: list[tuple[Any, ...]] = []
        self.loaded: list[Loaded] = []
        self.errors: list[int] = []
        self.during: Callable[[], object] = lambda: None
        self._layout, self._offsets, self._size = packed_layout(types)
        self._status = status
        self._function = DRIVER_FUNCTION(self._launch)
        address = ctypes.cast(self._function, ctypes.c_void_p).value
        assert address is not None
        text = kernel(*types, scale=scale)
        self.launch = Launcher({"k": KernelArguments(text).signature}, self._load, self._raise, address)

    def _launch(self, *given: int) -> int:
        function, x, y, z, threads, threads_y, threads_z, shared, stream, pointers, extra = given
        assert (y, z, threads_y, threads_z, extra) == (1, 1, 1, 1, 0)
        places = (ctypes.c_void_p * len(self._offsets)).from_address(pointers)
        assert [place - places[0] for place in places] == self._offsets
        numbers = struct.unpack(self._layout, ctypes.string_at(places[0], self._size))
        assert numbers[-2:] == (0, 0), "Triton's pointers to scratch memory"
        self.launched.append((function, x, threads, shared, stream, *numbers[:-2]))
        self.during()
        return self._status

    def _load(self, *wanted: Any) -> tuple[int, int, int]:
        self.loaded.append(wanted)
        return 2**40 + len(self.loaded), 32, 100

    def _raise(self, status: int) -> Any:
        self.errors.append(status)
        raise RuntimeError("the driver's")


def on_gpu(address: int, shape: Sequence[int] = (4,), strides: Sequence[int] = (8,)) -> Any:
    return SimpleNamespace(data=SimpleNamespace(ptr=address), shape=tuple(shape), strides=tuple(strides))


def test_driver_gets_what_the_host_says() -> None:
    driver = Driver("*fp64", "i1", "fp32", "i8", "i64")
    driver.launch.stream = 77
    driver.launch("k", 3, 128, on_gpu(2**63 + 512), True, np.float32(1.5), -3, np.int64(16))
    assert driver.launched == [(2**40 + 1, 3, 32, 100, 77, 2**63 + 512, True, 1.5, -3, 16)]


@pytest.mark.parametrize(
    ("type_", "value", "packed"),
    [
        ("i1", np.False_, False),
        ("i8", np.int8(-128), -128),
        ("u8", 255, 255),
        ("i16", -(2**15), -(2**15)),
        ("u16", np.uint16(2**16 - 1), 2**16 - 1),
        ("i32", np.int32(-1), -1),
        ("u32", 2**32 - 1, 2**32 - 1),
        ("i64", np.int64(-(2**63)), -(2**63)),
        ("i64", True, 1),
        ("u64", np.uint64(2**64 - 1), 2**64 - 1),
        ("fp64", np.float64(0.1), 0.1),
        ("fp64", 7, 7.0),
        ("fp32", 0.1, float(np.float32(0.1))),
    ],
)
def test_numbers_of_each_type(type_: str, value: Any, packed: Any) -> None:
    driver = Driver("i8", type_)  # with a gap between them
    driver.launch("k", 1, 128, 5, value)
    assert driver.launched[0][5:] == (5, packed)


@pytest.mark.parametrize(
    ("type_", "value"), [("i8", 128), ("u8", -1), ("u32", 2**32), ("i64", 2**63), ("u64", -1), ("u64", 2**64)]
)
def test_numbers_that_do_not_fit_are_not_launched(type_: str, value: int) -> None:
    driver = Driver(type_)
    with pytest.raises(OverflowError):
        driver.launch("k", 1, 128, value)
    assert driver.launched == []


@pytest.mark.parametrize(
    ("type_", "value"),
    [("i64", "1"), ("i64", None), ("i64", 1.5), ("i64", np.zeros(2)), ("*fp64", on_gpu(512, (4, 4)))],
)
def test_what_a_kernel_does_not_take(type_: str, value: Any) -> None:
    driver = Driver(type_)
    with pytest.raises(TypeError):
        driver.launch("k", 1, 128, value)


def test_variants_are_chosen_again_where_arguments_change_and_loaded_once() -> None:
    driver = Driver("*fp64", "i64")
    for _ in range(2):
        for address, number in ((512, 16), (512, 20), (520, 20), (512, 17), (512, 32)):
            driver.launch("k", 1, 128, on_gpu(address), number)
    driver.launch("k", 1, 256, on_gpu(512), 16)
    assert driver.loaded == [
        ("k", 128, 16, False),
        ("k", 128, 4, False),
        ("k", 128, 1, False),
        ("k", 256, 16, False),
    ]
    functions = [launched[0] - 2**40 for launched in driver.launched]
    assert functions == [1, 2, 3, 3, 1] * 2 + [4]


def test_sizes_and_reach_decide_on_narrow_indices() -> None:
    driver = Driver("*fp64", "i64", scale=8)  # below 2**28
    for array, number in (
        (on_gpu(512, (4, 2**20), (2**23, 8)), 16),
        (on_gpu(512, (2**9, 2**20), (2**23, 8)), 16),
        (on_gpu(512, (2**9, 2**20), (-(2**23), 8)), 16),
        (on_gpu(512), 2**28),
        (on_gpu(512), -(2**28)),
        (on_gpu(512, (0, 2**30), (2**33, 8)), 2**28 - 16),
    ):
        driver.launch("k", 1, 128, array, number)
    assert [launched[0] - 2**40 for launched in driver.launched] == [1, 2, 2, 2, 2, 1]
    assert [narrow for *_, narrow in driver.loaded] == [True, False]


def test_no_programs_are_no_launch() -> None:
    driver = Driver("i64")
    for programs in (0, np.int64(0), -5):
        driver.launch("k", programs, 128, 1)
    with pytest.raises(OverflowError, match="2147483648 programs"):
        driver.launch("k", 2**31, 128, 1)
    assert driver.launched == []


@pytest.mark.parametrize("args", [("other", 1, 128, 1), ("k", 1, 128), ("k", 1, 128, 1, 2), ("k", 1), ()])
def test_wrong_arguments_are_refused(args: tuple[Any, ...]) -> None:
    driver = Driver("i64")
    with pytest.raises(TypeError):
        driver.launch(*args)
    for without_driver in (Launcher.__new__(Launcher), Launcher({}, None, None, 0)):
        with pytest.raises(TypeError):
            without_driver(*args)


def test_an_error_of_the_driver_is_raised() -> None:
    driver = Driver("i64", status=719)
    with pytest.raises(RuntimeError, match="the driver's"):
        driver.launch("k", 1, 128, 1)
    assert driver.errors == [719]


def test_an_error_while_loading_is_raised_and_loading_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver("i64")
    monkeypatch.setattr(driver, "loaded", None)
    with pytest.raises(AttributeError):
        driver.launch("k", 1, 128, 1)
    monkeypatch.setattr(driver, "loaded", [])
    driver.launch("k", 1, 128, 1)
    assert len(driver.launched) == 1


class Array(SimpleNamespace):
    """An array that can be referred to weakly, and counts how often it is looked at."""

    looked = 0

    @property
    def data(self) -> Any:
        self.looked += 1
        return SimpleNamespace(ptr=512)


def test_arrays_are_looked_at_once_and_kept_until_they_are_forgotten() -> None:
    driver = Driver("*fp64")
    array = Array(shape=(4,), strides=(8,))
    for _ in range(3):
        driver.launch("k", 1, 128, array)
    assert array.looked == 1
    gone = weakref.ref(array)
    del array
    gc.collect()
    assert gone() is not None, "another array at its place would be taken for it"
    driver.launch.forget()
    assert gone() is None


def test_many_arrays_do_not_mix() -> None:
    driver = Driver("*fp64")
    arrays = [on_gpu(512 * n) for n in range(1, 300)]
    for _ in range(2):
        for array in arrays:
            driver.launch("k", 1, 128, array)
    assert [launched[-1] for launched in driver.launched] == [512 * n for n in range(1, 300)] * 2


def test_other_threads_run_while_the_driver_launches() -> None:
    driver = Driver("i64")
    ran = threading.Event()
    other = threading.Thread(target=ran.set)

    def wait() -> None:
        other.start()
        assert ran.wait(10)

    driver.during = wait
    driver.launch("k", 1, 128, 1)
    assert ran.is_set()
    other.join()


def test_threads_launch_at_the_same_time() -> None:
    """Each with its own arguments, which lie on its stack."""
    drivers = [Driver("i64", "i64") for _ in range(4)]

    def launch(driver: Driver, first: int) -> None:
        for n in range(200):
            driver.launch("k", 1, 1 << n % 8, first, n)

    threads = [threading.Thread(target=launch, args=(d, number)) for number, d in enumerate(drivers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, driver in enumerate(drivers):
        assert [launched[5:] for launched in driver.launched] == [(number, n) for n in range(200)]
