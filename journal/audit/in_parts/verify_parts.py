"""A long journal looked at in parts, by several processes at once.

Each part begins with what is stored of the event before it, so that no part waits for another. A part counts only if it begins where the
ones before it ended; behind the first that does not, and behind the last, the journal is looked at row by row as ever.
"""

from contextlib import closing
from typing import NamedTuple

from ...errors import JournalError
from ...journal import Journal
from ...records import Head, Progress
from ..page_check import BEGINNING, Place, place_after
from .all_processors import by_all_processors

LONG = 500_000
"""From how many events on it pays: to start a process takes as long as to look at some 80,000."""

EVENTS = 50_000
"""How many a part has."""


class Stretch(NamedTuple):
    """Where a part begins, as what is stored of the event before it says, and where it ends; None where something is wrong."""

    begin: Place | None
    end: Place | None


def right_upto(journal: Journal, progress: Progress | None = None) -> Place:
    """How far all is right with a long journal, part by part; its beginning where it is not long, or there is one processor alone."""
    place = BEGINNING
    try:
        last = journal.head.seq
        if last < LONG:
            return place
        journal.at(last - 1)  # the last number may be made up, and then there are few rows before it, and none with this one
        stretches = [(journal.name, after, min(after + EVENTS, last)) for after in range(0, last, EVENTS)]
        with closing(by_all_processors(look_at, stretches)) as parts:
            for part in parts:
                if part.end is None or part.begin != place:
                    break
                place = part.end
                if progress is not None:
                    progress(place.head.seq)
        return place if place == _stored(journal, place.head.seq) else BEGINNING  # its name may be that of another journal by now
    except Exception:  # whatever becomes of the processes, and however damaged the journal is: it can be looked at without them
        return BEGINNING


def look_at(name: str, after: int, upto: int) -> Stretch:
    """Look at the events after `after` up to `upto`, in any process."""
    try:
        with Journal.open(name) as journal:
            begin = _stored(journal, after)
            end: Place | None = begin
            while end is not None and end.head.seq < upto:
                rows = journal.plain_page(end.head.seq or None, upto)
                end = place_after(rows, end) if rows else None
            return Stretch(begin, end)
    except JournalError:
        return Stretch(None, None)


def _stored(journal: Journal, seq: int) -> Place:
    """Where a walk stands behind an event, if all is right up to there."""
    if seq == 0:
        return BEGINNING
    recorded = journal.at(seq)
    event = recorded.event
    return Place(Head(seq, recorded.chain), event.time, getattr(event, "cause", seq))
