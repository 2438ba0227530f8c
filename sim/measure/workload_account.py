"""The account of one live workload, from which the figures of its queue are counted."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...engine.elastic.pod_counts import is_elastic, least_of
from ...engine.event_parts import Assignment, Charge, Placement, PodSet, asked_by_one
from ...engine.facts import WorkloadSubmitted
from .gpu_amounts import thousandths


@dataclass(slots=True)
class WorkloadAccount:
    """A live workload. By pod set, `flavors` and `given` have its flavors and pods at admission, `done` the pods that have finished."""

    fact: WorkloadSubmitted
    queue: str
    since: int
    running: bool = False
    charges: tuple[Charge, ...] = ()
    flavors: dict[str, dict[str, str]] = field(default_factory=dict)
    given: dict[str, int] = field(default_factory=dict)
    done: dict[str, int] = field(default_factory=dict)
    evicting: bool = False
    _asks: list[tuple[int, tuple[str, ...]]] | None = field(default=None, compare=False, repr=False)

    def give(self, parts: Iterable[Assignment | Placement]) -> None:
        """Note what its pod sets are given."""
        self.flavors, self.given = {}, {}
        for part in parts:
            self.flavors[part.pod_set], self.given[part.pod_set] = part.flavors, part.count

    def gpus(self) -> int:
        """The GPUs it asks for, in thousandths."""
        return sum(gpus for gpus, _ in self.asks())

    def asks(self) -> list[tuple[int, tuple[str, ...]]]:
        """The GPUs that each pod set asks for, and the flavors that will do (none: any)."""
        if self._asks is None:
            left = ((pod_set, pod_set.count - self.done.get(pod_set.name, 0)) for pod_set in self.fact.pod_sets)
            self._asks = [(_gpus_of_one(pod_set) * count, pod_set.flavors) for pod_set, count in left]
        return self._asks

    def needs(self) -> list[tuple[int, tuple[str, ...]]]:
        """The GPUs without which it does not start, by pod set: of an elastic workload those of its minimum."""
        if not is_elastic(self.fact):
            return self.asks()
        left = ((pod_set, pod_set.count - self.done.get(pod_set.name, 0)) for pod_set in self.fact.pod_sets)
        return [(_gpus_of_one(pod_set) * least_of(pod_set, count), pod_set.flavors) for pod_set, count in left]

    def fits(self, room: dict[str, int]) -> bool:
        """Whether its pod sets fit into what is left of flavors, each into the first that will do."""
        left = dict(room)
        for gpus, flavors in self.needs():
            if gpus:
                flavor = next((each for each in left if left[each] >= gpus and (not flavors or each in flavors)), None)
                if flavor is None:
                    return False
                left[flavor] -= gpus
        return True

    def release(self, done: dict[str, int]) -> tuple[Charge, ...]:
        """What it is charged once these pods are done, in all; pods that it was not given are the first of them."""
        totals = {(charge.flavor, charge.resource): charge.amount for charge in self.charges}
        for pod_set in self.fact.pod_sets:
            name, given = pod_set.name, self.given.get(pod_set.name, 0)
            was = self.done.get(name, 0)
            fewer = min(given, pod_set.count - was) - min(given, pod_set.count - done.get(name, was))
            for resource, flavor in self.flavors.get(name, {}).items():
                if (flavor, resource) in totals:
                    totals[flavor, resource] -= fewer * asked_by_one(pod_set, resource)
        self.done, self._asks = self.done | done, None
        return tuple(Charge(flavor=flavor, resource=resource, amount=totals[flavor, resource]) for flavor, resource in sorted(totals))


def _gpus_of_one(pod_set: PodSet) -> int:
    """The GPUs that a pod asks for, in thousandths."""
    return sum(thousandths(*asked) for asked in pod_set.requests.items())
