"""Which facts are possible as things stand. A fact that is not is refused whole, with what is wrong and what to do."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from .. import facts
from ..elastic.pod_counts import is_elastic
from ..errors import FactError
from ..event_parts import Placement
from ..nodes.inventory import Machine
from ..nodes.lost_nodes import all_nodes_of
from ..nodes.wishes import LEADER_REMEDY, asked_of_places, leader_asking_otherwise
from ..policy.pass_demands import check_for_passes
from ..policy.undecided import why_undecided
from ..policy_graph import PolicyGraph
from ..workload import Workload
from .capacity import flavors_of_node
from .routing import effective_priority, entered_by, queue_named

MOST_LISTED = 10
"""So many nodes are named where a fact names another one."""


class Known(Protocol):
    """What is known when a fact comes, as far as it decides whether the fact is possible."""

    @property
    def time(self) -> int:
        """The time of the last fact."""

    @property
    def graph(self) -> PolicyGraph | None:
        """The policy that decides; None before the first one."""

    @property
    def machines(self) -> Mapping[str, Machine]:
        """The nodes of the cluster by name."""

    def workload(self, name: str) -> Workload | None:
        """A live workload by name."""

    def running(self) -> Iterable[Workload]:
        """Who runs, in the order of the submissions."""

    def live(self) -> Iterable[Workload]:
        """All live workloads, in the order of the submissions."""


def check_fact(known: Known, fact: facts.Fact, graph: PolicyGraph | None) -> None:
    """Raise FactError unless the fact can have happened now."""
    if fact.time < known.time:
        raise FactError(f"time runs backwards: the fact is at {fact.time}, {known.time - fact.time} us before the last one at {known.time}")
    if isinstance(fact, facts.PolicyActivated):
        _check_policy(known, fact, graph)
        return
    if isinstance(fact, facts.SimulationStarted):
        return
    active = known.graph
    if active is None:
        raise FactError(f"{fact.kind} comes before any policy; start with PolicyActivated")
    match fact:
        case facts.TimeAdvanced():
            return
        case facts.WorkloadSubmitted():
            if known.workload(fact.workload) is not None:
                raise FactError(f"workload `{fact.workload}` is already submitted; finish or cancel it first, or use another name")
            check_entry(active, fact)
            check_for_passes(active, fact)
            check_surplus(active, fact)
        case facts.CapacityChanged():
            _check_capacity(active, fact)
        case facts.UsageReported():
            _check_usage(active, fact)
        case facts.NodeAdded() | facts.NodeChanged() | facts.NodeRemoved():
            _check_node(active, known.machines, fact)
        case _:
            _check_live(active, known.workload(fact.workload), fact)


def refuse_wishes_without_effect(fact: facts.Fact) -> None:
    """Raise FactError for a wish that would have no effect: of a leader for other places than those of its workers.

    This is checked where facts come in, and not of recorded ones: earlier versions took such a fact in, and their journals replay.
    """
    if not isinstance(fact, facts.WorkloadSubmitted) or len(fact.pod_sets) < 2:
        return
    for group in sorted({pod_set.group for pod_set in fact.pod_sets} - {""}):
        joined = [pod_set for pod_set in fact.pod_sets if pod_set.group == group]
        leader = leader_asking_otherwise([(pod_set.count, asked_of_places(pod_set)) for pod_set in joined])
        if leader is not None:
            workers = joined[1 - leader].name
            cause = f"pod set `{joined[leader].name}` leads `{workers}`, stands where those stand, and asks for other places than they do"
            raise FactError(f"{cause}; {LEADER_REMEDY}")


def check_entry(graph: PolicyGraph, fact: facts.WorkloadSubmitted) -> None:
    """A submission may name its queue and the local queue by which it came, but not that of another queue."""
    entry = next(iter(entered_by(graph, fact.local_queue)), None)
    if fact.queue is not None and entry is not None and graph.nodes[entry.node].name != fact.queue:
        leads = f"local queue `{fact.local_queue}` leads to queue `{graph.nodes[entry.node].name}`"
        raise FactError(f"workload `{fact.workload}` names queue `{fact.queue}`, but its {leads}; leave one of the two out")


def check_surplus(graph: PolicyGraph, fact: facts.WorkloadSubmitted) -> None:
    """Raise FactError for an elastic workload where the policy decides in cycles: its surplus would never come or go."""
    if not graph.settings.has_surplus and is_elastic(fact):
        cause = f"workload `{fact.workload}` has pods beyond its minimum, and the policy decides in cycles, which has no such surplus"
        remedy = "leave `minimum` out, say `min_count` where fewer pods will do for good, or decide at once"
        raise FactError(f"{cause}; {remedy}")


def _check_policy(known: Known, fact: facts.PolicyActivated, graph: PolicyGraph | None) -> None:
    if graph is None:
        raise FactError("PolicyActivated came without its policy graph")
    undecided = why_undecided(graph)
    if undecided is not None:
        raise FactError(undecided)
    if graph.digest != fact.digest:
        raise FactError(f"the policy's digest is {graph.digest}, the fact says {fact.digest}")
    old = known.graph
    if old is None:
        return
    for workload in known.live():
        check_for_passes(graph, workload.fact)
    elastic = next((workload for workload in known.live() if is_elastic(workload.fact)), None)
    if elastic is not None and not graph.settings.has_surplus:
        cause = f"`{elastic.name}` has pods beyond its minimum, and the policy decides in cycles, which has no such surplus"
        raise FactError(f"{cause}; let it end, cancel it, or decide at once")
    slots = set(graph.slot_names)
    for workload in known.running():
        if workload.evicting and not graph.settings.defers:
            cause = f"`{workload.name}` is told to stop and still holds its place, and the policy decides at once"
            raise FactError(f"{cause}; report first that it has stopped (WorkloadUpdated with `requeued`), or its end")
        queue = old.nodes[workload.queue].name
        node = queue_named(graph, queue)
        if node is None:
            raise FactError(f"the policy has no queue `{queue}`, but `{workload.name}` runs there; let it end or evict it first")
        for slot, _ in workload.usage:
            used = old.slot_name(slot)
            if used not in slots:
                raise FactError(
                    f"the policy has no {used[1]} on flavor `{used[0]}`, but `{workload.name}` uses it; let it end or evict it first"
                )
        if effective_priority(graph, node, workload.asked_priority) is None:
            raise FactError(
                f"the policy has no priority `{workload.asked_priority}`, but `{workload.name}` runs with it; update its priority first"
            )
    for name in sorted(known.machines):
        _check_one_flavor(graph, name, known.machines[name].labels)


def _check_capacity(graph: PolicyGraph, fact: facts.CapacityChanged) -> None:
    flavor = next((flavor for flavor in graph.flavors if flavor.name == fact.flavor), None)
    if flavor is None:
        raise FactError(f"the policy has no flavor `{fact.flavor}`; it has {_listed([flavor.name for flavor in graph.flavors])}")
    if graph.settings.forest:
        raise FactError("the policy decides in cycles, by what is owned alone: change what queues own instead")
    if flavor.nodes is not None:
        raise FactError(f"flavor `{fact.flavor}` takes its capacity from nodes; report nodes instead")
    known = [name for name, _ in flavor.capacity]
    for resource in sorted(fact.capacity):
        if resource not in known:
            raise FactError(f"flavor `{fact.flavor}` has no {resource}; it has {_listed(known)}")


def _check_usage(graph: PolicyGraph, fact: facts.UsageReported) -> None:
    if graph.settings.usage is None:
        raise FactError("the policy does not go by usage; add `usage halves every ...`, or leave this fact out")
    if fact.as_of is not None and fact.as_of > fact.time:
        raise FactError("usage cannot have been counted at a later time than that of the fact")
    if not entered_by(graph, fact.local_queue):
        raise FactError(f"the policy has no local queue `{fact.local_queue}`")


def _check_node(graph: PolicyGraph, machines: Mapping[str, Machine], fact: facts.NodeAdded | facts.NodeChanged | facts.NodeRemoved) -> None:
    if graph.settings.forest and not graph.gives_places:
        cause = "the policy decides in cycles, by what is owned alone, and places no pods on nodes"
        raise FactError(f"{cause}: change what queues own instead, or let a flavor be `placed`")
    known = fact.node in machines
    if isinstance(fact, facts.NodeAdded) and known:
        raise FactError(f"node `{fact.node}` is already there; use NodeChanged")
    if not isinstance(fact, facts.NodeAdded) and not known:
        raise FactError(f"no node `{fact.node}` was added")
    if not isinstance(fact, facts.NodeRemoved):
        _check_one_flavor(graph, fact.node, fact.labels)


def _check_one_flavor(graph: PolicyGraph, node: str, labels: dict[str, str]) -> None:
    flavors = flavors_of_node(graph, labels)
    if len(flavors) > 1:
        names = _listed([graph.flavors[flavor].name for flavor in flavors])
        raise FactError(f"node `{node}` matches several flavors: {names}; a node may belong to one only")


def _check_adopted(graph: PolicyGraph, workload: Workload, fact: facts.WorkloadAdopted) -> None:
    if workload.admitted is not None:
        raise FactError(f"workload `{fact.workload}` runs already")
    node = queue_named(graph, fact.queue)
    if node is None:
        raise FactError(f"the policy has no queue `{fact.queue}`")
    if fact.since > fact.time:
        raise FactError(f"workload `{fact.workload}` cannot run since a later time than that of the fact")
    if fact.evicting and not graph.settings.defers:
        raise FactError(f"workload `{fact.workload}` is told to stop; a policy that decides at once has nobody who stops later")
    if effective_priority(graph, node, workload.asked_priority) is None:
        raise FactError(f"the policy has no priority `{workload.asked_priority}`")
    counts = {pod_set.name: pod_set.count for pod_set in workload.fact.pod_sets}
    slots = set(graph.slot_names)
    for placement in fact.placements:
        if sum(other.pod_set == placement.pod_set for other in fact.placements) > 1:
            raise FactError(f"workload `{fact.workload}` is placed twice in pod set `{placement.pod_set}`; give each pod set once")
        if placement.count > counts.get(placement.pod_set, -1):
            raise FactError(f"workload `{fact.workload}` has no {placement.count} pods in a pod set `{placement.pod_set}`")
        _check_delayed(graph, placement, fact.workload)
        _check_places(graph, placement, fact.workload)
        for resource in sorted(placement.usage):
            flavor = placement.flavors.get(resource)
            if flavor is None:
                raise FactError(f"workload `{fact.workload}` is charged for {resource} of no flavor in pod set `{placement.pod_set}`")
            if (flavor, resource) not in slots:
                raise FactError(f"the policy has no {resource} on flavor `{flavor}`, which `{fact.workload}` uses")


def _check_delayed(graph: PolicyGraph, placement: Placement, name: str) -> None:
    """Pods that are to get their places later have none yet, and get them on a flavor that gives places."""
    if not placement.delayed:
        return
    if placement.places:
        cause = f"the pods of pod set `{placement.pod_set}` of workload `{name}` have places, and are to get them later"
        raise FactError(f"{cause}; leave one of the two out")
    placing = {flavor.name for flavor in graph.flavors if flavor.topology >= 0}
    if placing.isdisjoint(sorted(set(placement.flavors.values()))):
        cause = f"the pods of pod set `{placement.pod_set}` of workload `{name}` are to get places later, on a flavor that gives none"
        raise FactError(f"{cause}; leave `delayed` out, or let the flavor be `placed`")


def _check_places(graph: PolicyGraph, placement: Placement, name: str) -> None:
    """The places of pods are domains of a flavor that gives some, each named once. At once there is one for every pod."""
    if not placement.places:
        return
    pods = f"the pods of pod set `{placement.pod_set}` of workload `{name}`"
    given = sorted(set(placement.flavors.values()))
    topologies = [graph.topologies[flavor.topology] for flavor in graph.flavors if flavor.name in given and flavor.topology >= 0]
    if not topologies:
        raise FactError(f"{pods} have places on a flavor that gives none; leave `places` out, or let the flavor be `placed`")
    standing = sum(place.pods for place in placement.places)
    if standing != placement.count and not graph.settings.defers:  # in cycles what Kueue says counts, also where it goes by other pods
        raise FactError(f"{pods} are {placement.count}, and {standing} have places; give a place to each of them, or leave `places` out")
    width = 1 if topologies[0].ends_at_nodes else len(topologies[0].levels)
    for number, place in enumerate(placement.places):
        told = ", ".join(place.domain)
        if any(other.domain == place.domain for other in placement.places[:number]):
            raise FactError(f"{pods} have a place `{told}` twice; name each place once, with all its pods")
        if len(place.domain) != width:
            wanted = "the name of a node" if topologies[0].ends_at_nodes else f"a value for each of {width} levels"
            raise FactError(f"{pods} have a place `{told}`; a place of their flavor is {wanted}")


def _check_live(graph: PolicyGraph, workload: Workload | None, fact: facts.AboutLive) -> None:
    if workload is None:
        raise FactError(f"no live workload is called `{fact.workload}`")
    runs = workload.admitted is not None
    match fact:
        case facts.WorkloadFinished() if not runs:
            raise FactError(f"workload `{fact.workload}` does not run, so it cannot finish; cancel it instead")
        case facts.OperatorAction(action="evict") if not runs:
            raise FactError(f"workload `{fact.workload}` does not run, so it cannot be evicted; hold it instead")
        case facts.OperatorAction(action="hold") if runs:
            raise FactError(f"workload `{fact.workload}` runs, so it cannot be held; evict it instead")
        case facts.WorkloadUpdated():
            _check_update(graph, workload, fact)
        case facts.WorkloadAdopted():
            _check_adopted(graph, workload, fact)
        case _:
            return


def _check_update(graph: PolicyGraph, workload: Workload, fact: facts.WorkloadUpdated) -> None:
    if fact.priority is not None and workload.queue >= 0 and effective_priority(graph, workload.queue, fact.priority) is None:
        raise FactError(f"the policy has no priority `{fact.priority}`")
    if fact.requeued is not None and fact.requeued > fact.time:
        raise FactError(f"workload `{fact.workload}` cannot count as waiting from a later time than that of the fact")
    if fact.hold and workload.admitted is not None:
        raise FactError(f"workload `{fact.workload}` runs, so it cannot be held")
    _check_lost(workload, fact.lost_nodes or ())
    counts = {pod_set.name: (pod_set.count, left) for pod_set, left in workload.pod_sets()}
    for name in sorted(fact.reclaimable or {}):
        done = (fact.reclaimable or {})[name]
        if name not in counts:
            raise FactError(f"workload `{fact.workload}` has no pod set `{name}`; it has {_listed(sorted(counts))}")
        count, left = counts[name]
        if not count - left <= done <= count:
            raise FactError(f"pod set `{name}` has {count} pods of which {count - left} are already done; reclaimable cannot be {done}")


def _check_lost(workload: Workload, lost: tuple[str, ...]) -> None:
    """Nodes that a workload has lost are some on which it has pods."""
    if lost and workload.admitted is None:
        raise FactError(f"workload `{workload.name}` does not run, so it has lost no nodes; leave `lost_nodes` out")
    there = all_nodes_of(workload)
    for number, node in enumerate(lost):
        if node in lost[:number]:
            raise FactError(f"`lost_nodes` names `{node}` twice; name each node once")
        if node not in there:
            others = " and others" if len(there) > MOST_LISTED else ""
            cause = f"workload `{workload.name}` has no pods on `{node}`, so it cannot have lost it"
            raise FactError(f"{cause}; it has some on {_listed(list(there[:MOST_LISTED]))}{others}")


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"
