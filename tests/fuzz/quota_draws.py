"""Statements of cohorts and queues, as lines of a policy's text."""

from collections.abc import Callable

from draws import Draw
from worlds import (
    CHECKS,
    GROUPS,
    KINDS,
    LABELS,
    NAMESPACE_LABELS,
    NAMESPACES,
    PATTERNS,
    USERS,
    Node,
    World,
    drawn_amount,
    listed,
    named,
    written,
)

Slot = tuple[str, str]
Amounts = dict[Slot, int]
WEIGHTS = ("1", "2", "1/2", "1/3", "3/2", "0", "2.5", "7")


def flavor_choices(draw: Draw, one_in: int) -> list[str]:
    """When the next flavor is tried, of a queue or of a whole policy."""
    ways = ["take flavor", "try next flavor"]
    return [f"when {occasion} {draw.pick(ways)}" for occasion in ("borrowing", "evicting") if draw.chance(one_in)]


class Tree:
    """The tree of queues with its quotas. `room` is how much of each slot is still to be owned."""

    def __init__(self, draw: Draw, world: World, room: Amounts, by_usage: bool) -> None:
        self.draw, self.world, self.room, self.by_usage = draw, world, room, by_usage

    def lines(self) -> list[str]:
        """All of it."""
        return [line for node in self.world.tree for line in self._node(node)[0]]

    def _node(self, node: Node) -> tuple[list[str], Amounts]:
        """The lines of a node, and what it owns with all below it."""
        draw = self.draw
        if node.children is None:
            served, slots = self._serving()
            quotas, owned = self._quotas(slots, {})
            lines = [f"queue {named(node.name)} {{", *served, *quotas, *self._weight(), *self._ways(), *self._entries(node.name), "}"]
            return lines, owned
        below: Amounts = {}
        inner: list[str] = []
        for child in node.children:
            some, owns = self._node(child)
            inner += some
            below = {slot: below.get(slot, 0) + owns.get(slot, 0) for slot in (*below, *owns)}
        quotas, owned = self._quotas(self.world.slots, below)
        own = [*quotas, *self._weight()]
        return [f"cohort {named(node.name)} {{", *(own + inner if draw.chance(2) else inner + own), "}"], owned

    # --- quotas

    def _quotas(self, slots: list[Slot], below: Amounts) -> tuple[list[str], Amounts]:
        """What a node owns, borrows and lends of these slots; and what it owns with those below it."""
        draw, owned = self.draw, dict(below)
        lines = []
        if draw.chance(16):
            lines.append("owns nothing")
        else:
            for slot in slots:
                if draw.number(1, 3) == 3 if below else draw.number(1, 4) < 4:
                    some = min(drawn_amount(draw, self.world.size, slot[1], 8), self.room[slot])
                    self.room[slot] -= some
                    owned[slot] = owned.get(slot, 0) + some
                    lines.append(f"owns {self._of(some, slot)}")
        lines += self._limits("borrows", slots, self._borrows)
        return lines + self._limits("lends", slots, lambda slot: self._lends(slot, owned.get(slot, 0))), owned

    def _borrows(self, slot: Slot) -> str:
        return f"borrows up to {self._of(drawn_amount(self.draw, self.world.size, slot[1]), slot)}"

    def _lends(self, slot: Slot, owned: int) -> str:
        some = drawn_amount(self.draw, self.world.size, slot[1])
        some = some if self.world.in_cycles else min(some, owned)
        return f"{self.draw.pick(['lends up to', 'lends up to', 'guarantees', 'lends all but'])} {self._of(some, slot)}"

    def _limits(self, verb: str, slots: list[Slot], said: Callable[[Slot], str]) -> list[str]:
        """The limits of one side: one for all, or some for some slots."""
        draw = self.draw
        way = draw.pick(["none", "none", "none", "some", "some", "nothing", "anything"] if draw.chance(2) else ["none"])
        if way in ("nothing", "anything"):
            return [f"{verb} {way}"]
        lines = []
        for flavor in dict.fromkeys(flavor for flavor, _ in slots) if way == "some" else ():
            if draw.chance(6):
                lines.append(f"{verb} nothing on {flavor}")
            else:
                lines += [said(slot) for slot in slots if slot[0] == flavor and draw.chance(2)]
        return lines

    def _of(self, some: int, slot: Slot) -> str:
        flavor, resource = slot
        alone = sum(resource in resources for resources in self.world.flavors.values()) == 1
        return written(some, resource) if alone and self.draw.chance(2) else f"{written(some, resource)} on {flavor}"

    def _weight(self) -> list[str]:
        return [f"weight {self.draw.pick(WEIGHTS)}"] if self.draw.chance(3) else []

    # --- flavors of a queue

    def _serving(self) -> tuple[list[str], list[Slot]]:
        """What a queue says of its flavors, and the slots of which it may have quotas."""
        draw, world = self.draw, self.world
        way = draw.pick(["serves", "serves", "serves", "none"] if world.in_cycles else ["none", "none", "prefer", "only", "serves"])
        if way in ("prefer", "only"):
            return [f"{way} {listed(draw.some(list(world.flavors), least=1))}"], world.slots
        if way == "none":
            return [], world.slots
        if draw.chance(40):
            return ["serves nothing"], []
        lines, slots, taken = [], [], set[str]()
        left = draw.shuffled(world.resources)
        while left:
            first = left.pop()
            alike = [each for each in left if any({first, each} <= set(resources) for resources in world.flavors.values())]
            group = [first, *(alike if draw.number(1, 4) < 4 else draw.some(alike))]
            fitting = [flavor for flavor, resources in world.flavors.items() if set(group) <= set(resources) and flavor not in taken]
            tried = draw.some(fitting, least=1)
            left = [each for each in left if each not in group]
            if tried and not draw.chance(12):
                taken |= set(tried)
                lines.append(f"serves {listed(group)} from {listed(tried)}")
                slots += [(flavor, resource) for flavor in tried for resource in group]
        if lines and world.in_cycles and draw.chance(8):
            lines.append(lines[0] if draw.chance(8) else self._overlapping(slots))
        return (lines, slots) if lines else ([], world.slots)

    def _overlapping(self, slots: list[Slot]) -> str:
        """A group of resources or flavors that stand in another one as well (GP058)."""
        draw, world = self.draw, self.world
        group = draw.some(list(dict.fromkeys(resource for _, resource in slots)), least=1)
        fitting = [flavor for flavor, resources in world.flavors.items() if set(group) <= set(resources)]
        if not fitting:
            group = [slots[0][1]]
            fitting = [flavor for flavor, resource in slots if resource == group[0]]
        return f"serves {listed(group)} from {listed(draw.some(fitting, least=1))}"

    # --- what else a queue says

    def _ways(self) -> list[str]:
        draw = self.draw
        lines = []
        if draw.chance(6):
            lines.append(f"priority at most {draw.pick(self.world.priorities)}")
        if draw.chance(8):
            lines.append(f"default priority {draw.pick(self.world.priorities)}")
        if draw.chance(3):
            lines.append(draw.pick(["queueing strict fifo", "queueing best effort"]))
        lines += flavor_choices(draw, 3)
        if draw.chance(30):
            lines.append(draw.pick(["stopped", "stopped and drained"]))
        if not self.world.in_cycles:
            return lines
        if draw.chance(2):
            lines.append(f"evicts its own of lower priority{draw.pick(['', ' or newer'])}")
        if draw.number(1, 3) < 3:
            lines.append(f"reclaims from {draw.pick(['anyone', 'lower priority'])}")
        if draw.chance(3):
            lines.append(f"borrows by evicting lower priority{draw.pick(['', ' up to 1', ' up to 0', ' up to -1', ' up to 2147483647'])}")
        if draw.chance(3):
            lines.append(f"rather {draw.pick(['evict than borrow', 'borrow than evict'])}")
        if draw.chance(8):
            on = draw.some(list(self.world.flavors))
            check = draw.pick(CHECKS)
            for_nodes = " for nodes" if check == CHECKS[0] else ""
            lines.append(f"needs check {named(check)}{' on ' + listed(on) if on else ''}{for_nodes}")
        if self.by_usage and draw.chance(2):
            lines.append("admits by usage")
        return lines

    def _entries(self, queue: str) -> list[str]:
        """Who comes in: match rules, namespaces, local queues."""
        draw = self.draw
        lines = list(dict.fromkeys(self._match() for _ in range(draw.pick([0, 0, 1, 2]))))
        if draw.chance(16):
            tests = dict.fromkeys(self._label_test() for _ in range(draw.number(1, 2)))
            lines.append(f"for namespaces where {' and '.join(tests)}" if not draw.chance(8) else "for no namespaces")
        for local in self.world.local_queues[queue]:
            said = [f"weight {draw.pick(WEIGHTS)}"] if draw.chance(2) else []
            said += [draw.pick(["stopped", "stopped and drained"])] if draw.chance(10) else []
            lines += [f'local queue "{local}" {{', *said, "}"] if said else [f'local queue "{local}"']
        return lines

    def _match(self) -> str:
        draw = self.draw
        parts = []
        for kind in sorted(draw.some(["namespace", "user", "group", "kind", "label"], least=1, most=2)):
            values = {"namespace": NAMESPACES, "user": USERS, "group": GROUPS, "kind": KINDS}.get(kind, ())
            if kind == "label":
                key, value = draw.pick(LABELS)
                pattern = draw.pick([value, "*"])
                parts.append(f'label "{key}" = "{pattern}"')
            else:
                value = draw.pick([*values, *PATTERNS]) if draw.chance(3) else draw.pick(values)
                parts.append(f'{kind} "{value}"')
        return f"for {' and '.join(parts)}"

    def _label_test(self) -> str:
        key, value = self.draw.pick(NAMESPACE_LABELS)
        return f'label "{key}" ' + self.draw.pick([f'in "{value}"', f'in "{value}", "x"', f'not in "{value}"', "exists", "absent"])
