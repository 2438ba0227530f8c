"""log: the events of a journal."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from ...journal.errors import JournalError
from ..shared.journals import open_journal, refuse_use, whole_part
from ..shared.options import journal_place, with_format
from ..shared.output import GOOD, STOPPED, Format, complain, refuse, say, say_text, shown_json
from ..shared.selection import check_names, check_places, make_selection, with_selection

if TYPE_CHECKING:
    from ...engine.events import AnyEvent
    from ...journal.journal import Journal, Recorded
    from ...journal.read.event_selection import Selection


_Stamp = tuple[int, int]
"""A file's device and number there."""

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
    from ...journal.read.event_selection import select

    selection = make_selection(**filters)
    if follow:
        for option, given in (("--reverse", reverse), ("--until", filters["until"]), ("--cause", filters["cause"])):
            if given:
                refuse(f"--follow goes on to what is still to come, and {option} does not; leave one of them out")
    found = empty = False
    stamp = _stamp(journal)  # before it is opened, so that no replacement is missed
    try:
        with whole_part(journal) as part, ExitStack() as opened:
            read = part.journal
            empty = read.head.seq == 0
            check_places(read, selection)
            live = follow and part.damage is None
            if live:
                events = _followed(journal, stamp, read, selection, opened)
            else:
                events = part.rows(lambda: select(read, selection, newest_first=reverse), again=not reverse)
            last = selection.after
            try:
                for recorded in islice(events, limit):
                    _show(recorded, recorded.event, form)
                    found, last = True, recorded.seq
            except KeyboardInterrupt:
                rest = f"after event {last:,}; `--after {last}` goes on there" if found else "before an event was shown"
                refuse(f"stopped {rest}", STOPPED)
            if not found and not empty:
                check_names(read, selection)
    except JournalError as error:
        refuse_use(error)
    if not found:
        complain("gpol: the journal is empty" if empty else "gpol: no event is selected")
    return GOOD


def _followed(place: str, stamp: "_Stamp | None", journal: "Journal", selection: "Selection", opened: ExitStack) -> "Iterator[Recorded]":
    """The events that are selected, and those that are appended, also to another file that is put in the journal's place.

    Such a file is closed with `opened`.
    """
    from ...journal.journal import pause
    from ...journal.read.event_selection import select

    after, replaced = selection.after, False

    def wait() -> bool:
        nonlocal replaced
        sys.stdout.flush()  # nothing lies in a buffer while there is nothing to read
        replaced = _stamp(place) not in (stamp, None)
        return not replaced and pause()

    while True:
        for begin, upto in journal.growth(after, wait):
            yield from select(journal, replace(selection, after=begin, upto=upto))
            after = upto
        if not replaced:
            return
        stamp, replaced = _stamp(place), False
        following = opened.enter_context(open_journal(place))
        after = _go_on(journal, following, after)
        journal.close()
        journal = following


def _go_on(old: "Journal", new: "Journal", shown: int) -> int:
    """Behind which event to go on in a journal that has taken the place of one that was shown up to an event."""
    common = min(shown, new.head.seq)
    if common and old.at(common).chain == new.at(common).chain:
        if common < shown:
            complain(f"gpol: `{new.name}` was replaced by a copy that ends at event {common}; events {common + 1} to {shown} are not in it")
        return common
    if shown:
        complain(f"gpol: `{new.name}` was replaced by another journal, which is shown from its first event on")
    return 0


def _stamp(place: str) -> "_Stamp | None":
    """What tells a journal's file from another one of the same name; None where there is no file, as with a URL of a server."""
    from ...journal.store.location import files_of

    try:
        found = os.stat(next(iter(files_of(place)), ""))
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _show(recorded: "Recorded", event: "AnyEvent", form: Format) -> None:
    if form is Format.json:
        say_text(shown_json(f'{{"v":1,"seq":{recorded.seq},"event":{recorded.payload.decode()}}}'))
        return
    from ...engine.events import AnyDecision
    from ...engine.units import format_time
    from .fact_details import amounts, details

    told = [next((name for field in _ABOUT if (name := getattr(event, field, ""))), "")]
    if getattr(event, "queue", None):
        told.append(f"in {event.queue}")  # type: ignore[union-attr]
    if getattr(event, "beneficiary", None):
        told.append(f"for {event.beneficiary}")  # type: ignore[union-attr]
    if getattr(event, "kind", "") == "WorkloadEvicted" and getattr(event, "by", ""):
        told.append(f"by operator {event.by}")  # type: ignore[union-attr]
    told += [f"({asked})"] if (asked := amounts(event)) else []
    told += [", ".join(details(event))] if details(event) else []
    if isinstance(event, AnyDecision):
        why = event.why
        told.append(event.reason + (f" by {why.rule.name} ({why.rule.file}:{why.rule.line})" if why.rule is not None else ""))
    say(f"{recorded.seq:>8}  {format_time(event.time)}  {event.kind:<18} {' '.join(told)}".rstrip())
