"""Passes that test what must hold: bounds, integer ranges, pragmas, assumptions about arguments."""
