"""A small cluster under a policy that decides in cycles, to play facts on, and what its cycles decide in short words."""

from functools import cache

from gpol.dsl import compile_policy
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.definition.state.state import State
from gpol.engine.events import AnyDecision, WorkloadDeferred, WorkloadEvicted, WorkloadPlaced, WorkloadReplaced
from gpol.engine.facts import TimeAdvanced
from gpol.engine.outcome.nomination import Share
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.units import parse_duration
from played import PROFILES, PlayedCluster


@cache
def _compiled(text: str) -> PolicyGraph:
    """The graph of a policy in the file `t.gpol`; one that says nothing of a header decides as `kueue.classical`."""
    header = "" if "policy " in text else 'policy "t" { use kueue.classical }\n'
    return compile_policy(header + text, "t.gpol", PROFILES)


class Cycles(PlayedCluster):
    """A cluster whose policy decides in cycles: facts decide nothing but rejections, cycles do, in words such as `evict a for b`."""

    compiled = staticmethod(_compiled)

    def word(self, decision: AnyDecision) -> str:
        """A decision in short: `run a`, `evict a for b`, `end a for b` where b takes its place.

        What is deferred: `next a`, `park a`, or `preempt a` for who waits for its victims.
        """
        match decision:
            case WorkloadEvicted():
                return f"evict {decision.workload} for {decision.beneficiary or '-'}"
            case WorkloadReplaced():
                return f"end {decision.workload} for {decision.by}"
            case WorkloadDeferred():
                waits = "preempt" if decision.preempting else "next" if decision.waits == "next" else "park"
                return f"{waits} {decision.workload}"
            case WorkloadPlaced():
                return f"place {decision.workload}"
            case _:
                return f"{'run' if decision.kind == 'WorkloadAdmitted' else 'reject'} {decision.workload}"

    def cycle(self) -> list[str]:
        """The next cycle that is due; it is an error where none is."""
        wake = self.core.next_wake()
        assert wake is not None, "no cycle is due"
        self.now = wake
        return self.play(TimeAdvanced(time=wake))

    def rest(self) -> list[str]:
        """Cycles until none is due, all that they decided; at most 50."""
        decided: list[str] = []
        for _ in range(50):
            if self.core.next_wake() is None:
                return decided
            decided += self.cycle()
        raise AssertionError("no rest after 50 cycles")

    def at(self, when: str) -> None:
        """Let the clock show a later time; what is due until then is left out."""
        self.now = parse_duration(when)

    @property
    def state(self) -> State:
        """The state of the definition, for tests of its parts."""
        assert isinstance(self.core, DefinitionCore)
        return self.core.state

    @property
    def graph(self) -> PolicyGraph:
        """The graph of the active policy."""
        assert self.core.graph is not None
        return self.core.graph

    def node(self, name: str) -> int:
        """The index of a queue or cohort."""
        return next(index for index, node in enumerate(self.graph.nodes) if node.name == name)

    def slot(self, flavor: str, resource: str = "gpu") -> int:
        """The index of a resource of a flavor."""
        return self.graph.slot_names.index((flavor, resource))

    def used(self, name: str) -> list[int]:
        """What runs at or below a queue or cohort uses, by slot."""
        return [self.core.view.used(self.node(name), slot) for slot in range(len(self.graph.slots))]

    def charges(self) -> list[tuple[list[int], list[int], Share]]:
        """All that follows from what is charged: of every node what it carries and what is used below it, by slot, and its share."""
        tree = self.state.active.tree
        return [(list(tree.usage[node]), list(tree.total[node]), self.core.probe.share(node)) for node in range(len(self.graph.nodes))]

    def line(self, queue: str) -> list[str]:
        """Who waits in a queue's line, parked or not, in the order in which they would be looked at."""
        return list(self.core.probe.line(self.node(queue)))

    def head(self, queue: str) -> str | None:
        """Whom a queue puts up next."""
        return self.core.probe.head(self.node(queue))

    def last(self, name: str) -> AnyDecision:
        """The last decision about a workload."""
        return next(event for event, _ in reversed(self.history) if isinstance(event, AnyDecision) and event.workload == name)

    def why(self, name: str) -> str:
        """The reason of the last decision about a workload, of those of the last fact."""
        return next(decision.reason for decision in self.decided if decision.workload == name)
