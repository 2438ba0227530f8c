"""The normal form of Kueue's objects: what Kubernetes' defaulting makes of them, and an order where theirs means nothing.

Two clusters with the same normal form are the same cluster to Kueue's scheduler.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil
from typing import Any

import yaml
from gpol.adapters.kueue.read.quantity import parse

Json = dict[str, Any]
Key = tuple[str, str, str]
"""Kind, namespace and name."""

BOTH = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
_UNLIMITED = 2**63 - 1
_OLD_WORDS = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}
_DURATIONS = {"0s": 0, "168h": 7 * 86_400, "5m": 300, "1m30s": 90}


def normal_form(objects: Iterable[Json]) -> dict[Key, Any]:
    """The objects by kind and name, each in its normal form; a cohort that is only named is there as well."""
    given = [_configured(item) for item in objects]
    made: dict[Key, Any] = {("Cohort", "", name): _cohort({}) for name in sorted(_named_cohorts(given))}
    queues = {item["metadata"]["name"] for item in given if item["kind"] == "ClusterQueue"}
    for item in given:
        kind, metadata, spec = item["kind"], item.get("metadata", {}), item.get("spec") or {}
        key = (kind, metadata.get("namespace", ""), metadata.get("name", ""))
        match kind:
            case "ClusterQueue":
                made[key] = _cluster_queue(spec, usage=_by_usage(given))
            case "Cohort":
                made[key] = _cohort(spec)
            case "LocalQueue" if spec["clusterQueue"] in queues:
                made[key] = (spec["clusterQueue"], spec.get("stopPolicy") or "None", _weight(spec))
            case "ResourceFlavor":
                made[key] = _flavor(spec)
            case "WorkloadPriorityClass":
                made[key] = item["value"]
            case "Configuration" if {"fairSharing", "admissionFairSharing", "resources"} & item.keys():
                made[key] = _configuration(item, _resources(given))
    return made


def _configured(item: Json) -> Json:
    """A ConfigMap as the Configuration that it holds; anything else as it is."""
    return yaml.safe_load(item["data"]["controller_manager_config.yaml"]) if item["kind"] == "ConfigMap" else item


def _named_cohorts(objects: Iterable[Json]) -> set[str]:
    specs = [item.get("spec") or {} for item in objects if item["kind"] in ("ClusterQueue", "Cohort")]
    return {name for spec in specs for field in ("cohort", "cohortName", "parentName") if (name := spec.get(field))}


def _by_usage(objects: Iterable[Json]) -> bool:
    return any(item["kind"] == "Configuration" and "admissionFairSharing" in item for item in objects)


def _weight(spec: Mapping[str, Any]) -> Fraction:
    return parse((spec.get("fairSharing") or {}).get("weight", 1))


# --- quotas


def _amount(value: object, resource: str) -> int:
    """What Kueue counts: cpu in thousandths, all else in whole units, rounded up, at most the greatest 64-bit integer."""
    return min(ceil(parse(value) * (1000 if resource == "cpu" else 1)), _UNLIMITED)


def _quota(said: Mapping[str, Any], has_parent: bool, is_queue: bool) -> tuple[int, int | None, int | None]:
    """Nominal quota, borrowing and lending limit, without limits that have no effect."""
    resource, nominal = said["name"], _amount(said["nominalQuota"], said["name"])
    limits = [said.get(field) for field in ("borrowingLimit", "lendingLimit")]
    borrowing, lending = (None if value is None or not has_parent else _amount(value, resource) for value in limits)
    return nominal, borrowing, None if lending is not None and is_queue and lending > nominal else lending


def _groups(spec: Mapping[str, Any], has_parent: bool) -> list[Any]:
    """The resource groups of a ClusterQueue in their order; resources have none."""
    return [
        (
            sorted(group["coveredResources"]),
            [
                (flavor["name"], {row["name"]: _quota(row, has_parent, is_queue=True) for row in flavor["resources"]})
                for flavor in group["flavors"]
            ],
        )
        for group in spec.get("resourceGroups") or []
        if group["coveredResources"]
    ]


def _cohort(spec: Mapping[str, Any]) -> Any:
    """A cohort's quotas count one by one: how they are grouped means nothing, nor do those of 0 without limits."""
    parent = spec.get("parentName") or ""
    quotas = {
        (flavor["name"], row["name"]): _quota(row, bool(parent), is_queue=False)
        for group in spec.get("resourceGroups") or []
        for flavor in group["flavors"]
        for row in flavor["resources"]
    }
    return parent, _weight(spec), {slot: quota for slot, quota in quotas.items() if quota != (0, None, None)}


# --- ClusterQueues


def _cluster_queue(spec: Mapping[str, Any], usage: bool) -> Json:
    fungibility, preemption = spec.get("flavorFungibility") or {}, spec.get("preemption") or {}
    borrowing = preemption.get("borrowWithinCohort") or {}
    may_borrow = borrowing.get("policy", "Never") != "Never"
    cohort = spec.get("cohortName") or spec.get("cohort") or ""
    mode = (spec.get("admissionScope") or {}).get("admissionMode", "")
    when = {field: fungibility.get(field) for field in ("whenCanBorrow", "whenCanPreempt")}
    return {
        "cohort": cohort,
        "strategy": spec.get("queueingStrategy") or "BestEffortFIFO",
        "selector": _selector(spec.get("namespaceSelector")),
        "borrow": _OLD_WORDS.get(when["whenCanBorrow"] or "", when["whenCanBorrow"] or "MayStopSearch"),
        "evict": _OLD_WORDS.get(when["whenCanPreempt"] or "", when["whenCanPreempt"] or "TryNextFlavor"),
        "preference": fungibility.get("preference") or "BorrowingOverPreemption",
        "within": preemption.get("withinClusterQueue") or "Never",
        "reclaim": preemption.get("reclaimWithinCohort") or "Never",
        "while borrowing": (may_borrow, borrowing.get("maxPriorityThreshold") if may_borrow else None),
        "weight": _weight(spec),
        "by usage": usage and mode == "UsageBasedAdmissionFairSharing",
        "checks": _checks(spec),
        "stop": spec.get("stopPolicy") or "None",
        "groups": _groups(spec, bool(cohort)),
    }


def _checks(spec: Mapping[str, Any]) -> list[Any]:
    rules = [
        (rule["name"], sorted(rule.get("onFlavors") or []))
        for rule in (spec.get("admissionChecksStrategy") or {}).get("admissionChecks", [])
    ]
    return sorted(rules + [(check, []) for check in spec.get("admissionChecks") or []])


def _selector(said: Mapping[str, Any] | None) -> Any:
    """The conditions on a namespace's labels; None selects no namespace."""
    if said is None:
        return None
    labels = [(key, "In", (value,)) for key, value in (said.get("matchLabels") or {}).items()]
    rows = [(row["key"], row["operator"], tuple(sorted(row.get("values") or ()))) for row in said.get("matchExpressions") or []]
    return sorted({*labels, *rows})


# --- the rest


def _flavor(spec: Mapping[str, Any]) -> Any:
    taints = {(row["key"], row.get("value") or "", row["effect"]) for row in spec.get("nodeTaints") or []}
    tolerations = {
        (row.get("key") or "", row.get("operator") or "Equal", row.get("value") or "", row.get("effect") or "")
        for row in spec.get("tolerations") or []
    }
    return dict(spec.get("nodeLabels") or {}), sorted(taints), sorted(tolerations)


def _resources(objects: Iterable[Json]) -> set[str]:
    """The resources that somebody has a quota of."""
    groups = [group for item in objects for group in (item.get("spec") or {}).get("resourceGroups") or []]
    return {resource for group in groups for resource in group["coveredResources"]}


def _configuration(item: Mapping[str, Any], resources: set[str]) -> Any:
    """Fair sharing and usage; what a resource weighs that nobody has means nothing."""
    usage = item.get("admissionFairSharing")
    said = None
    if usage is not None:
        durations = _DURATIONS[usage["usageHalfLifeTime"]], _DURATIONS[usage.get("usageSamplingInterval", "5m")]
        weights = (usage.get("resourceWeights") or {}).items()
        said = (*durations, {name: Fraction(str(weight)) for name, weight in weights if name in resources})
    sharing = (item["fairSharing"] or {}).get("preemptionStrategies", BOTH) if "fairSharing" in item else None
    return sharing, said, _excluded(item)


def _excluded(item: Mapping[str, Any]) -> list[str]:
    """How the names of excluded resources begin; one that begins as another does adds nothing."""
    said = (item.get("resources") or {}).get("excludeResourcePrefixes") or []
    return sorted(prefix for prefix in said if not any(prefix.startswith(other) for other in said if other != prefix))
