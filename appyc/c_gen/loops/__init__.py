"""C text for loops on one thread and on several."""
