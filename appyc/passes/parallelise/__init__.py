"""Passes that make iterations independent, and choose the loops that threads share."""
