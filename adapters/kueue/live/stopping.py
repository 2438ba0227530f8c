"""Who may still run though it was evicted, and who has to wait for that.

A decision evicts workloads and lets another one run, at once. On a cluster stopping takes time. The one for whom others had to go is let
run only after all of them were seen to have stopped. So is anybody else who would take a place that is not free yet: as long as workloads
stop, nobody is let run for whom there is no room beside them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ....engine.event_parts import Assignment, Charge, PodSet
from ....engine.nodes.domains import DomainPath

ChargedSlot = tuple[str | DomainPath, str, str]
"""What is charged: the root of a tree of queues, a flavor, a resource, all by name, as another policy may take over. Or what pods take
where they stand: a domain, the flavor by which they do, a resource."""


class HeldPlace(NamedTuple):
    """What a workload holds that may run, and its uid."""

    uid: str
    usage: Mapping[ChargedSlot, int]


@dataclass(slots=True)
class Places:
    """What each workload holds that may run, and who of them is to stop; by name."""

    _held: dict[str, HeldPlace] = field(default_factory=dict)
    _total: Counter[ChargedSlot] = field(default_factory=Counter)
    _stopping: dict[str, str | None] = field(default_factory=dict)

    def let_run(self, name: str, uid: str, usage: Mapping[ChargedSlot, int]) -> None:
        """Note that a workload may run from now on."""
        self._drop(name)
        self._held[name] = HeldPlace(uid, usage)
        self._total.update(usage)

    def to_stop(self, name: str, beneficiary: str | None) -> None:
        """Note that a workload which may run is to stop, and for whom (None: for nobody)."""
        self._stopping[name] = beneficiary

    def stopped(self, name: str) -> None:
        """Note that nothing of a workload runs any more."""
        self._drop(name)
        self._stopping.pop(name, None)

    def uid(self, name: str) -> str | None:
        """The uid of a workload that may run, as far as was noted; None of any other."""
        held = self._held.get(name)
        return held.uid if held is not None else None

    def is_stopping(self, name: str) -> bool:
        """Whether a workload was not seen to have stopped yet."""
        return name in self._stopping

    def waits_for(self, name: str, usage: Mapping[ChargedSlot, int], exists: Callable[[ChargedSlot], int]) -> list[str]:
        """Who has to stop before a workload is let run that asks for this; `exists` is how much there is of a slot.

        These are its victims, what is left of its own former life, or whoever is in the way.
        """
        own = [other for other, beneficiary in self._stopping.items() if name in (beneficiary, other)]
        return own or list(self._in_the_way(usage, exists))

    def _in_the_way(self, usage: Mapping[ChargedSlot, int], exists: Callable[[ChargedSlot], int]) -> Iterator[str]:
        """Those who stop, and hold a slot of which not enough is free."""
        if not self._stopping:
            return
        short = [slot for slot, amount in usage.items() if self._total[slot] + amount > exists(slot)]
        for other in self._stopping:
            held = self._held.get(other)
            if held is not None and any(slot in held.usage for slot in short):
                yield other

    def _drop(self, name: str) -> None:
        held = self._held.pop(name, None)
        if held is not None:
            self._total.subtract(held.usage)


def usage_of(charges: tuple[Charge, ...], root: str) -> dict[ChargedSlot, int]:
    """What a decision charges, by slot."""
    return {(root, charge.flavor, charge.resource): charge.amount for charge in charges}


def usage_at_places(assignments: Iterable[Assignment], pod_sets: Iterable[PodSet]) -> dict[ChargedSlot, int]:
    """What pods take where they stand, of those that have places."""
    asked = {pods.name: pods.requests for pods in pod_sets}
    taken: Counter[ChargedSlot] = Counter()
    for given in assignments:
        flavor = min(given.flavors.values(), default="")  # pods with places have all from one flavor
        for place in given.places:
            for resource, each in asked.get(given.pod_set, {}).items():
                taken[place.domain, flavor, resource] += each * place.pods
    return dict(taken)
