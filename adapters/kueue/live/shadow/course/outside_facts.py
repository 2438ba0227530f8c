"""What a workload that was watched tells beside the decisions of Kueue's scheduler: it came, changed, was held, stopped, ended.

The facts follow from what a core knows and from what the workload is like now. So versions that were missed do no harm, and a version that
says nothing new gives no facts.

A workload that Kueue tells to stop holds its quota until it has stopped. In the core it is evicted, and adopted again as one that stops
(`evicting`). Once it has stopped, it counts as waiting since its creation, or since the moment that Kueue goes by (`requeued`).
"""

from collections.abc import Mapping
from typing import Any, Literal

from ......engine.event_parts import CheckState
from ......engine.facts import (
    Fact,
    OperatorAction,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from ......engine.policy_graph import PolicyGraph
from ......engine.workload import NOWHERE, Workload
from ...learned import KUEUE
from ..watch.seen_workload import MOST_AHEAD, SeenWorkload, core_standing, holds_the_same

SHADOW = "gpol.shadow"
"""The operator that sets aside whom Kueue passes over, and notes in the journal where Kueue decided otherwise."""

MissedDecision = Literal["admission", "eviction"]
"""A decision of Kueue's scheduler that a core has not made."""


def outside_facts(seen: SeenWorkload, known: Workload | None, at: int, graph: PolicyGraph, only_outside: bool = False) -> list[Fact]:
    """The next facts about a workload; there may be more once these were taken in. None: the rest is the scheduler's doing, or known.

    With `only_outside` what it holds counts for nothing.
    """
    if known is not None and (known.fact.uid != seen.uid or seen.is_over):
        return [(WorkloadFinished if known.admitted is not None else WorkloadCancelled)(time=at, workload=known.name)]
    if seen.submitted is None or seen.is_over:
        return []
    if known is None:
        return _submission(seen, seen.submitted, at)
    has = core_standing(known)
    if only_outside:
        return _updates(seen, known, at)
    if seen.standing == has == "holds" and not holds_the_same(known, seen.placements):
        return _changed_in_place(seen, known, at)
    if has == "holds" and seen.standing != "holds" and not seen.was_preempted:
        note = seen.words.evicted_message or seen.words.evicted or "Kueue has taken its quota back"
        return [*told_to_stop(seen.key, at, note), *([seen.adopted(at, evicting=True)] if seen.standing == "stopping" else [])]
    if has == "stopping" and (seen.standing == "waits" or (seen.standing == "holds" and not is_drained(graph, known))):
        return [stopped(seen, known, at)]
    if has == "waits" and _asks_otherwise(seen, known):
        return [WorkloadCancelled(time=at, workload=known.name), *_submission(seen, seen.submitted, at)]
    return [*_updates(seen, known, at), *_holds(seen, known, at)]


def missed_decision(seen: SeenWorkload, known: Workload | None) -> MissedDecision | None:
    """What Kueue's scheduler has decided about a workload and the core has not; asked once there are no more facts about it."""
    match core_standing(known), seen.standing:
        case "waits", "holds" | "stopping":
            return "admission"
        case "holds", "stopping" | "waits":
            return "eviction"
        case _:
            return None


def is_met(seen: SeenWorkload, known: Workload | None, missed: MissedDecision) -> bool:
    """Whether a core has decided now what Kueue did to a workload."""
    if missed == "eviction":
        return core_standing(known) != "holds"
    return known is not None and known.admitted is not None and holds_the_same(known, seen.placements)


def told_to_stop(name: str, at: int, note: str) -> list[Fact]:
    """The facts that Kueue has told a workload to stop, and that nobody holds it then."""
    evicted = OperatorAction(time=at, by=KUEUE, action="evict", workload=name, note=note[:4096])
    return [evicted, OperatorAction(time=at, by=KUEUE, action="release", workload=name, note="nobody holds it")]


def stopped(seen: SeenWorkload, known: Workload, at: int) -> Fact:
    """The fact that a workload which was told to stop has done so, and waits again."""
    requeued = known.submitted if seen.requeued is None or seen.standing == "holds" else seen.requeued
    return WorkloadUpdated(time=at, workload=known.name, requeued=min(requeued, at))


def is_drained(graph: PolicyGraph, known: Workload) -> bool:
    """Whether whoever runs where a workload runs is told to stop by the policy itself."""
    if known.queue == NOWHERE:
        return False
    queue = graph.queue_at(known.queue)
    local = queue.local_queue(known.fact.local_queue)
    return queue.stopped == "drain" or (local is not None and local.stopped == "drain")


# --- its submission -------------------------------------------------------------------------------------------------


def _submission(seen: SeenWorkload, submitted: WorkloadSubmitted, at: int) -> list[Fact]:
    """A workload that the core does not know. What it holds is no part of it."""
    created = at if submitted.created is None else submitted.created
    time = max(at, created) if created - at <= MOST_AHEAD else at
    fact = submitted.model_copy(update={"time": time, "hold": False, "created": min(created, time)})
    known: dict[str, Any] = {}
    if seen.checks:
        known["checks"] = dict(seen.checks)
    if seen.reclaimable:
        known["reclaimable"] = dict(seen.reclaimable)
    if seen.requeued is not None:
        known["requeued"] = min(seen.requeued, time)
    updated = [WorkloadUpdated(time=time, workload=seen.key, **known)] if known else []
    return [fact, *updated, *([_hold(seen, time)] if seen.held and seen.standing == "waits" else [])]


def _asks_otherwise(seen: SeenWorkload, known: Workload) -> bool:
    """Whether a workload that waits asks for something else than when it was submitted, or has fewer pods that are done."""
    if seen.standing != "waits" or seen.submitted is None:
        return False
    done = {pod_set.name: pod_set.count - left for pod_set, left in known.pod_sets()}
    fewer = any(count > (seen.reclaimable or {}).get(name, 0) for name, count in done.items())
    return fewer or _ask(seen.submitted) != _ask(known.fact)


def _ask(fact: WorkloadSubmitted) -> tuple[object, ...]:
    return fact.queue, fact.local_queue, fact.namespace_labels, fact.pod_sets, fact.misconfigured, fact.replaces


def _changed_in_place(seen: SeenWorkload, known: Workload, at: int) -> list[Fact]:
    """A workload that runs holds something else now: it was resized, or stopped and got quota again unseen, which is to be decided then."""
    assert seen.submitted is not None
    sizes = {pod_set.name: pod_set.count for pod_set in seen.submitted.pod_sets}
    if sizes != {pod_set.name: pod_set.count for pod_set in known.fact.pod_sets}:
        ended = WorkloadCancelled(time=at, workload=known.name)
        return [ended, *_submission(seen, seen.submitted, at), seen.adopted(at, evicting=False)]
    acted = told_to_stop(seen.key, at, "Kueue has given it other quota")
    is_the_same_run = seen.since is None or known.admitted is None or seen.since <= known.admitted
    return [*acted, *([seen.adopted(at, evicting=False)] if is_the_same_run else [])]


# --- what changes of it ---------------------------------------------------------------------------------------------


def _updates(seen: SeenWorkload, known: Workload, at: int) -> list[Fact]:
    """Its priority, its pods that are done, what its checks say, by when it stands in its queue."""
    assert seen.submitted is not None
    said: dict[str, Any] = {}
    if seen.submitted.priority != known.asked_priority:
        said["priority"] = seen.submitted.priority
    if seen.submitted.boost != known.boost:
        said["boost"] = seen.submitted.boost
    done = {pod_set.name: (pod_set.count - left, pod_set.count) for pod_set, left in known.pod_sets()}
    more = {name: count for name, count in (seen.reclaimable or {}).items() if name in done and done[name][0] < count <= done[name][1]}
    if more:
        said["reclaimable"] = more
    if known.admitted is None:
        said |= _of_waiting(seen, known, at)
    return [WorkloadUpdated(time=at, workload=known.name, **said)] if said else []


def _of_waiting(seen: SeenWorkload, known: Workload, at: int) -> dict[str, Any]:
    said: dict[str, Any] = {}
    checks = _checks(seen.checks or {}, known.checks)
    if checks:
        said["checks"] = checks
    wanted = seen.requeued if seen.requeued is not None else known.submitted if known.requeued is not None else None
    if wanted is not None and seen.standing == "waits" and min(wanted, at) != known.requeued:
        said["requeued"] = min(wanted, at)
    return said


def _checks(said: Mapping[str, CheckState], known: Mapping[str, CheckState]) -> dict[str, CheckState]:
    """What checks say otherwise than before. One that is gone keeps nobody from being admitted any more."""
    gone: dict[str, CheckState] = {name: "Pending" for name in known if name not in said and known[name] in ("Retry", "Rejected")}
    return {**gone, **{name: said[name] for name in said if known.get(name) != said[name]}}


def _holds(seen: SeenWorkload, known: Workload, at: int) -> list[Fact]:
    """Whether Kueue queues a workload that waits. Whom gpol has set aside stays so until Kueue does something about it."""
    if known.admitted is not None:
        return []
    by = known.held_by_operator
    if seen.held and seen.standing == "waits":
        return [_hold(seen, at)] if by is None else []
    if (by == KUEUE or known.held_by_owner) or (by is not None and seen.standing != "waits"):
        note = "Kueue queues it again" if seen.standing == "waits" else "Kueue has reserved quota for it"
        return [OperatorAction(time=at, by=KUEUE, action="release", workload=known.name, note=note)]
    return []


def _hold(seen: SeenWorkload, at: int) -> OperatorAction:
    return OperatorAction(time=at, by=KUEUE, action="hold", workload=seen.key, note=seen.held)
