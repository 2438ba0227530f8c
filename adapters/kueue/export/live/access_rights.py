"""What gpol may do in a cluster: its ServiceAccount, and roles with the rights that each way of its work needs, and no more.

Workloads, namespaces, nodes and pods are in all namespaces, so most rights are those of a ClusterRole. Its name has gpol's in front, as a
ClusterRole that is called as the check alone could replace one of Kubernetes.
"""

from dataclasses import dataclass
from typing import Literal

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
    longer has. `check` is the name of its AdmissionCheck."""

    way: LiveWay
    namespace: str
    check: str
    reviews: bool = False
    deletes: bool = False


def access_objects(choices: AccessChoices) -> list[Object]:
    """The Namespace, the ServiceAccount, its roles, and their bindings."""
    name, namespace = f"gpol:{choices.check}" if choices.way == "decide" else "gpol:guard", choices.namespace
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT, "namespace": namespace}},
        _role("ClusterRole", {"name": name}, _rules(choices)),
        _binding("ClusterRole", {"name": name}, namespace),
        _role("Role", {"name": ACCOUNT, "namespace": namespace}, [_LEASE]),
        _binding("Role", {"name": ACCOUNT, "namespace": namespace}, namespace),
    ]


def _rule(group: str, resources: tuple[str, ...], *verbs: str, names: tuple[str, ...] = ()) -> Object:
    named = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": list(resources), **named, "verbs": list(verbs)}


_LEASE = _rule("coordination.k8s.io", ("leases",), "get", "create", "patch")
_EVENTS = _rule("events.k8s.io", ("events",), "create", "patch")


def _rules(choices: AccessChoices) -> list[Object]:
    reviews = [
        _rule("authentication.k8s.io", ("tokenreviews",), "create"),
        _rule("authorization.k8s.io", ("subjectaccessreviews",), "create"),
    ]
    own = _to_decide(choices.check) if choices.way == "decide" else _to_guard(choices.deletes)
    return [*own, _EVENTS, *(reviews if choices.reviews else [])]


def _to_decide(check: str) -> list[Object]:
    """Workloads are read and answered; their pods tell when those have stopped that Kueue counts no longer."""
    return [
        _rule(GROUP, ("workloads",), "get", "list", "watch"),
        _rule(GROUP, ("workloads/status",), "patch"),
        _rule(GROUP, ("admissionchecks",), "get", "list", "watch"),
        _rule(GROUP, ("admissionchecks/status",), "patch", names=(check,)),
        _rule(GROUP, ("clusterqueues",), "list"),
        _rule("", ("namespaces", "nodes"), "list", "watch"),
        _rule("", ("pods",), "list"),
    ]


def _to_guard(deletes: bool) -> list[Object]:
    """What a policy says is applied, which is a patch, or a creation where nothing is there yet."""
    verbs = ("get", "list", "watch", "create", "patch", *(("delete",) if deletes else ()))
    return [_rule(GROUP, GUARDED_RESOURCES, *verbs)]


def _role(kind: str, metadata: Object, rules: list[Object]) -> Object:
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": metadata, "rules": rules}


def _binding(kind: str, metadata: Object, namespace: str) -> Object:
    """Give a role, and its name, to gpol's ServiceAccount."""
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": dict(metadata),
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": metadata["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}],
    }
