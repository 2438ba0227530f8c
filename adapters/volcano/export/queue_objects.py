"""Queues and cohorts of a policy as Volcano's Queues: one object for each node of the tree below the root."""

from collections.abc import Iterator

from ....engine.policy_graph import PolicyGraph, Queue
from ...kueue.export.kubernetes_names import place
from ...kueue.export.resource_groups import begin
from ...kueue.export.yaml_text import Object
from ...kueue.problems import Findings
from ..queue_names import volcano_name
from ..read.volcano_kinds import VERSION
from ..read.volcano_queues import MOST_WEIGHT
from .volcano_evictions import VolcanoEvictions
from .volcano_quotas import SubtreeQuotas, queues_in_order

DEPTH = 5
"""Queues above one another that Volcano's webhook takes, where its `--max-queue-depth` does not say otherwise."""

_TOO_DEEP = (
    f"has {DEPTH} Queues above it, or more: Volcano's webhook refuses it, unless its --max-queue-depth allows more levels than {DEPTH}"
)
_FIFO = "becomes dequeueStrategy: fifo, which has no effect in Volcano yet: other workloads may pass the first one"
_CLOSE = "is not said by the object: close the Queue with `vcctl queue operate --action close --name {}`"
_BY_OTHERS = "says who comes here by themselves; in Volcano a job names its Queue"
_BY_NAMESPACE = (
    "says which namespaces come here by themselves; in Volcano a job names its Queue, or takes the one that the annotation "
    "scheduling.volcano.sh/queue-name of its namespace names"
)
_WEIGHT = "becomes the weight of the Queue, which the plugin capacity does not read: there shares are not divided by it"


class QueueObjects:
    """Writes the Queues."""

    def __init__(self, graph: PolicyGraph, quotas: SubtreeQuotas, evictions: VolcanoEvictions, found: Findings) -> None:
        self.graph, self.quotas, self.evictions, self.found = graph, quotas, evictions, found

    def objects(self) -> Iterator[Object]:
        """The Queues, those above others first: Volcano takes them in this order."""
        for number in queues_in_order(self.graph):
            node = self.graph.nodes[number]
            begin(self.found, node)
            if len(self.graph.path(number)) - 1 > DEPTH:  # the path ends in the root, which is no level
                self.found.note("", _TOO_DEEP)
            if node.is_queue:
                self._note(self.graph.queue_at(number))
            yield {"apiVersion": VERSION, "kind": "Queue", "metadata": {"name": volcano_name(node.name)}, "spec": self._spec(number)}

    def _spec(self, number: int) -> Object:
        node = self.graph.nodes[number]
        deserved, capability, guarantee = self.quotas.deserved(number), self.quotas.capability(number), self.quotas.guarantee(number)
        return {
            **({"parent": volcano_name(self.graph.nodes[node.parent].name)} if node.parent > 0 else {}),
            **self._weight(number),
            **({"reclaimable": False} if node.is_queue and node.name in self.evictions.spared else {}),
            **({"dequeueStrategy": "fifo"} if node.is_queue and self.graph.queue_at(number).strict else {}),
            **({"deserved": deserved} if deserved else {}),
            **({"guarantee": {"resource": guarantee}} if guarantee else {}),
            **({"capability": capability} if capability else {}),
        }

    def _weight(self, number: int) -> Object:
        weight = self.graph.nodes[number].weight
        if weight == 1:
            return {}
        if weight.denominator != 1 or not 1 <= weight <= MOST_WEIGHT:
            cause = f"is {weight}, and Volcano takes whole numbers from 1 to {MOST_WEIGHT:,}"
            self.found.problem("weight", cause, "multiply the weights of all its neighbours by the same number: only their ratio counts")
        self.found.note("weight", _WEIGHT)
        return {"weight": weight.numerator}

    # --- what a Queue cannot say

    def _note(self, queue: Queue) -> None:
        """Report what a queue of the policy says and a Queue cannot say."""
        name = volcano_name(self.graph.nodes[queue.node].name)
        if queue.strict:
            self.found.note("queueing strict fifo", _FIFO)
        if queue.stopped == "drain":
            self.found.problem("stopped and drained", "evicts what runs, which closing a Queue does not", "write `stopped`")
        elif queue.stopped:
            self.found.note("stopped", _CLOSE.format(name))
        if queue.ceiling is not None:
            cause = f"counts no priority above {queue.ceiling}, and Volcano takes every job at its own"
            self.found.problem("priority at most", cause, "remove it, and let an admission policy of Kubernetes turn higher classes away")
        if queue.namespaces is not None:
            remedy = "remove it, and let an admission policy of Kubernetes turn jobs of other namespaces away"
            self.found.problem("for namespaces", "keeps namespaces out, and Volcano lets every namespace use every Queue", remedy)
        self._note_entries(queue)

    def _note_entries(self, queue: Queue) -> None:
        """Report how workloads find the queue."""
        node = self.graph.nodes[queue.node]
        if queue.matches:
            by_namespace = all(len(match) == 1 and match[0].attribute == "namespace" and match[0].is_literal for match in queue.matches)
            self.found.note("for", _BY_NAMESPACE if by_namespace else _BY_OTHERS)
        for local in queue.local_queues:
            self.found.begin("local queue", local.name, place(local.source))
            if local.stopped:
                self.found.problem("stopped", "stops one entry of a queue, and Volcano has none", "stop the queue, or remove the entry")
            else:
                self.found.note("", "is left out: in Volcano a job names its Queue")
        begin(self.found, node)
