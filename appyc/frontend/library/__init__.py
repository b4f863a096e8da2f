"""NumPy's functions and random numbers."""
