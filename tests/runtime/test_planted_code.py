"""What another user has put into the cache folder, or into its way, is not run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import appyc
from appyc.runtime import fingerprint, toolchain, trusted
from appyc.runtime.cache import Cache, CacheWarning
from appyc.runtime.fingerprint import digest

KEY, NOBODY = digest("planted"), 65534
CODE = {"kernel.so": b"planted"}

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


def as_nobody(do: Callable[[], object]) -> None:
    """Runs something as another user, in a child."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            do()
        except BaseException as error:  # noqa: BLE001  (a child of a test must not go on as the test)
            os.write(2, f"{error!r}\n".encode())
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def shared(tmp_path_factory):
    """A folder like /tmp, to which another user gets."""
    folder = tmp_path_factory.mktemp("shared")
    for around in (folder, *folder.parents[:-1]):
        if around.stat().st_uid == os.getuid() and str(around).startswith("/tmp/"):
            around.chmod(0o711)
    folder.chmod(0o1777)
    return folder


pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@needs_root
@pytest.mark.parametrize("found_first", [False, True])
def test_a_folder_that_is_renamed_below_a_parent_for_all(shared, found_first):
    shared.chmod(0o777)
    cache = Cache(shared / "cache")
    if found_first:  # while the parent was good: what is open stays what it is
        shared.chmod(0o755)
        cache.store(KEY, {"kernel.so": b"mine"}, {})
        shared.chmod(0o777)
    else:
        (shared / "cache").mkdir(mode=0o700)

    def swap():
        (shared / "cache").rename(shared / "away")
        Cache(shared / "cache").folder()
        planted = shared / "cache" / "v1" / "entries" / KEY
        planted.mkdir(parents=True)
        (planted / "kernel.so").write_bytes(b"planted")

    as_nobody(swap)
    if found_first:
        entry = cache.lookup(KEY)
        assert entry is not None
        assert entry.path("kernel.so").read_bytes() == b"mine"
    else:
        with pytest.warns(CacheWarning, match=f"{shared}, which can be written by other users"):
            assert cache.lookup(KEY) is None
        assert not str(cache.store(KEY, {"k": b""}, {}).folder.resolve()).startswith(str(shared))


@needs_root
def test_a_link_of_another_user_in_a_sticky_parent(shared):
    def plant():
        (shared / "theirs").mkdir()
        (shared / "link").symlink_to(shared / "theirs")

    as_nobody(plant)
    for way in (shared / "link", shared / "link" / "below", shared / "theirs" / "below"):
        with pytest.warns(CacheWarning, match="another user"):
            assert Cache(way).lookup(KEY) is None
    assert not list((shared / "theirs").iterdir())


@needs_root
@pytest.mark.parametrize("below", ["v1", "v1/entries", "v1/entries/{key}", "v1/entries/{key}/kernel.so"])
def test_each_step_down_to_the_file_is_the_users_own(tmp_path, below):
    Cache(tmp_path / "cache").store(KEY, CODE, {})
    step = tmp_path / "cache" / below.format(key=KEY)
    os.chown(step, NOBODY, NOBODY)
    if below == "v1":
        with pytest.warns(CacheWarning, match="belongs to another user"):
            assert Cache(tmp_path / "cache").lookup(KEY) is None
    else:
        assert Cache(tmp_path / "cache").lookup(KEY) is None


@pytest.mark.parametrize("below", ["v1/entries", "v1/entries/{key}", "v1/entries/{key}/kernel.so"])
@pytest.mark.parametrize("fault", ["link", "for all"])
def test_links_and_modes_below_the_folder(tmp_path, below, fault):
    Cache(tmp_path / "cache").store(KEY, CODE, {})
    step = tmp_path / "cache" / below.format(key=KEY)
    if fault == "link":
        step.rename(tmp_path / "moved")
        step.symlink_to(tmp_path / "moved")
    else:
        step.chmod(0o777)
    assert Cache(tmp_path / "cache").lookup(KEY) is None


def test_a_link_of_ones_own_is_followed_and_parents_are_made(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "absolute").symlink_to(tmp_path / "link" / "..")
    Cache(tmp_path / "absolute" / "link" / "a" / "b").store(KEY, CODE, {})
    assert Cache(tmp_path / "real" / "a" / "b").lookup(KEY) is not None
    (tmp_path / "round").symlink_to("round")
    with pytest.warns(CacheWarning, match="cannot be used: Too many levels of symbolic links"):
        Cache(tmp_path / "round").folder()


def test_without_proc_the_path_is_the_folders_own(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "is_dir", lambda self: not str(self).startswith("/proc"))
    opened = trusted.open_folder(tmp_path / "v1")
    assert trusted.path_of(opened, tmp_path / "v1") == tmp_path / "v1"
    os.close(opened)


# ---------------------------------------------------------------- entries of other machines, and broken ones


def program(cache, name):
    """Another process calls a function, and says how many entries there are then."""
    text = f"""
from pathlib import Path
import appyc, numpy as np
from appyc.runtime import fingerprint
fingerprint._processor = lambda: {name!r}
import program
print(program.doubled(np.ones(4))[0], len(list(Path({str(cache)!r}).glob("v1/entries/*/kernel.so"))))
"""
    given = {**os.environ, "APPYC_CACHE_DIR": str(cache), "APPYC_MACHINE": "default"}
    given["PYTHONPATH"] = os.pathsep.join([str(cache.parent), given.get("PYTHONPATH", ""), os.getcwd()])
    done = subprocess.run(
        [sys.executable, "-c", text], env=given, capture_output=True, text=True, check=False
    )
    assert not done.stderr, done.stderr
    return done.stdout.split()


SOURCE = """
import appyc
@appyc.jit
def doubled(a):
    for i in range(a.shape[0]):
        a[i] *= 2.0
    return a
"""


def test_two_processors_that_share_a_folder_share_no_code(tmp_path):
    (tmp_path / "program.py").write_text(SOURCE)
    cache = tmp_path / "cache"
    assert program(cache, "one") == ["2.0", "1"]
    assert program(cache, "two") == ["2.0", "2"]
    assert program(cache, "one") == ["2.0", "2"]
    helpers = {path.parent.name for path in cache.glob("v1/entries/*/helpers.o")}
    assert len(helpers) % 2 == 0


def test_every_key_of_machine_code_has_the_processor(monkeypatch):
    here = toolchain.compiler_id()
    fingerprint.machine_fingerprint.cache_clear()
    monkeypatch.setattr(fingerprint, "_processor", lambda: "another one")
    there = toolchain.compiler_id()
    fingerprint.machine_fingerprint.cache_clear()
    assert here != there


@pytest.mark.parametrize("kept", ["index and entry", "entry"])
def test_an_entry_that_cannot_be_loaded_is_made_anew(kept, tmp_path, monkeypatch):
    def f(a):
        for i in range(a.shape[0]):
            a[i] += 3.0
        return a

    monkeypatch.setenv("APPYC_CACHE_DIR", str(tmp_path / "cache"))
    real = Cache.store

    def spoiled(self, key, files, meta):
        return real(self, key, {n: b"no code" if n == "kernel.so" else c for n, c in files.items()}, meta)

    monkeypatch.setattr(Cache, "store", spoiled)
    with pytest.raises(appyc.ToolchainError, match="cannot be loaded"):
        appyc.jit(f)(np.ones(3))
    monkeypatch.setattr(Cache, "store", real)
    if kept == "entry":
        for file in (tmp_path / "cache" / "v1" / "index").iterdir():
            file.unlink()
    assert appyc.jit(f)(np.ones(3)).tolist() == [4.0] * 3
    assert appyc.jit(f)(np.ones(3)).tolist() == [4.0] * 3
