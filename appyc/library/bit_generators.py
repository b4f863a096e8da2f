"""Generators that compiled code makes for itself, in terms of numbers: inlined where a program makes and uses them.

`<name>_made(seed, key, counter)` is the state of a bit generator: what stays of it, what changes, and whether half of a
word waits, and which. Its next word is `<name>_next(fixed, changing)`, which returns the word and the changed part.
`random_*` and `bounded` are the functions of `ir/draw_functions.py` of the same names, for such generators.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from appyc.library.distributions import Primitive
from appyc.library.primitives import high_product, refuse

next_word = Primitive("next_word")
"""64 bits."""

next_half = Primitive("next_half")
"""32 bits."""

normal_rows = Primitive("normal_rows")
exponential_rows = Primitive("exponential_rows")
"""The rows of `library/ziggurat.py`."""

_U32, _U64 = np.uint32, np.uint64
_LOW = _U64(0xFFFFFFFF)
_ALL = _U64(0xFFFFFFFFFFFFFFFF)
_ZERO = _U64(0)
_ONE = _U64(1)
_HALF_BITS = _U64(32)


# ---------------------------------------------------------------- Philox4x64, 10 rounds

_PHILOX_MULTIPLIER_0, _PHILOX_MULTIPLIER_1 = _U64(0xD2E7470EE14C6C93), _U64(0xCA5A826395121157)
_PHILOX_STEP_0, _PHILOX_STEP_1 = _U64(0x9E3779B97F4A7C15), _U64(0xBB67AE8584CAA73B)


def philox_next(fixed, changing):
    first_key, second_key = fixed
    count_0, count_1, count_2, count_3, word_0, word_1, word_2, word_3, taken = changing
    if taken == 4:
        count_0 += _ONE
        count_1 += _ONE if count_0 == _ZERO else _ZERO
        count_2 += _ONE if count_0 | count_1 == _ZERO else _ZERO
        count_3 += _ONE if count_0 | count_1 | count_2 == _ZERO else _ZERO
        word_0, word_1, word_2, word_3 = count_0, count_1, count_2, count_3
        key_0, key_1 = first_key, second_key
        for _ in range(10):
            high_0, low_0 = high_product(_PHILOX_MULTIPLIER_0, word_0), _PHILOX_MULTIPLIER_0 * word_0
            high_1, low_1 = high_product(_PHILOX_MULTIPLIER_1, word_2), _PHILOX_MULTIPLIER_1 * word_2
            word_0, word_1 = high_1 ^ word_1 ^ key_0, low_1
            word_2, word_3 = high_0 ^ word_3 ^ key_1, low_0
            key_0 += _PHILOX_STEP_0
            key_1 += _PHILOX_STEP_1
        taken = 0
    word = (word_0 if taken == 0 else word_1) if taken < 2 else (word_2 if taken == 2 else word_3)
    return word, (count_0, count_1, count_2, count_3, word_0, word_1, word_2, word_3, taken + 1)


def philox_made(seed, key, counter):
    if (seed is None) == (key is None):
        refuse("it needs a seed or a key")
    fixed = (
        seed_words(_seeds(seed))[:2]
        if key is None
        else _words(key, 2, "key must be positive and less than 2**128.")
    )
    counts = (_ZERO,) * 4
    if counter is not None:
        counts = _words(counter, 4, "counter must be positive and less than 2**256.")
    return _philox_at(fixed, counts)


def philox_jumped(fixed, changing, jumps):
    count_2 = changing[2] + _word(jumps, "a generator that compiled code makes does not jump back")
    count_3 = changing[3] + (_ONE if count_2 < changing[2] else _ZERO)
    return _philox_at(fixed, (changing[0], changing[1], count_2, count_3))


def _philox_at(fixed, counter):
    """The state of a Philox that has drawn nothing since its counter was set."""
    return fixed, (*counter, _ZERO, _ZERO, _ZERO, _ZERO, 4), (False, _ZERO)


# ---------------------------------------------------------------- PCG64 (XSL-RR)

_PCG_HIGH, _PCG_LOW = _U64(2549297995355413924), _U64(4865540595714422341)
_PCG_TOP, _WORD_BITS, _LAST_BIT = _U64(58), _U64(64), _U64(63)


def _pcg64_step(high, low, step_high, step_low):
    product = low * _PCG_LOW
    next_high = high_product(low, _PCG_LOW) + high * _PCG_LOW + low * _PCG_HIGH
    next_low = product + step_low
    return next_high + step_high + (_ONE if next_low < product else _ZERO), next_low


def pcg64_next(fixed, changing):
    high, low = _pcg64_step(changing[0], changing[1], fixed[0], fixed[1])
    mixed, turn = high ^ low, high >> _PCG_TOP
    return (mixed >> turn) | (mixed << ((_WORD_BITS - turn) & _LAST_BIT)), (high, low)


def pcg64_made(seed, key, counter):
    words = seed_words(_seeds(seed))
    step_high, step_low = (words[2] << _ONE) | (words[3] >> _LAST_BIT), (words[3] << _ONE) | _ONE
    low = step_low + words[1]
    high = step_high + words[0] + (_ONE if low < step_low else _ZERO)
    return (step_high, step_low), _pcg64_step(high, low, step_high, step_low), (False, _ZERO)


# ---------------------------------------------------------------- SeedSequence

_MIX_LEFT, _MIX_RIGHT, _SHIFT = _U32(0xCA01F9DD), _U32(0x4973F715), _U32(16)


def _constants(first, factor, count):
    """Powers of a factor, modulo 2**32, times a first one."""
    out = [first]
    for _ in range(count):
        out.append(out[-1] * factor % 2**32)
    return tuple(map(_U32, out))


_POOL = _constants(0x43B0D7E5, 0x931E8875, 16)
_STATE = _constants(0x8B51F9DD, 0x58F38DED, 8)


def _word(number, message):
    """An integer from 0 on."""
    if np.ndim(number) > 0 or number.dtype.kind not in ("i", "u"):
        refuse("it is made of integers")
    if number.dtype.kind == "i" and number < 0:
        raise ValueError(message)
    return _U64(number)


def _words(number, count, message):
    """The words of a key or a counter: an integer, or one for each of them."""
    if not isinstance(number, tuple):
        return (_word(number, message),) + (_ZERO,) * (count - 1)
    if len(number) != count:
        refuse("this is another number of words than it has")
    for word in number:
        if np.ndim(word) > 0 or word.dtype.kind not in ("i", "u") or word.dtype != number[0].dtype:
            refuse("its words are integers of one type")
    return tuple(word if word.dtype.kind == "u" else np.int64(word).astype(_U64) for word in number)


def _seeds(seed):
    seeds = seed if isinstance(seed, tuple) else (seed,)
    if len(seeds) not in (1, 2):
        refuse("it has one seed or two")
    return tuple(_word(one, "expected non-negative integer") for one in seeds)


def _hashed(value, before, after):
    value = (value ^ before) * after
    return value ^ (value >> _SHIFT)


def _mixed(into, value, at):
    out = _MIX_LEFT * into - _MIX_RIGHT * _hashed(value, _POOL[at], _POOL[at + 1])
    return out ^ (out >> _SHIFT)


def _pool(seeds):
    """The four numbers of 32 bits that are made of one or two seeds."""
    first = (seeds[0] & _LOW).astype(np.uint32)
    second = (seeds[0] >> _HALF_BITS).astype(np.uint32)
    third = fourth = _U32(0)
    if len(seeds) == 2:
        low, high = (seeds[1] & _LOW).astype(np.uint32), (seeds[1] >> _HALF_BITS).astype(np.uint32)
        is_short = second == _U32(0)
        second, third, fourth = (
            low if is_short else second,
            high if is_short else low,
            _U32(0) if is_short else high,
        )
    a, b = _hashed(first, _POOL[0], _POOL[1]), _hashed(second, _POOL[1], _POOL[2])
    c, d = _hashed(third, _POOL[2], _POOL[3]), _hashed(fourth, _POOL[3], _POOL[4])
    b, c, d = _mixed(b, a, 4), _mixed(c, a, 5), _mixed(d, a, 6)
    a, c, d = _mixed(a, b, 7), _mixed(c, b, 8), _mixed(d, b, 9)
    a, b, d = _mixed(a, c, 10), _mixed(b, c, 11), _mixed(d, c, 12)
    return _mixed(a, d, 13), _mixed(b, d, 14), _mixed(c, d, 15), d


def _joined(low, high, at):
    low, high = _hashed(low, _STATE[at], _STATE[at + 1]), _hashed(high, _STATE[at + 1], _STATE[at + 2])
    return _U64(low) | (_U64(high) << _HALF_BITS)


def seed_words(seeds):
    """The four words that a sequence of one or two seeds gives first."""
    a, b, c, d = _pool(seeds)
    return _joined(a, b, 0), _joined(c, d, 2), _joined(a, b, 4), _joined(c, d, 6)


# ---------------------------------------------------------------- numbers


def take_half(rng, has_half, half):
    """The next 32 bits: the upper ones of a word wait for the next call."""
    taken = half
    if not has_half:
        word = next_word(rng)
        taken = word & _LOW
        half = word >> _HALF_BITS
    return taken, (not has_half, half)


_UNIT = 1.0 / 9007199254740992.0


def _as_float(bits):
    return float(bits.astype(np.int64))


def random_standard_uniform(rng):
    return _as_float(next_word(rng) >> _U64(11)) * _UNIT


def random_uniform(rng, low, width):
    return low + width * random_standard_uniform(rng)


def standard_uniform_float32(rng):
    return (next_half(rng) >> _U64(8)).astype(np.int64).astype(np.float32) * np.float32(1.0 / 16777216.0)


def random_standard_normal(rng):
    rows = normal_rows(rng)
    last = rows[255, 1] * 4503599627370496.0
    out, sign, row, step = 0.0, _ZERO, 0, 0
    while step < 4:
        word = next_word(rng)
        uniform = _as_float(word >> _U64(11)) * _UNIT
        if step == 0:
            row = int(word & _U64(255))
            size = _as_float((word >> _U64(9)) & _U64(0xFFFFFFFFFFFFF))
            out = size * rows[row, 1]
            sign = (word if row > 0 or size < rows[0, 0] else word >> _U64(9)) & _U64(256)
            step = 4 if size < rows[row, 0] else (1 if row > 0 else 2)
        elif step == 1:
            height = (rows[row - 1, 2] - rows[row, 2]) * uniform + rows[row, 2]
            step = 4 if height < np.exp(-0.5 * out * out) else 0
        elif step == 2:
            out = -(1.0 / last) * np.log1p(-uniform)
            step = 3
        else:
            tested = -np.log1p(-uniform)
            is_found = tested + tested > out * out
            out = last + out
            step = 4 if is_found else 2
    return -out if sign > _ZERO else out


def random_normal(rng, loc, scale):
    return loc + scale * random_standard_normal(rng)


def random_lognormal(rng, mean, sigma):
    return float(np.exp(random_normal(rng, mean, sigma)))


def random_standard_exponential(rng):
    rows = exponential_rows(rng)
    out, row, step = 0.0, 0, 0
    while step < 2:
        word = next_word(rng)
        if step == 0:
            row = int(word >> _U64(3) & _U64(255))
            size = _as_float(word >> _U64(11))
            out = size * rows[row, 1]
            step = 2 if size < rows[row, 0] else 1
        else:
            uniform = _as_float(word >> _U64(11)) * _UNIT
            if row > 0:
                height = (rows[row - 1, 2] - rows[row, 2]) * uniform + rows[row, 2]
                step = 2 if height < np.exp(-out) else 0
            else:
                out = rows[255, 1] * 9007199254740992.0 - np.log1p(-uniform)
                step = 2
    return out


def random_exponential(rng, scale):
    return scale * random_standard_exponential(rng)


def bounded(rng, greatest):
    """An integer from 0 to the greatest one, all as likely: the upper half of a product (Lemire's method)."""
    if greatest == _ZERO:
        return _ZERO
    if greatest < _LOW:
        return _bounded_half(rng, greatest)
    if greatest == _LOW:
        return next_half(rng)
    if greatest == _ALL:
        return next_word(rng)
    return _bounded_word(rng, greatest)


def _bounded_half(rng, greatest):
    count, product, is_found = greatest + _ONE, _ZERO, False
    while not is_found:
        product = next_half(rng) * count
        rest = product & _LOW
        is_found = rest >= count or rest >= (_LOW - greatest) % count
    return product >> _HALF_BITS


def _bounded_word(rng, greatest):
    count, word, is_found = greatest + _ONE, _ZERO, False
    while not is_found:
        word = next_word(rng)
        rest = word * count
        is_found = rest >= count or rest >= (_ALL - greatest) % count
    return high_product(word, count)


def random_interval(rng, greatest):
    """A random number up to `greatest`, by rejection: as many bits as `greatest` has, until they are in
    range."""
    out = _ZERO
    if greatest > _ZERO:
        mask = greatest | (greatest >> _ONE)
        mask |= mask >> _U64(2)
        mask |= mask >> _U64(4)
        mask |= mask >> _U64(8)
        mask |= mask >> _U64(16)
        mask |= mask >> _HALF_BITS
        out = greatest + _ONE
        while out > greatest:
            out = (next_half(rng) if greatest <= _LOW else next_word(rng)) & mask
    return out
