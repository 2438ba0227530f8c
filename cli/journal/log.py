"""log: the events of a journal."""

import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from ...journal.errors import JournalError
from ..shared.journals import open_journal, refuse_use
from ..shared.options import journal_place, with_format
from ..shared.output import GOOD, Format, complain, refuse, say, say_text
from ..shared.selection import check_places, make_selection, with_selection

if TYPE_CHECKING:
    from ...engine.events import AnyEvent
    from ...journal.journal import Recorded


_ABOUT = ("workload", "flavor", "node", "file", "source")
"""What an event is about: the first of these fields that it has."""


@click.command()
@journal_place
@with_selection
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="the first N of them")
@click.option("--reverse", is_flag=True, help="the newest first")
@click.option("--follow", is_flag=True, help="go on to print new events as they are appended, until stopped")
@with_format
def log(journal: str, form: Format, limit: int | None, reverse: bool, follow: bool, **filters: Any) -> int:
    """Read the events of a journal; of several filters all must hold."""
    from ...journal.read.event_selection import select, select_live

    selection = make_selection(**filters)
    if follow:
        for option, given in (("--reverse", reverse), ("--until", filters["until"]), ("--cause", filters["cause"])):
            if given:
                refuse(f"--follow goes on to what is still to come, and {option} does not; leave one of them out")
    found = empty = False
    try:
        with open_journal(journal) as read:
            empty = read.head.seq == 0
            check_places(read, selection)
            events = select_live(read, selection, _flushed_pause) if follow else select(read, selection, newest_first=reverse)
            for recorded in islice(events, limit):
                _show(recorded, recorded.event, form)
                found = True
    except JournalError as error:
        refuse_use(error)
    if not found:
        complain("gpol: the journal is empty" if empty else "gpol: no event is selected")
    return GOOD


def _flushed_pause() -> bool:
    """Let nothing lie in a buffer while there is nothing to read."""
    from ...journal.journal import pause

    sys.stdout.flush()
    return pause()


def _show(recorded: "Recorded", event: "AnyEvent", form: Format) -> None:
    if form is Format.json:
        say_text(f'{{"v":1,"seq":{recorded.seq},"event":{recorded.payload.decode()}}}')
        return
    from ...engine.events import AnyDecision
    from ...engine.units import format_time
    from .fact_details import details

    told = [next((name for field in _ABOUT if (name := getattr(event, field, ""))), "")]
    if getattr(event, "queue", None):
        told.append(f"in {event.queue}")  # type: ignore[union-attr]
    if getattr(event, "beneficiary", None):
        told.append(f"for {event.beneficiary}")  # type: ignore[union-attr]
    if getattr(event, "kind", "") == "WorkloadEvicted" and getattr(event, "by", ""):
        told.append(f"by operator {event.by}")  # type: ignore[union-attr]
    told += [", ".join(details(event))] if details(event) else []
    if isinstance(event, AnyDecision):
        why = event.why
        told.append(event.reason + (f" by {why.rule.name} ({why.rule.file}:{why.rule.line})" if why.rule is not None else ""))
    say(f"{recorded.seq:>8}  {format_time(event.time)}  {event.kind:<18} {' '.join(told)}".rstrip())
