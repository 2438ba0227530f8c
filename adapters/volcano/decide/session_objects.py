"""From the objects of a cluster to a session, and to what Volcano's passes know beside it.

The session's amounts are Volcano's: see `volcano_amounts`. Queues are quota nodes below one that stands for the cluster: flat, unless a
plugin takes them for a tree. A PodGroup whose queue is not there belongs to no queue: no pass sees it, and its pods take room.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TypeVar

from ....engine.definition.session.pods import NO_NODE, Pod, PodAmounts, PodStatus, SessionWorkload
from ....engine.definition.session.quota_nodes import ROOT, QuotaNode
from ....engine.definition.session.session import Session, SessionNode
from ....engine.definition.volcano.model.pod_group_facts import StandsApart, VolcanoPodFacts, VolcanoQueueFacts
from ....engine.definition.volcano.model.volcano_cycle import VolcanoCycle
from ....engine.definition.volcano.model.volcano_settings import HIERARCHY, NodeShard, VolcanoSettings
from ....engine.event_parts import POD_COUNT, PodSet, Requirement, Toleration
from ....engine.nodes.conditions import Taint
from ....engine.nodes.inventory import Machine
from .given_hyper_nodes import hyper_node_tree, tier_names
from .object_parts import Quantities, ScenarioNode, ScenarioPod
from .pod_group_parts import PodGroupParts, pod_group_parts
from .scenario_parts import ScenarioCase
from .scenario_problems import refused
from .volcano_amounts import amounts, resource_order
from .volcano_parts import ScenarioPodGroup, ScenarioQueue

GROUP_NAME = "scheduling.k8s.io/group-name"
"""The annotation of a pod that names its PodGroup."""

_ROLE = "volcano.sh/task-spec"
_PREEMPTABLE = "volcano.sh/preemptable"
_TASK_PRIORITY = "volcano.sh/task-priority"
_HIERARCHY, _HIERARCHY_WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"

_REFUSED_ANNOTATIONS: dict[str, tuple[str, ...]] = {
    "Pods": (
        "volcano.sh/revocable-zone",
        "volcano.sh/numa-topology-policy",
        "scheduling.volcano.sh/queue-allocation-gate",
        "volcano.sh/resource-strategy-scoring-type",
    ),
    "PodGroups": ("volcano.sh/revocable-zone",),
    "Queues": ("volcano.sh/nodegroup-resource-limits",),
}
"""Annotations by which plugins of Volcano decide, and no pass here does."""

_CRITICAL_CLASSES = ("system-cluster-critical", "system-node-critical")
_SYSTEM = "kube-system"
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_PHASES = {"Running": PodStatus.RUNNING, "Succeeded": PodStatus.DONE, "Failed": PodStatus.DONE}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_PRIORITY = 1
"""What a pod without a priority has."""

_T = TypeVar("_T")


def cycle_of(case: ScenarioCase, settings: VolcanoSettings, now: datetime | None = None) -> VolcanoCycle:
    """A cycle over the objects of a cluster at a moment, before any pass. Raises ImportRefused."""
    if now is None and settings.plugin("sla") is not None:
        raise refused("now", "is missing", "say when the session is: plugin sla goes by how long PodGroups wait")
    return _Reader(case, settings).cycle(_moment(now))


def key_of(given: ScenarioPod | ScenarioPodGroup) -> str:
    """How an object is told: `namespace/name`."""
    return f"{given.metadata.namespace or 'default'}/{given.metadata.name}"


def group_key_of(pod: ScenarioPod) -> str:
    """The PodGroup of a pod: it is in the same namespace."""
    return f"{pod.metadata.namespace or 'default'}/{pod.metadata.annotation(GROUP_NAME)}"


class _Reader:
    """Reads a case, part by part."""

    def __init__(self, case: ScenarioCase, settings: VolcanoSettings) -> None:
        self.case, self.settings = case, settings
        self.nodes_given = _by_name("Nodes", ((node.metadata.name, node) for node in case.nodes or []))
        self.queues_given = _by_name("Queues", ((queue.metadata.name, queue) for queue in case.queues or []))
        self.groups_given = _by_name("PodGroups", ((key_of(group), group) for group in case.pod_groups or []))
        self.pods_given = _by_name("Pods", ((key_of(pod), pod) for pod in case.pods or []))
        self.node_numbers = {name: number for number, name in enumerate(self.nodes_given)}
        self.queue_numbers = {name: number for number, name in enumerate(self.queues_given, start=1)}
        self.asked = {key: _of_pod(key, pod) for key, pod in self.pods_given.items()}
        self.has = {name: _amounts(f"Nodes.{name}", node.status.allocatable) for name, node in self.nodes_given.items()}
        self.quotas = {name: _of_queue(name, queue) for name, queue in self.queues_given.items()}
        self.least = {key: _amounts(f"PodGroups.{key}", group.spec.min_resources) for key, group in self.groups_given.items()}
        lists = [*self.asked.values(), *self.has.values(), *self.least.values(), *(each for of in self.quotas.values() for each in of)]
        self.resources = resource_order(lists)

    def cycle(self, now: int) -> VolcanoCycle:
        """The whole case."""
        members: dict[str, list[str]] = {key: [] for key in self.groups_given}
        for key, pod in self.pods_given.items():
            if group_key_of(pod) not in members:
                cause = "is of no PodGroup that is there" if pod.metadata.annotation(GROUP_NAME) else "names no PodGroup"
                raise refused(f"case.Pods.{key}", cause, f"name one by the annotation {GROUP_NAME}")
            members[group_key_of(pod)].append(key)
        names = tier_names(self.case)
        priorities, usual = self._priorities()
        workloads: list[SessionWorkload] = []
        parts: list[PodGroupParts] = []
        pods: list[Pod] = []
        facts: list[VolcanoPodFacts] = []
        for number, (key, group) in enumerate(self.groups_given.items()):
            _refuse_annotations("PodGroups", group)
            of_it = [self.pods_given[each] for each in members[key]]
            least = None if group.spec.min_resources is None else self._row(self.least[key])
            part = pod_group_parts(group, key, of_it, least, names)
            priority = priorities.get(group.spec.priority_class_name, usual)
            first = len(pods)
            for at, pod in enumerate(of_it):
                pods.append(self._pod(first + at, pod, number, part.group_of[at]))
                facts.append(self._pod_facts(pod))
            queue = self.queue_numbers.get(group.spec.queue or "default", -1)
            created = _moment(group.metadata.creation_timestamp)
            whose = tuple(range(first, len(pods)))
            workloads.append(SessionWorkload(number, key, queue, priority, True, created, None, part.groups, whose))
            parts.append(part)
        quota_nodes = self._quota_nodes()
        nodes = [self._node(name, node) for name, node in self.nodes_given.items()]
        session = Session(self.resources, nodes, quota_nodes, workloads, pods)
        queues = [VolcanoQueueFacts(), *(_queue_facts(queue) for queue in self.queues_given.values())]
        hyper_nodes = hyper_node_tree(self.case, self.node_numbers)
        groups = [part.facts for part in parts]
        return VolcanoCycle(session, self.settings, groups, facts, queues, hyper_nodes, now, self._shard())

    def _shard(self) -> NodeShard | None:
        """The nodes of the scheduler's own shard, where nodes are divided among several schedulers."""
        if self.case.sharding not in ("hard", "soft"):
            return None
        named = self.case.nodes_in_shard or []
        nodes = frozenset(self.node_numbers[name] for name in named if name in self.node_numbers)
        return NodeShard(nodes, self.case.sharding == "hard")

    def _row(self, named: Mapping[str, int]) -> PodAmounts:
        return tuple(named.get(resource, 0) for resource in self.resources)

    def _limits(self, named: Mapping[str, int]) -> tuple[int | None, ...]:
        return tuple(named.get(resource) for resource in self.resources)

    # --- nodes and pods

    def _node(self, name: str, node: ScenarioNode) -> SessionNode:
        taints = tuple(Taint(each.key, each.value, each.effect) for each in node.spec.taints or [])
        labels = dict(sorted((node.metadata.labels or {}).items()))
        machine = Machine(labels, dict(self.has[name]), -1, taints, node.spec.unschedulable)
        return SessionNode(self.node_numbers[name], name, machine, self._row(self.has[name]))

    def _pod(self, number: int, given: ScenarioPod, workload: int, group: int) -> Pod:
        key, spec = key_of(given), given.spec
        asked = self.asked[key]
        tolerations = tuple(
            Toleration(key=each.key, operator=each.operator, value=each.value, effect=each.effect) for each in spec.tolerations or []
        )
        pod_set = PodSet(requests=dict(asked), node_selector=spec.node_selector or {}, tolerations=tolerations)
        node = self.node_numbers.get(spec.node_name, NO_NODE)
        status = _PHASES.get(given.status.phase, PodStatus.PLACED if spec.node_name else PodStatus.WAITING)
        created = _moment(given.metadata.creation_timestamp)
        return Pod(number, key, workload, group, self._row(asked), pod_set, status, node, _priority(given), created)

    def _pod_facts(self, given: ScenarioPod) -> VolcanoPodFacts:
        meta, spec = given.metadata, given.spec
        _refuse_annotations("Pods", given)
        return VolcanoPodFacts(
            uid=meta.uid or key_of(given),
            role=meta.said(_ROLE) or "",
            index=_index(meta.name),
            evictable=_truth(meta.said(_PREEMPTABLE)),
            evicts=spec.preemption_policy != "Never",
            critical=spec.priority_class_name in _CRITICAL_CLASSES or meta.namespace == _SYSTEM,
            gated=bool(spec.scheduling_gates),
            nominated=self.node_numbers.get(given.status.nominated_node_name, NO_NODE),
            succeeded=given.status.phase == "Succeeded",
            priority_class_priority=spec.priority or 0,
            namespace=meta.namespace or "default",
            labels=tuple(sorted((meta.labels or {}).items())),
            apart=_stands_apart(given),
        )

    def _priorities(self) -> tuple[dict[str, int], int]:
        """The priority of each class, and that of PodGroups that name none which is there."""
        classes = self.case.priority_classes or []
        usual = next((each.value for each in classes if each.global_default), 0)
        return {each.metadata.name: each.value for each in classes}, usual

    # --- queues

    def _quota_nodes(self) -> list[QuotaNode]:
        in_tree = any(plugin.name == "capacity" and HIERARCHY in plugin.enabled for tier in self.settings.tiers for plugin in tier)
        parents = {name: self._parent(name, queue) if in_tree else ROOT for name, queue in self.queues_given.items()}
        below: dict[int, list[int]] = {}
        for name, parent in parents.items():
            below.setdefault(parent, []).append(self.queue_numbers[name])
        nothing = (None,) * len(self.resources)
        one = (Fraction(1),) * len(self.resources)
        made = [QuotaNode(ROOT, "", -1, tuple(below.get(ROOT, ())), nothing, nothing, (0,) * len(nothing), one)]
        for name, queue in self.queues_given.items():
            number = self.queue_numbers[name]
            deserved, capability, guarantee = self.quotas[name]
            weight = (Fraction(queue.spec.weight),) * len(self.resources)
            created = _moment(queue.metadata.creation_timestamp)
            figures = (self._limits(deserved), self._limits(capability), self._row(guarantee), weight)
            made.append(QuotaNode(number, name, parents[name], tuple(below.get(number, ())), *figures, queue.spec.priority, created))
        return made

    def _parent(self, name: str, queue: ScenarioQueue) -> int:
        """The queue above one: `root` where it names none. Raises ImportRefused where a queue is below itself."""
        seen, each = {name}, name
        while each != TREE_ROOT:
            each = self.queues_given[each].spec.parent or TREE_ROOT
            if each in seen or each not in self.queues_given:
                cause = "is below itself" if each in seen else f"has a queue `{each[:60]}` above it that is not there"
                raise refused(f"case.Queues.{name}.spec.parent", cause, f"write a tree below a queue `{TREE_ROOT}`")
            seen.add(each)
        return ROOT if name == TREE_ROOT else self.queue_numbers[queue.spec.parent or TREE_ROOT]


TREE_ROOT = "root"
"""The queue above all others where queues are a tree."""


def _by_name(kind: str, given: Iterable[tuple[str, _T]]) -> dict[str, _T]:
    made: dict[str, _T] = {}
    for name, each in given:
        if name in made:
            raise refused(f"case.{kind}", f"has {name} twice", "keep one of the two")
        made[name] = each
    return made


def _amounts(place: str, quantities: Quantities | None) -> dict[str, int]:
    try:
        return amounts(quantities or {})
    except ValueError as error:
        raise refused(f"case.{place}", str(error), "write a quantity such as 500m, 4 or 8Gi") from None


def _of_pod(key: str, pod: ScenarioPod) -> dict[str, int]:
    asked: dict[str, int] = {POD_COUNT: 1}
    for container in pod.spec.containers:
        for resource, amount in _amounts(f"Pods.{key}", container.resources.requests).items():
            asked[resource] = asked.get(resource, 0) + amount
    return asked


def _of_queue(name: str, queue: ScenarioQueue) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """What a queue deserves, is limited to, and is guaranteed."""
    _refuse_annotations("Queues", queue)
    guarantee = None if queue.spec.guarantee is None else queue.spec.guarantee.resource
    said = (queue.spec.deserved, queue.spec.capability, guarantee)
    for quantities in said:
        devices = next((resource for resource in sorted(quantities or {}) if "deviceclass/" in resource), None)
        if devices is not None:
            raise refused(f"case.Queues.{name}", f"counts devices by `{devices[:60]}`, which is not supported", "leave it out")
    deserved, capability, guaranteed = (_amounts(f"Queues.{name}", quantities) for quantities in said)
    return deserved, capability, guaranteed


def _queue_facts(queue: ScenarioQueue) -> VolcanoQueueFacts:
    meta = queue.metadata
    reclaimable = queue.spec.reclaimable is not False
    return VolcanoQueueFacts(queue.status.state == "Open", reclaimable, meta.annotation(_HIERARCHY), meta.annotation(_HIERARCHY_WEIGHTS))


def _refuse_annotations(kind: str, given: ScenarioPod | ScenarioPodGroup | ScenarioQueue) -> None:
    for name in _REFUSED_ANNOTATIONS[kind]:
        if given.metadata.said(name) is not None:
            raise refused(f"case.{kind}.{given.metadata.name}.metadata", f"says {name}, which is not supported", "leave it out")


def _stands_apart(given: ScenarioPod) -> tuple[StandsApart, ...]:
    affinity = given.spec.affinity
    terms = affinity.pod_anti_affinity if affinity is not None else None
    found = []
    for term in (terms.required_during_scheduling_ignored_during_execution or []) if terms is not None else []:
        labels = sorted((term.label_selector.match_labels or {}).items())
        conditions = [Requirement(key=key, operator="In", values=(value,)) for key, value in labels]
        said = term.label_selector.match_expressions or []
        conditions += [Requirement(key=each.key, operator=each.operator, values=tuple(each.values or ())) for each in said]
        found.append(StandsApart(term.topology_key, tuple(conditions)))
    return tuple(found)


def _priority(given: ScenarioPod) -> int:
    """What Volcano takes for a pod's priority: what an annotation says, what the pod has, or 1."""
    said = given.metadata.annotation(_TASK_PRIORITY)
    digits = said[1:] if said[:1] in ("+", "-") else said
    if digits.isascii() and digits.isdigit() and len(digits) < 10:
        return int(said)
    return _NO_PRIORITY if given.spec.priority is None else given.spec.priority


def _truth(said: str | None) -> bool:
    """Whether a pod may be evicted: yes where nothing is said, no where it cannot be read (`GetPodPreemptable`)."""
    return said is None or said in _TRUE


def _index(name: str) -> int | None:
    """The number at the end of a pod's name, where the name has three parts at least (`GetPodIndexUnderTask`)."""
    parts = name.split("-")
    last = parts[-1]
    return int(last) if len(parts) >= 3 and last.isascii() and last.isdigit() and len(last) < 19 else None


def _moment(at: datetime | None) -> int:
    """Microseconds since 1970; 0 where nothing is said."""
    if at is None:
        return 0
    return ((at if at.tzinfo is not None else at.replace(tzinfo=UTC)) - _EPOCH) // timedelta(microseconds=1)
