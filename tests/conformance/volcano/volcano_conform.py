"""Compares gpol with Volcano: `python tests/conformance/volcano/volcano_conform.py [SUITE ...]`.

Prints for each suite how many cases match, each case that does not with what differs, and each that is left out with the reason. Suites:
`tables` and `tables, topology` (Volcano's own tests), a scope of the recorded decisions, `several answers`, and the figures of each. Ends
with 0 where all match that are not left out, with 2 where one does not, and with 3 where there is no reference data.
"""

import argparse
import sys
from collections.abc import Iterator

from volcano_suites import DATA, VolcanoCase, played_recorded, played_table, recorded, tables

MOST_TOLD = 6
"""Differences of a case that are printed."""


def all_cases() -> Iterator[VolcanoCase]:
    """All cases, one after the other."""
    for entry in tables():
        yield played_table(entry)
    for entry in recorded():
        yield from played_recorded(entry)


def main() -> int:
    """Play all cases and print what came of them."""
    parser = argparse.ArgumentParser(description="Compare gpol with Volcano's own tests and recorded decisions.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="a suite by its name; all without")
    asked = parser.parse_args()
    if not DATA.is_dir():
        parser.exit(3, f"there is no reference data: it belongs into {DATA}\n")
    by_suite: dict[str, list[VolcanoCase]] = {}
    for case in all_cases():
        if not asked.suites or case.suite in asked.suites:
            by_suite.setdefault(case.suite, []).append(case)
    wrong = 0
    for suite, cases in by_suite.items():
        played = [case for case in cases if not case.left_out]
        missed = [case for case in played if case.differences]
        wrong += len(missed)
        out = f"; {len(cases) - len(played)} left out" if len(cases) > len(played) else ""
        print(f"{suite}: {len(played) - len(missed)} of {len(played)} match{out}")
        for case in missed:
            print(f"  {case.name}")
            for difference in case.differences[:MOST_TOLD]:
                print(f"    {difference}")
            if len(case.differences) > MOST_TOLD:
                print(f"    and {len(case.differences) - MOST_TOLD} more")
        for case in cases:
            if case.left_out:
                print(f"  left out: {case.name}: {case.left_out}")
    return 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
