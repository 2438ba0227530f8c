"""A cluster of Kueue objects in a core, through the importer: what every suite that plays facts starts from."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gpol.adapters.kueue.import_.load import load, raws_of
from gpol.adapters.kueue.import_.policy import CLASSICAL, FAIR
from gpol.adapters.kueue.read.objects import Configuration
from gpol.dsl.analysis.checker import check_parsed
from gpol.dsl.syntax.parser import Parsed
from gpol.engine.cores import Probe
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.definition.state.trial import Trial
from gpol.engine.facts import Fact, PolicyActivated
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.units import SECOND

NOW = "2026-01-02T04:04:05Z"
"""An hour after the time of Kueue's tables, so that nothing in them is of later than now."""

NEVER = "1970-01-01T00:00:00Z"
"""The creation of objects that say nothing of it: in Go it is before every other time."""

Case = Mapping[str, Any]


class World:
    """Objects of Kueue in a core, as of a moment (microseconds since the epoch)."""

    def __init__(self, objects: Case, fair: bool = False, configuration: Configuration | None = None, at: str = NOW) -> None:
        self.now = int(datetime.fromisoformat(at).timestamp()) * SECOND
        self.configuration = configuration or Configuration(fair=fair)
        self.imported = load(raws_of(objects), self.now, FAIR if fair else CLASSICAL, "table", self.configuration, controllers=False)
        checked = check_parsed(Parsed(self.imported.tree, (), (), "", "table.gpol"))
        assert checked.graph is not None, [error.message for error in checked.errors]
        self.graph: PolicyGraph = checked.graph
        self.core = DefinitionCore()
        self.core.step(PolicyActivated(time=self.now, file="table.gpol", text="table", digest=self.graph.digest), self.graph)
        self.nodes = {node.name: index for index, node in enumerate(self.graph.nodes)}
        self.slots = {name: slot for slot, name in enumerate(self.graph.slot_names)}

    def play(self, facts: list[Fact]) -> None:
        """Take in facts; no cycle runs by them."""
        for fact in facts:
            self.core.step(fact)

    @property
    def probe(self) -> Probe:
        """What would be, as things stand."""
        return self.core.probe

    def trial(self) -> Trial:
        """The state of the definition, to try something out in."""
        return Trial(self.core.state)

    def queue_names(self) -> dict[str, str]:
        """The names of queues in the policy, by their ClusterQueues' names."""
        return {queue.name: self.imported.names.queue(queue.name) for queue in self.imported.objects.cluster_queues}


# --- objects as the tables have them, and as a cluster would ------------------------------------------------------------


def as_created(workload: dict[str, Any]) -> dict[str, Any]:
    """A workload with the time of its creation, where the table says none."""
    metadata = workload["metadata"]
    return workload if metadata.get("creationTimestamp") else {**workload, "metadata": {**metadata, "creationTimestamp": NEVER}}


def as_defaulted(queue: dict[str, Any], fair: bool) -> dict[str, Any]:
    """A ClusterQueue of a table as one that an API server lets in and Kueue takes for the same.

    The tables pass by defaults and webhooks. Fair sharing takes a missing reclaimWithinCohort, which a cluster never has, for something
    else than Never when it asks whether evicting may go with borrowing: just as it takes borrowWithinCohort, which counts for nothing
    else there.
    """
    spec = dict(queue["spec"])
    preemption = dict(spec.get("preemption") or {})
    if fair and not preemption.get("reclaimWithinCohort"):
        spec["preemption"] = {**preemption, "borrowWithinCohort": {"policy": "LowerPriority"}}
    return {**queue, "spec": spec}
