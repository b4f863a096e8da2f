"""The generated C under AddressSanitizer and UBSan, on arrays that end where their heap block ends."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from appyc.ir.abi import Status
from appyc.ir.nodes import For, Function, LoopMode, Reduction
from appyc.ir.types import DType
from appyc.ir.visit import map_loops
from appyc.options import Options
from appyc.runtime.toolchain import find_compiler
from tests.c_gen.c_runner import generate
from tests.ir_makers import Program, add, alloc, assign, binary, extent, for_, load, mul, store, sub, update

MAIN = """
extern int printf(const char *, ...);
extern void *malloc(__SIZE_TYPE__);
int main(void) {{
    const int64_t n = {n};
    double *a = malloc((__SIZE_TYPE__)n * 8), *b = malloc((__SIZE_TYPE__)n * 8);
    int64_t *index = malloc((__SIZE_TYPE__)n * 8);
    for (int64_t i = 0; i < n; i += 1) {{ a[i] = i; b[i] = 1; index[i] = i * 7 % (n + {outside}); }}
    int64_t frame[{size}] = {{ {threads}, (int64_t)a, n, 8, (int64_t)b, n, 8, (int64_t)index, n, 8, 3 }};
    const int32_t status = {entry}(frame);
    free(a); free(b); free(index);
    printf("%d", (int)status);
    return 0;
}}
"""


def program() -> Function:
    """A stencil, an indirect update, a temporary, a reduction and hostile integer arithmetic."""
    p = Program()
    a, b = p.array("a", 1), p.array("b", 1)
    index, k = p.array("index", 1, DType.INT64), p.integer("k")
    tmp, s, q = p.local_array("tmp", 1), p.local("s"), p.local("q", DType.INT64)
    i, j, m = (p.index(name) for name in "ijm")
    lowest = binary("<<", 1, 63)
    neighbours = add(load(a, sub(i, 1), checked=False), load(a, add(i, 1), checked=False))
    fn = p.function(
        alloc(tmp, extent(a)),
        for_(i, 1, sub(extent(a), 1), [store(tmp, [i], neighbours, checked=False)]),
        for_(j, 0, extent(index), [update(b, [load(index, j)], "+", load(tmp, j))]),
        for_(m, sub(extent(b), 1), -1, [update(s, [], "+", mul(load(b, m), load(tmp, m)))], -1),
        assign(q, add(binary("//", lowest, -1), binary("%", lowest, sub(k, 3)))),
        assign(q, add(mul(q, lowest), binary("<<", k, mul(k, 50)))),
        results=[s, q],
    )

    def threaded(loop: For) -> For:
        if loop.var == m:
            return replace(loop, mode=LoopMode.PARALLEL, reductions=(Reduction("+", s),))
        return replace(loop, mode=LoopMode.PARALLEL) if loop.var == i else loop

    return map_loops(fn, threaded)


@pytest.mark.sampled
@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize(
    ("n", "outside", "status"),
    [(40_000, 0, Status.OK), (40_000, 1, Status.FAULT), (2, 0, Status.OK), (1, 0, Status.OK)],
)
def test_sanitizers_find_nothing(
    n: int, outside: int, status: Status, sequential: bool, tmp_path: Path
) -> None:
    module = generate(program(), Options(), sequential=sequential)
    main = MAIN.format(n=n, outside=outside, size=module.layout.size, threads=2, entry=module.entry)
    source, executable = tmp_path / "kernel.c", tmp_path / "kernel"
    source.write_text(module.text + main)
    flags = "-O1 -g -std=gnu11 -fwrapv -fopenmp -fsanitize=address,undefined -fno-sanitize-recover=all"
    command = [find_compiler(), *flags.split(), str(source), "-o", str(executable), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if "cannot find" in built.stderr:
        pytest.skip("this compiler comes without its sanitizers' libraries")
    assert built.returncode == 0, built.stderr
    done = subprocess.run([str(executable)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == str(int(status))
