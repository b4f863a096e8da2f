"""Arrays of bytes that a function makes and returns, as they are or as bytes."""

import numpy as np

from tests.programs.registry import Programs

PROGRAMS = Programs(strict=True)

_TEXT = b"aaaabbbcccccccd\x00\xff\xff"


@PROGRAMS.on(_TEXT, b"key")
@PROGRAMS.on(b"", b"key")
@PROGRAMS.on(_TEXT, b"")
def masked(data, key):
    out = bytearray(len(data))
    check = 0
    for i in range(len(data)):
        out[i] = data[i] ^ key[i % len(key)]
        out[i] ^= 0x55
        check = (check * 31 + out[i]) % 65521
    for b in out:
        check += b
    return bytes(out), check, len(out)


@PROGRAMS.on(_TEXT)
@PROGRAMS.on(b"")
def run_lengths(data):
    out = bytearray()
    i = 0
    while i < len(data):
        j = i
        while j < len(data) and data[j] == data[i] and j - i < 255:
            j += 1
        out.append(j - i)
        out.append(data[i])
        i = j
    if not out:
        out.extend(b"\n")
    return out


@PROGRAMS.on(300)
@PROGRAMS.on(200)
@PROGRAMS.on(0)
@PROGRAMS.on(-1)
def sieve(n):
    is_prime = bytearray(n)
    for i in range(2, n):
        is_prime[i] = True
    i = 2
    while i * i < n:
        if is_prime[i]:
            for k in range(i * i, n, i):
                is_prime[k] = 0
        i += 1
    return sum(is_prime), is_prime


@PROGRAMS.on(np.array([3, 200, 100]))
@PROGRAMS.on(np.array([3, 200, 256]))
@PROGRAMS.on(np.array([3, -1, 1]))
@PROGRAMS.on(np.array([200, 100, 1]))
def clipped(a):
    out = bytearray(3)
    for i in range(len(a)):
        out[i] = a[i]
        out[-1] += out[0] * 2
    return bytes(out)


@PROGRAMS.on(b"hello", 5)
@PROGRAMS.on(b"hello", 1)
def reversed_copy(data, at):
    out = bytearray(data)
    n = len(out)
    for i in range(n // 2):
        out[i], out[n - 1 - i] = out[n - 1 - i], out[i]
    last = out.pop()
    return bytes(out), last, out[at]


@PROGRAMS.on(np.array([3, 200, 100], np.uint8), np.array([0.5, 1.5, 0.5]))
@PROGRAMS.on(np.array([3, 200, 100], np.int16), np.array([0.5, 0.5, 0.5]))
def levels(a, x):
    out = bytearray(len(a))
    for i in range(len(a)):
        if x[i] > 1:
            out[i] = a[i]
        else:
            out[i] = int(x[i] * 100)
    total = 0
    for i, b in enumerate(out):
        total += i * b
    return out, total


@PROGRAMS.on(100)
@PROGRAMS.on(1)
def repeated(n):
    is_prime = bytearray([1]) * (n + 1)
    is_prime[0] = 0
    is_prime[1] = 0
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            for k in range(i * i, n + 1, i):
                is_prime[k] = 0
    return sum(is_prime), is_prime


@PROGRAMS.on(100)
@PROGRAMS.on(3)
def parts(n):
    is_prime = bytearray(b"\x01") * (n + 1)
    is_prime[0:2] = b"\x00\x00"
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = bytes(len(range(i * i, n + 1, i)))
    is_prime[1:2] = bytearray(2)
    return sum(is_prime), is_prime


@PROGRAMS.on(8)  # ValueError
def part_of_another_length(n):
    out = bytearray(n)
    out[::2] = b"\x01" * n
    return out


_DIGITS = b"0123456789abcdef"


@PROGRAMS.on(b"some bytes")
@PROGRAMS.on(b"")
def looked_up(data):
    letters = b"klmn"
    out = bytearray(2 * len(data))
    for i in range(len(data)):
        out[2 * i] = _DIGITS[data[i] >> 4]
        out[2 * i + 1] = letters[data[i] & 3]
    total = len(letters) + len(_DIGITS)
    for i, c in enumerate(letters):
        total = total * 3 + i * c
    return out, total, letters[-1], max(letters)


@PROGRAMS.on(16)  # IndexError
def looked_up_beyond(k):
    return _DIGITS[k]
