"""What diff prints: each difference, the workload that shows it, and what becomes of each queue."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from ...dsl.diff.differences import Change
from ...dsl.diff.statements import SubjectKind
from ...dsl.print.printer import statement
from ...engine.event_parts import Charge
from ...engine.policy_graph import Source
from ...sim.drive.workload_outcome import WorkloadOutcome
from ...sim.report.wording import amount, by, limit_told, names
from ...sim.witness.policy_comparison import WitnessedChange
from ...sim.witness.queue_comparison import QueueChange
from ..shared.output import Format, counted, say, say_json
from ..shared.tables import table

_VERDICTS: dict[QueueChange, str] = {
    "equal": "",
    "more": "alone in the cluster more may be admitted",
    "less": "alone in the cluster less may be admitted",
    "incomparable": "alone in the cluster more of some may be admitted, and less of other",
    "changed": "whether more or less may be admitted alone in the cluster cannot be told",
}
"""What became of a queue as a whole, in words; nothing where it is the same."""

_PLACES: tuple[SubjectKind, ...] = ("cohort", "queue", "local queue")
"""Of these it is said for whom something is larger, as to lend less is."""


def show_differences(found: list[WitnessedChange], judged: dict[str, QueueChange], form: Format) -> None:
    """Print each difference with the workload that shows it, and what becomes of each queue as a whole."""
    if form is Format.json:
        _say_json(found, judged)
    elif form is Format.plain:
        table("", _COLUMNS, _rows(found), form)
        table("", ("queue", "alone"), [(queue, judged[queue]) for queue in sorted(judged)], form)
    elif found:
        shown, all_shown = _show(found, judged), sum(_is_shown(each) for each in found)
        alike = f"; {all_shown - shown} more of differences that are alike" if shown < all_shown else ""
        say(f"{counted(len(found), 'difference')}, {counted(shown, 'workload')} to show {'it' if len(found) == 1 else 'them'}{alike}")
    else:
        say("no difference: the two policies mean the same")


def _is_shown(finding: WitnessedChange) -> bool:
    return finding.searched is not None and finding.searched.witness is not None


# --- for people -----------------------------------------------------------------------------------------------------


_Part = tuple[WitnessedChange, ...]
"""All differences of one subject."""


def _show(found: list[WitnessedChange], judged: dict[str, QueueChange]) -> int:
    """All differences, by subject, those that are alike once; queues that differ only by what others own at the end.

    Returns how many workloads are shown.
    """
    shown = 0
    for alike in _alike(found, judged):
        kind, subjects = alike[0][0].change.subject.kind, [part[0].change.subject.name for part in alike]
        _say_heading(kind, subjects, judged.get(subjects[0], "equal") if kind == "queue" else "equal")
        for findings_of_one in zip(*alike, strict=True):
            finding = next((each for each in findings_of_one if _is_shown(each)), findings_of_one[0])
            shown += _is_shown(finding)
            for line in _finding(finding, one_of_many=len(alike) > 1):
                say(f"  {line}")
    told = {finding.change.subject.name for finding in found if finding.change.subject.kind == "queue"}
    for verdict in _VERDICTS:
        others = [queue for queue in sorted(judged) if queue not in told and judged[queue] == verdict != "equal"]
        if others:
            _say_heading("queue", others, verdict)
    return shown


def _alike(found: list[WitnessedChange], judged: dict[str, QueueChange]) -> list[list[_Part]]:
    """The differences by subject; together, in the order of the first of them, those subjects of which the same is to be told."""
    together: dict[tuple[object, ...], list[_Part]] = {}
    for subject, group in groupby(found, key=lambda finding: finding.change.subject):
        part = tuple(group)
        told = tuple((each.change.about, each.change.direction, each.change.old, each.change.new, each.change.note) for each in part)
        together.setdefault((subject.kind, judged.get(subject.name) if subject.kind == "queue" else None, told), []).append(part)
    return list(together.values())


def _say_heading(kind: SubjectKind, subjects: list[str], verdict: QueueChange) -> None:
    several = "priorities" if kind == "priority" else f"{kind}s"
    heading = f"{kind if len(subjects) == 1 else several} {', '.join(subjects)}".rstrip()
    say(heading + (f": {_VERDICTS[verdict]}" if _VERDICTS[verdict] else ""))


def _finding(finding: WitnessedChange, one_of_many: bool) -> Iterator[str]:
    change = finding.change
    note = f"; {change.note}" if change.note else ""
    whose = f"{change.subject.name}: " if one_of_many else ""
    yield f"{_how(change)}{note} ({whose}{_places(change)})"
    if finding.searched is None:
        yield f"  {finding.unshown}"
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
            kind = change.subject.kind
            for_whom = f" for the {kind}" if kind in _PLACES and direction in ("larger", "smaller") else ""
            return f"{change.about}: {direction}{for_whom}, {change.old} -> {change.new}"


def _places(change: Change) -> str:
    sides = (("old", change.old_source), ("new", change.new_source))
    return ", ".join(f"{side} {source.file}:{source.line}" for side, source in sides if source is not None)


def _told(outcome: WorkloadOutcome) -> str:
    """An outcome in one line: what it came to, why, by which line, and the limit that binds."""
    expect, why = outcome.expect, outcome.why
    flavor = f" on {expect.flavor.text}" if expect.flavor is not None else ""
    borrowing = f", borrowing {_charges(outcome.borrowed)}" if outcome.borrowed else ""
    evicting = f", evicting {names(list(outcome.evicts))}" if outcome.evicts else ""
    for_whom = f" for {outcome.beneficiary}" if outcome.beneficiary is not None else ""
    limit = f"; {limit_told(why.limit, outcome.reason)}" if why.limit is not None and expect.state == "pending" else ""
    return f"{expect.state}{flavor}{borrowing}{evicting}{for_whom}: {outcome.reason}{by(why.rule)}{limit}"


def _charges(charges: tuple[Charge, ...]) -> str:
    return " and ".join(f"{amount(charge.amount, charge.resource)} of {charge.flavor}" for charge in charges)


# --- for programs ---------------------------------------------------------------------------------------------------


_COLUMNS = ("subject", "about", "how", "old", "new", "old line", "new line", "workload", "under old", "under new")


def _rows(found: list[WitnessedChange]) -> list[tuple[str, ...]]:
    rows = []
    for finding in found:
        change, searched = finding.change, finding.searched
        witness = searched.witness if searched is not None else None
        shown = (witness.workload, _told(witness.old), _told(witness.new)) if witness is not None else ("", "", "")
        lines = (f"{source.file}:{source.line}" if source is not None else "" for source in (change.old_source, change.new_source))
        rows.append((str(change.subject), change.about, change.direction, change.old, change.new, *lines, *shown))
    return rows


def _say_json(found: list[WitnessedChange], judged: dict[str, QueueChange]) -> None:
    for finding in found:
        change, searched = finding.change, finding.searched
        witness = searched.witness if searched is not None else None
        say_json(
            "change", subject_kind=change.subject.kind, subject=change.subject.name, about=change.about, how=change.direction,
            old=change.old, new=change.new, old_source=_source(change.old_source), new_source=_source(change.new_source), note=change.note,
            tried=searched.tried if searched is not None else None, unshown=finding.unshown or None,
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


def _outcome(outcome: WorkloadOutcome) -> dict[str, Any]:
    return {
        "state": outcome.expect.state,
        "told": _told(outcome),
        "why": outcome.why.model_dump(),
        "borrowed": [charge.model_dump() for charge in outcome.borrowed],
        "evicts": list(outcome.evicts),
        "beneficiary": outcome.beneficiary,
    }
