"""Passes that bring loops and expressions into their simplest form; most keep Python's meaning for all arguments."""
