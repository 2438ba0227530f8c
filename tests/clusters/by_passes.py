"""A small cluster of nodes under a policy that decides by passes, and what its cycles decide in short words."""

from collections.abc import Mapping

from gpol.engine.event_parts import PlacedPods
from in_cycles import Cycles

TOPOLOGY = """topology fabric {
  level rack from label "rack"
  level host from node
}
flavor a {
  gpu from nodes where pool = "a"
  placed in fabric
}
"""
"""Nodes in racks, all of one flavor."""


def policy(profile: str, queues: str, header: str = "") -> str:
    """A policy with a profile, over nodes in racks; `header` is more of it."""
    return f'policy "t" {{\n  use {profile}\n  ignore cpu, memory\n{header}}}\n{TOPOLOGY}{queues}'


class Passes(Cycles):
    """A cluster on nodes whose policy decides by passes; decisions come as words, such as `evict a for b`."""

    def __init__(self, text: str, nodes: Mapping[str, int], racks: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        for name in sorted(nodes):
            labels = {"pool": "a", "rack": (racks or {}).get(name, "r")}
            self.fact("NodeAdded", node=name, labels=labels, capacity={"gpu": str(nodes[name])})

    def places(self, name: str) -> dict[str, int]:
        """On which nodes the pods of a running workload stand, and how many."""
        places: list[PlacedPods] = [place for given in self.workload(name).assignments for place in given.places]
        found: dict[str, int] = {}
        for place in places:
            found[place.domain[0]] = found.get(place.domain[0], 0) + place.pods
        return found
