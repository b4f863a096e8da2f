"""The programs of several domains as cubins, for both architectures in turn. `-m slow` compiles each for both."""

from __future__ import annotations

import pytest

from tests.in_turn import in_turn
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


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "arch"), in_turn(RUNS, ("cuda:80", "cuda:90")))
def test_kernels_compile(name: str, arch: str) -> None:
    run = RUNS[name]
    program = program_of(run.fn, *run.args)
    assert program.kernels
    cubins(program, arch, libm=True)
