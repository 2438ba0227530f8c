"""What gpol may do in a cluster: its ServiceAccount, and roles with the rights that each way of its work needs, and no more.

Workloads, namespaces, nodes and pods are in all namespaces, so most rights are those of a ClusterRole. Its name has gpol's in front, as a
ClusterRole that is called as the check alone could replace one of Kubernetes.
"""

from dataclasses import dataclass
from typing import Literal

from ....kubernetes.resource_kinds import CLUSTER_NAMESPACE
from ...live.protocol import GROUP
from ..yaml_text import Object

LiveWay = Literal["decide", "guard"]
"""gpol decides as an admission check; or Kueue decides, and gpol keeps quotas as the policy says."""

ACCOUNT = "gpol"
"""The name of the ServiceAccount, and of what belongs to it in its namespace."""

GUARDED_RESOURCES = ("clusterqueues", "cohorts", "localqueues", "resourceflavors", "workloadpriorityclasses")
"""What gpol applies where it guards quotas."""

_RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class AccessChoices:
    """What gpol is to do: `reviews`: find out who calls its HTTP interface, and what they may do; `deletes`: delete what the policy no
    longer has; `nodes`: take the capacity of flavors from nodes, or give places there. `check` is the name of its AdmissionCheck."""

    way: LiveWay
    namespace: str
    check: str
    reviews: bool = False
    deletes: bool = False
    nodes: bool = False


def access_objects(choices: AccessChoices) -> list[Object]:
    """The Namespace, the ServiceAccount, its roles, and their bindings."""
    name = f"gpol:{choices.check}" if choices.way == "decide" else "gpol:guard"
    return account_objects(name, choices.namespace, _rules(choices))


def account_objects(name: str, namespace: str, rules: list[Object]) -> list[Object]:
    """The Namespace, the ServiceAccount, a ClusterRole with such rules, a Role for its Lease, and their bindings."""
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT, "namespace": namespace}},
        access_role("ClusterRole", {"name": name}, rules),
        access_binding("ClusterRole", {"name": name}, namespace),
        access_role("Role", {"name": ACCOUNT, "namespace": namespace}, [LEASE_RULE]),
        access_binding("Role", {"name": ACCOUNT, "namespace": namespace}, namespace),
    ]


def access_rule(group: str, resources: tuple[str, ...], *verbs: str, names: tuple[str, ...] = ()) -> Object:
    """Verbs on kinds of one API group, or on some objects of them by name."""
    named = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": list(resources), **named, "verbs": list(verbs)}


LEASE_RULE = access_rule("coordination.k8s.io", ("leases",), "get", "create", "patch")
EVENTS_RULE = access_rule("events.k8s.io", ("events",), "create")
REVIEW_RULES = (
    access_rule("authentication.k8s.io", ("tokenreviews",), "create"),
    access_rule("authorization.k8s.io", ("subjectaccessreviews",), "create"),
)
"""What is needed to find out who calls gpol's HTTP interface, and what they may do."""


def _rules(choices: AccessChoices) -> list[Object]:
    own = _to_decide(choices.check, choices.nodes) if choices.way == "decide" else _to_guard(choices.deletes)
    return [*own, EVENTS_RULE, *(REVIEW_RULES if choices.reviews else ())]


def surroundings_rules(nodes: bool) -> list[Object]:
    """What gpol reads beside workloads where it decides: namespaces, and nodes if the policy reads what they have."""
    return [
        access_rule("", ("namespaces", *(("nodes",) if nodes else ())), "list", "watch"),
        access_rule("", ("namespaces",), "get", names=(CLUSTER_NAMESPACE,)),
    ]


def _to_decide(check: str, nodes: bool) -> list[Object]:
    """Workloads are read and answered; their pods tell when those have stopped that Kueue counts no longer."""
    return [
        access_rule(GROUP, ("workloads",), "get", "list", "watch"),
        access_rule(GROUP, ("workloads/status",), "patch"),
        access_rule(GROUP, ("admissionchecks",), "get", "list", "watch"),
        access_rule(GROUP, ("admissionchecks/status",), "patch", names=(check,)),
        access_rule(GROUP, ("clusterqueues",), "list"),
        access_rule("", ("pods",), "list"),
        *surroundings_rules(nodes),
    ]


def _to_guard(deletes: bool) -> list[Object]:
    """What a policy says is applied, which is a patch, or a creation where nothing is there yet."""
    verbs = ("get", "list", "watch", "create", "patch", *(("delete",) if deletes else ()))
    return [access_rule(GROUP, GUARDED_RESOURCES, *verbs)]


def access_role(kind: str, metadata: Object, rules: list[Object]) -> Object:
    """A Role or a ClusterRole."""
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": metadata, "rules": rules}


def access_binding(kind: str, metadata: Object, namespace: str) -> Object:
    """Give a role, and its name, to gpol's ServiceAccount."""
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": dict(metadata),
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": metadata["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}],
    }
