"""Generators of random numbers that compiled code makes for itself, as values at compile time."""

from __future__ import annotations

from dataclasses import dataclass

from appyc.frontend.types.values import Opaque, Value
from appyc.ir.nodes import Symbol


@dataclass(frozen=True, slots=True)
class MadeGenerator:
    """A bit generator, or a Generator of one (`draws`): `fixed` and `changing` are the variables of its state, `half`
    those of 32 bits that wait."""

    name: str
    fixed: tuple[Symbol, ...]
    changing: tuple[Symbol, ...]
    half: tuple[Symbol, ...]
    draws: bool = False


@dataclass(frozen=True, slots=True)
class MadeMethod:
    """A method of one, before it is called."""

    owner: MadeGenerator
    name: str


def made(value: Value) -> MadeGenerator | None:
    return value.obj if isinstance(value, Opaque) and isinstance(value.obj, MadeGenerator) else None
