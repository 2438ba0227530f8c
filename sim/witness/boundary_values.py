"""Boundary values of two policies: the amounts, priorities, durations and texts at which their decisions may differ.

All lists are short and in a fixed order. Values that differ between the policies come first, so that a bounded search tries them early.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from ...dsl.diff.differences import Change
from ...dsl.syntax import tree
from ...engine.cores import Probe
from ...engine.default_core import idle_probe
from ...engine.guard import Compare, Const, Expr, Type, comparisons
from ...engine.policy.doors import Condition
from ...engine.policy_graph import PolicyGraph
from ...engine.units import HOUR, INT64_MAX, MINUTE, scale_of

SlotName = tuple[str, str]
"""A flavor and a resource, by name."""

MOST_AMOUNTS, MOST_QUEUES, MOST_NEIGHBOURS, MOST_SLOTS, MOST_PRIORITIES, MOST_GAPS, MOST_ATTRIBUTES = 8, 4, 3, 2, 5, 6, 6
"""How many of each are tried."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two policies, what a probe says of it where nobody runs, its queues' nodes by name, and the nodes above each node."""

    graph: PolicyGraph
    probe: Probe
    capacity: list[int]
    queues: dict[str, int]
    slots: dict[SlotName, int]
    paths: list[list[int]]

    @classmethod
    def of(cls, graph: PolicyGraph) -> "Side":
        """The side of a graph, with the capacity that it declares."""
        capacity = [dict(graph.flavors[slot.flavor].capacity)[slot.resource] for slot in graph.slots]
        queues = {graph.nodes[queue.node].name: queue.node for queue in graph.queues}
        slots = {name: slot for slot, name in enumerate(graph.slot_names)}
        paths = [graph.path(node) for node in range(len(graph.nodes))]
        return cls(graph, idle_probe(graph, capacity), capacity, queues, slots, paths)

    def reach(self, queue: str, slot: SlotName) -> int:
        """The most that a queue can use of a slot while all else is idle; 0 if the policy lacks the queue or the slot."""
        if queue not in self.queues or slot not in self.slots:
            return 0
        node, index = self.queues[queue], self.slots[slot]
        flavor = self.graph.slots[index].flavor
        if flavor not in self.graph.queue_at(node).flavors:
            return 0
        return max(0, self.probe.most(node, index))

    def limits(self, queue: str, slot: SlotName) -> Iterator[int]:
        """The amounts of a slot at which something changes for a queue: what it and the cohorts above it own, may borrow and lend."""
        if queue not in self.queues or slot not in self.slots:
            return
        index = self.slots[slot]
        yield self.reach(queue, slot)
        for node in self.graph.path(self.queues[queue]):
            quota = self.graph.nodes[node].quotas[index]
            owned = self.probe.owned(node, index)
            yield quota.nominal
            yield owned
            if quota.borrowing_limit is not None:
                yield owned + quota.borrowing_limit
            if quota.lending_limit is not None:
                yield owned - quota.lending_limit
        yield self.capacity[index]


@dataclass(frozen=True, slots=True)
class BoundaryValues:
    """The boundary values of two policies, for a search for workloads about which they decide differently."""

    old: Side
    new: Side
    _users: dict[SlotName, list[str]] = field(default_factory=dict)
    """The queues of both policies that can use a slot, once they were asked for."""

    # --- places -------------------------------------------------------------------------------------------------

    def queues(self, change: Change) -> list[str]:
        """The queues that a change is about; of one about the whole policy the first few of them all."""
        kind, name = change.subject
        if kind == "queue":
            names = [*change.names]
        elif kind == "cohort":
            names = [queue for side in self._sides for queue in side.queues if _below(side, queue, {name})]
        elif kind == "local queue":
            names = [queue for side in self._sides for queue in side.queues if _has_local(side, queue, name)]
        else:
            names = [queue for side in self._sides for queue in side.queues if _below(side, queue, _scope(side, change))]
        known = list(dict.fromkeys(names)) or list(self.new.queues)
        return sorted(known, key=lambda queue: (-sum(self._reach(queue, slot) for slot in self._slots()), queue))[:MOST_QUEUES]

    def neighbours(self, queue: str, slot: SlotName) -> list[str]:
        """Other queues of both policies that can use a slot: the nearest in the tree, the farthest, and then others, near ones first."""
        if slot not in self._users:
            self._users[slot] = [name for name in self.new.queues if name in self.old.queues and self._reach(name, slot)]
        others = [name for name in self._users[slot] if name != queue]
        above = [(side, set(side.paths[side.queues[queue]])) for side in self._sides if queue in side.queues]
        ranked = sorted(others, key=lambda name: (-_in_common(above, name), name))
        return list(dict.fromkeys([*ranked[:1], *ranked[-1:], *ranked[1:]]))[:MOST_NEIGHBOURS]

    def slots(self, change: Change, queue: str) -> list[SlotName]:
        """The slots to ask for: the one that a change is about, or those of which a queue may use most."""
        if change.slot is not None:
            return [change.slot]
        about = [slot for slot in self._slots() if change.subject.kind != "flavor" or slot[0] == change.subject.name]
        usable = [slot for slot in about if self._reach(queue, slot)]
        return sorted(usable, key=lambda slot: ("gpu" not in slot[1], -self._reach(queue, slot), slot))[:MOST_SLOTS]

    def flavors(self, resource: str) -> list[str]:
        """The flavors that have a resource in both policies."""
        return [
            flavor
            for flavor, has in self._slots()
            if has == resource and (flavor, has) in self.old.slots and (flavor, has) in self.new.slots
        ]

    def _slots(self) -> list[SlotName]:
        return sorted({**self.old.slots, **self.new.slots})

    def _reach(self, queue: str, slot: SlotName) -> int:
        return max(side.reach(queue, slot) for side in self._sides)

    @property
    def _sides(self) -> tuple[Side, Side]:
        return self.old, self.new

    # --- amounts ------------------------------------------------------------------------------------------------

    def amounts(self, queue: str, slot: SlotName) -> list[int]:
        """Amounts to ask for: those at which something differs, just above them and between them, then one unit and the others."""
        unit = scale_of(slot[1])
        old, new = (list(side.limits(queue, slot)) for side in self._sides)
        compared = [{int(value) for value in self._compared(Type.AMOUNT, slot[1], graph)} for graph in (self.old.graph, self.new.graph)]
        contested = sorted({*old, *compared[0]} ^ {*new, *compared[1]})
        between = [(low + high) // 2 // unit * unit for low, high in pairwise(contested)]
        shared = sorted({*old, *new, *compared[0], *compared[1]}, reverse=True)
        found = [
            *reversed(contested),
            *(amount + unit for amount in contested),
            *between,
            unit,
            *shared,
            *(amount + unit for amount in shared),
        ]
        return list(dict.fromkeys(amount for amount in found if 0 < amount <= INT64_MAX // 4))[:MOST_AMOUNTS]

    def fillings(self, queue: str, slot: SlotName) -> list[int]:
        """Amounts with which a queue fills what it can: all that it can reach under either policy."""
        return [amount for amount in sorted({side.reach(queue, slot) for side in self._sides}, reverse=True) if amount > 0]

    # --- what guards compare with -------------------------------------------------------------------------------

    def priorities(self, change: Change) -> list[int | str | None]:
        """Priorities to ask for: none, the class that a change is about, those that both have, and numbers around those of guards."""
        classes = {each.name: each.value for each in self.new.graph.priorities}
        both = sorted((each.value, each.name) for each in self.old.graph.priorities if each.name in classes)
        compared = [int(value) for value in self._contested(Type.PRIORITY)]
        numbers = [value + more for value in compared for more in (0, -1, 1)] or [-(2**31), 2**31 - 1]
        ends = sorted([*both[-1:], *both[:1], *both[1:-1]], key=lambda each: each[1] != change.subject.name)
        return list(dict.fromkeys([None, *(name for _, name in ends[:2]), *numbers, *(name for _, name in ends[2:])]))[:MOST_PRIORITIES]

    def contested_pairs(self, change: Change) -> list[tuple[int | str | None, int | str | None]]:
        """Priorities of one that is there and of one that comes, if a change is about a class: the class, and those that it overtakes."""
        name = change.subject.name
        old, new = ({each.name: each.value for each in side.graph.priorities} for side in self._sides)
        if change.subject.kind != "priority" or name not in old or name not in new:
            return []
        both = sorted(each for each in old if each in new)
        overtaken: list[int | str | None] = [each for each in both if (old[each] < old[name]) != (new[each] < new[name])]
        return [*((each, name) for each in overtaken), *((name, each) for each in overtaken), (name, None), (name, name)]

    def gaps(self) -> list[int]:
        """How long to wait before the last submission, in microseconds: at and between the durations that differ, or else past them all."""
        old, new = ({int(value) for value in self._compared(Type.DURATION, "", side.graph)} for side in self._sides)
        contested = sorted(old ^ new)
        between = [(low + high) // 2 for low, high in pairwise(contested)]
        found = [*between, *contested, self.past, MINUTE, *sorted(old & new)]
        return list(dict.fromkeys(gap for gap in found if gap <= self.past))[:MOST_GAPS]

    @property
    def past(self) -> int:
        """A moment past every duration that a guard compares with, at least an hour and at most some thousand years."""
        durations = [int(value) for side in self._sides for value in self._compared(Type.DURATION, "", side.graph)]
        return min(INT64_MAX // 64, max([HOUR, *(2 * duration for duration in durations)]))

    def counts(self, path: str) -> list[int]:
        """Numbers of pods or of evictions that guards compare with, and those beside them."""
        compared = [value for side in self._sides for value in self._compared(Type.NUMBER, path, side.graph)]
        return sorted({int(value) + more for value in compared for more in (-1, 0, 1) if 0 < int(value) + more <= 8})

    def attributes(self, queue: str) -> list[tuple[tree.Attribute, ...]]:
        """What a submission may say of itself: what the matches of a queue ask for, and what guards compare with."""
        matches = [match for side in self._sides if queue in side.queues for match in side.graph.queue_at(side.queues[queue]).matches]
        found = [tuple(_meeting(condition) for condition in match) for match in matches]
        for guard in (guard for side in self._sides for guard in guards(side.graph)):
            found += [(made,) for each in comparisons(guard) if (made := _compared_text(each)) is not None]
        return list(dict.fromkeys(each for each in found if len({(one.attribute, one.key) for one in each}) == len(each)))[:MOST_ATTRIBUTES]

    def entries(self, queue: str) -> list[tuple[tree.Attribute, ...]]:
        """Labels of a namespace whose workloads a queue admits: under both policies if that can be, under either, and none."""
        old, new = (_admitted(side, queue) for side in self._sides)
        return list(dict.fromkeys(_namespace_labels(labels) for labels in ({**old, **new}, old, new, {})))

    def fewest_pieces(self, queue: str, slot: SlotName, amount: int) -> int:
        """In how many workloads an amount may have to be asked for, as rules refuse bigger ones: 1 where none does, at most 8."""
        sides = [side for side in self._sides if queue in side.queues]
        rules = [rule.guard for side in sides for rule in side.graph.admission if _below(side, queue, _names(side, rule.nodes))]
        refused = [int(value) for guard in rules for value in _constants(guard, Type.AMOUNT, slot[1])]
        smallest = min([amount, *(value for value in refused if value > 0)])
        return min(8, -(-amount // smallest))

    def _contested(self, kind: Type) -> list[Fraction]:
        """The constants of a type that one policy alone compares with, ascending; all of them where there is none."""
        old, new = ({*self._compared(kind, "", side.graph)} for side in self._sides)
        return sorted(old ^ new) or sorted(old | new)

    def _compared(self, kind: Type, path: str, graph: PolicyGraph) -> Iterator[Fraction]:
        for guard in guards(graph):
            yield from _constants(guard, kind, path)


def guards(graph: PolicyGraph) -> list[Expr | None]:
    """The guards of all rules."""
    evicting, keeping = [rule.guard for rule in graph.preempt], [rule.guard for rule in graph.protect]
    return [*evicting, *keeping, *(rule.guard for rule in graph.admission)]


def _constants(guard: Expr | None, kind: Type, path: str) -> Iterator[Fraction]:
    """The constants of a type in a guard, of one field if a path is given."""
    for each in comparisons(guard):
        if isinstance(each.right, Const) and each.left.type is kind and path in ("", each.left.path):
            assert not isinstance(each.right.value, str)
            yield Fraction(each.right.value)


def _in_common(above: list[tuple[Side, set[int]]], other: str) -> int:
    """How many nodes a queue has above it that another has too, in either policy; `above` are the first queue's by policy."""
    return max((sum(node in nodes for node in side.paths[side.queues[other]]) for side, nodes in above), default=0)


def _names(side: Side, nodes: tuple[int, ...] | None) -> set[str] | None:
    return None if nodes is None else {side.graph.nodes[node].name for node in nodes}


def _below(side: Side, queue: str, names: set[str] | None) -> bool:
    """Whether a queue is one of these or below one of them; none: all are meant."""
    path = [*side.graph.path(side.queues[queue]), 0]
    return names is None or any(side.graph.nodes[node].name in names for node in path)


def _has_local(side: Side, queue: str, name: str) -> bool:
    return side.graph.queue_at(side.queues[queue]).local_queue(name) is not None


def _scope(side: Side, change: Change) -> set[str] | None:
    """The nodes that a rule is for; None: all, or it is no rule."""
    scopes = [(rule.name, rule.nodes) for rule in side.graph.protect if change.subject.kind == "protect rule"]
    scopes += [(rule.name, rule.nodes) for rule in side.graph.admission if change.subject.kind == f"{rule.action} rule"]
    nodes = next((nodes for name, nodes in scopes if name == change.subject.name), None)
    return _names(side, nodes)


def _meeting(condition: Condition) -> tree.Attribute:
    """An attribute that meets a condition."""
    key = tree.Text(condition.key) if condition.key is not None else None
    return tree.Attribute(condition.attribute, key, tree.Text(_example(condition.pattern)))  # type: ignore[arg-type]


def _compared_text(comparison: Compare) -> tree.Attribute | None:
    """An attribute with the text that a guard compares with; None where it compares no attribute of a submission."""
    left, right = comparison.left, comparison.right
    if not isinstance(right, Const) or not isinstance(right.value, str):
        return None
    if left.label is not None:
        return tree.Attribute("label", tree.Text(left.label), tree.Text(_example(right.value)))
    if left.path in ("user", "group", "namespace", "kind"):
        return tree.Attribute(left.path, None, tree.Text(_example(right.value)))  # type: ignore[arg-type]
    return None


def _admitted(side: Side, queue: str) -> dict[str, str]:
    """Labels of a namespace that a queue admits."""
    tests = side.graph.queue_at(side.queues[queue]).namespaces or () if queue in side.queues else ()
    return {test.key: next(iter(test.values), "x") for test in tests if test.operator in ("In", "Exists")}


def _namespace_labels(labels: dict[str, str]) -> tuple[tree.Attribute, ...]:
    return tuple(tree.Attribute("namespace label", tree.Text(key), tree.Text(labels[key])) for key in sorted(labels) if key)


def _example(pattern: str) -> str:
    """A text that matches a pattern."""
    return pattern.replace("*", "x").replace("?", "x") or "x"
