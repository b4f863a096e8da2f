"""Defects to seed in the compiler, one by one: each of them the tests must find."""
