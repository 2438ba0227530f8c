"""A cluster of a table that every line is asked of by Kueue's names and in Kueue's amounts; and the objects that fill it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpol.adapters.kueue.read.objects import Configuration
from gpol.adapters.kueue.read.quantity import amount, kueue_amount, parse
from gpol.engine.facts import Fact, WorkloadSubmitted
from gpol.engine.outcome.nomination import Request
from gpol.engine.units import MILLI_RESOURCES
from gpol.engine.workload import Workload

from .world import World

Json = dict[str, Any]
Amounts = Mapping[str, int]
"""Amounts by `flavor|resource`, as Kueue counts them: cpu in thousandths, all else in whole units."""

Group = Mapping[str, Mapping[str, tuple[str, ...]]]
"""A resource group: by flavor and resource what is owned and, where there is a limit, how much is borrowed."""


class TableCluster(World):
    """Objects of a table, played: running workloads hold what they hold, others wait.

    `into` names the ClusterQueues of workloads that wait and come by no LocalQueue, by `namespace/name`.
    """

    def __init__(
        self, objects: Mapping[str, Sequence[Any]], configuration: Configuration | None = None, into: Mapping[str, str] | None = None
    ) -> None:
        fair = configuration is not None and configuration.fair
        super().__init__(_with_flavors(objects), fair, configuration)
        self.play([self._directed(fact, into or {}) for fact in self.imported.facts])

    def _directed(self, fact: Fact, into: Mapping[str, str]) -> Fact:
        if not isinstance(fact, WorkloadSubmitted) or fact.workload not in into:
            return fact
        return fact.model_copy(update={"queue": self.imported.names.queue(into[fact.workload]), "local_queue": None})

    def queue(self, cluster_queue: str) -> int:
        """The node of a ClusterQueue."""
        return self.nodes[self.imported.names.queue(cluster_queue)]

    def cohort(self, cohort: str) -> int:
        """The node of a Cohort."""
        return self.nodes[self.imported.names.cohort(cohort)]

    def slot(self, key: str) -> int:
        """The slot of `flavor|resource`."""
        flavor, resource = _pair(key)
        return self.slots[flavor, resource]

    def workload(self, name: str) -> Workload:
        """A workload by `namespace/name`."""
        found = self.core.view.workload(name)
        assert found is not None, name
        return found

    def request(self, amounts: Amounts) -> Request:
        """Amounts above 0 as a request, in gpol's smallest units."""
        smallest = self.smallest(amounts)
        return tuple((slot, smallest[slot]) for slot in sorted(smallest) if smallest[slot] > 0)

    def smallest(self, amounts: Amounts) -> dict[int, int]:
        """Amounts by slot, in gpol's smallest units."""
        return {self.slot(key): amount * _times(key) for key, amount in amounts.items()}

    def amounts(self, smallest: Mapping[int, int]) -> dict[str, int]:
        """Amounts as Kueue counts them, by `flavor|resource`."""
        found = {}
        for slot in sorted(smallest):
            flavor, resource = self.graph.flavors[self.graph.slots[slot].flavor].name, self.graph.slots[slot].resource
            found[f"{flavor}|{resource}"] = kueue_amount(smallest[slot], resource)
        return found


def _pair(key: str) -> tuple[str, str]:
    """Flavor and resource of `flavor|resource`."""
    flavor, _, resource = key.partition("|")
    return flavor, resource


def _times(key: str) -> int:
    """How many of gpol's smallest units are one of Kueue's: cpu is in thousandths in both."""
    _, resource = _pair(key)
    return 1000 if resource in MILLI_RESOURCES and resource != "cpu" else 1


def _with_flavors(objects: Mapping[str, Sequence[Any]]) -> Mapping[str, Sequence[Any]]:
    """The objects with a ResourceFlavor for each that is named, where a table lists none."""
    if objects.get("flavors"):
        return objects
    groups = [group for key in ("clusterQueues", "cohorts") for owner in objects.get(key, ()) for group in groups_of(owner)]
    names = sorted({flavor["name"] for group in groups for flavor in group["flavors"]})
    return {**objects, "flavors": [{"metadata": {"name": name}, "spec": {}} for name in names]}


def groups_of(owner: Json) -> list[Any]:
    """The resource groups of a ClusterQueue or Cohort."""
    return owner["spec"].get("resourceGroups") or []


def running(name: str, cluster_queue: str, amounts: Amounts, namespace: str = "ns") -> Json:
    """A workload that holds these amounts of a ClusterQueue: a pod set of one pod for each flavor and resource."""
    parts = [(f"p{number}", *_pair(key), amounts[key]) for number, key in enumerate(sorted(amounts))]
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"podSets": [pod_set(part, 1) for part, _, _, _ in parts]},
        "status": {
            "admission": {
                "clusterQueue": cluster_queue,
                "podSetAssignments": [
                    {"name": part, "count": 1, "flavors": {resource: flavor}, "resourceUsage": {resource: quantity(amount, resource)}}
                    for part, flavor, resource, amount in parts
                ],
            },
            "conditions": [{"type": "QuotaReserved", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"}],
        },
    }


def waiting(name: str, namespace: str = "ns", requests: Mapping[str, str] | None = None) -> Json:
    """A workload of one pod that waits."""
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"podSets": [pod_set("main", 1, requests)]}}


def pod_set(name: str, count: int, requests: Mapping[str, str] | None = None) -> Json:
    """A pod set; without `requests` its pods ask for nothing."""
    return {"name": name, "count": count, "template": {"spec": {"containers": [{"resources": {"requests": dict(requests or {})}}]}}}


def quantity(amount: int, resource: str) -> str:
    """An amount as Kueue counts it, as a quantity."""
    return f"{amount}m" if resource == "cpu" else str(amount)


def cluster_queue(name: str, cohort: str, groups: Iterable[Group]) -> Json:
    """A ClusterQueue: for each group of flavors, by flavor and resource, what it owns and how much it may borrow."""
    return {
        "metadata": {"name": name},
        "spec": {
            "cohortName": cohort,
            "namespaceSelector": {},
            "resourceGroups": [
                {
                    "coveredResources": list(next(iter(group.values()))),
                    "flavors": [
                        {"name": flavor, "resources": [_quota(resource, *limits) for resource, limits in quotas.items()]}
                        for flavor, quotas in group.items()
                    ],
                }
                for group in groups
            ],
        },
    }


def _quota(resource: str, nominal: str, borrowing: str | None = None) -> Json:
    return {"name": resource, "nominalQuota": nominal, **({} if borrowing is None else {"borrowingLimit": borrowing})}


def quantities(pods: Json) -> dict[str, int]:
    """What the pods of a pod set of a table ask for together, as Kueue counts it; of containers alone, which is all that they have."""
    found: dict[str, int] = {}
    for container in pods["template"]["spec"]["containers"]:
        for resource, asked in (container["resources"].get("requests") or {}).items():
            found[resource] = found.get(resource, 0) + kueue_amount(amount(parse(asked), resource), resource) * pods["count"]
    return found
