"""Checks across the objects of a cluster: no cycle of cohorts, and amounts within 64 bits."""

from dataclasses import replace

from ....engine.event_parts import POD_COUNT
from ....engine.units import INT64_MAX
from ..problems import Findings
from ..read.objects import ClusterQueue, FlavorQuotas, KueueAdmission, KueueCohort, Objects, ResourceGroup

MOST_LEVELS = 30
"""Cohorts above one another, at most: the language nests no deeper."""


def validate(objects: Objects, found: Findings) -> None:
    """Report what cannot occur in a cluster of Kueue, and what gpol cannot represent."""
    _check_tree(objects.cohorts, found)
    owners: list[ClusterQueue | KueueCohort] = [*objects.cluster_queues, *objects.cohorts]
    _check_sums(owners, found)


def leave_out_pods(objects: Objects, found: Findings) -> None:
    """Take out quotas of `pods`, which a policy that decides at once cannot say, noted, and what workloads hold of them."""
    objects.workloads = [replace(workload, admission=_podless_admission(workload.admission)) for workload in objects.workloads]
    objects.cluster_queues = [replace(queue, groups=_podless(queue, found)) for queue in objects.cluster_queues]
    objects.cohorts = [replace(cohort, groups=_podless(cohort, found)) for cohort in objects.cohorts]


def _podless_admission(held: KueueAdmission | None) -> KueueAdmission | None:
    return held and replace(held, assignments=tuple(given.without(lambda resource: resource == POD_COUNT) for given in held.assignments))


def _podless(owner: ClusterQueue | KueueCohort, found: Findings) -> tuple[ResourceGroup, ...]:
    if any(POD_COUNT in group.resources for group in owner.groups):
        found.begin("ClusterQueue" if isinstance(owner, ClusterQueue) else "Cohort", owner.name, owner.file)
        found.note("spec.resourceGroups", "has quotas of pods, which a policy that decides at once cannot say: they are left out")
    return tuple(made for group in owner.groups if (made := _without_pods(group)).resources)


def _without_pods(group: ResourceGroup) -> ResourceGroup:
    flavors = tuple(
        FlavorQuotas(flavor.flavor, tuple(quota for quota in flavor.quotas if quota.resource != POD_COUNT)) for flavor in group.flavors
    )
    return ResourceGroup(tuple(resource for resource in group.resources if resource != POD_COUNT), flavors)


def _check_tree(cohorts: list[KueueCohort], found: Findings) -> None:
    """Report each cycle of cohorts once, and once a tree that is too deep (a cycle that is longer counts as too deep)."""
    parents = {cohort.name: cohort.parent for cohort in cohorts}
    told: set[str] = set()
    too_deep = False
    for cohort in cohorts:
        path = [cohort.name]
        while (above := parents.get(path[-1], "")) and above not in path and len(path) <= MOST_LEVELS:
            path.append(above)
        found.begin("Cohort", cohort.name, cohort.file)
        if above and above == cohort.name and cohort.name not in told:
            told.update(path)
            circle = " -> ".join([*path, above])
            found.problem("spec.parentName", f"goes round in a circle: {circle}", "let one of them have no parent")
        elif len(path) > MOST_LEVELS and not too_deep:
            too_deep = True
            found.problem("spec.parentName", f"has {MOST_LEVELS} cohorts above it or more", f"nest at most {MOST_LEVELS} levels")


def _check_sums(owners: list[ClusterQueue | KueueCohort], found: Findings) -> None:
    """What all own together of a resource of a flavor fits 64 bits."""
    total: dict[tuple[str, str], int] = {}
    for owner in owners:
        for group in owner.groups:
            for flavor in group.flavors:
                for quota in flavor.quotas:
                    slot = (flavor.flavor, quota.resource)
                    before = total.get(slot, 0)
                    total[slot] = before + quota.nominal
                    if before <= INT64_MAX < total[slot]:
                        found.begin("ClusterQueue" if isinstance(owner, ClusterQueue) else "Cohort", owner.name, owner.file)
                        cause = f"with it, all together own more {quota.resource} on {flavor.flavor} than 64 bits hold"
                        found.problem("spec.resourceGroups", cause, "let at most one of them be without limit, or own less")


def refuse_topologies(objects: Objects, found: Findings) -> None:
    """Report each flavor of a topology that somebody has a quota of, where gpol decides no places; any other one counts for nothing."""
    owners: list[ClusterQueue | KueueCohort] = [*objects.cluster_queues, *objects.cohorts]
    used = {flavor.flavor for owner in owners for group in owner.groups for flavor in group.flavors}
    for flavor in objects.flavors:
        if flavor.topology and flavor.name in used:
            found.begin("ResourceFlavor", flavor.name, flavor.file)
            cause = "asks for topology-aware scheduling, which gpol does not decide on a live cluster yet"
            found.problem("spec.topologyName", cause, "remove it to import the quotas without their topology")
