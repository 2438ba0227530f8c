"""Checks of the Queues of a cluster that their definition in Kubernetes lacks, and of the PodGroups that name them.

Volcano's webhook has the same rules, and is not always there.
Source: Volcano, pkg/webhooks/admission/queues/validate/validate_queue.go.
"""

from collections.abc import Mapping

from ....engine.units import INT64_MAX
from ...kueue.problems import Findings
from ...kueue.read.quantity import text
from ..read.volcano_objects import PodGroup, VolcanoQueue
from .queue_tree import QueueTree

MOST_LEVELS = 30
"""Queues above one another, at most: the language nests no deeper."""


def check_queues(tree: QueueTree, found: Findings) -> None:
    """Report what Volcano's webhook refuses, and what gpol cannot represent. Sums are looked at only where the tree is one."""
    before = len(found.problems) + found.more
    if not tree.queues:
        found.begin("Queue", "", "")
        remedy = "give what `kubectl get queues.scheduling.volcano.sh -o yaml` writes"
        found.problem("", "there is none, apart from the root", remedy)
    _check_parents(tree, found)
    for queue in tree.queues.values():
        found.begin("Queue", queue.name, queue.file)
        _check_own(queue, found)
    if len(found.problems) + found.more > before or "" in tree.queues:  # one without a name, which was told, would count as the root
        return
    for queue in tree.queues.values():
        found.begin("Queue", queue.name, queue.file)
        _check_sum("deserved", tree.owned(queue), tree.owned_below(queue.name), found)
        _check_sum("guarantee.resource", queue.guarantee, tree.guaranteed_below(queue.name), found)
        _check_capability(tree, queue, found)
    _check_total(tree, found)


# --- the tree


def _check_parents(tree: QueueTree, found: Findings) -> None:
    """Report each parent that is not there, each circle once, and once a tree that is too deep. Who has no name is no parent."""
    told: set[str] = set()
    too_deep = False
    for queue in tree.queues.values():
        found.begin("Queue", queue.name, queue.file)
        path, above = [queue.name], tree.parent(queue)
        if above and above not in tree.queues:
            found.problem("spec.parent", f"names `{above}`, which is not there", "give that Queue, too, or correct the name")
        while above and above in tree.queues and above not in path and len(path) <= MOST_LEVELS:
            path.append(above)
            above = tree.parent(tree.queues[above])
        if above and above == queue.name and queue.name not in told:
            told.update(path)
            found.problem("spec.parent", f"goes round in a circle: {' -> '.join([*path, above])}", "let one of them have no parent")
        elif len(path) > MOST_LEVELS and not too_deep:
            too_deep = True
            found.problem("spec.parent", f"has {MOST_LEVELS} Queues above it or more", f"nest at most {MOST_LEVELS} levels")


# --- amounts


def _check_own(queue: VolcanoQueue, found: Findings) -> None:
    """guarantee <= deserved <= capability, for each resource that both name."""
    for resource in sorted(queue.guarantee.keys() & queue.deserved.keys()):
        if queue.guarantee[resource] > queue.deserved[resource]:
            guaranteed, deserved = (text(said[resource], resource) for said in (queue.guarantee, queue.deserved))
            cause = f"is {deserved}, and {guaranteed} are guaranteed"
            found.problem(f"spec.deserved.{resource}", cause, f"write at least {guaranteed}, or guarantee less")
    for field, said in (("deserved", queue.deserved), ("guarantee.resource", queue.guarantee)):
        for resource in sorted(said.keys() & queue.capability.keys()):
            if said[resource] > queue.capability[resource]:
                most = text(queue.capability[resource], resource)
                cause = f"is {text(said[resource], resource)}, above the capability, {most}"
                found.problem(f"spec.{field}.{resource}", cause, f"write at most {most}, or raise the capability")


def _check_sum(field: str, own: Mapping[str, int], below: Mapping[str, int], found: Findings) -> None:
    """A Queue has at least as much as those directly below it have together."""
    for resource in sorted(below):
        if below[resource] > own.get(resource, 0):
            total = text(below[resource], resource)
            cause = f"is {text(own.get(resource, 0), resource)}, and the Queues below have {total} together"
            found.problem(f"spec.{field}.{resource}", cause, f"write at least {total}, or give them less")


def _check_capability(tree: QueueTree, queue: VolcanoQueue, found: Findings) -> None:
    """A Queue has at most the capability of the nearest Queue above it that has one."""
    for resource in sorted(queue.capability):
        limiting = next((above for above in tree.above(queue) if resource in above.capability), None)
        if limiting is not None and queue.capability[resource] > limiting.capability[resource]:
            most = text(limiting.capability[resource], resource)
            cause = f"is {text(queue.capability[resource], resource)}, above that of Queue {limiting.name}, {most}"
            found.problem(f"spec.capability.{resource}", cause, f"write at most {most}, or leave it out")


def _check_total(tree: QueueTree, found: Findings) -> None:
    """What all own together fits 64 bits."""
    total = tree.owned_below("")
    for resource in sorted(total):
        if total[resource] > INT64_MAX:
            biggest = max(tree.children[""], key=lambda queue: tree.owned(queue).get(resource, 0))
            found.begin("Queue", biggest.name, biggest.file)
            found.problem(f"spec.deserved.{resource}", "with it, all together deserve more than 64 bits hold", "let it deserve less")


# --- PodGroups


def check_pod_groups(tree: QueueTree, pod_groups: list[PodGroup], found: Findings) -> None:
    """Report PodGroups of Queues that have others below them: where there is one, Volcano's plugin capacity decides nothing at all."""
    for group in pod_groups:
        queue = tree.queues.get(group.queue)
        is_inner = queue is not None and not tree.is_leaf(queue)
        if group.phase != "Completed" and (is_inner or (tree.root is not None and group.queue == tree.root.name)):
            found.begin("PodGroup", group.key, group.file)
            cause = f"is Queue {group.queue}, which has others below it"
            found.problem("spec.queue", cause, "name one of those, as Volcano decides nothing otherwise")
