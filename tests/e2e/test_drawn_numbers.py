"""Random numbers: the same ones as NumPy and Python draw, in the same order, from a state that is left the same."""

from __future__ import annotations

import copy
import functools
import linecache
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appyc
from appyc.errors import DependenceError, UnsupportedError
from benchmarks.drawing import DRAWING
from tests.counting import calls_of
from tests.e2e.harness import call, compare_values, run_on

Generator = Any

NUMPY = """random() uniform() uniform(-1,3) normal() normal(2.0,0.5) standard_normal() standard_exponential()
exponential(2.0) standard_gamma(0.7) gamma(2.5,1.5) beta(2,3) chisquare(3) f(2,5) standard_cauchy() pareto(2.)
weibull(1.5) power(2.) laplace() gumbel(0,2) logistic() lognormal() rayleigh(2.) standard_t(4) wald(1.,2.)
vonmises(0.1,2.) triangular(0,1,3) poisson(3.3) poisson(40.) binomial(10,.3) binomial(100,.3)
negative_binomial(3,.4) geometric(.3) logseries(.6) zipf(2.5) integers(7) integers(-5,12) integers(0,2**40)
integers(1,6,endpoint=True) integers(0,2**32) integers(low=3,high=9) integers(5,6) choice(9) choice(out)
random(dtype=np.float32) standard_normal(dtype=np.float32) random(3)[1] normal(size=(2,3))[1,2]
integers(0,10,size=4)[2] choice(5,3)[0] permutation(7)[3] permutation(out)[0] normal(scale=2.0,loc=1)
choice(4,p=[.1,.2,.3,.4]) choice(items,p=(.1,.2,.3,.4)) choice(items,3,p=items*items/np.sum(items*items))[1]
choice(items,2,False,[.1,.2,.3,.4])[1] choice(5,(2,3),p=np.full(5,.2,np.float32))[1,2] choice(9,4,replace=False)[2]
choice(9,replace=False) choice(12000,300,replace=False)[7] choice(9000,4,False,shuffle=False)[2]
choice(items,(2,2))[1,0] permuted(out)[1]"""

LEGACY = """random() rand() random_sample() uniform(-1,3) normal(2.0,.5) randn() standard_normal() exponential(2.)
standard_exponential() lognormal(.1,.2) poisson(3.3) poisson(40.) binomial(10,.3) binomial(100,.3)
randint(7) randint(-4,9) randint(0,2**40)
choice(9) choice(out) laplace() gumbel(0,2) logistic() triangular(0,1,3) rand(3)[1] randn(2,3)[1,2]
randint(0,10,size=5)[3] normal(size=5)[0] permutation(6)[2]
choice(4,p=[.1,.2,.3,.4]) choice(items,p=(.1,.2,.3,.4)) choice(items,3,p=items*items/np.sum(items*items))[1]
choice(items,2,False,[.1,.2,.3,.4])[1] choice(5,(2,3),p=np.full(5,.2,np.float32))[1,2] choice(9,4,replace=False)[2]
choice(9,replace=False) choice(items,(2,2))[1,0] standard_gamma(0.7) standard_gamma(1.0) standard_gamma(0.0)
gamma(2.5,1.5) gamma(3) chisquare(3) f(2,5) beta(2,3) beta(.5,.7) standard_t(4) standard_cauchy() pareto(2.)
weibull(1.5) weibull(0.) power(2.) wald(1.,2.) wald(2,3) negative_binomial(3,.4)"""

PYTHON = """random() uniform(-1,3) randint(1,6) randrange(10) randrange(3,30,4) randrange(30,3,-4) gauss(1.,2.) gauss()
normalvariate(1.,2.) expovariate(2.) choice((3,5,8,9)) choice(out) getrandbits(20) getrandbits(50)
betavariate(2.,3.) lognormvariate(0.,1.) paretovariate(2.) weibullvariate(1.,2.) gammavariate(2.5,1.)
triangular() triangular(1.,4.,2.) triangular(2.,2.,2.) triangular(1,4)
randint(0,2**40) choice(range(3,50,4)) sample(range(20),3)[2] sample(range(9000),7)[6] sample((3,1,4,1),2)[1]
choices((3,5,8),k=2)[1] choices(range(7))[0] choices([1.5,2.5],weights=[1,3])[0]
choices(range(4),(.5,.25,.1,.1),k=3)[2]"""

MAKERS: dict[str, tuple[Callable[[], Generator], str]] = {
    "PCG64": (lambda: np.random.default_rng(5), NUMPY),
    "MT19937": (lambda: np.random.Generator(np.random.MT19937(5)), NUMPY),
    "Philox": (
        lambda: np.random.Generator(np.random.Philox(5)),
        "random() normal() integers(7) integers(0,2**40)",
    ),
    "SFC64": (
        lambda: np.random.Generator(np.random.SFC64(5)),
        "random() normal() integers(7) integers(0,2**40)",
    ),
    "RandomState": (lambda: np.random.RandomState(5), LEGACY),
    "Random": (lambda: random.Random(5), PYTHON),
}


def state(rng: Generator) -> str:
    """All that a generator holds."""
    if isinstance(rng, np.random.Generator):
        return repr(rng.bit_generator.state)
    return repr(rng.get_state(legacy=False) if isinstance(rng, np.random.RandomState) else rng.getstate())


def filling(folder: Path, calls: list[str], owner: str = "rng") -> Callable[..., None]:
    """A function that fills the rows of an array by these calls, each in its turn."""
    lines = "".join(f"        out[i, {k}] = {owner}{call}\n" for k, call in enumerate(calls))
    lines = lines.replace("(out)", "(items)")
    text = f"def fill(rng, out, items):\n    for i in range(out.shape[0]):\n{lines}"
    file = folder / f"fill_{abs(hash(text))}.py"
    file.write_text(text)
    names: dict[str, Any] = {"np": np, "random": random}
    exec(compile(text, str(file), "exec"), names)
    linecache.checkcache(str(file))
    found: Callable[..., None] = names["fill"]
    return found


def runs_in_python(compiled: Any) -> bool:
    return "runs in Python" in str(compiled.explain())


def test_functions_that_are_not_inlined_are_not_taken_for_the_librarys(tmp_path: Path) -> None:
    calls = [".normal()", ".random()", ".uniform(-1,3)", ".integers(9)"]
    fill = filling(tmp_path, calls)
    args = (np.random.default_rng(3), np.zeros((9, 4)), np.zeros(4))
    wanted, found = call(fill, args), run_on(fill, args, "cpu", strict=True, thorough=False)  # not optimised
    np.testing.assert_array_equal(found.args[1], wanted.args[1])


@pytest.mark.sampled
@pytest.mark.parametrize("maker", MAKERS)
def test_every_method_draws_what_the_library_draws(maker: str, tmp_path: Path) -> None:
    make, listed = MAKERS[maker]
    calls = [f".{call}" for call in listed.split()]
    for at in range(0, len(calls), 13):
        fill = filling(tmp_path, calls[at : at + 13])
        compiled = appyc.jit(fill)
        one, other, items = make(), make(), np.array([1.5, -2.0, 7.0, 0.25])
        calls_made = 0
        for count in (lambda call: call() or 0, calls_of):  # a number in store goes from one call to the next
            wanted, found = np.zeros((157, 13)), np.zeros((157, 13))
            fill(one, wanted, items)
            calls_made = count(functools.partial(compiled, other, found, items))
            np.testing.assert_array_equal(found, wanted)
            assert state(one) == state(other)
        assert not runs_in_python(compiled)
        assert calls_made < found.size  # Python makes one for each number


def test_functions_of_the_modules_draw_from_their_own_generators(tmp_path: Path) -> None:
    calls = ["np.random.random()", "np.random.normal(1., 2.)", "np.random.randint(0, 9)", "np.random.randn()",
             "random.random()", "random.gauss(0., 1.)", "random.randint(1, 6)", "random.uniform(1., 2.)"]  # fmt: skip
    fill = filling(tmp_path, calls, owner="")
    compiled = appyc.jit(fill)
    filled = []
    for function in (fill, compiled):
        np.random.seed(11)
        random.seed(11)
        out = np.zeros((99, 8))
        function(0, out, out[0])
        filled.append((out.tolist(), np.random.random(), np.random.normal(), random.random(), random.gauss()))
    assert filled[0] == filled[1]
    assert not runs_in_python(compiled)


def walk(rng: Generator, n: int) -> int:
    steps = 0
    while rng.random() < 0.99 and steps < n:
        steps += 1
    return steps


def on_some_paths(rng: Generator, n: int) -> float:
    s = 0.0
    for i in range(n):
        if (i % 3 and rng.random() < 0.3) or rng.random() < 0.1:
            s = s / 2 + (rng.normal() if i % 2 else rng.uniform(1.0, 2.0))
        elif 0.2 < rng.random() < 0.6:
            rng.random()
    return s


def listed(rng: Generator, n: int) -> Any:
    return np.array([rng.random() for _ in range(n)])


def two_loops(rng: Generator, n: int) -> Any:
    a, b = np.empty(n), np.empty(n)
    for i in range(n):
        a[i] = rng.random()
    for i in range(n):
        b[i] = rng.normal()
    return a - b


def columns_first(rng: Generator, n: int) -> Any:
    a = np.zeros((n, 7))
    for j in range(7):
        for i in range(n):
            a[i, j] = rng.random() * j
    return a


def unread(rng: Generator, n: int) -> int:
    for _i in range(n):
        rng.random()
    rng.normal()
    return n


def one_for_all(rng: Generator, n: int) -> Any:
    a = np.full(n, rng.random())
    s = rng.random()
    for i in range(n):
        a[i] *= s
    a[1:] = rng.random()
    return a


def helper(rng: Generator) -> float:
    return rng.random() - rng.normal() * 10.0


def helped(rng: Generator, n: int) -> float:
    s = 0.0
    for _i in range(n):
        s = s * 0.5 + helper(rng) / helper(rng)
    return s


def unrolled(rng: Generator, n: int) -> Any:
    a = np.zeros(n)
    for i in range(n):
        for k in range(4):
            a[i] += rng.random() * k
    return a


def arrays(rng: Generator, n: int) -> Any:
    a = rng.random(n) + rng.normal(size=n) * rng.random(n)
    rng.random(out=a[:0])
    b = rng.normal(0.0, 2.0, (n, 3))
    rng.shuffle(a)
    rng.standard_normal(out=b)
    return a + b[:, 1]


def searched(rng: Generator, n: int) -> int:
    for i in range(n):
        if rng.random() > 0.95:
            return i
    return -1


def any_drawn(rng: Generator, n: int) -> bool:
    return any(rng.random() < 0.05 for _ in range(n))


def counted(rng: Generator, n: int) -> Any:
    h = np.zeros(10, dtype=np.int64)
    for _i in range(n):
        h[int(rng.random() * 10)] += 1
        h[rng.integers(10)] += 2
    return h


def tree(rng: Generator, n: int) -> float:
    """It calls itself, and nothing else draws."""
    return rng.normal() + tree(rng, n - 1) * tree(rng, n - 2) if n > 0 else rng.random()


def trees(rng: Generator, n: int) -> float:
    s = 0.0
    for _i in range(n):
        s += tree(rng, 3) - rng.random()
    return s


def swapped(rng: Generator, n: int) -> tuple[float, float]:
    x, y = rng.random(), rng.normal()
    draw = rng.random
    for _i in range(n):
        x, y = y * rng.random(), x + draw()
    return x, y


def chosen(rng: Generator, n: int) -> tuple[float, int]:
    widths, s, flags = [0.5, 1.5, 4.0], 0.0, 0
    for _i in range(n):
        s = s / 2 + rng.choice([-1, 1]) * rng.choice(widths)
        flags += rng.choice([True, False])
    return s, flags


def dealt(rng: Generator, n: int) -> tuple[int, list[int]]:
    cards, kept = [i * i for i in range(n)], 0
    for i in range(n):
        if i % 20 == 0:
            rng.shuffle(cards)
        kept += cards[i] * i + int(rng.choice(cards))
    return kept, cards


def orders(rng: Generator, n: int) -> Any:
    table = np.arange(12.0).reshape(4, 3)
    mixed = np.zeros((4, 3))
    for _i in range(n):
        rng.shuffle(table)
        mixed = mixed / 2 + rng.permutation(table) - rng.permuted(table, axis=1) * rng.permuted(table, axis=0)
    return mixed


PROGRAMS = (walk, on_some_paths, listed, two_loops, columns_first, unread, one_for_all, helped, unrolled, arrays,
            searched, any_drawn, counted, trees, swapped, chosen, dealt,
            orders)  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_draws_keep_their_number_and_order(program: Callable[..., Any], target: str) -> None:
    compiled = appyc.jit(program, target=target)
    for n in (0, 1, 61):
        one, other = np.random.default_rng(n), np.random.default_rng(n)
        for found, wanted in zip(leaves(compiled(other, n)), leaves(program(one, n)), strict=True):
            np.testing.assert_array_equal(found, wanted)
        assert state(one) == state(other)


def leaves(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


class Holder:
    def __init__(self) -> None:
        self.rng = random.Random(3)


def by_two_names(holder: Holder, n: int) -> float:
    s, draw = 0.0, holder.rng.random
    for _i in range(n):
        s += draw() + holder.rng.uniform(1.0, 2.0) + holder.rng.random()
    return s


def test_one_generator_is_one_by_whatever_names_it_is_drawn_from() -> None:
    one, other, compiled = Holder(), Holder(), appyc.jit(by_two_names)
    assert compiled(other, 500) == by_two_names(one, 500)
    assert calls_of(lambda: compiled(other, 500)) < 500  # Python makes three for each iteration
    by_two_names(one, 500)
    assert state(one.rng) == state(other.rng)


def steps_of_a_walk(n: int) -> tuple[int, int, list[int]]:
    moves, seen, x, y = [(0, 1), (1, 0), (0, -1), (-1, 0)], [0], 0, 0
    for _i in range(n):
        dx, dy = random.choice(moves)
        x, y = x + dx, y + dy
        seen.append(x * y + random.choice([2, 3]))
    random.shuffle(seen)
    return x, y, seen


def test_python_chooses_from_lists_and_shuffles_them() -> None:
    compiled, results = appyc.jit(strict=True)(steps_of_a_walk), []
    for function in (steps_of_a_walk, compiled):
        random.seed(6)
        results.append((function(300), random.getstate()))
    assert results[0] == results[1]


def listed_by_python(n: int) -> Any:
    picked = random.sample(range(n), 3)
    picked.sort()
    return picked, random.choices(range(n), k=2), random.sample([n, 2, 5], 2)


def test_lists_that_python_draws_are_lists() -> None:
    compiled, results = appyc.jit(listed_by_python), []
    for function in (listed_by_python, compiled):
        random.seed(6)
        results.append((function(300), random.getstate()))
    assert results[0] == results[1]


def hands(n: int) -> Any:
    taken = []
    for _ in range(n):
        hand = random.sample(range(n), 4)
        hand.sort()
        hand.append(sum(random.choices([1, 5, 9], k=3)))
        taken.append(hand[-2])
        ordered = sorted(draw_hand(range(n), 3))
        taken.append(hand[-1] + ordered[0])
    return taken


def weighed_items(n: int) -> int:
    items = [k * k for k in range(n)]
    total = 0
    for _ in range(n):
        pair = random.sample(items, 2)
        heavy = draw_heavy(items, [k + 1 for k in range(n)], k=2)
        total += pair[0] - pair[1] + heavy[0] * heavy[1]
    return total


draw_hand, draw_heavy = random.sample, random.choices


@pytest.mark.sampled
@pytest.mark.parametrize("function", [hands, weighed_items])
def test_lists_that_python_draws_have_names(function: Any) -> None:
    results = []
    for drawn in (function, appyc.jit(strict=True)(function)):
        random.seed(6)
        results.append((drawn(30), random.getstate()))
    assert results[0] == results[1]


class Model:
    def sample(self, count: int) -> Any:
        return np.arange(count)


def of_another_sample(model: Model, random: Model) -> Any:
    first, second = model.sample(3), random.sample(2)
    return first, second[1]


def test_other_methods_of_the_name_keep_their_meaning() -> None:
    first, second = appyc.jit(strict=True)(of_another_sample)(Model(), Model())
    assert isinstance(first, np.ndarray)
    assert (first.tolist(), second) == ([0, 1, 2], 1)


def by_weight(rng: Generator, a: Any, p: Any, count: int) -> Any:
    s = 0
    for _i in range(3):
        s += rng.choice(a, count, replace=False, p=p)[0]
    return s


@pytest.mark.sampled
@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
@pytest.mark.parametrize(
    ("a", "p", "count"),
    [(np.arange(3), [0.5, 0.4, 0.2], 1), (np.arange(3), [0.5, 0.5], 1), (np.arange(3), [1.5, -0.5, 0.0], 1),
     (np.arange(3), [0.5, np.nan, 0.5], 1), (np.arange(3), [0.5, 0.0, 0.5], 3), (np.arange(3), [0.2, 0.4, 0.4], 4),
     (np.arange(0), [], 1), (np.arange(3), [[0.2, 0.4, 0.4]], 1)],
)  # fmt: skip
def test_weights_that_are_none_raise_what_they_raise(make: Any, a: Any, p: Any, count: int) -> None:
    with pytest.raises(ValueError) as wanted:  # noqa: PT011  (the text is compared)
        by_weight(make(1), a, np.array(p), count)
    with pytest.raises(ValueError) as found:  # noqa: PT011
        appyc.jit(by_weight)(make(1), a, np.array(p), count)
    assert found.value.args[0].partition("\n")[0] == wanted.value.args[0]


class Chooser:
    """Something that is no generator, and keeps the list that it is given."""

    def choice(self, items: list[float]) -> float:
        self.items = items
        return items[0]

    def shuffle(self, items: list[int]) -> None:
        items.reverse()


@pytest.mark.parametrize("program", [chosen, dealt])
def test_methods_of_other_classes_get_the_list_itself(program: Callable[..., Any]) -> None:
    assert appyc.jit(program)(Chooser(), 25) == program(Chooser(), 25)


@pytest.mark.sampled
@pytest.mark.parametrize(("program", "arguments"), DRAWING, ids=[program.__name__ for program, _ in DRAWING])
def test_programs_that_are_timed_draw_what_python_draws(
    program: Callable[..., Any], arguments: Callable[[], tuple[Any, ...]]
) -> None:
    compiled, left = appyc.jit(program), []
    for function in (program, compiled):
        np.random.seed(5)
        random.seed(5)
        args = arguments()
        result = function(*args)
        states = [state(a) if isinstance(a, np.random.Generator) else a for a in args]
        left.append((result, repr((states, np.random.get_state(legacy=False), random.getstate()))))
    compare_values(left[0], left[1], program.__name__)  # sums of what is drawn are added up in lanes
    assert not runs_in_python(compiled)


def test_a_refused_argument_raises_where_the_program_draws() -> None:
    def scaled(rng: Generator, scale: float, n: int) -> None:
        for i in range(n):
            rng.normal(0.0, scale if i > 3 else 1.0)

    def scaled_before(rng: Generator, scale: float) -> float:
        return rng.normal(0.0, scale)

    appyc.jit(scaled_before)(np.random.default_rng(0), 1.0)  # library text has the location of each call
    one, other = np.random.default_rng(0), np.random.default_rng(0)
    with pytest.raises(ValueError, match=rf"^scale < 0\n +--> .*:{scaled.__code__.co_firstlineno + 2}:"):
        appyc.jit(scaled)(other, -1.0, 9)
    with pytest.raises(ValueError, match="scale < 0"):
        scaled(one, -1.0, 9)
    assert state(one) == state(other)


def test_what_only_the_library_draws_runs_in_python() -> None:
    def several(rng: Generator, scales: Any, n: int) -> float:
        s = 0.0
        for _i in range(n):
            s += rng.normal(0.0, scales)[1] + rng.hypergeometric(5, 6, 7)
        return s

    one, other = np.random.default_rng(0), np.random.default_rng(0)
    assert appyc.jit(several)(other, np.ones(3), 9) == several(one, np.ones(3), 9)


def test_a_generator_made_inside_is_made_before_the_loop() -> None:
    def made(seed: int, n: int) -> float:
        rng = np.random.default_rng(seed)
        s = 0.0
        for _i in range(n):
            s = s / 2 + rng.random()
        return s

    compiled = appyc.jit(made)
    assert compiled(3, 50) == made(3, 50)
    assert "for _i" in str(compiled.explain())


source_of_numbers: Generator = np.random.default_rng(0)


def from_outside(n: int) -> float:
    s = 0.0
    for _i in range(n):
        s = s / 2 + source_of_numbers.random()
    return s


def test_a_global_generator_may_become_another(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = appyc.jit(from_outside)
    for make in (np.random.default_rng, np.random.default_rng, np.random.RandomState, random.Random):
        monkeypatch.setitem(globals(), "source_of_numbers", make(4))
        found = compiled(9)
        monkeypatch.setitem(globals(), "source_of_numbers", make(4))
        assert found == from_outside(9)


def draws_in_several_ways(out: Any) -> None:
    for i in range(out.shape[0]):
        step = random.gauss(0.0, 1.0)
        out[i] = (
            step if random.random() < 0.5 else random.randint(1, 6) + np.random.rand() * np.random.randint(9)
        )


def test_functions_of_one_module_draw_from_one_generator_without_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = appyc.jit(strict=True)(draws_in_several_ways)
    compiled(np.zeros(9))
    results = []
    for function in (draws_in_several_ways, compiled, compiled):
        random.seed(3)
        np.random.seed(3)
        out = np.zeros(1000)
        calls = calls_of(functools.partial(function, out))
        results.append(out.tolist())
    assert results[0] == results[1] == results[2]
    assert calls < 1000

    for function in (draws_in_several_ways, compiled):
        monkeypatch.setattr(random, "gauss", random.Random(7).gauss)
        random.seed(3)
        np.random.seed(3)
        function(out)
        results.append(out.tolist())
    assert results[0] != results[3] == results[4]


def from_two(a: Generator, b: Generator, out: Any) -> None:
    for i in range(out.shape[0]):
        out[i] = a.random() - b.random()


def test_two_names_of_one_generator() -> None:
    found, wanted = np.zeros(9), np.zeros(9)
    bits = np.random.MT19937(1)
    appyc.jit(from_two)(np.random.Generator(bits), np.random.RandomState(bits), found)
    bits = np.random.MT19937(1)
    from_two(np.random.Generator(bits), np.random.RandomState(bits), wanted)
    assert found.tolist() == wanted.tolist()


def one_each(rngs: list[Generator], out: Any) -> None:
    for i in appyc.prange(out.shape[0]):
        s = 0.0
        for _k in range(10):
            s = s / 2 + rngs[i].normal()
        own = rngs[i]
        out[i] = s + own.integers(100)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_streams_give_the_same_for_any_number_of_threads(threads: int) -> None:
    one, other = np.random.default_rng(1).spawn(500), np.random.default_rng(1).spawn(500)
    found, wanted = np.zeros(500), np.zeros(500)
    before = appyc.get_num_threads()
    appyc.set_num_threads(threads)
    try:
        compiled = appyc.jit(one_each)
        compiled(one, found)
    finally:
        appyc.set_num_threads(before)
    one_each(other, wanted)
    assert found.tolist() == wanted.tolist()
    assert [state(rng) for rng in one] == [state(rng) for rng in other]
    assert "parallel" in str(compiled.explain())


def test_too_few_streams_raise_and_one_that_is_twice_in_the_list_is_drawn_from_in_order() -> None:
    compiled = appyc.jit(one_each)
    with pytest.raises(IndexError, match="out of bounds"):
        compiled(np.random.default_rng(1).spawn(5), np.zeros(6))
    found, wanted = np.zeros(9), np.zeros(9)
    compiled([np.random.default_rng(1)] * 9, found)
    one_each([np.random.default_rng(1)] * 9, wanted)
    one = np.random.default_rng(1)
    one_each([one] * 9, wanted)
    assert found[0] == wanted[0]
    twice = np.random.default_rng(1)
    compiled([twice] * 9, found)
    assert found.tolist() == wanted.tolist()


def test_iterations_that_share_a_generator_are_refused() -> None:
    def shared(rng: Generator, out: Any) -> None:
        for i in appyc.prange(out.shape[0]):
            out[i] = rng.random()

    with pytest.raises(DependenceError, match="draw from one generator") as caught:
        appyc.jit(shared)(np.random.default_rng(1), np.zeros(10))
    assert "spawn" in str(caught.value)


def test_nobody_else_draws_meanwhile() -> None:
    """The generator's lock is held: by another thread, the call waits for it."""
    import threading

    compiled, rng = appyc.jit(walk), np.random.default_rng(0)
    compiled(rng, 10)
    done = threading.Event()
    with rng.bit_generator.lock:
        thread = threading.Thread(target=lambda: (compiled(rng, 10), done.set()))
        thread.start()
        assert not done.wait(0.05)
    assert done.wait(5)
    thread.join()


def test_a_copied_state_goes_on_as_the_other() -> None:
    rng = random.Random(3)
    compiled = appyc.jit(helped_by_python)
    compiled(rng, 700)
    assert compiled(copy.deepcopy(rng), 9) == helped_by_python(rng, 9)


def helped_by_python(rng: random.Random, n: int) -> float:
    s = 0.0
    for _i in range(n):
        s = s / 2 + rng.gauss() + rng.random()
    return s


def test_a_recursive_function_that_draws() -> None:
    one, other = np.random.default_rng(3), np.random.default_rng(3)
    assert appyc.jit(tree)(one, 7) == tree(other, 7)
    assert state(one) == state(other)


def test_what_a_generator_that_a_loop_makes_cannot_do_is_refused() -> None:
    def drawn(out: Any) -> None:
        for i in appyc.prange(out.shape[0]):
            rng = np.random.default_rng(i)
            out[i] = rng.gamma(2.0)

    def seeded(out: Any) -> None:
        for i in appyc.prange(out.shape[0]):
            out[i] = np.random.default_rng(i - 3).random()

    def handed_on(out: Any) -> None:
        for i in range(out.shape[0]):
            out[i] = tree(np.random.default_rng(i), 2)

    with pytest.raises(UnsupportedError, match="only the library has the distribution") as caught:
        appyc.jit(drawn)(np.zeros(9))
    assert "rng.gamma(2.0)" in str(caught.value)
    assert "spawn" in str(caught.value)
    with pytest.raises(ValueError, match="non-negative integer"):
        appyc.jit(seeded)(np.zeros(9))
    found, wanted = np.zeros(9), np.zeros(9)
    appyc.jit(handed_on)(found)
    handed_on(wanted)
    assert found.tolist() == wanted.tolist()
