"""The end of `zip(..., strict=True)`."""

# mypy: ignore-errors

from __future__ import annotations


def refuse_unequal(lengths):
    """Raises what zip does where the lengths of its arguments, a tuple, are not equal."""
    first, least = lengths[0], min(lengths)
    for k, length in enumerate(lengths):
        if first == least and length > least:
            if k == 1:
                raise ValueError("zip() argument 2 is longer than argument 1")
            raise ValueError(f"zip() argument {k + 1} is longer than arguments 1-{k}")
        if first > least and length == least:
            if k == 1:
                raise ValueError("zip() argument 2 is shorter than argument 1")
            raise ValueError(f"zip() argument {k + 1} is shorter than arguments 1-{k}")
