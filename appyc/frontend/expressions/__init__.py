"""Expressions, calls and assignments."""
