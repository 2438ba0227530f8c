"""The syntax tree of a `.gpol` file: what the text says, item by item, before anything is checked.

Every node is a frozen dataclass with a `span` that takes no part in equality, so two trees are equal when they say the same.
Numbers keep the text they were written with; the checker gives them a meaning.
"""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the source: character offsets, end exclusive."""

    start: int
    end: int


_NOWHERE = Span(0, 0)


def _span() -> Span:
    return field(default=_NOWHERE, compare=False, repr=False, kw_only=True)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Name:
    """A name, bare or quoted: the same name either way."""

    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted text, its escapes resolved."""

    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Number:
    """A number with an optional suffix as written: `8`, `2.5`, `500m`, `80Gi`, `10m`, `50%`."""

    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Amount:
    """`8 gpu`: a number and a resource."""

    number: Number
    resource: Name
    span: Span = _span()


# --- guards ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FieldRef:
    """`victim.queue.share`, `workload.label "tier"`: subject, dotted path, label key."""

    subject: str
    path: str
    label: Text | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left op right`; a bare word on the right is a name (of a priority or a queue)."""

    op: Literal["<", "<=", "=", "!=", ">", ">="]
    left: FieldRef
    right: FieldRef | Name | Text | Number | Amount
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class AllOf:
    """Guards joined by `and`; at least two, none of them AllOf."""

    items: "tuple[Guard, ...]"
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Guards joined by `or`; at least two, none of them AnyOf."""

    items: "tuple[Guard, ...]"
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Negation:
    """`not guard`."""

    item: "Guard"
    span: Span = _span()


Guard = Comparison | AllOf | AnyOf | Negation


@dataclass(frozen=True, slots=True)
class Key:
    """One key of an `order` list. `asc` where the policy says nothing."""

    path: str
    descending: bool
    span: Span = _span()


# --- the policy header ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Use:
    """`use gpol.fair`."""

    profile: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Share:
    """`share borrowed|used|none`."""

    formula: Literal["borrowed", "used", "none"]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Order:
    """`order queues by ...`, `order workloads by ...`."""

    subject: Literal["queues", "workloads"]
    keys: tuple[Key, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Queueing:
    """`queueing best effort`, `queueing strict fifo`."""

    strict: bool
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class FlavorChoice:
    """`when borrowing|evicting take flavor|try next flavor`."""

    occasion: Literal["borrowing", "evicting"]
    next_flavor: bool
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class PreemptBy:
    """`preempt by RULE, RULE`; empty for `preempt by nothing`."""

    rules: tuple[Name, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class DefaultPriority:
    """`default priority NAME`."""

    priority: Name
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Ignore:
    """`ignore cpu, memory`."""

    resources: tuple[Name, ...]
    span: Span = _span()


Choice = Use | Share | Order | Queueing | FlavorChoice | PreemptBy | DefaultPriority | Ignore


@dataclass(frozen=True, slots=True)
class Header:
    """`policy "name" { ... }` or `profile "name" { ... }`."""

    keyword: Literal["policy", "profile"]
    name: Text
    choices: tuple[Choice, ...]
    span: Span = _span()


# --- what exists ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Resource:
    """`resource license`."""

    name: Name
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Capacity:
    """`gpu 256` in a flavor."""

    resource: Name
    number: Number
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class LabelEquals:
    """`gpu.product = "A100"` in a node selector."""

    key: str
    value: Text
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class FromNodes:
    """`gpu, cpu from nodes where a = "x" and b = "y"`."""

    resources: tuple[Name, ...]
    labels: tuple[LabelEquals, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Worth:
    """`worth 2.5`."""

    number: Number
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Flavor:
    """`flavor h100 { ... }`."""

    name: Name
    body: tuple[Capacity | FromNodes | Worth, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Priority:
    """`priority production 1000 { never evicted }`."""

    name: Name
    value: Number
    never_evicted: bool
    span: Span = _span()


# --- cohorts and queues ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quota:
    """A quota statement.

    verb and limit: owns amount|nothing; borrows and lends up-to|nothing|anything, lends all-but; guarantees amount.
    `amount` is None for nothing and anything. `flavor` is what stands after `on`.
    """

    verb: Literal["owns", "borrows", "lends", "guarantees"]
    limit: Literal["amount", "up-to", "all-but", "nothing", "anything"]
    amount: Amount | None
    flavor: Name | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Weight:
    """`weight 2`."""

    number: Number
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class MatchCondition:
    """`namespace "nlp-*"`, `label "tier" = "prod"`."""

    attribute: Literal["namespace", "user", "group", "kind", "label"]
    key: Text | None
    pattern: Text
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Match:
    """`for CONDITION and CONDITION`."""

    conditions: tuple[MatchCondition, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class FlavorList:
    """`prefer h100, a100` or `only h100, a100`."""

    verb: Literal["prefer", "only"]
    flavors: tuple[Name, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Ceiling:
    """`priority at most batch`."""

    priority: Name
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Queue:
    """`queue nlp { ... }`."""

    name: Name
    body: tuple[Quota | Weight | Match | FlavorList | Ceiling | DefaultPriority | Queueing, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Cohort:
    """`cohort research { ... }`."""

    name: Name
    body: "tuple[Quota | Weight | Queue | Cohort, ...]"
    span: Span = _span()


# --- rules ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trigger:
    """`when workload fits what its queue|cohort owns`."""

    owner: Literal["queue", "cohort"]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class EvictFrom:
    """`evict from the same queue | queues that borrow | any queue [, in the same cohort]`."""

    scope: Literal["same-queue", "borrowing-queues", "any-queue"]
    same_cohort: bool
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Where:
    """`where GUARD`."""

    guard: Guard
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class OrderBy:
    """`order by KEY, ...` in a preempt rule."""

    keys: tuple[Key, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Preempt:
    """`preempt reclaim-owned { ... }`."""

    name: Name
    body: tuple[Trigger | EvictFrom | Where | OrderBy, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Protect:
    """`protect warm-up for a, b { where ... }`."""

    name: Name
    scope: tuple[Name, ...]
    where: Where | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Admission:
    """`deny NAME for a { where ... } because "..."`, and `hold`."""

    action: Literal["deny", "hold"]
    name: Name
    scope: tuple[Name, ...]
    where: Where | None
    because: Text
    span: Span = _span()


# --- tests ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attribute:
    """`priority batch`, `user "ada"`, `label "k" = "v"` of a submission."""

    attribute: Literal["priority", "user", "group", "namespace", "kind", "label"]
    key: Text | None
    value: Name | Text | Number
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Pods:
    """`16 gpu and 64 cpu on a100 or h100`; with a gang, `gang of 64 x 1 gpu`."""

    count: Number | None
    amounts: tuple[Amount, ...]
    flavors: tuple[Name, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Submit:
    """`submit W by QUEUE { ... }`."""

    workload: Name
    queue: Name | None
    pods: tuple[Pods, ...]
    attributes: tuple[Attribute, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Act:
    """`finish W`, `cancel W`, `hold W`, `release W`, `evict W`."""

    action: Literal["finish", "cancel", "hold", "release", "evict"]
    workload: Name
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class SetCapacity:
    """`capacity h100 128 gpu`."""

    flavor: Name
    amount: Amount
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class At:
    """`at T` with the action that follows, if one does."""

    time: Number
    action: Submit | Act | SetCapacity | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Expect:
    """`expect W admitted borrowing on h100`, `... pending because R by RULE`, `... evicted by RULE`, `... rejected by RULE`."""

    workload: Name
    state: Literal["admitted", "pending", "evicted", "rejected"]
    borrowing: bool = False
    flavor: Name | None = None
    reason: Name | None = None
    rule: Name | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Test:
    """`test "..." { ... }`."""

    name: Text
    steps: tuple[At | Expect, ...]
    span: Span = _span()


Item = Header | Resource | Flavor | Priority | Cohort | Queue | Preempt | Protect | Admission | Test


@dataclass(frozen=True, slots=True)
class File:
    """A whole file, its items in the order of the text."""

    items: tuple[Item, ...]
    span: Span = _span()
