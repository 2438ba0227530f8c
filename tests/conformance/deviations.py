"""Seeds deviations from Kueue, one at a time, and shows which suites see each: `python tests/conformance/deviations.py [NUMBER ...]`.

A deviation is a mistake in a profile of Kueue or in the mechanisms that decide in cycles. Each is put into a copy of the rooms, and
conform.py is run there; the project itself is not touched. Ends with 0 where every one is seen, with 2 where one is not. The table of
deviations in docs/testing.md is its output; it takes some minutes, and needs the reference data beside the repository.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from conform import DATA, ROOT

ROOMS = ("engine", "compiled", "dsl", "journal", "policies", "sim", "adapters")


@dataclass(frozen=True, slots=True)
class Deviation:
    """A piece of a file of the project, and what stands there by mistake."""

    what: str
    file: str
    right: str
    wrong: str


DEVIATIONS = (
    Deviation(
        "without fair sharing, priority counts before borrowing among the heads",
        "policies/kueue/classical.gpol",
        "order heads by borrowing asc, priority desc,",
        "order heads by priority desc, borrowing asc,",
    ),
    Deviation(
        "with fair sharing, the strategies are tried the other way round",
        "policies/kueue/fair.gpol",
        "preempt fairly by final share, initial share",
        "preempt fairly by initial share, final share",
    ),
    Deviation(
        "with fair sharing, who borrows nothing does not go first",
        "policies/kueue/fair.gpol",
        "order queues by borrowing asc, share asc,",
        "order queues by share asc,",
    ),
    Deviation(
        "shares are not rounded",
        "policies/kueue/fair.gpol",
        "share borrowed rounded",
        "share borrowed",
    ),
    Deviation(
        "a cohort does not win a tie of shares with a queue",
        "engine/definition/preemption/fair_sharing.py",
        "return -level, -share, is_queue, ",
        "return -level, -share, not is_queue, ",
    ),
    Deviation(
        "who stays within what its queue owns evicts others only where shares allow it",
        "engine/definition/preemption/fair_sharing.py",
        "within = not self.tree.borrows(self.queue, self.preemptor.slots)",
        "within = False",
    ),
    Deviation(
        "victims are looked for with borrowing first even where it is forbidden to evict for it",
        "engine/definition/preemption/classical.py",
        "return (False, True) if forbidden and not by_advantage else (True, False)",
        "return (True, False)",
    ),
    Deviation(
        "a queue that no longer borrows still has to give",
        "engine/definition/preemption/classical.py",
        "        if not trial.tree.borrows(node, preemptor.slots):\n            found.note",
        "        if False:\n            found.note",
    ),
    Deviation(
        "of equal victims the one goes first that was admitted first",
        "engine/definition/preemption/candidates.py",
        "victim.priority, -(victim.admitted or 0), victim.fact.uid",
        "victim.priority, victim.admitted or 0, victim.fact.uid",
    ),
    Deviation(
        "what a cohort keeps local is not taken off on the way up",
        "engine/definition/quota/tree.py",
        "            amount -= self.local_available(node, slot)\n            node = self.parent[node]",
        "            node = self.parent[node]",
    ),
    Deviation(
        "the best flavor is one to evict in rather than one to borrow in, whatever the queue says",
        "engine/definition/flavor/assigner.py",
        'if rather == "evict" else',
        "if True else",
    ),
    Deviation(
        "nothing is kept for a workload that needs victims and has none",
        "engine/definition/admission/cycle.py",
        'if preemption_of(self.trial, queue).reclaims != "any":',
        "if False:",
    ),
    Deviation(
        "who has evicted others does not stay the head of its queue",
        "engine/definition/queue/line.py",
        "first = None if graph.queue_at(queue).strict else preemptor",
        "first = None",
    ),
    Deviation(
        "a workload that may do with fewer pods is never tried with the fewest",
        "engine/definition/admission/nominate.py",
        "low, high = 0, total + 1",
        "low, high = 0, total",
    ),
    Deviation(
        "a workload that takes the place of another one may run on another flavor",
        "engine/definition/flavor/assigner.py",
        "                if holds != flavor:",
        "                if False:",
    ),
)


def seed(deviation: Deviation | None) -> dict[str, int]:
    """The cases that differ in a copy with the deviation, or with none, by suite."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "repository"
        for room in ROOMS:
            shutil.copytree(ROOT / room, repository / "gpol" / room, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "tests" / "conformance", repository / "tests" / "conformance")
        (Path(folder) / "shared").symlink_to(DATA.parent)
        if deviation is not None:
            put_wrong(repository / "gpol" / deviation.file, deviation)
        return differing(repository)


def put_wrong(path: Path, deviation: Deviation) -> None:
    """Write a deviation into a copied file; end the program where the right text is not there exactly once."""
    text = path.read_text(encoding="utf-8")
    if text.count(deviation.right) != 1:
        raise SystemExit(f"{deviation.file} does not have `{deviation.right}` exactly once; bring the script up to date")
    path.write_text(text.replace(deviation.right, deviation.wrong), encoding="utf-8")


def differing(repository: Path) -> dict[str, int]:
    """Run conform.py in a copy, and count the cases that differ, by suite."""
    environment = {**os.environ, "PYTHONPATH": str(repository), "PYTHONDONTWRITEBYTECODE": "1"}
    check = "import gpol.engine.default_core as core; print(core.__file__)"
    where = subprocess.run(
        [sys.executable, "-c", check], cwd=repository, env=environment, capture_output=True, text=True, check=True
    ).stdout
    if not where.startswith(str(repository)):
        raise SystemExit(f"the copy is not what is compared, but {where.strip()}")
    command = [sys.executable, "tests/conformance/conform.py"]
    output = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False).stdout
    rows = re.findall(r"^(\w+) +(\d+) +(\d+) +(\d+)$", output, re.MULTILINE)
    if not rows:
        raise SystemExit("conform.py has not told anything")
    counts = {suite: int(total) - int(excused) - int(matched) for suite, matched, total, excused in rows}
    return {suite: count for suite, count in counts.items() if count}


def row(number: int, deviation: Deviation, seen: dict[str, int]) -> str:
    """The line of the table for a deviation: the suites that see it, each with the cases that differ."""
    suites = ", ".join(f"`{suite}` {count}" for suite, count in seen.items()) or "**not seen**"
    return f"| K{number} | {deviation.what} | `{deviation.file}` | {suites} |"


def main() -> int:
    """Seed all deviations, or those with the given numbers; print a line of the table for each."""
    parser = argparse.ArgumentParser(description="Seed deviations from Kueue into a copy of the project and show which suites see each.")
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help="a deviation: 3 is K3 of docs/testing.md; all without")
    asked = parser.parse_args()
    for number in asked.numbers:
        if not 1 <= number <= len(DEVIATIONS):
            parser.error(f"there is no deviation {number}; the last is {len(DEVIATIONS)}")
    if not DATA.is_dir():
        parser.exit(3, f"there is no reference data: it belongs into {DATA}\n")
    differing_now = seed(None)
    if differing_now:
        raise SystemExit(f"without any deviation cases differ already: {differing_now}")
    missed = 0
    for number in asked.numbers or range(1, len(DEVIATIONS) + 1):
        seen = seed(DEVIATIONS[number - 1])
        missed += not seen
        print(row(number, DEVIATIONS[number - 1], seen), flush=True)
    return 2 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
