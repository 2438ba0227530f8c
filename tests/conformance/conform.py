"""Compares gpol with Kueue: `python tests/conformance/conform.py [--write] [SUITE ...]`, the same as `make conformance`.

Prints for each suite how many cases match, and each case that does not, or is excused. Both cores decide each case, and have to do the
same, also in some cycles after it. Ends with 0 where all that are not excused match, with 2 where one does not, and with 3 where there is
no reference data or no such suite. With `--write` it writes docs/conformance.md, too.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from report import details, header, line, page, run
from suites import choices, flavors, formulas, places, recorded, schedule, schedule_places, usage, victims
from suites.suite import Suite
from twin_core import ALONE, BEYOND, by_both

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT.parent / "shared" / "conformance"
PAGE = ROOT / "docs" / "conformance.md"

SUITES: tuple[Suite, ...] = (
    *formulas.SUITES,
    *choices.SUITES,
    *flavors.SUITES,
    *victims.SUITES,
    *schedule.SUITES,
    *schedule_places.SUITES,
    *usage.SUITES,
    *places.SUITES,
    *recorded.SUITES,
)
"""All suites, in the order of the page."""


def main() -> int:
    """Run the suites and print what came of them."""
    parser = argparse.ArgumentParser(description="Compare gpol with Kueue's own tests and recorded decisions.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="a suite by its name; all without")
    parser.add_argument("--write", action="store_true", help="write docs/conformance.md")
    asked = parser.parse_args()
    unknown = sorted(set(asked.suites) - {suite.name for suite in SUITES})
    if unknown:
        parser.exit(3, f"there is no suite {unknown[0]}; there are {', '.join(suite.name for suite in SUITES)}\n")
    if asked.write and asked.suites:
        parser.exit(3, "the page is of all suites: name none with --write\n")
    if not DATA.is_dir():
        parser.exit(3, f"there is no reference data: it belongs into {DATA}\n")
    print(header())
    reports, counts = [], Counter[str]()
    for suite in SUITES:
        if suite.name in asked.suites or not asked.suites:
            reports.append(run(by_both(suite, counts), DATA))
            print(line(reports[-1]), flush=True)
            for detail in details(reports[-1]):
                print(detail)
    same = ", ".join(f"{counts[what]:,} {what}" for what in ("clusters", "facts", "decisions"))
    print(f"both cores did the same: {same}; {counts[BEYOND]:,} {BEYOND}; {counts[ALONE]:,} {ALONE}")
    if asked.write:
        PAGE.write_text(page(reports), encoding="utf-8")
    return 2 if any(report.mismatches for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
