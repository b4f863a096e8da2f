"""Counts of calls are the action's own."""

import gc
import weakref

from tests.counting import calls_of


def test_garbage_that_others_left_is_not_counted():
    class Cycle:
        pass

    def allocate() -> None:
        for _ in range(3 * gc.get_threshold()[0]):
            kept.append([])

    kept: list[object] = []
    gc.collect()
    clean = calls_of(allocate)
    kept.clear()
    gc.disable()
    for _ in range(10):
        cycle = Cycle()
        cycle.itself = cycle
        weakref.finalize(cycle, int)
    gc.enable()
    assert calls_of(allocate) == clean
    assert gc.isenabled()
