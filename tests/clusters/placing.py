"""Small clusters of nodes for tests of places: topologies, nodes and pod sets in a few words."""

from collections.abc import Mapping, Sequence

from gpol.engine.definition.placement.placer import FoundPlaces, ToPlace, find_places
from gpol.engine.definition.placement.places import PlaceBook
from gpol.engine.eligibility import companions
from gpol.engine.event_parts import PodSet
from gpol.engine.nodes.conditions import Taint
from gpol.engine.nodes.inventory import Machine
from gpol.engine.policy_graph import PolicyGraph
from in_cycles import Cycles
from played import PlayedCluster

FABRIC = """topology fabric {
  level block from label "block"
  level rack from label "rack"
  level host from node
}
"""
"""Nodes in racks in blocks."""

RACKS = FABRIC.replace("  level host from node\n", "").replace("fabric", "racks")
"""Racks in blocks: pods get a rack, and no node."""

POLICY = f"""{FABRIC}flavor a {{
  gpu as owned
  placed in fabric
}}
queue q {{ owns 1000 gpu }}
"""
"""One queue with one flavor of nodes."""

Nodes = Mapping[str, Machine]


def machine(path: str, gpu: int, pods: int = 110, taints: Sequence[Taint] = (), cordoned: bool = False, **labels: str) -> Machine:
    """A node in `block/rack`, with GPUs and pods."""
    block, rack = path.split("/")
    return Machine({"block": block, "rack": rack, **labels}, {"gpu": gpu, "pods": pods}, -1, tuple(taints), cordoned)


def graph_of(text: str = POLICY) -> PolicyGraph:
    """The graph of a policy that decides in cycles."""
    return Cycles(text).graph


def book(nodes: Nodes, text: str = POLICY) -> PlaceBook:
    """Nodes that nobody uses yet, under a policy that decides in cycles."""
    return PlaceBook(graph_of(text), nodes)


def pod_set(gpu: int = 1, count: int = 1, name: str = "main", **said: object) -> PodSet:
    """Pods that ask for thousandths of GPUs."""
    return PodSet.model_validate({"name": name, "count": count, "requests": {"gpu": gpu}, **said})


def wanted(*pod_sets: PodSet, flavor: int = 0) -> list[ToPlace]:
    """All pods of pod sets, on a flavor."""
    return [ToPlace(each, each.count, flavor, companions(index, each)) for index, each in enumerate(pod_sets)]


def told(found: FoundPlaces, name: str = "main") -> dict[str, int]:
    """Where the pods of a pod set stand, such as `{"n1": 2}`; a domain of several levels is told as `b1/r1`."""
    return {"/".join(place.domain): place.pods for place in found.places.get(name, ())}


def place(places: PlaceBook, *pod_sets: PodSet, empty: bool = False) -> FoundPlaces:
    """Places for pod sets on the first flavor."""
    return find_places(places, wanted(*pod_sets), empty)


def cluster_of(text: str, **nodes: str) -> Cycles:
    """A cluster with nodes, such as `n1="b/r 4"`: so many GPUs in that block and rack."""
    c = Cycles(text)
    for name in sorted(nodes):
        path, gpu = nodes[name].split()
        block, rack = path.split("/")
        c.fact("NodeAdded", node=name, labels={"block": block, "rack": rack}, capacity={"gpu": gpu, "pods": 110})
    return c


def add_nodes(c: PlayedCluster, **racks: Sequence[str]) -> None:
    """Nodes of 8 GPUs of the pool `a` by rack; one called `spot...` is tainted."""
    for rack, names in racks.items():
        for name in names:
            taints = [{"key": "spot", "effect": "NoSchedule"}] if name.startswith("spot") else []
            c.fact("NodeAdded", node=name, labels={"pool": "a", "rack": rack}, capacity={"gpu": "8"}, taints=taints)


def ask(c: Cycles, name: str, pods: int, gpu: str = "1", queue: str = "q", priority: int = 0, **asked: object) -> None:
    """A workload of one pod set whose pods ask for places."""
    c.submit(name, queue, sets=[{"count": pods, "requests": {"gpu": gpu}, **(asked or {"anywhere": True})}], priority=priority)


def stands(c: Cycles, name: str) -> dict[str, int]:
    """Where the pods of a running workload stand."""
    return {"/".join(place.domain): place.pods for given in c.workload(name).assignments for place in given.places}
