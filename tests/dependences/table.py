"""The table of docs/dependences.md: every loop of the corpus and what appyc makes of it.

python -m tests.dependences.table [--write]
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from tests.dependences.corpus import AFTER_CHANGE, CALL_DECIDES, Loop
from tests.dependences.outcome import MODULES, Outcome, outcome

PAGE = Path(__file__).parents[2] / "docs" / "dependences.md"

_HEAD = """# What the dependence analysis decides

Every loop of `tests/dependences`, with what is true of it and what appyc makes of it. The
table is made by `python -m tests.dependences.table --write`, and a test fails when it is stale,
so each row is pinned. Other tests hold that every loop gives what plain Python gives, and that
no loop which appyc runs on lanes or threads has iterations that may not change places.

- *truth*: `independent`, `reduction`: the iterations may run in any order as they stand;
  `after change`, `scan`, `search`, `packing`: in parallel once the loop is written
  differently, in the way that is named; `condition`, `data`: the arguments decide;
  `carried`: no way is known, or none that keeps the results.
- *verdict*, *mode*: of each loop of the function after all passes, outer ones first; a pass
  may have made several of one. `refused` is an error at the pragma, with the reason.
  `scan`: chunks on threads, each from what the steps before it come to.
  `simd in step`: lanes that finish each statement before the next; `simd up to 16`: no more
  lanes than that.
- *missing*: what would have to be done for the loop to run in parallel, where it does not.

What is changed about a loop so that it may run in parallel, each by a pass of this name in
`appyc/passes`, whose text says what it does not handle:

| pass | what it does |
|---|---|
| `while_to_for` | `while` loops on a counter become `for` loops |
| `substitute_induction` | counters that every iteration moves alike get a closed form |
| `peel_wrap_around` | the first iteration runs apart where a scalar holds a value of the one before |
| `speculative_search` | loops that end early are searched block by block, and then do their work up to the end |
| `arg_reductions` | argmax, argmin and conditional last values become reductions of a position |
| `recognise_reductions` | assignments that combine become updates |
| `distribute_loops` | statements are put in order, and recurrences get loops of their own |
| `interchange_loops` | the loops of a nest change places, for memory, threads and lanes |
| `skew_loops` | nests that wait in both directions run as a wave, of which a front is free |
| `index_set_splitting` | the range is cut around the iteration that all conflict with, or at its middle |
| `scalar_replacement` | an array element that stays the same is held in a scalar |
| `privatise_arrays` | scratch arrays become each iteration's own |
| `rename_arrays` | reads of what is overwritten later see a copy; writes that are overwritten are left out |
| `scalar_replacement_of_recurrences` | an element that the iteration before stored is carried in a scalar |
| `normalise_loops` | loops over moving slices that add up products run over the places themselves |
| `find_products` | products of matrices in the middle of other work get nests of their own |
| `parallel_scan` | scans, linear recurrences and packing run in chunks, whose steps are composed first |
| `find_lanes` | lanes up to the distance of a dependence, or in step, with reads moved up |
| `version_loops` | a condition on the arguments, or a look at index arrays, decides at the call |

How fast the code is that comes out: `python -m benchmarks.vectorise` times these loops beside
the same in C, compiled with gcc -O3 -march=native -ffast-math, at 32,000 float32 on one thread.
"""


def row(loop: Loop, found: Outcome) -> str:
    verdict = _joined(found.verdicts) or "-"
    mode = f"refused ({found.refused.partition(':')[0]})" if found.refused else _joined(found.modes)
    pragma = f", pragma {loop.pragma}" if loop.pragma else ""
    cells = (f"`{loop.name}`", loop.family, loop.truth + pragma, verdict, mode, _missing(loop, found))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _joined(words: Iterable[str]) -> str:
    """The words, with how often where one comes several times in a row."""
    runs = [(word, len(list(same))) for word, same in groupby(words)]
    return ", ".join(word if count == 1 else f"{count} {word}" for word, count in runs)


def _missing(loop: Loop, found: Outcome) -> str:
    if found.runs_parallel or loop.truth == "carried" or loop.pragma == "wrong":
        return ""
    return loop.needs or "recognising it"


def page() -> str:
    found = {loop.name: outcome(loop) for corpus in MODULES.values() for loop in corpus.loops}
    lines = [_HEAD, *_summary(list(found.values()))]
    for name, corpus in MODULES.items():
        lines += ["", f"## tests/dependences/{name}.py", ""]
        lines += ["| loop | family | truth | verdict | mode | missing |", "|---|---|---|---|---|---|"]
        lines += [row(loop, found[loop.name]) for loop in corpus.loops]
    return "\n".join(lines) + "\n"


def _summary(found: list[Outcome]) -> list[str]:
    plain = [o for o in found if not o.loop.pragma]
    could = [o for o in plain if o.loop.may_be_parallel]
    as_written = [o for o in could if o.loop.truth not in AFTER_CHANGE]
    do, do_as_written = sum(o.runs_parallel for o in could), sum(o.runs_parallel for o in as_written)
    changed = len(could) - len(as_written)
    wrong = [o for o in found if o.loop.pragma == "wrong"]
    right = [o for o in found if o.loop.pragma == "right"]
    decided = [o for o in plain if o.loop.truth in CALL_DECIDES]
    return [
        "## Counts",
        "",
        f"- {len(found)} loops, {len(plain)} of them without a pragma.",
        f"- Of {len(could)} that can run in parallel whatever the arguments, {do} do "
        f"({100 * do / len(could):.0f} %): {do_as_written} of {len(as_written)} as written, "
        f"{do - do_as_written} of {changed} that need a change.",
        f"- Of {len(decided)} that the arguments decide, {sum(o.runs_parallel for o in decided)} may run "
        "in parallel at a call.",
        f"- Of {len(wrong)} wrong pragmas, {sum(bool(o.refused) for o in wrong)} are refused by the compiler, the "
        "others at the call, where its arguments bear out that they are wrong.",
        f"- Of {len(right)} right ones, {sum(not o.refused for o in right)} get what they ask for.",
    ]


def main(arguments: list[str]) -> int:
    text = page()
    if "--write" in arguments:
        PAGE.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
