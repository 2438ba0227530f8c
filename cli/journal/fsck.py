"""fsck: everything that is wrong with a journal."""

from typing import TYPE_CHECKING

import click

from ...journal.errors import DamagedError, JournalError
from ..shared.journals import refuse_use
from ..shared.options import journal_place, with_format
from ..shared.output import GOOD, NOT_VERIFIED, Format, counted, refuse, say, say_json
from ..shared.progress import progress
from .evidence import open_to_verify, read_evidence, with_evidence

if TYPE_CHECKING:
    from ...journal.audit.fsck import FsckFinding


@click.command()
@journal_place
@with_evidence
@with_format
def fsck(journal: str, checkpoints: tuple[str, ...], keys: tuple[str, ...], form: Format) -> int:
    """Look for everything that can be wrong with a journal, and say what to do about it."""
    from ...journal.audit.fsck import fsck
    from ..speed.kernels import core_for_command

    evidence = read_evidence(checkpoints, keys)
    try:
        with open_to_verify(journal, evidence) as read, progress("checking everything", 2 * read.last_row) as tick:
            report = fsck(read, tick, evidence, core=core_for_command(read.last_row))
    except DamagedError as error:  # so much so that there is nothing to look at
        if form is Format.json:
            say_json("fsck", good=False, seq=None, decided=None, findings=None, problem=error.message)
        refuse(f"{error.message}; restore a backup that verifies", NOT_VERIFIED)
    except JournalError as error:
        refuse_use(error)
    for finding in report.findings:
        _show(finding, form)
    faults = sum(finding.is_fault for finding in report.findings)
    if form is Format.json:
        say_json("fsck", good=report.good, seq=report.seq, decided=report.decided, findings=len(report.findings), problem="")
    elif report.good:
        say(f"good: {counted(report.seq, 'event')}, every decision made again")
    else:
        say(
            f"bad: {counted(faults, 'kind')} of faults in {counted(report.seq, 'event')}, decisions made again up to event {report.decided}"
        )
    return GOOD if report.good else NOT_VERIFIED


def _show(finding: "FsckFinding", form: Format) -> None:
    fault = finding.fault
    if form is Format.json:
        say_json(
            "finding", is_fault=finding.is_fault, sort=finding.kind, seq=fault.seq, within=fault.within, count=finding.count,
            problem=fault.problem, expected=fault.expected, found=fault.found, meaning=fault.meaning, remedy=finding.remedy,
        )  # fmt: skip
        return
    more = f" (the first of {finding.count:,})" if finding.count > 1 else ""
    say(f"{'fault' if finding.is_fault else 'note'} {finding.kind}: {fault.problem}{more}")
    for what, text in (("expected", fault.expected), ("found", fault.found), ("meaning", fault.meaning), ("remedy", finding.remedy)):
        if text:
            say(f"  {what}: {text}")
