"""Small clusters over nodes, for tests of places that are lost or come later, in both ways of deciding."""

from dataclasses import replace
from typing import Literal

from at_once import Cluster
from gpol.engine.facts import PolicyActivated
from gpol.engine.policy_graph import PolicyGraph
from in_cycles import Cycles
from placing import FABRIC

AT_ONCE = f"""policy "t" {{ use test.bare }}
{FABRIC}flavor f {{
  gpu from nodes where pool = "f"
  placed in fabric
}}
queue q {{ owns 0 gpu on f }}
"""
"""One queue over all nodes, where everything is decided at once."""

IN_CYCLES = f"""{FABRIC}flavor f {{
  gpu as owned
  placed in fabric
}}
queue q {{
  owns 100 gpu on f
  evicts its own of lower priority
}}
"""
"""One queue over all nodes, where that is decided in cycles."""

FOR_NODES = IN_CYCLES.replace("  evicts", "  needs check prov on f for nodes\n  evicts")
"""The same, with a check that provides nodes."""


def add(c: Cluster | Cycles, **nodes: str) -> None:
    """Nodes, such as `n1="b/r 4"`: so many GPUs in that block and rack."""
    for name in sorted(nodes):
        path, gpu = nodes[name].split()
        block, rack = path.split("/")
        c.fact("NodeAdded", node=name, labels={"block": block, "rack": rack, "pool": "f"}, capacity={"gpu": gpu, "pods": 110})


def ask(c: Cluster | Cycles, name: str, pods: int, gpu: str = "1", priority: int = 0, **asked: object) -> list[str]:
    """A workload of one pod set whose pods ask for places."""
    return c.submit(name, "q", sets=[{"count": pods, "requests": {"gpu": gpu}, **(asked or {"anywhere": True})}], priority=priority)


def stands(c: Cluster | Cycles, name: str, pod_set: str = "main") -> dict[str, int]:
    """Where the pods of a pod set of a running workload stand."""
    given = (each for each in c.workload(name).assignments if each.pod_set == pod_set)
    return {place.domain[-1]: place.pods for each in given for place in each.places}


def on_lost_nodes(c: Cluster | Cycles, what: Literal["replace", "evict", "wait"]) -> None:
    """From now on the same policy decides, but for what becomes of those who have lost nodes."""
    graph = c.core.graph
    assert graph is not None
    changed: PolicyGraph = replace(graph, settings=replace(graph.settings, lost_nodes=what))
    c.play(PolicyActivated(time=c.now, file="t.gpol", text="", digest=changed.digest), changed)
