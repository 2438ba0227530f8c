"""The jobs of a recorded history that has nothing else in it: what was submitted, and how long it ran."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....engine.elastic.pod_counts import is_elastic
from ....engine.facts import PolicyActivated, SimulationStarted, WorkloadSubmitted
from ....engine.intake.jobs import ENDLESS, Jobs
from ....engine.outcome.history import Columns
from ....journal.decode import FORM
from ....journal.journal import Journal
from ....journal.records import Recorded
from ...drive.driver import OnEvict

MOST_EVENTS = 5_000_000
"""Longer histories are played batch by batch: their columns would take more than a gigabyte."""


@dataclass(frozen=True, slots=True)
class RecordedJobs:
    """`opening` are the facts before the first job: the activation of a policy, and how the simulation was set. `lengths` are microseconds;
    ENDLESS where no end is recorded. `until` is the moment of the last event."""

    opening: tuple[PolicyActivated | SimulationStarted, ...]
    jobs: Jobs
    lengths: Columns
    until: int


def recorded_jobs(journal: Journal, on_evict: OnEvict, upto: int) -> RecordedJobs | None:
    """The jobs of a journal up to an event; None where there is more to it than jobs under one policy, or it contradicts itself.

    What it returns is not proven yet: whoever plays the jobs sees whether that gives the recorded events.
    """
    if upto > MOST_EVENTS:
        return None
    opening, facts, lengths, until = list[PolicyActivated | SimulationStarted](), list[WorkloadSubmitted](), list[int](), 0
    live: dict[str, int] = {}
    since: dict[str, int] = {}
    ran: dict[str, int] = {}
    try:
        for recorded, kind, until, name in _heads(journal, upto):
            match kind:
                case "WorkloadSubmitted":
                    live[name] = len(facts)
                    facts.append(recorded.event)  # type: ignore[arg-type]  # its kind says so
                    if is_elastic(facts[-1]):
                        return None
                    lengths.append(ENDLESS)
                case "WorkloadAdmitted":
                    since[name] = until
                case "WorkloadEvicted":
                    ran[name] = ran.get(name, 0) + until - since.pop(name)
                case "WorkloadFinished":
                    before = ran.pop(name, 0)
                    lengths[live.pop(name)] = until - since.pop(name) + (before if on_evict == "resume" else 0)
                case "WorkloadRejected" | "WorkloadReplaced":
                    del live[name]
                    ran.pop(name, None)
                    since.pop(name, None)
                case "TimeAdvanced" | "WorkloadDeferred":
                    pass
                case "PolicyActivated" | "SimulationStarted" if recorded.seq == (1 if kind == "PolicyActivated" else 2):
                    opening.append(recorded.event)  # type: ignore[arg-type]
                case _:
                    return None
    except KeyError:
        return None
    if not opening:
        return None
    return RecordedJobs(tuple(opening), Jobs.of(facts), np.array(lengths, np.int64), until)


def _heads(journal: Journal, upto: int) -> Iterator[tuple[Recorded, str, int, str]]:
    """Each event with its kind, its time and its workload, without making an object of it where its bytes say as much."""
    for recorded in journal.events(upto=upto):
        match = FORM.fullmatch(recorded.payload.decode(errors="replace"))
        if match is None:
            event = recorded.event
            yield recorded, event.kind, event.time, getattr(event, "workload", "")
        else:
            kind, time, _, workload, _ = match.groups("")
            yield recorded, kind, int(time), workload
