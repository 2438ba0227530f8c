"""diff: what two policies differ in, by meaning and not by text, and a workload that shows each difference."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from ..dsl.differences import Change, differences
from ..dsl.printer import statement
from ..engine.events import Charge
from ..engine.graph import Source
from ..sim.comparison import Finding, findings, verdicts
from ..sim.outcomes import Outcome
from ..sim.policy import Policy
from ..sim.reach import Verdict
from ..sim.words import amount, by, limit_told, names
from .output import GOOD, NO, Format, checked_policy, counted, refuse, say, say_json, table
from .progress import progress

_VERDICTS: dict[Verdict, str] = {
    "equal": "",
    "more": "alone in the cluster more may be admitted",
    "less": "alone in the cluster less may be admitted",
    "incomparable": "alone in the cluster more of some may be admitted, and less of other",
    "changed": "whether more or less may be admitted alone in the cluster cannot be told",
}
"""What became of a queue as a whole, in words; nothing where it is the same."""


def compare_policies(old_path: str, new_path: str, form: Format) -> int:
    """Compare two policies; say whether they mean the same."""
    if old_path == new_path == "-":
        refuse("only one of the two policies can be read from standard input; give a file for the other")
    old, new = (Policy.of(checked_policy(path, form)) for path in (old_path, new_path))
    changes = differences(old.graph, new.graph)
    found: list[Finding] = []
    with progress("looking for workloads", len(changes)) as tick:
        for finding in findings(old, new, changes):
            found.append(finding)
            tick(len(found))
    judged = verdicts(old, new)
    if form is Format.json:
        _say_json(found, judged)
    elif form is Format.plain:
        table(
            "", ("subject", "about", "how", "old", "new", "old line", "new line", "workload", "under old", "under new"), _rows(found), form
        )
        table("", ("queue", "alone"), [(queue, judged[queue]) for queue in sorted(judged)], form)
    elif changes:
        _show(found, judged)
        say(f"{counted(len(changes), 'difference')}, {counted(sum(_is_shown(each) for each in found), 'workload')} to show them")
    else:
        say("no difference: the two policies mean the same")
    return NO if changes else GOOD


def _is_shown(finding: Finding) -> bool:
    return finding.searched is not None and finding.searched.witness is not None


# --- for people -----------------------------------------------------------------------------------------------------


def _show(found: list[Finding], judged: dict[str, Verdict]) -> None:
    """All differences, by subject; queues that differ only by what others own at the end."""
    told: set[str] = set()
    for subject, group in groupby(found, key=lambda finding: finding.change.subject):
        verdict = _VERDICTS[judged.get(subject.name, "equal")] if subject.kind == "queue" else ""
        told |= {subject.name} if subject.kind == "queue" else set()
        say(f"{subject}" + (f": {verdict}" if verdict else ""))
        for finding in group:
            for line in _finding(finding):
                say(f"  {line}")
    for queue in sorted(judged):
        if queue not in told and judged[queue] != "equal":
            say(f"queue {queue}: {_VERDICTS[judged[queue]]}")


def _finding(finding: Finding) -> Iterator[str]:
    change = finding.change
    note = f"; {change.note}" if change.note else ""
    yield f"{_how(change)}{note} ({_places(change)})"
    if finding.searched is None:
        yield "  nothing is decided by it alone"
        return
    witness = finding.searched.witness
    if witness is None:
        tried = finding.searched.tried
        yield f"  no workload found that shows it ({counted(tried, 'scenario') if tried else 'none'} tried)"
        return
    yield f"  {witness.workload} under the old policy: {_told(witness.old)}"
    yield f"  {witness.workload} under the new policy: {_told(witness.new)}"
    text = witness.new_test or witness.old_test or ""
    *steps, end = text.splitlines()
    yield from (f"  {line}" for line in steps)
    if witness.new_test and witness.old_test:
        yield f"    # under the old policy: {statement(witness.old.expect)}"
    yield f"  {end}"


def _how(change: Change) -> str:
    match change.direction:
        case "new":
            return f"new: {change.new}" if change.new else "new"
        case "gone":
            return f"gone: {change.old}" if change.old else "gone"
        case "renamed":
            return f"renamed: {change.old} -> {change.new}"
        case direction:
            return f"{change.about}: {direction}, {change.old} -> {change.new}"


def _places(change: Change) -> str:
    sides = (("old", change.old_source), ("new", change.new_source))
    return ", ".join(f"{side} {source.file}:{source.line}" for side, source in sides if source is not None)


def _told(outcome: Outcome) -> str:
    """An outcome in one line: what it came to, why, by which line, and the limit that binds."""
    expect, why = outcome.expect, outcome.why
    flavor = f" on {expect.flavor.text}" if expect.flavor is not None else ""
    borrowing = f", borrowing {_charges(outcome.borrowed)}" if outcome.borrowed else ""
    evicting = f", evicting {names(list(outcome.evicts))}" if outcome.evicts else ""
    for_whom = f" for {outcome.beneficiary}" if outcome.beneficiary is not None else ""
    limit = f"; {limit_told(why.limit, why.reason)}" if why.limit is not None and expect.state == "pending" else ""
    return f"{expect.state}{flavor}{borrowing}{evicting}{for_whom}: {why.reason}{by(why.rule)}{limit}"


def _charges(charges: tuple[Charge, ...]) -> str:
    return " and ".join(f"{amount(charge.amount, charge.resource)} of {charge.flavor}" for charge in charges)


# --- for programs ---------------------------------------------------------------------------------------------------


def _rows(found: list[Finding]) -> list[tuple[str, ...]]:
    rows = []
    for finding in found:
        change, searched = finding.change, finding.searched
        witness = searched.witness if searched is not None else None
        shown = (witness.workload, _told(witness.old), _told(witness.new)) if witness is not None else ("", "", "")
        lines = (f"{source.file}:{source.line}" if source is not None else "" for source in (change.old_source, change.new_source))
        rows.append((str(change.subject), change.about, change.direction, change.old, change.new, *lines, *shown))
    return rows


def _say_json(found: list[Finding], judged: dict[str, Verdict]) -> None:
    for finding in found:
        change, searched = finding.change, finding.searched
        witness = searched.witness if searched is not None else None
        say_json(
            "change", subject_kind=change.subject.kind, subject=change.subject.name, about=change.about, how=change.direction,
            old=change.old, new=change.new, old_source=_source(change.old_source), new_source=_source(change.new_source), note=change.note,
            tried=searched.tried if searched is not None else None,
            witness=None if witness is None else {
                "workload": witness.workload, "old": _outcome(witness.old), "new": _outcome(witness.new),
                "old_test": witness.old_test, "new_test": witness.new_test,
            },
        )  # fmt: skip
    for queue in sorted(judged):
        say_json("verdict", queue=queue, alone=judged[queue])
    say_json("diff", same=not found, changes=len(found), shown=sum(map(_is_shown, found)))


def _source(source: Source | None) -> dict[str, Any] | None:
    return None if source is None else {"file": source.file, "line": source.line}


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "state": outcome.expect.state,
        "told": _told(outcome),
        "why": outcome.why.model_dump(),
        "borrowed": [charge.model_dump() for charge in outcome.borrowed],
        "evicts": list(outcome.evicts),
        "beneficiary": outcome.beneficiary,
    }
