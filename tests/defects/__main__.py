"""Seeds each defect in a copy of the tree, and says whether the tests find it.

    python -m tests.defects [--slow] [--out FILE] [NAME ...]

The ordinary tests run up to the first failure. The slow ones are run too where the ordinary ones find nothing, and
with --slow always. The full suite is both, so it finds what the ordinary tests find; `results.txt` has the last run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.defects.records import DEFECTS, Defect

ROOT = Path(__file__).parents[2]

ORDINARY, SLOW = "not gpu and not slow", "slow and not gpu"


def seeded(defect: Defect, folder: Path) -> None:
    """Makes a copy of the tree with the defect in it."""
    ignored = shutil.ignore_patterns("__pycache__", ".*cache")
    for part in ("appyc", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    file = folder / "appyc" / defect.file
    text = file.read_text()
    if text.count(defect.old) != 1:
        sys.exit(f"{defect.name}: the text to replace occurs {text.count(defect.old)} times in {defect.file}")
    file.write_text(text.replace(defect.old, defect.new))


def finds(defect: Defect, folder: Path, marks: str) -> str:
    """The first test with these marks that fails, or "-"."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-n0",
        "-p",
        "no:cacheprovider",
        "-m",
        marks,
        *defect.tests,
    ]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        return f"crash, signal {-done.returncode}"
    if done.returncode not in (0, 1, 5):  # 5: no test has these marks
        sys.exit(f"{defect.name}: pytest ends with {done.returncode}\n{done.stdout}{done.stderr}")
    if done.returncode == 5:
        return "no test"
    failed = (line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR")))
    return next(failed, "-")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    lines = []
    for defect in DEFECTS:
        if given.names and defect.name not in given.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            seeded(defect, Path(folder))
            ordinary = finds(defect, Path(folder), ORDINARY)
            slow = (
                finds(defect, Path(folder), SLOW) if given.slow or ordinary in ("-", "no test") else "not run"
            )
        lines.append(f"{defect.name}: ordinary {ordinary}, slow {slow}")
        print(lines[-1], flush=True)
    if given.out:
        given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
