"""C text for loops in vector lanes."""
