"""Loads kernel libraries, and connects them to the process: to tables and functions that all share."""

from __future__ import annotations

import ctypes
from pathlib import Path

from appyc.runtime import _dispatch, blas, machine_rates, temporary_memory
from appyc.runtime.frame import Interface, Kernel

_ADDRESSES = {
    "appyc_machine": machine_rates.table_address,
    "appyc_memory": temporary_memory.pool_address,
    "appyc_team": _dispatch.team_address,
    "appyc_blas": blas.table_address,
    "appyc_sorts": _dispatch.sorts_address,
}
"""The table of the machine's rates, the pool for memory of arrays, the threads (`_team.h`, which `c_gen/text/team.c`
calls), the functions for products of matrices, and those that sort."""


def attach(library: ctypes.CDLL, *, products: bool = True) -> None:
    """Sets the pointers that the library defines, since it needs them. products: whether it may leave these to BLAS."""
    for name, address in _ADDRESSES.items():
        try:
            pointer = ctypes.c_void_p.in_dll(library, name)
        except ValueError:
            continue
        if products or name != "appyc_blas":
            pointer.value = address()


def load_kernel(
    path: Path, name: str, interface: Interface, *, products: bool = True, alone: bool = False
) -> Kernel:
    """The kernel of this name in a library, which it keeps in memory. Raises OSError and AttributeError."""
    library = ctypes.CDLL(str(path))
    attach(library, products=products)
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    assert address is not None
    return Kernel(interface, address, owner=library, alone=alone)
