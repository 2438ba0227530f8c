"""Whether pods fit where they stand: counted from the objects of a case and an answer's places alone, beside what gpol counts itself."""

from collections.abc import Iterator, Mapping
from typing import Any

from gpol.adapters.kueue.read.quantity import amount, parse

Case = Mapping[str, Any]
HOSTNAME = "kubernetes.io/hostname"

Place = tuple[str, ...]
"""A node by its name; any wider domain by its levels and their values, whatever the flavor of the pods there."""


class NodeRoom:
    """What there is at the places of a case's cluster, whose nodes do not change."""

    def __init__(self, case: Case) -> None:
        levels = {
            topology["metadata"]["name"]: [each["nodeLabel"] for each in topology["spec"]["levels"]] for topology in case["topologies"]
        }
        self.levels = {
            flavor["metadata"]["name"]: levels[flavor["spec"]["topologyName"]]
            for flavor in case["flavors"]
            if flavor["spec"].get("topologyName")
        }
        self.room: dict[Place, dict[str, int]] = {}
        self._there: set[tuple[Place, str]] = set()
        for flavor in case["flavors"]:
            if flavor["metadata"]["name"] in self.levels:
                for place, node in self._places(flavor, case["nodes"]):
                    self._add(place, {resource: amount(parse(said), resource) for resource, said in node["status"]["allocatable"].items()})

    def _places(self, flavor: Case, nodes: list[Case]) -> Iterator[tuple[Place, Case]]:
        """The nodes of a flavor, each with its place; a node that another flavor of nodes has as well counts once."""
        name = flavor["metadata"]["name"]
        for node in nodes:
            labels = node["metadata"]["labels"]
            of_flavor = all(labels.get(key) == value for key, value in (flavor["spec"].get("nodeLabels") or {}).items())
            if not of_flavor or not _takes_pods(node) or any(level not in labels for level in self.levels[name]):
                continue
            place = self._place(name, [labels[level] for level in self.levels[name]])
            key = (place, node["metadata"]["name"])
            if key not in self._there:
                self._there.add(key)
                yield place, node

    def _place(self, flavor: str, values: list[str]) -> Place:
        levels = self.levels[flavor]
        return (values[-1],) if levels[-1] == HOSTNAME else (*levels, *values)

    def _add(self, place: Place, amounts: Mapping[str, int]) -> None:
        there = self.room.setdefault(place, {})
        for resource, each in amounts.items():
            there[resource] = there.get(resource, 0) + each

    def overfilled(self, workloads: Mapping[str, Case], step: Case) -> list[str]:
        """Each place at which more is used than there is, after a step of an answer; `workloads` are all of the case by name."""
        used: dict[Place, dict[str, int]] = {}
        for name, placed in step["topology"].items():
            flavors = step["admitted"][name]
            for pod_set in workloads[name]["spec"]["podSets"]:
                [flavor] = {flavors[key] for key in flavors if key.split("/")[0] == pod_set["name"]}
                asked = _asked(pod_set)
                for values, pods in placed[pod_set["name"]]["domains"] if pod_set["name"] in placed else ():
                    of_place = used.setdefault(self._place(flavor, values), {})
                    for resource, each in asked.items():
                        of_place[resource] = of_place.get(resource, 0) + each * pods
        return [
            f"{'/'.join(place)} has {self.room.get(place, {}).get(resource, 0)} {resource}, and {used[place][resource]} are used"
            for place in sorted(used)
            for resource in sorted(used[place])
            if used[place][resource] > self.room.get(place, {}).get(resource, 0)
        ]


def _takes_pods(node: Case) -> bool:
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"]["conditions"])
    return ready and not node["spec"].get("unschedulable")


def _asked(pod_set: Case) -> dict[str, int]:
    """What one pod of a pod set asks for, itself among it."""
    [container] = pod_set["template"]["spec"]["containers"]
    requests = (container.get("resources") or {}).get("requests") or {}
    return {"pods": 1, **{resource: amount(parse(said), resource) for resource, said in requests.items()}}
