"""Rules of a policy that Kueue does not have: they are refused, except hold rules without a guard, which stop ClusterQueues."""

from dataclasses import dataclass

from ....engine.policy_graph import AdmissionRule, PolicyGraph
from ..import_.policy import CHECK_INACTIVE, INACTIVE, lacks
from ..problems import Findings
from .kubernetes_names import place


@dataclass(frozen=True, slots=True)
class Stops:
    """The nodes of queues that hold rules without a guard stop, and the flavors that were missing when the policy was imported."""

    held: frozenset[int]
    lacking: frozenset[str]


def stops(graph: PolicyGraph, found: Findings) -> Stops:
    """Collect what hold rules stop, and report all rules that Kueue does not have."""
    held: set[int] = set()
    for rule in graph.admission:
        found.begin(f"{rule.action} rule", rule.name, place(rule.source))
        if _tells_state(graph, rule):
            found.note("", "tells how the cluster stood when it was imported: Kueue finds that out by itself, and the rule is left out")
        elif rule.action == "hold" and rule.guard is None:
            found.note("", "becomes stopPolicy: Hold; its reason is lost")
            held |= _queues(graph, rule)
        else:
            remedy = "remove it, and let an admission policy of Kubernetes turn such workloads away"
            found.problem("", "goes by what a workload says, and Kueue has no such rule", remedy)
    _refuse_protection(graph, found)
    told = {rule.because for rule in graph.admission if _tells_state(graph, rule)}
    return Stops(frozenset(held), frozenset(flavor.name for flavor in graph.flavors if lacks(flavor.name) in told))


def _tells_state(graph: PolicyGraph, rule: AdmissionRule) -> bool:
    """Whether a rule is one of those by which an import holds inactive ClusterQueues, for a reason that Kueue will find again.

    A policy that decides at once has no admission checks: one that is not there stops its queues for good.
    """
    by_import = rule.action == "hold" and rule.guard is None and rule.name.startswith("inactive-")
    lost = graph.settings.cycles is None and rule.because.startswith(CHECK_INACTIVE)
    return by_import and rule.because.startswith(INACTIVE) and not lost


def _queues(graph: PolicyGraph, rule: AdmissionRule) -> set[int]:
    """The nodes of the queues that a rule is about."""
    inside = set(range(len(graph.nodes)) if rule.nodes is None else rule.nodes)
    return {queue.node for queue in graph.queues if inside & set(_path(graph, queue.node))}


def _path(graph: PolicyGraph, node: int) -> list[int]:
    path = [node]
    while graph.nodes[path[-1]].parent >= 0:
        path.append(graph.nodes[path[-1]].parent)
    return path


def _refuse_protection(graph: PolicyGraph, found: Findings) -> None:
    remedy = "remove it: whom Kueue may evict is said by its policies of preemption alone"
    for rule in graph.protect:
        found.begin("protect rule", rule.name, place(rule.source))
        found.problem("", "keeps workloads from eviction, which Kueue cannot", remedy)
    for priority in graph.priorities:
        if priority.never_evicted:
            found.begin("priority", priority.name, place(priority.source))
            found.problem("never evicted", "keeps workloads from eviction, which Kueue cannot", remedy)
