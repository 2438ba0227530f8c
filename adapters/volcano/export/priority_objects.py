"""Priorities of a policy as PriorityClasses of Kubernetes."""

from collections.abc import Iterator

from ....engine.policy_graph import PolicyGraph
from ...kueue.export.kubernetes_names import is_subdomain, place, suggestion
from ...kueue.export.yaml_text import Object
from ...kueue.problems import Findings
from ..read.volcano_kinds import PRIORITY_VERSION

_SYSTEM = "system-"
"""How the names of PriorityClasses begin that Kubernetes keeps for itself."""

_OF_KUBERNETES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""The PriorityClasses that each cluster has."""

_DEFAULT = "becomes globalDefault: all pods of the cluster that name no class have this priority, also those of other schedulers"
_NO_DEFAULT = "is {} here; Kubernetes counts 0 unless a PriorityClass is the globalDefault: let each job name its class"
_PRESENT = "is left out: each cluster has it"


def priority_classes(graph: PolicyGraph, found: Findings) -> Iterator[Object]:
    """The PriorityClasses, in order of name. One is the default where all queues have the same default priority, and it has that value."""
    default = _default_class(graph, found)
    for priority in graph.priorities:
        found.begin("priority", priority.name, place(priority.source))
        if not is_subdomain(priority.name):
            found.problem("", "is no name that Kubernetes allows", f"call it `{suggestion(priority.name)}`, for instance")
        elif _is_present(priority.name, priority.value):
            found.note("", _PRESENT)
            continue
        elif priority.name.startswith(_SYSTEM):
            found.problem(
                "", f"begins with `{_SYSTEM}` and is no class of Kubernetes' own, as such names have to be", "give it another name"
            )
        if priority.name == default:
            found.note("default priority", _DEFAULT)
        yield {
            "apiVersion": PRIORITY_VERSION,
            "kind": "PriorityClass",
            "metadata": {"name": priority.name},
            "value": priority.value,
            **({"globalDefault": True} if priority.name == default else {}),
        }


def _is_present(name: str, value: int) -> bool:
    return _OF_KUBERNETES.get(name) == value


def _default_class(graph: PolicyGraph, found: Findings) -> str | None:
    """The class that is the default of all queues; None where there is none, which is noted if they have a default."""
    values = sorted({queue.default_priority for queue in graph.queues})
    if values == [0]:
        return None
    of_value = [each.name for each in graph.priorities if [each.value] == values and not _is_present(each.name, each.value)]
    if of_value:
        return of_value[0]
    for queue in graph.queues:
        if queue.default_priority:
            node = graph.nodes[queue.node]
            found.begin("queue", node.name, place(node.source))
            found.note("default priority", _NO_DEFAULT.format(queue.default_priority))
    return None
