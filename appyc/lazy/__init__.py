"""Lazy evaluation of NumPy: operations are recorded, and compiled and run together when a value is needed."""
