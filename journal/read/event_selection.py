"""Reading a journal by what an event is about: its workload and whose that is, its kind, queue, reason, cause and time."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...engine.events import AnyEvent
from ..journal import Journal
from ..records import Recorded, workload_stream
from .workload_origins import NO_ORIGIN, Origin, Origins, with_coming


@dataclass(frozen=True, slots=True)
class Selection:
    """Which events to read; all that is given must hold. Times are microseconds since the epoch, both included.

    `kinds`: of one of these (none given: of any). `user` and `namespace` are those that the event's workload was submitted with.
    `reason` is a decision's, `rule` that of its why. `cause` is the seq of the fact that caused it. `after`: behind this
    seq. `upto`: not behind this one.
    """

    workload: str | None = None
    kinds: tuple[str, ...] = ()
    queue: str | None = None
    user: str | None = None
    namespace: str | None = None
    reason: str | None = None
    rule: str | None = None
    cause: int | None = None
    since: int | None = None
    until: int | None = None
    after: int = 0
    upto: int | None = None

    @property
    def of_workloads(self) -> bool:
        """Whether it asks for something that only other events of the same workload may say."""
        return self.queue is not None or self.user is not None or self.namespace is not None


def select(journal: Journal, selection: Selection, *, newest_first: bool = False) -> Iterator[Recorded]:
    """The events that are selected, in order or the other way round.

    A workload's are found by the index, a cause's by its seq, times by bisection, kinds by the database, the rest by reading on.
    """
    for recorded, _ in _selected(journal, selection, newest_first=newest_first, with_origins=selection.of_workloads):
        yield recorded


def select_with_origins(journal: Journal, selection: Selection) -> Iterator[tuple[Recorded, Origin]]:
    """The events that are selected, in order, each with the submission that its workload came with and the queue that it is in."""
    return _selected(journal, selection, newest_first=False, with_origins=True)


def _selected(journal: Journal, selection: Selection, *, newest_first: bool, with_origins: bool) -> Iterator[tuple[Recorded, Origin]]:
    found = _candidates(journal, selection, newest_first)
    if not with_origins:
        yield from ((recorded, NO_ORIGIN) for recorded in found if _is_selected(recorded.event, NO_ORIGIN, selection))
        return
    whole = not newest_first and (not selection.kinds or selection.workload is not None)  # all events of each workload, in order
    origins = Origins(journal, remember=whole)
    for recorded, coming in with_coming(found) if whole else ((recorded, ()) for recorded in found):
        origin = origins.of(recorded, coming)
        if _is_selected(recorded.event, origin, selection):
            yield recorded, origin


def _candidates(journal: Journal, selection: Selection, newest_first: bool) -> Iterator[Recorded]:
    """Few events among which all are that are selected."""
    after, upto = _bounds(journal, selection)
    if newest_first:
        stream = None if selection.workload is None else workload_stream(selection.workload)
        return journal.backwards(after, upto, stream, selection.kinds)
    if selection.workload is not None:
        return journal.of_workload(selection.workload, after, upto)
    if selection.kinds:
        return journal.of_kinds(selection.kinds, after, upto)
    return journal.events(after, upto)


def _bounds(journal: Journal, selection: Selection) -> tuple[int, int | None]:
    """Behind which event those begin that may be selected, and with which they end (None: with the journal)."""
    after, upto = selection.after, selection.upto
    if selection.until is not None:
        last = journal.seq_at(selection.until)
        upto = last if upto is None else min(upto, last)
    if selection.since is not None:
        after = max(after, journal.seq_at(selection.since - 1))
    if selection.cause is not None:
        after, last = max(after, selection.cause), _end_of_batch(journal, selection.cause)
        upto = last if upto is None else min(upto, last)
    return after, upto


def _end_of_batch(journal: Journal, fact: int) -> int:
    """The last decision that a fact caused, or the fact itself."""
    last = fact
    for recorded in journal.events(fact):
        if not recorded.event.is_decision:
            break
        last = recorded.seq
    return last


def _is_selected(event: AnyEvent, origin: Origin, selection: Selection) -> bool:
    submission, why = origin.submission, getattr(event, "why", None)
    rule = None if why is None or why.rule is None else why.rule.name
    asked_and_found = (
        (selection.workload, getattr(event, "workload", None)),
        (selection.queue, origin.queue),
        (selection.user, None if submission is None else submission.user),
        (selection.namespace, None if submission is None else submission.namespace),
        (selection.reason, getattr(event, "reason", None)),
        (selection.rule, rule),
        (selection.cause, getattr(event, "cause", None)),
    )
    if selection.kinds and event.kind not in selection.kinds:
        return False
    return all(asked is None or asked == found for asked, found in asked_and_found)
