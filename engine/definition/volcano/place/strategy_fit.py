"""The plugin `resource-strategy-fit`: of some resources the fuller node is better, of others the emptier one.

Volcano: pkg/scheduler/plugins/resource-strategy-fit/resource_strategy_fit.go (`Score`).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial

from ...session.pods import Pod
from ..model.plugin_votes import NodeScores, PluginVotes
from ..model.volcano_cycle import VolcanoCycle
from ..model.volcano_settings import VolcanoPlugin

WEIGHT, RESOURCES = "resourceStrategyFitWeight", "resources/"
"""The weight of the plugin; and how arguments begin that are `resources/NAME/type` or `resources/NAME/weight`."""

MOST, LEAST = "MostAllocated", "LeastAllocated"

Strategies = Mapping[str, tuple[bool, int]]
"""By resource, or the beginning of its name before a `*`: whether the fuller node is better, and the weight."""

_BEST, _USUAL_WEIGHT = 100, 10


def open_strategy_fit(cycle: VolcanoCycle, plugin: VolcanoPlugin) -> PluginVotes:
    """What `resource-strategy-fit` says in a cycle."""
    weight = plugin.number(WEIGHT, _USUAL_WEIGHT)
    weight = weight if weight >= 0 else _USUAL_WEIGHT
    return PluginVotes(node_scores=partial(strategy_scores, cycle, strategies(plugin), weight) if weight else None)


def strategies(plugin: VolcanoPlugin) -> Strategies:
    """What is said of each resource; of cpu and memory the emptier node is better where nothing is said at all."""
    found: dict[str, tuple[bool, int]] = {}
    for argument in sorted(plugin.arguments):
        if argument.startswith(RESOURCES):
            resource = argument.removeprefix(RESOURCES).rpartition("/")[0]
            weight = plugin.number(f"{RESOURCES}{resource}/weight", 1)
            fuller = plugin.text(f"{RESOURCES}{resource}/type") == MOST
            if "*" not in resource or (resource.endswith("*") and resource.count("*") == 1 and resource != "*"):
                found[resource] = (fuller, max(weight, 1))
    return found or {"cpu": (False, 1), "memory": (False, 1)}


def strategy_scores(cycle: VolcanoCycle, said: Strategies, weight: int, pod: Pod, nodes: Sequence[int], _: str) -> NodeScores:
    """The mean over the resources that a pod asks for, with their weights; 0 where a node has no room."""
    return {node: _score(cycle, said, pod, node) * _BEST * weight for node in nodes}


def _score(cycle: VolcanoCycle, said: Strategies, pod: Pod, node: int) -> Fraction:
    total, weights = Fraction(0), 0
    capacity, used = cycle.session.nodes[node].capacity, cycle.session.used[node]
    for index, resource in enumerate(cycle.session.resources):
        strategy = _of(said, resource)
        if not pod.requests[index] or strategy is None:
            continue
        fuller, weight = strategy
        after = pod.requests[index] + used[index]
        if capacity[index] and after > capacity[index]:
            return Fraction(0)
        if capacity[index]:
            total += Fraction(weight * (after if fuller else capacity[index] - after), capacity[index])
        weights += weight
    return total / weights if weights else total  # exact


def _of(said: Strategies, resource: str) -> tuple[bool, int] | None:
    """What is said of a resource: by its name, else by the longest beginning of it."""
    if resource in said:
        return said[resource]
    beginnings = [name for name in sorted(said) if name.endswith("*") and resource.startswith(name.removesuffix("*"))]
    return said[max(beginnings, key=len)] if beginnings else None
