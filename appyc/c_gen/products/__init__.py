"""C text for products of matrices."""
