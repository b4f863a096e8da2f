"""The runner: what it refuses, what it survives, and what it writes down."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import appyc
from benchmarks import machine
from benchmarks.machine import Machine, Peaks
from benchmarks.polybench import __main__ as runner
from benchmarks.polybench import measure
from benchmarks.polybench.kernel import Kernel, relative_error
from benchmarks.polybench.measure import References, Settings, run_kernel
from benchmarks.polybench.suite import KERNELS

PEAKS = Peaks(dgemm_gflops=100.0, triad_gbytes=40.0)
SETTINGS = Settings(dataset="MINI", target="python", repeat=2, numpy_limit=1.0)


@appyc.jit
def does_nothing(alpha, beta, A, B, C):
    pass


@appyc.jit
def raises(alpha, beta, A, B, C):
    raise ValueError("no such thing")


@appyc.jit
def mvt_of_nothing(A, x1, x2, y1, y2):
    pass


def run(kernel: Kernel, settings: Settings = SETTINGS):
    return run_kernel(kernel, settings, PEAKS, lambda step: None, References())


@pytest.fixture
def known_peaks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("APPYC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(machine, "_measure_cpu", lambda threads: PEAKS)


def test_relative_error() -> None:
    one = np.array([3.0, 4.0])
    assert relative_error(one, one) == 0.0
    assert relative_error(one, np.array([3.0, 4.5])) == pytest.approx(0.1)
    assert relative_error(np.zeros(2), one) == 5.0
    assert relative_error(one, np.array([3.0, np.nan])) == math.inf
    assert relative_error(one, np.array([3.0, np.inf])) == math.inf
    assert relative_error(one, one[:1]) == math.inf
    assert relative_error(one, one.astype(np.float32)) == math.inf
    assert relative_error(np.array([1.0, np.nan]), np.array([1.0, np.nan])) == 0.0
    assert relative_error(np.array([1.0, np.nan]), np.array([1.0, 2.0])) == math.inf
    assert relative_error(np.array([7], np.int32), np.array([8], np.int32)) == pytest.approx(1 / 7)


def test_a_valid_run_has_times_and_rates() -> None:
    kernel = KERNELS["gemm"]
    result = run(kernel)
    assert result.failure is None
    assert len(result.seconds) == 2
    assert set(result.errors) == {"random", "polybench"}
    assert max(result.errors.values()) <= kernel.tolerance
    assert result.median == pytest.approx(sum(result.seconds) / 2)
    assert result.gflops == pytest.approx(kernel.flops(**kernel.sizes["MINI"]) / result.median / 1e9)
    assert result.dgemm_share == pytest.approx(result.gflops / 100)
    assert result.triad_share == pytest.approx(result.gbytes / 40)
    assert result.speedup == pytest.approx(result.numpy_median / result.median)


def test_forms_of_one_kernel_share_what_numpy_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    once = measure._numpy_once
    monkeypatch.setattr(measure, "_numpy_once", lambda *of: made.append(of[0].name) or once(*of))
    references = References()
    for name in ("gemm", "mvt"):
        for form in ("loops", "tensors"):
            of = replace(SETTINGS, form=form, repeat=1)
            assert run_kernel(KERNELS[name], of, PEAKS, lambda step: None, references).failure is None
    assert set(made[: made.index("mvt")]) == {"gemm"}
    assert made.count("gemm") == made.count("mvt") == 2  # the one that warms up, and the one that counts


def test_only_double_precision_is_compared_with_dgemm() -> None:
    assert run(KERNELS["nussinov"]).dgemm_share is None


def test_a_wrong_result_has_no_time() -> None:
    result = run(replace(KERNELS["gemm"], loops=does_nothing))
    assert "wrong on random data: relative error 9.6e-01 exceeds 1e-11" in result.failure
    assert result.median is None
    assert result.seconds == ()


def test_a_kernel_that_raises_is_a_failure_with_its_reason() -> None:
    assert run(replace(KERNELS["gemm"], loops=raises)).failure == "ValueError: no such thing"


def test_each_form_is_measured_for_itself() -> None:
    kernel = replace(KERNELS["gemm"], tensors=does_nothing)
    assert run(kernel).failure is None
    assert "wrong on random data" in run(kernel, replace(SETTINGS, form="tensors")).failure
    assert run(kernel, replace(SETTINGS, form="tensors")).form == "tensors"


def test_a_slow_numpy_version_is_run_once() -> None:
    settings = replace(SETTINGS, repeat=5, numpy_limit=0.0)
    result = run(KERNELS["gemm"], settings)
    assert len(result.numpy_seconds) == 1
    assert len(result.seconds) == 5


def test_one_failure_does_not_stop_the_others(
    known_peaks: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(KERNELS, "gemm", replace(KERNELS["gemm"], loops=raises))
    file = tmp_path / "new folder" / "results.json"
    code = runner.main(["gemm", "mvt", "--dataset=MINI", "--target=python", "--repeat=1", f"--json={file}"])
    assert code == 1
    printed = capsys.readouterr()
    assert "1 of 2 right" in printed.out
    assert "gemm (loops): ValueError: no such thing" in printed.err
    record = json.loads(file.read_text())
    gemm, mvt = record["results"]
    assert gemm["median"] is None
    assert mvt["median"] > 0
    assert mvt["failure"] is None
    assert record["peaks"] == {"dgemm_gflops": 100.0, "triad_gbytes": 40.0}
    assert record["machine"]["versions"]["numpy"] == np.__version__
    assert record["load"] >= 0
    assert "--dataset=MINI" in record["command"]


def test_both_forms_are_run_and_told_apart(
    known_peaks: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(KERNELS, "mvt", replace(KERNELS["mvt"], tensors=mvt_of_nothing))
    file = tmp_path / "results.json"
    options = ["--dataset=MINI", "--target=python", "--repeat=1", "--form=both", f"--json={file}"]
    assert runner.main(["mvt", *options]) == 1
    assert "mvt (tensors): ValidationError: wrong on random data" in capsys.readouterr().err
    record = json.loads(file.read_text())
    assert [(r["form"], r["failure"] is None) for r in record["results"]] == [
        ("loops", True),
        ("tensors", False),
    ]
    assert record["settings"]["form"] == "both"


def test_success_is_exit_code_0(known_peaks: None) -> None:
    assert runner.main(["mvt", "--dataset", "MINI", "--target", "python", "--repeat", "1"]) == 0


def test_an_unknown_kernel_is_refused_with_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        runner.main(["jacobi_1d"])
    assert stopped.value.code == 2
    assert "there is no kernel 'jacobi_1d'; did you mean jacobi-1d?" in capsys.readouterr().err


def test_list_names_the_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main(["--list"]) == 0
    assert capsys.readouterr().out.split() == list(KERNELS)
    assert len(KERNELS) == 30


def test_repeat_must_be_positive(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        runner.main(["--repeat", "0"])
    assert "must be at least 1" in capsys.readouterr().err


# ---------------------------------------------------------------- the machine


def test_peaks_are_measured_once_per_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("APPYC_CACHE_DIR", str(tmp_path))
    measured: list[int] = []

    def measure(threads: int) -> Peaks:
        measured.append(threads)
        return Peaks(float(len(measured)), 1.0)

    monkeypatch.setattr(machine, "_measure_cpu", measure)
    this = machine.describe("cpu")
    other = replace(this, threads=this.threads + 1)
    assert machine.peaks(this).dgemm_gflops == 1.0
    assert machine.peaks(this).dgemm_gflops == 1.0
    assert machine.peaks(other).dgemm_gflops == 2.0
    assert machine.peaks(this, remeasure=True).dgemm_gflops == 3.0
    assert machine.peaks(this).dgemm_gflops == 3.0
    assert machine.peaks(other).dgemm_gflops == 2.0
    assert measured == [this.threads, other.threads, this.threads]
    assert [file.name for file in tmp_path.iterdir()] == ["benchmark-peaks.json"]


def test_a_damaged_cache_is_measured_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("APPYC_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(machine, "_measure_cpu", lambda threads: PEAKS)
    (tmp_path / "benchmark-peaks.json").write_text('{"half')
    assert machine.peaks(machine.describe("cpu")) == PEAKS


def test_a_missing_compiler_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("APPYC_CC", str(tmp_path / "nocc"))
    with pytest.raises(machine.MeasurementError, match="sudo apt-get install gcc"):
        machine._compile_triad(tmp_path)


def test_triad_and_dgemm_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "TRIAD_LENGTH", 1 << 12)
    monkeypatch.setattr(machine, "DGEMM_SIZE", 64)
    measured = machine._measure_cpu(2)
    assert measured.triad_gbytes > 0
    assert measured.dgemm_gflops > 0


def test_a_machine_describes_itself() -> None:
    this = machine.describe("cpu")
    assert isinstance(this, Machine)
    assert this.gpu is None
    assert this.threads >= 1
    assert this.cpu
    assert "python" in this.versions
