"""The definition as a core: one fact in, its decisions out."""

from collections.abc import Iterable, Mapping, Sequence

from ..errors import FactError
from ..events import AnyDecision, AnyEvent
from ..explain.decisions import tell
from ..facts import Fact, TimeAdvanced, WorkloadSubmitted
from ..intake.at_once import decided_at_once
from ..intake.changes import submitted, waits
from ..intake.check import check_fact
from ..intake.rejection import rejection
from ..intake.routing import route
from ..nodes.inventory import Machine
from ..outcome.history import Columns
from ..policy_graph import PolicyGraph
from ..questions.probe import DefinitionProbe
from ..questions.view import DefinitionView
from ..units import LAST_MOMENT
from ..workload import Workload
from .admission.cycle import next_cycle, run_cycle
from .admission.nominate import nominate
from .admission.settle import next_wake, settle
from .passes.pass_cycle import next_pass_cycle, run_passes
from .snapshot import frozen, thawed
from .state.state import State
from .state.trial import Trial
from .transition.apply import apply, carry_out


class DefinitionCore:
    """A cluster under a policy, from nothing or from a `state` that is its own from then on. See `gpol.engine.cores.Core`."""

    def __init__(self, state: State | None = None) -> None:
        self.state = State() if state is None else state

    def copy(self) -> "DefinitionCore":
        return DefinitionCore(thawed(self.freeze(), self.graph))

    def freeze(self) -> bytes:
        return frozen(self.state)

    @property
    def view(self) -> DefinitionView:
        return DefinitionView(self.state)

    @property
    def probe(self) -> DefinitionProbe:
        return DefinitionProbe(self.state)

    @property
    def seq(self) -> int:
        return self.state.seq

    @property
    def time(self) -> int:
        return self.state.time

    @property
    def graph(self) -> PolicyGraph | None:
        return self.state.policy.graph if self.state.policy is not None else None

    @property
    def decides_in_cycles(self) -> bool:
        return self.graph is not None and self.graph.settings.in_cycles

    # --- what check_fact asks -------------------------------------------------------------------------------------------

    @property
    def machines(self) -> Mapping[str, Machine]:
        """See `gpol.engine.intake.check.Known`."""
        return self.state.machines

    def workload(self, name: str) -> Workload | None:
        """See `gpol.engine.intake.check.Known`."""
        return self.state.workloads.get(name)

    def running(self) -> Iterable[Workload]:
        """See `gpol.engine.intake.check.Known`."""
        return [workload for workload in self.state.in_order() if workload.admitted is not None]

    def live(self) -> Iterable[Workload]:
        """See `gpol.engine.intake.check.Known`."""
        return self.state.in_order()

    # --- facts ----------------------------------------------------------------------------------------------------------

    def check(self, fact: Fact, graph: PolicyGraph | None = None) -> None:
        check_fact(self, fact, graph)

    def step(self, fact: Fact, graph: PolicyGraph | None = None) -> list[AnyDecision]:
        self.apply(fact, graph)
        return self.decide(fact)

    def decide(self, fact: Fact) -> list[AnyDecision]:
        """Decide all that follows from a fact that was applied."""
        if self.state.policy is None:
            return []
        outcomes = decided_at_once(self.state.graph, fact, self.state.workloads.__getitem__, self.state.in_order)
        for outcome in outcomes:
            carry_out(self.state, outcome)
        if not self.decides_in_cycles:
            outcomes += settle(self.state)
        elif isinstance(fact, TimeAdvanced):  # other facts wait for the next cycle, so that all of one moment are taken in together
            outcomes += run_cycle(self.state) if self.state.graph.settings.passes is None else run_passes(self.state)
        return tell(self.state.graph, outcomes, self.state.time, self.state.cause)

    def apply(self, event: AnyEvent, graph: PolicyGraph | None = None) -> None:
        if isinstance(event, Fact):
            self.check(event, graph)
        elif event.workload not in self.state.workloads:
            raise FactError(f"no live workload is called `{event.workload}`")
        apply(self.state, event, graph)

    def only_waits(self, fact: WorkloadSubmitted) -> bool:
        try:
            self.check(fact)
        except FactError:
            return False
        state = self.state
        if state.graph.settings.passes is not None:
            return False  # what passes will do for it is not known before the next cycle
        workload = submitted(fact, state.submissions + 1)
        route(state.graph, workload)
        if rejection(state.graph, workload) is not None:
            return False
        if not waits(state.graph, workload):
            return True
        before = state.time, state.cause
        state.time, state.cause = fact.time, state.seq + 1  # as if the fact had come
        try:
            return not nominate(Trial(state), workload).runs
        finally:
            state.time, state.cause = before

    def closed_loop(
        self, jobs: Sequence[WorkloadSubmitted], lengths: Sequence[int] | Columns, resume: bool, until: int = LAST_MOMENT
    ) -> None:
        """There is none: `gpol.sim.drive.driver` defines the loop, fact by fact."""

    def given_loop(self) -> None:
        """There is none: `step` defines what a fact does."""

    def next_wake(self) -> int | None:
        if self.state.policy is None:
            return None
        if not self.decides_in_cycles:
            return next_wake(self.state)
        return next_cycle(self.state) if self.state.graph.settings.passes is None else next_pass_cycle(self.state)
