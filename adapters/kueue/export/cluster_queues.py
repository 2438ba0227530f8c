"""Queues and cohorts of a policy as ClusterQueues, Cohorts and LocalQueues."""

from collections.abc import Iterator
from fractions import Fraction

from ....engine.nodes.conditions import Requirement
from ....engine.policy_graph import ROOT, Node, PolicyGraph, Preemption, Queue
from ..policy_names import kueue_name
from ..problems import Findings
from .amounts import decimal_text
from .kubernetes_names import place
from .local_queues import entries
from .preemption_settings import PreemptionSettings
from .resource_groups import Quotas, begin
from .unsupported_rules import Stops
from .yaml_text import Object

VERSION = "kueue.x-k8s.io/v1beta2"

_WITHIN = {"lower": "LowerPriority", "lower-or-newer": "LowerOrNewerEqualPriority"}
_RECLAIM = {"lower": "LowerPriority", "any": "Any"}
_STOP = {"hold": "Hold", "drain": "HoldAndDrain"}


def plain(kind: str, name: str, namespace: str = "", **others: object) -> Object:
    """An object of Kueue."""
    metadata = {"name": name} if not namespace else {"name": name, "namespace": namespace}
    return {"apiVersion": VERSION, "kind": kind, "metadata": metadata, **others}


class QueueWriter:
    """Writes what stands in the tree; `settings` say how Kueue decides, `stops` are queues that hold rules stop."""

    def __init__(self, graph: PolicyGraph, quotas: Quotas, settings: PreemptionSettings, stops: Stops, found: Findings) -> None:
        self.graph, self.quotas, self.settings, self.stops, self.found = graph, quotas, settings, stops, found

    # --- cohorts

    def cohorts(self) -> Iterator[Object]:
        """The Cohorts, the root first, then in order of name."""
        root = self.graph.nodes[0]
        if self.quotas.has_root:
            self.found.begin("cohort", ROOT, place(root.source))
            groups = self.quotas.of_root()
            yield plain("Cohort", ROOT, spec={"resourceGroups": groups} if groups else {})
        for number, node in enumerate(self.graph.nodes):
            if number and node.queue < 0:
                begin(self.found, node)
                yield plain("Cohort", kueue_name(node.name), spec=self._cohort(number, node))

    def _cohort(self, number: int, node: Node) -> Object:
        parent, groups = self.quotas.parent(number), self.quotas.of_cohort(number)
        return {
            **({"parentName": parent} if parent else {}),
            **self._fair_sharing(node.weight),
            **({"resourceGroups": groups} if groups else {}),
        }

    def _fair_sharing(self, weight: Fraction) -> Object:
        return {} if weight == 1 else {"fairSharing": {"weight": self._weight(weight)}}

    def _weight(self, weight: Fraction) -> str:
        text = decimal_text(weight)
        if text is None or weight == Fraction(1, 10**9):  # Kueue wants more than that, or 0
            cause = f"is {weight}, and Kueue takes numbers of at most nine decimals, 0 or above 1n"
            remedy = f"multiply the weights of all its neighbours by {weight.denominator}: only their ratio counts"
            self.found.problem("weight", cause, remedy)
        return text or "1"

    # --- ClusterQueues

    def cluster_queues(self) -> Iterator[Object]:
        """The ClusterQueues, in order of name."""
        for queue in self.graph.queues:
            node = self.graph.nodes[queue.node]
            begin(self.found, node)
            self._note_priorities(queue)
            yield plain("ClusterQueue", kueue_name(node.name), spec=self._cluster_queue(queue, node))

    def _note_priorities(self, queue: Queue) -> None:
        if queue.ceiling is not None:
            cause = f"counts no priority above {queue.ceiling}, and Kueue takes every workload at its own"
            self.found.problem("priority at most", cause, "remove it, and let an admission policy of Kubernetes turn higher classes away")
        if queue.default_priority:
            value = queue.default_priority
            text = f"is {value} here; Kueue counts 0: make a PriorityClass of {value} the globalDefault, or let each job name its class"
            self.found.note("default priority", text)

    def _cluster_queue(self, queue: Queue, node: Node) -> Object:
        parent = self.quotas.parent(queue.node)
        stopped = queue.stopped or ("hold" if queue.node in self.stops.held else "")
        groups = self.quotas.of_queue(queue)
        return {
            **({"cohortName": parent} if parent else {}),
            **({"queueingStrategy": "StrictFIFO"} if queue.strict else {}),
            **namespace_selector(queue.namespaces),
            **self._fungibility(queue),
            **self._preemption(queue.preemption if self.settings.preemption is None else self.settings.preemption),
            **self._fair_sharing(node.weight),
            **({"admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}} if queue.by_usage else {}),
            **self._checks(queue),
            **({"stopPolicy": _STOP[stopped]} if stopped else {}),
            **({"resourceGroups": groups} if groups else {}),
        }

    def _fungibility(self, queue: Queue) -> Object:
        borrowing, evicting = queue.looks_on_borrowing(self.graph.settings), queue.looks_on_evicting(self.graph.settings)
        said = {
            **({"whenCanBorrow": "TryNextFlavor"} if borrowing else {}),
            **({} if evicting else {"whenCanPreempt": "MayStopSearch"}),
            **({"preference": "PreemptionOverBorrowing"} if queue.rather == "evict" else {}),
        }
        if queue.rather == "evict" and not (borrowing and evicting):
            self.found.note(
                "rather", "is refused by Kueue's webhook unless the queue tries the next flavor when borrowing and when evicting"
            )
        return {"flavorFungibility": said} if said else {}

    def _preemption(self, whom: Preemption) -> Object:
        borrowing: Object = {"policy": "LowerPriority"}
        if whom.borrowing_up_to is not None:
            borrowing["maxPriorityThreshold"] = whom.borrowing_up_to
        said = {
            **({"withinClusterQueue": _WITHIN[whom.own]} if whom.own != "nothing" else {}),
            **({"reclaimWithinCohort": _RECLAIM[whom.reclaims]} if whom.reclaims != "nothing" else {}),
            **({"borrowWithinCohort": borrowing} if whom.borrowing != "nothing" else {}),
        }
        if whom.borrowing != "nothing" and whom.reclaims == "nothing":
            self.found.note("borrows by evicting", "is refused by Kueue's webhook unless the queue reclaims as well")
        return {"preemption": said} if said else {}

    def _checks(self, queue: Queue) -> Object:
        if not queue.checks:
            return {}
        rules = []
        for check in queue.checks:
            names = [self.graph.flavors[flavor].name for flavor in check.flavors]
            rules.append({"name": check.name, **({"onFlavors": names} if names else {})})
            who = "a policy does not say who controls it"
            who = "its controller has to be that of ProvisioningRequests, as it makes nodes" if check.gives_nodes else who
            self.found.note("needs check", f"{check.name} has to be there as an AdmissionCheck: {who}")
        return {"admissionChecksStrategy": {"admissionChecks": rules}}

    # --- LocalQueues

    def local_queues(self) -> Iterator[Object]:
        """The LocalQueues, in order of namespace and name: those of the policy, and entries for namespaces that it matches."""
        named = [(local, queue) for queue in self.graph.queues for local in queue.local_queues]
        for local, queue in sorted([*named, *entries(self.graph, self.found)], key=lambda entry: entry[0].name.split("/")):
            self.found.begin("local queue", local.name, place(local.source))
            namespace, _, name = local.name.partition("/")
            spec: Object = {"clusterQueue": kueue_name(self.graph.nodes[queue.node].name), **self._fair_sharing(local.weight)}
            if local.stopped:
                spec["stopPolicy"] = _STOP[local.stopped]
            yield plain("LocalQueue", name, namespace, spec=spec)


def namespace_selector(wanted: tuple[Requirement, ...] | None) -> Object:
    """Which namespaces may come, as a part of the spec of a ClusterQueue; Kueue's default is none."""
    if wanted is None:
        return {"namespaceSelector": {}}
    if any(not requirement.key for requirement in wanted):  # a condition that nothing meets
        return {}
    return {"namespaceSelector": {"matchExpressions": [_requirement(requirement) for requirement in wanted]}}


def _requirement(wanted: Requirement) -> Object:
    return {"key": wanted.key, "operator": wanted.operator, **({"values": list(wanted.values)} if wanted.values else {})}
