"""Small scenarios in which two policies may decide differently, simplest first, made of the constants of both.

A scenario is the steps of a test without its expectations: everything in it can be pasted into a policy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Any, Literal, get_args

from ...dsl.diff.differences import Change
from ...dsl.diff.statements import SubjectKind, Thing
from ...dsl.syntax import tree
from ...engine.units import MINUTE, SECOND, format_amount, format_duration, scale_of
from .boundary_values import BoundaryValues, SlotName
from .share_threshold import PolicyShares, parting

Scenario = tuple[tree.At, ...]

PROBE, FILLER, SECOND_FILLER, LAST_FILLER, RIVAL = "w", "a", "b", "c", "v"
"""Names of workloads: the one that it is about, those that fill the cluster before it, and one that competes with it."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A submission to be: amounts in the smallest unit of a pod's resource, priority and attributes as a test says them."""

    workload: str
    queue: str | None
    slot: SlotName
    amount: int
    named: bool = False
    count: int = 1
    priority: int | str | None = None
    attributes: tuple[tree.Attribute, ...] = ()

    def at(self, time: int) -> tree.At:
        """The step that submits it; with `named` it insists on the slot's flavor."""
        flavor, resource = self.slot
        amount = tree.Amount(tree.Number(format_amount(self.amount, resource)), tree.Name(resource))
        count = tree.Number(str(self.count)) if self.count > 1 else None
        pods = tree.Pods(count, (amount,), (tree.Name(flavor),) if self.named else ())
        attributes = self.attributes
        if self.priority is not None:
            said = tree.Number(str(self.priority)) if isinstance(self.priority, int) else tree.Name(self.priority)
            attributes = (tree.Attribute("priority", None, said), *attributes)
        queue = tree.Name(self.queue) if self.queue is not None else None
        return _step(time, tree.Submit(tree.Name(self.workload), queue, (pods,), attributes))


def _step(time: int, action: tree.Submit | tree.Act | None) -> tree.At:
    return tree.At(tree.Number(format_duration(time)), action)


def scenarios(constants: BoundaryValues, change: Change) -> Iterator[Scenario]:
    """Scenarios for a change, each once: first of the families that are about such changes, then of the others, one of each in turn."""
    places = [_Place(constants, change, queue, slot) for queue in constants.queues(change) for slot in constants.slots(change, queue)]
    first = _families(change)
    others = [family for family in FAMILIES if family not in first and (family not in _CLOSE or change.thing in _WEIGHED)]
    seen: set[Scenario] = set()
    for families in (first, others):
        for scenario in _in_turn([getattr(place, family)() for family in families for place in places]):
            if scenario not in seen:
                seen.add(scenario)
                yield scenario


def _in_turn(sources: list[Iterator[Scenario]]) -> Iterator[Scenario]:
    while sources:
        for source in list(sources):
            scenario = next(source, None)
            if scenario is None:
                sources.remove(source)
            else:
                yield scenario


Family = Literal["alone", "unlike", "owner", "guest", "own", "pieces", "two", "spill", "passing", "competing", "often", "yielding", "turns"]
"""Scenarios of one form; each is a method of `_Place`."""

FAMILIES: tuple[Family, ...] = get_args(Family)
"""All of them, in the order in which they are tried where none is about the change."""

_OF_KINDS: dict[SubjectKind, tuple[Family, ...]] = {
    "deny rule": ("unlike", "alone"),
    "hold rule": ("unlike", "alone"),
    "protect rule": ("owner", "own", "often", "pieces", "guest"),
    "preempt rule": ("owner", "own", "pieces", "two", "guest"),
    "priority": ("own", "owner", "unlike", "competing"),
    "flavor": ("alone", "owner", "pieces"),
}
"""The families that are about changes of a kind of subject."""

_OF_THINGS: dict[Thing, tuple[Family, ...]] = {
    "owns": ("owner", "alone", "guest", "two", "own"),
    "borrows": ("alone", "owner", "own", "guest", "two"),
    "borrows by evicting": ("alone", "owner", "own", "guest", "two"),
    "lends": ("guest", "owner", "alone", "two"),
    "weight": ("pieces", "competing"),
    "share": ("pieces", "competing"),
    "worth": ("yielding", "turns"),
    "order queues": ("competing", "pieces"),
    "order workloads": ("competing",),
    "preempt by": ("owner", "own", "pieces", "two", "guest"),
    "queueing": ("passing",),
    "for": ("unlike",),
    "flavors": ("alone", "spill"),
    "priority at most": ("own", "guest", "competing"),
    "default priority": ("own", "guest", "competing"),
    "default is never evicted": ("own", "guest"),
    "when borrowing": ("spill", "owner"),
    "when evicting": ("spill", "owner"),
    "rather": ("spill", "owner"),
    "for namespaces where": ("unlike",),
    "stopped": ("alone", "owner"),
    "evicts its own of": ("own",),
    "reclaims from": ("owner", "two"),
    "victims": ("owner", "own", "pieces", "two"),
}
"""The families that are about changes of a thing, of whatever kind of subject."""

_CLOSE: tuple[Family, ...] = ("yielding", "turns")
"""Families in which shares are close, which takes long to find out."""

_WEIGHED: tuple[Thing, ...] = ("worth", "weight", "share")
"""The things for which those are tried: what makes other shares of the same use."""

_PIECES = 4
"""In how many pieces a flavor is filled, of which some are to yield."""


def _families(change: Change) -> tuple[Family, ...]:
    if change.thing is not None and change.thing in _OF_THINGS:
        return _OF_THINGS[change.thing]
    return _OF_KINDS.get(change.subject.kind, ("alone",))


@dataclass(frozen=True, slots=True)
class _Place:
    """The scenarios for a change at one queue and one slot, by family."""

    constants: BoundaryValues
    change: Change
    queue: str
    slot: SlotName

    def _ask(self, amount: int, workload: str = PROBE, queue: str | None = None, **said: Any) -> Ask:
        """A submission, to the queue unless another is said; it insists on the flavor where several have the resource."""
        flavors = self.constants.flavors(self.slot[1])
        named = len(flavors) > 1 and self.slot[0] in flavors
        entry = self.constants.entries(queue or self.queue)[0]
        return replace(Ask(workload, queue or self.queue, self.slot, amount, named, attributes=entry), **said)

    def _fill(
        self, amount: int, queue: str, workload: str = FILLER, at: int = 0, pieces: int = 0, whole: bool = True, **said: Any
    ) -> list[tree.At]:
        """Submissions of an amount by a queue, at once; in pieces if said, or where rules refuse bigger ones; of whole units if need be."""
        if amount == 0:
            return []
        count = pieces or self.constants.fewest_pieces(queue, self.slot, amount)
        unit = scale_of(self.slot[1]) if whole else 1
        each = amount // count // unit * unit or max(1, amount // count)
        names = [workload] if count == 1 else [f"{workload}{number}" for number in range(1, count + 1)]
        return [self._ask(each, name, queue, **said).at(at) for name in names]

    @property
    def _amounts(self) -> list[int]:
        return self.constants.amounts(self.queue, self.slot)

    @property
    def _fewest(self) -> int:
        return min([scale_of(self.slot[1]), *self._amounts])

    @property
    def _neighbours(self) -> list[str]:
        return self.constants.neighbours(self.queue, self.slot)

    # --- alone --------------------------------------------------------------------------------------------------

    def alone(self) -> Iterator[Scenario]:
        """A workload alone in the cluster: on this flavor, on any."""
        for amount in self._amounts:
            yield (self._ask(amount).at(0),)
            yield (self._ask(amount, named=False).at(0),)

    def unlike(self) -> Iterator[Scenario]:
        """A workload alone that says what matches and guards look at: attributes, its queue or none, pods, priorities, its namespace."""
        entry, *others = self.constants.entries(self.queue)
        attributes = [(), *self.constants.attributes(self.queue)]
        for said, amount in nearest(attributes, [*self._amounts[:4], self._fewest]):
            ask = self._ask(amount, attributes=(*entry, *said))
            yield (ask.at(0),)
            yield (replace(ask, queue=None).at(0),)
        for count, said in nearest(self.constants.counts("pods"), attributes):
            yield (self._ask(self._fewest, count=count, attributes=(*entry, *said)).at(0),)
        for priority, amount in nearest(self.constants.priorities(self.change), self._amounts[:3]):
            yield (self._ask(amount, priority=priority).at(0),)
        yield from ((self._ask(self._fewest, attributes=other).at(0),) for other in others)

    # --- where others run ---------------------------------------------------------------------------------------

    def owner(self) -> Iterator[Scenario]:
        """A workload of the queue that comes when a neighbour fills all that it can."""
        for (theirs, ours), gap, other, amount in nearest(self._pairs, self.constants.gaps(), self._neighbours, self._amounts):
            for filling in self.constants.fillings(other, self.slot):
                yield *self._fill(filling, other, priority=theirs), self._ask(amount, priority=ours).at(gap)

    def guest(self) -> Iterator[Scenario]:
        """A workload of a neighbour that comes when the queue fills all that it can."""
        for (theirs, ours), gap, other, which in nearest(self._pairs, self.constants.gaps(), self._neighbours, range(4)):
            for filling in self.constants.fillings(self.queue, self.slot):
                for amount in self.constants.amounts(other, self.slot)[which : which + 1]:
                    yield *self._fill(filling, self.queue, priority=theirs), self._ask(amount, PROBE, other, priority=ours).at(gap)

    def own(self) -> Iterator[Scenario]:
        """A workload of the queue that comes when the queue itself has filled all that it can, of another priority first."""
        pairs = sorted(self._pairs, key=lambda pair: pair == (None, None))
        for (theirs, ours), gap, amount in nearest(pairs, self.constants.gaps(), [self._fewest, *self._amounts]):
            for filling in self.constants.fillings(self.queue, self.slot):
                yield *self._fill(filling, self.queue, priority=theirs), self._ask(amount, priority=ours).at(gap)

    def two(self) -> Iterator[Scenario]:
        """A workload of the queue that comes when two neighbours have filled the cluster together."""
        pairs = list(permutations(self._neighbours, 2))
        for gap, (one, other), amount, part in nearest(self.constants.gaps(), pairs, self._amounts, (2, 1)):
            for filling in self.constants.fillings(one, self.slot):
                first = self._fill(max(1, filling // 2), one)
                yield *first, *self._fill(max(1, filling // part), other, SECOND_FILLER, SECOND), self._ask(amount).at(gap)

    def pieces(self) -> Iterator[Scenario]:
        """A workload that comes when another queue has filled the cluster piece by piece, so that shares decide how many go."""
        sides = [pair for other in self._neighbours for pair in ((other, self.queue), (self.queue, other))]
        gaps = [self.constants.past, *self.constants.gaps()[:2]]
        for gap, count, (theirs, mine), wanted in nearest(gaps, (8, 4), sides, (8, 4, 3, 12, 2, 6, 5, 10, 1, 14)):
            for filling in self.constants.fillings(theirs, self.slot):
                yield *self._fill(filling, theirs, pieces=count), self._ask(max(1, filling * wanted // 16), PROBE, mine).at(gap)

    def spill(self) -> Iterator[Scenario]:
        """A workload that takes any flavor and comes when one flavor is in use, by its own queue or by a neighbour."""
        for other, gap, filling, amount in nearest(
            [self.queue, *self._neighbours], self.constants.gaps()[:2], self._amounts, self._amounts
        ):
            yield *self._fill(filling, other), self._ask(amount, named=False).at(gap)

    def often(self) -> Iterator[Scenario]:
        """A workload that comes when another, evicted some times before, fills the cluster."""
        queues = [*self._neighbours, self.queue]
        for count, other, amount in nearest(self.constants.counts("evictions"), queues, self._amounts):
            deeds: list[Literal["evict", "release"]] = ["evict", "release"] * count
            again = [_step((number + 1) * SECOND, tree.Act(deed, tree.Name(FILLER))) for number, deed in enumerate(deeds)]
            for filling in self.constants.fillings(other, self.slot):
                yield self._ask(filling, FILLER, other).at(0), *again, self._ask(amount).at(self.constants.past)

    # --- where others wait --------------------------------------------------------------------------------------

    def passing(self) -> Iterator[Scenario]:
        """A big workload that waits, and a small one of its queue behind it."""
        for amount, used in nearest([*self._amounts, 4 * self._fewest], (self._fewest, *self._amounts)):
            behind = self._ask(amount, RIVAL).at(SECOND), self._ask(self._fewest).at(2 * SECOND)
            yield *self._fill(used, self.queue), *behind
            for other in self._neighbours[:1]:
                yield *self._fill(used, other), *behind

    def competing(self) -> Iterator[Scenario]:
        """Two that wait for the same room, of one queue or of two, and then it becomes free."""
        by = next(iter(self._neighbours), self.queue)
        queues = [*self._neighbours, self.queue]
        for (theirs, ours), other, turned, amount in nearest(self._pairs, queues, (False, True), self._amounts):
            for filling in self.constants.fillings(by, self.slot):
                asks = [self._ask(amount, RIVAL, other, priority=theirs), self._ask(amount, priority=ours)]
                first, second = reversed(asks) if turned else asks
                fillers = self._fill(filling, by)
                named = [step.action.workload for step in fillers if isinstance(step.action, tree.Submit)]
                ends = [_step(MINUTE, tree.Act("finish", name)) for name in named]
                yield *fillers, first.at(SECOND), second.at(2 * SECOND), *ends

    # --- where shares are close ---------------------------------------------------------------------------------

    def yielding(self) -> Iterator[Scenario]:
        """A workload that comes when another queue has filled a flavor; its own holds so much of another that shares are close."""
        balances = self._balances()
        for mine, theirs, (slot, other), filling, asked in self._contests():
            for left in (filling - asked, filling):  # rules compare what is left without the victim, or what there is with it
                held = parting(balances, mine, other, {slot: asked}, theirs, {slot: left})
                if held is not None:
                    fillers = self._fill(filling, theirs, pieces=_PIECES, whole=False, slot=slot)
                    fillers += self._fill(held, mine, SECOND_FILLER, whole=False, slot=other)
                    yield *fillers, self._ask(asked, PROBE, mine, slot=slot).at(self.constants.past)

    def turns(self) -> Iterator[Scenario]:
        """Two queues that hold so much of unlike flavors that their shares are close, and that wait for the same room."""
        balances = self._balances()
        for mine, theirs, (slot, other), filling, asked in self._contests():
            held = parting(balances, mine, other, {slot: asked}, theirs, {slot: filling})
            if held is not None:
                fillers = self._fill(filling - asked, theirs, whole=False, slot=slot)
                fillers += self._fill(held, mine, SECOND_FILLER, whole=False, slot=other)
                room, rival = (self._ask(asked, name, theirs, slot=slot) for name in (LAST_FILLER, RIVAL))
                waits = rival.at(SECOND), self._ask(asked, PROBE, mine, slot=slot).at(2 * SECOND)
                yield *fillers, room.at(0), *waits, _step(MINUTE, tree.Act("finish", tree.Name(LAST_FILLER)))

    def _balances(self) -> tuple[PolicyShares, PolicyShares]:
        return PolicyShares.of(self.constants.old), PolicyShares.of(self.constants.new)

    def _contests(self) -> Iterator[tuple[str, str, tuple[SlotName, SlotName], int, int]]:
        """A queue and its rival, what the rival fills and what the queue has instead, and how much is filled and wanted of the former."""
        sides = [pair for other in self._neighbours for pair in ((self.queue, other), (other, self.queue))]
        others = [(flavor, self.slot[1]) for flavor in self.constants.flavors(self.slot[1]) if flavor != self.slot[0]]
        slots = [pair for other in others for pair in ((self.slot, other), (other, self.slot))]
        for wanted, (mine, theirs), (slot, other) in nearest(range(1, _PIECES), sides, slots):
            for filling in self.constants.fillings(theirs, slot):
                yield mine, theirs, (slot, other), filling, max(1, filling * wanted // _PIECES)

    @property
    def _pairs(self) -> list[tuple[int | str | None, int | str | None]]:
        """Priorities of those that are there and of those that come: what the change is about, none, then all pairs of different ones."""
        known, contested = self.constants.priorities(self.change), self.constants.contested_pairs(self.change)
        others = [(None, None), *((theirs, ours) for theirs, ours in nearest(known, known) if theirs != ours)]
        return list(dict.fromkeys([*contested, *others]))


def nearest(*pools: Sequence[Any]) -> list[tuple[Any, ...]]:
    """All combinations of one element of each pool, ordered by the sum of positions, so that every pool advances early."""
    ranked = sorted(product(*(range(len(pool)) for pool in pools)), key=lambda places: (sum(places), places))
    return [tuple(pool[place] for pool, place in zip(pools, places, strict=True)) for places in ranked]
