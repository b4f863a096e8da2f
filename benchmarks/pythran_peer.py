"""Functions compiled by Pythran, as peers: the text as it is, for the types of given arguments."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def pythran_form(
    text: str, function: str, arguments: Sequence[Any], folder: Path, *flags: str
) -> Callable[..., Any]:
    """The function of a module's text. Raises CalledProcessError where Pythran is not there, or refuses it."""
    number = len(list(folder.glob("pythran_*.py")))
    name = f"pythran_{number}"  # what a module is imported by
    file, built = folder / f"{name}.py", folder / f"{name}.so"
    types = ", ".join(map(_type, arguments))
    file.write_text(f"import numpy as np\n#pythran export {function}({types})\n{text}")
    command = [sys.executable, "-m", "pythran.run", "-DUSE_XSIMD", *flags, str(file), "-o", str(built)]
    subprocess.run(command, check=True, capture_output=True)
    found = importlib.util.spec_from_file_location(name, built)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return getattr(module, function)  # type: ignore[no-any-return]


def _type(value: Any) -> str:
    return f"{value.dtype.name}[{','.join(':' * value.ndim)}]" if np.ndim(value) else type(value).__name__
