"""Dependences between iterations, and the legality of transformations."""
