"""C text for matrix products."""
