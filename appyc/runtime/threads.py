"""The number of threads of parallel loops: one setting for the process, as in OpenMP."""

from __future__ import annotations

import operator
import os

from appyc import options
from appyc.runtime._dispatch import set_thread_count, thread_count


def set_num_threads(count: int) -> None:
    """Lets parallel loops use `count` threads from the next call on; more than cores is allowed."""
    number = operator.index(count)
    if not 1 <= number <= options.MAX_THREADS:
        raise ValueError(f"the number of threads must be between 1 and {options.MAX_THREADS}, not {number}")
    set_thread_count(number)


def get_num_threads() -> int:
    """The number of threads that parallel loops may use."""
    return thread_count()


def _one_thread_after_fork() -> None:
    """A child made by fork is mostly one of several that share the cores; it may ask for more threads."""
    set_thread_count(1)


set_thread_count(options.or_usual(options.num_threads))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_one_thread_after_fork)
