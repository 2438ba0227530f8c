"""Traces of another history: what a journal keeps beside its events remembers them as they were.

A snapshot holds the chain value of its event, and `writers` the number of the first event of each writer. Who rewrites the history, or
cuts its end off, may forget these. They prove nothing by themselves: whoever may write to the database can make or remove them.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from ..errors import JournalError
from ..journal import Journal
from ..read.snapshots import other_chain
from ..store.recorder import Snapshot
from .faults import Fault

REWRITTEN, CUT = "rewritten", "cut"
"""Kinds of faults: a snapshot of another history; a sign of events behind the last one."""


class Kept(NamedTuple):
    """What a journal keeps beside its events; read before its events are, as a writer may append and keep more meanwhile."""

    snapshots: Sequence[Snapshot]
    """Without their contents."""
    firsts: Sequence[int]
    """The numbers of the first events of writers."""


def read_kept(journal: Journal) -> Kept:
    """What is kept now, as far as it can be read: of a table that is not in its form `fsck` says so, and no event hangs on it."""
    snapshots: list[Snapshot] = []
    firsts: list[int] = []
    with suppress(JournalError):
        for seq in journal.snapshot_seqs():
            with suppress(JournalError):  # a writer has dropped it meanwhile
                snapshots.append(journal.snapshot(seq, content=False))
    with suppress(JournalError):
        firsts += [writer.first_seq for writer in journal.writers()]
    return Kept(snapshots, firsts)


def traces(journal: Journal, kept: Kept, last: int, proven: int = 0) -> list[Fault]:
    """What remembers other events than those of a journal that ends at event `last`; the first `proven` of them are shown to be right."""
    found = []
    for snapshot in kept.snapshots:
        fault = trace_of(journal, snapshot, last)
        if fault is not None and (fault.kind == CUT or snapshot.seq > proven):
            found.append(fault)
    found += [_cut(f"the table `writers` names event {first}", last) for first in kept.firsts if first > last + 1]
    return found


def trace_of(journal: Journal, snapshot: Snapshot, last: int) -> Fault | None:
    """What a snapshot remembers that is not so in a journal that ends at event `last`; None: nothing."""
    seq = snapshot.seq
    if seq > last:
        return _cut(f"there is a snapshot of the state after event {seq}", last)
    try:
        differing = other_chain(journal, snapshot)
    except JournalError:  # the event itself is damaged, which is told
        return None
    if differing is None:
        return None
    problem = f"the snapshot after event {seq} remembers another chain value than event {seq} has"
    remembered, stored = (each.hex() for each in differing)
    return Fault(None, problem, remembered, stored, _REWRITTEN, (1, seq), kind=REWRITTEN)


def _cut(what: str, last: int) -> Fault:
    problem = f"{what}, and the journal ends at event {last}"
    return Fault(last + 1, problem, "", f"the last is event {last}", "events at the end may have been removed", kind=CUT)


_REWRITTEN = "history may have been rewritten after the snapshot was taken, with the whole chain computed anew; or the snapshot was altered"
