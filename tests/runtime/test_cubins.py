"""Kernels in the disk cache: compiled once, and launched again without Triton."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np

from appyc.runtime.cache import Cache
from appyc.runtime.kernel_variants import Variant
from appyc.runtime.triton_build import cached_kernel
from appyc.triton_gen.triton_module import TritonProgram
from tests.triton_gen.source_runner import program_of


def doubled(a):
    for i in range(a.shape[0]):
        a[i] = 2.0 * a[i]


def halved(a):
    for i in range(a.shape[0]):
        a[i] = a[i] / 2.0


def program() -> TritonProgram:
    return program_of(doubled, np.zeros(4))


def test_a_kernel_is_compiled_once(tmp_path: Path) -> None:
    found = program()
    first = cached_kernel(found, found.kernels[0], Variant(128), "cuda:90", Cache(tmp_path))
    assert first.cubin.startswith(b"\x7fELF")
    with mock.patch(
        "appyc.runtime.triton_build.compile_kernel", side_effect=AssertionError("compiled again")
    ):
        again = cached_kernel(program(), found.kernels[0], Variant(128), "cuda:90", Cache(tmp_path))
    assert again == first


def test_another_variant_target_or_text_is_another_kernel(tmp_path: Path) -> None:
    usual, other = program(), program_of(halved, np.zeros(4))
    wanted = [
        (usual, Variant(128), "cuda:90"),
        (usual, Variant(256), "cuda:90"),
        (usual, Variant(256, 16), "cuda:90"),
        (usual, Variant(128), "cuda:80"),
        (other, Variant(128), "cuda:90"),
    ]
    disk = Cache(tmp_path)
    cubins = [cached_kernel(p, p.kernels[0], variant, target, disk).cubin for p, variant, target in wanted]
    assert len(set(cubins)) == len(wanted)


WARM = """
import pickle, sys
from pathlib import Path
from appyc.runtime.cache import Cache
from appyc.runtime.triton_build import cached_kernel
from appyc.runtime.kernel_variants import Variant
from appyc.runtime.triton_source import load_host
program = pickle.load(sys.stdin.buffer)
assert cached_kernel(program, program.kernels[0], Variant(128), "cuda:90", Cache(Path(sys.argv[1]))).cubin
assert callable(load_host(program))
assert "triton" not in sys.modules
"""


CALL = """
import sys
import numpy as np
from types import SimpleNamespace
from unittest import mock
import appyc
from appyc.runtime import triton_build
from benchmarks.gpu_launch import driver_without_work
from tests import stand_in_cupy

def doubled(a):
    for i in range(a.shape[0]):
        a[i] *= 2.0

loaded = []
module = SimpleNamespace(load=loaded.append, get_function=lambda name: SimpleNamespace(ptr=1))
with stand_in_cupy.installed() as cupy:
    cupy.cuda.driver.launch_address = driver_without_work()
    cupy.cuda.function.Module = lambda: module
    with mock.patch("appyc.runtime.triton_launch.cached_kernel", triton_build.cached_kernel):
        appyc.jit(doubled, target="gpu")(cupy.zeros(4))
assert loaded[0].startswith(b"\\x7fELF")
print(sorted({"triton", "torch"} & set(sys.modules)))
"""


def test_a_warm_call_imports_no_triton(tmp_path: Path) -> None:
    """Nor torch. The driver does nothing, and the second process finds the first one's kernel."""
    script = tmp_path / "script.py"
    script.write_text(CALL)
    places = {"APPYC_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(Path(__file__).parents[2])}
    said = [
        subprocess.run(
            [sys.executable, script], env=os.environ | places, check=True, capture_output=True, text=True
        )
        for _ in range(2)
    ]
    assert [one.stdout.strip() for one in said] == ["['triton']", "[]"]


def test_a_warm_start_imports_no_triton(tmp_path: Path) -> None:
    found = program()
    cached_kernel(found, found.kernels[0], Variant(128), "cuda:90", Cache(tmp_path))
    subprocess.run([sys.executable, "-c", WARM, str(tmp_path)], input=pickle.dumps(found), check=True)
