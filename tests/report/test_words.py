"""What `explain()` says of the programs of tests/programs, in the user's words."""

from __future__ import annotations

import copy
import importlib
import pkgutil
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import appyc
import tests.programs as package
from appyc.report.explain import Report
from tests.programs.registry import Programs, Run

MODULES = [info.name for info in pkgutil.iter_modules(package.__path__)]
EACH = 20
"""Every so many programs of a file are looked at."""

QUOTED = re.compile(r"'([^\W\d]\w*)'")
WORD = re.compile(r"[^\W\d]\w*")


def runs_of(module: str) -> list[Run]:
    programs = getattr(importlib.import_module(f"tests.programs.{module}"), "PROGRAMS", None)
    if not isinstance(programs, Programs):
        return []
    return list({run.fn: run for run in programs.runs}.values())[::EACH]


def reports(module: str, target: str) -> Iterator[tuple[Any, Report]]:
    for run in runs_of(module):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield run.fn, appyc.jit(run.fn, target=target).explain(*copy.deepcopy(run.args))
            except (appyc.CompileError, ValueError):
                continue  # runs in Python


def findings(report: Report) -> Iterator[str]:
    yield from (record.reason for record in report.loops)
    yield from (record.hint for record in report.loops)
    yield from (remark.text for remark in report.remarks)
    yield from (remark.hint for remark in report.remarks)
    yield from (reason for _, reason in report.python_parts)


@pytest.mark.sampled
@pytest.mark.parametrize("target", ["cpu", "gpu"])
@pytest.mark.parametrize("module", MODULES)
def test_reports_are_in_the_users_words(module: str, target: str) -> None:
    for fn, report in reports(module, target):
        with open(report.file, encoding="utf-8") as file:
            words = set(WORD.findall(file.read()))
        for text in findings(report):
            assert not set(QUOTED.findall(text)) - words, (fn.__name__, text)
            assert not re.search(r"[.!?] +[A-Z]", text), (fn.__name__, "one sentence", text)
            assert "\n" not in text
        for record in report.loops:
            name = record.title.removeprefix("for ")
            assert name in words or record.title in ("array loop", "generated loop")
            waits = record.mode == "sequential" and record.verdict in ("carried", "unknown", "independent-if")
            assert record.hint or not waits or record.within is not None, (fn.__name__, record)
        for remark in report.remarks:
            assert remark.hint or remark.kind != "missed", (fn.__name__, remark)


# ---------------------------------------------------------------- what made a loop legal


@appyc.jit
def overwritten(a, n):
    # pragma parallel for
    for i in range(n - 1):
        a[i] = a[i + 1] * 2


@appyc.jit
def scratch(a, t, n):
    # pragma parallel for
    for i in range(n):
        for j in range(a.shape[1]):
            t[j] = a[i, j] * 2.0
        for j in range(a.shape[1]):
            a[i, j] = t[a.shape[1] - 1 - j]


@appyc.jit
def scalar(a, b, n):
    for i in range(n):
        x = a[i] * 2.0
        b[i] = x * x
    return x


@appyc.jit
def one_element(a, b, t):
    for i in range(a.shape[0]):
        t[0] = a[i] * 2.0
        b[i] = t[0] + 1.0


def loop_at_the_top(report):
    return next(r for r in report.loops if r.title.startswith("for i") and r.depth == 0)


def test_renaming_is_the_reason():
    record = loop_at_the_top(overwritten.explain(np.ones(9), 9))
    assert record.reason == "independent after renaming 'a': what later iterations overwrite is read first"
    assert str(record) == record.reason


def test_privatisation_is_the_reason():
    record = loop_at_the_top(scratch.explain(np.ones((9, 3)), np.ones(3), 9))
    assert record.reason.startswith("independent after privatising 't'")


def test_live_out_scalars_are_named():
    record = loop_at_the_top(scalar.explain(np.ones(9), np.ones(9), 9))
    assert record.reason == "independent after privatising 'x', live-out from the last iteration"


def test_an_element_that_every_iteration_writes_is_named():
    record = loop_at_the_top(one_element.explain(np.ones(9), np.ones(9), np.ones(1)))
    assert record.reason == "independent after privatising 't[0]', live-out from the last iteration"


def test_what_runs_in_python_comes_first():
    @appyc.jit
    def mixed(a):
        for i in range(a.shape[0]):
            a[i] *= 2.0
        print(sorted([str(x) for x in a])[:1])
        for i in range(a.shape[0]):
            a[i] += 1.0

    mixed(np.ones(5))
    lines = str(mixed.explain()).splitlines()
    assert "runs in Python" in lines[2]


def test_temporaries_are_described():
    @appyc.jit
    def neighbours(a, b):
        a[1:] = a[:-1] * b[1:] + a[1:]

    text = str(neighbours.explain(np.ones(9), np.ones(9)))
    assert "'new'" not in text


def test_what_grows_is_named_as_in_the_program():
    def f(xs):
        counts, out = {}, []
        for x in xs:
            counts[x] = counts.get(x, 0) + 1
        for x in xs:
            if x > 2:
                out.append(x)
        return counts, out

    text = str(appyc.jit(f).explain([1, 2, 3]))
    assert "'counts' grows from one iteration to the next" in text
    assert "counts." not in text
