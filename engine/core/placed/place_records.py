"""What kernels wrote of a search for places, as data: the places that pods get, or why there are none (`kernels/placement/judged.py`)."""

from collections.abc import Sequence

from ...event_parts import KeptOffCause, PlacedPods
from ...outcome.nomination import FlavorAssignment, Grade, LayerRoom, Mode, NoPlaces
from ...outcome.regrade import regrade
from .. import columns as c
from .place_parts import PlaceParts
from .place_tables import PlaceTables, causes_of


class PlaceRecords:
    """Reads the records of searches for places under a policy."""

    def __init__(self, places: PlaceTables, parts: PlaceParts) -> None:
        self.places, self.parts, self.causes = places, parts, causes_of(places)

    def read(self, found: FlavorAssignment, pod_sets: Sequence[str], tape: Sequence[int], at: int) -> None:
        """Complete an assignment by the record that begins at a place: why there are no places now, why there never are, the places."""
        now, at = self._failure(pod_sets, tape, at)
        never, at = self._failure(pod_sets, tape, at)
        placed = self._placed(found)
        if now is not None:
            found.unplaced = now
            regrade(found, now.pod_sets, Grade.PREEMPT, now)
        if never is not None:
            found.unplaced_if_empty = never
            regrade(found, never.pod_sets, Grade.NO_MATCH, never)
        elif placed and (now is not None or found.mode is not Mode.FIT) and found.mode is not Mode.NO_FIT:
            regrade(found, placed, Grade.PREEMPT, None)
        places: dict[str, list[PlacedPods]] = {}
        for k in range(tape[at]):
            pod_set, leaf, pods = tape[at + 1 + 3 * k : at + 4 + 3 * k]
            places.setdefault(pod_sets[pod_set], []).append(PlacedPods(domain=self.places.places[leaf][1], pods=pods))
        for each in found.pod_sets:
            each.places = tuple(places.get(each.name, ()))

    def _placed(self, found: FlavorAssignment) -> tuple[str, ...]:
        """The pod sets that need places."""
        return tuple(
            pods.name
            for pods in found.pod_sets
            if pods.count > 0 and any(self.places.trees[chosen.flavor] is not None for chosen in pods.flavors.values())
        )

    def _failure(self, pod_sets: Sequence[str], tape: Sequence[int], at: int) -> tuple[NoPlaces | None, int]:
        """Why there are no places, and where the record goes on."""
        if tape[at] == 0:
            return None, at + 1
        kind, first, second, flavor, pods, level, said = tape[at : at + 7]
        names = tuple(pod_sets[each] for each in sorted({first, second} - {c.NONE}))
        tree, at = self.places.trees[flavor], at + 7
        assert tree is not None
        if kind > 2:
            return self.parts.refusals[kind - 3].about(names, flavor), at
        if kind == 2:
            return NoPlaces("no-domains", names, flavor, tree.topology.levels[level].name), at
        required, fit, size, closest, closest_fit, count = tape[at : at + 6]
        layers, at = [tape[at + 6 + 3 * k : at + 9 + 3 * k] for k in range(count)], at + 6 + 3 * count
        nodes, causes, at = tape[at], tape[at + 1], at + 2
        kept_off = [(*self._cause(tape[at + 2 * k]), tape[at + 2 * k + 1]) for k in range(causes)]
        named = tree.topology.levels[level].name if said else ""
        found = NoPlaces(
            "uneven-slices" if pods % size else "no-room",
            names,
            flavor,
            level=named if required else "",
            asked=named,
            fit=fit,
            of=pods // size,
            size=size,
            layers=tuple(LayerRoom(tree.topology.levels[level].name, fit, pods // size) for level, size, fit in layers),
            nodes=nodes,
            kept_off=tuple(sorted(kept_off)),
            closest=tree.place(closest) if closest in tree.lowest else tree.domains[closest].path,
            closest_fit=closest_fit,
            left_over=pods % size,
        )
        return found, at + 2 * causes

    def _cause(self, code: int) -> tuple[KeptOffCause, str]:
        """What keeps pods off a node."""
        if code < len(self.causes):
            return self.causes[code].cause, self.causes[code].detail
        return "resource", self.places.resources[code - len(self.causes)]
