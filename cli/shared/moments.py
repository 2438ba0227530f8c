"""Moments on the command line: an event's number, or a time: RFC 3339, a duration as files of jobs have it, or in microseconds."""

import re
from typing import TYPE_CHECKING

import click

from .output import refuse

if TYPE_CHECKING:
    from ...journal.journal import Journal

moment = click.option("--at", metavar="SEQ|TIME", help="as of this event or time; else the end of the journal")
"""The option of commands that show a journal as of a moment; `find_moment` takes it."""

_TIME_OF_DAY = re.compile(r"\d\d?:\d\d(:\d\d)?", re.ASCII)

_MOST_DIGITS = 19
"""Of a 64-bit number."""


def parse_time(text: str | None, option: str) -> int | None:
    """Microseconds since the epoch from RFC 3339 text, from a duration since then such as `90m`, in which files of jobs may say when they
    are submitted, or from a whole number, which may end in `us`. Ends the command for anything else."""
    from ...engine.units import UnitError, parse_duration
    from ...engine.units import parse_time as parse_rfc3339

    if text is None:
        return None
    if _is_number(number := text.removesuffix("us")):
        return int(number)
    try:
        return parse_duration(text)
    except UnitError:
        pass
    try:
        return parse_rfc3339(text)
    except UnitError as error:
        refuse(
            f"{option}: {error}; write it so, as a duration since 1970 such as 90m where jobs are given so, or in microseconds since 1970"
        )


def parse_seq(text: str | None, option: str) -> int | None:
    """An event's number, from 0 for the moment before the first. Ends the command for anything else."""
    if text is None:
        return None
    if not _is_number(text):
        refuse(f"{option}: `{text}` is no event's number; those are whole numbers from 1, as `gpol log` shows them")
    return int(text)


def asked_time(journal: "Journal", at: str | None, option: str = "--at") -> int | None:
    """The time that is named, in microseconds since the epoch; None where none is, but an event or nothing.

    A time of day such as `09:00` is taken where it came only once between the journal's first event and its last; it is UTC.
    """
    if at is None or (at.isascii() and at.isdigit()):
        return None
    return _time_of_day(journal, at, option) if _TIME_OF_DAY.fullmatch(at) else parse_time(at, option)


def _time_of_day(journal: "Journal", at: str, option: str) -> int:
    from ...engine.units import DAY, format_time, parse_time

    hour, minute, *seconds = at.split(":")
    if int(hour) > 23 or int(minute) > 59 or int("".join(seconds) or 0) > 59:
        refuse(f"{option}: `{at}` is no time of day; those go from 00:00 to 23:59:59")
    first, last = journal.at(1).event.time, journal.at(journal.head.seq).event.time
    after_midnight = parse_time(f"1970-01-01T{int(hour):02}:{minute}:{''.join(seconds) or '00'}Z")
    moments = range(first // DAY * DAY + after_midnight, last + 1, DAY)
    found = [moment for moment in moments[:3] if moment >= first]
    if len(found) != 1:
        between = f"between {format_time(first)}, its first event, and {format_time(last)}, its last"
        times = "several times" if found else "never"
        refuse(f"{option}: in this journal {at} (UTC) came {times} {between}; write the day, too, as {format_time(first)}")
    return found[0]


def find_moment(journal: "Journal", at: str | None, option: str = "--at") -> int:
    """The last event of the moment that is named: a bare number is an event's, all else a time; None: the journal's end.

    Ends the command for one before the first event or after the last: the journal does not know what was then.
    """
    last = journal.head.seq
    if last == 0:
        refuse("the journal is empty, so there is nothing to show")
    if at is None:
        return last
    if not (at.isascii() and at.isdigit()):
        return _at_time(journal, asked_time(journal, at, option) or 0, at, option, last)
    seq = int(at) if len(at) <= len(str(last)) else 0
    if not 1 <= seq <= last:
        refuse(
            f"{option}: the journal has events 1 to {last}, not {at}; write a time as 2026-01-02T03:04:05Z, or as microseconds with `us`"
        )
    return seq


def _at_time(journal: "Journal", time: int, at: str, option: str, last: int) -> int:
    """The last event at or before a time."""
    from ...engine.units import format_time

    seq = journal.seq_at(time)
    if seq == 0:
        refuse(f"{option}: nothing had happened by {at}; the first event is at {format_time(journal.at(1).event.time)}")
    if seq == last and time > (end := journal.at(last).event.time):
        refuse(f"{option}: the journal ends before {at}, with event {last} at {format_time(end)}; leave {option} out for its end")
    return seq


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
