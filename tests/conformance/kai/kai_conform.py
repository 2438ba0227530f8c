"""How far gpol decides as KAI does: `python tests/conformance/kai/kai_conform.py [FOLDER]` prints matched / total of each suite.

FOLDER is the one of KAI's tables, `../shared/conformance/kai` unless it is given. Every mismatch is listed with what differs.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import kai_cases
import kai_recorded
from kai_tables import TABLES, mismatches

DATA = Path(__file__).resolve().parents[4] / "shared" / "conformance" / "kai"
"""Where the tables are, beside the repository."""

Outcome = tuple[str, str, str]
"""A suite, a case of it, and what differs there."""


def tables(folder: Path) -> Iterator[Outcome]:
    """The unit tables."""
    for table in TABLES:
        count, differing = mismatches(folder, table)
        names = list(differing)
        yield from ((table.file, name, differing[name]) for name in names)
        yield from ((table.file, "", "") for _ in range(count - len(names)))


def cycles(folder: Path) -> Iterator[Outcome]:
    """The whole cycles, those left out with the reason as their suite."""
    for case in kai_cases.cases(folder):
        reason = kai_cases.left_out(case)
        if reason:
            yield f"left out: {reason}", case.name, ""
        else:
            yield case.suite, case.name, kai_cases.play(case)


def recordings(folder: Path) -> Iterator[Outcome]:
    """The recorded clusters by scope."""
    for cluster, wanted in kai_recorded.recorded(folder):
        scope = kai_recorded.scope_of(cluster)
        if scope in kai_recorded.SCOPES:
            yield f"recorded {scope}", cluster["Name"], kai_recorded.play(cluster, wanted)
        else:
            yield f"left out: recorded {scope}", cluster["Name"], ""


def main(folder: Path) -> int:
    """Print matched / total of each suite, and every mismatch; 1 where there is one."""
    wrong = 0
    for suites in (tables, cycles, recordings):
        start = time.perf_counter()
        totals, differing = Counter[str](), Counter[str]()
        for suite, name, problem in suites(folder):
            totals[suite] += 1
            differing[suite] += bool(problem)
            if problem:
                print(f"  {suite}: {name}: {problem}")
        for suite, total in totals.items():
            print(f"{suite}: {total}" if suite.startswith("left out") else f"{suite}: {total - differing[suite]} / {total}")
        print(f"  ({time.perf_counter() - start:.1f} s)")
        wrong += sum(differing.values())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA))
