"""The schema of Volcano's objects, and of priority classes, in a scenario; see `object_parts`."""

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictStr

from .object_parts import KubernetesName, LabelSelector, ObjectMeta, Priority, Quantities, ScenarioPart, SmallNumber


class NetworkTopologySpec(ScenarioPart):
    """Where the pods of a PodGroup, or of a part of it, are to stand."""

    mode: Literal["", "hard", "soft"] = "hard"
    highest_tier_allowed: SmallNumber | None = None
    highest_tier_name: StrictStr = ""


class SubGroupPolicy(ScenarioPart):
    """Parts of a PodGroup: pods with the same values of some labels."""

    name: StrictStr
    network_topology: NetworkTopologySpec | None = None
    sub_group_size: SmallNumber | None = None
    min_sub_groups: SmallNumber | None = None
    label_selector: LabelSelector | None = None
    match_label_keys: list[StrictStr] | None = None


class PodGroupSpec(ScenarioPart):
    """What a PodGroup asks for."""

    min_member: SmallNumber = 0
    min_task_member: dict[StrictStr, SmallNumber] | None = None
    queue: StrictStr = "default"
    priority_class_name: StrictStr = ""
    min_resources: Quantities | None = None
    network_topology: NetworkTopologySpec | None = None
    sub_group_policy: list[SubGroupPolicy] | None = None


class PodGroupState(ScenarioPart):
    """How far a PodGroup is. The numbers of its pods follow from the pods."""

    phase: Literal["Pending", "Inqueue", "Running", "Unknown", "Completed"] = "Pending"
    conditions: object = None
    running: object = None
    succeeded: object = None
    failed: object = None


class ScenarioPodGroup(ScenarioPart):
    """A PodGroup of `scheduling.volcano.sh/v1beta1`."""

    metadata: ObjectMeta
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupState = PodGroupState()


class QueueGuarantee(ScenarioPart):
    """What no one else may use."""

    resource: Quantities | None = None


class QueueSpec(ScenarioPart):
    """What a queue has."""

    weight: Annotated[int, Field(strict=True, ge=1, le=65_535)] = 1
    capability: Quantities | None = None
    deserved: Quantities | None = None
    guarantee: QueueGuarantee | None = None
    reclaimable: StrictBool | None = None
    priority: Priority = 0
    parent: StrictStr = ""
    type: object = None
    dequeue_strategy: object = None


class QueueStatus(ScenarioPart):
    """Whether a queue is open. What it has allocated follows from the pods."""

    state: Literal["Open", "Closed", "Closing", "Unknown"]
    allocated: object = None
    reservation: object = None


class ScenarioQueue(ScenarioPart):
    """A Queue of `scheduling.volcano.sh/v1beta1`."""

    metadata: ObjectMeta
    spec: QueueSpec = QueueSpec()
    status: QueueStatus


class ScenarioPriorityClass(ScenarioPart):
    """A PriorityClass."""

    metadata: ObjectMeta
    value: Priority
    global_default: StrictBool = False
    description: object = None
    preemption_policy: object = None
    """What counts is what the admission of Kubernetes has written into each pod."""


class ExactMatch(ScenarioPart):
    """A member by its name."""

    name: KubernetesName


class MemberSelector(ScenarioPart):
    """How members of a HyperNode are named."""

    exact_match: ExactMatch


class ScenarioMember(ScenarioPart):
    """A member of a HyperNode."""

    type: Literal["Node", "HyperNode"]
    selector: MemberSelector


class HyperNodeSpec(ScenarioPart):
    """What a HyperNode is."""

    tier: SmallNumber
    tier_name: StrictStr = ""
    members: list[ScenarioMember] | None = None


class HyperNodeObject(ScenarioPart):
    """A HyperNode of `topology.volcano.sh/v1alpha1`."""

    metadata: ObjectMeta
    spec: HyperNodeSpec
    status: object = None


class HyperNodeEntry(ScenarioPart):
    """A HyperNode with its place in the tree; where that is not told, it follows from the members."""

    name: KubernetesName
    hyper_node: HyperNodeObject
    parent: StrictStr = ""
    children: list[StrictStr] | None = None
