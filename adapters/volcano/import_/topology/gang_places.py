"""Where the pods of PodGroups are to stand, by their `networkTopology`, and where those that run do stand, by their pods.

A hard topology names the highest tier whose HyperNodes may hold the gang; a soft one only prefers the lowest. A hard one that names no tier
of the cluster restricts nothing, in Volcano as here.
Source: Volcano, pkg/scheduler/framework/session.go (adjustNetworkTopologySpec), pkg/scheduler/api/job_info.go (IsHardTopologyMode).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from .....engine.event_parts import PlacedPods, PodSet, Slice
from ....kueue.problems import Findings
from ...read.topology.network_objects import NetworkTopology, StandingPod, SubGroup
from ...read.volcano_objects import PodGroup
from .tiers import Tier, Tiers

_SUB_GROUPS = "is left out: the gang counts as a whole"
_NO_TIER = "says no tier: as in Volcano, the pods stand as near one another as they can"
_NO_NAME = "is the name of no tier: as in Volcano, the pods stand as near one another as they can"
_WHOLE_CLUSTER = "is above all tiers: the pods stand as near one another as they can"
_FEW_PODS = "has fewer pods on nodes than minMember: those that are missing take no room"
_OTHER_SIZES = "has pods that ask for other amounts than minResources has for each of minMember: each counts as one of these"
_NO_PODS = "give what `kubectl get pods -A -o yaml` writes as well, or leave the PodGroup out"


@dataclass(frozen=True, slots=True)
class WishedPlaces:
    """What a gang asks for of its places, as its pod sets say it."""

    within: str = ""
    near: str = ""
    slices: tuple[Slice, ...] = ()


@dataclass(slots=True)
class GangPlaces:
    """Places of gangs; `charged` are the pods that count as those of a gang that runs, by name. Findings have begun with the PodGroup."""

    tiers: Tiers
    pods: Mapping[str, Sequence[StandingPod]]
    found: Findings
    charged: set[str] = field(default_factory=set)

    # --- to be ----------------------------------------------------------------------------------------------------------

    def wished(self, group: PodGroup) -> WishedPlaces:
        """What a PodGroup asks for."""
        tier = self._hard_tier(group.topology)
        slices = self._slices(group, tier)
        if tier is not None:
            return WishedPlaces(within=tier.level, slices=slices)
        return WishedPlaces(near="" if group.topology is None or slices else self.tiers.lowest.level, slices=slices)

    def _hard_tier(self, said: NetworkTopology | None) -> Tier | None:
        """The tier in one HyperNode of which the pods have to stand; None where they need not."""
        if said is None or said.soft:
            return None
        if said.tier is not None:
            return self._numbered(said, said.tier)
        if not said.tier_name:
            self.found.note(said.place, _NO_TIER)
            return None
        numbers = self.tiers.named.get(said.tier_name, ())
        if not numbers:
            self.found.note(f"{said.place}.highestTierName", _NO_NAME)
            return None
        if len(numbers) > 1:
            cause = f"is `{said.tier_name}`, and HyperNodes of the tiers {' and '.join(map(str, numbers))} have this tierName"
            self.found.problem(f"{said.place}.highestTierName", cause, "give each tier a name of its own, or say highestTierAllowed")
        return self.tiers.widest_up_to(numbers[0])

    def _numbered(self, said: NetworkTopology, number: int) -> Tier | None:
        tier = self.tiers.widest_up_to(number)
        if number > self.tiers.tiers[0].number:
            self.found.note(f"{said.place}.highestTierAllowed", _WHOLE_CLUSTER)
            return None
        if tier is None:
            cause = f"is {number}, and no HyperNode is of so low a tier: the PodGroup would never start"
            self.found.problem(f"{said.place}.highestTierAllowed", cause, f"write {self.tiers.lowest.number} or more")
        return tier

    def _slices(self, group: PodGroup, tier: Tier | None) -> tuple[Slice, ...]:
        """Sub-groups that each have to stand in one HyperNode; those that ask for no places count for nothing, which is noted."""
        asking = [part for part in group.sub_groups if part.topology is not None]
        if group.sub_groups and not asking:
            self.found.note("spec.subGroupPolicy", _SUB_GROUPS)
        if not asking:
            return ()
        part = asking[0]
        assert part.topology is not None
        if part.topology.soft or len(group.sub_groups) > 1 or part.size * part.least != group.min_member:
            self._refuse(part)
            return ()
        inner = self._hard_tier(part.topology)
        if inner is None or (tier is not None and inner.number >= tier.number):
            return ()  # it restricts nothing, or no more than the whole
        return (Slice(level=inner.level, size=part.size),)

    def _refuse(self, part: SubGroup) -> None:
        cause = "says where groups of its pods stand, and nothing says of the other pods of the gang which they are"
        remedy = "let it be hard, the only one, and minSubGroups x subGroupSize be minMember; or say networkTopology for the whole PodGroup"
        self.found.problem(f"{part.place}.networkTopology", cause, remedy)

    # --- as they are ----------------------------------------------------------------------------------------------------

    def standing(self, group: PodGroup, pod_sets: Sequence[PodSet]) -> Mapping[str, tuple[PlacedPods, ...]]:
        """Where the pods of a gang that runs stand, by pod set."""
        mine = sorted(self.pods.get(group.key, ()), key=lambda pod: (pod.node, pod.name))
        if not mine:
            cause = "runs, and none of its pods is in the dump: nothing says on which nodes they stand"
            self.found.problem("status.phase", cause, _NO_PODS)
            return {}
        counted, places = iter(mine[: group.min_member]), {}
        if len(mine) < group.min_member:
            self.found.note("status.phase", _FEW_PODS)
        for pod_set in pod_sets:
            taken = list(islice(counted, pod_set.count))
            places[pod_set.name] = tuple(_by_node(taken))
            if any(_differ(pod.requests, pod_set.requests) for pod in taken):
                self.found.note("spec.minResources", _OTHER_SIZES)
        self.charged.update(pod.name for pod in mine[: group.min_member])
        return places


def pods_by_group(pods: Iterable[StandingPod]) -> dict[str, list[StandingPod]]:
    """The pods of each PodGroup, by its name with namespace."""
    made: dict[str, list[StandingPod]] = {}
    for pod in pods:
        made.setdefault(pod.group, []).append(pod)
    return made


def _by_node(pods: Iterable[StandingPod]) -> Iterator[PlacedPods]:
    counts: dict[str, int] = {}
    for pod in pods:
        counts[pod.node] = counts.get(pod.node, 0) + 1
    for node, count in counts.items():
        yield PlacedPods(domain=(node,), pods=count)


def _differ(asked: Mapping[str, int], counted: Mapping[str, int]) -> bool:
    return any(asked.get(resource, 0) != counted.get(resource, 0) for resource in sorted({*asked, *counted}))
