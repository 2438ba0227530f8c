"""A policy graph as plain data that JSON holds exactly: what `gpol compile` prints. `docs/policy-graph.md` describes it.

Every part of the graph is an object with its fields in declared order, all of them, those with defaults too. Integers are integers,
fractions are text such as `3/4`, pairs are objects. Topologies, flavors, nodes, queues and slots are referred to by index, as in the
graph; fields named `index`, `*_name` and `*_names` repeat an index, or what it leads to, for whoever reads. Expressions say by `form`
what they are.
"""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, get_args

from ...engine.guard import Const, Expr, Field
from ...engine.policy_graph import PolicyGraph

VERSION = 1
"""Of the form: within it no field is renamed, removed or given another meaning; new ones may be added."""

KIND = "policy-graph"
"""What the object calls itself."""

FORMS: tuple[type, ...] = (*get_args(Expr), Field, Const)
"""The parts of guards, which stand in each other's places and so have to say which one they are."""

PAIRS: dict[tuple[str, str], tuple[str, str]] = {
    ("Flavor", "capacity"): ("resource", "amount"),
    ("Flavor", "nodes"): ("key", "value"),
    ("Flavor", "labels"): ("key", "value"),
    ("Usage", "weights"): ("resource", "weight"),
    ("Settings", "room_kept"): ("resource", "amount"),
    ("PassShare", "weights"): ("resource", "weight"),
    ("Passes", "start_cap"): ("resource", "part"),
    ("PriorityClass", "queue_limits"): ("resource", "part"),
}
"""The fields that hold pairs, or lists of such, by type and field, and what the two are called."""

REFERENCES: dict[tuple[str, str], str] = {
    ("Flavor", "topology"): "topologies",
    ("Slot", "flavor"): "flavors",
    ("Node", "parent"): "nodes",
    ("Node", "children"): "nodes",
    ("Queue", "node"): "nodes",
    ("Queue", "flavors"): "flavors",
    ("Group", "flavors"): "flavors",
    ("Check", "flavors"): "flavors",
    ("ProtectRule", "nodes"): "nodes",
    ("AdmissionRule", "nodes"): "nodes",
}
"""The fields that refer by index to things with names, by type and field, and what they index."""

INDEXED: dict[tuple[str, str], str] = {
    ("PolicyGraph", "topologies"): "Topology",
    ("PolicyGraph", "flavors"): "Flavor",
    ("PolicyGraph", "slots"): "Slot",
    ("PolicyGraph", "nodes"): "Node",
    ("PolicyGraph", "queues"): "Queue",
    ("Node", "quotas"): "Quota",
}
"""The lists that others refer to by index, by type and field, and what stands in them. The index of a quota is that of its slot."""

UNSAID = {("Const", "text")}
"""Fields that are left out: how the policy wrote a constant is no part of what it means."""


def policy_graph_json(graph: PolicyGraph) -> dict[str, Any]:
    """A whole policy, versioned."""
    return {"v": VERSION, "kind": KIND, **_GraphJson(graph).part(graph)}


class _GraphJson:
    """Turns parts of one graph into plain data."""

    def __init__(self, graph: PolicyGraph) -> None:
        self._graph = graph
        self._names = {
            "flavors": [flavor.name for flavor in graph.flavors],
            "nodes": [node.name for node in graph.nodes],
            "topologies": [topology.name for topology in graph.topologies],
        }

    def part(self, part: object) -> dict[str, Any]:
        """An object of a part's fields."""
        assert is_dataclass(part)
        said: dict[str, Any] = {"form": type(part).__name__} if isinstance(part, FORMS) else {}
        for field in fields(part):
            place = (type(part).__name__, field.name)
            if place in UNSAID:
                continue
            value = getattr(part, field.name)
            said[field.name] = self._value(place, value)
            if place in REFERENCES:
                said.update(self._named(field.name, value, self._names[REFERENCES[place]]))
        return said

    def _value(self, place: tuple[str, str], value: Any) -> Any:
        if place in PAIRS and value is not None:
            return self._pairs(*PAIRS[place], value)
        if place in INDEXED:
            return [{"index": index, **self._slot(INDEXED[place], index), **self.part(each)} for index, each in enumerate(value)]
        return self._plain(value)

    def _pairs(self, first: str, second: str, value: Any) -> Any:
        """Pairs as objects, also in lists of their own."""
        if value and isinstance(value[0], str):
            return {first: value[0], second: self._plain(value[1])}
        return [self._pairs(first, second, each) for each in value]

    def _slot(self, item: str, index: int) -> dict[str, str]:
        """The names of its slot, for a quota."""
        if item != "Quota":
            return {}
        slot = self._graph.slots[index]
        return {"flavor_name": self._names["flavors"][slot.flavor], "resource_name": slot.resource}

    @staticmethod
    def _named(field: str, value: int | Sequence[int] | None, names: list[str]) -> dict[str, Any]:
        """What an index, or several, lead to; null for none, such as above the root, and for a rule that is about all."""
        if isinstance(value, int):
            return {f"{field}_name": names[value] if value >= 0 else None}
        return {f"{field}_names": None if value is None else [names[index] for index in value]}

    def _plain(self, value: Any) -> Any:
        if is_dataclass(value):
            return self.part(value)
        if isinstance(value, tuple):
            return [self._plain(each) for each in value]
        if isinstance(value, Fraction):
            return str(value)
        return value.value if isinstance(value, Enum) else value
