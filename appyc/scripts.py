"""`appyc run`: runs a script or module with its functions and loops compiled.

The script runs as `__main__`; its functions, those of the modules in its folder that it
imports, and the loops of the script itself are compiled as `autojit` does. What it prints,
its exit code and its tracebacks are those of Python.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import os
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, TracebackType

from appyc.autojit import AutoFunction, automatic
from appyc.frontend.script import SCOPE, Instrumented, instrument
from appyc.frontend.source import Part
from appyc.options import Options

_PACKAGE = str(Path(__file__).parent)
_DEFINITIONS = 3
"""Definitions of a nested function after which further ones are not compiled."""


class Session:
    """One run of a program: its options, whether `numpy` is `appyc.numpy` in it, and its functions so far."""

    def __init__(self, options: Options, folder: Path, *, records: bool = False) -> None:
        self.options = options
        self.folder = folder
        self.records = records
        self.functions: list[AutoFunction] = []
        self._defined: Counter[CodeType] = Counter()

    def function(self, fn: FunctionType) -> FunctionType | AutoFunction:
        """The decorator that instrumentation adds to every function with a loop."""
        self._defined[fn.__code__] += 1
        if self._defined[fn.__code__] > _DEFINITIONS:
            return fn
        found = automatic(fn, self.options)
        if isinstance(found, AutoFunction):
            self.functions.append(found)
        return found

    def owns(self, file: str) -> bool:
        """Whether a file is part of the program, not of a library."""
        path = Path(file).resolve()
        if path.suffix != ".py" or not path.is_relative_to(self.folder):
            return False
        return "site-packages" not in path.parts and not path.is_relative_to(_PACKAGE)

    def report(self) -> str:
        """The report of the run: what was compiled, what ran in Python, and why."""
        if not self.functions:
            return "appyc: no function or loop of the program was compiled: it has none that could be"
        return "\n".join(f.summary() for f in self.functions)


class _Scope:
    """The value of `__appyc__` in an instrumented module: the decorator, and the regions by number."""

    def __init__(self, session: Session, instrumented: Instrumented, namespace: dict[str, object]) -> None:
        self.function = session.function
        self.regions = [_region(session, part, namespace) for part in instrumented.regions]


def _region(session: Session, part: Part, namespace: dict[str, object]) -> AutoFunction:
    code = compile(ast.Module([part.tree], []), part.file, "exec", dont_inherit=True)
    inner = next(c for c in code.co_consts if isinstance(c, CodeType))
    found = AutoFunction(FunctionType(inner, namespace), session.options, part)
    session.functions.append(found)
    return found


def _execute(session: Session, text: str, file: str, module: ModuleType, *, loops: bool) -> None:
    instrumented = instrument(text, file, loops=loops)
    code = compile(instrumented.tree, file, "exec", dont_inherit=True)
    namespace = vars(module)
    namespace[SCOPE] = _Scope(session, instrumented, namespace)
    if session.records:
        namespace["__builtins__"] = {**vars(builtins), "__import__": _import}
    exec(code, namespace)


def _import(
    name: str,
    scope: Mapping[str, object] | None = None,
    names: Mapping[str, object] | None = None,
    wanted: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """`__import__` of a program's modules, where `numpy` is `appyc.numpy`. Raises ImportError as Python does."""
    module = builtins.__import__(name, scope, names, wanted or (), level)
    top, *inner = name.split(".")
    if top != "numpy" or level:
        return module
    found = importlib.import_module("appyc.numpy")
    for part in inner if wanted else ():
        found = getattr(found, part, None) or module
    return found


class _Loader(SourceFileLoader):
    """Loads a module of the program instrumented. Its bytecode is not cached, since it is not that of the source."""

    def __init__(self, session: Session, name: str, path: str) -> None:
        super().__init__(name, path)
        self._session = session

    def exec_module(self, module: ModuleType) -> None:
        text = importlib.util.decode_source(self.get_data(self.path))
        _execute(self._session, text, self.path, module, loops=False)


class _Finder(MetaPathFinder):
    """Finds modules as Python's path finder does, and replaces the loader of those of the program."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or not isinstance(spec.loader, SourceFileLoader):
            return None
        if self._session.owns(spec.origin):
            spec.loader = _Loader(self._session, fullname, spec.origin)
            return spec
        return None


def run_script(
    script: str, arguments: Sequence[str], options: Options, *, report: bool = False, records: bool = False
) -> int:
    """Runs a file as `python script.py` does. Returns the exit code. records: `numpy` is `appyc.numpy` in it."""
    path = Path(script)
    folder = path.resolve().parent
    sys.argv = [script, *arguments]
    sys.path[0] = str(folder)
    try:
        data = path.read_bytes()
    except OSError as error:
        print(f"appyc: can't open file {script!r}: {error.strerror}", file=sys.stderr)
        return 2
    # `__file__` is absolute, whatever folder the program changes to; Python keeps a "./" in it.
    file = os.path.join(Path.cwd(), script)
    return _run_main(Session(options, folder, records=records), data, file, None, report=report)


def run_module(
    name: str, arguments: Sequence[str], options: Options, *, report: bool = False, records: bool = False
) -> int:
    """Runs a module as `python -m name` does. Returns the exit code. records: `numpy` is `appyc.numpy` in it."""
    sys.path[0] = str(Path.cwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ImportError:
        spec = None
    if spec is None or spec.origin is None or not isinstance(spec.loader, SourceFileLoader):
        print(f"appyc: No module named {name}", file=sys.stderr)
        return 1
    sys.argv = [spec.origin, *arguments]
    data = Path(spec.origin).read_bytes()
    session = Session(options, Path(spec.origin).resolve().parent, records=records)
    return _run_main(session, data, spec.origin, spec, report=report)


def _run_main(session: Session, data: bytes, file: str, spec: ModuleSpec | None, *, report: bool) -> int:
    module = ModuleType("__main__")
    module.__file__ = file
    module.__spec__ = spec
    module.__package__ = spec.parent if spec is not None else None
    vars(module).update(__builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = module
    sys.meta_path.insert(0, _Finder(session))
    sys.excepthook = _show
    code = 0
    try:
        _execute(session, importlib.util.decode_source(data), file, module, loops=True)
    except (SystemExit, KeyboardInterrupt):
        raise  # as Python: the exit code is in the exception
    except BaseException as error:  # noqa: BLE001  (whatever the program raises ends it)
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    finally:
        if report:
            sys.stdout.flush()
            print(session.report(), file=sys.stderr)
    return code


# ---------------------------------------------------------------- tracebacks


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Prints a traceback with the program's frames only."""
    found = traceback.TracebackException(kind, error, trace, compact=True)
    for part in _chain(found):
        part.stack = traceback.StackSummary.from_list(_frames(part.stack))
    print("".join(found.format()), end="", file=sys.stderr)


def _chain(found: traceback.TracebackException | None) -> Iterator[traceback.TracebackException]:
    if found is not None:
        yield found
        yield from _chain(found.__cause__)
        yield from _chain(found.__context__)


def _frames(stack: traceback.StackSummary) -> list[traceback.FrameSummary]:
    """The frames without appyc's own, and with each region's frame merged into that of the code around it."""
    out: list[traceback.FrameSummary] = []
    in_appyc = False
    for frame in stack:
        # Parsing a module is done by the library on appyc's behalf.
        in_appyc = frame.filename.startswith(_PACKAGE) or (in_appyc and frame.filename == ast.__file__)
        if in_appyc or frame.filename.startswith("<frozen importlib"):
            continue
        around, is_region, _ = frame.name.partition("_lines_")
        if is_region and out and out[-1].name in (around, "<module>"):
            frame = _renamed(frame, out.pop().name)
        out.append(frame)
    return out


def _renamed(frame: traceback.FrameSummary, name: str) -> traceback.FrameSummary:
    return traceback.FrameSummary(
        frame.filename,
        frame.lineno,
        name,
        end_lineno=frame.end_lineno,
        colno=frame.colno,
        end_colno=frame.end_colno,
    )
