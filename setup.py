"""The C extensions: the dispatcher, the recorder, and walks over the IR. All else is in pyproject.toml."""

from pathlib import Path

import numpy
from setuptools import Extension, setup


def extension(folder: str, name: str) -> Extension:
    """The one of a file, which is built anew when a header beside it changes."""
    headers = map(str, Path("appyc", folder).glob("*.h"))
    return Extension(
        f"appyc.{folder}.{name}",
        [f"appyc/{folder}/{name}.c"],
        depends=["appyc/_owned.h", *headers],
        include_dirs=[numpy.get_include()],
        extra_compile_args=["-O2", "-std=c11"],
    )


setup(ext_modules=[extension("runtime", "_dispatch"), extension("lazy", "_nodes"), extension("ir", "_trees")])
