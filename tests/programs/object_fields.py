"""Fields of objects that methods assign; nothing is left to Python."""

import numpy as np

from tests.programs.registry import Programs, floats, ints

PROGRAMS = Programs(strict=True)


class Gas:
    walls = (1.0, 1.5)

    def __init__(self, n):
        self.position = np.abs(floats(n, 2)) / 4
        self.velocity = floats(n, 2, seed=1)
        self.bounces = 0
        self.energy = 0.0
        self.largest = np.float64(0.0)
        self.has_moved = False

    def count(self, k):
        self.bounces += k

    def reflect(self, i, k):
        if not 0 <= self.position[i, k] <= self.walls[k]:
            self.velocity[i, k] *= -1
            self.count(k + 1)

    def step(self, dt):
        self.energy = 0.0
        for i in range(len(self.position)):
            for k in range(2):
                self.position[i, k] += dt * self.velocity[i, k]
                self.reflect(i, k)
                self.energy += 0.5 * self.velocity[i, k] ** 2
                self.largest = max(self.largest, self.position[i, k])
        self.velocity *= 0.9
        self.has_moved = True
        return self.bounces


@PROGRAMS.on(Gas(6), 0.5)
@PROGRAMS.on(Gas(1), 0.1)
def steps(gas, dt):
    before = gas.bounces
    for _ in range(4):
        gas.step(dt)
    return before, gas.bounces, gas.energy


class Counter:
    def __init__(self, state=1):
        self.state = state
        self.calls = 0
        self.of = [0.25]

    def next(self):
        x = self.state
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        self.state = (x ^ x << 5) & 0xFFFFFFFF
        self.calls += 1
        return self.state


@PROGRAMS.on(Counter(), 40)
@PROGRAMS.on(Counter(7), 0)
def drawn(counter, n):
    counts = [0] * 8
    for _ in range(n):
        counts[counter.next() & 7] += 1
    return counts


@PROGRAMS.on(Counter(), Counter(5), 6)
def two_objects(a, b, n):
    for _ in range(n):
        a.calls += b.calls + 1
        b.calls += 2
        a.state = b.state
    return a.calls


@PROGRAMS.on(Counter(), ints(5, lo=0, hi=5), targets=("cpu",))
@PROGRAMS.on(Counter(), np.array([0, 2, 9, 1]), targets=("cpu",))
def assigned_before_it_raises(counter, index):
    """What has been assigned stays when the index is out of range."""
    values = np.zeros(5)
    for i in index:
        counter.calls += 1
        values[i] += 1.0
        counter.state += i * 2
    return values


@PROGRAMS.on(Counter(), 5, targets=("cpu",))
@PROGRAMS.on(Counter(), 30, targets=("cpu",))
def beyond_64_bits(counter, n):
    for _ in range(n):
        counter.calls += 10**18
    return counter.calls
