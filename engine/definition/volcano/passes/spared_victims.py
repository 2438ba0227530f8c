"""The other way of pass `preempt` to find a node: whom it needs not evict is spared, and the node whose victims matter least is taken.

Volcano: pkg/scheduler/actions/preempt/preempt.go (`topologyAwarePreempt`, `SelectVictimsOnNode`). The original looks at nodes from any one
on, and stops when it has enough of them that serve; here it begins at the first by name. Start times of pods are not compared.
"""

from collections.abc import Callable, Sequence

from ...session.pods import Pod, PodStatus
from ..model.volcano_cycle import fits
from ..place.candidates_on import candidates_on, would_be_enough
from ..place.kept_apart import is_kept_apart
from ..votes.tiers import PluginTiers

PERCENT, MOST_NODES = 10, 100
"""As many of the nodes are compared: so many in a hundred, at least one, and no more than `MOST_NODES`."""


def take_least_missed(tiers: PluginTiers, pod: Pod, nodes: Sequence[int], accepts: Callable[[Pod], bool], by: str) -> bool:
    """Promise a pod room on the node whose victims matter least; whether any node serves. One that needs no victims does not."""
    cycle = tiers.cycle
    enough = min(max(len(nodes) * PERCENT // 100, 1), MOST_NODES)
    found: list[tuple[int, list[Pod]]] = []
    for node in nodes:
        victims = _victims_on(tiers, pod, node, accepts)
        if victims:
            found.append((node, victims))
        if len(found) == enough:
            break
    if not found:
        return False

    def matters(candidate: tuple[int, list[Pod]]) -> tuple[int, int, int]:
        priorities = [cycle.pods[victim.number].priority_class_priority for victim in candidate[1]]
        return priorities[0], sum(priorities) + 2**31 * len(priorities), len(priorities)

    node, victims = min(found, key=matters)
    for victim in victims:
        cycle.evict(victim, by, pod)
    cycle.promise(pod, node, after_eviction=True)
    return True


def _victims_on(tiers: PluginTiers, pod: Pod, node: int, accepts: Callable[[Pod], bool]) -> list[Pod]:
    """Whom a pod needs evicted on a node: as many as it takes, and of these the first ones, as far as they can stay, are spared again.

    Nobody where it may not stand with a pod that stays. The plugin that says so hears of this trial only where it votes on victims or on
    room as well (`SimulateRemoveTaskFn`); else it goes by the pods that are there.
    """
    cycle = tiers.cycle
    queue = cycle.session.workload_of(pod).queue

    def stands_apart() -> bool:
        return not (cycle.asks_predicates and is_kept_apart(cycle, pod, node))

    def finds_room() -> bool:
        return tiers.allocatable(queue, pod) and fits(pod.requests, cycle.session.free_later(node)) and stands_apart()

    victims = tiers.victims("preemptable", pod, candidates_on(cycle, node, accepts))
    plugin = cycle.settings.plugin("predicates")
    hears = plugin is not None and not plugin.enabled.isdisjoint(("Preemptable", "Allocatable"))
    if not would_be_enough(cycle, pod, node, victims) or not (hears or stands_apart()):
        return []
    mark = cycle.session.mark()
    waiting = tiers.victims_in_order(victims, pod)
    taken: list[Pod] = []
    while waiting:
        taken.append(waiting.pop())
        cycle.session.move(taken[-1], PodStatus.STOPPING, node)
        if finds_room():
            break
    needed: list[Pod] = []
    for victim in reversed(taken if stands_apart() else []):
        cycle.session.move(victim, cycle.came[victim.number], node)
        if not finds_room():
            cycle.session.move(victim, PodStatus.STOPPING, node)
            needed.append(victim)
    cycle.session.undo(mark)
    return needed
