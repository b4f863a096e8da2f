"""Each header of C helpers compiles without a warning, for every kind of element that its templates serve."""

from __future__ import annotations

import re
import subprocess

import pytest

from appyc.c_gen.text.c_headers import HEADERS
from appyc.c_gen.text.c_helpers import Helpers
from appyc.c_gen.text.c_types import TYPEDEFS
from appyc.ir.types import DType
from appyc.runtime.toolchain import find_compiler

SIGNED = [
    "floordiv_i",
    "mod_i",
    "floordiv_lanes",
    "mod_lanes",
    "ipow",
    "shl",
    "shr_i",
    "exponent",
    "divisor",
    "iabs",
    "touched",
    "mark",
    "ascending",
    "min",
    "max",
]
UNSIGNED = ["floordiv_u", "mod_u", "shr_u", "touched", "ascending"]
COMPLEX = ["csize", "cexp_", "cmul", "cdiv", "csquare", "cpow_", "product", "products", "square"]
NO_FLOAT = {*SIGNED, *UNSIGNED, *COMPLEX} - {"product", "products", "square", "min", "max"}
KINDS = (
    ((DType.INT8, DType.INT32, DType.INT64), SIGNED),
    ((DType.UINT8, DType.UINT64), UNSIGNED),
    ((DType.COMPLEX64, DType.COMPLEX128), COMPLEX),
)


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.stem)
def test_a_header_compiles_without_warnings(header, tmp_path):
    helpers = Helpers()
    for name in re.findall(r"^//: (\w+)", header.read_text(), re.MULTILINE):
        operation = name.removesuffix("_D")
        if operation == name:
            helpers.plain(name)
        for dtypes, operations in KINDS:
            for dtype in dtypes if operation in operations and operation != name else ():
                helpers.typed(operation, dtype)
        if operation != name and operation not in NO_FLOAT and "_of_" not in operation:
            helpers.typed(operation, DType.FLOAT32)
            helpers.typed(operation, DType.FLOAT64)
    file = tmp_path / "helpers.c"
    file.write_text(f"{TYPEDEFS}\n{helpers.text()}\n")
    flags = ["-std=gnu11", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only"]
    done = subprocess.run([find_compiler(), *flags, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
