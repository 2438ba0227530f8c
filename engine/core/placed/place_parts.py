"""What workloads ask for of places, as numbers: the last part of a demand (`demands.py`)."""

from collections.abc import Sequence

from ...eligibility import Tolerance
from ...event_parts import PodSet
from ...nodes.kept_off import kept_off
from ...nodes.wishes import each_pod, wish_of
from ...outcome.nomination import NoPlaces
from ...policy_graph import PolicyGraph
from .. import columns as c
from ..tables import BeyondBoundsError
from .place_tables import PlaceTables, causes_of


class PlaceParts:
    """Writes what pod sets ask for of places. `refusals` are the wishes that cannot be, by their numbers."""

    def __init__(self, graph: PolicyGraph, places: PlaceTables) -> None:
        self.graph, self.places, self.causes = graph, places, causes_of(places)
        self.refusals: list[NoPlaces] = []
        self._alike: dict[tuple[int, ...], int] = {}

    def of(self, pod_sets: Sequence[PodSet]) -> list[int]:
        """The parts of pod sets, one after the other; nothing where no flavor gives places. Raises BeyondBoundsError."""
        if any(each.asks_for_places and not self._asks_for_something(each) for each in pod_sets):
            raise BeyondBoundsError("pods that ask for nothing ask for places")
        if not self.graph.gives_places:
            return []
        return [number for pod_set in pod_sets for number in self._part(pod_set)]

    def _asks_for_something(self, pod_set: PodSet) -> bool:
        return any(pod_set.requests[resource] > 0 and resource not in self.graph.ignored for resource in sorted(pod_set.requests))

    def _part(self, pod_set: PodSet) -> list[int]:
        each = each_pod(pod_set)
        unknown = [resource for resource in sorted(each) if resource not in self.places.resources]
        if unknown:
            raise BeyondBoundsError(f"{unknown[0]} is not counted at places as yet")
        if len(pod_set.slices) > c.MOST_LAYERS:
            raise BeyondBoundsError("slices have too many layers")
        part = [int(bool(pod_set.requests)), *(each.get(resource, 0) for resource in self.places.resources)]
        flavors = range(len(self.graph.flavors))
        wishes, codes = [self._wish(pod_set, flavor) for flavor in flavors], [self._codes(pod_set, flavor) for flavor in flavors]
        for flavor in flavors:
            counted = (wishes[flavor][c.I_SLICE_LEVEL], wishes[flavor][c.I_SLICE_SIZE], *wishes[flavor][c.I_INNER :], *codes[flavor])
            wishes[flavor][c.I_ALIKE] = self._alike.setdefault((flavor, *part[c.A_AMOUNTS :], *counted), len(self._alike))
        return [*part, *(number for wish in wishes for number in wish), *(code for of_flavor in codes for code in of_flavor)]

    def _wish(self, pod_set: PodSet, flavor: int) -> list[int]:
        """What a pod set wishes on a flavor."""
        row, tree = [0] * c.WISH_PART_WIDTH, self.places.trees[flavor]
        if tree is None:
            return row
        wish = wish_of(tree, pod_set, pod_set.count, None, self.graph.settings.places_pods != "counted")
        if isinstance(wish, NoPlaces):
            if wish not in self.refusals:
                self.refusals.append(wish)
            row[c.I_REFUSED] = 1 + self.refusals.index(wish)
            return row
        row[c.I_LEVEL], row[c.I_SLICE_LEVEL], row[c.I_SLICE_SIZE] = wish.level, wish.slice_level, wish.slice_size
        row[c.I_REQUIRED], row[c.I_SAID], row[c.I_LOOSE] = wish.required, bool(pod_set.within or pod_set.near), wish.loose
        row[c.I_LAYERS] = len(pod_set.slices) if len(pod_set.slices) > 1 else 0
        for layer, part in enumerate(pod_set.slices):
            level = tree.topology.level(part.level)
            assert level is not None
            row[c.I_LAYERS + 1 + 2 * layer], row[c.I_LAYERS + 2 + 2 * layer] = level, part.size
        for level in range(c.MOST_LEVELS + 1):
            row[c.I_INNER + level] = wish.inner.get(level, 1)
        return row

    def _codes(self, pod_set: PodSet, flavor: int) -> list[int]:
        """What keeps pods of a pod set off each kind of node under a flavor."""
        tolerances: list[Tolerance] = [*pod_set.tolerations, *self.graph.flavors[flavor].tolerations]
        found = [kept_off(kind, pod_set, tolerances) for kind in self.places.kinds]
        return [0 if each is None else 1 + self.causes.index(each) for each in found]
