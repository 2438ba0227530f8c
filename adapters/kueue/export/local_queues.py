"""How workloads reach a queue: LocalQueues for the namespaces that a policy matches by name; other conditions are reported.

Kueue finds a queue by the LocalQueue that a workload names or, where it names none, by the one called `default` in its namespace.
"""

from collections.abc import Iterator
from fractions import Fraction

from ....engine.policy.doors import Condition
from ....engine.policy_graph import LocalQueue, PolicyGraph, Queue
from ..policy_names import kueue_name
from ..problems import Findings
from .kubernetes_names import is_namespace
from .resource_groups import begin

_FOR_ALL = "default"
"""The LocalQueue of workloads that name none."""

_BY_OTHERS = (
    "goes by users, groups, kinds, labels or patterns; in Kueue a job names a LocalQueue: create one in each namespace that may come"
)
_NO_ENTRY = "has no LocalQueue: create one in each namespace that may use it"


def entries(graph: PolicyGraph, found: Findings) -> Iterator[tuple[LocalQueue, Queue]]:
    """A LocalQueue for each namespace that a queue matches by name, beside those that the policy has itself."""
    wanted = [(namespace, queue) for queue in graph.queues for namespace in _namespaces(queue)]
    taken = {local.name for queue in graph.queues for local in queue.local_queues}
    seen = [namespace for namespace, _ in wanted]
    for namespace, queue in wanted:
        node = graph.nodes[queue.node]
        begin(found, node)
        name = f"{namespace}/{_FOR_ALL if seen.count(namespace) == 1 else kueue_name(node.name)}"
        if not is_namespace(namespace):
            found.problem(
                "for namespace", f"`{namespace}` is no name of a namespace", "use small letters, digits and `-`, at most 63 of them"
            )
        elif name not in taken:
            taken.add(name)
            yield LocalQueue(name, Fraction(1), "", node.source), queue
    _note_others(graph, found)


def _note_others(graph: PolicyGraph, found: Findings) -> None:
    """Say which queues have conditions that Kueue does not know, and which nobody could use."""
    for queue in graph.queues:
        begin(found, graph.nodes[queue.node])
        if not all(map(_is_namespace, queue.matches)):
            found.note("for", _BY_OTHERS)
        elif not queue.local_queues and not queue.matches:
            found.note("local queue", _NO_ENTRY)


def _namespaces(queue: Queue) -> list[str]:
    return [match[0].pattern for match in queue.matches if _is_namespace(match)]


def _is_namespace(match: tuple[Condition, ...]) -> bool:
    """Whether an alternative is the name of one namespace and nothing else."""
    return len(match) == 1 and match[0].attribute == "namespace" and not set(match[0].pattern) & set("*?")
