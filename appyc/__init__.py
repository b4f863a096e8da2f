"""appyc compiles loop-heavy Python: C with OpenMP on the CPU, Triton kernels on a GPU."""

from importlib import import_module

from appyc.api import JitFunction, jit, prange, tune
from appyc.autojit import autojit
from appyc.errors import (
    CompileError,
    DependenceError,
    FallbackWarning,
    InternalError,
    InternalWarning,
    PragmaError,
    ToolchainError,
    TypeInferenceError,
    UnsupportedError,
)
from appyc.options import Options
from appyc.runtime.temporary_memory import release_memory
from appyc.runtime.threads import get_num_threads, set_num_threads

__version__ = "0.1.0"

__all__ = [
    "CompileError",
    "DependenceError",
    "FallbackWarning",
    "InternalError",
    "InternalWarning",
    "JitFunction",
    "Options",
    "PragmaError",
    "ToolchainError",
    "TypeInferenceError",
    "UnsupportedError",
    "autojit",
    "get_num_threads",
    "jit",
    "prange",
    "register",
    "release_memory",
    "set_num_threads",
    "tune",
]

_LAZY = {
    "deferred": "appyc.lazy.deferred_calls",
    "explain": "appyc.lazy.reporting",
    "flush": "appyc.lazy.running",
    "register": "appyc.library.table",
}
"""Names of the recorder and of the compiler, which `import appyc` alone does not load."""


def __getattr__(name: str) -> object:
    if name == "numpy":
        return import_module("appyc.numpy")
    if name not in _LAZY:
        raise AttributeError(f"module 'appyc' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
