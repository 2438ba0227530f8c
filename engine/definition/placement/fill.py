"""Which domains pods fill: the domain of all of them, then down level by level with as few domains as will do.

Kueue: pkg/cache/scheduler/tas_flavor_snapshot.go, findLevelWithFitDomains and updateCountsToMinimumGeneric. Where it is said how near pods
have to stand, the domain that is filled best is taken (best fit), and of several that are needed the largest first; where nothing is said,
the one in which least is free (least free).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...nodes.domains import DomainTree
from ...nodes.wishes import Wish
from .room import Room

Filled = list[tuple[int, int, int]]
"""Domains, each with the workers and the leaders that stand there."""


@dataclass(frozen=True, slots=True)
class TooLittleRoom:
    """There is no room for all: `fit` of the slices (or pods) have some, 0 also where that is not known. The search ended at `level`."""

    fit: int
    level: int


class Filler:
    """Fills domains for one wish; `rooms` are by number of the domain."""

    def __init__(self, tree: DomainTree, wish: Wish, rooms: Sequence[Room]) -> None:
        self.tree, self.wish, self.rooms = tree, wish, list(rooms)

    def fill(self) -> Filled | TooLittleRoom:
        """The lowest domains in which all stand, in order."""
        found = self._first_domains(self.wish.level)
        if isinstance(found, TooLittleRoom):
            return found
        level, domains = found
        filled = self._shared_out(domains, self.wish.pods, self.wish.leaders, self.wish.slice_size, in_slices=True)
        while level < len(self.tree.levels) - 1:
            filled = self._down(filled) if level < self.wish.slice_level else self._within_each(filled, level + 1)
            level += 1
        if sum(pods for _, pods, _ in filled) != self.wish.pods or sum(leaders for *_, leaders in filled) != self.wish.leaders:
            return TooLittleRoom(0, self.wish.level)  # as rooms are sums, a leader may find none below, though each sum had room for it
        return sorted(filled)

    # --- the domains to begin with --------------------------------------------------------------------------------------

    def _first_domains(self, level: int) -> tuple[int, list[int]] | TooLittleRoom:
        """The domain of a level, or of the first one above it, that has room for all; or several of the widest, or of this one if loose."""
        wish, rooms = self.wish, self.rooms
        in_order = self._with_leader_first(self.tree.levels[level])
        if wish.loose:
            for domain in in_order:
                room = rooms[domain]
                if room.leaders >= wish.leaders and (room.slices_led if wish.leaders else room.slices) >= wish.slices:
                    return level, [domain]
        first = rooms[in_order[0]]
        if first.slices_led >= wish.slices and first.leaders >= wish.leaders:
            return level, [in_order[0] if wish.loose else self._best_fit(in_order, wish.slices, wish.leaders, in_slices=True)]
        if wish.required:
            return TooLittleRoom(first.slices, level)
        if level > 0 and not wish.loose:
            return self._first_domains(level - 1)
        several = self._several(in_order, level)
        return several if isinstance(several, TooLittleRoom) else (level, several)

    def _several(self, in_order: list[int], level: int) -> list[int] | TooLittleRoom:
        """Domains that have room for all together: first one for the leader, then others."""
        wish, rooms = self.wish, self.rooms
        left, leaders = wish.slices, wish.leaders
        order = self._leader_spared(in_order, wish.pods, wish.leaders, wish.slice_size, in_slices=True)
        found: list[int] = []
        at = 0
        while leaders > 0 and at < len(order) and rooms[order[at]].leaders > 0:
            domain = order[at]
            if not wish.loose and rooms[domain].slices_led >= left:
                domain = self._best_fit(order[at:], left, leaders, in_slices=True)
            found.append(domain)
            leaders -= rooms[domain].leaders
            left -= rooms[domain].slices_led
            at += 1
        if leaders > 0:
            return TooLittleRoom(wish.leaders - leaders, level)
        rest = self._by_room(order[at:])
        for at, domain in enumerate(rest):
            if left <= 0:
                break
            if not wish.loose and rooms[domain].slices >= left:
                domain = self._best_fit(rest[at:], left, 0, in_slices=True)
            found.append(domain)
            left -= rooms[domain].slices
        return TooLittleRoom(wish.slices - left, level) if left > 0 else found

    # --- down the levels ------------------------------------------------------------------------------------------------

    def _down(self, filled: Filled) -> Filled:
        """One level down, above the level of the slices: all of them over all the domains below, whatever each domain above was given."""
        below = [child for domain, *_ in filled for child in self.tree.domains[domain].children]
        return self._shared_out(self._by_room(below), self.wish.pods, self.wish.leaders, self.wish.slice_size, in_slices=True)

    def _within_each(self, filled: Filled, level: int) -> Filled:
        """One level down, at the level of the slices or below: what each domain was given over the domains in it."""
        part = self.wish.inner.get(level, 1)
        found: Filled = []
        for domain, pods, leaders in filled:
            children = self._by_room(self.tree.domains[domain].children)
            if part > 1:
                for child in children:
                    room = self.rooms[child]
                    self.rooms[child] = replace(room, slices=room.pods // part, slices_led=room.pods_led // part)
            found += self._shared_out(children, pods, leaders, part, in_slices=part > 1)
        return found

    def _shared_out(self, domains: Sequence[int], pods: int, leaders: int, size: int, in_slices: bool) -> Filled:
        """Pods (in slices of a size, or one by one) and leaders over domains in their order; the last of them is filled best.

        Nothing where they do not suffice.
        """
        order = self._leader_spared(domains, pods, leaders, size, in_slices)
        left = pods // size if in_slices else pods
        each = size if in_slices else 1
        found: Filled = []
        for at, domain in enumerate(order):
            room, led = self._fits(domain, in_slices, led=leaders > 0), leaders > 0
            if not self.wish.loose and room >= left and (not led or self.rooms[domain].leaders >= leaders):
                domain = self._best_fit(order[at:], left, leaders, in_slices)
                room = self._fits(domain, in_slices, led)
            if room >= left and (not led or self.rooms[domain].leaders >= leaders):
                return [*found, (domain, left * each, leaders)]
            given, leads = min(room, left), min(self.rooms[domain].leaders, leaders)
            found.append((domain, given * each, leads))
            left -= given
            leaders -= leads
        return []

    # --- orders -----------------------------------------------------------------------------------------------------------

    def _fits(self, domain: int, in_slices: bool, led: bool) -> int:
        """How many slices or pods fit into a domain, with the leader there or without."""
        room = self.rooms[domain]
        if in_slices:
            return room.slices_led if led else room.slices
        return room.pods_led if led else room.pods

    def _best_fit(self, domains: Sequence[int], needed: int, leaders: int, in_slices: bool) -> int:
        """The domain with room for all that is needed and for the leaders in which least is left then, the first of several."""
        able = [domain for domain in domains if self.rooms[domain].leaders >= leaders]
        enough = [domain for domain in able if self._fits(domain, in_slices, leaders > 0) >= needed]
        return min(enough, key=lambda domain: self._fits(domain, in_slices, leaders > 0), default=domains[0])

    def _by_room(self, domains: Sequence[int]) -> list[int]:
        """Domains by the slices that fit, most first (where loose: fewest first), then those with the fewest pods, then by path."""
        sign = 1 if self.wish.loose else -1
        return sorted(domains, key=lambda domain: (sign * self.rooms[domain].slices, self.rooms[domain].pods, domain))

    def _with_leader_first(self, domains: Sequence[int]) -> list[int]:
        """The same order by what fits beside the leader, those first into which the leader fits."""
        sign, rooms = 1 if self.wish.loose else -1, self.rooms
        return sorted(domains, key=lambda domain: (-rooms[domain].leaders, sign * rooms[domain].slices_led, rooms[domain].pods_led, domain))

    def _leader_spared(self, domains: Sequence[int], pods: int, leaders: int, size: int, in_slices: bool) -> list[int]:
        """The same domains, with the first one in front in which the leader takes no more from the workers than there is to spare."""
        order = list(domains)
        if leaders == 0 or len(order) < 2:
            return order
        needed = pods // size if in_slices else pods
        there = sum(self._fits(domain, in_slices, led=False) for domain in order)
        for domain in order:
            taken = self._fits(domain, in_slices, led=False) - self._fits(domain, in_slices, led=True)
            if self.rooms[domain].leaders >= leaders and there - taken >= needed:
                order.remove(domain)
                return [domain, *order]
        return order
