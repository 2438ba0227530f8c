"""Places in the answers to scenarios: where pods stand, and what is used there."""

from gpol.adapters.kueue.decide.topology_answers import placement, places_answer, usage_answer
from gpol.adapters.kueue.read.objects import Objects
from gpol.engine.event_parts import Assignment, PlacedPods, PodSet

from ..conftest import Json, Maker

HOST = "kubernetes.io/hostname"


def node(kueue: Maker, name: str, ready: bool = True, cordoned: bool = False, **labels: str) -> Json:
    """A node of rack `r1` with its name as its hostname."""
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return kueue.obj("Node", name, {"unschedulable": cordoned}, labels={HOST: name, "rack": "r1", **labels}, status=status) | {
        "apiVersion": "v1"
    }


def cluster(kueue: Maker, *nodes: Json) -> Objects:
    """Two flavors that place pods on the same nodes, one that places them in racks, and one that nobody has a quota of."""
    by_node = kueue.obj("Topology", "nodes", {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": HOST}]})
    by_rack = kueue.obj("Topology", "racks", {"levels": [{"nodeLabel": "room"}, {"nodeLabel": "rack"}]})
    named = {"a": "nodes", "b": "nodes", "racked": "racks", "unused": "nodes"}
    flavors = [kueue.flavor(name, topologyName=topology) for name, topology in named.items()]
    quotas = {name: {"nominalQuota": "8"} for name in ("a", "b", "racked", "plain")}
    queue = kueue.queue(groups=[kueue.group("cpu example.com/gpu", **quotas)])
    return kueue.load(queue, *flavors, kueue.flavor("plain"), by_node, by_rack, *nodes).objects


def given(flavor: str, **domains: int) -> Assignment:
    """Two resources on a flavor; pods by domain, the values of whose levels stand with `_` between them."""
    places = tuple(PlacedPods(domain=tuple(domain.split("_")), pods=pods) for domain, pods in domains.items())
    return Assignment(pod_set="main", count=3, flavors={"cpu": flavor, "example.com/gpu": flavor}, places=places)


PODS = (PodSet(name="main", count=3, requests={"cpu": 1500, "example.com/gpu": 2}),)


def test_where_pods_stand(kueue: Maker) -> None:
    """Levels as Kueue names them, and the domains in their order; nothing of what has no places."""
    objects = cluster(kueue)
    assert places_answer(objects, [given("a", n1=2, n2=1)]) == {"main": {"levels": [HOST], "domains": [[["n1"], 2], [["n2"], 1]]}}
    assert places_answer(objects, [given("racked", m_r1=3)]) == {"main": {"levels": ["room", "rack"], "domains": [[["m", "r1"], 3]]}}
    assert places_answer(objects, [given("a"), given("plain", n1=3)]) == {}
    assert placement(objects.topologies[0], ()) == {"levels": [HOST], "domains": []}


def test_flavors_that_share_nodes_show_what_both_use(kueue: Maker) -> None:
    """Each has all nodes that take pods, also those on which nothing stands; a flavor without a quota is not shown."""
    objects = cluster(kueue, node(kueue, "n1"), node(kueue, "n2"), node(kueue, "n3", ready=False), node(kueue, "n4", cordoned=True))
    used = usage_answer(objects, [(PODS, [given("a", n1=2)]), (PODS, [given("b", n1=1)])])
    both = {"n1": {"cpu": 4500, "example.com/gpu": 6, "pods": 3}, "n2": {}}
    assert used == {"a": both, "b": both, "racked": {}}


def test_racks_are_counted_by_flavor(kueue: Maker) -> None:
    """A topology that ends above nodes names all its levels, and shows its own use alone; what stands on unknown nodes is not shown."""
    objects = cluster(kueue, node(kueue, "n1", room="m"), node(kueue, "n2", room="m", rack="r2"))
    used = usage_answer(objects, [(PODS, [given("racked", m_r1=1)]), (PODS, [given("a", n1=1)]), (PODS, [given("racked", m_gone=1)])])
    assert used["racked"] == {"m,r1": {"cpu": 1500, "example.com/gpu": 2, "pods": 1}, "m,r2": {}}
    assert used["a"]["n1"]["pods"] == 1
