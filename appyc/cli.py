"""The `appyc` command line.

    appyc run [--report] [--target T] [--strict] [--numpy] script.py [args ...]
    appyc run [...] -m module [args ...]
    appyc check [--json] file.py ...
    appyc machine [--again]

Modules are imported by the subcommand that needs them, so that `appyc --help` is quick.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from appyc.options import TARGETS, from_environment

_BROKEN_PIPE = 128 + 13
"""The exit code that shells report for a program terminated by SIGPIPE."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code; a script's own SystemExit passes through."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(given)
    try:
        return int(options.command(options))
    except BrokenPipeError:
        # As in `appyc check f.py | head`. Flushing the buffer at exit would raise again.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return _BROKEN_PIPE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="appyc", description="A compiler for loop-heavy Python.")
    commands = parser.add_subparsers(required=True, metavar="command")
    run = commands.add_parser("run", help="run a script with its loops compiled")
    run.add_argument("--report", action="store_true", help="say afterwards what was compiled, on stderr")
    run.add_argument(
        "--target", choices=[t for t in TARGETS if t != "dask"], help="where loops run (default: auto)"
    )
    run.add_argument("--strict", action="store_true", help="a loop that cannot be compiled is an error")
    run.add_argument(
        "--numpy", action="store_true", help="record the program's NumPy operations (appyc.numpy)"
    )
    # All arguments after the script are passed to it, options included.
    run.add_argument("-m", dest="module", nargs=argparse.REMAINDER, metavar="module",
                     help="run a module, as python -m does, with the arguments that follow")  # fmt: skip
    run.add_argument("script", nargs=argparse.REMAINDER, metavar="script.py [args ...]")
    run.set_defaults(command=_run)
    check = commands.add_parser("check", help="say what becomes of every pragma and loop, without running")
    check.add_argument("files", nargs="+", type=Path, metavar="file.py")
    check.add_argument("--json", action="store_true", help="findings as a JSON list")
    check.set_defaults(command=_check)
    machine = commands.add_parser("machine", help="print what decides between one thread and several")
    machine.add_argument("--again", action="store_true", help="measure, though that has been done")
    machine.set_defaults(command=_machine)
    return parser


def _run(given: argparse.Namespace) -> int:
    from appyc.scripts import run_module, run_script  # noqa: PLC0415

    words = given.module if given.module is not None else given.script
    if not words:
        print("appyc run: name a script, or a module with -m", file=sys.stderr)
        return 2
    chosen: dict[str, object] = {"exact": True}
    if given.target is not None:
        chosen["target"] = given.target
    if given.strict:
        chosen["strict"] = True
    try:
        options = from_environment(chosen)
    except ValueError as error:
        print(f"appyc run: {error}", file=sys.stderr)
        return 2
    start = run_script if given.module is None else run_module
    return start(words[0], words[1:], options, report=given.report, records=given.numpy)


def _check(given: argparse.Namespace) -> int:
    from appyc.report.check import check_files  # noqa: PLC0415

    result = check_files(given.files)
    print(result.as_json() if given.json else result.as_text(), flush=True)
    return result.exit_code


def _machine(given: argparse.Namespace) -> int:
    from appyc.report.machine_table import describe_machine  # noqa: PLC0415

    print(describe_machine(again=given.again), flush=True)
    return 0
