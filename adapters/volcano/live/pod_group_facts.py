"""What gpol learns from a PodGroup as it is: the facts that lie between what the core knows of it and what it is.

Facts follow from the two states alone, never from the events of a watch: after a restart nothing is needed but the journal and the cluster.

An admission holds until the PodGroup is over or gpol evicts it. A PodGroup does not say whether it has run before, and one whose pods were
lost is to get its place back: so one that is Pending again keeps its quota, and is let in again at once. One that gpol has evicted waits,
whether Volcano has stopped it already or not; if it is admitted again before, it just runs on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ....engine.event_parts import Placement
from ....engine.facts import WorkloadAdopted, WorkloadSubmitted, WorkloadUpdated
from ....engine.policy_graph import PolicyGraph
from ....engine.workload import Workload
from ...kubernetes.resource_names import in_cluster_names, in_policy_names
from ...kueue.problems import Findings
from ...live.learned_facts import Learned, finished, gone, is_let_in_otherwise
from ..import_.gangs import GangMoment, gang_facts
from ..queue_names import policy_name, volcano_name
from ..read.volcano_objects import ClusterPriorityClass, PodGroup, VolcanoObjects, VolcanoQueue


@dataclass(frozen=True, slots=True)
class NamesInCluster:
    """What the policy has, by the names of the cluster. `names` gives those of resources, where the cluster has another one."""

    graph: PolicyGraph
    names: Mapping[str, str]

    def objects(self, group: PodGroup) -> VolcanoObjects:
        """A PodGroup as one of an import would stand beside the queues and priorities of the policy."""
        queues = [VolcanoQueue(volcano_name(name), "", "", 1, {}, {}, {}, True, 0, True) for name in self.graph.doors.named]
        classes = [ClusterPriorityClass(each.name, "", each.value, False) for each in self.graph.priorities]
        return VolcanoObjects(queues, [group], classes)

    def asked(self, amounts: Mapping[str, int]) -> dict[str, int]:
        """What is asked for, by the policy's names of resources."""
        return in_policy_names(amounts, self.graph, self.names)

    def said(self, submitted: WorkloadSubmitted) -> tuple[str | None, list[tuple[int, dict[str, int]]]]:
        """What a PodGroup said when it was submitted, whatever the policy of then called it: its queue, and its pods with their amounts."""
        return submitted.queue, [(pods.count, in_cluster_names(pods.requests, self.names)) for pods in submitted.pod_sets]


class PastDecisions(NamedTuple):
    """What was decided about a PodGroup: it was rejected last, which is its end unless it is made anew; it was evicted, and not admitted
    again."""

    is_turned_away: bool
    is_evicted: bool


def facts_of_pod_group(
    group: PodGroup, known: Workload | None, past: PastDecisions, policy: NamesInCluster, labels: Mapping[str, str] | None, now: int
) -> Learned:
    """The next facts about a PodGroup that is there; there may be more once these were decided. None: all is known.

    `known` is what the core knows under its name. `labels` are those of its namespace; None: the namespace was not seen yet.
    """
    if known is not None and known.fact.uid != group.uid:
        return Learned(gone(known, now))
    if group.phase == "Completed":
        return Learned(tuple(finished(known, now)))
    if known is None and past.is_turned_away:
        cause = "it runs, and the policy denies it: it counts for nothing"
        runs_on = group.runs and not past.is_evicted
        return Learned(problem=f"PodGroup {group.key}: {cause}; end it, or let the policy allow it and make it anew" if runs_on else "")
    if labels is None:  # it is looked at again as soon as its namespace is seen
        return Learned()
    submitted = _submission(group, policy, labels, now)
    if isinstance(submitted, str):
        return of_undecidable(submitted, known, now)
    if past.is_evicted:  # it waits, though its pods may still run
        submitted = submitted.model_copy(update={"hold": False})
    if known is None:
        return Learned((submitted,))
    if known.held_by_owner and not group.runs:
        return Learned((WorkloadUpdated(time=now, workload=known.name, hold=False),))
    if known.admitted is None and group.runs:
        return Learned() if past.is_evicted else _adoption(group, known, policy.graph, now)
    return _changes(known, submitted, policy, now)


def of_undecidable(problem: str, known: Workload | None, now: int) -> Learned:
    """The facts about a PodGroup that gpol cannot read: one that waits waits no more, one that is admitted counts as it was admitted."""
    return Learned(gone(known, now) if known is not None and known.admitted is None else (), problem)


# --- a submission ---------------------------------------------------------------------------------------------------


def _submission(group: PodGroup, policy: NamesInCluster, labels: Mapping[str, str], now: int) -> WorkloadSubmitted | str:
    """The submission of a PodGroup, on hold if it runs already; or why there can be none."""
    about = f"PodGroup {group.key}"
    if group.min_resources is None:
        cause = "spec.minResources is missing or empty, so nothing says how much it asks for"
        return f"{about}: {cause}; set it to what minMember pods ask for together"
    if policy_name(group.queue) not in policy.graph.doors.named:
        return f"{about}: spec.queue: the policy has no queue `{group.queue}`; name a queue of the policy"
    if group.priority_class and all(each.name != group.priority_class for each in policy.graph.priorities):
        cause = f"spec.priorityClassName: the policy has no priority `{group.priority_class}`"
        return f"{about}: {cause}; name one of the policy, or say its value there"
    found = Findings()
    created = None if group.created is None else min(group.created, now)
    asked = replace(group, min_resources=policy.asked(group.min_resources), created=created, phase="Pending")
    made = gang_facts(policy.objects(asked), GangMoment(now, "", frozenset()), found)
    if found.problems:
        return str(found.problems[0])
    submitted = next(fact for fact in made if isinstance(fact, WorkloadSubmitted))
    return submitted.model_copy(update={"hold": group.runs, "namespace_labels": dict(labels)})


def _adoption(group: PodGroup, known: Workload, graph: PolicyGraph, now: int) -> Learned:
    """What a PodGroup holds that runs by no decision of this journal: all that it asks for, of what the policy counts."""
    queue = policy_name(group.queue)
    placements = []
    for pods, left in known.pod_sets():
        flavors: dict[str, str] = {}
        for resource in pods.requests:
            of_resource = _flavors(graph, queue, resource)
            if len(of_resource) > 1:
                cause = (
                    f"it runs by no decision of this journal, and does not say on which flavor: {', '.join(of_resource)} have {resource}"
                )
                return Learned(problem=f"PodGroup {group.key}: {cause}; it is left alone, and counts for nothing until it ends")
            flavors |= dict.fromkeys([resource] if of_resource else (), "".join(of_resource))
        usage = {resource: pods.requests[resource] * left for resource in flavors}
        placements.append(Placement(pod_set=pods.name, count=left, flavors=flavors, usage=usage))
    since = now if group.scheduled is None else min(group.scheduled, now)
    return Learned((WorkloadAdopted(time=now, workload=known.name, queue=queue, since=since, placements=tuple(placements)),))


def _flavors(graph: PolicyGraph, queue: str, resource: str) -> list[str]:
    """The flavors on which a queue may use a resource."""
    used = graph.queue_at(graph.doors.named[queue])
    may_use = {flavor for group in used.groups if resource in group.resources for flavor in group.flavors} if used.groups else used.flavors
    return [graph.flavors[slot.flavor].name for slot in graph.slots if slot.resource == resource and slot.flavor in may_use]


# --- changes --------------------------------------------------------------------------------------------------------


def _changes(known: Workload, submitted: WorkloadSubmitted, policy: NamesInCluster, now: int) -> Learned:
    """It says something else than it said. One that waits asks anew; one that is admitted counts as it was admitted."""
    before = known.fact
    asks_the_same = (before.queue, before.pod_sets) == (submitted.queue, submitted.pod_sets)
    is_same = asks_the_same and not is_let_in_otherwise(policy.graph, known, submitted.namespace_labels)
    has_no_class_now = submitted.priority is None and known.asked_priority is not None
    if known.admitted is not None and policy.said(before) != policy.said(submitted):
        cause = "its queue, minMember or minResources have changed since it was admitted"
        return Learned(problem=f"PodGroup {known.name}: {cause}; it counts as it was admitted; make it anew for a new decision")
    if known.admitted is None and (not is_same or has_no_class_now):
        return Learned(gone(known, now))
    if submitted.priority is not None and submitted.priority != known.asked_priority:
        return Learned((WorkloadUpdated(time=now, workload=known.name, priority=submitted.priority),))
    return Learned()
