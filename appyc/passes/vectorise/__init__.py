"""Passes that choose and prepare the loops that run in vector lanes."""
