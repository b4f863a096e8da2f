"""The compiled dispatcher. All else about the package is in pyproject.toml.

It is optional: where there is no compiler or no Python header, appyc installs without it,
and calls go through the same logic in Python (appyc/runtime/dispatch.py).
"""

import numpy
from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "appyc.runtime._dispatch",
            ["appyc/runtime/_dispatch.c"],
            depends=["appyc/runtime/_frame.h", "appyc/runtime/_memory.h"],
            include_dirs=[numpy.get_include()],
            extra_compile_args=["-O2", "-std=c11"],
            optional=True,
        )
    ]
)
