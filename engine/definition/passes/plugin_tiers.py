"""From the words of a policy to Volcano's plugins: which take part in which callbacks, in which tier, with which arguments.

Each word is a plugin, or a callback of one; callbacks that no word is about are on, as in a configuration file.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from ...policy.pass_settings import Passes, PassSearch, VictimVote
from ...policy_graph import PolicyGraph
from ..volcano.model.volcano_settings import CALLBACKS, HIERARCHY, PluginArgument, VolcanoPlugin, VolcanoSettings

_QUEUE_PLUGINS = {"weight": "proportion", "owned": "capacity"}
"""The plugin that knows what queues are entitled to, by the way of the entitlement."""

_SCORES = {"least-used": "leastrequested.weight", "most-used": "mostrequested.weight", "balanced": "balancedresource.weight"}


def plugin_tiers(graph: PolicyGraph) -> VolcanoSettings:
    """The configuration that a policy stands for; all else it says as Volcano decides it (`volcano_words.unlike_volcano`)."""
    passes = graph.settings.passes
    assert passes is not None
    searches: dict[str, PassSearch] = {rule.search.in_pass: rule.search for rule in graph.preempt if rule.search is not None}
    most = max((len(search.votes) for search in searches.values()), default=1)
    tiers: list[list[VolcanoPlugin]] = [[] for _ in range(max(1, most))]
    for plugin in _plugins(graph, passes, searches):
        tiers[_tier(graph, plugin.name, searches, len(tiers))].append(plugin)
    sparing = any(search.sparing for search in searches.values())
    return VolcanoSettings(tuple(passes.order), tuple(tuple(tier) for tier in tiers), sparing)


def plugin_of_vote(graph: PolicyGraph, vote: VictimVote) -> str:
    """The plugin that gives a vote."""
    if vote == "deserved":
        return queue_plugin(graph) or "drf"
    return "drf" if vote == "share" else vote


def queue_plugin(graph: PolicyGraph) -> str | None:
    """The plugin that knows what queues are entitled to; None where shares of what exists are all there is."""
    passes = graph.settings.passes
    assert passes is not None
    return None if passes.share.of == "used" else _QUEUE_PLUGINS.get(passes.entitlement.way)


def _tier(graph: PolicyGraph, name: str, searches: Mapping[str, PassSearch], tiers: int) -> int:
    """The tier of a plugin: that of its votes; without any, the last one, but for those that every configuration has in the first."""
    for in_pass in sorted(searches):
        for number, votes in enumerate(searches[in_pass].votes):
            if name in {plugin_of_vote(graph, vote) for vote in votes}:
                return number
    return 0 if name in ("priority", "gang", "conformance") else tiers - 1


def _plugins(graph: PolicyGraph, passes: Passes, searches: Mapping[str, PassSearch]) -> Iterator[VolcanoPlugin]:
    """The plugins in the order in which they are asked: those of the order of workloads as that has them, then all others."""
    keys = [key.field for key in graph.settings.workload_order]
    of_key = {"priority": "priority", "readiness": "gang", "share": "drf"}
    ordered = [of_key[key] for key in keys if key in of_key]
    named = list(dict.fromkeys([*ordered, "priority", "gang", "conformance"]))
    voting = {plugin_of_vote(graph, vote) for search in searches.values() for votes in search.votes for vote in votes}
    if "drf" not in named and ("drf" in voting or passes.share.of == "used"):
        named.append("drf")
    factor = next((each.factor for each in passes.enqueue_within if each.bound == "existing"), None)
    if factor is not None:
        yield VolcanoPlugin("overcommit", frozenset(CALLBACKS), {"overcommit-factor": factor})
    for name in named:
        tree = {HIERARCHY} if name == "drf" and passes.share.of == "used" else set[str]()
        yield VolcanoPlugin(name, _enabled(graph, name, searches, set() if name in ordered else {"JobOrder"}) | tree)
    by_queue = queue_plugin(graph)
    if by_queue is not None:
        tree = {HIERARCHY} if by_queue == "capacity" else set[str]()
        off = set[str]() if any(each.bound == "limits" for each in passes.enqueue_within) else {"JobEnqueued"}
        yield VolcanoPlugin(by_queue, _enabled(graph, by_queue, searches, off) | tree, _levels(searches))
    yield VolcanoPlugin("predicates", frozenset(CALLBACKS))
    yield from _scoring(passes)


def _enabled(graph: PolicyGraph, name: str, searches: Mapping[str, PassSearch], off: set[str]) -> frozenset[str]:
    """The callbacks of a plugin: all but those in `off`, and its say about victims only where it has a vote."""
    left_out = set(off)
    for in_pass, callback in (("preempt", "Preemptable"), ("reclaim", "Reclaimable")):
        votes = searches[in_pass].votes if in_pass in searches else ()
        if name not in {plugin_of_vote(graph, vote) for tier in votes for vote in tier}:
            left_out.add(callback)
    return frozenset(CALLBACKS) - left_out


def _levels(searches: Mapping[str, PassSearch]) -> dict[str, PluginArgument]:
    """How many levels of cohorts above a queue are looked at when it takes back what it owns."""
    levels = searches["reclaim"].levels if "reclaim" in searches else 0
    return {"ancestorReclaimLevel": levels} if levels else {}


def _scoring(passes: Passes) -> Iterator[VolcanoPlugin]:
    """The plugins that score nodes, with the weights of their terms."""
    packed = [score for score in passes.scores if score.term == "packed"]
    if packed:
        weights: dict[str, PluginArgument] = {
            f"binpack.{each.resource}": int(each.weight) for each in packed if each.resource in ("cpu", "memory")
        }
        for resource in ("cpu", "memory"):
            weights.setdefault(f"binpack.{resource}", 0)
        others = [each for each in packed if each.resource not in ("", "cpu", "memory")]
        weights |= {f"binpack.resources.{each.resource}": int(each.weight) for each in others}
        weights |= {"binpack.resources": ", ".join(each.resource for each in others)} if others else {}
        weights["binpack.weight"] = next((int(each.weight) for each in packed if not each.resource), 1)
        yield VolcanoPlugin("binpack", frozenset(CALLBACKS), weights)
    by_use = {argument: Fraction(0) for argument in _SCORES.values()} | {
        _SCORES[each.term]: each.weight for each in passes.scores if each.term in _SCORES
    }
    if any(by_use.values()):
        yield VolcanoPlugin("nodeorder", frozenset(CALLBACKS), {argument: int(by_use[argument]) for argument in sorted(by_use)})
    near = next((each.weight for each in passes.scores if each.term == "near"), None)
    scoring = set[str]() if near is not None else {"NodeOrder", "HyperNodeOrder"}
    # It keeps gangs within the domains that they ask for, whether nearness is scored or not.
    yield VolcanoPlugin("network-topology-aware", frozenset(CALLBACKS) - scoring, {} if near is None else {"weight": int(near)})
