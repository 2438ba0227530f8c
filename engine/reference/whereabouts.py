"""What can be said of where a live workload stands, as data."""

from typing import Literal

from ..events import Assignment, Charge, Limit, Operand, Part, RuleRef
from .remedies import Remedy


class FlavorStanding(Part):
    """Why a flavor does not serve these resources of a pod set now, or that it would: a reason token and the limit that binds."""

    pod_set: str
    resources: tuple[str, ...]
    flavor: str
    reason: str
    limit: Limit | None


class RuleStanding(Part):
    """What a preempt rule could do for a waiting workload: `not triggered`, its victims are `not enough`, or will be `enough later`."""

    rule: RuleRef
    outcome: Literal["not triggered", "not enough", "enough later"]


class Keeper(Part):
    """A running workload whose eviction only time forbids: until when, and by which protect rule."""

    workload: str
    until: int
    protect: RuleRef | None


class CandidateStanding(Part):
    """A running workload that uses what a waiting one needs, in a policy that decides in cycles, and whether it could go for it.

    outcome: `taken`; `spared` (it fits without); `not reached` (others were enough); or why not: `not allowed` (by the line `rule`),
    `not borrowing` (its queue, or a cohort on its path, uses no more than it owns), `only without borrowing`, `share`. Operands are
    what was compared.
    """

    workload: str
    queue: str
    outcome: Literal["taken", "spared", "not reached", "not allowed", "not borrowing", "only without borrowing", "share"]
    rule: RuleRef | None = None
    operands: tuple[Operand, ...] = ()


class Standing(Part):
    """Where a workload stands at a moment. Times in microseconds, amounts in smallest units; `position` counts from 1 in its queue."""

    workload: str
    state: Literal["running", "pending"]
    time: int
    queue: str
    priority: int
    asked_priority: int | str | None
    submitted: int
    evictions: int
    admitted: int | None = None
    assignments: tuple[Assignment, ...] = ()
    usage: tuple[Charge, ...] = ()
    reason: str
    rule: RuleRef | None = None
    operands: tuple[Operand, ...] = ()
    limit: Limit | None = None
    position: int | None = None
    waiting: int | None = None
    flavors: tuple[FlavorStanding, ...] = ()
    rules: tuple[RuleStanding, ...] = ()
    keepers: tuple[Keeper, ...] = ()
    candidates: tuple[CandidateStanding, ...] = ()
    remedies: tuple[Remedy, ...] = ()
