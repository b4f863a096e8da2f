from __future__ import annotations

import multiprocessing
import os
import time
import warnings

import pytest

from appyc.options import Options
from appyc.runtime.cache import Cache, CacheWarning
from appyc.runtime.fingerprint import binary_fingerprint, digest, machine_fingerprint, package_fingerprint
from appyc.runtime.index import Dependency, Index, index_key
from tests.counting import calls_of

KEY = digest("a")
NOBODY = 65534


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def files_below(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_stored_entry_is_found_again(cache, tmp_path):
    assert cache.lookup(KEY) is None
    stored = cache.store(KEY, {"kernel.so": b"code", "kernel.c": b"text"}, {"n": [1, 2]})
    assert stored.path("kernel.so").read_bytes() == b"code"
    assert Cache(tmp_path / "cache").lookup(KEY) == stored
    assert cache.lookup(digest("b")) is None


def test_nothing_else_stays_behind(cache, tmp_path):
    cache.store(KEY, {"k": b"1"}, {})
    cache.write_text("index/x.json", "{}")
    root = tmp_path / "cache" / "v1"
    assert files_below(root) == [f"entries/{KEY}/k", f"entries/{KEY}/meta.json", "index/x.json", "swept"]


@pytest.mark.parametrize("name", ["k", "meta.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_damaged_entry_is_missed_and_rebuilt(cache, name, damage):
    entry = cache.store(KEY, {"k": b"some code"}, {})
    file = entry.path(name)
    content = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(content[:-1] if damage == "cut" else bytes([content[0] ^ 1]) + content[1:])
    assert cache.lookup(KEY) is None
    cache.store(KEY, {"k": b"some code"}, {})
    assert cache.lookup(KEY) == entry


def test_damaged_text_is_missed(cache):
    cache.write_text("index/x.json", "hello")
    assert cache.read_text("index/x.json") == "hello"
    file = cache.folder() / "index/x.json"
    file.write_bytes(file.read_bytes()[:-1])
    assert cache.read_text("index/x.json") is None


def test_folder_is_the_users_own(cache, tmp_path):
    old = os.umask(0o002)
    try:
        cache.store(KEY, {"k": b"1"}, {})
    finally:
        os.umask(old)
    for folder in (
        tmp_path / "cache",
        tmp_path / "cache" / "v1",
        tmp_path / "cache" / "v1" / "entries" / KEY,
    ):
        assert folder.stat().st_mode & 0o077 == 0


def test_folder_that_others_can_write_is_not_used(tmp_path):
    root = tmp_path / "open"
    good = Cache(root).store(KEY, {"k": b"planted"}, {})
    root.chmod(0o777)
    cache = Cache(root)
    with pytest.warns(CacheWarning, match="can be written by other users"):
        assert cache.lookup(KEY) is None
    entry = cache.store(KEY, {"k": b"mine"}, {})
    assert not str(entry.folder).startswith(str(root))
    assert cache.lookup(KEY) == entry
    assert good.path("k").read_bytes() == b"planted"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_folder_of_another_user_is_not_used(tmp_path):
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", NOBODY, NOBODY)
    with pytest.warns(CacheWarning, match="belongs to another user"):
        assert Cache(tmp_path / "theirs").lookup(KEY) is None


def test_root_that_is_a_file_is_not_used(tmp_path):
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file")
    with pytest.warns(CacheWarning, match="cannot be used"):
        entry = cache.store(KEY, {"k": b"1"}, {})
    assert entry.path("k").read_bytes() == b"1"


def test_write_that_fails_leaves_nothing_and_moves_to_a_temporary_folder(cache, tmp_path, monkeypatch):
    real = os.rename

    def full(source, target, **more):
        if str(target).startswith(str(before)):
            raise OSError(28, "No space left on device")
        real(source, target, **more)

    before = cache.folder()
    monkeypatch.setattr(os, "rename", full)
    with pytest.warns(CacheWarning, match="No space left"):
        entry = cache.store(KEY, {"k": b"1"}, {})
    assert entry.path("k").read_bytes() == b"1"
    assert files_below(tmp_path) == []


def _write_many(root, number):
    cache = Cache(root)
    for i in range(40):
        cache.store(digest(str(i)), {"k": str(i).encode() * 1000}, {"by": number})
        Index(cache).add(
            digest("index"), [Dependency("global", "n", str(i))], cache.lookup(digest(str(i))), {}
        )


def test_processes_may_write_the_same_entries_at_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_write_many, args=(tmp_path / "cache", n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [w.exitcode for w in workers] == [0, 0, 0]
    cache = Cache(tmp_path / "cache")
    for i in range(40):
        assert cache.lookup(digest(str(i))).path("k").read_bytes() == str(i).encode() * 1000
    assert Index(cache).candidates(digest("index"))
    assert list((tmp_path / "cache" / "v1").glob("tmp-*")) == []


def test_sweep_removes_what_was_used_longest_ago(tmp_path):
    cache = Cache(tmp_path / "cache", max_bytes=4000)
    keys = [digest(str(i)) for i in range(4)]
    for age, key in enumerate(keys):
        entry = cache.store(key, {"k": bytes(1500)}, {})
        os.utime(entry.folder, (time.time() - age * 1000 - 200_000,) * 2)
    assert cache.lookup(keys[3]) is not None  # the oldest, but now in use
    left = cache.folder() / "tmp-dead"
    left.mkdir()
    os.utime(left, (0, 0))
    cache.sweep()
    assert [cache.lookup(key) is not None for key in keys] == [True, False, False, True]
    assert not left.exists()


def test_digest_tells_parts_apart():
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("a") == digest(b"a")


def test_fingerprints_are_steady_and_need_no_process():
    assert package_fingerprint.__wrapped__() == package_fingerprint()
    assert machine_fingerprint.__wrapped__() == machine_fingerprint()
    assert binary_fingerprint("sh -c x") == binary_fingerprint("sh -c x") != binary_fingerprint("sh")
    assert binary_fingerprint("no-such-compiler") is None
    assert binary_fingerprint("") is None


def test_changed_compiler_has_another_fingerprint(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    before = binary_fingerprint("cc")
    compiler.write_text("#!/bin/sh\n# newer\n")
    assert before is not None
    assert binary_fingerprint("cc") != before


def test_index_key_covers_every_part():
    base = ("source", "f", (), Options(), "cc")
    changed = [
        ("source2", "f", (), Options(), "cc"), ("source", "g", (), Options(), "cc"),
        ("source", "f", (1,), Options(), "cc"), ("source", "f", (), Options(fastmath=True), "cc"),
        ("source", "f", (), Options(), None),
    ]  # fmt: skip
    assert len({index_key(*key) for key in [base, *changed]}) == 6


@pytest.fixture
def indexed(cache):
    index = Index(cache)
    for n in (1, 2):
        entry = cache.store(digest(f"code {n}"), {"k": b"%d" % n}, {})
        index.add(
            KEY, [Dependency("global", "n", str(n)), Dependency("callee", "g", "same")], entry, {"n": n}
        )
    return index


@pytest.mark.parametrize(
    ("n", "g", "expected"), [("1", "same", 1), ("2", "same", 2), ("3", "same", None), ("1", "x", None)]
)
def test_index_finds_the_compilation_whose_dependencies_hold(indexed, n, g, expected):
    found = indexed.find(KEY, lambda d: {"n": n, "g": g}.get(d.name))
    assert (found and found.meta["n"]) == expected
    if found:
        assert found.path("k").read_bytes() == str(expected).encode()


def test_index_misses_what_is_gone(indexed, cache):
    assert indexed.find(digest("other"), lambda d: None) is None
    assert indexed.find(KEY, lambda d: None) is None
    cache.lookup(digest("code 1")).path("k").unlink()
    assert indexed.find(KEY, lambda d: {"n": "1", "g": "same"}[d.name]) is None


def test_index_keeps_the_latest_of_one_compilation(indexed, cache):
    entry = cache.store(digest("code 9"), {"k": b"9"}, {})
    indexed.add(KEY, [Dependency("global", "n", "1"), Dependency("callee", "g", "same")], entry, {"n": 9})
    assert [c.meta["n"] for c in indexed.candidates(KEY)] == [9, 2]


def test_index_does_not_grow_without_end(cache):
    index = Index(cache)
    entry = cache.store(digest("code"), {}, {})
    for n in range(40):
        index.add(KEY, [Dependency("global", "n", str(n))], entry, {})
    assert len(index.candidates(KEY)) == 16


def test_a_warm_lookup_takes_milliseconds(indexed):
    """A few calls for each source file of the package, none of which it opens; five milliseconds at most."""

    def lookup():
        index_key("source", "f", (), Options(), binary_fingerprint("cc"))
        indexed.find(KEY, lambda d: {"n": "1", "g": "same"}[d.name])

    package_fingerprint.cache_clear()
    machine_fingerprint.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert calls_of(lookup) < 12_000
        assert calls_of(lookup) < 2_000
