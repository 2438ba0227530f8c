"""The facts that the steps of a test say."""

from collections.abc import Collection

from ...dsl.syntax import tree
from ...engine.event_parts import PodSet, Slice, Taint
from ...engine.facts import (
    CapacityChanged,
    Fact,
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    OperatorAction,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
)
from ...engine.units import parse_amount


def fact_of(action: tree.Action, time: int, nodes: Collection[str]) -> Fact:
    """The fact of a step at a time; `nodes` are the names of those that are there, which a step changes and does not add."""
    match action:
        case tree.Submit():
            return _submission(action, time)
        case tree.SetCapacity(flavor, amount):
            return CapacityChanged(time=time, flavor=flavor.text, capacity=_amounts((amount,)))
        case tree.SetNode():
            return _node(action, time, added=action.node.text not in nodes)
        case tree.RemoveNode(node):
            return NodeRemoved(time=time, node=node.text)
        case tree.Act("finish", workload):
            return WorkloadFinished(time=time, workload=workload.text)
        case tree.Act("cancel", workload):
            return WorkloadCancelled(time=time, workload=workload.text)
        case tree.Act(deed, workload):
            return OperatorAction.model_validate({"time": time, "by": "test", "action": deed, "workload": workload.text})


def _amounts(amounts: tuple[tree.Amount, ...]) -> dict[str, int]:
    return {amount.resource.text: parse_amount(amount.number.text, amount.resource.text) for amount in amounts}


# --- nodes ----------------------------------------------------------------------------------------------------------


def _node(action: tree.SetNode, time: int, added: bool) -> NodeAdded | NodeChanged:
    """All that is known of a node from now."""
    capacity: dict[str, int] = {}
    labels: dict[str, str] = {}
    taints: list[Taint] = []
    cordoned = False
    for entry in action.entries:
        match entry:
            case tree.NodeAmounts(amounts):
                capacity |= _amounts(amounts)
            case tree.NodeLabel(label):
                labels[label.key] = label.value.text
            case tree.TaintStatement(key, value, effect):
                said = {"key": key, "value": "" if value is None else value.text, "effect": effect}
                taints.append(Taint.model_validate(said))
            case tree.Cordoned():
                cordoned = True
    kind = NodeAdded if added else NodeChanged
    return kind(time=time, node=action.node.text, labels=labels, capacity=capacity, taints=tuple(taints), cordoned=cordoned)


# --- submissions ----------------------------------------------------------------------------------------------------


def _submission(action: tree.Submit, time: int) -> WorkloadSubmitted:
    said: dict[str, object] = {}
    labels: dict[str, dict[str, str]] = {"label": {}, "namespace label": {}}
    for attribute in action.attributes:
        value = attribute.value.text
        if attribute.key is not None:
            labels[attribute.attribute][attribute.key.text] = value
        elif attribute.attribute == "priority":
            said["priority"] = int(value) if isinstance(attribute.value, tree.Number) else value
        else:
            said["workload_kind" if attribute.attribute == "kind" else attribute.attribute] = value
    queue = action.queue.text if action.queue is not None else None
    pod_sets = tuple(_pod_set(number, pods, group) for number, (pods, group) in enumerate(action.pod_sets))
    common = {"time": time, "workload": action.workload.text, "queue": queue, "pod_sets": pod_sets}
    common |= {"labels": labels["label"], "namespace_labels": labels["namespace label"]}
    return WorkloadSubmitted.model_validate({**common, **said})


def _pod_set(number: int, pods: tree.Pods, group: str) -> PodSet:
    wish = pods.place.wish if pods.place is not None else ""
    level = pods.place.level.text if pods.place is not None and pods.place.level is not None else ""
    return PodSet(
        name=f"pods-{number + 1}" if number else "main",
        count=int(pods.count.text) if pods.count is not None else 1,
        requests=_amounts(pods.amounts),
        flavors=tuple(flavor.text for flavor in pods.flavors),
        group=group,
        within=level if wish == "within" else "",
        near=level if wish == "near" else "",
        anywhere=wish == "anywhere",
        slices=tuple(Slice(level=each.level.text, size=int(each.size.text)) for each in pods.slices),
        minimum=int(pods.minimum.text) if pods.minimum is not None else None,
    )
