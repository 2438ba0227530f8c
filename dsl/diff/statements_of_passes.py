"""What a policy that decides by passes says, as statements. Larger is what gives the queue more: see `gpol.dsl.diff.statements`."""

from collections.abc import Iterator
from fractions import Fraction

from ...engine.policy.pass_settings import Acceptance, Entitlement, NodeKey, Passes, PassShare, QueueTerms, Within
from ...engine.policy_graph import Node, PolicyGraph, PreemptRule, PriorityClass, Source
from ...engine.policy_settings import Settings
from ...engine.units import format_amount, format_duration
from .statements import Less, Said, Statement

_NOTHING = Said((), "nothing")
_UNSAID = Said(None, "nothing")
_PACKED = Said(("packed", ()), "packed")
"""How pods are placed where nothing says it, in a policy that decides at once."""


def header(settings: Settings, passes: Passes, place: Source) -> Iterator[Statement]:
    """The choices of the header."""
    names = ", ".join(_words(each) for each in passes.order)
    cycles = f"in cycles of {format_duration(passes.period)} by {names}"
    order = ("settings.passes.period", "settings.passes.order")
    yield Statement("decide", Said((passes.period, passes.order), cycles), None, place, order)
    entitled = Said(passes.entitlement, _entitlement(passes.entitlement))
    yield Statement("entitle", entitled, _UNSAID, place, ("settings.passes.entitlement",))
    share = Said((passes.share, settings.share, settings.rounded), _share(passes.share))
    yield Statement("share", share, None, place, ("settings.passes.share", "settings.share", "settings.rounded"))
    keys = ", ".join(map(_key, passes.place_by))
    placed = Said((passes.place_by, settings.placing, settings.room_kept), f"by {keys or 'name'}")
    fields = ("settings.passes.place_by", "settings.placing", "settings.room_kept")
    yield Statement("place pods", placed, _PACKED, place, fields)
    for score in passes.scores:
        said = Said(score.weight, str(score.weight))
        of = f"{_words(score.term)} {score.resource}".strip()
        yield Statement("score nodes", said, Said(0, "0"), place, ("settings.passes.scores",), of=of)
    yield Statement("admit within", _within(passes.admit_within), _NOTHING, place, ("settings.passes.admit_within",))
    yield Statement("enqueue within", _within(passes.enqueue_within), _NOTHING, place, ("settings.passes.enqueue_within",))
    for resource, part in passes.start_cap:
        said, anything = Said(part, f"{part} of it", (0, part)), Said(None, "anything", (1, 0))
        yield Statement("start up to", said, anything, place, ("settings.passes.start_cap",), of=resource)
    grace = passes.broken_for
    broken = Said(grace, f"for {format_duration(grace)}" if grace is not None else "never")
    yield Statement("gangs broken", broken, Said(None, "never"), place, ("settings.passes.broken_for",))


def _key(key: NodeKey) -> str:
    step = f" in steps of {format_amount(key.step, key.resource)}" if key.step else ""
    return f"{key.field} {key.resource}".strip() + step + (" desc" if key.descending else " asc")


def _words(name: str) -> str:
    return name.replace("-", " ")


def _entitlement(entitlement: Entitlement) -> str:
    units = (" in whole units" if entitlement.whole_units else "") + (" by priority" if entitlement.by_priority else "")
    up_to = f" up to demand, in at most {entitlement.rounds} rounds, to {entitlement.remainder}"
    ways = {"owned": "as owned", "weight": "by weight", "owned-first": "owned first, then by weight", "demand": "by weight"}
    said = entitlement.way == "demand" or entitlement.rounds or entitlement.remainder
    return ways[entitlement.way] + units + (up_to if said else "")


def _share(share: PassShare) -> str:
    due = f" where nothing is due counts {share.nothing_due}" if share.nothing_due else ""
    weights = ", ".join(f"{resource} {weight}" for resource, weight in share.weights)
    return ("used" if share.of == "used" else f"of {share.of}") + due + (f" weighing {weights}" if weights else "")


def _within(bounds: tuple[Within, ...]) -> Said:
    return Said(bounds, ", ".join(map(_bound, bounds)), Less(frozenset(bounds)))


def _bound(bound: Within) -> str:
    times = f"{bound.factor} of " if bound.factor != 1 or bound.bound == "existing" else ""
    return times + ("what exists" if bound.bound == "existing" else _words(bound.bound))


# --- priorities, cohorts and queues


def priority(each: PriorityClass) -> Iterator[Statement]:
    """How much of what exists one queue may use for a priority."""
    for resource, part in each.queue_limits:
        said = Said(part, f"{part} of it", (0, part))
        yield Statement("queues use up to", said, Said(None, "anything", (1, 0)), each.source, ("queue_limits",), of=resource)


def node(graph: PolicyGraph, each: Node) -> Iterator[Statement]:
    """The terms of a cohort or a queue."""
    terms = each.terms
    if terms is None:
        return
    yield Statement(
        "priority", Said(terms.priority, str(terms.priority), terms.priority), Said(0, "0", 0), each.source, ("terms.priority",)
    )
    taken = Said(terms.reclaimable, "no" if terms.reclaimable else "yes", not terms.reclaimable)
    yield Statement("never reclaimed", taken, Said(True, "no", False), each.source, ("terms.reclaimable",))
    for slot, (flavor, resource) in enumerate(graph.slot_names):
        yield from _of_slot(terms, slot, each, (flavor, resource))


def _of_slot(terms: QueueTerms, slot: int, each: Node, name: tuple[str, str]) -> Iterator[Statement]:
    where, (_, resource), place = f"{name[1]} on {name[0]}", name, each.source
    limit, kept = terms.limits[slot], terms.guaranteed[slot]
    uses = Said(
        limit, f"up to {format_amount(limit, resource)}" if limit is not None else "anything", (1, 0) if limit is None else (0, limit)
    )
    yield Statement("uses", uses, Said(None, "anything", (1, 0)), place, ("terms.limits",), name, where)
    everything = Said(terms.owns_all[slot], "yes" if terms.owns_all[slot] else "no", terms.owns_all[slot])
    yield Statement("owns all", everything, Said(False, "no", False), place, ("terms.owns_all",), name, where)
    guaranteed = Said(kept, format_amount(kept, resource), kept)
    yield Statement("guarantees", guaranteed, Said(0, "0", 0), place, ("terms.guaranteed",), name, where)
    weight = Said(terms.weights[slot], str(terms.weights[slot]), terms.weights[slot])
    same = Said(each.weight, str(each.weight), Fraction(each.weight))
    yield Statement("weight for", weight, same, place, ("terms.weights",), name, where)


# --- rules


def rule(each: PreemptRule) -> Iterator[Statement]:
    """In which pass a rule is used, and how it looks for victims."""
    search, place = each.search, each.source
    if search is None:
        return
    yield Statement("in pass", Said(search.in_pass, _words(search.in_pass)), _UNSAID, place, ("search.in_pass",))
    most = f", at most {search.most_moved} workloads" if search.most_moved is not None else ""
    moving = f", moving {_words(search.moving)}{most}" if search.moving else most
    way = Said(
        (search.search, search.moving, search.most_moved, search.sparing),
        _words(search.search) + moving + (", sparing whom it can" if search.sparing else ""),
    )
    fields = ("search.search", "search.moving", "search.most_moved", "search.sparing")
    yield Statement("search", way, _UNSAID, place, fields)
    yield Statement("take", Said(search.unit, _words(search.unit)), _UNSAID, place, ("search.unit",))
    accept = "; ".join(" or ".join(map(_acceptance, tests)) for tests in search.accept)
    accepted = Said(search.accept, accept, Less(frozenset(search.accept)))
    yield Statement("accept where", accepted, Said((), "always", Less(frozenset())), place, ("search.accept",))
    votes = " then ".join(f"{{ {', '.join(tier)} }}" for tier in search.votes)
    yield Statement("votes", Said(search.votes, votes), Said((), "nobody"), place, ("search.votes",))
    widened = ("search.any_resource", "search.levels")
    wide = "any resource" if search.any_resource else "all resources"
    above = f", up to {search.levels} levels above" if search.levels else ""
    fits = Said((search.any_resource, search.levels), wide + above)
    yield Statement("fits in", fits, Said((False, 0), "all resources"), place, widened)


def _acceptance(test: Acceptance) -> str:
    return _words(test.test) + (f" {test.part}" if test.part != 1 else "")
