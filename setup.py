"""The dispatcher and the recorder, C extensions. All else about the package is in pyproject.toml."""

import numpy
from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "appyc.runtime._dispatch",
            ["appyc/runtime/_dispatch.c"],
            depends=[
                "appyc/_owned.h",
                *(
                    f"appyc/runtime/_{name}.h"
                    for name in ("device", "frame", "kinds", "launch", "lists", "memory", "overlap", "team")
                ),
            ],
            include_dirs=[numpy.get_include()],
            extra_compile_args=["-O2", "-std=c11"],
        ),
        Extension(
            "appyc.lazy._nodes",
            ["appyc/lazy/_nodes.c"],
            depends=[
                "appyc/_owned.h",
                *(
                    f"appyc/lazy/_{name}.h"
                    for name in ("parts", "indices", "recording", "at_once", "plain", "known", "runs")
                ),
            ],
            include_dirs=[numpy.get_include()],
            extra_compile_args=["-O2", "-std=c11"],
        ),
    ]
)
