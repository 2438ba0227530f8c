"""The choices of a policy that hold for all of it: orders, the share formula, the way of deciding. `policy_graph.py` has the rest."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from .guard import VICTIM_FIELDS, Field, Type
from .policy.pass_settings import Passes

LATER = "later"
"""Marks a field that came after the first form of the digest: it takes part in it only where it differs from its default."""


def later(default: Any) -> Any:
    """A field added since policies were first digested, with the value that says nothing new."""
    return field(default=default, metadata={LATER: True})


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One key of an order. Fields: see `gpol.engine.guard` for victims, `QUEUE_KEYS` and `WORKLOAD_KEYS` for the others."""

    field: str
    descending: bool

    @property
    def of_victim(self) -> Field:
        """The field that a key of a victim order reads."""
        path = self.field.removeprefix("victim.")
        return Field("victim", path, VICTIM_FIELDS.get(path, Type.AMOUNT))


QUEUE_KEYS = ("borrowing", "share", "priority", "submitted", "pods")
"""Keys of `order queues by`; a resource name is one too. borrowing: 0 where the workload fits what the node owns, else 1;
share: the node's share with the workload running."""

WORKLOAD_KEYS = ("priority", "submitted", "pods", "evictions")
"""Keys of `order workloads by`; a resource name is one too."""

VICTIM_KEYS = tuple(path for path in VICTIM_FIELDS if VICTIM_FIELDS[path] is not Type.TEXT and path not in ("queue.share_after", "running"))
"""Keys of the `order by` of a preempt rule, each behind `victim.`; a resource name is one too."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Decayed usage: a local queue's usage counts half after `half_life`, is sampled every `sampling` (microseconds), and is
    the sum over resources by weight (1 where none is given)."""

    half_life: int
    sampling: int
    weights: tuple[tuple[str, Fraction], ...]


Strategy = Literal["final-share", "initial-share"]
"""Whom fair preemption may take: final-share, where the victim's side keeps at least the share that the preemptor's side gets;
initial-share, where it has a greater share to begin with."""


@dataclass(frozen=True, slots=True)
class Cycles:
    """Deciding in cycles, as Kueue does: one workload of each queue is considered at a time, every `period` microseconds.

    The root owns nothing, so that what stands directly below it shares nothing with its neighbours; amounts owned are all there is.
    `flat` compares all of them at once by the settings' order of queues; else they are compared level by level in the tree.
    `victims` are looked for classically (each queue's `preemption`) or so that shares even out by `strategies`.
    """

    period: int
    flat: bool
    victims: Literal["classical", "fair"]
    strategies: tuple[Strategy, ...]
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices of a profile: orders, share formula, and when to look at the next flavor.

    `rounded`: shares are rounded as Kueue rounds them, to what a double holds, so that two that are equal but come by different
    ways may differ. `cycles` and `passes` are None where every fact is decided at once; one of them is not in a policy that decides in
    cycles: `cycles` where they nominate, as Kueue's do, `passes` where they are a list of passes. `placing` is how pods are placed, where
    that is said; `room_kept` lists the sizes of pods for which room is kept, each as (resource, amount) in the smallest unit.

    `lost_nodes` says what becomes of a running workload that has lost nodes on which pods of it stood: `replace`, also where nothing is
    said: these pods get other places while all others stay, and where there are none, the workload is evicted; `evict`: it is evicted at
    once; `wait`: nothing, as the nodes may come back. `shrinks_first`: surplus pods of victims go before whole workloads do.
    """

    queue_order: tuple[OrderKey, ...]
    workload_order: tuple[OrderKey, ...]
    share: Literal["borrowed", "used", "none"]
    next_flavor_before_borrowing: bool
    next_flavor_before_evicting: bool
    rounded: bool = later(False)
    cycles: Cycles | None = field(default=None, metadata={LATER: True})
    placing: Literal["", "packed", "spread", "keeping-room"] = later("")
    room_kept: tuple[tuple[tuple[str, int], ...], ...] = later(())
    lost_nodes: Literal["", "replace", "evict", "wait"] = later("")
    passes: Passes | None = field(default=None, metadata={LATER: True})
    shrinks_first: bool = later(False)

    # What the two ways of deciding differ in, one name for each difference: the engine asks for these and not for the way.

    @property
    def in_cycles(self) -> bool:
        """Whether all facts of a moment are taken in before anything is decided, in cycles that nominate or by passes."""
        return self.cycles is not None or self.passes is not None

    @property
    def forest(self) -> bool:
        """Whether what stands directly below the root shares nothing with its neighbours, and there is what is owned and no more."""
        return self.cycles is not None

    @property
    def victims(self) -> Literal["rules", "classical", "fair"]:
        """How victims are looked for: by the policy's preempt rules, or in one of Kueue's two ways."""
        return "rules" if self.cycles is None else self.cycles.victims

    @property
    def strategies(self) -> tuple[Strategy, ...]:
        """The strategies of fair preemption, in the order in which they are tried."""
        return () if self.cycles is None else self.cycles.strategies

    @property
    def flat(self) -> bool:
        """Whether all that queues put up is compared at once; else level by level in the tree."""
        return self.cycles is not None and self.cycles.flat

    @property
    def usage(self) -> Usage | None:
        """How usage of local queues decays; None where nobody goes by it."""
        return None if self.cycles is None else self.cycles.usage

    @property
    def has_surplus(self) -> bool:
        """Whether elastic workloads get and give up surplus while they run; else there may be none."""
        return not self.in_cycles or (self.passes is not None and "allocate" in self.passes.order)

    @property
    def judges_together(self) -> bool:
        """Whether a flavor is judged by all resources that it has to serve together; else by each alone, as Kueue does."""
        return self.cycles is None

    @property
    def counts_levels(self) -> bool:
        """Whether it counts from how far up the tree quota is borrowed, with the victims gone; else only whether it is, as things stand."""
        return self.cycles is not None

    @property
    def places_pods(self) -> Literal["counted", "packed", "spread", "keeping-room"]:
        """How pods are placed: counted, as Kueue does it, or in one of three ways of gpol's own."""
        return "counted" if self.cycles is not None else self.placing or "packed"

    @property
    def replaces_one_node(self) -> bool:
        """Whether only the pods of the first node that a workload has lost get other places, each pod set by itself, as Kueue does it."""
        return self.cycles is not None

    @property
    def follows_nodes(self) -> bool:
        """Whether a node that left is lost to all who have pods there; else only where that is said of them."""
        return self.cycles is None

    @property
    def places_are_asked_for(self) -> bool:
        """Whether pods get places only where they ask for some, as long as their queue has flavors without."""
        return self.cycles is not None

    @property
    def tries_places_apart(self) -> bool:
        """Whether what is tried out on nodes counts under the pods' own flavor alone, though other flavors have the same nodes."""
        return self.cycles is not None

    @property
    def heads_keep_room(self) -> bool:
        """Whether a workload that needs victims and has none keeps room all the same, for as long as a cycle; several may keep the same."""
        return self.cycles is not None

    @property
    def defers(self) -> bool:
        """Whether who was looked at and not admitted is parked or goes on in the next cycle, by a decision of its own."""
        return self.in_cycles
