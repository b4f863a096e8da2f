"""Statements, loops, branches and returns."""
