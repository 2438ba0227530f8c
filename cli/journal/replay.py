"""replay: whether every decision is the one that the policy demands."""

from functools import partial

import click

from ...journal.errors import JournalError
from ..shared.journals import open_journal, refuse_use
from ..shared.options import journal_place, with_format
from ..shared.output import GOOD, NO, NOT_VERIFIED, Format, counted, refuse, say, say_json
from ..shared.progress import progress
from ..speed.garbage import seldom_collecting


@click.command()
@journal_place
@click.option(
    "--by",
    metavar="definition|arrays",
    help="which core decides: the plain one, which defines what is right, or the fast one, as without this option",
)
@with_format
def replay(journal: str, by: str | None, form: Format) -> int:
    """Decide every recorded fact again, compare each decision byte for byte, and follow the chain."""
    from ...journal.audit.in_parts.replay_parts import replay_in_parts
    from ...journal.audit.replay import other_semantics, replay
    from ..speed.kernels import are_coming, core_for_command, core_for_part, tell

    if by not in (None, "definition", "arrays"):
        refuse(f"--by is definition or arrays, not `{by}`")
    try:
        with open_journal(journal) as read, progress("replaying", read.last_row) as tick:
            report = None
            # While kernels are compiled one core does it all: it has them made, and takes them as soon as they are there.
            if not are_coming(read.last_row, by):
                report = replay_in_parts(read, partial(core_for_part, by), tick, tell)
            if report is None:
                core = core_for_command(read.last_row, by)
                with seldom_collecting():
                    report = replay(read, tick, decider=core)
    except JournalError as error:
        refuse_use(error)
    if form is Format.json:
        say_json(
            "replay", same=report.same, seq=report.seq, facts=report.facts, decisions=report.decisions,
            bad_seq=report.bad_seq, problem=report.problem, recorded=report.recorded, recomputed=report.recomputed,
            writer=report.writer._asdict() if report.writer is not None else None,
        )  # fmt: skip
    elif report.same:
        say(f"same: {counted(report.facts, 'fact')} decided again, {counted(report.decisions, 'decision')}, all identical")
    else:
        say(f"differs: event {report.bad_seq}: {report.problem}")
        say(f"  recorded:   {report.recorded or '(nothing)'}")
        say(f"  recomputed: {report.recomputed or '(nothing)'}")
        if report.writer is not None and report.bad_seq is not None:
            say(f"  meaning:    {other_semantics(report.bad_seq, report.writer)}")
    if report.same:
        return GOOD
    return NOT_VERIFIED if report.writer is None else NO
