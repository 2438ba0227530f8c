"""The live export: what is to be applied in a cluster with Volcano before `gpol serve` works there.

Where gpol decides: its rights, and an admission policy by which every PodGroup in a queue of the policy says `minResources`; Volcano asks
about no other. Where gpol guards quotas, it applies the objects of the policy by itself, and only the rights are exported.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ....engine.guard import fields
from ....engine.policy_graph import PolicyGraph
from ...kubernetes.nodes import follows_nodes
from ...kueue.export.kubernetes_names import is_namespace, is_subdomain, place, suggestion
from ...kueue.export.live.access_rights import EVENTS_RULE, REVIEW_RULES, access_rule, account_objects, surroundings_rules
from ...kueue.export.live.not_honoured import refuse_placed
from ...kueue.export.yaml_text import Object
from ...kueue.problems import ExportRefused, Findings
from ..queue_names import DEFAULT_QUEUE, volcano_name
from ..read.volcano_kinds import GROUP
from .export_to_volcano import VolcanoExport

VolcanoLiveWay = Literal["decide", "guard"]
"""gpol decides, and Volcano's scheduler asks it; or Volcano decides, and gpol keeps quotas as the policy says."""

_ADMISSION = "admissionregistration.k8s.io/v1"
_POLICY = "gpol-volcano-min-resources"
_PLACES = "has this resource on several flavors: Volcano places pods wherever they fit, so select the nodes in the pods themselves"


@dataclass(frozen=True, slots=True)
class VolcanoLiveChoices:
    """What the objects are to be like. `reviews` and `deletes` are rights that gpol needs for some of its settings."""

    way: VolcanoLiveWay = "decide"
    namespace: str = "gpol-system"
    reviews: bool = False
    deletes: bool = False


def export_live_for_volcano(graph: PolicyGraph, choices: VolcanoLiveChoices) -> VolcanoExport:
    """The objects by which gpol comes to work in a cluster, in the order in which to apply them. Raises ExportRefused."""
    found = Findings()
    found.begin("", "", "--namespace")
    if not is_namespace(choices.namespace):
        found.problem("", f"`{choices.namespace}` is no name of a namespace", "use small letters, digits and `-`, at most 63 of them")
    decides = choices.way == "decide"
    own = _to_decide(follows_nodes(graph)) if decides else _to_guard(choices.deletes)
    rules = [*own, EVENTS_RULE, *(REVIEW_RULES if choices.reviews else ())]
    objects = account_objects("gpol:volcano" if decides else "gpol:volcano-guard", choices.namespace, rules)
    if decides:
        _refuse_who(graph, found)
        refuse_placed(graph, found, "Volcano's scheduler finds a node for each pod by itself")
        _check_names(graph, found)
        _note_places(graph, found)
        objects += min_resources_policy([volcano_name(graph.nodes[queue.node].name) for queue in graph.queues])
    found.check(ExportRefused)
    return VolcanoExport(objects, found.notes())


def _to_decide(nodes: bool) -> list[Object]:
    """PodGroups are read, and nothing is written to them."""
    return [access_rule(GROUP, ("podgroups",), "list", "watch"), *surroundings_rules(nodes)]


def _to_guard(deletes: bool) -> list[Object]:
    verbs = ("get", "list", "watch", "create", "patch", *(("delete",) if deletes else ()))
    return [access_rule(GROUP, ("queues",), *verbs), access_rule("scheduling.k8s.io", ("priorityclasses",), *verbs)]


def min_resources_policy(queues: Sequence[str]) -> list[Object]:
    """An admission policy that refuses PodGroups that do not say what they ask for, where they are made in these queues or moved there.

    An empty map says nothing. One that is in its queue and never said so may still be written to: Volcano's scheduler writes its status so,
    as there is no subresource for it. The names must be ones that Kubernetes allows, since they stand in the expressions as they are.
    """
    named = ", ".join(f"'{name}'" for name in sorted(queues))
    has_said = "has({0}.spec) && has({0}.spec.minResources) && size({0}.spec.minResources) > 0"
    never_said = f"oldObject != null && !({has_said.format('oldObject')}) && {_queue_of('oldObject')} == {_queue_of('object')}"
    return [
        {
            "apiVersion": _ADMISSION,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": _POLICY},
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {
                    "resourceRules": [
                        {
                            "apiGroups": [GROUP],
                            "apiVersions": ["v1beta1"],
                            "operations": ["CREATE", "UPDATE"],
                            "resources": ["podgroups"],
                        }
                    ]
                },
                "matchConditions": [{"name": "queue-of-the-policy", "expression": f"{_queue_of('object')} in [{named}]"}],
                "validations": [
                    {
                        "expression": f"({has_said.format('object')}) || ({never_said})",
                        "message": "spec.minResources is missing or empty: set it to what minMember pods ask for together",
                    }
                ],
            },
        },
        {
            "apiVersion": _ADMISSION,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": _POLICY},
            "spec": {"policyName": _POLICY, "validationActions": ["Deny"]},
        },
    ]


def _queue_of(group: str) -> str:
    """The expression for the queue of a PodGroup: `object`, or `oldObject` where that is not null. It may have no spec at all."""
    return f"(has({group}.spec) && has({group}.spec.queue) && {group}.spec.queue != '' ? {group}.spec.queue : '{DEFAULT_QUEUE}')"


def _check_names(graph: PolicyGraph, found: Findings) -> None:
    """Refuse queues whose names no Queue can have: no PodGroup could be in one, and the expressions could not name them."""
    names = [volcano_name(graph.nodes[queue.node].name) for queue in graph.queues]
    for queue, name in zip(graph.queues, names, strict=True):
        if not is_subdomain(name):
            node = graph.nodes[queue.node]
            found.begin("queue", node.name, place(node.source))
            found.problem("", "is no name that Kubernetes allows", f"call it `{suggestion(name, names)}`, for instance")


def _refuse_who(graph: PolicyGraph, found: Findings) -> None:
    """Refuse rules that go by what a PodGroup does not say."""
    rules = [
        *((rule.name, rule.source, rule.guard) for rule in graph.preempt),
        *((rule.name, rule.source, rule.guard) for rule in graph.protect),
        *((rule.name, rule.source, rule.guard) for rule in graph.admission),
    ]
    for name, source, guard in rules:
        found.begin("rule", name, place(source))
        for each in fields(guard):
            if each.path in ("user", "group"):
                cause = f"goes by {each.subject}.{each.path}, and a PodGroup does not say who has submitted it"
                found.problem("where", cause, "go by its namespace or by a label")


def _note_places(graph: PolicyGraph, found: Findings) -> None:
    """Note what gpol counts, and Volcano does not carry out: on which machines pods stand."""
    for flavor, each in enumerate(graph.flavors):
        shared = sorted(
            slot.resource
            for slot in graph.slots
            if slot.flavor == flavor and sum(other.resource == slot.resource for other in graph.slots) > 1
        )
        for resource in shared:
            found.begin("flavor", each.name, place(each.source))
            found.note(resource, _PLACES)
