"""A workload that grows: one takes the place of another that runs, and needs room only for what it asks for beyond that.

Kueue: pkg/workloadslicing, an elastic job's slices (feature gate ElasticJobsViaWorkloadSlices). Where Kueue would let the old slice's
room count twice for others of the same cycle (a known defect there), this does not; see `definition/admission/cycle.py`.
"""

from ..event_parts import asked_by_one
from ..outcome.named import SlotIndex
from ..policy_graph import PolicyGraph
from ..workload import Running, Workload

Held = dict[str, dict[str, tuple[int, int]]]
"""What each pod set of a running workload holds: by pod set and resource the flavor and the amount."""


def takes_place_of(new: Workload, old: Workload) -> bool:
    """Whether a waiting workload takes the place of one that runs: it names it, and is of its queue and namespace."""
    return new.fact.replaces == old.name and new.queue == old.queue and new.fact.namespace == old.fact.namespace


def replaced_by(workload: Workload, running: Running) -> Workload | None:
    """The running workload whose place another one takes; None where there is none."""
    if workload.fact.replaces is None:
        return None
    return next((old for old in running(workload.queue) if takes_place_of(workload, old)), None)


def held_by(graph: PolicyGraph, slots: SlotIndex, workload: Workload | None) -> Held:
    """What a running workload holds, by pod set; all of it together is exactly what it is charged."""
    if workload is None:
        return {}
    left = dict(workload.usage)
    flavors = {flavor.name: index for index, flavor in enumerate(graph.flavors)}
    pod_sets = {pod_set.name: (pod_set, count) for pod_set, count in workload.pod_sets()}
    held: Held = {}
    last: dict[int, tuple[str, str]] = {}
    for assignment in workload.assignments:
        pod_set, count = pod_sets[assignment.pod_set]
        held[pod_set.name] = {}
        for resource in sorted(assignment.flavors):
            slot = slots.get((assignment.flavors[resource], resource), -1)
            amount = min(left.get(slot, 0), asked_by_one(pod_set, resource) * min(count, assignment.count))
            held[pod_set.name][resource] = (flavors.get(assignment.flavors[resource], -1), amount)
            if slot in left:
                left[slot] -= amount
                last[slot] = (pod_set.name, resource)
    for slot in sorted(last):  # an outside system may charge more than the pods ask for
        name, resource = last[slot]
        flavor, amount = held[name][resource]
        held[name][resource] = (flavor, amount + left[slot])
    return held
