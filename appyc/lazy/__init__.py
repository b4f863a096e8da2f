"""Recorded NumPy calls: operations that run when a result is asked for, compiled together."""

from appyc.lazy import call_cache

__all__ = ["call_cache"]  # whatever of this part is imported, arrays have their operators
