"""C text for expressions, statements, types and names."""
