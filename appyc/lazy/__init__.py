"""Recorded NumPy calls: operations that run when a result is asked for, compiled together."""
