"""Benchmarks of appyc. They live in the source tree and are not installed with the package."""
