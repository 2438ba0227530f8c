"""One live workload as events tell it: what it asked for, whether it waits or runs, and what it is charged."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from form import Event

Slot = tuple[str, str]
"""A flavor and a resource."""

Charges = dict[Slot, int]
"""Amounts in the smallest unit of the resource, none of them 0."""


class WrongError(Exception):
    """An event breaks what the page promises; the text says in plain words what."""


def need(holds: bool, words: str) -> None:
    """Raise WrongError unless it holds."""
    if not holds:
        raise WrongError(words)


def as_charges(said: list[dict[str, Any]], what: str) -> Charges:
    """A list of charges as a table; no slot may stand in it twice."""
    charges = {(each["flavor"], each["resource"]): int(each["amount"]) for each in said}
    need(len(charges) == len(said), f"`{what}` names a resource of a flavor twice")
    return without_nothing(charges)


def without_nothing(charges: dict[Slot, int]) -> Charges:
    """Charges without those of 0."""
    return {slot: amount for slot, amount in charges.items() if amount}


def told(charges: Charges) -> str:
    """Charges for people."""
    return ", ".join(f"{amount} {resource} on {flavor}" for (flavor, resource), amount in sorted(charges.items())) or "nothing"


@dataclass
class Placed:
    """Pods of a pod set that run: how many were given, and what each slot is charged for those that are not done."""

    count: int
    charges: dict[Slot, int]


@dataclass
class LiveWorkload:
    """A workload that was submitted and has not ended. `queue` is None while nothing said where it belongs."""

    asked: Event
    queue: str | None
    priority: int | str | None
    boost: int
    held: bool
    running: bool = False
    told_to_stop: bool = False
    held_by_operator: bool = False
    checks: dict[str, str] = field(default_factory=dict)
    done: dict[str, int] = field(default_factory=dict)
    placed: dict[str, Placed] = field(default_factory=dict)
    deferred: Event | None = None
    deferred_at: int = 0

    @classmethod
    def submitted(cls, event: Event) -> "LiveWorkload":
        """A workload as it was submitted."""
        return cls(event, event["queue"], event["priority"], event.get("boost", 0), event.get("hold", False))

    def pod_sets(self) -> dict[str, Any]:
        """Its pod sets by name."""
        return {each["name"]: each for each in self.asked["pod_sets"]}

    def pods(self, name: str) -> int:
        """How many pods of a pod set are not done yet, of all it asked for."""
        return int(self.pod_sets()[name]["count"]) - self.done.get(name, 0)

    def charged(self) -> Charges:
        """What it is charged now."""
        total: Counter[Slot] = Counter()
        for placed in self.placed.values():
            total.update(placed.charges)
        return without_nothing(total)

    def pods_done(self, done: dict[str, int]) -> None:
        """So many pods of each pod set are done, in all. Each that runs frees what a pod asks for, at most what is charged."""
        for name, count in done.items():
            need(name in self.pod_sets(), f"it has no pod set `{name}`")
            need(self.done.get(name, 0) <= count, f"fewer pods of `{name}` are done than before")
            need(count <= self.pod_sets()[name]["count"], f"more pods of `{name}` are done than there are")
        before = {name: min(placed.count, self.pods(name)) for name, placed in self.placed.items()}
        self.done |= done
        for name, placed in self.placed.items():
            asked = requests(self.pod_sets()[name])
            over = before[name] - min(placed.count, self.pods(name))
            placed.charges = {slot: max(0, amount - over * asked.get(slot[1], 0)) for slot, amount in placed.charges.items()}

    def adopt(self, placements: Iterable[dict[str, Any]]) -> None:
        """It holds what another system gave it."""
        for each in placements:
            name = each["pod_set"]
            need(name in self.pod_sets(), f"it has no pod set `{name}`")
            need(name not in self.placed, f"pod set `{name}` is placed twice")
            need(set(each["usage"]) <= set(each["flavors"]), f"pod set `{name}` uses a resource that no flavor gives")
            charges = {(each["flavors"][resource], resource): int(amount) for resource, amount in each["usage"].items()}
            self.placed[name] = Placed(each["count"], charges)

    def place(self, assignments: list[dict[str, Any]]) -> None:
        """It is given pods in flavors: those it asked for that are not done, in flavors that will do, one flavor for those of a group."""
        asked, counts = self.pod_sets(), {each["pod_set"]: each["count"] for each in assignments}
        need(set(counts) <= set(asked) and len(counts) == len(assignments), "its assignments are not of its pod sets, or two are of one")
        whole = all(counts.get(name, 0) == self.pods(name) for name in asked)
        elastic = any("minimum" in each for each in asked.values())
        for name, pods in asked.items():
            if elastic:
                least, given = min(pods.get("minimum", pods["count"]), self.pods(name)), counts.get(name, 0)
                need(
                    least <= given <= self.pods(name),
                    f"pod set `{name}` is given {given} pods, of at least {least}, most {self.pods(name)}",
                )
                continue
            least, given = pods.get("min_count", pods["count"]), counts.get(name, 0)
            fewer = any("min_count" in each for each in asked.values()) and least <= given <= pods["count"]
            need(whole or fewer, f"pod set `{name}` is given {given} pods, and asked for {self.pods(name)}")
        groups: dict[str, dict[str, str]] = {}
        for each in assignments:
            name, pods = each["pod_set"], asked[each["pod_set"]]
            for resource, flavor in each["flavors"].items():
                need(resource in requests(pods), f"pod set `{name}` did not ask for {resource}")
                need(flavor in pods["flavors"] or not pods["flavors"], f"flavor {flavor} will not do for pod set `{name}`")
                first = groups.setdefault(pods.get("group", name), {}).setdefault(resource, flavor)
                need(first == flavor, f"pod sets of group `{pods.get('group')}` get different flavors of {resource}")
            charges = {(flavor, resource): requests(pods)[resource] * each["count"] for resource, flavor in each["flavors"].items()}
            self.placed[name] = Placed(each["count"], charges)


def requests(pod_set: dict[str, Any]) -> dict[str, int]:
    """What one pod asks for; of the resource `pods` each pod is one."""
    return {**pod_set["requests"], "pods": 1}
