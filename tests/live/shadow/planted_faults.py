"""One wrong decision in a Kueue that is right otherwise, and goes on from what it did: as a mistake in its scheduler would be."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

from gpol.engine.definition.core import DefinitionCore
from gpol.engine.definition.queue.line import stir
from gpol.engine.definition.transition.apply import enter, leave
from gpol.engine.event_parts import Assignment
from gpol.engine.facts import OperatorAction
from gpol.engine.workload import NOWHERE, Workload
from kueue_writer import Flavors
from modelled_kueue import CycleLog, ModelledKueue

FaultKind = Literal["admission", "flavor", "victim", "omission"]
FAULTS: tuple[FaultKind, ...] = ("admission", "flavor", "victim", "omission")


@dataclass(frozen=True)
class PlantedFault:
    """A wrong decision: in which of the cycles that do something, about whom, and what is done instead.

    `admission`: `workload`, which is parked, is admitted on `flavors`. `flavor`: it is admitted on `flavors`, and not on those that were
    right. `victim`: `victim` goes for it instead of `right`. `omission`: the cycle overlooks it, and it is parked.
    """

    kind: FaultKind
    cycle: int
    workload: str
    flavors: tuple[tuple[str, str, str], ...] = ()
    victim: str = ""
    right: str = ""


class Opportunities:
    """Collects, in a history without a fault, where one can be planted. It is a model's `fault`, and changes nothing."""

    def __init__(self) -> None:
        self.found: list[PlantedFault] = []
        self._cycle = -1

    def before(self, model: ModelledKueue) -> None:
        """Nothing is changed."""

    def after(self, model: ModelledKueue, log: CycleLog) -> CycleLog:
        """Note what could have gone wrong."""
        if not log.admitted and not log.evicted:
            return log
        self._cycle += 1
        self.found += self._of(model, log)
        return log

    def _of(self, model: ModelledKueue, log: CycleLog) -> Iterator[PlantedFault]:
        live = {workload.name: workload for workload in model.workloads()}
        for name, flavors in log.admitted.items():
            yield PlantedFault("omission", self._cycle, name)
            for other in _other_flavors(model, live[name], flavors):
                yield PlantedFault("flavor", self._cycle, name, other)
        for workload in live.values():
            if workload.parked and workload.admitted is None and workload.queue != NOWHERE:
                for other in _other_flavors(model, workload, {}):
                    yield PlantedFault("admission", self._cycle, workload.name, other)
        gone = {name for name, _, _ in log.evicted}
        for right, _, preemptor in log.evicted:
            for other in live.values():
                is_possible = other.admitted is not None and other.name not in {*log.admitted, *gone, preemptor}
                if is_possible and _root(model, other) == _root(model, live[right]):
                    yield PlantedFault("victim", self._cycle, preemptor, victim=other.name, right=right)


class Planted:
    """Makes one wrong decision. It is a model's `fault`; `happened` says that it was made."""

    def __init__(self, fault: PlantedFault) -> None:
        self.fault = fault
        self.happened = False
        self._cycle = -1
        self._core = DefinitionCore()

    def before(self, model: ModelledKueue) -> None:
        """Keep the state, to which a cycle may have to go back."""
        self._core = model.core.copy()

    def after(self, model: ModelledKueue, log: CycleLog) -> CycleLog:
        """Go wrong, if it is time to."""
        if not log.admitted and not log.evicted:
            return log
        self._cycle += 1
        if self._cycle != self.fault.cycle:
            return log
        self.happened = True
        return self._overlook(model, log.time) if self.fault.kind == "omission" else self._change(model, log)

    def _overlook(self, model: ModelledKueue, time: int) -> CycleLog:
        """The same cycle again, without the workload, which is parked then."""
        model.core, name = self._core, self.fault.workload
        model.core.step(OperatorAction(time=model.core.time, by="fault", action="hold", workload=name, note=""))
        log = model.run_cycle(time)
        model.core.step(OperatorAction(time=time, by="fault", action="release", workload=name, note=""))
        model.core.state.workloads[name].parked = True
        return log

    def _change(self, model: ModelledKueue, log: CycleLog) -> CycleLog:
        fault, state = self.fault, model.core.state
        workload = state.workloads[fault.workload]
        match fault.kind:
            case "admission" | "flavor":
                leave(state, workload)
                _give(model, workload, fault.flavors, log.time)
                enter(state, workload)
                return replace(log, admitted={**log.admitted, workload.name: _by_pod_set(fault.flavors)})
            case _:
                right, wrong = state.workloads[fault.right], state.workloads[fault.victim]
                leave(state, right)
                was = self._core.state.workloads[fault.right]
                right.admitted, right.usage, right.assignments = was.admitted, was.usage, was.assignments
                enter(state, right)
                leave(state, wrong)
                wrong.admitted, wrong.usage, wrong.assignments = None, (), ()
                stir(state, wrong)
                enter(state, wrong)
                evicted = [(wrong.name if name == right.name else name, reason, by) for name, reason, by in log.evicted]
                return replace(log, evicted=sorted(evicted))


def _give(model: ModelledKueue, workload: Workload, flavors: tuple[tuple[str, str, str], ...], time: int) -> None:
    usage: dict[int, int] = {}
    slots = {name: slot for slot, name in enumerate(model.graph.slot_names)}
    by_pod_set = _by_pod_set(flavors)
    for pods, left in workload.pod_sets():
        for resource, flavor in by_pod_set[pods.name].items():
            slot = slots[flavor, resource]
            usage[slot] = usage.get(slot, 0) + pods.requests[resource] * left
    workload.deferred = workload.scan = None
    workload.admitted, workload.usage = time, tuple(sorted(usage.items()))
    workload.assignments = tuple(
        Assignment(pod_set=pods.name, count=left, flavors=by_pod_set[pods.name]) for pods, left in workload.pod_sets()
    )


def _by_pod_set(flavors: tuple[tuple[str, str, str], ...]) -> Flavors:
    found: Flavors = {}
    for pod_set, resource, flavor in flavors:
        found.setdefault(pod_set, {})[resource] = flavor
    return found


def _other_flavors(model: ModelledKueue, workload: Workload, right: Flavors) -> Iterator[tuple[tuple[str, str, str], ...]]:
    """The flavors of the workload's queue that serve all it asks for, each as a choice; without the right one."""
    names = [flavor.name for flavor in model.graph.flavors]
    asked = [(pods.name, resource) for pods, _ in workload.pod_sets() for resource, amount in pods.requests.items() if amount]
    groups = model.graph.queue_at(workload.queue).groups
    for flavor in dict.fromkeys(names[index] for group in groups for index in group.flavors):
        choice = tuple((pod_set, resource, flavor) for pod_set, resource in asked)
        served = all((flavor, resource) in model.graph.slot_names for _, resource in asked)
        if served and any(right.get(pod_set, {}).get(resource) != flavor for pod_set, resource in asked):
            yield choice


def _root(model: ModelledKueue, workload: Workload) -> int:
    return model.core.state.active.root(workload.queue)


def faults_of(scenario: Any, seed: str, most: int = 1) -> list[PlantedFault]:
    """Some faults for a history, of each kind as many, as far as there are opportunities; the same for the same seed."""
    found = Opportunities()
    model = ModelledKueue(scenario, found)
    for step in scenario["steps"]:
        for _ in model.step(step):
            pass
    rng, chosen = Random(seed), list[PlantedFault]()
    for kind in FAULTS:
        possible = [fault for fault in found.found if fault.kind == kind]
        chosen += rng.sample(possible, min(most, len(possible)))
    return chosen
