"""Recorded NumPy calls: operations that run when a result is asked for, compiled together."""

from appyc.lazy import known

__all__ = ["known"]  # whatever of this part is imported, arrays have their operators
