"""How good nodes are for a pod: the plugins `binpack` and `nodeorder`.

Volcano: pkg/scheduler/plugins/binpack/binpack.go, plugins/nodeorder/nodeorder.go. The latter sums scores of Kubernetes' scheduler, which
are whole numbers (pkg/scheduler/framework/plugins/noderesources). Scores that are the same for all nodes are left out: those by taints
(here each taint keeps pods off), images and preferences of pods.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import isqrt, prod

from ...session.pods import Pod, PodAmounts
from ..model.plugin_votes import NodeScores, PluginVotes
from ..model.volcano_cycle import VolcanoCycle
from ..model.volcano_settings import VolcanoPlugin

MOST = 100
"""The best score that Kubernetes' scheduler gives."""
LEAST_CPU, LEAST_MEMORY = 100, 200 * 1024 * 1024
"""What a pod that asks for no cpu, or no memory, is taken to ask for where free room is compared (milli, bytes)."""
GPUS = ("gpu", "nvidia.com/gpu")
"""GPUs, by the name that they have in policies and the one that they have in Kubernetes."""


class KnownScores:
    """Scores that hang on a node and on what a pod asks for alone: they are kept until the pods of the node change."""

    def __init__(self, cycle: VolcanoCycle, score: Callable[[Pod, int], Fraction | int]) -> None:
        self._changes = cycle.session.changes_on
        self._score = score
        self._known: dict[PodAmounts, dict[int, tuple[int, Fraction | int]]] = {}

    def __call__(self, pod: Pod, nodes: Sequence[int], _: str) -> NodeScores:
        """The scores of some nodes for a pod."""
        known = self._known.setdefault(pod.requests, {})
        for node in nodes:
            if node not in known or known[node][0] != self._changes[node]:
                known[node] = self._changes[node], self._score(pod, node)
        return {node: known[node][1] for node in nodes}


# --- binpack ---------------------------------------------------------------------------------------------------------


def open_binpack(cycle: VolcanoCycle, plugin: VolcanoPlugin) -> PluginVotes:
    """What `binpack` says in a cycle: a fuller node is better."""
    total = plugin.number("binpack.weight", 1)
    weights = weights_of_resources(plugin, "binpack.resources") | {
        "cpu": _not_negative(plugin.number("binpack.cpu", 1)),
        "memory": _not_negative(plugin.number("binpack.memory", 1)),
    }
    return PluginVotes(node_scores=KnownScores(cycle, partial(binpack_score, cycle, weights, total)) if total else None)


def weights_of_resources(plugin: VolcanoPlugin, argument: str) -> dict[str, int]:
    """The weights of the resources that an argument lists, separated by commas; 1 where nothing else is said."""
    names = [name.strip() for name in plugin.text(argument).split(",")]
    return {name: _not_negative(plugin.number(f"{argument}.{name}", 1)) for name in names if name}


def _not_negative(weight: int) -> int:
    return weight if weight >= 0 else 1


def binpack_score(cycle: VolcanoCycle, weights: dict[str, int], total: int, pod: Pod, node: int) -> Fraction:
    """How full a node is with a pod, on average of the resources that it asks for; 0 where it finds no room (`BinPackingScore`)."""
    score, weight_sum = Fraction(0), 0
    capacity, used = cycle.session.nodes[node].capacity, cycle.session.used[node]
    for index, name in enumerate(cycle.session.resources):
        if not pod.requests[index] or name not in weights:
            continue
        weight_sum += weights[name]
        if not capacity[index] or not weights[name]:
            continue
        after = pod.requests[index] + used[index]
        if after > capacity[index]:
            return Fraction(0)
        score += Fraction(after * weights[name], capacity[index])
    return (score / weight_sum if weight_sum else score) * MOST * total  # exact


# --- nodeorder -------------------------------------------------------------------------------------------------------


def open_nodeorder(cycle: VolcanoCycle, plugin: VolcanoPlugin) -> PluginVotes:
    """What `nodeorder` says in a cycle."""
    least = plugin.number("leastrequested.weight", 1)
    most = plugin.number("mostrequested.weight", 0)
    balanced = plugin.number("balancedresource.weight", 1)
    return PluginVotes(node_scores=KnownScores(cycle, partial(nodeorder_score, cycle, (least, most, balanced))))


def nodeorder_score(cycle: VolcanoCycle, weights: tuple[int, int, int], pod: Pod, node: int) -> int:
    """The sum of how empty, how full and how evenly used a node is, with weights, as Kubernetes' plugins see it."""
    least, most, balanced = weights
    score = 0
    if least:
        score += least * least_allocated(cycle, pod, node)
    if most:
        score += most * most_allocated(cycle, pod, node)
    if balanced and any(pod.requests[index] for index in _balanced(cycle)):
        score += balanced * balanced_allocation(cycle, pod, node)
    return score


def least_allocated(cycle: VolcanoCycle, pod: Pod, node: int) -> int:
    """How empty a node is by cpu and memory, 0 to 100 (`leastResourceScorer`)."""
    scores = []
    for asked, has in _asked_and_there(cycle, pod, node):
        scores.append(0 if asked > has else (has - asked) * MOST // has)
    return sum(scores) // len(scores) if scores else 0


def most_allocated(cycle: VolcanoCycle, pod: Pod, node: int) -> int:
    """How full a node is by cpu and memory, 0 to 100 (`mostResourceScorer`)."""
    scores = [min(asked, has) * MOST // has for asked, has in _asked_and_there(cycle, pod, node)]
    return sum(scores) // len(scores) if scores else 0


def _asked_and_there(cycle: VolcanoCycle, pod: Pod, node: int) -> list[tuple[int, int]]:
    pods = [*cycle.seen_on(node), pod]
    found = []
    for index, least in ((0, LEAST_CPU), (1, LEAST_MEMORY)):
        has = cycle.session.nodes[node].capacity[index]
        if has:
            found.append((sum(each.requests[index] or least for each in pods), has))
    return found


def balanced_allocation(cycle: VolcanoCycle, pod: Pod, node: int) -> int:
    """How much more evenly a node is used with a pod than without it: 50 to 100, 75 where that is the same (`balancedResourceScorer`)."""
    used, capacity = cycle.seen_used(node), cycle.session.nodes[node].capacity
    looked_at = [index for index in _balanced(cycle) if capacity[index] and (index < 2 or pod.requests[index])]
    has = [capacity[index] for index in looked_at]
    without = _evenness([used[index] for index in looked_at], has)
    together = _evenness([used[index] + pod.requests[index] for index in looked_at], has)
    return MOST // 2 + (MOST // 2 + together - without) // 2


def _balanced(cycle: VolcanoCycle) -> list[int]:
    return [index for index, name in enumerate(cycle.session.resources) if index < 2 or name in GPUS]


def _evenness(used: Sequence[int], has: Sequence[int]) -> int:
    """100 less the standard deviation of the parts that are used, in hundredths, rounded down (`balancedResourceScore`)."""
    count, common = len(has), prod(has)
    parts = [min(some, whole) * (common // whole) for some, whole in zip(used, has, strict=True)]
    # the variance of parts / common is this over count**3 * common**2; 100 less its root, rounded down, is 100 less the root rounded up
    deviations = MOST**2 * sum((count * part - sum(parts)) ** 2 for part in parts)
    scale = count**3 * common**2
    root = isqrt(deviations // scale) if count else 0
    return MOST - (root if root**2 * scale >= deviations else root + 1)
