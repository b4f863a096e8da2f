"""Passes that change where values are kept: scalars, smaller arrays, or no memory."""
