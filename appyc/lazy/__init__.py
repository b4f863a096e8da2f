"""Lazy evaluation of NumPy: operations are recorded, and compiled and run together when a value is needed."""

from appyc.lazy import operators

__all__ = ["operators"]  # arrays have their methods, whichever module is imported
