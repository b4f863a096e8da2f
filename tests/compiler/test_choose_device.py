"""target="auto" where there is a GPU, with a stand-in for it: which calls go there, and which stay.

Nothing here runs on a device: the stand-in's kernels are those of Triton's interpreter.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import appyc
from appyc.compiler import choose_device
from appyc.compiler.analyse import CompiledFor
from appyc.compiler.captured_values import Captured
from appyc.compiler.choose_device import DeviceChoice
from appyc.errors import UnsupportedError
from appyc.ir.machine_model import Gpu, Machine, Work
from appyc.options import Options
from appyc.runtime import gpu_device
from appyc.runtime.machine_rates import using
from appyc.runtime.measure_gpu import measure_gpu

FAST = Gpu(call=10_000, launch=2_000, over_byte=0.05, back_byte=0.05, byte=0.0005, operation=0.0002, lone=2.0)
HERE = Machine(vector=0.05, scalar=0.3, near_bytes=1 << 20, byte_near=0.01, byte_far=0.03, byte_shared=0.03)


def stream(a, b):
    for i in range(len(a)):
        b[i] = 2.0 * a[i]


def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def chain(a):
    for i in range(1, len(a)):
        a[i] = np.sqrt(a[i - 1]) + a[i]


def guarded(n, a):
    for i in range(int(a[0])):
        a[i] = n


def many(n):
    return tuple(np.ones((n, n)) for _ in range(3))


@pytest.fixture
def device(monkeypatch):
    """A machine as HERE with a GPU as FAST, which the choice sees."""
    monkeypatch.setattr(choose_device, "cupy_with_device", SimpleNamespace)
    monkeypatch.setattr("appyc.compiler.specialisations.cupy_with_device", SimpleNamespace)
    monkeypatch.setattr(choose_device, "gpu_numbers", lambda: FAST)
    with using(HERE):
        yield


def choice(fn, *args):
    jitted = appyc.jit(cache=False)(fn)
    named = jitted._parameters.bind(args, {})
    wanted = jitted._request(named, "cpu")
    decider = DeviceChoice(fn, Options())
    return decider.of(wanted, jitted._text(), named).target, decider.forecast(wanted, jitted._text(), named)


def test_work_that_outweighs_the_way_goes_and_a_stream_does_not(device):
    target, found = choice(product, *many(400))
    assert target == "gpu"
    assert found.gpu < found.cpu
    target, found = choice(stream, np.ones(1_000_000), np.ones(1_000_000))
    assert target == "cpu"
    assert found.moving == pytest.approx(10_000 + 8e6 * 0.05 * 3)  # both go there, one comes back
    assert found.gpu > found.moving > found.cpu


def test_small_work_and_chains_stay(device):
    assert choice(product, *many(8))[0] == "cpu"
    target, found = choice(chain, np.ones(100_000))
    assert target == "cpu"
    assert found.gpu > 2 * found.cpu


def test_arithmetic_of_a_forecast(device):
    from appyc.compiler.forecast import Forecaster

    jitted = appyc.jit(cache=False)(stream)
    a = np.ones(1000)
    analysed = jitted._analyse(jitted._wanted((a, a), {}))
    found = Forecaster.of(analysed.function).forecast([a, a.copy()], HERE, FAST, 1)
    cost = analysed.function.schedule[analysed.function.body[0].var].cost
    work = Work(cost.vector.value * 1000, 0, 0, 24_000)
    assert found.cpu == pytest.approx(HERE.alone(work))
    assert found.gpu == pytest.approx(FAST.shared(work, 1000) + 10_000 + 24_000 * 0.05)


def test_a_kernel_with_few_threads_leaves_most_of_the_device_idle():
    work = Work(vector=1e9, scalar=0, gathers=0, bytes=0)
    few, full, more = (FAST.shared(work, FAST.full * share) for share in (0.1, 1, 10))
    assert few == pytest.approx(FAST.launch + 10 * (full - FAST.launch))
    assert more == full


def test_what_cannot_be_foretold_stays(device):
    assert choice(guarded, 3, np.ones(10)) == ("cpu", None) or choice(guarded, 3, np.ones(10))[0] == "cpu"


def test_without_a_device_nothing_is_looked_into(monkeypatch):
    monkeypatch.setattr(choose_device, "cupy_with_device", lambda: None)
    decider = DeviceChoice(product, Options())
    jitted = appyc.jit(cache=False)(product)
    wanted = jitted._request(jitted._parameters.bind(many(400), {}), "cpu")
    assert decider.of(wanted, jitted._text(), {}) is wanted
    assert decider._known == {}


def test_explanation_for_arguments_shows_both_times(device):
    jitted = appyc.jit(cache=False)(product)
    assert "runs on the GPU" in str(jitted.explain(*many(400)))
    report = jitted.explain(*many(8))
    assert "runs here" in str(report)
    assert report.forecast.cpu < report.forecast.gpu
    assert appyc.jit(cache=False, target="cpu")(product).explain(*many(8)).forecast is None


def test_given_target_is_kept(device):
    for target in ("cpu", "interpret"):
        assert not DeviceChoice(product, Options(target=target)).is_open


@pytest.fixture
def sent(device, monkeypatch):
    """The calls that went to the GPU, which a Python function stands in for."""
    from appyc.compiler import versions

    calls = []

    def gpu_version(job):
        def run(named):
            calls.append(job.wanted.target)
            return job.fn(**named)

        return versions.Version(Captured(job.fn, CompiledFor((), (), ()), ()), run)

    monkeypatch.setattr(versions, "_gpu_version", gpu_version)
    return calls


def test_calls_of_one_function_go_where_their_sizes_say(sent):
    jitted = appyc.jit(cache=False)(product)
    for n, there in ((8, 0), (8, 0), (20, 0)):
        a, b, c = many(n)
        jitted(a, b, c)
        assert len(sent) == there
        assert c[0, 0] == n
    with using(Machine(vector=1e3, scalar=1e3)):
        a, b, c = many(8)
        jitted(a, b, c)
    assert sent == ["gpu"]
    assert c[0, 0] == 8


def test_function_that_the_gpu_cannot_run_stays_and_is_not_tried_again(device, monkeypatch):
    from appyc.compiler import versions

    tried = []

    def refuse(job):
        tried.append(job.wanted.target)
        raise UnsupportedError("no such thing on a GPU", appyc.errors.GENERATED)

    monkeypatch.setattr(versions, "_gpu_version", refuse)
    jitted = appyc.jit(cache=False)(product)
    with using(Machine(vector=1e3, scalar=1e3)):
        for _ in range(3):
            a, b, c = many(8)
            jitted(a, b, c)
            assert c[0, 0] == 8
    assert tried == ["gpu"]


# ---------------------------------------------------------------- the measurement, with a stand-in for CuPy


def test_measurement_goes_through_with_a_stand_in():
    stand_in = SimpleNamespace(
        cuda=SimpleNamespace(
            get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None),
            runtime=SimpleNamespace(getDeviceProperties=lambda _: {"multiProcessorCount": 100}),
            Device=lambda: SimpleNamespace(id=0),
        ),
        asarray=np.array, asnumpy=np.array, empty_like=np.empty_like, zeros=np.zeros,
        ElementwiseKernel=lambda *text: lambda *arrays: None,
    )  # fmt: skip
    found = measure_gpu(stand_in)
    assert found.full == 100 * 512
    assert found.over_byte > 0
    assert all(value > 0 for value in (found.call, found.launch, found.byte, found.operation, found.lone))


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"call": "x"}', "no json"])
def test_damaged_numbers_of_a_gpu_are_none(text):
    assert gpu_device._read(text) is None


def test_machine_without_a_device_file_never_imports_cupy(monkeypatch):
    monkeypatch.setattr(gpu_device, "_DEVICES", ("/no/such/device",))
    gpu_device.cupy_with_device.cache_clear()
    try:
        assert gpu_device.cupy_with_device() is None
    finally:
        gpu_device.cupy_with_device.cache_clear()
