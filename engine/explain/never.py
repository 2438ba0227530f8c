"""Whether a waiting workload can run at all while the policy and what exists stay as they are, and what is in the way if not."""

from collections.abc import Iterator
from typing import Literal

from ..cores import Probe, View
from ..eligibility import lacking_levels
from ..event_parts import PodSet
from ..outcome.decision import BindingLimit, tightest
from ..outcome.grounds import Unplaced
from ..outcome.nomination import Mode, Nomination
from ..policy_graph import Flavor, PolicyGraph
from .place_helps import place_help
from .policy_lines import limit_named
from .standing import Impediment, NodesThere
from .unplaced import unplaced
from .wording import named_obstacle


def idle(probe: Probe, view: View) -> Probe:
    """The same questions about a cluster where nothing runs."""
    return probe.suppose(without=[each.name for each in view.workloads() if each.admitted is not None])


def impediments(probe: Probe, view: View, nomination: Nomination) -> tuple[Impediment, ...]:
    """Why the workload of a nomination can never run as things stand; none where it runs in a cluster where nothing else does.

    `probe` is asked about the idle cluster, see `idle`; the nomination is of the cluster as it is.
    """
    workload = view.workload(nomination.workload)
    if workload is None or nomination.flavors.mode is not Mode.NO_FIT:
        return ()
    alone = probe.nominate(workload.name)
    if alone.flavors.mode is not Mode.NO_FIT:
        return ()
    pod_sets = {pod_set.name: pod_set for pod_set in workload.fact.pod_sets}
    found: dict[Impediment, None] = {}
    for index, pods in enumerate(alone.flavors.pod_sets):
        if pods.failed:
            told = {each.places for each in found} - {None}  # a leader and its workers lack places together: that is told once
            of_pods = _of_pod_set(probe, view, alone, index, pod_sets[pods.name])
            found |= dict.fromkeys(each for each in of_pods if each.places not in told)
    places = unplaced(probe.graph, alone.flavors)
    if not found and places is not None:
        return (Impediment(kind="unplaced", pod_set=places.pod_sets[0], flavor=places.flavor, places=places),)
    return tuple(found)


def with_helps(probe: Probe, view: View, workload: str, found: tuple[Impediment, ...]) -> tuple[Impediment, ...]:
    """The same impediments of a workload with what would give it places: that is tried on the idle cluster, and takes far longer."""
    return tuple(
        each if each.places is None else each.model_copy(update={"helps": place_help(probe, view, workload, each.places)}) for each in found
    )


def _of_pod_set(probe: Probe, view: View, alone: Nomination, index: int, pod_set: PodSet) -> Iterator[Impediment]:
    graph, pods = probe.graph, alone.flavors.pod_sets[index]
    others = tuple(graph.flavors[flavor].name for flavor in graph.queue_at(alone.queue).flavors)
    known = {flavor.name for flavor in graph.flavors}
    unserved = [each for each in pods.obstacles if each.kind == "unserved"]
    for obstacle in unserved:
        counted = any(slot.resource == obstacle.resource for slot in graph.slots)
        silent = tuple(_silent(graph, view, alone.queue, obstacle.resource))
        kind: Literal["unserved", "not counted"] = "unserved" if counted else "not counted"
        yield Impediment(kind=kind, pod_set=pods.name, resource=obstacle.resource, silent=silent)
    if unserved:
        return
    for name in pod_set.flavors:
        if name not in known:
            yield Impediment(kind="unknown flavor", pod_set=pods.name, flavor=name, others=others)
    of_use = [number for number, each in enumerate(pods.attempts) if _named(graph, pod_set, each.flavor)]
    for number in of_use:
        attempt = pods.attempts[number]
        if attempt.grade.mode is Mode.NO_FIT:
            yield _on_flavor(probe, view, alone, index, number, pod_set)
    if not of_use and all(name in known for name in pod_set.flavors):
        if pod_set.flavors:
            yield from (Impediment(kind="other flavors", pod_set=pods.name, flavor=name, others=others) for name in pod_set.flavors)
        elif others and not pods.attempts:
            asked = tuple(name for name in sorted(pod_set.requests) if pod_set.requests[name])
            none_of = tuple(name for name in sorted(pod_set.requests) if not pod_set.requests[name])
            yield Impediment(kind="nothing asked", pod_set=pods.name, resources=asked, none_of=none_of, others=others)
        else:
            yield Impediment(kind="no flavor", pod_set=pods.name)


def _silent(graph: PolicyGraph, view: View, queue: int, resource: str) -> Iterator[str]:
    """The flavors of a queue that give places and have nodes of which none says how much it has of a resource: there it is 0."""
    machines = view.machines()
    for index in graph.queue_at(queue).flavors:
        flavor = graph.flavors[index]
        labels = (*(flavor.nodes or ()), *flavor.labels)
        mine = [machines[name] for name in sorted(machines) if all(machines[name].labels.get(key) == value for key, value in labels)]
        if flavor.topology >= 0 and mine and all(resource not in machine.capacity for machine in mine):
            yield flavor.name


def _named(graph: PolicyGraph, pod_set: PodSet, flavor: int) -> bool:
    """Whether a pod set's list of flavors lets it run on a flavor."""
    return not pod_set.flavors or graph.flavors[flavor].name in pod_set.flavors


def _on_flavor(probe: Probe, view: View, alone: Nomination, index: int, number: int, pod_set: PodSet) -> Impediment:
    """The worst of what keeps a pod set off a flavor: what is no matter of amounts, else the tightest limit."""
    graph, attempt = probe.graph, alone.flavors.pod_sets[index].attempts[number]
    flavor = graph.flavors[attempt.flavor]
    told: dict[str, object] = {"pod_set": pod_set.name, "flavor": flavor.name}
    other = next((each for each in attempt.obstacles if not each.by_quota), None)
    if other is not None and other.kind == "no-places":
        places = _places_on(probe, view, alone, index, attempt.flavor)
        if places is not None:
            return Impediment(kind="unplaced", pod_set=pod_set.name, flavor=flavor.name, places=places)
    if other is not None:
        named_other = named_obstacle(graph, other)
        told |= {"kind": named_other.kind, "resource": named_other.resource, "obstacle": named_other}
        if other.kind == "lacks-resource":
            told["silent"] = tuple(name for name in _silent(graph, view, alone.queue, other.resource) if name == flavor.name)
        return Impediment.model_validate({**told, **(_levels(graph, flavor, pod_set) if other.kind == "no-level" else {})})
    limit = tightest(probe.obstacle_limits(alone, index, number))
    named = limit_named(graph, limit)
    if named is None:
        return Impediment.model_validate({**told, "kind": "exceeds", "resource": attempt.resources[0]})
    empty = flavor.nodes is not None and named.limit == "capacity" and named.available <= 0
    told |= {"resource": named.resource, "limit": named, "exists": _too_little(graph, view, limit)}
    if not empty:
        return Impediment.model_validate({**told, "kind": "exceeds"})
    return Impediment.model_validate({**told, "kind": "no nodes", "nodes": _nodes_there(view, attempt.flavor, flavor)})


def _levels(graph: PolicyGraph, flavor: Flavor, pod_set: PodSet) -> dict[str, object]:
    """The levels that a pod set names and the topology of a flavor lacks, and those that it has."""
    topology = graph.topologies[flavor.topology]
    return {"lacking": tuple(lacking_levels(topology, pod_set)), "levels": tuple(level.name for level in topology.levels)}


def _nodes_there(view: View, index: int, flavor: Flavor) -> NodesThere:
    """Which nodes are known where those of a flavor give none of a resource. A cordoned one counts as gone where pods get no places."""
    machines = view.machines()
    mine = [machines[name] for name in sorted(machines) if machines[name].flavor == index]
    return NodesThere(
        labels=tuple(f'{key} = "{value}"' for key, value in flavor.nodes or ()),
        placed=flavor.topology >= 0,
        count=len(mine),
        cordoned=sum(each.cordoned for each in mine) if flavor.topology < 0 else 0,
        others=len(machines) - len(mine),
    )


def _places_on(probe: Probe, view: View, alone: Nomination, index: int, flavor: int) -> Unplaced | None:
    """Why there are no places on a flavor that was tried for a pod set: a nomination tells it of one flavor, so others are left out."""
    known = unplaced(probe.graph, alone.flavors)
    workload = view.workload(alone.workload)
    if known is not None and known.flavor == probe.graph.flavors[flavor].name:
        return known
    if workload is None:
        return None
    sets = workload.fact.pod_sets
    only = (sets[index].model_copy(update={"flavors": (probe.graph.flavors[flavor].name,)}),)
    fact = workload.fact.model_copy(update={"pod_sets": (*sets[:index], *only, *sets[index + 1 :])})
    return unplaced(probe.graph, probe.suppose(instead=fact).nominate(workload.name).flavors)


def _too_little(graph: PolicyGraph, view: View, limit: BindingLimit | None) -> int | None:
    """How much exists, where another limit binds, and what exists is less than what is asked for as well."""
    if limit is None or limit.kind == "capacity" or graph.settings.forest:
        return None
    exists = view.capacity(limit.slot)
    return exists if exists < limit.asked else None
