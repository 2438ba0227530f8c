"""What gpol learns from a PodGroup as it is: the facts that lie between what the core knows of it and what it is.

Facts follow from the two states alone, never from the events of a watch: after a restart nothing is needed but the journal and the cluster.

An admission holds until the PodGroup is over or gpol evicts it. A PodGroup does not say whether it has run before, and one whose pods were
lost is to get its place back: so one that is Pending again keeps its quota, and is let in again at once. One that gpol has evicted waits,
whether Volcano has stopped it already or not; if it is admitted again before, it just runs on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ....engine.event_parts import Placement
from ....engine.facts import WorkloadAdopted, WorkloadSubmitted, WorkloadUpdated
from ....engine.policy_graph import PolicyGraph
from ....engine.workload import Workload
from ...kueue.problems import Findings
from ...live.learned_facts import Learned, finished, gone, in_policy_names
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


def facts_of_pod_group(
    group: PodGroup, known: Workload | None, is_turned_away: bool, policy: NamesInCluster, namespace: dict[str, str], now: int
) -> Learned:
    """The next facts about a PodGroup that is there; there may be more once these were decided. None: all is known.

    `known` is what the core knows under its name. `is_turned_away`: it was rejected, and that is its end, unless it is made anew.
    """
    if known is not None and known.fact.uid != group.uid:
        return Learned(gone(known, now))
    if group.phase == "Completed":
        return Learned(tuple(finished(known, now)))
    if known is None and is_turned_away:
        return Learned()
    submitted = _submission(group, policy, namespace, now)
    if isinstance(submitted, str):
        return Learned(problem=submitted)
    if known is None:
        return Learned((submitted,))
    if known.held_by_owner and not group.runs:
        return Learned((WorkloadUpdated(time=now, workload=known.name, hold=False),))
    if known.admitted is None and group.runs:
        return Learned() if known.evictions else _adoption(group, known, policy.graph, now)
    return _changes(known, submitted, now)


# --- a submission ---------------------------------------------------------------------------------------------------


def _submission(group: PodGroup, policy: NamesInCluster, namespace: dict[str, str], now: int) -> WorkloadSubmitted | str:
    """The submission of a PodGroup, on hold if it runs already; or why there can be none."""
    about = f"PodGroup {group.key}"
    if group.min_resources is None:
        cause = "spec.minResources is missing, so nothing says how much it asks for"
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
    return submitted.model_copy(update={"hold": group.runs, "namespace_labels": namespace})


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


def _changes(known: Workload, submitted: WorkloadSubmitted, now: int) -> Learned:
    """It says something else than it said. One that waits asks anew; one that is admitted counts as it was admitted."""
    before = known.fact
    is_same = (before.queue, before.pod_sets) == (submitted.queue, submitted.pod_sets)
    has_no_class_now = submitted.priority is None and known.asked_priority is not None
    if known.admitted is not None and not is_same:
        cause = "its queue, minMember or minResources have changed since it was admitted"
        return Learned(problem=f"PodGroup {known.name}: {cause}; it counts as it was admitted; make it anew for a new decision")
    if known.admitted is None and (not is_same or has_no_class_now):
        return Learned(gone(known, now))
    if submitted.priority is not None and submitted.priority != known.asked_priority:
        return Learned((WorkloadUpdated(time=now, workload=known.name, priority=submitted.priority),))
    return Learned()
