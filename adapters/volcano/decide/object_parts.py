"""The schema of nodes, pods and what all objects of a scenario have, as Kubernetes writes them.

Whatever stands in a scenario and is not here is refused by name. A part that is here has its effect, except for a few fields of Kubernetes
that no pass reads: these are `object`.
"""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, StrictStr, StringConstraints
from pydantic.alias_generators import to_camel

KubernetesName = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=253, pattern=r"^[A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?$")
]
"""The name of an object."""

Texts = dict[StrictStr, StrictStr]
"""Labels, or annotations."""

Quantities = dict[StrictStr, StrictStr | StrictInt | Decimal]
"""Quantities by resource."""

SmallNumber = Annotated[int, Field(strict=True, ge=0, le=1_000_000)]
Priority = Annotated[int, Field(strict=True, ge=-(2**31), lt=2**31)]


def _moment(given: Any) -> Any:
    """A moment is told as text, as Kubernetes does it; a number would be taken for seconds."""
    if given is not None and not isinstance(given, str):
        raise ValueError("is no text such as 2026-01-02T00:00:35Z")
    return given


ClockTime = Annotated[datetime, BeforeValidator(_moment)]
"""A moment, such as `2026-01-02T00:00:35Z`."""


class ScenarioPart(BaseModel):
    """A part of a scenario: names as Kubernetes writes them, and none that is unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=False, arbitrary_types_allowed=True)


class ObjectMeta(ScenarioPart):
    """What every object says of itself."""

    name: KubernetesName
    namespace: KubernetesName | None = None
    uid: StrictStr = ""
    labels: Texts | None = None
    annotations: Texts | None = None
    creation_timestamp: ClockTime | None = None
    resource_version: object = None
    generation: object = None

    def annotation(self, name: str) -> str:
        """An annotation; empty where it is not there."""
        return (self.annotations or {}).get(name, "")

    def said(self, name: str) -> str | None:
        """What an annotation says or, where there is none, a label of that name."""
        return (self.annotations or {}).get(name, (self.labels or {}).get(name))


class ScenarioTaint(ScenarioPart):
    """A taint of a node that keeps pods off; what it would rather keep off is a preference, which no pass honours."""

    key: StrictStr
    value: StrictStr = ""
    effect: Literal["NoSchedule", "NoExecute"]


class NodeSpec(ScenarioPart):
    """What a node is told to be."""

    unschedulable: StrictBool = False
    taints: list[ScenarioTaint] | None = None


class NodeStatus(ScenarioPart):
    """What a node has; of it counts `allocatable`."""

    allocatable: Quantities
    capacity: object = None


class ScenarioNode(ScenarioPart):
    """A node."""

    metadata: ObjectMeta
    spec: NodeSpec = NodeSpec()
    status: NodeStatus


class ContainerResources(ScenarioPart):
    """What a container asks for; limits have no effect on where it runs."""

    requests: Quantities | None = None
    limits: object = None


class ScenarioContainer(ScenarioPart):
    """A container."""

    name: StrictStr = ""
    image: object = None
    command: object = None
    args: object = None
    resources: ContainerResources = ContainerResources()


class ScenarioToleration(ScenarioPart):
    """A taint that a pod tolerates."""

    key: StrictStr = ""
    operator: Literal["Exists", "Equal"] = "Equal"
    value: StrictStr = ""
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = ""
    toleration_seconds: object = None


class SchedulingGate(ScenarioPart):
    """A gate that holds a pod."""

    name: StrictStr


class LabelRequirement(ScenarioPart):
    """A condition on a label."""

    key: Annotated[StrictStr, StringConstraints(min_length=1, max_length=320)]
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[StrictStr] | None = None


class LabelSelector(ScenarioPart):
    """Conditions on labels, all of which hold."""

    match_labels: Texts | None = None
    match_expressions: list[LabelRequirement] | None = None


class PodAffinityTerm(ScenarioPart):
    """Pods of the same namespace, and the label of nodes that tells which nodes are one domain."""

    label_selector: LabelSelector
    topology_key: StrictStr


class PodAntiAffinity(ScenarioPart):
    """Pods with which a pod does not stand."""

    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] | None = None


class PodAffinity(ScenarioPart):
    """Where a pod stands, beside its node selector."""

    pod_anti_affinity: PodAntiAffinity | None = None


class PodSpec(ScenarioPart):
    """What a pod asks for."""

    containers: list[ScenarioContainer]
    node_name: StrictStr = ""
    node_selector: Texts | None = None
    tolerations: list[ScenarioToleration] | None = None
    affinity: PodAffinity | None = None
    scheduling_gates: list[SchedulingGate] | None = None
    priority: Priority | None = None
    priority_class_name: StrictStr = ""
    preemption_policy: Literal["", "Never", "PreemptLowerPriority"] = ""
    scheduler_name: object = None
    restart_policy: object = None


class PodState(ScenarioPart):
    """Where a pod is."""

    phase: Literal["Pending", "Running", "Succeeded", "Failed"] = "Pending"
    nominated_node_name: StrictStr = ""


class ScenarioPod(ScenarioPart):
    """A pod. The annotation `scheduling.k8s.io/group-name` names its PodGroup."""

    metadata: ObjectMeta
    spec: PodSpec
    status: PodState = PodState()
