"""What a scheduler configuration of Volcano says: which passes run, and which plugins vote on what, tier by tier.

Volcano: pkg/scheduler/conf/scheduler_conf.go, plugins/defaults.go.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

CALLBACKS = (
    "JobOrder",
    "JobReady",
    "JobPipelined",
    "JobStarving",
    "JobEnqueued",
    "TaskOrder",
    "QueueOrder",
    "Preemptable",
    "Reclaimable",
    "Preemptive",
    "Overused",
    "Allocatable",
    "Predicate",
    "NodeOrder",
    "HyperNodeOrder",
    "HyperNodeGradient",
    "SubJobReady",
    "SubJobPipelined",
    "SubJobOrder",
    "Victim",
)
"""What a plugin may vote on. A configuration file turns on all that it does not turn off."""

HIERARCHY = "Hierarchy"
"""Not a vote: queues are a tree to the plugin. Off where a configuration does not turn it on."""

PluginArgument = int | Fraction | str | bool
"""A number, text or truth that a plugin goes by. Weights are whole numbers."""


@dataclass(frozen=True, slots=True)
class VolcanoPlugin:
    """A plugin of a tier: `enabled` are the callbacks (and perhaps `HIERARCHY`) in which it takes part."""

    name: str
    enabled: frozenset[str]
    arguments: Mapping[str, PluginArgument] = field(default_factory=dict)

    def number(self, argument: str, otherwise: int) -> int:
        """A whole number among the arguments; what is no whole number counts as not said (framework/arguments.go, `GetInt`)."""
        value = self.arguments.get(argument, otherwise)
        return value if isinstance(value, int) and not isinstance(value, bool) else otherwise

    def text(self, argument: str) -> str:
        """A text among the arguments; empty where there is none."""
        value = self.arguments.get(argument, "")
        return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class NodeShard:
    """The nodes, by their numbers, of one of several schedulers: it takes others last or, with `only`, not at all (`ShardingMode`)."""

    nodes: frozenset[int]
    only: bool


@dataclass(frozen=True, slots=True)
class VolcanoSettings:
    """`passes` in the order in which they run, each once a cycle; `tiers` of plugins, those of one tier in their order."""

    passes: tuple[str, ...]
    tiers: tuple[tuple[VolcanoPlugin, ...], ...]
    topology_aware_preemption: bool = False
    """Pass `preempt` looks for the node whose victims matter least, and spares whom it can (`enableTopologyAwarePreemption`)."""

    def plugin(self, name: str) -> VolcanoPlugin | None:
        """The plugin of that name, where there is one."""
        for tier in self.tiers:
            for plugin in tier:
                if plugin.name == name:
                    return plugin
        return None
