"""Lazy evaluation of NumPy: operations are recorded, and compiled and run together when a value is needed."""

from appyc.lazy import call_cache

__all__ = ["call_cache"]  # whatever of this part is imported, arrays have their operators
