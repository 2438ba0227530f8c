"""Whether a whole page of rows is right, with few steps of Python for each row; `row_checks.py` says what is wrong where it is not.

A page passes only if every row would: all that is asked there of a row is asked here of the page.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ...engine.units import INT64_MAX
from ..decode import FORM
from ..records import START, Head, are_linked, workload_stream
from ..store.store import PlainRow
from .forms import form_of


class Place(NamedTuple):
    """Where a walk over the rows stands: the last event, its time, and the seq of the last fact; 0: there was none yet."""

    head: Head
    time: int
    cause: int


BEGINNING = Place(START, 0, 0)
"""Before the first event."""


def place_after(rows: Sequence[PlainRow], place: Place) -> Place | None:
    """Where a walk stands behind the next rows, if nothing is wrong with any of them; else None."""
    seqs, payloads, chains, streams, versions, kinds = zip(*rows, strict=True)
    first = place.head.seq + 1
    if not (seqs == versions == tuple(range(first, first + len(rows)))):
        return None
    if {*map(type, payloads), *map(type, chains)} != {bytes} or not are_linked(place.head.chain, payloads, chains):
        return None
    moment = _after(payloads, streams, kinds, place)
    return None if moment is None else Place(Head(seqs[-1], chains[-1]), *moment)


def _after(payloads: Sequence[bytes], streams: Sequence[object], kinds: Sequence[object], place: Place) -> tuple[int, int] | None:
    """The time and the seq of the last fact behind some rows; None where one is not in the one form, in its columns, or in order."""
    try:
        text = b"\n".join(payloads).decode()
    except UnicodeDecodeError:
        return None
    found = FORM.findall(text)
    if not len(found) == len(payloads) == text.count("\n") + 1:
        return None
    seq, now, fact = place.head.seq, place.time, place.cause
    named = str(fact)
    for (kind, moment, cause, workload, tail), payload, stream, column in zip(found, payloads, streams, kinds, strict=True):
        form = form_of((kind, cause != "", workload != "", tail), payload)
        if form is None or kind != column or stream != (form.stream or workload_stream(workload)):
            return None
        seq, time = seq + 1, int(moment)
        if form.is_decision:
            if cause != named or time != now or not fact:
                return None
        elif time < now:
            return None
        else:
            now, fact, named = time, seq, str(seq)
    return (now, fact) if now <= INT64_MAX else None
