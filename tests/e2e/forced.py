"""Decisions that hang on sizes and costs, forced: small programs then take the ways of large ones.

Blocks, panels, windows and shares get a few elements, and what seems not to pay is done all the same.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import appyc
from appyc.passes.fuse.tiled_chains import Chain

CONSTANTS: dict[str, dict[str, Any]] = {
    "c_gen.lanes.multiple_accumulators": {"SHORT": 2},
    "c_gen.loops.c_loops": {"ENOUGH": 1, "ENOUGH_IN_STACK": 1},
    "frontend.expressions.callee_facts": {"LARGE": 1, "MOST_INLINED": 0},
    "passes.checks.check_in_blocks": {"BLOCK": 4, "LONG_BLOCK": 3, "FEW": 0},
    "passes.fuse.shifted_fusion": {"ROWS": {1: 4, 2: 2, 3: 2}, "MOST_PEELED": 1},
    "passes.gpu.expand_allocations": {"ROOM": 256},
    "passes.gpu.grid_kernels": {"SHARES": 3},
    "passes.gpu.kernel_results": {"SHARE_LANES": 2},
    "passes.gpu.map_gpu": {"SCAN_LANES": 4, "STRIP_LANES": 4, "FEWEST_LANES": 8},
    "passes.gpu.private_copies": {"SPREAD": 4, "SHARE": 1, "LANES": 8, "FEWEST": 2},
    "passes.gpu.record_launches": {"FEWEST": 1},
    "passes.gpu.split_reductions": {"STRIP_THREADS": 1, "LEAST": 1, "FEWEST": 2},
    "passes.gpu.tile_rows": {"GAIN": 10, "FEWEST_ELEMENTS": 4, "ENOUGH": 0},
    "passes.gpu.tiles_of_lanes": {"TILE_LANES": 8, "SQUARE": 2, "TILE_OF_WHOLE_ROWS": 64, "SHARING_LANES": 16},
    "passes.locality.column_blocks": {"ROWS": 4, "STEP": 2},
    "passes.locality.product_panels": {"PANEL": 4, "WIDE_PANEL": 4, "WORTH": 8, "FEWEST": 1},
    "passes.locality.product_steps": {"STEPS": 4, "WORTH": 8, "FEWEST": 1},
    "passes.locality.product_versions": {"FEWEST": 1, "ENOUGH_APART": 1, "ENOUGH_FOR_ALL": 1},
    "passes.locality.tile_column_reductions": {"LEAST_ROWS": 8},
    "passes.locality.tile_time": {"CACHE": 64},
    "passes.locality.tile_transpositions": {"SIZES": (4, 8)},
    "passes.parallelise.speculative_search": {
        "FIRST_BLOCK": 3, "FIRST_LONG_BLOCK": 2, "LAST_BLOCK": 8, "LAST_WORKING_BLOCK": 8,
    },
    "passes.vectorise.distribute_in_blocks": {"BLOCK": 4, "FEW": 0},
    "runtime.gpu_products": {"FEWEST": 1},
}  # fmt: skip
"""New values, by module."""

ANSWERS: dict[str, dict[str, Any]] = {
    "analysis.cost.fusion_benefit": {"is_worthwhile": True, "why_not_worthwhile": None, "ends_lanes": False},
    "passes.gpu.keep_rows_on_chip": {"_reads_again": True, "_splits": False},
}
"""What functions say, by module."""


@contextmanager
def forced_decisions() -> Iterator[None]:
    """In it, programs are compiled so. Only of use where nothing has been compiled before."""
    for room in ("frontend", "passes", "c_gen", "analysis", "triton_gen", "runtime"):
        package = importlib.import_module(f"appyc.{room}")
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(info.name)
    with ExitStack() as patches:
        for module, values in CONSTANTS.items():
            for name, value in values.items():
                for user in _users(module, name):
                    patches.enter_context(mock.patch.object(user, name, value))
        for module, answers in ANSWERS.items():
            for name, answer in answers.items():
                for user in _users(module, name):
                    patches.enter_context(mock.patch.object(user, name, return_value=answer))
        patches.enter_context(mock.patch.object(Chain, "gain", return_value=1.0))
        yield


def _users(module: str, name: str) -> list[Any]:
    """The modules that have a name of this one, with the same object under it."""
    told = getattr(importlib.import_module(f"appyc.{module}"), name)
    known = [module for path, module in sys.modules.items() if path.startswith(f"{appyc.__name__}.")]
    same_rooms = [m for m in known if m.__name__.split(".")[1:2] == module.split(".")[:1]]
    return [m for m in same_rooms if vars(m).get(name) is told]
