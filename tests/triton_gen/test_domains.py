"""The programs of several domains as cubins: every kernel compiles for both architectures."""

from __future__ import annotations

import pytest

from tests.programs import domains, scientific
from tests.programs.registry import ALL
from tests.triton_gen.gpu_runner import cubins
from tests.triton_gen.source_runner import program_of

RUNS = {
    run.fn.__name__: run
    for programs in (domains.PROGRAMS, scientific.PROGRAMS)
    for run in programs.runs
    if run.targets == ALL
}


@pytest.mark.parametrize("name", RUNS)
def test_kernels_compile_for_both_architectures(name):
    run = RUNS[name]
    program = program_of(run.fn, *run.args)
    assert program.kernels
    for arch in ("cuda:80", "cuda:90"):
        cubins(program, arch, libm=True)
