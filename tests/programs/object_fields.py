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


_SCALE = 2.0


class Grid:
    def __init__(self, n):
        self.u = np.abs(floats(n, n))
        self.width = 0.5
        self.reads = 0

    @property
    def weight(self):
        self.reads += 1
        return _SCALE / (self.width * self.width)

    @property
    def inner(self):
        return self.u[1:-1, 1:-1]

    @property
    def n(self):
        return len(self.u)

    def step(self):
        for i in range(self.n):
            for j in range(self.n):
                self.u[i, j] += self.weight * i


class Coarse(Grid):
    @property
    def weight(self):
        return self.width


@PROGRAMS.on(Grid(4), targets=("cpu",))
@PROGRAMS.on(Coarse(5), targets=("cpu",))
def properties(grid):
    grid.step()
    grid.inner[0, 0] = -1.0
    return grid.inner.sum(), grid.weight, grid.reads


class Moments:
    __slots__ = ("mean", "n", "squares")

    def __init__(self, n=0):
        self.n = n
        self.mean = 0.0
        self.squares = 0.0

    def push(self, x):
        self.n += 1
        off = x - self.mean
        self.mean += off / self.n
        self.squares += off * (x - self.mean)

    @property
    def variance(self):
        return self.squares / (self.n - 1) if self.n > 1 else 0.0


@PROGRAMS.on(Moments(), floats(6), targets=("cpu",))
def with_slots(moments, a):
    own = Moments(1)
    for x in a:
        moments.push(x)
        own.push(moments.variance)
    return own.variance, own.n


class Line:
    def __init__(self, slope):
        self.slope = slope
        self.calls = 0

    def __call__(self, x, offset=1.0):
        self.calls += 1
        return self.slope * x + offset


class Flat(Line):
    def __call__(self, x, offset=1.0):
        return offset


def _euler(f, y, n):
    for _ in range(n):
        y += 0.1 * f(y)
    return y


@PROGRAMS.on(Line(2.0), floats(5), targets=("cpu",))
@PROGRAMS.on(Flat(2.0), floats(5), targets=("cpu",))
def called_objects(f, a):
    own = Line(3.0)
    total = _euler(f, 1.0, 4)
    for x in a:
        total += f(x) + f(x, offset=2.0) * own(x)
    return total, own.calls, f.calls
