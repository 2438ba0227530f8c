"""What gpol cannot honour of a policy where it decides about Kueue's Workloads: what a Workload does not say.

Everything else a policy says holds there, also what Kueue itself does not have: gpol decides.
"""

from collections.abc import Iterator

from .....dsl.analysis.declarations.topologies import NODE
from .....engine.guard import Expr, fields
from .....engine.policy_graph import PolicyGraph, Source
from ...problems import Findings
from ..kubernetes_names import place

_WHO = ("user", "group")
"""Fields that say who has submitted a workload."""


def report_not_honoured(graph: PolicyGraph, found: Findings) -> None:
    """Refuse what would be decided otherwise than the policy says, and note what its owner can make up for."""
    if graph.settings.passes is not None:
        found.begin("policy", graph.name, place(graph.nodes[0].source))
        cause = "decides by passes, which give each pod a node by itself; a Workload takes one node selector for a pod set"
        found.problem("decide in cycles", cause, "decide at once or in cycles that nominate, such as with gpol.fair or kueue.fair")
    for kind, name, source, guard in _guards(graph):
        found.begin(kind, name, place(source))
        for each in fields(guard):
            if each.path in _WHO:
                cause = f"goes by {each.subject}.{each.path}, and a Workload does not say who has submitted it"
                found.problem("where", cause, "go by its namespace or by a label")
    for priority in graph.priorities:
        found.begin("priority", priority.name, place(priority.source))
        if priority.never_evicted:
            cause = "keeps workloads of this class from eviction, and a Workload is taken by the number of its priority alone"
            found.problem("never evicted", cause, f"write a protect rule `where victim.priority >= {priority.value}`")
    for queue in graph.queues:
        node = graph.nodes[queue.node]
        found.begin("queue", node.name, place(node.source))
        if queue.default_priority:
            value = queue.default_priority
            text = f"is {value} here; Kueue writes 0: make a PriorityClass of {value} the globalDefault, or let each job name its class"
            found.note("default priority", text)
    _report_places(graph, found)
    _note_flavors(graph, found)


def refuse_placed(graph: PolicyGraph, found: Findings, cause: str, instead: str = "let Kueue or Volcano decide by itself") -> None:
    """Refuse flavors that give pods places, on a cluster where pods would not stand where gpol says, for this cause."""
    for flavor in graph.flavors:
        if flavor.topology >= 0:
            found.begin("flavor", flavor.name, place(flavor.source))
            remedy = f"leave `placed` out there, so that the flavor is an amount, or {instead}"
            found.problem("placed", f"says where pods stand, and {cause}", remedy)


def _report_places(graph: PolicyGraph, found: Findings) -> None:
    """Refuse what cannot be carried out of places: Kueue takes one node selector for a pod set, before its pods start, and for good."""
    if not graph.gives_places:
        return
    lowest = {index: graph.topologies[index].levels[-1].name for flavor in graph.flavors if (index := flavor.topology) >= 0}
    level = next(iter(lowest.values()))
    for flavor in graph.flavors:
        found.begin("flavor", flavor.name, place(flavor.source))
        if flavor.topology < 0:
            cause = "gives no places and others do; a workload here asks for a place before its flavor is known"
            found.problem("placed", cause, "let it be placed as well, or leave `placed` out everywhere")
        elif lowest[flavor.topology] != level:
            cause = f"places pods by `{lowest[flavor.topology]}` and another flavor by `{level}`, and a workload here asks for one of them"
            found.problem("placed", cause, f"give the lowest levels of their topologies one name; that of `placed on nodes` is `{NODE}`")
    settings = graph.settings
    if settings.follows_nodes and settings.lost_nodes not in ("evict", "wait"):
        found.begin("policy", graph.name, place(graph.nodes[0].source))
        cause = "gives pods other places while their workload runs, and what Kueue was told of its pods stays as it is"
        found.problem("when a node is lost", cause, "write `when a node is lost evict`, or `when a node is lost wait`")
    for queue in graph.queues:
        node = graph.nodes[queue.node]
        found.begin("queue", node.name, place(node.source))
        for check in queue.checks:
            if check.gives_nodes:
                cause = f"`{check.name}` makes nodes after the pods were let run, and then it is too late to say where they stand"
                found.problem("needs check", cause, "leave `for nodes` out, or let Kueue decide by itself")


def _guards(graph: PolicyGraph) -> Iterator[tuple[str, str, Source, Expr | None]]:
    """The conditions of all rules, each with the kind, name and place of its rule."""
    for preempt in graph.preempt:
        yield "preempt rule", preempt.name, preempt.source, preempt.guard
    for protect in graph.protect:
        yield "protect rule", protect.name, protect.source, protect.guard
    for admission in graph.admission:
        yield f"{admission.action} rule", admission.name, admission.source, admission.guard


def _note_flavors(graph: PolicyGraph, found: Findings) -> None:
    """Note flavors that nothing tells apart from others: gpol can count them, but not send pods to their machines."""
    if len(graph.flavors) < 2:
        return
    for flavor in graph.flavors:
        if not flavor.labels and not flavor.nodes and not flavor.missing:
            found.begin("flavor", flavor.name, place(flavor.source))
            text = "has no label and takes no nodes by label: its pods may start on machines of others; say by `label` where they belong"
            found.note("label", text)
