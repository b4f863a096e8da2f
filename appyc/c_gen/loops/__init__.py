"""C text for loops, sequential and multithreaded."""
