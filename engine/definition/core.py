"""The core: one fact in, its decisions out."""

from copy import copy

from ..errors import FactError
from ..events import (
    AnyDecision,
    AnyEvent,
    Fact,
    Operand,
    OperatorAction,
    PolicyActivated,
    TimeAdvanced,
    Why,
    WorkloadAdopted,
    WorkloadEvicted,
    WorkloadRejected,
    WorkloadSubmitted,
)
from ..graph import PolicyGraph
from .apply import active, apply
from .check import check_fact
from .cycles.deciding import next_cycle, run_cycle
from .cycles.queues import Queues
from .route import local_queue, reference, why_refused
from .settle import Settler
from .standing import standing
from .state import State
from .whereabouts import Standing
from .why import charges
from .workload import Workload


class Core:
    """A cluster under a policy. Deterministic: the same facts give the same decisions, whenever and wherever.

    It begins with nothing, or in a `state` that is its own from then on.
    `seq` counts events from 1, a fact and then its decisions; a decision's `cause` is the seq of its fact.
    """

    def __init__(self, state: State | None = None) -> None:
        self.state = State() if state is None else state
        self._settler = Settler(self.state)

    def copy(self) -> "Core":
        """A core that stands where this one stands and goes its own way from here: neither disturbs the other."""
        other = copy(self)
        other.state = self.state.copy()
        other._settler = self._settler.copy(other.state)
        return other

    @property
    def seq(self) -> int:
        """The sequence number of the last event."""
        return self.state.seq

    @property
    def time(self) -> int:
        """The time of the last event, in microseconds since the epoch."""
        return self.state.time

    @property
    def queues(self) -> Queues | None:
        """The queues of a policy that decides in cycles; None where every fact is decided at once."""
        return self.state.active.queues if self.state.active is not None else None

    @property
    def collects(self) -> bool:
        """Whether all facts of a moment are to be played before the wake of that moment: in a policy that decides in cycles."""
        return self.queues is not None

    @property
    def graph(self) -> PolicyGraph | None:
        """The policy that decides now."""
        return self.state.active.graph if self.state.active is not None else None

    def check(self, fact: Fact, graph: PolicyGraph | None = None) -> None:
        """Raise FactError if `step` would; nothing is changed."""
        check_fact(self.state, fact, graph)

    def step(self, fact: Fact, graph: PolicyGraph | None = None) -> list[AnyDecision]:
        """Take in a fact and decide all that follows; `graph` goes with PolicyActivated.

        Evictions come before the admission that they make room for. Raises FactError, with nothing changed, for a fact
        that cannot have happened now.
        """
        self.check(fact, graph)
        apply(self.state, fact, graph)
        decisions = self._at_once(fact, self.state.cause)
        for decision in decisions:
            apply(self.state, decision)
        return decisions + (self._settler.settle() if self.queues is None else self._run_cycle(fact, self.queues))

    def _run_cycle(self, fact: Fact, queues: Queues) -> list[AnyDecision]:
        """Run a cycle where time advanced; other facts wait for the next one, so that all of one moment are taken in together."""
        if not isinstance(fact, TimeAdvanced):
            return []
        decisions = run_cycle(self.state, active(self.state), queues)
        for decision in decisions:
            apply(self.state, decision)
        return decisions

    def _at_once(self, fact: Fact, cause: int) -> list[AnyDecision]:
        """What a fact decides by itself, before anything is weighed against anything."""
        match fact:
            case WorkloadSubmitted():
                return self._rejections([fact.workload], cause)
            case PolicyActivated():
                live = sorted(self.state.workloads.values(), key=lambda workload: workload.number)
                waiting = [workload.name for workload in live if workload.admitted is None]
                return [
                    *self._rejections(waiting, cause),
                    *self._drained([workload for workload in live if workload.admitted is not None], cause),
                ]
            case WorkloadAdopted(evicting=False):
                return list(self._drained([self.state.workloads[fact.workload]], cause))
            case OperatorAction(action="evict"):
                return [self._operator_eviction(fact, cause)]
            case _:
                return []

    def _rejections(self, names: list[str], cause: int) -> list[AnyDecision]:
        policy = active(self.state)
        whys = [(name, why_refused(policy, self.state.workloads[name])) for name in names]
        return [WorkloadRejected(time=self.time, cause=cause, workload=name, why=why) for name, why in whys if why is not None]

    def _drained(self, running: list[Workload], cause: int) -> list[AnyDecision]:
        """Who of those that run is in a queue or local queue that the policy drains."""
        policy = active(self.state)
        found: list[AnyDecision] = []
        for workload in running:
            node = policy.graph.nodes[workload.queue]
            local = local_queue(policy.graph, workload)
            if policy.graph.queues[node.queue].stopped == "drain":
                rule = reference(node.name, node.source)
            elif local is not None and local.stopped == "drain":
                rule = reference(local.name, local.source)
            else:
                continue
            found.append(
                WorkloadEvicted(
                    time=self.time,
                    cause=cause,
                    workload=workload.name,
                    queue=node.name,
                    beneficiary=None,
                    preemption="stopped",
                    usage=charges(policy, workload.usage),
                    why=Why(reason="Drained", rule=rule),
                )
            )
        return found

    def _operator_eviction(self, fact: OperatorAction, cause: int) -> WorkloadEvicted:
        policy, workload = active(self.state), self.state.workloads[fact.workload]
        note = [Operand(name="note", value=fact.note)] if fact.note else []
        return WorkloadEvicted(
            time=self.time,
            cause=cause,
            workload=workload.name,
            queue=policy.graph.nodes[workload.queue].name,
            beneficiary=None,
            preemption="operator",
            usage=charges(policy, workload.usage),
            why=Why(reason="EvictedByOperator", operands=(Operand(name="operator", value=fact.operator), *note)),
        )

    def apply(self, event: AnyEvent, graph: PolicyGraph | None = None) -> None:
        """Apply a recorded event again, fact or decision, without deciding anything."""
        if isinstance(event, Fact):
            self.check(event, graph)
        elif event.workload not in self.state.workloads:
            raise FactError(f"no live workload is called `{event.workload}`")
        apply(self.state, event, graph)

    def next_wake(self) -> int | None:
        """The next moment at which time alone may change a decision; a driver then plays TimeAdvanced at that moment.

        It may be the present moment: one fact never admits and evicts the same workload, another one may evict it; and a policy
        that decides in cycles first takes in all facts of a moment.
        """
        if self.queues is not None:
            return next_cycle(self.state, active(self.state), self.queues)
        return self._settler.next_wake()

    def standing(self, workload: str) -> Standing | None:
        """Why a live workload runs or waits, and what would change that; None for one that is not live."""
        return standing(self.state, workload)
