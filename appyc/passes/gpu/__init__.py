"""Passes that map loops to the grid and lanes of a GPU."""
