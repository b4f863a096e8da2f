"""Passes that change the order of iterations for caches, and find matrix products."""
