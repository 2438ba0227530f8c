"""Changes for which no test is looked for, with the reason.

They affect no decision, or only workloads that a test cannot describe, or they show only where there are nodes, which are not tried.
"""

from dataclasses import replace
from typing import Any

from ...dsl.diff.differences import Change
from ...dsl.diff.statements import taint_told
from ...dsl.syntax.names import listed
from ...engine.eligibility import untolerated
from ...engine.event_parts import PodSet
from ...engine.guard import Type, fields
from ...engine.nodes.conditions import Taint
from ...engine.policy_graph import Flavor, PolicyGraph
from .boundary_values import guards

_NOTHING = "nothing is decided by it"
_NO_TEST = "no test can show it"

_NO_NODES = "not looked for: the tests that are tried have no nodes; one that adds nodes may show it"

_BY_PASSES = "not looked for: the tests that are tried have no nodes, on which passes decide; one that adds nodes may show it"

_ANY_POD_SET = PodSet(requests={"gpu": 1})
"""A pod set as tests have them: without tolerations and selectors."""


def why_untestable(old: PolicyGraph, new: PolicyGraph, change: Change) -> str:
    """Why no test is looked for that shows a change; empty if one is."""
    if any(graph.settings.passes is not None for graph in (old, new)):
        return _BY_PASSES
    if change.subject.kind == "local queue":
        return f"{_NO_TEST}: tests have no local queues"
    if change.subject.kind == "topology":
        return _of_topology(old, new, change)
    if change.subject.kind == "flavor" and change.thing is not None:
        return _of_flavor(old, new, change)
    match change.thing:
        case "name" | "because":
            return _NOTHING
        case "needs check":
            return _of_check(old, new, change)
        case "place pods" | "when a node is lost":
            return _of_placing(old, new, change)
        case "shrink before evicting":
            return f"{_NO_TEST}: the workloads that are tried have no surplus"
        case "by usage" | "usage halves every" | "usage sampled every" | "usage weighs":
            return f"{_NO_TEST}: tests have no local queues, whose usage it is about"
        case _:
            return ""


def _of_check(old: PolicyGraph, new: PolicyGraph, change: Change) -> str:
    """A check decides nothing, but for one that gives nodes: it says when pods get their places."""
    found = [_checks(graph, change.subject.name).get(change.of, False) for graph in (old, new)]
    return _NO_NODES if any(found) else f"{_NOTHING}: it is Kueue that waits for checks"


def _checks(graph: PolicyGraph, queue: str) -> dict[str, bool]:
    """The checks of a queue by name: whether each gives nodes to a flavor that places pods."""
    return {
        check.name: check.gives_nodes and any(graph.flavors[flavor].topology >= 0 for flavor in check.flavors or each.flavors)
        for each in graph.queues
        if graph.nodes[each.node].name == queue
        for check in each.checks
    }


def _of_placing(old: PolicyGraph, new: PolicyGraph, change: Change) -> str:
    if not any(graph.gives_places for graph in (old, new)):
        return f"{_NOTHING}: no flavor places pods"
    packed = all(graph.settings.places_pods == "packed" for graph in (old, new))
    return f"{_NOTHING}: pods are packed where nothing is said" if change.thing == "place pods" and packed else _NO_NODES


def _of_topology(old: PolicyGraph, new: PolicyGraph, change: Change) -> str:
    placed = {graph.topologies[flavor.topology].name for graph in (old, new) for flavor in graph.flavors if flavor.topology >= 0}
    return _NO_NODES if change.subject.name in placed else f"{_NOTHING}: no flavor is placed in it"


def _of_flavor(old: PolicyGraph, new: PolicyGraph, change: Change) -> str:
    before, after = (next(each for each in graph.flavors if each.name == change.subject.name) for graph in (old, new))
    match change.thing:
        case "has" if old.settings.cycles is not None and new.settings.cycles is not None:
            return f"{_NOTHING}: in cycles there is what is owned"
        case "nodes where" if before.nodes is not None and after.nodes is not None:
            return _NO_NODES
        case "placed in" if (before.topology >= 0 and after.topology >= 0) or (before.nodes is not None and after.nodes is not None):
            return _NO_NODES
        case "label":
            keys = {key for key, _ in {*before.labels} ^ {*after.labels}}
            return f"{_NO_TEST}: tests have no selectors, and it decides about pod sets alone that select nodes by {listed(keys)}"
        case "taint" | "tolerates":
            return _of_taints(before, after, change)
        case "worth":
            return _of_worth(old, new, before.name)
        case _:
            return ""


# --- taints ---------------------------------------------------------------------------------------------------------


def _of_taints(before: Flavor, after: Flavor, change: Change) -> str:
    """Why no test can show a change of taints: pod sets of tests have no tolerations, so a flavor repels them all or none."""
    with_it, without_it = _taken_over(before, after, change), _taken_over(after, before, change)
    old, new, alone, others = (_repelling(flavor) for flavor in (before, after, with_it, without_it))
    if old == new:
        return f"{_NOTHING}: the same pod sets are kept off {before.name} under both policies"
    if (old, new) == (alone, others):
        return f"{_NOTHING}: it keeps nobody off {before.name} and lets nobody on it"
    if old and new:
        tolerated, side = (old, "new") if {*new} - {*old} else (new, "old")
        example = f"a pod set that tolerates {' and '.join(map(taint_told, tolerated))}, and nothing else, is kept off {before.name}"
        return f"{_NO_TEST}: tests have no tolerations; {example} under the {side} policy only"
    return ""


def _taken_over(flavor: Flavor, other: Flavor, change: Change) -> Flavor:
    """A flavor with what a change is about as another has it."""
    changes: dict[str, Any] = {field: getattr(other, field) for field in change.fields}
    return replace(flavor, **changes)


def _repelling(flavor: Flavor) -> list[Taint]:
    """The taints that keep off a pod set without tolerations."""
    return [taint for taint in flavor.taints if untolerated(replace(flavor, taints=(taint,)), _ANY_POD_SET) is not None]


# --- worth ----------------------------------------------------------------------------------------------------------


def _of_worth(old: PolicyGraph, new: PolicyGraph, flavor: str) -> str:
    if not any(map(_goes_by_shares, (old, new))):
        return f"{_NOTHING}: nothing goes by shares"
    if all(_cancels_out(graph, flavor) for graph in (old, new)):
        return f"{_NOTHING}: no other flavor has a resource of {flavor}, so that its worth cancels out of every share"
    return ""


def _goes_by_shares(graph: PolicyGraph) -> bool:
    """Whether the policy has shares, and an order, a rule or the search for victims compares them."""
    settings = graph.settings
    keys = [*settings.queue_order, *(key for rule in graph.preempt for key in rule.order)]
    ordered = any(key.field.rpartition(".")[2] == "share" for key in keys)
    guarded = any(field.type is Type.SHARE for guard in guards(graph) for field in fields(guard))
    evened_out = settings.cycles is not None and settings.cycles.victims == "fair"
    return settings.share != "none" and (ordered or guarded or evened_out)


def _cancels_out(graph: PolicyGraph, name: str) -> bool:
    """Whether a flavor's worth is a common factor of all compared shares, and shares are exact: with rounding it might still matter."""
    own, others = (
        {resource for each in graph.flavors if (each.name == name) is mine for resource, _ in each.capacity} for mine in (True, False)
    )
    return not graph.settings.rounded and not own & others
