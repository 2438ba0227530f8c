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


@dataclass(frozen=True, slots=True, kw_only=True)
class Spanned:
    """A node of the tree, with its place."""

    span: Span = field(default=Span(0, 0), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name(Spanned):
    """A name, bare or quoted: the same name either way."""

    text: str


@dataclass(frozen=True, slots=True)
class Text(Spanned):
    """A quoted text, its escapes resolved."""

    text: str


@dataclass(frozen=True, slots=True)
class Number(Spanned):
    """A number with an optional suffix as written: `8`, `2.5`, `500m`, `80Gi`, `10m`, `50%`."""

    text: str


@dataclass(frozen=True, slots=True)
class Amount(Spanned):
    """`8 gpu`: a number and a resource."""

    number: Number
    resource: Name


# --- guards ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FieldRef(Spanned):
    """`victim.queue.share`, `workload.label "tier"`: subject, dotted path, label key."""

    subject: str
    path: str
    label: Text | None = None


@dataclass(frozen=True, slots=True)
class FieldComparison(Spanned):
    """`left op right`; a bare word on the right is a name (of a priority or a queue)."""

    op: Literal["<", "<=", "=", "!=", ">", ">="]
    left: FieldRef
    right: FieldRef | Name | Text | Number | Amount


@dataclass(frozen=True, slots=True)
class AllOf(Spanned):
    """Guards joined by `and`; at least two, none of them AllOf."""

    items: "tuple[Guard, ...]"


@dataclass(frozen=True, slots=True)
class AnyOf(Spanned):
    """Guards joined by `or`; at least two, none of them AnyOf."""

    items: "tuple[Guard, ...]"


@dataclass(frozen=True, slots=True)
class Negation(Spanned):
    """`not guard`."""

    item: "Guard"


Guard = FieldComparison | AllOf | AnyOf | Negation


@dataclass(frozen=True, slots=True)
class Key(Spanned):
    """One key of an `order` list. `asc` where the policy says nothing."""

    path: str
    descending: bool


# --- the policy header ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Use(Spanned):
    """`use gpol.fair`."""

    profile: str


@dataclass(frozen=True, slots=True)
class ShareChoice(Spanned):
    """`share borrowed|used|none`; `share borrowed rounded`; `share of entitlement|owned|cost where nothing is due counts 1`.

    `weights` are those of `share of cost weighing gpu 4, cpu 1`.
    """

    formula: Literal["borrowed", "used", "none", "entitlement", "owned", "cost"]
    rounded: bool = False
    nothing_due: Literal["", "0", "1", "x1000"] = ""
    weights: tuple[tuple[Name, Number], ...] = ()


@dataclass(frozen=True, slots=True)
class Order(Spanned):
    """`order queues by ...` level by level, `order heads by ...` all at once, `order workloads by ...`."""

    subject: Literal["queues", "heads", "workloads"]
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Queueing(Spanned):
    """`queueing best effort`, `queueing strict fifo`."""

    strict: bool


@dataclass(frozen=True, slots=True)
class FlavorChoice(Spanned):
    """`when borrowing|evicting take flavor|try next flavor`."""

    occasion: Literal["borrowing", "evicting"]
    next_flavor: bool


@dataclass(frozen=True, slots=True)
class PreemptBy(Spanned):
    """`preempt by RULE, RULE`; empty for `preempt by nothing`."""

    rules: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class DefaultPriority(Spanned):
    """`default priority NAME`."""

    priority: Name


@dataclass(frozen=True, slots=True)
class Ignore(Spanned):
    """`ignore cpu, memory`."""

    resources: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class PodSize(Spanned):
    """`8 gpu and 96 cpu`: what one pod asks for."""

    amounts: tuple[Amount, ...]


@dataclass(frozen=True, slots=True)
class PlacePods(Spanned):
    """`place pods packed|spread`, `place pods keeping room for 8 gpu and 96 cpu, 1 gpu`: the most important size first."""

    way: Literal["packed", "spread", "keeping-room"]
    sizes: tuple[PodSize, ...] = ()


@dataclass(frozen=True, slots=True)
class LostNodes(Spanned):
    """`when a node is lost replace pods|evict|wait`: what becomes of workloads whose pods stand there."""

    deed: Literal["replace", "evict", "wait"]


@dataclass(frozen=True, slots=True)
class CyclePass(Spanned):
    """`allocate`, `end broken gangs`: one pass of a cycle."""

    name: Literal[
        "nominate", "enqueue", "allocate", "consolidate", "reclaim", "preempt", "backfill", "balance", "end broken gangs"
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShrinkFirst(Spanned):
    """`shrink before evicting`: surplus pods of victims go before whole workloads do."""


@dataclass(frozen=True, slots=True)
class Decide(Spanned):
    """`decide at once` (no period), `decide in cycles of 1s`, `decide in cycles of 1s by allocate, reclaim`."""

    period: Number | None
    passes: tuple[CyclePass, ...] = ()


@dataclass(frozen=True, slots=True)
class PreemptWay(Spanned):
    """`preempt classically` (no strategies), `preempt fairly by final share, initial share`; stands in place of `preempt by`."""

    strategies: tuple[Literal["final-share", "initial-share"], ...]


@dataclass(frozen=True, slots=True)
class UsageDecay(Spanned):
    """`usage halves every 7d, sampled every 5m`."""

    half_life: Number
    sampling: Number


@dataclass(frozen=True, slots=True)
class UsageWeights(Spanned):
    """`usage weighs cpu 1, memory 0`."""

    weights: tuple[tuple[Name, Number], ...]


@dataclass(frozen=True, slots=True)
class Entitle(Spanned):
    """`entitle as owned`, `entitle by weight`, `entitle owned first, then by weight in whole units by priority`,
    `entitle by weight up to demand, in at most 10 rounds, to 1/100`."""

    way: Literal["owned", "weight", "owned-first", "demand"]
    whole_units: bool = False
    by_priority: bool = False
    rounds: Number | None = None
    remainder: Number | None = None


@dataclass(frozen=True, slots=True)
class PlaceKey(Spanned):
    """One key of `place pods by`: `free cpu in steps of 100m asc`, `fits-now desc`."""

    path: str
    resource: Name | None
    descending: bool
    step: Number | None = None


@dataclass(frozen=True, slots=True)
class PlaceBy(Spanned):
    """`place pods by fits-now desc, free gpu asc`: in which order nodes are tried."""

    keys: tuple[PlaceKey, ...]


@dataclass(frozen=True, slots=True)
class ScoreTerm(Spanned):
    """`packed 5`, `packed 2 for gpu`, `least used 1`, `most used 2`, `balanced 1`, `near 5`."""

    term: Literal["packed", "least used", "most used", "balanced", "near"]
    weight: Number
    resource: Name | None = None


@dataclass(frozen=True, slots=True)
class ScoreNodes(Spanned):
    """`score nodes packed 5 for gpu, balanced 1`: what the key `score` adds up."""

    terms: tuple[ScoreTerm, ...]


@dataclass(frozen=True, slots=True)
class BoundTerm(Spanned):
    """`limits`, `entitlement`, `owned if never evicted`, `6/5 of what exists`."""

    bound: Literal["limits", "entitlement", "owned if never evicted", "existing"]
    factor: Number | None = None


@dataclass(frozen=True, slots=True)
class WithinChoice(Spanned):
    """`admit within limits, entitlement`, `enqueue within limits`."""

    occasion: Literal["admit", "enqueue"]
    bounds: tuple[BoundTerm, ...]


@dataclass(frozen=True, slots=True)
class BrokenGangs(Spanned):
    """`gangs broken for 60s end`."""

    grace: Number


@dataclass(frozen=True, slots=True)
class StartCap(Spanned):
    """`start up to 1/4 of gpu a cycle`: parts of what exists."""

    parts: tuple[tuple[Number, Name], ...]


Choice = (
    Use
    | ShareChoice
    | Order
    | Queueing
    | FlavorChoice
    | PreemptBy
    | PreemptWay
    | Decide
    | UsageDecay
    | UsageWeights
    | DefaultPriority
    | Ignore
    | PlacePods
    | LostNodes
    | Entitle
    | PlaceBy
    | ScoreNodes
    | WithinChoice
    | BrokenGangs
    | StartCap
    | ShrinkFirst
)


@dataclass(frozen=True, slots=True)
class Header(Spanned):
    """`policy "name" { ... }` or `profile "name" { ... }`."""

    keyword: Literal["policy", "profile"]
    name: Text
    choices: tuple[Choice, ...]


# --- what exists ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResourceItem(Spanned):
    """`resource license`."""

    name: Name


@dataclass(frozen=True, slots=True)
class LevelStatement(Spanned):
    """`level rack from label "cloud/rack"` in a topology; without a label `level host from node`."""

    name: Name
    label: str | None


@dataclass(frozen=True, slots=True)
class TopologyItem(Spanned):
    """`topology fabric { ... }`: levels from the widest down."""

    name: Name
    levels: tuple[LevelStatement, ...]


@dataclass(frozen=True, slots=True)
class CapacityStatement(Spanned):
    """`gpu 256` in a flavor."""

    resource: Name
    number: Number


@dataclass(frozen=True, slots=True)
class LabelEquals(Spanned):
    """`gpu.product = "A100"` in a node selector."""

    key: str
    value: Text


@dataclass(frozen=True, slots=True)
class FromNodes(Spanned):
    """`gpu, cpu from nodes where a = "x" and b = "y"`."""

    resources: tuple[Name, ...]
    labels: tuple[LabelEquals, ...]


@dataclass(frozen=True, slots=True)
class Worth(Spanned):
    """`worth 2.5`."""

    number: Number


@dataclass(frozen=True, slots=True)
class AsOwned(Spanned):
    """`gpu, cpu as owned`: there is as much as cohorts and queues own together."""

    resources: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class NodeLabel(Spanned):
    """`label pool = "spot"` in a flavor: what its nodes are labelled with."""

    label: LabelEquals


@dataclass(frozen=True, slots=True)
class TaintStatement(Spanned):
    """`taint pool = "spot" NoSchedule` in a flavor; without a value `taint pool NoSchedule`."""

    key: str
    value: Text | None
    effect: str


@dataclass(frozen=True, slots=True)
class Tolerates(Spanned):
    """`tolerates pool = "spot" NoSchedule`, `tolerates pool` (any value), `tolerates anything`; no effect: all of them."""

    key: str | None
    value: Text | None
    effect: str | None


@dataclass(frozen=True, slots=True)
class Missing(Spanned):
    """`missing`: queues name the flavor, and nothing defines it."""


@dataclass(frozen=True, slots=True)
class PlacedIn(Spanned):
    """`placed in fabric` in a flavor: its pods get places in a topology; `placed on nodes`, without one."""

    topology: Name | None


@dataclass(frozen=True, slots=True)
class FlavorItem(Spanned):
    """`flavor h100 { ... }`."""

    name: Name
    body: tuple[CapacityStatement | FromNodes | AsOwned | Worth | NodeLabel | TaintStatement | Tolerates | Missing | PlacedIn, ...]


@dataclass(frozen=True, slots=True)
class NeverEvicted(Spanned):
    """`never evicted` in a priority."""


@dataclass(frozen=True, slots=True)
class QueueLimits(Spanned):
    """`queues use up to 1/4 of cpu, 1/8 of gpu` in a priority: parts of what exists."""

    parts: tuple[tuple[Number, Name], ...]


@dataclass(frozen=True, slots=True)
class PriorityItem(Spanned):
    """`priority production 1000 { never evicted }`."""

    name: Name
    value: Number
    never_evicted: bool
    limits: QueueLimits | None = None


# --- cohorts and queues ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuotaStatement(Spanned):
    """A quota statement.

    verb and limit: owns amount|nothing|anything; uses up-to; borrows and lends up-to|nothing|anything, lends all-but; guarantees amount.
    `amount` is None for nothing and anything. `flavor` is what stands after `on`.
    """

    verb: Literal["owns", "uses", "borrows", "lends", "guarantees"]
    limit: Literal["amount", "up-to", "all-but", "nothing", "anything"]
    amount: Amount | None
    flavor: Name | None


@dataclass(frozen=True, slots=True)
class Weight(Spanned):
    """`weight 2`."""

    number: Number


@dataclass(frozen=True, slots=True)
class ResourceWeight(Spanned):
    """`weight 2 for gpu`."""

    number: Number
    resource: Name


@dataclass(frozen=True, slots=True)
class QueuePriority(Spanned):
    """`priority 100` of a queue or cohort."""

    number: Number


@dataclass(frozen=True, slots=True)
class NeverReclaimed(Spanned):
    """`never reclaimed` of a queue."""


@dataclass(frozen=True, slots=True)
class MatchCondition(Spanned):
    """`namespace "nlp-*"`, `label "tier" = "prod"`."""

    attribute: Literal["namespace", "user", "group", "kind", "label"]
    key: Text | None
    pattern: Text


@dataclass(frozen=True, slots=True)
class Match(Spanned):
    """`for CONDITION and CONDITION`."""

    conditions: tuple[MatchCondition, ...]


@dataclass(frozen=True, slots=True)
class FlavorList(Spanned):
    """`prefer h100, a100` or `only h100, a100`."""

    verb: Literal["prefer", "only"]
    flavors: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Ceiling(Spanned):
    """`priority at most batch`."""

    priority: Name


@dataclass(frozen=True, slots=True)
class Serves(Spanned):
    """`serves gpu, cpu from h100, a100`: resources that one flavor serves together, and the flavors in order.

    Both empty: `serves nothing`.
    """

    resources: tuple[Name, ...]
    flavors: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Rather(Spanned):
    """`rather borrow than evict`, `rather evict than borrow`: which of two flavors is better."""

    rather: Literal["borrow", "evict"]


@dataclass(frozen=True, slots=True)
class Evicts(Spanned):
    """Whom a queue may evict, in a policy that decides in cycles.

    occasion own: `evicts its own of lower priority [or newer]`. reclaims: `reclaims from lower priority|anyone`.
    borrowing: `borrows by evicting lower priority [up to 100]`.
    """

    occasion: Literal["own", "reclaims", "borrowing"]
    whom: Literal["lower", "lower-or-newer", "any"]
    up_to: Number | None = None


@dataclass(frozen=True, slots=True)
class Stopped(Spanned):
    """`stopped` (nothing new is admitted), `stopped and drained` (what runs is evicted, too)."""

    drained: bool


@dataclass(frozen=True, slots=True)
class LabelTest(Spanned):
    """`label "dep" in "eng", "lend"`, `... not in ...`, `label "dep" exists`, `label "dep" absent`."""

    key: Text
    test: Literal["in", "not in", "exists", "absent"]
    values: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Namespaces(Spanned):
    """`for namespaces where TEST and TEST`; without tests `for no namespaces`."""

    tests: tuple[LabelTest, ...]


@dataclass(frozen=True, slots=True)
class NeedsCheck(Spanned):
    """`needs check "prov"`, `needs check "prov" on h100, a100`; `for_nodes`: `needs check "prov" on h100 for nodes`."""

    check: Name
    flavors: tuple[Name, ...]
    for_nodes: bool = False


@dataclass(frozen=True, slots=True)
class ByUsage(Spanned):
    """`admits by usage`: waiting workloads of the local queue that used least go first."""


@dataclass(frozen=True, slots=True)
class LocalQueueStatement(Spanned):
    """`local queue "team/interactive" { weight 2 }` inside a queue."""

    name: Name
    body: tuple[Weight | Stopped, ...]


@dataclass(frozen=True, slots=True)
class QueueItem(Spanned):
    """`queue nlp { ... }`."""

    name: Name
    body: tuple[
        QuotaStatement
        | Weight
        | ResourceWeight
        | QueuePriority
        | Match
        | FlavorList
        | Ceiling
        | DefaultPriority
        | Queueing
        | FlavorChoice
        | Serves
        | Rather
        | Evicts
        | Stopped
        | Namespaces
        | NeedsCheck
        | ByUsage
        | LocalQueueStatement
        | NeverReclaimed,
        ...,
    ]


@dataclass(frozen=True, slots=True)
class CohortItem(Spanned):
    """`cohort research { ... }`."""

    name: Name
    body: "tuple[QuotaStatement | Weight | ResourceWeight | QueuePriority | QueueItem | CohortItem, ...]"


# --- rules ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TriggerStatement(Spanned):
    """`when workload fits what its queue|cohort owns`."""

    owner: Literal["queue", "cohort"]


@dataclass(frozen=True, slots=True)
class EvictFrom(Spanned):
    """`evict from the same queue | other queues | queues that borrow | any queue [, in the same cohort]`."""

    scope: Literal["same-queue", "borrowing-queues", "any-queue", "other-queues"]
    same_cohort: bool


@dataclass(frozen=True, slots=True)
class Where(Spanned):
    """`where GUARD`."""

    guard: Guard


@dataclass(frozen=True, slots=True)
class OrderBy(Spanned):
    """`order by KEY, ...` in a preempt rule."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class PassTrigger(Spanned):
    """`when workload fits what its queue is entitled to [in any resource][, up to 2 levels above]`, `when workload may be evicted`."""

    occasion: Literal["fits-entitlement", "may-be-evicted"]
    any_resource: bool = False
    levels: Number | None = None


@dataclass(frozen=True, slots=True)
class InPass(Spanned):
    """`in reclaim` in a preempt rule."""

    cycle_pass: CyclePass


@dataclass(frozen=True, slots=True)
class SearchStatement(Spanned):
    """`search by scenarios[, moving whom it can|everybody[, at most 16 workloads]]`, `search node by node[, sparing whom it can]`,
    `search by rescheduling`."""

    way: Literal["by scenarios", "node by node", "by rescheduling"]
    moving: Literal["", "whom it can", "everybody"] = ""
    most: Number | None = None
    sparing: bool = False


@dataclass(frozen=True, slots=True)
class Take(Spanned):
    """`take whole workloads`, `take single pods`, `take surplus pods one by one, then the rest together`."""

    unit: Literal["whole workloads", "single pods", "surplus pods one by one, then the rest together"]


@dataclass(frozen=True, slots=True)
class AcceptTerm(Spanned):
    """`victim side is over [1/2 of] its [uncapped] entitlement`, `workload side is owed what it owns`,
    `[3/2 of] workload side stays less saturated`."""

    test: Literal["over-entitlement", "over-uncapped", "owed", "less-saturated"]
    part: Number | None = None


@dataclass(frozen=True, slots=True)
class AcceptWhere(Spanned):
    """`accept where TEST or TEST`."""

    terms: tuple[AcceptTerm, ...]


@dataclass(frozen=True, slots=True)
class VoteWord(Spanned):
    """`gang`: who has a say."""

    name: Literal["gang", "priority", "conformance", "deserved", "share"]


@dataclass(frozen=True, slots=True)
class VoteTier(Spanned):
    """`{ gang, conformance }`."""

    votes: tuple[VoteWord, ...]


@dataclass(frozen=True, slots=True)
class Votes(Spanned):
    """`votes { gang, conformance } then { deserved }`."""

    tiers: tuple[VoteTier, ...]


@dataclass(frozen=True, slots=True)
class PreemptItem(Spanned):
    """`preempt reclaim-owned { ... }`."""

    name: Name
    body: tuple[TriggerStatement | EvictFrom | Where | OrderBy | PassTrigger | InPass | SearchStatement | Take | AcceptWhere | Votes, ...]


@dataclass(frozen=True, slots=True)
class ProtectItem(Spanned):
    """`protect warm-up for a, b { where ... }`."""

    name: Name
    scope: tuple[Name, ...]
    where: Where | None


@dataclass(frozen=True, slots=True)
class AdmissionItem(Spanned):
    """`deny NAME for a { where ... } because "..."`, and `hold`."""

    action: Literal["deny", "hold"]
    name: Name
    scope: tuple[Name, ...]
    where: Where | None
    because: Text


RuleItem = PreemptItem | ProtectItem | AdmissionItem


def keyword(rule: RuleItem) -> str:
    """The word with which a rule begins."""
    match rule:
        case PreemptItem():
            return "preempt"
        case ProtectItem():
            return "protect"
        case AdmissionItem(action):
            return action


# --- tests ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attribute(Spanned):
    """`priority batch`, `user "ada"`, `label "k" = "v"`, `namespace label "k" = "v"` of a submission."""

    attribute: Literal["priority", "user", "group", "namespace", "kind", "label", "namespace label"]
    key: Text | None
    value: Name | Text | Number


@dataclass(frozen=True, slots=True)
class PlaceWish(Spanned):
    """`within rack`, `near rack`, `anywhere`: how far from one another pods may stand."""

    wish: Literal["within", "near", "anywhere"]
    level: Name | None


@dataclass(frozen=True, slots=True)
class InSlices(Spanned):
    """`in slices of 4 within host`: so many pods of a set stand in one domain of a level."""

    size: Number
    level: Name


@dataclass(frozen=True, slots=True)
class Pods(Spanned):
    """`16 gpu and 64 cpu on a100 or h100`; with a gang, `gang of 64 x 1 gpu`; with places, `within rack in slices of 4 within host`.

    Without `gang` the pods do not all start together: `8 x 1 gpu`, with the `minimum` of them that do, `at least 4`, behind a comma.
    """

    count: Number | None
    amounts: tuple[Amount, ...]
    flavors: tuple[Name, ...]
    place: PlaceWish | None = None
    slices: tuple[InSlices, ...] = ()
    gang: bool = True
    minimum: Number | None = None


@dataclass(frozen=True, slots=True)
class PodSetGroup(Spanned):
    """`group workers { ... }`: sets of pods that go together."""

    name: Name
    pods: tuple[Pods, ...]


@dataclass(frozen=True, slots=True)
class Submit(Spanned):
    """`submit W by QUEUE { ... }`. In `astray` is each `at least N` that does not stand behind a set of pods."""

    workload: Name
    queue: Name | None
    pods: tuple[Pods | PodSetGroup, ...]
    attributes: tuple[Attribute, ...]
    astray: tuple[Number, ...] = ()

    @property
    def pod_sets(self) -> tuple[tuple[Pods, str], ...]:
        """Each set of pods in order, with the name of its group; empty for none."""
        return tuple(
            (pods, entry.name.text if isinstance(entry, PodSetGroup) else "")
            for entry in self.pods
            for pods in (entry.pods if isinstance(entry, PodSetGroup) else (entry,))
        )


@dataclass(frozen=True, slots=True)
class Act(Spanned):
    """`finish W`, `cancel W`, `hold W`, `release W`, `evict W`."""

    action: Literal["finish", "cancel", "hold", "release", "evict"]
    workload: Name


@dataclass(frozen=True, slots=True)
class SetCapacity(Spanned):
    """`capacity h100 128 gpu`."""

    flavor: Name
    amount: Amount


@dataclass(frozen=True, slots=True)
class NodeAmounts(Spanned):
    """`8 gpu and 64 cpu` of a node."""

    amounts: tuple[Amount, ...]


@dataclass(frozen=True, slots=True)
class Cordoned(Spanned):
    """`cordoned`: the node takes no new pods."""


@dataclass(frozen=True, slots=True)
class SetNode(Spanned):
    """`node n1 { 8 gpu, label rack = "r1", taint maintenance NoSchedule, cordoned }`: all that is known of the node now."""

    node: Name
    entries: tuple[NodeAmounts | NodeLabel | TaintStatement | Cordoned, ...]


@dataclass(frozen=True, slots=True)
class RemoveNode(Spanned):
    """`remove node n1`."""

    node: Name


Action = Submit | Act | SetCapacity | SetNode | RemoveNode


@dataclass(frozen=True, slots=True)
class At(Spanned):
    """`at T` with the action that follows, if one does."""

    time: Number
    action: Action | None


@dataclass(frozen=True, slots=True)
class Expect(Spanned):
    """`expect W admitted borrowing on h100`, `... pending because R by RULE`, `... evicted by RULE`, `... rejected by RULE`.

    `nodes` are those of `... admitted on nodes n1, n2`; empty where the test says nothing of them. `pods` is how many run in all, of
    `... admitted with 6 pods`.
    """

    workload: Name
    state: Literal["admitted", "pending", "evicted", "rejected"]
    borrowing: bool = False
    flavor: Name | None = None
    reason: Name | None = None
    rule: Name | None = None
    nodes: tuple[Name, ...] = ()
    pods: Amount | None = None


@dataclass(frozen=True, slots=True)
class PolicyTest(Spanned):
    """`test "..." { ... }`."""

    name: Text
    steps: tuple[At | Expect, ...]


Item = (
    Header
    | ResourceItem
    | TopologyItem
    | FlavorItem
    | PriorityItem
    | CohortItem
    | QueueItem
    | PreemptItem
    | ProtectItem
    | AdmissionItem
    | PolicyTest
)


@dataclass(frozen=True, slots=True)
class File(Spanned):
    """A whole file, its items in the order of the text."""

    items: tuple[Item, ...]
