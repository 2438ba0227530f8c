"""A workload that is not over, as the figures see it."""

from dataclasses import dataclass, field

from ..engine.events import Charge, WorkloadSubmitted
from ..engine.reference.workload import asked_by_one
from .gpus import thousandths


@dataclass(slots=True)
class Live:
    """A workload that is not over."""

    fact: WorkloadSubmitted
    queue: str
    since: int
    running: bool = False
    charges: tuple[Charge, ...] = ()
    flavors: dict[str, dict[str, str]] = field(default_factory=dict)
    done: dict[str, int] = field(default_factory=dict)
    evicting: bool = False

    def gpus(self) -> int:
        """The GPUs it asks for, in thousandths."""
        return sum(gpus for gpus, _ in self.asks())

    def asks(self) -> list[tuple[int, tuple[str, ...]]]:
        """The GPUs that each pod set asks for, and the flavors that will do (none: any)."""
        left = ((pod_set, pod_set.count - self.done.get(pod_set.name, 0)) for pod_set in self.fact.pod_sets)
        return [(sum(thousandths(*asked) for asked in pod_set.requests.items()) * count, pod_set.flavors) for pod_set, count in left]

    def fits(self, room: dict[str, int]) -> bool:
        """Whether its pod sets fit into what is left of flavors, each into the first that will do."""
        left = dict(room)
        for gpus, flavors in self.asks():
            if gpus:
                flavor = next((each for each in left if left[each] >= gpus and (not flavors or each in flavors)), None)
                if flavor is None:
                    return False
                left[flavor] -= gpus
        return True

    def recount(self) -> tuple[Charge, ...]:
        """What it is charged, from its pods that are not done."""
        totals: dict[tuple[str, str], int] = {}
        for pod_set in self.fact.pod_sets:
            left = pod_set.count - self.done.get(pod_set.name, 0)
            for resource, flavor in self.flavors.get(pod_set.name, {}).items():
                totals[flavor, resource] = totals.get((flavor, resource), 0) + left * asked_by_one(pod_set, resource)
        return tuple(
            Charge(flavor=flavor, resource=resource, amount=amount) for (flavor, resource), amount in sorted(totals.items()) if amount
        )
