"""The plugin `network-topology-aware`: which HyperNodes are tried for pods that are to stand together, how good they and their nodes are.

Volcano: pkg/scheduler/plugins/network-topology-aware/network_topology_aware.go.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from ...session.pods import NO_NODE, Pod, PodAmounts, PodStatus, SessionWorkload
from ..model.hyper_node_map import HyperNodeDomain
from ..model.job_standing import hard_tier_of_job, hard_tier_of_sub_job, pods_of_sub_job
from ..model.plugin_votes import NodeScores, PluginVotes
from ..model.pod_group_facts import SubJob
from ..model.volcano_cycle import VolcanoCycle, fits
from ..model.volcano_settings import VolcanoPlugin
from .volcano_scores import MOST, weights_of_resources

Place = TypeVar("Place", str, int)

FADING = Fraction(4, 5)
"""How much less the fullness of a HyperNode counts for pods without a wish, from tier to tier."""


def open_network_topology_aware(cycle: VolcanoCycle, plugin: VolcanoPlugin) -> PluginVotes:
    """What the plugin says in a cycle."""
    near = _Nearness(cycle, plugin)
    return PluginVotes(
        node_scores=near.node_scores,
        hyper_node_scores=near.hyper_node_scores,
        gradients_for_job=near.gradients_for_job,
        gradients_for_sub_job=near.gradients_for_sub_job,
    )


class _Nearness:
    """The plugin in one cycle: weights, and the room of each HyperNode when the cycle began (which is not brought up to date)."""

    def __init__(self, cycle: VolcanoCycle, plugin: VolcanoPlugin) -> None:
        self._cycle = cycle
        self._total = _not_negative(plugin.number("weight", 1))
        self._weights = weights_of_resources(plugin, "hypernode.binpack.resources") | {
            "cpu": _not_negative(plugin.number("hypernode.binpack.cpu", 1)),
            "memory": _not_negative(plugin.number("hypernode.binpack.memory", 1)),
        }
        self._packs_others = plugin.arguments.get("hypernode.binpack.normal-pod.enable", True) is not False
        free, later = cycle.session.free, cycle.session.free_later
        self._idle = {name: self._sum(each, free) for name, each in cycle.hyper_nodes.by_name.items()}
        self._idle_later = {name: self._sum(each, later) for name, each in cycle.hyper_nodes.by_name.items()}

    def _sum(self, hyper_node: HyperNodeDomain, of_node: Callable[[int], PodAmounts]) -> PodAmounts:
        amounts = [of_node(node) for node in hyper_node.nodes]
        return tuple(sum(each[index] for each in amounts) for index in range(len(self._cycle.session.resources)))

    # --- which are tried ---------------------------------------------------------------------------------------------

    def gradients_for_job(self, workload: SessionWorkload, within: HyperNodeDomain) -> list[list[HyperNodeDomain]]:
        """The HyperNodes to try for a workload, by tiers from the lowest up."""
        tier = hard_tier_of_job(self._cycle, workload)
        if tier is None:
            return [[within]]
        wanted = self._cycle.groups[workload.number].min_resources or self._nothing()
        return self._gradients(within, tier, self._cycle.allocated_in[workload.number], wanted)

    def gradients_for_sub_job(self, workload: SessionWorkload, sub_job: SubJob, within: HyperNodeDomain) -> list[list[HyperNodeDomain]]:
        """The same for a sub-job, which needs room for all its pods that wait."""
        tier = hard_tier_of_sub_job(self._cycle, workload, sub_job)
        if tier is None:
            return [[within]]
        waiting = [pod for pod in pods_of_sub_job(self._cycle, workload, sub_job) if pod.status is PodStatus.WAITING]
        wanted = tuple(sum(pod.requests[index] for pod in waiting) for index in range(len(self._nothing())))
        index = self._cycle.groups[workload.number].sub_jobs.index(sub_job)
        return self._gradients(within, tier, self._cycle.sub_jobs_in[workload.number][index], wanted)

    def _gradients(self, within: HyperNodeDomain, tier: int, stands_in: str, wanted: PodAmounts) -> list[list[HyperNodeDomain]]:
        by_name = self._cycle.hyper_nodes.by_name
        root = self._root(within, tier, stands_in)
        if root is None:
            return []
        found: dict[int, list[HyperNodeDomain]] = {}
        waiting, seen = [root], {root.name}
        while waiting:
            each = waiting.pop(0)
            if each.tier <= tier and (stands_in or self._has_room(each.name, wanted)):
                found.setdefault(each.tier, []).append(each)
            below = [name for name in each.children if name in by_name and name not in seen]
            seen.update(below)
            waiting += [by_name[name] for name in below]
        return [sorted(found[each], key=lambda one: one.name) for each in sorted(found)]

    def _root(self, within: HyperNodeDomain, tier: int, stands_in: str) -> HyperNodeDomain | None:
        """Where the search begins: the HyperNode given or, of those above where pods stand already, the highest that is allowed."""
        if not stands_in:
            return within
        hyper_nodes = self._cycle.hyper_nodes
        highest = ""
        for name in hyper_nodes.ancestors(stands_in):
            if name not in hyper_nodes.by_name:
                return None
            if hyper_nodes.by_name[name].tier > tier:
                break
            highest = name
        if not highest:
            return None
        common = hyper_nodes.common(within.name, highest)
        if common == highest:
            return within
        return hyper_nodes.by_name[highest] if common == within.name else None

    def _has_room(self, name: str, wanted: PodAmounts) -> bool:
        return fits(wanted, self._idle[name]) or fits(wanted, self._idle_later[name])

    def _nothing(self) -> PodAmounts:
        return tuple(0 for _ in self._cycle.session.resources)

    # --- how good they are -------------------------------------------------------------------------------------------

    def hyper_node_scores(self, workload: SessionWorkload, sub_job: SubJob, names: Sequence[str]) -> Mapping[str, Fraction]:
        """How full each HyperNode is with all pods of a sub-job; of the fullest ones, those where pods of it stand already are better."""
        pods = pods_of_sub_job(self._cycle, workload, sub_job)
        size = range(len(self._nothing()))
        wanted = tuple(sum(pod.requests[index] for pod in pods) for index in size)
        scores = {name: self._fullness(name, wanted) for name in names}
        self._prefer_own(scores, {name: name for name in names}, pods)
        return {name: scores[name] * MOST * self._total for name in names}

    def node_scores(self, pod: Pod, nodes: Sequence[int], stands_in: str) -> NodeScores:
        """How near each node is to where the pods of the sub-job stand; for a pod without a wish, how full the HyperNodes around are."""
        cycle = self._cycle
        workload = cycle.session.workload_of(pod)
        sub_job = next(each for each in cycle.groups[workload.number].sub_jobs if each.group == pod.group)
        if sub_job.network is None:
            return self._packed(pod, nodes) if self._packs_others else {}
        if not stands_in:
            return {}
        lowest = {node: cycle.hyper_nodes.lowest_of(node) for node in nodes}
        scores = {node: self._nearness(lowest[node], stands_in) for node in nodes}
        self._prefer_own(scores, lowest, pods_of_sub_job(cycle, workload, sub_job))
        return {node: scores[node] * MOST * self._total for node in nodes}

    def _prefer_own(self, scores: dict[Place, Fraction], of: Mapping[Place, str], pods: Sequence[Pod]) -> None:
        """Where several are best, add to each the part of the pods that stand there already."""
        most = max(scores.values(), default=Fraction(0))
        best = [place for place in scores if scores[place] == most]
        if len(best) > 1:
            for place in best:
                scores[place] += self._part_in(of[place], pods)

    def _part_in(self, name: str, pods: Sequence[Pod]) -> Fraction:
        nodes = self._cycle.hyper_nodes.by_name[name].nodes if name else ()
        return Fraction(sum(pod.node != NO_NODE and pod.node in nodes for pod in pods), len(pods)) if pods else Fraction(0)

    def _nearness(self, name: str, stands_in: str) -> Fraction:
        if not name:
            return Fraction(0)
        if name == stands_in:
            return Fraction(1)
        hyper_nodes = self._cycle.hyper_nodes
        common = hyper_nodes.common(name, stands_in)
        lowest, highest = hyper_nodes.tiers[0], hyper_nodes.tiers[-1]
        if common not in hyper_nodes.by_name:
            return Fraction(0)
        return Fraction(1) if lowest == highest else Fraction(highest - hyper_nodes.by_name[common].tier, highest - lowest)

    def _packed(self, pod: Pod, nodes: Sequence[int]) -> NodeScores:
        hyper_nodes = self._cycle.hyper_nodes
        tiers = range(hyper_nodes.tiers[0], hyper_nodes.tiers[-1] + 1)
        weights = {tier: FADING ** (tier - 1) for tier in tiers}
        full = {name: self._fullness(name, pod.requests) for name in hyper_nodes.by_name}
        found = {}
        for node in nodes:
            score = Fraction(0)
            for tier in tiers:
                around = next((name for name in hyper_nodes.by_tier.get(tier, ()) if node in hyper_nodes.by_name[name].nodes), None)
                score += weights[tier] * (full[around] if around is not None else 1)
            found[node] = score / sum(weights.values()) * MOST * self._total  # exact
        return found

    def _fullness(self, name: str, wanted: PodAmounts) -> Fraction:
        """How full a HyperNode is with some pods more, on average of what they ask for; 0 where they find no room."""
        nodes = self._cycle.hyper_nodes.by_name[name].nodes
        score, weight_sum = Fraction(0), 0
        for index, resource in enumerate(self._cycle.session.resources):
            if not wanted[index] or resource not in self._weights:
                continue
            there = sum(self._cycle.session.nodes[node].capacity[index] for node in nodes)
            after = wanted[index] + sum(self._used(node)[index] for node in nodes)
            if after > there:
                return Fraction(0)
            score += self._weights[resource] * Fraction(after, there)
            weight_sum += self._weights[resource]
        return score / weight_sum if weight_sum > 0 else Fraction(0)  # exact

    def _used(self, node: int) -> PodAmounts:
        """What is used on a node: promised room counts, and what is to be freed in this cycle does not."""
        session, came = self._cycle.session, self._cycle.came
        freed = [pod for pod in session.pods_on(node) if pod.status is PodStatus.STOPPING and came[pod.number] is not PodStatus.STOPPING]
        used, promised = session.used[node], session.promised[node]
        size = range(len(session.resources))
        return tuple(used[index] + promised[index] - sum(pod.requests[index] for pod in freed) for index in size)


def _not_negative(weight: int) -> int:
    return weight if weight >= 0 else 1
