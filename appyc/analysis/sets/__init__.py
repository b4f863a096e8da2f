"""Presburger sets: parametric integer sets, through isl, and their translation from and to the IR."""
