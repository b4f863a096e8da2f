"""Digits of integers by way of their texts, and texts that are written out, looked up by index."""

import numpy as np

from tests.programs.registry import C_ONLY, Programs

PROGRAMS = Programs(strict=True)
BASES = "ACGT"


@PROGRAMS.on(0)
@PROGRAMS.on(9075)
@PROGRAMS.on(np.uint8(255))
@PROGRAMS.on(2**63 - 1)
def digit_sums(n):
    total = 0
    for d in str(n):
        total += int(d)
    return total, sum(int(d) ** 2 for d in str(n)), sum(map(int, str(n + 0))), len(str(n)), str(n).count("7")


@PROGRAMS.on(-(2**63))
@PROGRAMS.on(-120)
@PROGRAMS.on(np.int64(-7))
@PROGRAMS.on(77)
def signed(n):
    text = str(n)
    digits = []
    for c in text:
        if c != "-":
            digits.append(int(c))
    return text[0] == "-", "1" in text, digits, text[::-1], int(text) + 1


def turned(n):
    return int(str(n)[::-1])


@PROGRAMS.on(300, targets=C_ONLY)
@PROGRAMS.on(24)
def palindromes(n):
    found = []
    steps = 0
    for i in range(n):
        if str(i) == str(i)[::-1]:
            found.append(i)
        k = i
        for _ in range(4):
            k += turned(k)
            text = str(k)
            if text == text[::-1]:
                break
            steps += 1
    return found, steps


@PROGRAMS.on(400, targets=C_ONLY)
@PROGRAMS.on(102)
def narcissistic(n):
    found = []
    for i in range(n):
        width = len(str(i))
        if sum(int(d) ** width for d in str(i)) == i:
            found.append(i)
    return found


@PROGRAMS.on(150, targets=C_ONLY)
@PROGRAMS.on(24)
def rearranged(n):
    same = distinct = 0
    for i in range(1, n):
        if sorted(str(i)) == sorted(str(9 * i)):
            same += 1
        if len(set(str(i))) == len(str(i)):
            distinct += 1
    return same, distinct, [i for i in range(n) if "7" in str(i)]


@PROGRAMS.on(40)
def joined(n):
    text = ""
    for i in range(n):
        text += str(i)
    digits = []
    for i in range(n):
        digits.extend(str(i))
    return text, digits[11], len(digits), int(text[10]) * int(text[15])


@PROGRAMS.on(0)
@PROGRAMS.on(2**40 + 77)
def bits(n):
    out = np.zeros(64, dtype=np.int64)
    for k, b in enumerate(bin(n)[2:]):
        out[k] = int(b)
    return out, len(hex(n)), hex(n)[-1], oct(n)[::-1], bin(n).count("1")


@PROGRAMS.on(7, 30)
@PROGRAMS.on(3, 0)
def written_out(seed, n):
    bases = ""
    paired = []
    for i in range(n):
        base = "ACGT"[(i * seed + 3) % 4]
        bases += base
        paired.append("TGCA"["ACGT".index(base)])
    return bases, paired, "".join(BASES[(i * i) % 4] for i in range(n)), BASES.find("C")


@PROGRAMS.on(2**60 + 17)
def in_hexadecimal(n):
    symbols = "0123456789abcdef"
    out = []
    while n > 0:
        out.append(symbols[n % 16])
        n //= 16
    return "".join(reversed(out))


@PROGRAMS.on(4)
def beyond_the_end(n):
    return "ACGT"[n]


@PROGRAMS.on(2)
def not_found(n):
    return "AC".index("ACGT"[n])


@PROGRAMS.on(0)
@PROGRAMS.on(-1234)
def made_of_numerals(n):
    text = str(n) + "-" + bin(n)[2:]
    line = "=" * len(text)
    padded = ("00000000" + str(abs(n)))[-8:]
    return text, line, padded, f"{n}:{padded}", text.replace("1", "one"), "10" in text, text.find("-", 1)


@PROGRAMS.on(5)
def separated(n):
    return ", ".join(str(i * i) for i in range(n)), "<" + "".join(str(i) for i in range(n)) * 2 + ">"


@PROGRAMS.on(3)
def beside_numbers(n):
    return {"twice": n * 2, "kind": "fast", "short": "x"}, ("ab", n)


@PROGRAMS.on(2)
@PROGRAMS.on(-7)
def parts_of_written_texts(n):
    c = "abcdef"[n % 6]
    return "abcdef"[1:n], "abcdef"[::-1], "ab"[n:n] + "x", c[0], c[1:], c[:5], len(c) + len("abc"[n:])
