"""The wide ClusterQueues: Kueue reserves quota in them at once for every workload, so that gpol alone decides who runs.

A ClusterQueue has a quota for each resource that pods may ask for, so great that all who wait and all who run fit together. Kueue knows no
wildcard: it reserves nothing for a pod that asks for a resource without a quota. And it admits a pod that asks for nothing with a quota
without waiting for any check (since 0.17.1), so `pods` always has one. Kueue counts in 64 bits, cpu in thousandths and memory in bytes: a
greater number for cpu would overflow in Kueue 0.17.0, and a smaller one for memory would be a gigabyte.
"""

from collections.abc import Iterator, Sequence

from .....engine.policy_graph import PolicyGraph, Queue
from ...live.protocol import CONTROLLER
from ...policy_names import kueue_name
from ...problems import Findings
from ...read.objects import MOST_RESOURCES
from ..cluster_queues import namespace_selector, plain
from ..kubernetes_names import place
from ..yaml_text import Object

FLAVOR = "gpol-any"
"""The one ResourceFlavor. It has no labels and no taints: on which machines pods run is in gpol's answer."""

PODS = "pods"
"""The resource by which Kueue counts the pods themselves."""

_ASKED_BY_ALL = ("cpu", "memory")
"""Resources for which almost every pod asks."""

_IN_BYTES = ("memory", "ephemeral-storage", "hugepages-")
_MANY, _MANY_BYTES = "1000000000", "1Ei"
_MOST_CHECKS = 64


def admission_check(check: str) -> Object:
    """The AdmissionCheck that gpol answers."""
    return plain("AdmissionCheck", check, spec={"controllerName": CONTROLLER})


def wide_flavor() -> Object:
    """The ResourceFlavor of all wide ClusterQueues."""
    return plain("ResourceFlavor", FLAVOR, spec={})


def covered_resources(graph: PolicyGraph, resources: Sequence[str], more: Sequence[str], found: Findings) -> list[str]:
    """The resources with a quota, by their names in the cluster: those of the policy, those that it ignores, `more`, and pods."""
    covered = sorted({*resources, *graph.ignored, *more, PODS})
    found.begin("policy", graph.name, place(graph.nodes[0].source))
    if len(covered) > MOST_RESOURCES:
        cause = f"would have {len(covered)} resources in one ClusterQueue"
        found.problem("", cause, f"Kueue allows at most {MOST_RESOURCES} for one flavor: count, ignore and cover fewer")
    for resource in _ASKED_BY_ALL:
        if resource not in covered:
            found.begin("resource", resource, place(graph.nodes[0].source))
            cause = "has no quota: Kueue reserves nothing for a workload that asks for it, and gpol never hears of that workload"
            found.note("", f"{cause}; let the policy count it or ignore it, or add `--cover {resource}`")
    return covered


def wide_queues(graph: PolicyGraph, covered: Sequence[str], check: str, found: Findings) -> Iterator[Object]:
    """A wide ClusterQueue for each queue of a policy, in order of name."""
    groups = [{"coveredResources": list(covered), "flavors": [{"name": FLAVOR, "resources": [_quota(name) for name in covered]}]}]
    for queue in graph.queues:
        node = graph.nodes[queue.node]
        found.begin("queue", node.name, place(node.source))
        spec: Object = {
            **namespace_selector(queue.namespaces),
            "admissionChecksStrategy": {"admissionChecks": [{"name": name} for name in _checks(queue, check, found)]},
            "resourceGroups": groups,
        }
        yield plain("ClusterQueue", kueue_name(node.name), spec=spec)


def _quota(resource: str) -> Object:
    return {"name": resource, "nominalQuota": _MANY_BYTES if resource.startswith(_IN_BYTES) else _MANY}


def _checks(queue: Queue, check: str, found: Findings) -> list[str]:
    """gpol's own check, and those that the policy demands of a queue: for Kueue all of them have to be ready."""
    names = [check]
    for other in queue.checks:
        if other.flavors:
            cause = f"asks for {other.name} on some flavors only, and Kueue knows a single flavor here"
            found.problem("needs check", cause, "demand the check for all flavors, or let another queue have these flavors")
        elif other.name not in names:
            names.append(other.name)
            found.note("needs check", f"{other.name} has to be there as an AdmissionCheck: Kueue waits for it beside {check}")
    if len(names) > _MOST_CHECKS:
        found.problem("needs check", f"would have {len(names)} checks with gpol's own", f"Kueue allows at most {_MOST_CHECKS}: use fewer")
    return names
