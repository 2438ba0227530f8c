"""The schema of a scenario: the objects of a cluster, a configuration, and the sessions that follow; see `object_parts`."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr

from .object_parts import ClockTime, ScenarioNode, ScenarioPart, ScenarioPod, SmallNumber
from .volcano_parts import HyperNodeEntry, ScenarioPodGroup, ScenarioPriorityClass, ScenarioQueue

MOST_NODES, MOST_PODS, MOST_POD_GROUPS, MOST_QUEUES, MOST_HYPER_NODES, MOST_SESSIONS = 5_000, 50_000, 20_000, 2_000, 5_000, 100
"""How many there may be of each in a scenario."""


class ScenarioCase(ScenarioPart):
    """The objects of a cluster."""

    nodes: list[ScenarioNode] | None = Field(default=None, alias="Nodes", max_length=MOST_NODES)
    pods: list[ScenarioPod] | None = Field(default=None, alias="Pods", max_length=MOST_PODS)
    pod_groups: list[ScenarioPodGroup] | None = Field(default=None, alias="PodGroups", max_length=MOST_POD_GROUPS)
    queues: list[ScenarioQueue] | None = Field(default=None, alias="Queues", max_length=MOST_QUEUES)
    priority_classes: list[ScenarioPriorityClass] | None = Field(default=None, alias="PriClass", max_length=MOST_QUEUES)
    hyper_nodes: dict[StrictStr, HyperNodeEntry] | None = Field(default=None, alias="HyperNodesMap", max_length=MOST_HYPER_NODES)
    by_tier: dict[StrictStr, list[StrictStr]] | None = Field(default=None, alias="HyperNodesSetByTier", max_length=MOST_HYPER_NODES)
    nodes_below: dict[StrictStr, list[StrictStr]] | None = Field(default=None, alias="HyperNodes", max_length=MOST_HYPER_NODES)
    tier_names: dict[StrictStr, SmallNumber] | None = Field(default=None, alias="HyperNodesTierNameMap", max_length=MOST_HYPER_NODES)
    sharding: Literal["", "none", "hard", "soft"] = Field(default="", alias="ShardingMode")
    shard: StrictStr = Field(default="", alias="ShardName")
    nodes_in_shard: list[StrictStr] | None = Field(default=None, alias="NodesInShard", max_length=MOST_NODES)


class ResourceStrategy(ScenarioPart):
    """How plugin `resource-strategy-fit` scores nodes by a resource."""

    type: Literal["MostAllocated", "LeastAllocated"] = "LeastAllocated"
    weight: StrictInt = 1


class ScenarioPlugin(ScenarioPart):
    """A plugin of a tier: callbacks that are on or off, and its arguments."""

    name: StrictStr
    enabled: dict[StrictStr, StrictBool] | None = None
    arguments: dict[StrictStr, StrictBool | StrictInt | Decimal | StrictStr | dict[StrictStr, ResourceStrategy]] | None = None


class ScenarioTier(ScenarioPart):
    """A tier of plugins."""

    plugins: Annotated[list[ScenarioPlugin], Field(max_length=64)]


class ActionConfiguration(ScenarioPart):
    """The arguments of an action."""

    name: StrictStr
    arguments: dict[StrictStr, StrictBool | StrictInt | Decimal | StrictStr] | None = None


class NextSession(ScenarioPart):
    """What is gone before the next session: PodGroups, `namespace/name`, with all their pods."""

    delete: list[StrictStr] | None = None


class VolcanoScenario(ScenarioPart):
    """A cluster, a configuration, and the sessions that follow the first one."""

    name: StrictStr
    scope: object = None
    actions: Annotated[list[StrictStr], Field(max_length=16)]
    tiers: Annotated[list[ScenarioTier], Field(max_length=16)]
    configurations: Annotated[list[ActionConfiguration], Field(max_length=16)] | None = None
    case: ScenarioCase
    then: Annotated[list[NextSession], Field(max_length=MOST_SESSIONS)] | None = None
    at: list[ClockTime] | None = None
    recreate: StrictBool = False
    now: ClockTime | None = None
    """When the first session is. Those after it are when `at` says so, or at the same moment."""
    whole_numbers: StrictBool = False
    """Whether whole numbers among arguments count, as in a configuration file; otherwise they do not, as where Volcano is given JSON."""
