"""A policy graph as a list of statements, in words and by name. Two policies are compared in this form.

A statement is about one thing that a subject says. It has a value, which is equal for equal meanings (it has no places, indices or
spelling), a text to show and, where there is an order, an extent: of two statements about the same thing, the one with the greater
extent says more. What a subject leaves out has its default value, and is not a statement.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ...engine.nodes.conditions import Taint, Toleration
from ...engine.policy_graph import Flavor, Level, PolicyGraph, PriorityClass, Source, Topology
from ...engine.policy_settings import Cycles, OrderKey, Settings
from ...engine.units import format_amount, format_duration
from ..print.words import quoted

SubjectKind = Literal[
    "policy", "topology", "flavor", "priority", "cohort", "queue", "local queue", "preempt rule", "protect rule", "deny rule", "hold rule"
]  # fmt: skip

Thing = Literal[
    "name", "ignore", "resources from one flavor", "order queues", "order workloads", "share", "when borrowing", "when evicting",
    "preempt by", "shrink before evicting",
    "place pods", "when a node is lost", "decide", "victims", "usage halves every", "usage sampled every", "usage weighs",
    "has", "nodes where", "worth", "label", "taint", "tolerates", "missing", "placed in", "levels",
    "value", "never evicted",
    "in", "weight", "owns", "borrows", "lends", "for", "flavors", "serves", "priority at most", "default priority",
    "default is never evicted", "queueing", "by usage", "rather", "evicts its own of", "reclaims from", "borrows by evicting",
    "stopped", "for namespaces where", "needs check", "leads to",
    "when", "evict from", "where", "order by", "because",
    "entitle", "score nodes", "admit within", "enqueue within", "gangs broken", "queues use up to", "priority", "uses", "owns all",
    "guarantees", "weight for", "in pass", "search", "take", "accept where", "votes", "fits in",
    "start up to", "never reclaimed",
]  # fmt: skip
"""What a statement is about, by the subjects that say it: the policy, flavors, topologies, priorities, cohorts and queues, rules; and last
what only policies say that decide by passes."""


class Subject(NamedTuple):
    """The part of a policy that makes a statement, by kind and name. The policy as a whole has an empty name, because there is only one."""

    kind: SubjectKind
    name: str

    def __str__(self) -> str:
        """The subject in words: `queue nlp`."""
        return f"{self.kind} {self.name}".rstrip()


class Said(NamedTuple):
    """What is said: its meaning, its text, and how much it is. Extents compare by `<`, which may be a partial order; None: no order."""

    value: object
    text: str
    extent: Any = None


@dataclass(frozen=True, slots=True)
class Statement:
    """What a subject says about one thing, what holds where it says nothing (None: it always says it), and the line that says it.

    `fields` are those of the graph that say it, of the subject's own part; of a part of that with a dot. `slot` is the flavor and the
    resource that it is about, by name. Where a subject says a thing of several parts, such as resources, `of` tells of which, in words.
    """

    thing: Thing
    said: Said
    unsaid: Said | None
    source: Source
    fields: tuple[str, ...]
    slot: tuple[str, str] | None = None
    of: str = ""

    @property
    def about(self) -> str:
        """The thing in words: `owns gpu on h100`."""
        return f"{self.thing} {self.of}".rstrip()


class Less:
    """An extent that is the greater the less there is of what it wraps."""

    __slots__ = ("inner",)

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __lt__(self, other: "Less") -> bool:
        """Whether the other wraps less."""
        return bool(other.inner < self.inner)


class Entry(NamedTuple):
    """What a subject says, and the line that declares it; one that says nothing beyond that it is there has no statements."""

    statements: tuple[Statement, ...]
    source: Source


Table = dict[Subject, Entry]
"""What every subject of a policy says."""


def spoken(statements: Iterator[Statement]) -> tuple[Statement, ...]:
    """The statements without those that say what would hold without them."""
    return tuple(each for each in statements if each.unsaid is None or each.said.value != each.unsaid.value)


def yes_or_no(value: bool, more: bool = True) -> Said:
    """A statement that is made or not; `more` says whether to make it is more than not to."""
    return Said(value, "yes" if value else "no", value if more else not value)


# --- the policy as a whole ------------------------------------------------------------------------------------------


def policy(graph: PolicyGraph) -> Iterator[Statement]:
    """The choices of the header and of its profile; all at the header's line. Those of passes: `statements_of_passes.py`."""
    settings, place = graph.settings, graph.nodes[0].source
    cycles = settings.cycles
    heads = cycles is not None and cycles.flat
    yield Statement("name", Said(graph.name, quoted(graph.name)), None, place, ("name",))
    yield Statement("ignore", Said(graph.ignored, ", ".join(graph.ignored)), Said((), "nothing"), place, ("ignored",))
    together = "; ".join(", ".join(group) for group in graph.groups)
    yield Statement("resources from one flavor", Said(graph.groups, together or "none"), None, place, ("groups",))
    order = f"{'heads' if heads else 'queues'} by {keys(settings.queue_order)}"
    yield Statement(
        "order queues", Said((heads, settings.queue_order), order), None, place, ("settings.queue_order", "settings.cycles.flat")
    )
    yield Statement(
        "order workloads", Said(settings.workload_order, f"by {keys(settings.workload_order)}"), None, place, ("settings.workload_order",)
    )
    if settings.passes is None:
        share = settings.share + (" rounded" if settings.rounded else "")
        yield Statement("share", Said((settings.share, settings.rounded), share), None, place, ("settings.share", "settings.rounded"))
    yield Statement(
        "when borrowing", next_flavor(settings.next_flavor_before_borrowing), None, place, ("settings.next_flavor_before_borrowing",)
    )
    yield Statement(
        "when evicting", next_flavor(settings.next_flavor_before_evicting), None, place, ("settings.next_flavor_before_evicting",)
    )
    rules = tuple(rule.name for rule in graph.preempt)
    yield Statement("preempt by", Said(rules, ", ".join(rules)), Said((), "nothing"), place, ("preempt",))
    shrinks = Said(settings.shrinks_first, "yes" if settings.shrinks_first else "no")
    yield Statement("shrink before evicting", shrinks, Said(False, "no"), place, ("settings.shrinks_first",))
    if settings.passes is None:
        yield _placing(settings, place)
        yield from _cycles(cycles, place)
    yield _lost_nodes(settings, place)


def _placing(settings: Settings, place: Source) -> Statement:
    """How pods get places. Where nothing is said, what holds by default: to write it out changes nothing."""
    sizes = (" and ".join(f"{format_amount(amount, resource)} {resource}" for resource, amount in size) for size in settings.room_kept)
    placing = settings.placing or "packed"
    way = f"keeping room for {', '.join(sizes) or 'nothing'}" if placing == "keeping-room" else placing
    said, packed = Said((placing, settings.room_kept), way), Said(("packed", ()), "packed")
    return Statement("place pods", said, packed, place, ("settings.placing", "settings.room_kept"))


def _lost_nodes(settings: Settings, place: Source) -> Statement:
    lost = settings.lost_nodes or "replace"
    deed = "replace pods" if lost == "replace" else lost
    return Statement("when a node is lost", Said(lost, deed), Said("replace", "replace pods"), place, ("settings.lost_nodes",))


def _cycles(cycles: Cycles | None, place: Source) -> Iterator[Statement]:
    at_once = Said(None, "at once")
    if cycles is None:
        yield Statement("decide", at_once, None, place, ("settings.cycles",))
        return
    yield Statement(
        "decide", Said(cycles.period, f"in cycles of {format_duration(cycles.period)}"), None, place, ("settings.cycles.period",)
    )
    strategies = ", ".join(strategy.replace("-", " ") for strategy in cycles.strategies)
    way = f"{cycles.victims} by {strategies}" if strategies else cycles.victims
    yield Statement(
        "victims",
        Said((cycles.victims, cycles.strategies), way),
        Said(None, "by preempt rules"),
        place,
        ("settings.cycles.victims", "settings.cycles.strategies"),
    )
    if cycles.usage is None:
        return
    usage = cycles.usage
    not_at_all = Said(None, "never")
    yield Statement(
        "usage halves every",
        Said(usage.half_life, format_duration(usage.half_life)),
        not_at_all,
        place,
        ("settings.cycles.usage.half_life",),
    )
    yield Statement(
        "usage sampled every", Said(usage.sampling, format_duration(usage.sampling)), not_at_all, place, ("settings.cycles.usage.sampling",)
    )
    for resource, weight in usage.weights:
        said = Said(weight, str(weight))
        yield Statement("usage weighs", said, Said(1, "1"), place, ("settings.cycles.usage.weights",), of=resource)


def next_flavor(looks: bool) -> Said:
    """Whether the search for a flavor goes on."""
    return Said(looks, "try next flavor" if looks else "take flavor")


def keys(order: tuple[OrderKey, ...]) -> str:
    """The keys of an order, each with its direction."""
    return ", ".join(f"{key.field} {'desc' if key.descending else 'asc'}" for key in order) or "nothing"


# --- what exists ----------------------------------------------------------------------------------------------------


def topology(each: Topology) -> Iterator[Statement]:
    """The levels of a topology, which have an order."""
    levels = Said(tuple((level.name, level.label) for level in each.levels), ", ".join(map(_level, each.levels)))
    yield Statement("levels", levels, None, each.source, ("levels",))


def _level(level: Level) -> str:
    return f"{level.name} from " + ("node" if level.label is None else f"label {quoted(level.label)}")


def flavor(graph: PolicyGraph, each: Flavor) -> Iterator[Statement]:
    """What there is of a flavor, its worth, what its nodes are like, and in which topology its pods get places."""
    for resource, amount in each.capacity:
        there = Said(amount, format_amount(amount, resource), amount) if each.nodes is None else Said(("nodes", amount), "from nodes")
        slot = each.name, resource
        yield Statement("has", there, Said(None, "none", -1), each.source, ("capacity", "nodes"), slot, resource)
    nodes = " and ".join(f"{key} = {quoted(value)}" for key, value in each.nodes or ())
    yield Statement("nodes where", Said(each.nodes, nodes), Said(None, "none"), each.source, ("nodes", "capacity"))
    yield Statement("worth", Said(each.worth, str(each.worth)), Said(1, "1"), each.source, ("worth",))
    labels = ", ".join(f"{key} = {quoted(value)}" for key, value in each.labels)
    yield Statement("label", Said(each.labels, labels), Said((), "none"), each.source, ("labels",))
    taints = Said(each.taints, ", ".join(map(taint_told, each.taints)), Less(frozenset(each.taints)))
    yield Statement("taint", taints, Said((), "none", Less(frozenset())), each.source, ("taints",))
    tolerations = Said(each.tolerations, ", ".join(map(_toleration, each.tolerations)), frozenset(each.tolerations))
    yield Statement("tolerates", tolerations, Said((), "nothing", frozenset()), each.source, ("tolerations",))
    placed = graph.topologies[each.topology].name if each.topology >= 0 else None
    yield Statement("placed in", Said(placed, str(placed)), Said(None, "none"), each.source, ("topology",))
    yield Statement("missing", yes_or_no(each.missing, more=False), yes_or_no(False, more=False), each.source, ("missing",))


def taint_told(taint: Taint) -> str:
    """A taint in words: `pool = "spot" NoSchedule`."""
    return f"{taint.key}{_value(taint.value)} {taint.effect}"


def _toleration(toleration: Toleration) -> str:
    value = _value(toleration.value) if toleration.operator == "Equal" else ""
    return f"{toleration.key or 'anything'}{value} {toleration.effect}".rstrip()


def _value(value: str) -> str:
    return f" = {quoted(value)}" if value else ""


def priority(each: PriorityClass) -> Iterator[Statement]:
    """What a priority class counts for."""
    yield Statement("value", Said(each.value, str(each.value), each.value), None, each.source, ("value",))
    yield Statement("never evicted", yes_or_no(each.never_evicted), yes_or_no(False), each.source, ("never_evicted",))
