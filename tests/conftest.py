"""Fixtures for all tests."""

from __future__ import annotations

import gc
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appyc.c_gen.c_file import CModule
from appyc.options import Options
from tests.e2e.shared import LESS_OPTIMISED, NOT_OPTIMISED

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"

OPTIMISED = frozenset({"benchmarks", "c_gen", "dependences", "fuzz", "passes", "random_programs", "runtime"})
"""The folders of tests about C code as gcc optimises it, with lanes. Those of programs choose for themselves."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the texts in tests/golden")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[object]:
    """Nothing that collecting makes is garbage: without the collector it takes half the time, and what it made is
    not looked through again while tests run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the cases of `sampled` tests that the ordinary run leaves out as slow."""
    cases: Counter[str] = Counter()
    for item in items:
        if item.get_closest_marker("sampled") is None or item.get_closest_marker("slow") is not None:
            continue
        function = item.nodeid.partition("[")[0]
        cases[function] += 1
        if cases[function] > 1 and zlib.crc32(item.name.encode()) % 5:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither read nor fill the user's cache, and none measures the machine, or runs in
    Python what is still being compiled, but those about that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("APPYC_MACHINE", "default")
        patch.setenv(
            "APPYC_COMPILE_WAIT", "inf"
        )  # on a busy machine, too, it is compiled code that is tested
        patch.setenv("APPYC_PROGRESS", "0")
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # processes that tests start share it
        patch.setenv("APPYC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module", autouse=True)
def _less_optimised(request: pytest.FixtureRequest) -> Iterator[None]:
    """gcc optimises less than for users, or not at all."""
    is_optimised = request.path.relative_to(TESTS).parts[0] in OPTIMISED
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("appyc.runtime.toolchain._FLAGS", LESS_OPTIMISED if is_optimised else NOT_OPTIMISED)
        yield


@pytest.fixture
def kept_builds() -> Iterator[None]:
    """Kernels' libraries are kept between runs, by their text, the compiler and its flags."""
    from appyc.compiler import build as builder
    from appyc.runtime import toolchain
    from appyc.runtime.cache import Cache
    from appyc.runtime.fingerprint import digest
    from tests.e2e.shared import BUILT

    make, kept = builder.build, Cache(BUILT)

    def build(module: CModule, folder: Path, options: Options, cache: Cache) -> Path:
        flags = toolchain.flags(options, needs=module.needs)
        key = digest("kept", module.text, toolchain.compiler_id(), *flags)
        found = kept.lookup(key)
        if found is None:
            found = kept.store(key, {"kernel.so": make(module, folder, options, cache).read_bytes()}, {})
        built = folder / "kernel.so"
        built.write_bytes(found.path("kernel.so").read_bytes())
        return built

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "build", build)
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)` compares a text with tests/golden/<name>; --update-golden writes it."""

    def compare(name: str, text: str) -> None:
        file = GOLDEN / name
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            return
        assert file.exists(), f"{file} does not exist; run pytest --update-golden, and read what it writes"
        assert text == file.read_text(), f"not the text of {file}; if it should be, run --update-golden"

    return compare
