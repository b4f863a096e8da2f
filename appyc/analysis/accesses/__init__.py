"""Which elements of arrays, and which scalars, statements and loops touch."""
