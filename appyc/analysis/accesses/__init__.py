"""Access relations of arrays, and the data flow of scalars, in statements and loops."""
