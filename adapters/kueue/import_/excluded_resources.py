"""Resources that Kueue excludes from the requests of workloads, by `resources.excludeResourcePrefixes`: the policy ignores them.

Kueue compares prefixes, a policy whole names. So the policy ignores each resource of the dump with such a prefix, and the prefix itself,
from which an export restores the setting.
"""

from dataclasses import replace

from ....engine.event_parts import POD_COUNT
from ..problems import Findings
from ..read.objects import ClusterQueue, Configuration, KueueCohort, KueueWorkload, Objects

FIELD = "resources.excludeResourcePrefixes"
_HELD = "holds resources that the Configuration excludes: as nobody has a quota of them, they are left out"


def prefixes(objects: Objects) -> tuple[str, ...]:
    """How the names of excluded resources begin, in order, without those that begin as another one does."""
    return shortest((objects.configuration or Configuration()).excluded)


def shortest(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names that do not begin as another one does, which stands for them."""
    return tuple(name for name in names if not any(name.startswith(other) for other in names if other != name))


def leave_out_excluded(objects: Objects, found: Findings) -> None:
    """Refuse quotas of excluded resources, and take out what workloads hold of them since before they were excluded; noted."""
    wanted = prefixes(objects)
    if not wanted:
        return
    owners: list[ClusterQueue | KueueCohort] = [*objects.cluster_queues, *objects.cohorts]
    owned = {resource for owner in owners for group in owner.groups for resource in group.resources}
    for resource in sorted(resource for resource in owned if _is_excluded(resource, wanted)):
        found.begin("Configuration", "", "")
        cause = f"leaves out {resource}, of which there are quotas: in Kueue they would count for nothing"
        found.problem(FIELD, cause, "take the resource out of the quotas, or do not exclude it")
    objects.workloads = [_without(workload, wanted, found) for workload in objects.workloads]


def _without(workload: KueueWorkload, wanted: tuple[str, ...], found: Findings) -> KueueWorkload:
    """A workload that holds nothing of what is excluded."""
    held = workload.admission
    if held is None or not any(_is_excluded(resource, wanted) for given in held.assignments for resource in given.flavors):
        return workload
    found.begin("Workload", workload.key, workload.file)
    found.note("status.admission", _HELD)
    kept = tuple(given.without(lambda resource: _is_excluded(resource, wanted)) for given in held.assignments)
    return replace(workload, admission=replace(held, assignments=kept))


def _is_excluded(resource: str, wanted: tuple[str, ...]) -> bool:
    """Pods are counted after what is excluded is left out."""
    return resource != POD_COUNT and resource.startswith(wanted)


def ignored(objects: Objects, found: Findings) -> tuple[str, ...]:
    """The resources that a policy ignores, in order of name."""
    wanted = prefixes(objects)
    asked = {resource for workload in objects.workloads for pods in workload.pod_sets for resource in pods.requests}
    for prefix in wanted:
        found.begin("Configuration", "", "")
        found.note(FIELD, f"names `{prefix}`: ignored is what this dump has that begins so; a policy has to name whatever else comes")
    return tuple(sorted({*wanted, *(resource for resource in asked if resource.startswith(wanted))} - {POD_COUNT}))
