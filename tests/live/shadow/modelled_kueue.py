"""A Kueue that decides by gpol's definition, which agrees with Kueue on all recorded histories; and one that decides wrongly once.

It stands apart from the code under test: it plays facts into a core of its own, and knows no watches, no steps and no conditions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from gpol.adapters.kueue.decide.kueue_reasons import REASONS
from gpol.adapters.kueue.import_.facts import Moment, facts
from gpol.adapters.kueue.import_.load import load, raws_of
from gpol.adapters.kueue.import_.policy import CLASSICAL, FAIR
from gpol.adapters.kueue.problems import Findings
from gpol.adapters.kueue.read.kinds import Raw, read_objects
from gpol.adapters.kueue.read.objects import Configuration
from gpol.dsl import check, print_tree
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted
from gpol.engine.facts import PolicyActivated, TimeAdvanced, WorkloadCancelled, WorkloadFinished
from gpol.engine.units import SECOND, parse_time
from gpol.engine.workload import Workload
from kueue_writer import Flavors, Json

MOST_CYCLES, MOST_IDLE = 30, 3


@dataclass
class CycleLog:
    """What a cycle did: who was admitted on which flavors, and who was evicted for which reason and whom."""

    time: int
    admitted: dict[str, Flavors] = field(default_factory=dict)
    evicted: list[tuple[str, str, str]] = field(default_factory=list)


def configuration(scenario: Json) -> Configuration:
    """The manager's configuration of a scenario."""
    return Configuration(fair=bool(scenario["fair"]), strategies=tuple(scenario["strategies"] or ()) if scenario["fair"] else ())


class SchedulerFault(Protocol):
    """A mistake of the scheduler."""

    def before(self, model: "ModelledKueue") -> None:
        """A cycle is about to run."""

    def after(self, model: "ModelledKueue", log: CycleLog) -> CycleLog:
        """It did this; return what it did instead, and make the model so."""


class ModelledKueue:
    """Kueue for one scenario. `fault` may make it decide wrongly."""

    def __init__(self, scenario: Json, fault: SchedulerFault | None = None) -> None:
        self.scenario, self.fault = scenario, fault
        settings = configuration(scenario)
        self.start = start = parse_time(scenario["steps"][0]["at"])
        self.imported = load(raws_of(scenario), start, FAIR if settings.fair else CLASSICAL, "kueue", settings, controllers=False)
        graph = check(print_tree(self.imported.tree), "kueue.gpol").graph
        assert graph is not None
        self.graph = graph
        self.core = DefinitionCore()
        self.core.step(PolicyActivated(time=start, file="kueue.gpol", text="kueue", digest=graph.digest), graph)
        self.queues = {local.name: local.cluster_queue for local in self.imported.objects.local_queues}

    def step(self, step: Json) -> Iterator[CycleLog]:
        """Take in what ends and what is submitted, then run cycles; tell of each that did something. Raises RuntimeError at a livelock."""
        at = max(parse_time(step["at"]), self.core.time)
        for name in step["finish"]:
            known = self.core.view.workload(name)
            assert known is not None
            self.core.step((WorkloadFinished if known.admitted is not None else WorkloadCancelled)(time=at, workload=name))
        for fact in self._submissions(at, step["submit"]):
            self.core.step(fact)
        for number in range(MOST_CYCLES):
            if self.core.next_wake() is None:
                return
            log = self._cycle(at + number * SECOND)
            if log.admitted or log.evicted:
                yield log
        raise RuntimeError("a livelock")

    def _cycle(self, time: int) -> CycleLog:
        if self.fault is not None:
            self.fault.before(self)
        log = self.run_cycle(time)
        return self.fault.after(self, log) if self.fault is not None else log

    def run_cycle(self, time: int) -> CycleLog:
        """Run a cycle without a fault, and tell what it did."""
        log = CycleLog(time)
        for decision in self.core.step(TimeAdvanced(time=time)):
            if isinstance(decision, WorkloadAdmitted):
                log.admitted[decision.workload] = {each.pod_set: dict(each.flavors) for each in decision.assignments}
            elif isinstance(decision, WorkloadEvicted):
                log.evicted.append((decision.workload, REASONS[decision.preemption], str(decision.beneficiary)))
        return log

    def _submissions(self, at: int, submit: list[Json]) -> list[Any]:
        found = Findings()
        read = read_objects([Raw(plain, "", "Workload") for plain in submit], found)
        made = facts(replace(self.imported.objects, workloads=read.workloads), Moment(at, in_cycles=True), found)
        found.check()
        return made

    # --- what faults ask --------------------------------------------------------------------------------------------

    def workloads(self) -> list[Workload]:
        """All that are live."""
        return list(self.core.view.workloads())
