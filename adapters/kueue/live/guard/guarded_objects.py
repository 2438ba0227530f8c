"""The objects of Kueue that a guard keeps as a policy says: those of the export, with what the export leaves to Kueue's defaults.

So a guarded ClusterQueue says that it evicts nobody, and does not just leave it out.
"""

from collections.abc import Mapping
from typing import Any

from .....engine.policy_graph import PolicyGraph
from ....kubernetes.api import Plain
from ....live.guard.guarded_system import FieldForms, GuardedObject, GuardedSystem, PartsOf, SaidInFull, guarded_object
from ....live.guard.value_texts import NOTHING, as_text
from ...export.export_policy import ExportRefused, export
from ...export.live.not_honoured import refuse_placed
from ...problems import Findings
from ..protocol import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE, PRIORITY_CLASS, RESOURCE_FLAVOR

GUARDED_KINDS = (RESOURCE_FLAVOR, PRIORITY_CLASS, COHORT, CLUSTER_QUEUE, LOCAL_QUEUE)
"""The kinds that are guarded, in the order in which they are applied."""

_SAID_IN_FULL: Mapping[str, SaidInFull] = {
    CLUSTER_QUEUE.kind: SaidInFull(
        {
            "spec": {
                "queueingStrategy": "BestEffortFIFO",
                "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
                "preemption": {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "Never"}},
                "fairSharing": {"weight": 1},
                "resourceGroups": [],
            }
        },
        (
            ("spec", "cohortName"),
            ("spec", "namespaceSelector"),
            ("spec", "flavorFungibility", "preference"),
            ("spec", "preemption", "borrowWithinCohort", "maxPriorityThreshold"),
            ("spec", "admissionScope"),
        ),
    ),
    COHORT.kind: SaidInFull({"spec": {"fairSharing": {"weight": 1}, "resourceGroups": []}}, (("spec", "parentName"),)),
}
"""What Kueue takes for fields that are not said, and what decides and has no value that says nothing. Source: the default markers of
Kueue's v1beta2 API."""


def guarded_objects(graph: PolicyGraph, gpu: str, guard: str) -> tuple[dict[str, GuardedObject], list[str]]:
    """The objects of a policy by their keys, in the order in which to apply them, and notes about what they do not say.

    `gpu` is what the resource `gpu` is called in the cluster, `guard` the name of the guard. Raises ExportRefused.
    """
    findings = Findings()
    refuse_placed(graph, findings, "a guard keeps no Topologies", "apply what `gpol export kueue` writes by hand")
    findings.check(ExportRefused)
    exported = export(graph, gpu)
    kinds = {kind.kind: kind for kind in GUARDED_KINDS}
    found = [(kinds[str(item["kind"])], item) for item in exported.objects if item["kind"] in kinds]
    made = [guarded_object(kind, item, guard, _SAID_IN_FULL.get(kind.kind, SaidInFull())) for kind, item in found]
    made.sort(key=lambda each: GUARDED_KINDS.index(each.kind))
    notes = [str(note) for note in exported.notes]
    if len(made) < len(exported.objects):
        notes.append("the Configuration of Kueue's manager is not guarded: put it there as `gpol export kueue` writes it")
    return {each.key: each for each in made}, notes


# --- resource groups ------------------------------------------------------------------------------------------------


def _quotas(groups: Any) -> dict[str, Plain] | None:
    """The quotas of resource groups by their places, in order: flavors are tried in that order. None for what has another form."""
    made: dict[str, Plain] = {}
    try:
        for group in [] if groups is None else groups:
            covered = ", ".join(group["coveredResources"])
            if group.keys() != {"coveredResources", "flavors"}:
                return None
            for flavor in group["flavors"]:
                for quota in flavor["resources"]:
                    place = f"[{covered}].flavors[{flavor['name']}].resources[{quota['name']}]"
                    made[place] = {name: quota[name] for name in quota if name != "name" and quota[name] is not None}
    except (KeyError, TypeError, AttributeError):
        return None
    return made


def _layout(groups: Any) -> str:
    """Which flavors serve which resources."""
    try:
        told = [
            f"{', '.join(group['coveredResources'])} from {', '.join(each['name'] for each in group['flavors'])}" for group in groups or ()
        ]
    except (KeyError, TypeError, AttributeError):
        return as_text(groups)
    return "; ".join(told) or NOTHING


KUEUE_GUARDED = GuardedSystem(
    "Kueue",
    GUARDED_KINDS,
    guarded_objects,
    FieldForms(
        whole=("namespaceSelector", "nodeLabels"),
        by_name=("admissionChecks",),
        sets=("onFlavors",),
        quantities=("nominalQuota", "borrowingLimit", "lendingLimit", "weight"),
        in_parts={"resourceGroups": PartsOf(_quotas, _layout)},
        as_if_absent={  # they cannot always be applied: Kueue refuses a preference beside some other fields
            ("spec", "flavorFungibility", "preference"): "BorrowingOverPreemption",
            ("spec", "admissionScope"): {"admissionMode": "NoAdmissionFairSharing"},
        },
    ),
    fixed=(LOCAL_QUEUE,),
)
"""Kueue's objects, for a guard. Source: the list and map types in Kueue's v1beta2 API."""
