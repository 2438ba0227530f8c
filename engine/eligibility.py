"""Which flavors a pod set may run on at all: taints it tolerates, labels it selects.

A node selector or affinity term is compared with the keys that the flavor itself declares; a term that says nothing about them
matches (Kueue: pkg/scheduler/flavorassigner, flavorSelector; Kubernetes: NodeAffinity and TaintToleration).
"""

from collections.abc import Iterable

from ... import events, graph
from ...events import PodSet
from ...graph import Flavor, Taint

Condition = events.Requirement | graph.Requirement
"""A condition on labels, of a fact or of the policy."""

Tolerance = events.Toleration | graph.Toleration
"""A toleration, of a fact or of the policy."""

_REPELLING = ("NoSchedule", "NoExecute")


def accepts(flavor: Flavor, pod_set: PodSet) -> bool:
    """Whether a pod set may run on a flavor at all, by its list of flavors, its tolerations and its selectors."""
    return (
        not (pod_set.flavors and flavor.name not in pod_set.flavors) and untolerated(flavor, pod_set) is None and selects(flavor, pod_set)
    )


def untolerated(flavor: Flavor, pod_set: PodSet) -> Taint | None:
    """The first taint of a flavor that keeps the pod set off it."""
    tolerations: list[Tolerance] = [*pod_set.tolerations, *flavor.tolerations]
    for taint in flavor.taints:
        if taint.effect in _REPELLING and not any(_tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None


def _tolerates(toleration: Tolerance, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect):
        return False
    if toleration.key not in ("", taint.key):
        return False
    if toleration.key == "" and toleration.operator != "Exists":
        return False
    return toleration.operator == "Exists" or toleration.value == taint.value


def selects(flavor: Flavor, pod_set: PodSet) -> bool:
    """Whether a pod set's node selector and required affinity let it run on a flavor."""
    labels = dict(flavor.labels)
    if any(labels.get(key, value) != value for key, value in sorted(pod_set.node_selector.items())):
        return False
    if not pod_set.affinity:
        return True
    terms = [[condition for condition in term if condition.key in labels] for term in pod_set.affinity]
    return any(not term for term in terms) or any(all_hold(term, labels) for term in terms)


def all_hold(conditions: Iterable[Condition], labels: dict[str, str]) -> bool:
    """Whether labels meet every condition."""
    return all(holds(condition, labels) for condition in conditions)


def holds(condition: Condition, labels: dict[str, str]) -> bool:
    """Whether labels meet a condition. Gt and Lt compare whole numbers; what is none meets neither."""
    value = labels.get(condition.key)
    match condition.operator:
        case "In":
            return value is not None and value in condition.values
        case "NotIn":
            return value is None or value not in condition.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case operator:
            left, right = _whole(value), _whole(condition.values[0] if len(condition.values) == 1 else None)
            if left is None or right is None:
                return False
            return left > right if operator == "Gt" else left < right


def _whole(text: str | None) -> int | None:
    """Text as a whole number of at most 64 bits; None where it is none."""
    if text is None or len(text) > 20 or not text.removeprefix("-").removeprefix("+").isdecimal() or not text.isascii():
        return None
    return int(text)
