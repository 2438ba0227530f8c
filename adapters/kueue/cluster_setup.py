"""Whether a cluster is set up so that gpol can decide for Kueue, and what is missing. Nothing is written."""

from collections.abc import AsyncIterator

from ...engine.policy_graph import PolicyGraph
from ..kubernetes.access import Right, missing_rights, not_served, rights
from ..kubernetes.api import Api, Plain
from ..kubernetes.nodes import follows_nodes
from ..kubernetes.resource_kinds import CLUSTER_NAMESPACE, EVENT, NAMESPACE, NODE, POD
from .live.protocol import ADMISSION_CHECK, CLUSTER_QUEUE, CONTROLLER, GROUP, VERSION, WORKLOAD
from .live.shadow.watch.cluster_objects import CONFIG_MAP
from .live.shadow.watch.watched_cluster import FOLLOWED
from .queue_matches import entries_of, unmatched
from .read.quantity import QuantityError, parse

_INSTALL = "install Kueue 0.15 or later"

_FOLLOW = ("get", "list", "watch")

_LEAST_MEMORY = 2**50
"""Bytes: less is no wide quota, but a number that was meant in another unit."""


async def lacks(api: Api, check: str, graph: PolicyGraph, follow_pods: bool) -> AsyncIterator[str]:
    """What a cluster lacks for a policy, a line each with what to do. Raises ApiError where it does not answer."""
    if too_old := await not_served(api, GROUP, VERSION, _INSTALL):
        yield too_old
        return
    wanted = [
        *rights(_FOLLOW, WORKLOAD),
        *rights(("patch",), WORKLOAD, "status"),
        *rights(_FOLLOW, ADMISSION_CHECK),
        *rights(("patch",), ADMISSION_CHECK, "status", check),
        *rights(("list",), CLUSTER_QUEUE),
        *rights(("list", "watch"), NAMESPACE),
        *rights(("get",), NAMESPACE, name=CLUSTER_NAMESPACE),
        *(rights(("list", "watch"), NODE) if follows_nodes(graph) else ()),
        *(rights(("list",), POD) if follow_pods else ()),
        *rights(("create",), EVENT),
    ]
    missing = await missing_rights(api, wanted)
    for right in missing:
        yield f"gpol may not {right}; `gpol export kueue --live` writes the roles that it needs"
    if not any(right.kind == ADMISSION_CHECK for right in missing):
        async for line in _of_check(api, check):
            yield line
    if not any(right.kind == CLUSTER_QUEUE for right in missing):
        async for line in _of_queues(api, check, graph):
            yield line


def watch_rights(config_map: str) -> list[Right]:
    """What gpol has to be allowed to watch Kueue; `config_map` is `namespace/name`, or empty where none is read."""
    namespace, _, name = config_map.partition("/")
    own = [Right("get", CONFIG_MAP, namespace=namespace, name=name)] if config_map else []
    followed = [right for kind in FOLLOWED for right in rights(("list", "watch"), kind)]
    return [*followed, *rights(("get",), NAMESPACE, name=CLUSTER_NAMESPACE), *own]


async def watch_lacks(api: Api, config_map: str) -> AsyncIterator[str]:
    """What a cluster lacks so that gpol can watch Kueue; `config_map` is `namespace/name`, or empty where none is read. Raises ApiError."""
    if too_old := await not_served(api, GROUP, VERSION, _INSTALL):
        yield too_old
        return
    for right in await missing_rights(api, watch_rights(config_map)):
        yield f"gpol may not {right}; deploy/access/watch.yaml has the roles that it needs"


async def _of_check(api: Api, check: str) -> AsyncIterator[str]:
    found = [item for item in (await api.list_all(ADMISSION_CHECK)).items if _name(item) == check]
    if not found:
        yield f"there is no AdmissionCheck `{check}`; `gpol export kueue --live` writes it"
    for item in found:
        controller = (item.get("spec") or {}).get("controllerName")
        if controller != CONTROLLER:
            yield f"AdmissionCheck `{check}` belongs to controller {controller}, not to {CONTROLLER}; name another check in kueue.check"


async def _of_queues(api: Api, check: str, graph: PolicyGraph) -> AsyncIterator[str]:
    there = (await api.list_all(CLUSTER_QUEUE)).items
    queues = [item for item in there if check in _checks(item)]
    if not queues:
        yield f"no ClusterQueue needs AdmissionCheck `{check}`: gpol decides about nobody; `gpol export kueue --live` writes the queues"
    for queue in sorted(queues, key=_name):
        for line in _of_queue(queue, check):
            yield f"ClusterQueue `{_name(queue)}` {line}"
    entries = await entries_of(api, graph)
    for line in unmatched(graph, check, sorted(map(_name, queues)), {_name(item) for item in there}, entries):
        yield line


def _of_queue(queue: Plain, check: str) -> list[str]:
    """What is wrong with a ClusterQueue that needs gpol's check."""
    spec = queue.get("spec") or {}
    groups = spec.get("resourceGroups") or []
    found = []
    if _checks(queue)[check]:
        found.append(f"needs `{check}` on some flavors only; without onFlavors nobody gets past it")
    if spec.get("cohortName") or spec.get("cohort"):
        found.append("is in a cohort: Kueue may preempt there by itself; take it out")
    covered = {str(resource) for group in groups for resource in group.get("coveredResources") or []}
    if "pods" not in covered:
        found.append("does not cover pods: Kueue from 0.17.1 admits, without asking, who requests nothing that is covered; cover it")
    flavors = [flavor for group in groups for flavor in group.get("flavors") or []]
    if len({flavor.get("name") for flavor in flavors}) > 1:
        found.append("has several flavors: gpol chooses among those of the policy, so one without labels is enough")
    quotas = [each for flavor in flavors for each in flavor.get("resources") or []]
    memory = [each.get("nominalQuota") for each in quotas if each.get("name") == "memory"]
    found += [f"has {said} of memory: Kueue counts bytes, so write 1Ei" for said in memory if _bytes(said) < _LEAST_MEMORY]
    if spec.get("namespaceSelector") is None:
        found.append("has no namespaceSelector, and so admits no namespace; write {}")
    return found


def _checks(queue: Plain) -> dict[str, list[str]]:
    """The admission checks that a ClusterQueue needs, each with the flavors on which it does (none: on all)."""
    strategy = (queue.get("spec") or {}).get("admissionChecksStrategy") or {}
    return {str(each.get("name")): each.get("onFlavors") or [] for each in strategy.get("admissionChecks") or []}


def _name(item: Plain) -> str:
    return str((item.get("metadata") or {}).get("name", ""))


def _bytes(quantity: object) -> int:
    try:
        return int(parse(quantity))
    except QuantityError:
        return 0
