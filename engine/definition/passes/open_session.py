"""From the state of a cluster to the session over which passes decide.

Pods of a pod set are alike, and go by their numbers: first those that have places, in the order of these, then those that wait. A policy
that decides by passes has one flavor, and that one is placed. What it does not count by quota still takes room on nodes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from ...elastic.pod_counts import least_pods
from ...event_parts import POD_COUNT, PodSet, asked_by_one
from ...intake.holds import is_inactive, turned_away
from ...nodes.domains import domain_tree, node_path
from ...nodes.inventory import Machine
from ...policy_graph import Flavor, PolicyGraph, Topology
from ...workload import NOWHERE, Workload
from ..session.pods import NO_NODE, Pod, PodStatus, SessionGroup, SessionWorkload
from ..session.quota_nodes import QuotaNode
from ..session.session import Session, SessionNode
from ..state.state import State

FLAVOR = 0
"""The one flavor of a policy that decides by passes."""


class SessionForm(NamedTuple):
    """How a session is made.

    The groups of a workload are its pod sets, below one that is all of it; with `one_group` all its pods are in that one.

    A cohort owns what is owned below it and what it owns itself, and who says nothing owns nothing; where a node `owns_what_is_said`, it
    owns what it says itself, and nothing is known of what it does not say. With a `root_queue` the root of the policy is a queue
    itself, called `root`, below one more quota node.
    """

    one_group: bool
    owns_what_is_said: bool
    root_queue: bool = False


def open_session(state: State, form: SessionForm) -> Session:
    """The session of the present moment: all nodes that take pods, all workloads that run, and those that wait and may be looked at."""
    resources = _resources(state)
    nodes = _nodes(state, resources)
    found = {node.name: node.number for node in nodes}
    workloads, pods = list[SessionWorkload](), list[Pod]()
    taking = [each for each in state.in_order() if takes_part(state, each)]
    created = _created(taking)
    for each in taking:
        first = len(pods)
        pods += _pods(each, len(workloads), first, resources, found, form.one_group)
        workloads.append(_workload(state, each, len(workloads), range(first, len(pods)), created[each.name], form))
    topology = _topology(state)
    there = {node.name: replace(node.machine, cordoned=False) for node in nodes}  # who runs on a cordoned node stands in its domains, too
    tree = domain_tree(topology, state.graph.flavors[FLAVOR], there)
    trees = () if len(topology.levels) == 1 else (tree,)  # where nodes are all there is, none is nearer than another
    return Session(resources, nodes, _quota_nodes(state, resources, form), workloads, pods, trees)


def _topology(state: State) -> Topology:
    return state.graph.topologies[state.graph.flavors[FLAVOR].topology]


def _created(workloads: Sequence[Workload]) -> dict[str, int]:
    """When each workload came to its queue, in microseconds. Of two at one moment the later submission counts as a microsecond younger, as
    other systems know no order but times and names."""
    found, last = dict[str, int](), -1
    for each in sorted(workloads, key=lambda workload: (workload.queued, workload.number)):
        found[each.name] = last = max(each.queued, last + 1)
    return found


def takes_part(state: State, workload: Workload) -> bool:
    """Whether a workload is in the session: it runs, or it waits in a queue that admits, and nothing holds it."""
    if workload.queue == NOWHERE:
        return False
    if workload.admitted is not None:
        return True
    return workload.in_line and not is_inactive(state.graph, workload.queue) and next(turned_away(state.graph, workload), None) is None


FIRST = ("cpu", "memory", "gpu", POD_COUNT)
"""The resources that stand first in every session, also where nobody counts them."""


def _is_node_of(flavor: Flavor, topology: Topology, name: str, machine: Machine) -> bool:
    """Whether a machine has the labels of the flavor, and is in a domain of each level."""
    is_of_flavor = all(machine.labels.get(key) == value for key, value in (*(flavor.nodes or ()), *flavor.labels))
    return is_of_flavor and node_path(topology, name, machine) is not None


def _resources(state: State) -> tuple[str, ...]:
    """What is counted, by quota or on nodes, and what is asked for: first those by which KAI and Volcano measure, then others by name."""
    counted = {slot.resource for slot in state.graph.slots}
    on_nodes = {resource for name in state.machines for resource in state.machines[name].capacity}
    asked = {resource for each in state.in_order() for pod_set in each.fact.pod_sets for resource in pod_set.requests}
    return (*FIRST, *sorted((counted | on_nodes | asked) - set(FIRST)))


def _nodes(state: State, resources: tuple[str, ...]) -> list[SessionNode]:
    """The machines of the flavor, in the order of their names; passes put no pods on those that are cordoned.

    A machine that says nothing of how many pods it takes has room for any number, and none for what it does not have.
    """
    flavor = state.graph.flavors[FLAVOR]
    topology = _topology(state)
    taking = [name for name in sorted(state.machines) if _is_node_of(flavor, topology, name, state.machines[name])]
    found = []
    for number, name in enumerate(taking):
        has = state.machines[name].capacity
        capacity = tuple(has.get(resource, MOST_PODS if resource == POD_COUNT else 0) for resource in resources)
        found.append(SessionNode(number, name, state.machines[name], capacity))
    return found


MOST_PODS = 1_000_000
"""Room for so many pods where a machine says nothing of it."""


def _quota_nodes(state: State, resources: tuple[str, ...], form: SessionForm) -> list[QuotaNode]:
    """The quota tree; what the policy does not count has no limit."""
    graph, tree = state.graph, state.active.tree
    slots = [state.active.slot(FLAVOR, resource) for resource in resources]
    found = list[QuotaNode]()
    if form.root_queue:
        nothing, one = (None,) * len(resources), (Fraction(1),) * len(resources)
        found.append(QuotaNode(0, "", -1, (1,), nothing, nothing, (0,) * len(resources), one))
    first = len(found)
    for number, node in enumerate(graph.nodes):
        terms = node.terms
        if form.owns_what_is_said:
            said = [None if slot is None or node.quotas[slot].nominal_source is None else node.quotas[slot].nominal for slot in slots]
        else:
            said = [None if slot is None or _owns_all(graph, number, slot) else tree.subtree[number][slot] for slot in slots]
        limit = [None if slot is None or terms is None else terms.limits[slot] for slot in slots]
        guaranteed = [0 if slot is None or terms is None else terms.guaranteed[slot] for slot in slots]
        weight = [node.weight if slot is None or terms is None else terms.weights[slot] for slot in slots]
        priority = 0 if terms is None else terms.priority
        found.append(
            QuotaNode(
                first + number,
                "root" if number == 0 and form.root_queue else node.name,
                first + node.parent,
                tuple(first + child for child in node.children),
                tuple(said),
                tuple(limit),
                tuple(guaranteed),
                tuple(weight),
                priority,
                number,
            )
        )
    return found


def _owns_all(graph: PolicyGraph, node: int, slot: int) -> bool:
    """Whether a node, or one below it, owns as much as there is."""
    terms = graph.nodes[node].terms
    return (terms is not None and terms.owns_all[slot]) or any(_owns_all(graph, child, slot) for child in graph.nodes[node].children)


def _workload(state: State, workload: Workload, number: int, pods: range, created: int, form: SessionForm) -> SessionWorkload:
    """A workload, with the minimum of each pod set. Where there is one pod set, all of the workload stands where that is to stand."""
    least = least_pods(workload)
    topology = _topology(state)
    wishes = [(_level(topology, pod_set.within), _level(topology, pod_set.near)) for pod_set, _ in workload.pod_sets()]
    for_all = wishes[0] if len(wishes) == 1 else (None, None)
    if form.one_group:
        groups: tuple[SessionGroup, ...] = (SessionGroup("", -1, (), sum(least), *for_all),)
    else:
        places = [(None, None)] if len(wishes) == 1 else wishes
        parts = zip(workload.fact.pod_sets, least, places, strict=True)
        leaves = [SessionGroup(pod_set.name, 0, (), minimum, *wish) for pod_set, minimum, wish in parts]
        groups = (SessionGroup("", -1, tuple(range(1, len(leaves) + 1)), len(leaves), *for_all), *leaves)
    return SessionWorkload(
        number,
        workload.name,
        workload.queue + form.root_queue,
        workload.priority,
        not workload.pinned,
        created,
        workload.admitted,
        groups,
        tuple(pods),
    )


def _level(topology: Topology, name: str) -> tuple[int, int] | None:
    """A level of the one topology by its name; None where none is named."""
    level = topology.level(name) if name else None
    return None if level is None else (0, level)


def _pods(workload: Workload, number: int, first: int, resources: tuple[str, ...], nodes: dict[str, int], one_group: bool) -> Iterator[Pod]:
    """The pods of a workload: of each pod set as many as are left."""
    at = first
    for group, (pod_set, left) in enumerate(workload.pod_sets(), 1):
        requests = tuple(asked_by_one(pod_set, resource) for resource in resources)
        standing = list(_standing(workload, pod_set, left, nodes)) if workload.admitted is not None else []
        for index in range(left):
            pod = Pod(at, f"{workload.name}/{pod_set.name}/{index:07}", number, 0 if one_group else group, requests, pod_set)
            if index < len(standing):
                pod.status, pod.node = PodStatus.STOPPING if workload.evicting else PodStatus.RUNNING, standing[index]
            yield pod
            at += 1


def _standing(workload: Workload, pod_set: PodSet, left: int, nodes: dict[str, int]) -> Iterator[int]:
    """The nodes of the pods that run, one for each; none where a pod has no place, or stands on a node that takes no pods any more."""
    given = next((each for each in workload.assignments if each.pod_set == pod_set.name), None)
    count = 0 if given is None else min(given.count, left)
    for place in () if given is None else given.places:
        here = min(place.pods, count)
        yield from [nodes.get(place.domain[-1], NO_NODE)] * here
        count -= here
    yield from [NO_NODE] * count
