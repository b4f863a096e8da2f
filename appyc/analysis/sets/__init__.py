"""Parametric integer sets, through isl, and what connects them with the IR."""
