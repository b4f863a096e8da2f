"""Texts and bytes as arguments: their characters are looked at as in Python, and one version does for all texts."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

import appyc
from appyc.compiler.parameters import Parameters
from appyc.frontend.source import read_source
from appyc.frontend.syntax.text_parameters import texts_run_over
from tests.compiler.test_list_arguments import outcome

pytestmark = pytest.mark.filterwarnings("ignore::appyc.FallbackWarning")


def edit_distance(s: Any, t: Any) -> Any:
    previous = list(range(len(t) + 1))
    for i in range(len(s)):
        current = [i + 1]
        for j in range(len(t)):
            cost = 0 if s[i] == t[j] else 1
            current.append(min(previous[j + 1] + 1, current[j] + 1, previous[j] + cost))
        previous = current
    return previous[-1]


def common_subsequence(s: Any, t: Any) -> Any:
    table = [[0] * (len(t) + 1) for _ in range(len(s) + 1)]
    for i, a in enumerate(s):
        for j, b in enumerate(t):
            if a == b:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    return table[len(s)][len(t)]


def counted(s: Any, t: Any) -> Any:
    counts = [0] * 128
    vowels = others = 0
    for c in s:
        if ord(c) < 128:
            counts[ord(c)] += 1
        if c in "aeiou" or c in ("y", "w"):
            vowels += 1
        elif c not in t and c != " " and "a" <= c <= "z":
            others += 1
    return counts, vowels, others, "x" in s, len(s), sum(1 for c in t if c == "b")


def runs(s: Any, t: Any) -> Any:
    found = []
    last, length = "", 0
    for c in s:
        if c == last:
            length += 1
        else:
            if length:
                found.append((ord(last), length))
            last, length = c, 1
    if length:
        found.append((ord(last), length))
    return found


def is_palindrome(s: Any, t: Any) -> Any:
    i, j = 0, len(s) - 1
    while i < j:
        if s[i] != s[j]:
            return False
        i += 1
        j -= 1
    return True


def overlaps(s: Any, t: Any) -> Any:
    same = 0
    for a, b in zip(s[1:], reversed(t)):  # noqa: B905
        same += a == b
    before = s[0]
    for c in s[1:]:
        same += before < c
        before = c
    return same, s[-1] == t[0]


def hashed(s: Any, t: Any) -> Any:
    h = 5381
    for x in s:
        h = (h * 33 + ord(x)) % 2**32
    return h


def balanced(s: Any, t: Any) -> Any:
    pairs = {"b": "a", "c": "b"}
    stack = []
    for c in s:
        if c in "ab":
            stack.append(c)
        elif c in pairs and stack and stack[-1] == pairs[c]:
            stack.pop()
    return stack, "".join(stack), "".join(reversed(stack)), len(stack), not stack


def classified(s: Any, t: Any) -> Any:
    counts = [0] * 6
    out, changed = "", []
    for c in s:
        counts[0] += c.isalpha()
        counts[1] += c.isdigit()
        counts[2] += c.isalnum()
        counts[3] += c.isspace()
        counts[4] += c.isupper()
        counts[5] += c.islower()
        out += c.upper() if c in t else "-"
        changed.append(c.lower())
        out = out + c
    return counts, out, "".join(changed), changed


def made(s: Any, t: Any) -> Any:
    both, low, line = s + t, s.lower(), "-" * len(s)
    turned = n = 0
    for c in both:
        n += ord(c)
    for a, b in zip(s[::-1] + t, low.upper()):  # noqa: B905
        turned += a == b
    if (t + s)[:2] == both[:2]:
        n += 1000
    line = "|" + line
    return n, turned, both, low == t.lower(), low, line + "|", s[1:] * 2, (s + "xy" + s[:1])[::-1]


def put_in_front(s: Any, t: Any) -> Any:
    out, best, grown = "", "", ""
    for c in s:
        out = c + out
        grown += c * 2 + t
        part = s[len(out) :] + c
        if part > best and c != "x":
            best = part
    return out, best, grown


def without_blanks(s: Any, t: Any) -> Any:
    changed = s.replace("b", "xy").replace("a", t[:1]).replace("x", "")
    inside = (" " + s + "\t ").strip()
    return (
        changed,
        inside,
        (" " + s).lstrip(),
        (s + "  ").rstrip(),
        ", ".join(c for c in s if c != "b"),
        t.join(s[k : k + 2] for k in range(3)),
    )


def run_lengths(s: Any, t: Any) -> Any:
    out, last, n = "", "", 0
    for c in s:
        if c == last:
            n += 1
        else:
            if n:
                out += f"{last}{n}"
            last, n = c, 1
    return out + last + str(n), f"{s}: {t}<{n}>", len(f"{out}{last}")


def looked_for(s: Any, t: Any) -> Any:
    n = at = 0
    for i in range(len(s)):
        part = s[i : i + 2]
        n += s.startswith(part) + 2 * s.endswith(part) + 4 * (part in t) + 8 * ("bc" not in t[i:])
        n += (
            100 * s.count(part)
            + 10000 * s.find(part, i - 3)
            + 100000 * (part < t)
            + 1000000 * (s[i:] >= "ab")
        )
    while s.find("b", at) >= 0:
        at = s.find("b", at) + 1
    return n, at, s.isdigit(), s[1:].isalpha(), s <= t, s > t, s.index(t[:1]), str(len(s)).startswith("1")


def lists_of_texts(s: Any, t: Any) -> Any:
    parts, by_number, groups, n = [], {}, {}, 0
    for i in range(3):
        parts.append(s[i:])
        by_number[i] = s[i:]
    for i, c in enumerate(s):
        groups.setdefault(c, []).append(i)
        n += c in parts[i % 3]
    return parts, by_number, groups, n


def tuples_of_characters(s: Any, t: Any) -> Any:
    pairs, runs, counts, k = [("a", (1, "b"))], [], {}, len([s[0], "x"])
    last, n = "", 0
    for i, c in enumerate(s):
        pairs.append((c, (i, c)))
        counts[c, i % 2] = counts.get((c, i % 2), 0) + 1
        if c == last:
            n += 1
        else:
            runs.append((n, last))
            last, n = c, 1
    return pairs, runs, counts, sorted(counts), [(c, ord(c.lower())) for c in t], k


def _turned(s: Any) -> Any:
    if len(s) == 0:
        return ""
    return _turned(s[1:]) + s[0]


def _is_palindrome_too(s: Any) -> Any:
    return len(s) < 2 or (s[0] == s[-1] and _is_palindrome_too(s[1:-1]))


def _filled_up(w: Any, n: Any) -> Any:
    while len(w) < n:
        w += "."
    return w


def given_to_others(s: Any, t: Any) -> Any:
    both = ""
    for c in s:
        both += c
    filled = _filled_up(both, 5)
    parts = _filled_up(s, 3), _filled_up(s[0], 2), _filled_up("xy", 4), _filled_up("", len(t))
    k = 0
    while k < len(t) and list(reversed(s)) == list(reversed(both)):
        k += len(list(t))
    return filled, both, parts, _turned(s + t), _is_palindrome_too(s), _is_palindrome_too("aba"), k


def kept_and_joined(s: Any, t: Any) -> Any:
    n = i = len(t)
    kept = "".join(c for c in s if c != "x")
    return "".join([s[i - n] for i in range(i, len(s)) if s[i] not in t]), kept == s, kept


def of_several(s: Any, t: Any) -> Any:
    found = 0
    for i in range(0, len(s), 2):
        two = s[i : i + 2]
        if two in ("ab", "ba") or s[i:] in ["", "abc"]:
            found += 1
        elif two not in ("a€", "b"):
            found += 100
    return found


def complemented(s: Any, t: Any) -> Any:
    other = {"a": "b", "b": "a", "c": "d", "d": ""}
    return "".join(other.get(c, "-") for k in range(2) for c in s if k != len(t))


def numbers_of_digits(s: Any, t: Any) -> Any:
    total, last = 0, ""
    for c in t:
        if c.isdigit():
            total += int(c)
            last = c
    return total, int(s[0]), last, chr(97 + total)


def counted_by_character(s: Any, t: Any) -> Any:
    counts: dict[str, int] = {}
    seen = set()
    last = {}
    for i, c in enumerate(s):
        counts[c] = counts.get(c, 0) + 1
        if c not in seen:
            seen.add(c)
        last[c] = i
    for c in t:
        if c in counts:
            counts[c] -= 1
    total = 0
    for c, n in counts.items():
        total += n if c != "a" else 10 * n
    return counts, seen, total, max(counts, key=counts.get) if counts else "", len(last)


def copied(s: Any, t: Any) -> Any:
    items = list(s)
    i, j = 0, len(items) - 1
    while i < j:
        items[i], items[j] = items[j], items[i]
        i, j = i + 1, j - 1
    items.extend(t)
    items.append("x" if i else t[0])
    ordered, others = sorted(s), sorted(t)
    return items, ordered == others, ordered, items.count("a"), s.count("b")


def parts(s: Any, t: Any) -> Any:
    found = []
    for i in range(len(s) - len(t) + 1):
        if s[i : i + len(t)] == t:
            found.append(i)
    return found, s == s[::-1], s[1:3] != "ab", s[1:4], s[::-1], s == t


def begins_alike(s: Any, t: Any) -> Any:
    def same(i: Any, c: Any) -> Any:
        return i < len(s) and s[i] == c

    n = 0
    for i, c in enumerate(t):
        n += same(i, c)
    return n


def parts_and_lists(s: Any, t: Any) -> Any:
    part, turned, ordered, longest = s[1:], s[::-1], sorted(s), s[:1]
    for i in range(len(s)):
        if s[i] > longest[0]:
            longest = s[i:]
    grown = s[1:]
    for c in t:
        grown += c
    n = part.count("a") + grown.count("b") + (part == turned)
    return part, turned, ordered, longest, grown, n


def longest_palindrome(s: Any, t: Any) -> Any:
    best = ""
    for i in range(min(len(s), 20)):
        for j in range(i, min(len(s), 20)):
            part = s[i : j + 1]
            if part == part[::-1] and len(part) > len(best):
                best = part
    for c in t:
        best += c
    return best


def texts_beside_lists(s: Any, t: Any) -> Any:
    return len(s), len(t), sorted(s), s[:1] == list(s), sorted(s) == sorted(t)


def order_of_a_set(s: Any, t: Any) -> Any:
    """It is that of hashes of texts, which differ from one process to the next."""
    seen, total = set(s), 0
    for c in seen:
        total = (3 * total + ord(c)) % 10007
    return total, t[:1]


def copied_set(s: Any, t: Any) -> Any:
    seen = set(s)
    seen.add(t[0])
    return list(seen), len(seen)


def whole(s: Any, t: Any) -> Any:
    n = 0
    for _ in s:
        n += 1
    return n, s == t, s + t, s[0:2], s.upper()


def characters_out(s: Any, t: Any) -> Any:
    found = s[0]
    for c in s:
        found = max(found, c)
    return found


def named_twice(s: Any, t: Any) -> Any:
    c = 1
    for c in s:
        if c == "a":
            return 1
    return c


def stored(s: Any, t: Any) -> Any:
    s[0] = t[0]
    return s


def mode(s: Any, t: Any) -> Any:
    n = 0
    for i in range(3):
        n += i if t == "ab" else -i
    return n


def empty_texts_among_characters(s: Any, t: Any) -> Any:
    last, out, items, found, grown = "", "", ["", s[0]], {""}, "x"
    n = len(t)
    for c in s:
        out += last
        grown += c
        n += 10 * (last in t) + 100 * (last not in "ab") + 1000 * (last == "" or last.isdigit())
        n += 10000 * s.find(last) + 100000 * ("cab".index(last) if last in "abc" else 1)
        last = c
    items.append(last)
    found.add(last)
    return out, items, found, "".join(items), n, len(out), grown


def code_of_an_empty_text(s: Any, t: Any) -> Any:
    last, total = "", 0
    for i in range(len(s)):
        total += ord(last) if i or t == "cbb" else 1
        last = s[i]
    return total


def joined(s: Any, t: Any) -> Any:
    items = list(s)
    out = "".join(reversed(items))
    for c in "".join(items):
        items += t
        items += [c]
    n = len("".join(items)) + ("".join(items) == s) + (s == "") + 10 * (t != "7") + 100 * (s[:1] == "a")
    out += "".join(t)
    return out, items, n, max(s), min(s[:2]), max(s[0], t[-1]), s, t[0].upper()


def dict_without_changes(s: Any, t: Any) -> Any:
    numbers = {"a": 1, "": 2}
    n = 0
    for c in s:
        n += c in t
    return numbers, n, s[1:]


def character_or_what_was_given(s: Any, k: Any) -> Any:
    n = 0
    for c in s[1:]:
        n += 1
        k = c
    return k, n


def itself(s: Any, k: Any) -> Any:
    n = 0
    for c in s:
        n += ord(c)
        k = k  # noqa: PLW0127
    return k, n


TEXTS = [
    ("kitten", "sitting"), ("", "abc"),
    ("aaabbc", "cbb"), ("ab", "ab"), ("añb€cd", "€ñ"), ("x\U0001f600y", "\U0001f600"),
    ("abc" * 50, "bca" * 40), ("Ab 1-\t", "B1"), ("7", "4x2"), ("abcbab", "ab"),
]  # fmt: skip
PROGRAMS: list[Callable[..., Any]] = [
    edit_distance, common_subsequence, counted, runs, is_palindrome, overlaps, hashed, whole, characters_out,
    named_twice, stored, mode, balanced, classified, numbers_of_digits, counted_by_character, copied, parts,
    begins_alike, parts_and_lists, texts_beside_lists, longest_palindrome, empty_texts_among_characters,
    code_of_an_empty_text, joined, dict_without_changes, character_or_what_was_given, itself, kept_and_joined,
    complemented, of_several, order_of_a_set, copied_set, made, put_in_front, without_blanks, looked_for,
    run_lengths, lists_of_texts, tuples_of_characters, given_to_others,
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("fn", PROGRAMS)
def test_texts_are_as_in_python(fn: Callable[..., Any]) -> None:
    compiled = appyc.jit(fn, target="cpu")
    for texts in TEXTS:
        for _ in range(3):
            assert outcome(compiled, texts) == outcome(fn, texts), texts


@pytest.mark.sampled
@pytest.mark.parametrize("fn", [
    edit_distance, common_subsequence, counted, runs, is_palindrome, hashed, balanced, classified,
    counted_by_character, copied, parts, parts_and_lists, longest_palindrome, empty_texts_among_characters, joined,
    dict_without_changes, kept_and_joined, complemented, of_several, made, put_in_front, without_blanks, looked_for,
    run_lengths, lists_of_texts, tuples_of_characters, given_to_others,
])  # fmt: skip
def test_they_are_compiled_once(fn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: Any = appyc.jit(fn, target="cpu", strict=True)
    assert compiled("abc", "ab") == fn("abc", "ab")
    monkeypatch.setattr(compiled, "_make", None)
    assert compiled("another €", "ab") == fn("another €", "ab")


def test_parameters_may_be_other_than_characters() -> None:
    for fn in (character_or_what_was_given, itself):
        compiled = appyc.jit(fn, target="cpu")
        for given in (("a", 5), ("ab", 5), ("", 97), ("ab", "x")):
            assert outcome(compiled, given) == outcome(fn, given), given


def sum_of_bytes(b: Any, c: Any) -> Any:
    total = 0
    for x in b:
        total += x
    for i in range(min(len(b), len(c))):
        if b[i] == c[i] and b[i] != 97:
            total = total * 2 + b[-1]
    return total, max(c), sum(b), list(b), 98 in b


def of_whole_bytes(b: Any, c: Any) -> Any:
    return b[1:], b == c, b + c, b[0]


def stored_bytes(b: Any, c: Any) -> Any:
    b[0] = 1


@pytest.mark.parametrize("fn", [sum_of_bytes, of_whole_bytes, stored_bytes])
def test_bytes_are_as_in_python(fn: Callable[..., Any]) -> None:
    compiled = appyc.jit(fn, target="cpu")
    for args in ((b"abc", b"xbc"), (b"", b"\xff"), (b"\xff" * 100, b"\x00" * 90)):
        for _ in range(3):
            assert outcome(compiled, args) == outcome(fn, args), args
    assert fn is not sum_of_bytes or appyc.jit(fn, strict=True)(b"abc", b"xbc") == fn(b"abc", b"xbc")


def test_explain_takes_texts_bytes_and_lists() -> None:
    def f(s: Any, b: Any, xs: Any) -> Any:
        n = 0
        for c in s:
            n += ord(c)
        for x in b:
            n += x
        for x in xs:
            n += x
        return n

    assert len(appyc.jit(f).explain("text", b"bytes", [1, 2]).loops) == 3


def test_the_texts_that_are_looked_at() -> None:
    text = """
        def f(s, t, k, mode):
            last = ''
            for i, c in enumerate(s[k:]):
                if c == last or t[i] != 'x' and mode == 'ab':
                    k += ord(c) + len(t)
                last = c
    """
    tree = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    assert texts_run_over(tree) == {"s", "t"}


def refused_sum(s: Any) -> Any:
    return s[0] + len(s)


def refused_number(s: Any) -> Any:
    return -s[0]


def refused_order(s: Any) -> Any:
    return s[0] < 1


def refused_index(s: Any) -> Any:
    return s[s[0]]


def refused_method(s: Any) -> Any:
    return len(s[1:].title())


@pytest.mark.parametrize("fn", [refused_sum, refused_number, refused_order, refused_index, refused_method])
def test_other_uses_are_refused(fn: Any) -> None:
    with pytest.raises(
        appyc.CompileError, match=r"this use of a text is not compiled|not supported between|is a Python str"
    ):
        appyc.jit(fn, strict=True, cache=False)("abc")
    assert outcome(appyc.jit(fn), "abc") == outcome(fn, "abc")


@pytest.mark.parametrize(("fn", "message"), [
    (named_twice, "'c' is a Python str on one path and a Python int on another"),
    (order_of_a_set, r"run over sorted\(s\), or over the text"),
])  # fmt: skip
def test_messages_tell_what_to_write(fn: Callable[..., Any], message: str) -> None:
    with pytest.raises(appyc.CompileError) as raised:
        appyc.jit(fn, strict=True, cache=False)("abc", "b")
    assert re.search(message, str(raised.value))


def test_a_character_whose_name_is_that_of_a_number_too() -> None:
    def codes(s: Any) -> Any:
        total = 0
        for c in s:
            total += ord(c)
        c = total % 7
        return c + total

    assert appyc.jit(codes, strict=True, cache=False)("abc") == codes("abc")

    def either(s: Any) -> Any:
        c = 1
        for k in range(len(s)):
            if s[k] == "b":
                c = s[k]
        return c

    with pytest.raises(appyc.CompileError, match="a Python str on one path and a Python int on another"):
        appyc.jit(either, strict=True, cache=False)("abc")


BASES = "ACGT"


def written_out(n: Any) -> Any:
    return "".join([BASES[i % 4] for i in range(n)])


def test_a_text_of_the_module_is_the_one_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = appyc.jit(written_out, strict=True)
    assert compiled(6) == "ACGTAC"
    monkeypatch.setitem(globals(), "BASES", "abcdef")
    assert compiled(6) == "abcdab"


def ones(x: Any) -> Any:
    return sum(1 for c in str(x) if c == "1")


@pytest.mark.parametrize("x", [1.01, True, None, "101", 11 + 1j, 10**30 + 1, -11])
def test_texts_of_anything_are_pythons(x: Any) -> None:
    assert appyc.jit(ones)(x) == ones(x)


@pytest.mark.parametrize("n", [5, 123456, -77])
def test_texts_of_numbers_that_python_needs_are_left_to_it(n: Any) -> None:
    def named(n: Any) -> Any:
        key = str(n)
        total = 0
        for i in range(10):
            total += i
        if n < 0:
            raise ValueError("negative: " + key)
        return {key: total}, f"{key}!", key.zfill(8)

    assert outcome(appyc.jit(named), n) == outcome(named, n)


MATCH = 2


def score(x: Any, y: Any, otherwise: Any = -1) -> Any:
    if x == y:
        return MATCH
    return otherwise


def paired(c: Any) -> Any:
    if c == "A":
        return "T"
    return "G" if c == "C" else "A"


def occurrences(part: Any, c: Any) -> Any:
    found = 0
    for x in part:
        found += x == c
    return found


def aligned(s: Any, t: Any) -> Any:
    best = [0] * (len(t) + 1)
    for x in s:
        last = 0
        for j in range(len(t)):
            last, best[j + 1] = best[j + 1], max(last + score(x, t[j]), best[j] - 1, best[j + 1] - 1)
    return best


def complemented(s: Any, t: Any) -> Any:
    out = ""
    for c in s:
        out += paired(c)
    return out, score("A", s[0]) if s else 0


def densest(s: Any, t: Any) -> Any:
    def same(a: Any, b: Any) -> Any:
        return a == b or (a == "N" and b != "-")

    both = 0
    for a, b in zip(s, t, strict=False):
        both += same(a, b)
    return both, [occurrences(s[i : i + 3], "A") for i in range(len(s))], occurrences(t, "C")


def only_given(s: Any, t: Any) -> Any:
    """The text is looked at in a callee of a callee, and is given by its name."""
    return most_of(s, c="A") + occurrences(c="C", part=t)


def most_of(text: Any, c: Any, least: Any = 0) -> Any:
    return max(occurrences(text, c=c), least)


@pytest.mark.parametrize("fn", [aligned, complemented, densest, only_given])
def test_functions_are_given_characters_and_texts(fn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = appyc.jit(fn, target="cpu", strict=True)
    for args in (("ACGTA", "ANGGA"), ("", "C"), ("N-C", "")):
        assert compiled(*args) == fn(*args), args
    monkeypatch.setitem(globals(), "MATCH", 5)
    assert compiled("ACGTA", "ANGGA") == fn("ACGTA", "ANGGA")
    monkeypatch.setitem(globals(), "score", lambda x, y: 7)
    assert appyc.jit(fn)("ACA", "A") == fn("ACA", "A")


def test_a_callee_without_a_text_keeps_no_characters_from_being_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: dict[str, Any] = {}
    exec("def unreadable(n):\n    return n", made)
    monkeypatch.setitem(globals(), "unreadable", made["unreadable"])

    def counted(s: Any, n: Any) -> Any:
        return unreadable(n) + occurrences(s, "A")  # noqa: F821

    assert "s" in Parameters(counted, lambda: read_source(counted)).texts


@pytest.mark.parametrize("helper", [lambda c, n=1: c * 2, lambda c: [c], lambda c: {c: 1}])
def test_what_a_function_does_with_a_text_may_be_pythons(
    helper: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def f(s: Any) -> Any:
        return [helper(c) for c in s]

    assert appyc.jit(f)("abc") == f("abc")
