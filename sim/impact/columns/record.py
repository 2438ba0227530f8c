"""A recorded history that a core plays by itself, to be compared with others: read, played and measured once for all of them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ....engine.cores import PlayedChunk
from ....engine.errors import FactError
from ....engine.events import AnyDecision, AnyEvent
from ....engine.facts import PolicyActivated
from ....engine.intake.jobs import KIND
from ....engine.outcome.history import Columns, NumberOf
from ....engine.policy_graph import PolicyGraph
from ....journal.decode import decode
from ....journal.journal import Journal
from ....journal.recorded_policies import PolicyRefusedError, compile_recorded
from ....journal.records import Progress, Recorded
from ...drive.driver import OnEvict
from ...drive.policy import Policy
from ...measure.measure import NO_QUEUE
from ..history_diff import what
from .decision_changes import DecisionChanges, decision_changes
from .job_fates import EffectOnJobs, effect, requested_gpus
from .played_columns import JobsToPlay, Played, Tools, play
from .recorded_jobs import recorded_jobs


class Record(NamedTuple):
    """The jobs of a recorded history, what was made of them, the GPUs that each asks for, and how names are numbered."""

    todo: JobsToPlay
    played: Played
    gpus: Columns
    numbers: dict[tuple[str, ...], int]
    in_cycles: bool

    @property
    def activation(self) -> PolicyActivated:
        """The recorded policy."""
        found = self.todo.opening[0]
        assert isinstance(found, PolicyActivated)
        return found


class Compared(NamedTuple):
    """What another policy makes of the jobs."""

    todo: JobsToPlay
    played: Played
    changes: DecisionChanges
    effect: EffectOnJobs


def read_record(journal: Journal, on_evict: OnEvict, upto: int, tools: Tools, progress: Progress | None = None) -> Record | None:
    """Read a journal up to an event, and play its jobs under its own policy; None where that does not give every recorded event.

    Where it does, the jobs played under another policy are what `ClosedLoop` makes of the journal. For up to the first difference the
    recorded facts are those that a core would play next; and from there on `ClosedLoop` plays as the core does.
    """
    found = recorded_jobs(journal, on_evict, upto)
    if found is None:
        return None
    todo = JobsToPlay(found.opening, found.jobs, found.lengths, on_evict, found.until)
    gpus = requested_gpus(todo.jobs, todo.jobs.columns[:, KIND])
    assert isinstance(todo.opening[0], PolicyActivated)
    stored, numbers = journal.events(after=len(todo.opening), upto=upto), dict[tuple[str, ...], int]()
    try:
        graph = compile_recorded(todo.opening[0])
        played = play(todo, graph, tools, _numbering(numbers), lambda chunk: _is_recorded(chunk, stored, progress))
    except (PolicyRefusedError, FactError):
        return None
    if played is None or gpus is None or next(stored, None) is not None:
        return None
    return Record(todo, played, gpus, numbers, graph.settings.in_cycles)


def _numbering(numbers: dict[tuple[str, ...], int]) -> NumberOf:
    return lambda key: numbers.setdefault(key, len(numbers))


def _is_recorded(chunk: PlayedChunk, stored: Iterator[Recorded], progress: Progress | None) -> bool:
    """Whether the next stored events are those of a chunk, whatever the reasons of decisions are."""
    recorded = None
    for made in chunk.encoded().payloads:
        recorded = next(stored, None)
        if recorded is None or (recorded.payload != made and not _alike(recorded.event, decode(made))):
            return False
    if progress is not None and recorded is not None:
        progress(recorded.seq)
    return True


def _alike(recorded: AnyEvent, made: AnyEvent) -> bool:
    if not isinstance(recorded, AnyDecision) or not isinstance(made, AnyDecision):
        return recorded == made
    return (recorded.time, recorded.cause, what(recorded)) == (made.time, made.cause, what(made))


def compare(record: Record, policy: Policy, tools: Tools) -> Compared | None:
    """Play the jobs under another policy; None where that is not for the core's own loop, or not for columns. Raises AccountError."""
    graph: PolicyGraph = policy.graph
    if graph.settings.in_cycles != record.in_cycles:
        return None
    todo, numbers = record.todo.under(policy.activation(record.activation.time)), record.numbers.copy()
    played = play(todo, graph, tools, _numbering(numbers))
    if played is None:
        return None
    queues = {number: key[1] for key, number in numbers.items() if key[0] == "queue"} | {-1: NO_QUEUE}
    changes = decision_changes(record.played.decisions, played.decisions, queues)
    found = effect(record.played.fates, played.fates, record.gpus, record.todo.jobs)
    if found is None or _goes_on(record.played.events, played.events, changes):
        return None
    return Compared(todo, played, changes, found)


def _goes_on(before: Columns, after: Columns, changes: DecisionChanges) -> bool:
    """Whether a history is the recorded one and then goes on. Such a one ends where the recorded one does, whatever would come next."""
    begins_alike = all(tally.gone == tally.other == 0 for tally in changes.tallies.values()) and len(after) > len(before)
    return begins_alike and np.array_equal(after[: len(before)], before)
