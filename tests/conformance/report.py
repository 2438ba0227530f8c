"""Running suites, and saying what came of it: as lines for a terminal and as a page of the documentation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from suites.suite import Suite


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a suite: how many cases its file has, how many of them matched, and each that did not with its differences."""

    suite: Suite
    total: int
    matched: int
    mismatches: tuple[tuple[str, str], ...] = ()

    @property
    def excused(self) -> int:
        """How many cases are not compared."""
        return len(self.suite.excused)


def run(suite: Suite, data: Path) -> Report:
    """Compare every case of a suite that is not excused; `data` is the folder of the reference data. A case that fails is a mismatch."""
    total, matched, mismatches, excused = 0, 0, list[tuple[str, str]](), set[str]()
    for name, case in suite.cases(data):
        total += 1
        if name in suite.excused:
            excused.add(name)
            continue
        try:
            found = suite.compare(case)
        except Exception as error:
            found = [f"{type(error).__name__}: {error}"]
        if found:
            mismatches.append((name, "; ".join(found)))
        else:
            matched += 1
    mismatches += [(name, "is excused, and is not there") for name in sorted(suite.excused.keys() - excused)]
    if total != suite.total:
        mismatches.append(("the file", f"has {total} cases, not {suite.total}"))
    return Report(suite, total, matched, tuple(mismatches))


def conforming(suite: Suite) -> Report:
    """The report of a suite in which all that is not excused matches, as it has to be."""
    return Report(suite, suite.total, suite.total - len(suite.excused))


# --- for a terminal -----------------------------------------------------------------------------------------------------


def header() -> str:
    """The heads of the columns."""
    return f"{'suite':42} {'matched':>8} {'total':>6} {'excused':>8}"


def line(report: Report) -> str:
    """The figures of a suite."""
    return f"{report.suite.name:42} {report.matched:8} {report.total:6} {report.excused:8}"


def details(report: Report) -> list[str]:
    """Each case of a suite that does not match, and each that is excused."""
    wrong = [f"  mismatch: {name}: {explanation}" for name, explanation in report.mismatches]
    return wrong + [f"  excused: {name}: {excuse.reason}" for name, excuse in report.suite.excused.items()]


# --- for the documentation ----------------------------------------------------------------------------------------------


def page(reports: Sequence[Report]) -> str:
    """The page about conformance."""
    rows = [
        f"| {_kind(report)} | {report.matched:,} | {report.total:,} | {report.excused} | {report.suite.compared} |" for report in reports
    ]
    parts = [
        _HEAD,
        "\n".join(["| suite | matched | total | excused | compared |", "|---|---:|---:|---:|---|", *rows, _sum(reports)]),
        _section("Mismatches", _MATCHED, reports, _mismatches),
        _section("Excused", _EXCUSED, reports, _excused),
        _UNDETERMINED,
        _section("Remarks", _REMARKS, reports, _remarks),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _kind(report: Report) -> str:
    return f"`{report.suite.name}`"


def _sum(reports: Sequence[Report]) -> str:
    matched, total = sum(report.matched for report in reports), sum(report.total for report in reports)
    return f"| all | {matched:,} | {total:,} | {sum(report.excused for report in reports)} | |"


def _section(title: str, text: str, reports: Sequence[Report], tell: Callable[[Report], list[str]]) -> str:
    told = [entry for report in reports for entry in tell(report)]
    return "\n".join([f"## {title}", "", text.strip("\n"), "", *(told or ["None."])])


def _mismatches(report: Report) -> list[str]:
    return [f"- `{report.suite.name}`, {name}: {explanation}" for name, explanation in report.mismatches]


def _excused(report: Report) -> list[str]:
    return [f"- `{report.suite.name}`, {name}: {excuse.reason}" for name, excuse in report.suite.excused.items()]


def _remarks(report: Report) -> list[str]:
    return [f"- `{report.suite.name}`, {name}: {remark}" for name, remark in report.suite.remarks.items()]


_HEAD = """
# Conformance

How far gpol decides as Kueue does, under the profiles `kueue.classical` and `kueue.fair`. The page is written by
`python tests/conformance/conform.py --write`; `make conformance` prints the same figures, and ends with 0 where everything that is not
excused matches. The reference is Kueue's own code at commit ff69552e79 of its main branch (2026-08-22, v0.20.0-devel). Every feature
gate is at its default, but for the priority boost where a case switches it on, and for what is remarked on single cases.

`Test...` are tables of Kueue's own tests; `single` and `timeline` are decisions that its scheduler gave on generated clusters,
`tas_single` and `tas_timeline` those on clusters with topologies. All of it is read from the folder `shared/conformance` beside the
repository, and is no part of the project.

The objects of a case go the way of `gpol import kueue`: objects to a policy and facts, and those to the core. Where a table gives plain
usage, a workload holds it. What is compared are decisions; messages are not.
"""

_MATCHED = "Cases that are decided otherwise."

_EXCUSED = """
Cases that are not compared and not counted as matched, because they need a feature gate that is not at its default, what the import
refuses, or a cluster that refuses what Kueue writes. `tests/conformance/test_conformance.py` holds that the data of each says so.
"""

_UNDETERMINED = """
## Where Kueue is undetermined

Kueue leaves some choices open: they go by the order of a map or by an unstable sort. gpol decides all of them, and always alike.

- Of two child cohorts with equal shares, fair preemption takes from the one that a map yields last (Kueue's issue 10131). Here it is
  the last by name.
- Heads of queues that are equal in all that orders them are processed in no order. Here it is that of their UIDs, then that of their
  submission. Nor does Kueue order trees of cohorts among themselves. Here it is by the names of their roots.
- Candidates that are equal in all that orders them, as in tables without UIDs, stay in no order. Here it is that of their submission.

Any answer that Kueue may give counts as a match; where a case needs that, it is among the remarks. The generated clusters are those
that Kueue answered alike in several processes.
"""

_REMARKS = "Cases of which more is to be said."
