"""ClusterQueues, Cohorts and LocalQueues: what their objects say."""

from fractions import Fraction
from typing import cast

from . import known_fields as known
from .fields import Fields
from .objects import (
    MOST_ALL_FLAVORS,
    MOST_FLAVORS,
    MOST_GROUPS,
    MOST_RESOURCES,
    CheckRule,
    ClusterQueue,
    FlavorQuotas,
    KueueCohort,
    KueueLocalQueue,
    PreemptionPolicy,
    ResourceGroup,
    ResourceQuota,
    Selector,
    StopPolicy,
)
from .quantity import amount
from .selectors import conditions, selector

_STOPS = ("None", "Hold", "HoldAndDrain")
_DERIVED = ("Stopped", "FlavorNotFound", "AdmissionCheckNotFound", "AdmissionCheckInactive", "TopologyNotFound")
"""Reasons for which a ClusterQueue is inactive that follow from other objects."""

BEING_DELETED = "it is being deleted"
"""Why a ClusterQueue is inactive whose deletion has begun."""


def cluster_queue(name: str, file: str, whole: Fields) -> ClusterQueue:
    """A ClusterQueue of v1beta1 or v1beta2."""
    spec = whole.sub("spec").known(known.CLUSTER_QUEUE)
    if spec.has("concurrentAdmissionPolicy"):
        spec.found.note("spec.concurrentAdmissionPolicy", "counts for nothing: Kueue's feature gate for it is off by default")
    scope = spec.sub("admissionScope").known(known.ADMISSION_SCOPE)
    modes = ("UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing")
    within, reclaim, borrow, up_to = _preemption(spec.sub("preemption").known(known.PREEMPTION))
    fungibility = spec.sub("flavorFungibility").known(known.FLAVOR_FUNGIBILITY)
    preference = fungibility.one_of("preference", ("BorrowingOverPreemption", "PreemptionOverBorrowing"), "BorrowingOverPreemption")
    return ClusterQueue(
        name=name,
        file=file,
        cohort=_cohort_of(spec),
        groups=_groups(spec),
        weight=_weight(spec),
        strict=spec.one_of("queueingStrategy", ("BestEffortFIFO", "StrictFIFO"), "BestEffortFIFO") == "StrictFIFO",
        selector=_namespaces(spec),
        try_next_when_borrowing=fungibility.one_of("whenCanBorrow", _WHEN_BORROWING, "MayStopSearch") == "TryNextFlavor",
        try_next_when_evicting=fungibility.one_of("whenCanPreempt", _WHEN_EVICTING, "TryNextFlavor") == "TryNextFlavor",
        evict_rather_than_borrow=preference == "PreemptionOverBorrowing",
        within=within,
        reclaim=reclaim,
        borrow=borrow,
        borrow_up_to=up_to,
        checks=_checks(spec),
        stop=cast(StopPolicy, spec.one_of("stopPolicy", _STOPS, "None")),
        by_usage=scope.one_of("admissionMode", modes, modes[1]) == modes[0],
        inactive=_inactive(whole),
    )


_WHEN_BORROWING = ("MayStopSearch", "TryNextFlavor", "Borrow")
_WHEN_EVICTING = ("TryNextFlavor", "MayStopSearch", "Preempt")
"""The last of each is how v1beta1 spells MayStopSearch."""


def _cohort_of(spec: Fields) -> str:
    old, new = spec.optional_name("cohort"), spec.optional_name("cohortName")
    if old and new and old != new:
        spec.wrong("cohort", f"is `{old}`, but cohortName is `{new}`", "keep cohortName")
    return new or old


def _namespaces(spec: Fields) -> Selector | None:
    return selector(spec.sub("namespaceSelector")) if spec.has("namespaceSelector") else None


def _weight(spec: Fields) -> Fraction:
    return spec.sub("fairSharing").known(known.FAIR_SHARING).number("weight", Fraction(1))


def _preemption(said: Fields) -> tuple[PreemptionPolicy, PreemptionPolicy, PreemptionPolicy, int | None]:
    """Within the queue, reclaiming, while borrowing, and up to which priority."""
    within = said.one_of("withinClusterQueue", ("Never", "LowerPriority", "LowerOrNewerEqualPriority"), "Never")
    reclaim = said.one_of("reclaimWithinCohort", ("Never", "LowerPriority", "Any"), "Never")
    borrowing = said.sub("borrowWithinCohort").known(known.BORROW_WITHIN_COHORT)
    borrow = borrowing.one_of("policy", ("Never", "LowerPriority"), "Never")
    up_to = borrowing.whole("maxPriorityThreshold", 0) if borrowing.has("maxPriorityThreshold") else None
    return cast(PreemptionPolicy, within), cast(PreemptionPolicy, reclaim), cast(PreemptionPolicy, borrow), up_to


def _checks(spec: Fields) -> tuple[CheckRule, ...]:
    """The admission checks, said in the one way or in the older one."""
    rules = []
    for row in spec.sub("admissionChecksStrategy").known(known.CHECKS_STRATEGY).subs("admissionChecks", 64):
        row.known(known.CHECK_RULE)
        rules.append(CheckRule(row.name("name"), row.texts("onFlavors")))
    older = spec.texts("admissionChecks")
    if older and rules:
        spec.wrong("admissionChecks", "stands beside admissionChecksStrategy", "keep admissionChecksStrategy")
    rules += [CheckRule(check, ()) for check in older]
    names = [rule.check for rule in rules]
    for check in sorted({check for check in names if names.count(check) > 1}):
        spec.wrong("admissionChecksStrategy", f"names check `{check}` twice", "keep one")
    return tuple(rules)


def _inactive(whole: Fields) -> str:
    """Why Kueue says that the ClusterQueue is inactive, unless other objects tell that as well."""
    if whole.sub("metadata").text("deletionTimestamp"):
        return BEING_DELETED
    for condition in conditions(whole):
        reason = condition.text("reason")
        if condition.text("type") == "Active" and condition.text("status") == "False" and reason not in _DERIVED:
            return f"Kueue says {reason or 'so'}"
    return ""


def cohort(name: str, file: str, whole: Fields) -> KueueCohort:
    """A Cohort."""
    spec = whole.sub("spec").known(known.COHORT)
    return KueueCohort(name, file, spec.optional_name("parentName"), _groups(spec), _weight(spec))


def local_queue(namespace: str, name: str, file: str, whole: Fields) -> KueueLocalQueue:
    """A LocalQueue."""
    spec = whole.sub("spec").known(known.LOCAL_QUEUE)
    if spec.has("wallTimePolicy"):
        spec.found.note("spec.wallTimePolicy", "is not imported: no LocalQueue stops because its hours are used up")
    stop = cast(StopPolicy, spec.one_of("stopPolicy", _STOPS, "None"))
    used = whole.sub("status").sub("fairSharing").sub("admissionFairSharingStatus")
    consumed = tuple((resource, amount(quantity, resource)) for resource, quantity in sorted(used.requests("consumedResources").items()))
    return KueueLocalQueue(namespace, name, file, spec.name("clusterQueue"), _weight(spec), stop, consumed, used.time("lastUpdate"))


# --- quotas


def _groups(spec: Fields) -> tuple[ResourceGroup, ...]:
    """The resource groups. Kueue's webhook wants each resource and each flavor in one of them only."""
    groups: list[ResourceGroup] = []
    resources: set[str] = set()
    flavors: set[str] = set()
    slots: set[tuple[str, str]] = set()
    for row in spec.subs("resourceGroups", MOST_GROUPS):
        group = _group(row)
        if group.resources:
            groups.append(group)
        else:
            row.found.note("spec.resourceGroups", "a group without resources says nothing, and is left out")
        for resource, flavor in sorted(slots.intersection(_slots(group))):
            row.wrong("coveredResources", f"has {resource} on {flavor}, as another group has", "let one group have it")
        if resources & set(group.resources):
            row.found.note("spec.resourceGroups", "a resource is in several groups, which Kueue's webhook refuses")
        if flavors & {flavor.flavor for flavor in group.flavors}:
            row.found.note("spec.resourceGroups", "a flavor is in several groups, which Kueue's webhook refuses")
        slots.update(_slots(group))
        resources.update(group.resources)
        flavors.update(flavor.flavor for flavor in group.flavors)
    if len(flavors) > MOST_ALL_FLAVORS:
        spec.wrong("resourceGroups", f"has {len(flavors)} flavors", f"Kueue allows at most {MOST_ALL_FLAVORS}")
    return tuple(groups)


def _slots(group: ResourceGroup) -> set[tuple[str, str]]:
    """What a group has quotas of, by resource and flavor."""
    return {(quota.resource, flavor.flavor) for flavor in group.flavors for quota in flavor.quotas}


def _group(row: Fields) -> ResourceGroup:
    """A resource group."""
    covered = row.known(known.RESOURCE_GROUP).texts("coveredResources")
    made = tuple(_flavor(flavor, covered) for flavor in row.subs("flavors", MOST_FLAVORS))
    if len(row.rows("coveredResources", MOST_RESOURCES)) != len(covered):
        row.wrong("coveredResources", "has a resource twice", "name each once")
    if not made:
        row.wrong("flavors", "is empty", "name the flavors, in the order to try them")
    if len({flavor.flavor for flavor in made}) < len(made):
        row.wrong("flavors", "has a flavor twice", "name each once")
    return ResourceGroup(covered, made)


def _flavor(row: Fields, covered: tuple[str, ...]) -> FlavorQuotas:
    row.known(known.FLAVOR_QUOTAS)
    quotas = tuple(_quota(resource) for resource in row.subs("resources", MOST_RESOURCES))
    if sorted(quota.resource for quota in quotas) != sorted(covered):
        named = ", ".join(quota.resource for quota in quotas) or "nothing"
        row.wrong("resources", f"has quotas of {named}", f"Kueue wants each of the covered resources once: {', '.join(covered)}")
    return FlavorQuotas(row.name("name"), quotas)


def _quota(row: Fields) -> ResourceQuota:
    row.known(known.RESOURCE_QUOTA)
    resource = row.name("name")
    if not row.has("nominalQuota"):
        row.wrong("nominalQuota", "is missing", "write what is owned, such as 8")
    nominal = row.quota("nominalQuota", resource) or 0
    return ResourceQuota(resource, nominal, row.quota("borrowingLimit", resource), row.quota("lendingLimit", resource))
