"""Passes that join loops, so that values are used while they are in registers or caches."""
