"""What cohorts, queues and local queues say, as statements. Larger is what gives the queue more: see `gpol.dsl.diff.statements`."""

from collections.abc import Iterator

from ...engine.nodes.conditions import Requirement
from ...engine.policy.doors import Condition
from ...engine.policy_graph import Group, LocalQueue, Node, PolicyGraph, Preemption, Queue, Quota, Source
from ...engine.units import format_amount
from ..print.words import quoted
from .statements import Less, Said, Statement, next_flavor, yes_or_no

_AS_SERVED = Said("as served", "as it serves them")
_AS_POLICY = Said(None, "as the policy says")
_ANYTHING = Said(None, "anything", (1, 0))
_KEEPS_NOTHING = Said(None, "anything", Less((1, 0)))


def node(graph: PolicyGraph, each: Node) -> Iterator[Statement]:
    """Where a cohort or queue stands in the tree, its weight, and its quota of every resource of every flavor."""
    above = graph.nodes[each.parent].name if each.parent >= 0 else ""
    yield Statement("in", Said(above, above or "nothing"), None, each.source, ("parent",))
    yield Statement("weight", Said(each.weight, str(each.weight), each.weight), Said(1, "1", 1), each.source, ("weight",))
    for slot, quota in zip(graph.slots, each.quotas, strict=True):
        yield from _quota(graph.flavors[slot.flavor].name, slot.resource, quota, each.source)


def _quota(flavor: str, resource: str, quota: Quota, place: Source) -> Iterator[Statement]:
    where, slot = f"{resource} on {flavor}", (flavor, resource)
    owned = Said(quota.nominal, format_amount(quota.nominal, resource), quota.nominal)
    yield Statement("owns", owned, Said(0, "0", 0), quota.nominal_source or place, ("nominal",), slot, where)
    borrows = _limit(quota.borrowing_limit, resource)
    yield Statement("borrows", borrows, _ANYTHING, quota.borrowing_source or place, ("borrowing_limit",), slot, where)
    lends = _limit(quota.lending_limit, resource)
    kept = Said(lends.value, lends.text, Less(lends.extent))  # what it does not lend is always there for itself
    yield Statement("lends", kept, _KEEPS_NOTHING, quota.lending_source or place, ("lending_limit",), slot, where)


def _limit(limit: int | None, resource: str) -> Said:
    return _ANYTHING if limit is None else Said(limit, f"up to {format_amount(limit, resource)}", (0, limit))


# --- queues ---------------------------------------------------------------------------------------------------------


def queue(graph: PolicyGraph, each: Queue) -> Iterator[Statement]:
    """What a queue says beyond its quota."""
    place = graph.nodes[each.node].source
    names = [flavor.name for flavor in graph.flavors]
    matches = Said(each.matches, "; ".join(" and ".join(map(_condition, match)) for match in each.matches), frozenset(each.matches))
    yield Statement("for", matches, Said((), "nobody who does not name it", frozenset()), place, ("matches",))
    tried = tuple(names[index] for index in each.flavors)
    in_groups = tuple(names[index] for group in each.groups for index in group.flavors)
    order = Said(tried, ", ".join(tried) or "none", _precedences(tried)) if not each.groups or tried != in_groups else _AS_SERVED
    yield Statement("flavors", order, None, place, ("flavors", "groups"))
    yield Statement("serves", Said(*_groups(each.groups, names)), Said((), "what its flavors have"), place, ("groups", "flavors"))
    ceiling = Said(each.ceiling, str(each.ceiling), (0, each.ceiling))
    yield Statement("priority at most", ceiling, Said(None, "anything", (1, 0)), each.ceiling_source or place, ("ceiling",))
    default = Said(each.default_priority, str(each.default_priority), each.default_priority)
    yield Statement("default priority", default, Said(0, "0", 0), place, ("default_priority",))
    yield Statement("default is never evicted", yes_or_no(each.default_pinned), yes_or_no(False), place, ("default_pinned",))
    yield Statement("queueing", Said(each.strict, "strict fifo" if each.strict else "best effort"), None, place, ("strict",))
    yield Statement("by usage", Said(each.by_usage, "yes" if each.by_usage else "no"), Said(False, "no"), place, ("by_usage",))
    yield Statement("rather", Said(each.rather, each.rather), Said("borrow", "borrow"), place, ("rather",))
    borrowing, evicting = _looks(each.next_flavor_before_borrowing), _looks(each.next_flavor_before_evicting)
    yield Statement("when borrowing", borrowing, _AS_POLICY, place, ("next_flavor_before_borrowing",))
    yield Statement("when evicting", evicting, _AS_POLICY, place, ("next_flavor_before_evicting",))
    yield from _preemption(each.preemption, place)
    yield from _entrance(each, names, place)


def _looks(said: bool | None) -> Said:
    return _AS_POLICY if said is None else next_flavor(said)


def _condition(condition: Condition) -> str:
    key = f" {quoted(condition.key)} =" if condition.key is not None else ""
    return f"{condition.attribute}{key} {quoted(condition.pattern)}"


def _precedences(tried: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    """What comes before what: an order of flavors is more than another where it only adds flavors to it."""
    return frozenset((before, after) for index, before in enumerate(tried) for after in tried[index:])


def _groups(groups: tuple[Group, ...], names: list[str]) -> tuple[object, str]:
    said = tuple((group.resources, tuple(names[index] for index in group.flavors)) for group in groups)
    told = (f"{', '.join(resources)} from {', '.join(flavors)}" if resources else "nothing" for resources, flavors in said)
    return said, "; ".join(told)


_OWN = ("nothing", "lower", "lower-or-newer")
_RECLAIMS = ("nothing", "lower", "any")


def _preemption(preemption: Preemption, place: Source) -> Iterator[Statement]:
    own, reclaims, up_to = preemption.own, preemption.reclaims, preemption.borrowing_up_to
    whom = "lower priority or newer" if own == "lower-or-newer" else f"{own} priority" if own == "lower" else own
    yield Statement(
        "evicts its own of",
        Said(own, whom, _OWN.index(own)),
        Said("nothing", "nothing", 0),
        preemption.own_source or place,
        ("preemption.own",),
    )
    whom = {"nothing": "nobody", "lower": "lower priority", "any": "anyone"}[reclaims]
    nobody = Said("nothing", "nobody", 0)
    yield Statement(
        "reclaims from",
        Said(reclaims, whom, _RECLAIMS.index(reclaims)),
        nobody,
        preemption.reclaims_source or place,
        ("preemption.reclaims",),
    )
    evicts = preemption.borrowing == "lower"
    extent = (0, 0) if not evicts else (2, 0) if up_to is None else (1, up_to)
    whom = ("lower priority" if evicts else "nobody") + (f" up to {up_to}" if up_to is not None else "")
    said = Said((preemption.borrowing, up_to), whom, extent)
    unsaid = Said(("nothing", None), "nobody", (0, 0))
    yield Statement(
        "borrows by evicting", said, unsaid, preemption.borrowing_source or place, ("preemption.borrowing", "preemption.borrowing_up_to")
    )


def _entrance(each: Queue, names: list[str], place: Source) -> Iterator[Statement]:
    """Who comes in by a queue: whether it is open, for which namespaces, after which checks."""
    yield Statement("stopped", _stopped(each.stopped), _stopped(""), place, ("stopped",))
    tests = Less(frozenset(each.namespaces or ()))
    namespaces = Said(each.namespaces, " and ".join(map(_requirement, each.namespaces or ())), tests)
    yield Statement("for namespaces where", namespaces, Said(None, "anything", Less(frozenset())), place, ("namespaces",))
    for check in each.checks:
        on = tuple(names[index] for index in check.flavors)
        told = (f"on {', '.join(on)}" if on else "on every flavor") + (", for nodes" if check.gives_nodes else "")
        yield Statement("needs check", Said((on, check.gives_nodes), told, 0), Said(None, "no", 1), place, ("checks",), of=check.name)


def _stopped(stopped: str) -> Said:
    return Said(stopped, {"": "no", "hold": "yes", "drain": "yes, and drained"}[stopped], ("drain", "hold", "").index(stopped))


def _requirement(requirement: Requirement) -> str:
    if requirement == Requirement("", "In", ()):
        return "no namespace"
    values = ", ".join(map(quoted, requirement.values))
    return f"label {quoted(requirement.key)} {requirement.operator} {values}".rstrip()


def local_queue(above: str, each: LocalQueue) -> Iterator[Statement]:
    """Where a local queue leads to, its weight, and whether it is open."""
    yield Statement("leads to", Said(above, above), None, each.source, ())
    yield Statement("weight", Said(each.weight, str(each.weight), each.weight), Said(1, "1", 1), each.source, ("weight",))
    yield Statement("stopped", _stopped(each.stopped), _stopped(""), each.source, ("stopped",))
