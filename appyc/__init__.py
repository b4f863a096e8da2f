"""appyc compiles loop-heavy Python: C with OpenMP on the CPU, Triton kernels on a GPU."""

from appyc.api import JitFunction, jit, prange
from appyc.autojit import autojit
from appyc.errors import (
    CompileError,
    DependenceError,
    InternalError,
    PragmaError,
    ToolchainError,
    TypeInferenceError,
    UnsupportedError,
)
from appyc.options import Options
from appyc.runtime.memory import release_memory
from appyc.runtime.threads import get_num_threads, set_num_threads

__version__ = "0.1.0"

__all__ = [
    "CompileError",
    "DependenceError",
    "InternalError",
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
    "release_memory",
    "set_num_threads",
]
