"""What a policy says as a whole and Volcano's objects do not: it is refused where Volcano would decide otherwise, and noted elsewhere."""

from ....engine.policy_graph import Flavor, PolicyGraph
from ....engine.policy_settings import OrderKey
from ...kueue.export.kubernetes_names import place
from ...kueue.problems import Findings
from .volcano_evictions import VolcanoEvictions

CONFIGURATION = "volcano-scheduler-configmap"
"""The ConfigMap in which Volcano's scheduler finds its plugins and actions."""

_PROCEDURE = (
    "decides at once; Volcano decides in sessions by its own procedure, and shares are there what a queue uses of what it deserves: "
    "who goes first, and who has to go, may be others"
)
_NEEDS = (
    f"needs the plugin capacity in {CONFIGURATION}, instead of proportion{{}}, and the actions {{}}: "
    "deserved and guarantee count for nothing under other plugins"
)
_HIERARCHY = ", with enableHierarchy: true"
_NODES = "is left out: in Volcano a pod runs on whatever nodes it selects itself"
_PLACES = "is left out: where pods stand is for the plugins of Volcano's scheduler"
_WORTH = "is left out: Volcano counts all machines alike in shares"
_EXISTS = "has more than is owned: Volcano takes what exists from its nodes, and lets every queue use what nobody deserves, as here"
_PROTECTS = "keeps workloads from eviction, which no object of Volcano does"
_BY_PODS = "remove it, and annotate the pods: volcano.sh/preemptable=false, or volcano.sh/cooldown-time with the plugin cdp"


def _key(text: str) -> OrderKey:
    field, direction = text.split()
    return OrderKey(field, direction == "desc")


_QUEUES = tuple(map(_key, ("borrowing asc", "share asc", "priority desc", "submitted asc")))
_WORKLOADS = tuple(map(_key, ("priority desc", "submitted asc")))
"""The orders of gpol.fair and gpol.reclaim."""


def report_unsaid(graph: PolicyGraph, evictions: VolcanoEvictions, found: Findings) -> None:
    """Report what holds for the whole policy, of its flavors, of its rules and of its priorities."""
    found.begin("policy", graph.name, place(graph.nodes[0].source))
    for what, order, wanted in (
        ("queues", graph.settings.queue_order, _QUEUES),
        ("workloads", graph.settings.workload_order, _WORKLOADS),
    ):
        if order != wanted:
            cause = f"orders {what} by {_listed(order)}, and Volcano's order is fixed"
            found.problem(f"order {what}", cause, f"leave it to the profile: the nearest to Volcano is {_listed(wanted)}")
    for field, is_said in (("place pods", bool(graph.settings.placing)), ("when a node is lost", bool(graph.settings.lost_nodes))):
        if is_said:
            found.note(field, _PLACES)
    found.note("", _PROCEDURE)
    nested = any(not node.is_queue for node in graph.nodes[1:])
    actions = ", ".join(("enqueue", "allocate", *evictions.actions, "backfill"))
    found.note("", _NEEDS.format(_HIERARCHY if nested else "", actions))
    for number, flavor in enumerate(graph.flavors):
        _report_flavor(graph, number, flavor, found)
    _report_rules(graph, found)


def refuse_cycles(graph: PolicyGraph, found: Findings) -> None:
    """Report a policy that decides in cycles: each of its queues says whom it may evict, which no Queue of Volcano does."""
    if graph.settings.cycles is not None:
        found.begin("policy", graph.name, place(graph.nodes[0].source))
        cause = "decides in cycles, in which each queue says whom it may evict; in Volcano all queues evict alike"
        found.problem("decide in cycles", cause, "use gpol.reclaim or gpol.fair, and say the tree under that")


def _listed(order: tuple[OrderKey, ...]) -> str:
    return ", ".join(f"{key.field} {'desc' if key.descending else 'asc'}" for key in order) or "nothing"


def _report_flavor(graph: PolicyGraph, number: int, flavor: Flavor, found: Findings) -> None:
    found.begin("flavor", flavor.name, place(flavor.source))
    said = (
        ("from nodes", flavor.nodes is not None),
        ("label", bool(flavor.labels)),
        ("taint", bool(flavor.taints)),
        ("tolerates", bool(flavor.tolerations)),
    )
    for field, is_said in said:
        if is_said:
            found.note(field, _NODES)
    if flavor.worth != 1:
        found.note("worth", _WORTH)
    exists = dict(flavor.capacity) if flavor.nodes is None else {}
    for slot, each in enumerate(graph.slots):
        owned = sum(node.quotas[slot].nominal for node in graph.nodes)
        if each.flavor == number and exists.get(each.resource, 0) > owned:
            found.note(each.resource, _EXISTS)


def _report_rules(graph: PolicyGraph, found: Findings) -> None:
    for rule in graph.protect:
        found.begin("protect rule", rule.name, place(rule.source))
        found.problem("", _PROTECTS, _BY_PODS)
    for priority in graph.priorities:
        if priority.never_evicted:
            found.begin("priority", priority.name, place(priority.source))
            found.problem("never evicted", _PROTECTS, _BY_PODS)
    for admission in graph.admission:
        found.begin(f"{admission.action} rule", admission.name, place(admission.source))
        remedy = "remove it, and let an admission policy of Kubernetes turn such workloads away"
        stop = "say `stopped` in the queues instead, and close the Queues"
        cause = "goes by what a workload says, and Volcano has no such rule" if admission.guard is not None else "has no place in a Queue"
        found.problem("", cause, remedy if admission.action == "deny" or admission.guard is not None else stop)
