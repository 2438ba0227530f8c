"""The objects of Volcano that a guard keeps as a policy says: Queues and PriorityClasses as the export writes them, said in full.

Where pods stand is no quota, so HyperNodes are left alone.

What Volcano's own webhook would refuse, and a cluster without it would take, the export refuses before: a queue that deserves more than its
capability, for instance. The guard never writes the Queue `root`, and asks for no Queue to be closed: that is no field of it.
"""

from collections.abc import Mapping
from functools import partial

from ....engine.policy_graph import PolicyGraph
from ...live.guard.guarded_system import FieldForms, GuardedObject, GuardedSystem, SaidInFull, guarded_object
from ..export.export_to_volcano import export_to_volcano
from ..queue_names import ROOT_QUEUE
from .volcano_resources import CLUSTER_PRIORITY, QUEUE

_KINDS = (CLUSTER_PRIORITY, QUEUE)
"""The kinds that are guarded, in the order in which they are applied."""

_SAID_IN_FULL: Mapping[str, SaidInFull] = {
    QUEUE.kind: SaidInFull(
        {"spec": {"weight": 1, "reclaimable": True, "dequeueStrategy": "traverse", "priority": 0}},
        absent=(("spec", "parent"),),
        closed=(("spec", "deserved"), ("spec", "capability"), ("spec", "guarantee", "resource")),
    ),
    CLUSTER_PRIORITY.kind: SaidInFull(absent=(("globalDefault",), ("preemptionPolicy",))),
}
"""What Volcano takes for fields that are not said, and what decides and has no value that says nothing: an amount of another resource is a
limit, too. Source: Volcano's CRD of Queues and its webhook that fills in (pkg/webhooks/admission/queues/mutate)."""

_FORMS = FieldForms(
    amounts=("deserved", "capability", "resource"),
    as_if_absent={("spec", "parent"): ROOT_QUEUE, ("globalDefault",): False, ("preemptionPolicy",): "PreemptLowerPriority"},
)


def volcano_guarded(sum_flavors: bool = False) -> GuardedSystem:
    """Volcano's objects, for a guard. `sum_flavors`: the quotas of several flavors of a resource are one sum, as in the export."""
    return GuardedSystem("Volcano", _KINDS, partial(_objects, sum_flavors), _FORMS, fixed=(CLUSTER_PRIORITY,))


def _objects(sum_flavors: bool, graph: PolicyGraph, gpu: str, guard: str) -> tuple[dict[str, GuardedObject], list[str]]:
    exported = export_to_volcano(graph, gpu, sum_flavors, quotas_alone=True)
    kinds = {kind.kind: kind for kind in _KINDS}
    found = [(kinds[str(item["kind"])], item) for item in exported.objects]
    made = [guarded_object(kind, item, guard, _SAID_IN_FULL[kind.kind]) for kind, item in found]
    return {each.key: each for each in made}, [str(note) for note in exported.notes]
