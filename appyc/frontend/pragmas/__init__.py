"""Pragmas: comments parsed to records of clauses."""
