"""Which domains pods fill where the policy says how pods are placed: packed, spread, or so that room is kept for pods of given sizes.

All pods stand in the lowest domain that has room for them, from the level they ask for up (or, if they ask for none, from single nodes up);
where no domain holds them, in several of the widest. Inside a domain its parts are shared out again, level by level.

    packed          the fullest domain that has room; of several that are needed the emptiest first, so that they are few
    spread          the emptiest domain; its parts get pods one by one, each time the one with the most room left
    keeping room    packed, but on nodes pods go one by one to where the least room for the kept sizes is lost: for the first size, then
                    for the second, and so on (fragmentation gradient descent, Weng et al., USENIX ATC 2023, with sizes in order)

Ties go to the first domain by path.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...nodes.domains import DomainTree
from ...nodes.wishes import Amounts, Wish
from .fill import Filled, TooLittleRoom
from .room import Room, fitting, less

Way = Literal["packed", "spread", "keeping-room"]
"""How pods are placed, by the policy's choice."""

Dealt = dict[int, int]
"""How many slices or pods each domain gets."""


@dataclass(frozen=True, slots=True)
class RoomKept:
    """The sizes for which room is kept, the most important first, and what is free in a domain of the lowest level."""

    sizes: tuple[Amounts, ...]
    free: Callable[[int], Amounts]

    def lost(self, leaf: int, each: Amounts, before: int, more: int) -> tuple[int, ...]:
        """How many pods of each size fit no more once `more` pods stand in a domain, beside `before` of them."""
        then = less(self.free(leaf), each, before)
        after = less(then, each, more)
        return tuple(fitting(size, then)[0] - fitting(size, after)[0] for size in self.sizes)


class OwnFiller:
    """Fills domains for one wish in a policy's own way; `rooms` are by number of the domain."""

    def __init__(self, tree: DomainTree, wish: Wish, rooms: Sequence[Room], way: Way, kept: RoomKept) -> None:
        self.tree, self.wish, self.rooms, self.way, self.kept = tree, wish, rooms, way, kept

    def fill(self) -> Filled | TooLittleRoom:
        """The lowest domains in which all stand, in order."""
        wish = self.wish
        if wish.pods % wish.slice_size:
            return TooLittleRoom(0, wish.level)  # they are no whole number of slices
        for level in range(wish.level, -1, -1):
            able = [domain for domain in self.tree.levels[level] if self._holds(self.rooms[domain])]
            if able:
                return sorted(self._down(self._chosen(able, level), level, wish.slices, wish.leaders))
            if wish.required:
                break
        level = wish.level if wish.required else 0
        widest = self.tree.levels[level]
        if wish.required or not self._hold_together(widest):
            most = max((self.rooms[domain].slices for domain in widest), default=0)
            return TooLittleRoom(most if wish.required else sum(self.rooms[domain].slices for domain in widest), level)
        return sorted(self._shared(widest, 0, wish.slices, wish.leaders))

    def _holds(self, room: Room) -> bool:
        return room.leaders >= self.wish.leaders and (room.slices_led if self.wish.leaders else room.slices) >= self.wish.slices

    def _hold_together(self, domains: Sequence[int]) -> bool:
        there = sum(self.rooms[domain].slices for domain in domains)
        if not self.wish.leaders:
            return there >= self.wish.slices
        penalties = [self.rooms[domain].slices - self.rooms[domain].slices_led for domain in domains if self.rooms[domain].leaders]
        return bool(penalties) and there - min(penalties) >= self.wish.slices

    def _chosen(self, able: Sequence[int], level: int) -> int:
        """The domain for all of them, of those that have room."""
        if self.way == "spread":
            return max(able, key=lambda domain: (self.rooms[domain].slices, -domain))
        if self.way == "keeping-room" and level == len(self.tree.levels) - 1:
            each, pods = self.wish.each, self.wish.pods
            return min(able, key=lambda leaf: (self.kept.lost(leaf, each, 0, pods), self.rooms[leaf].slices, leaf))
        return min(able, key=lambda domain: (self.rooms[domain].slices, domain))

    # --- down the levels ------------------------------------------------------------------------------------------------

    def _down(self, domain: int, level: int, count: int, leaders: int) -> Filled:
        """The lowest domains in a domain that was given so many slices or, below the level of the slices, pods."""
        if level == len(self.tree.levels) - 1:
            return [(domain, count * self._unit(level), leaders)]
        unit, below = self._unit(level), self._unit(level + 1)
        return self._shared(self.tree.domains[domain].children, level + 1, count * unit // below, leaders)

    def _unit(self, level: int) -> int:
        """How many pods stand together in one domain of a level: a slice, from its level up, or a part of one below."""
        return self.wish.slice_size if level <= self.wish.slice_level else self.wish.inner.get(level, 1)

    def _shared(self, domains: Sequence[int], level: int, count: int, leaders: int) -> Filled:
        """Share a count out over the parts of a domain, and go down in each; the leader goes where it leaves room for all."""
        room = {domain: self._room(domain, level, led=False) for domain in domains}
        leader = self._leader(domains, level, room, count) if leaders else -1
        if leader >= 0:
            room[leader] = self._room(leader, level, led=True)
        given = self._dealt(domains, level, room, count, leader)
        return [
            found
            for domain in domains
            if given.get(domain, 0) or domain == leader
            for found in self._down(domain, level, given.get(domain, 0), int(domain == leader))
        ]

    def _room(self, domain: int, level: int, led: bool) -> int:
        """How much of the unit of a level fits into a domain of it."""
        room = self.rooms[domain]
        if level < self.wish.slice_level:
            return room.slices_led if led else room.slices
        return (room.pods_led if led else room.pods) // self._unit(level)

    def _leader(self, domains: Sequence[int], level: int, room: Mapping[int, int], count: int) -> int:
        """The domain for the leader: one in which it takes no more than there is to spare, by the order of the way."""
        spare = sum(room[domain] for domain in domains) - count
        able = [domain for domain in domains if self.rooms[domain].leaders and room[domain] - self._room(domain, level, led=True) <= spare]
        sign = -1 if self.way == "spread" else 1
        enough = [domain for domain in able if self._room(domain, level, led=True) >= count]
        return min(enough or able, key=lambda domain: ((sign if enough else -1) * self._room(domain, level, led=True), domain))

    # --- three ways to share out -----------------------------------------------------------------------------------------

    def _dealt(self, domains: Sequence[int], level: int, room: Mapping[int, int], count: int, leader: int) -> Dealt:
        if self.way == "spread":
            return spread(domains, room, count)
        if self.way == "keeping-room" and level == len(self.tree.levels) - 1 and self._unit(level) == 1:
            return self._keeping(domains, room, count)
        return packed(domains, room, count, leader)

    def _keeping(self, domains: Sequence[int], room: Mapping[int, int], count: int) -> Dealt:
        """One by one to the domain where the least room is lost, of those the fullest."""
        given: Dealt = {}
        for _ in range(count):
            able = [leaf for leaf in domains if given.get(leaf, 0) < room[leaf]]
            leaf = min(
                able,
                key=lambda leaf: (self.kept.lost(leaf, self.wish.each, given.get(leaf, 0), 1), room[leaf] - given.get(leaf, 0), leaf),
            )
            given[leaf] = given.get(leaf, 0) + 1
        return given


def packed(domains: Sequence[int], room: Mapping[int, int], count: int, first: int = -1) -> Dealt:
    """As few domains as will do: the one of the leader first, then the emptiest, and for the rest the fullest that holds it."""
    given: Dealt = {}
    left = count
    order = sorted((domain for domain in domains if domain != first), key=lambda domain: (-room[domain], domain))
    for at, domain in enumerate([first, *order] if first >= 0 else order):
        if left == 0:
            break
        rest = order[at - 1 :] if first >= 0 else order[at:]
        if domain != first and room[domain] >= left:
            domain = min((each for each in rest if room[each] >= left), key=lambda each: (room[each], each))
        given[domain] = min(room[domain], left)
        left -= given[domain]
    return given


def spread(domains: Sequence[int], room: Mapping[int, int], count: int) -> Dealt:
    """One by one, each time to the domain with the most room left: all keep about as much.

    So much as `level` is left in each that had more, and of those that have just as much the first ones give one more.
    """
    level, above = 0, max((room[domain] for domain in domains), default=0)
    while level < above:  # the highest level down to which they hold all
        middle = (level + above + 1) // 2
        if sum(max(0, room[domain] - middle) for domain in domains) >= count:
            level = middle
        else:
            above = middle - 1
    given = {domain: max(0, room[domain] - level - 1) for domain in domains}
    rest = count - sum(given[domain] for domain in domains)
    for domain in [domain for domain in domains if room[domain] > level][:rest]:
        given[domain] += 1
    return {domain: given[domain] for domain in domains if given[domain]}
