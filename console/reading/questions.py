"""Answers about the cluster as a journal tells it: its state, a workload, where the journal ends."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from heapq import nsmallest
from itertools import islice
from time import monotonic

from ...adapters.live.wording import why_it_waits
from ...compiled.core_to_ask import resting
from ...dsl.syntax.names import closest, shortened
from ...engine.cores import Core
from ...engine.events import WorkloadEvicted
from ...engine.explain.pending import standing
from ...engine.facts import WorkloadSubmitted
from ...engine.outcome.named import charges
from ...engine.questions.standing_room import places_of
from ...engine.workload import Workload
from ...journal.journal import Journal
from ...journal.records import workload_stream
from ...sim.measure.cluster_figures import cluster_of, is_held
from ..answers import (
    CapacityData,
    ExplainAnswer,
    ExplainQuery,
    HeadAnswer,
    HoldingData,
    MachineCount,
    NodeData,
    NumberedEvent,
    PlaceData,
    StateAnswer,
    StateQuery,
    UnansweredError,
    WorkloadData,
)
from .journal_follower import Followed

_MOST_NAMES = 10_000
"""How many names of workloads are compared with one that nobody has."""


def head_of(followed: Followed) -> HeadAnswer:
    """Where the journal ends."""
    seq, chain = followed.head
    return HeadAnswer(journal=followed.identity, seq=seq, chain=chain.hex(), time=followed.core.time, policy=followed.policy)


# --- state ----------------------------------------------------------------------------------------------------------


def state_of(followed: Followed, query: StateQuery) -> StateAnswer:
    """The cluster, as `gpol state --format json` tells it. Raises JournalError."""
    cluster = cluster_of(followed.core)
    rows, following = _rows(followed, query) if query.workloads else (None, None)
    return StateAnswer(
        seq=cluster.seq,
        time=cluster.time,
        policy=followed.policy,
        machines=tuple(MachineCount(flavor=flavor or None, machines=count) for flavor, count in cluster.machines),
        in_no_queue=cluster.in_no_queue,
        capacity=tuple(CapacityData(**asdict(each), idle=each.idle) for each in cluster.capacity),
        places=tuple(
            PlaceData(**{**asdict(place), "holdings": tuple(HoldingData(**asdict(each)) for each in place.holdings)})
            for place in cluster.places
        ),
        nodes=tuple(_nodes(followed.core)) if query.nodes else None,
        workloads=rows,
        next=following,
    )


def _nodes(core: Core) -> Iterator[NodeData]:
    graph = core.graph
    if graph is not None:
        for each in places_of(graph, core.view.machines(), core.view.workloads()):
            yield NodeData.model_validate(each.as_data(graph))


def _rows(followed: Followed, query: StateQuery) -> tuple[tuple[WorkloadData, ...], str | None]:
    """The workloads that are asked for, and the name after which the others come, if there are others."""
    core = resting(followed.core)
    asked = nsmallest(query.limit + 1, (name for name in core.view.names() if name > query.after))
    with Journal.open(followed.place) as journal:
        rows = tuple(_workload_rows(core, journal, asked[: query.limit]))
    return rows, asked[query.limit - 1] if len(asked) > query.limit else None


def _workload_rows(core: Core, journal: Journal, names: list[str]) -> Iterator[WorkloadData]:
    for name in names:
        workload, place, graph = core.view.workload(name), standing(core, name, briefly=True), core.graph
        if workload is None or place is None or graph is None:
            continue
        waits = workload.admitted is None
        yield WorkloadData(
            name=name,
            state="held" if is_held(workload) else "waiting" if waits else "running",
            since=_waiting_since(journal, workload, core.seq) if workload.admitted is None else workload.admitted,
            queue=place.queue,
            usage=charges(graph, workload.usage),
            reason=place.reason,
            position=place.position,
            waiting=place.waiting,
        )


def _waiting_since(journal: Journal, workload: Workload, seq: int) -> int:
    """When a waiting workload came into its queue or, if it ran since, was evicted."""
    if workload.evictions:
        for recorded in journal.backwards(upto=seq, stream=workload_stream(workload.name)):
            if isinstance(recorded.event, WorkloadEvicted):
                return recorded.event.time
    return workload.queued


# --- explain --------------------------------------------------------------------------------------------------------


def explanation_of(followed: Followed, workload: str, query: ExplainQuery) -> ExplainAnswer:
    """Where a workload stands and how it came there, as `gpol explain --format json` tells it.

    Raises JournalError, and UnansweredError where there never was such a workload.
    """
    core = followed.core
    with Journal.open(followed.place) as journal:
        newest = list(islice(journal.backwards(upto=core.seq, stream=workload_stream(workload)), query.events + 1))
        if not newest:
            near = closest(workload, islice(_names(core, journal), _MOST_NAMES))
            remedy = f"did you mean `{near}`?" if near else "write the name as it was submitted: `namespace/name` for one of Kueue"
            message = f"no workload `{shortened(workload)}` was submitted up to event {core.seq}"
            raise UnansweredError(404, "NoSuchWorkload", message, remedy)
        told = reversed(newest[: query.events])
        return ExplainAnswer(
            workload=workload,
            seq=core.seq,
            time=core.time,
            policy=followed.policy,
            history=tuple(NumberedEvent(seq=recorded.seq, event=recorded.event) for recorded in told),
            earlier=len(newest) > query.events,
            standing=standing(resting(core), workload),
        )


def _names(core: Core, journal: Journal) -> Iterator[str]:
    """The names of workloads: those that are live, then those that were submitted last."""
    yield from core.view.names()
    for recorded in journal.backwards(upto=core.seq, kinds=[WorkloadSubmitted.__name__]):
        if isinstance(recorded.event, WorkloadSubmitted):
            yield recorded.event.workload


# --- why they wait --------------------------------------------------------------------------------------------------


def reasons_of(followed: Followed, names: Sequence[str], until: float) -> dict[str, str]:
    """Why each of these workloads waits, in one line; those that do not wait are left out.

    So are those whose turn would come after the moment `until` (`monotonic`): they are asked for again.
    """
    core = resting(followed.core)
    found = dict[str, str]()
    for name in names:
        place = standing(core, name, briefly=True)
        if place is not None and place.state == "pending":
            found[name] = why_it_waits(place)
        if monotonic() > until:
            break
    return found
