"""Estimates of operations and memory traffic."""
