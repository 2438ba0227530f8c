"""Whose end would give a waiting workload places: those who stand in one domain or, where one is not enough, in several.

The work is bounded: of a few domains, those with the fewest workloads first, each is tried once, and then without each of its workloads.
"""

from collections.abc import Callable, Iterable, Sequence

from ..cores import View
from ..outcome.nomination import Nomination
from ..policy_graph import PolicyGraph
from ..questions.standing_room import places_of
from ..workload import Workload

_MOST_DOMAINS, _MOST_ENDS, _MOST_FOUND = 8, 16, 3
"""How many domains are tried, how many workloads there may be of which each is tried to stay, and after how many answers it is enough."""

Helps = Callable[[Sequence[str]], bool]
"""Whether a workload would run without some others."""


def ends_for_places(graph: PolicyGraph, view: View, nomination: Nomination, workload: Workload, helps: Helps) -> list[str]:
    """The fewest running workloads that were found without which there are places, none of whom can be left out; empty if none were."""
    wanted = _wanted(graph, nomination, workload)
    if wanted is None:
        return []
    flavor, depth = wanted
    by_domain: dict[tuple[str, ...], dict[str, None]] = {}
    for place in places_of(graph, view.machines(), view.workloads()):
        if flavor in place.flavors:
            by_domain.setdefault(place.path[:depth], {}).update(dict.fromkeys(name for name, _ in place.pods))
    groups = sorted((list(names) for names in by_domain.values() if names), key=len)
    answers: list[list[str]] = []
    for names in groups[:_MOST_DOMAINS]:
        if len(answers) < _MOST_FOUND and len(names) <= _MOST_ENDS and helps(names):
            answers.append(_needed(names, helps))
    if not answers and len(groups) > 1:
        several = _together(groups, helps)
        answers += [several] if several else []
    return min(answers, key=len, default=[])


def _wanted(graph: PolicyGraph, nomination: Nomination, workload: Workload) -> tuple[int, int] | None:
    """The flavor on which it lacks places, and how many levels down the domain is in which its pods stand; None where it asks for none."""
    for pods, pod_set in zip(nomination.flavors.pod_sets, workload.fact.pod_sets, strict=False):
        flavor = next((each.flavor for _, each in sorted(pods.flavors.items()) if graph.flavors[each.flavor].topology >= 0), None)
        if flavor is not None:
            level = graph.topologies[graph.flavors[flavor].topology].level(pod_set.within or pod_set.near)
            return flavor, 1 if level is None else level + 1
    return None


def _needed(names: Sequence[str], helps: Helps) -> list[str]:
    """Those of whom none can be left out, the last ones being the first who stay."""
    out = list(names)
    for name in reversed(names):
        fewer = [other for other in out if other != name]
        if fewer and helps(fewer):
            out = fewer
    return out


def _together(groups: Sequence[Sequence[str]], helps: Helps) -> list[str]:
    """The same of the fewest domains that are enough together, the ones with the fewest workloads first."""
    taken: list[str] = []
    for names in groups[:_MOST_DOMAINS]:
        taken = list(_once([*taken, *names]))
        if len(taken) > _MOST_ENDS:
            return []
        if helps(taken):
            return _needed(taken, helps)
    return []


def _once(names: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(names)
