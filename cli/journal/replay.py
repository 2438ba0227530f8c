"""replay: whether every decision is the one that the policy demands."""

import click

from ...journal.errors import JournalError
from ..shared.journals import open_journal, refuse_use
from ..shared.options import journal_place, with_format
from ..shared.output import GOOD, NOT_VERIFIED, Format, counted, say, say_json
from ..shared.progress import progress


@click.command()
@journal_place
@with_format
def replay(journal: str, form: Format) -> int:
    """Decide every recorded fact again and compare each decision byte for byte."""
    from ...journal.audit.replay import replay

    try:
        with open_journal(journal) as read, progress("replaying", read.head.seq) as tick:
            report = replay(read, tick)
    except JournalError as error:
        refuse_use(error)
    if form is Format.json:
        say_json(
            "replay", same=report.same, seq=report.seq, facts=report.facts, decisions=report.decisions,
            bad_seq=report.bad_seq, problem=report.problem, recorded=report.recorded, recomputed=report.recomputed,
        )  # fmt: skip
    elif report.same:
        say(f"same: {counted(report.facts, 'fact')} decided again, {counted(report.decisions, 'decision')}, all identical")
    else:
        say(f"differs: event {report.bad_seq}: {report.problem}")
        say(f"  recorded:   {report.recorded or '(nothing)'}")
        say(f"  recomputed: {report.recomputed or '(nothing)'}")
    return GOOD if report.same else NOT_VERIFIED
