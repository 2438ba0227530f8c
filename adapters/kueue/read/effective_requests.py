"""The effective requests of pods, beyond their template: claimed devices, and what LimitRanges and RuntimeClasses add.

Kueue records them: for a pending workload in `status.resourceRequests`, for one with reserved quota in `status.admission`. With the default
feature gates, a claim counts as what its ResourceClaimTemplate asks for, by the Configuration's `deviceClassMappings`; a pod that names a
ResourceClaim is never admitted.
Source: Kueue, pkg/controller/core/workload_controller.go and pkg/dra/claims.go.
"""

from collections.abc import Sequence
from dataclasses import replace

from ....engine.event_parts import POD_COUNT
from .fields import Fields
from .objects import KueueAdmission, KueuePodSet
from .quantity import amount

_LOST = "claims devices: they count for nothing once it is released, as nothing in the dump says for how much they count"
_NO_OVERHEAD = "has a RuntimeClass whose overhead is not counted: Kueue has not said yet for how much it counts the pods"
_KEPT = "claims devices: they go on counting for what status.admission says"

Requests = dict[str, int]
"""What one pod asks for, in gpol's smallest units."""


def names_claims(rows: Sequence[Fields]) -> bool:
    """Whether any pod set claims devices by the name of a ResourceClaim, which keeps a workload out of Kueue's queues."""
    return any(claim.text("resourceClaimName") for row in rows for claim in _spec(row).subs("resourceClaims"))


def counted(
    pod_sets: tuple[KueuePodSet, ...], rows: Sequence[Fields], status: Fields, reclaimable: dict[str, int], held: str
) -> tuple[KueuePodSet, ...]:
    """The pod sets of a workload without quota, asking for what Kueue last counted for them; where it did not yet, for their template.

    Claims for which nothing says how much they count are a problem; of a workload that is held they are only noted.
    """
    known = _considered(pod_sets, status, reclaimable)
    for row in (row for row in rows if row.text("name", "main") not in known):
        spec = _spec(row)
        if spec.has("runtimeClassName") and not spec.has("overhead"):
            row.found.note("spec.podSets", _NO_OVERHEAD)
        if _claims(row) and held:
            row.found.note("spec.podSets", _LOST)
        elif _claims(row):
            cause = "claims devices, and status.resourceRequests does not say for how much Kueue counts them"
            spec.wrong("resourceClaims", cause, "dump it again once Kueue has considered it, or leave this workload out")
    return _with(pod_sets, known)


def _considered(pod_sets: tuple[KueuePodSet, ...], status: Fields, reclaimable: dict[str, int]) -> dict[str, Requests]:
    """What one pod of each pod set counted for when Kueue last considered the workload; none where that does not go by whole pods."""
    said = {row.text("name", "main"): row.requests("resources") for row in status.subs("resourceRequests")}
    known = {}
    for pods in pod_sets:
        left = pods.count - reclaimable.get(pods.name, 0)
        total = {key: max(0, amount(value, key)) for key, value in said.get(pods.name, {}).items() if key != POD_COUNT}
        if pods.name in said and left > 0 and all(total[resource] % left == 0 for resource in total):
            known[pods.name] = {resource: total[resource] // left for resource in total}
    return known


def charged(pod_sets: tuple[KueuePodSet, ...], rows: Sequence[Fields], admission: KueueAdmission) -> tuple[KueuePodSet, ...]:
    """The pod sets of a workload that holds quota: those that claim devices ask for what they are charged, should they wait again."""
    claiming = {row.text("name", "main") for row in rows if _claims(row)}
    given = {each.pod_set: each for each in admission.assignments if each.pod_set in claiming and each.count > 0}
    if claiming:
        rows[0].found.note("spec.podSets", _KEPT)
    return _with(pod_sets, {name: {key: -(-use // given[name].count) for key, use in given[name].usage.items()} for name in given})


def _with(pod_sets: tuple[KueuePodSet, ...], known: dict[str, Requests]) -> tuple[KueuePodSet, ...]:
    return tuple(replace(pods, requests=known[pods.name]) if pods.name in known else pods for pods in pod_sets)


def _spec(row: Fields) -> Fields:
    return row.sub("template").sub("spec")


def _claims(row: Fields) -> bool:
    """Whether the pods of a pod set claim devices, be it by a template or by name."""
    return any(claim.text("resourceClaimTemplateName") or claim.text("resourceClaimName") for claim in _spec(row).subs("resourceClaims"))
