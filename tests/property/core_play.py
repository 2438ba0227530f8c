"""The steps of a test played by the core alone, without the code that plays tests and searches for witnesses."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gpol.dsl.syntax import tree
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.errors import FactError
from gpol.engine.event_parts import PodSet, RuleRef
from gpol.engine.events import AnyDecision, WorkloadAdmitted, WorkloadEvicted, WorkloadRejected
from gpol.engine.explain.pending import standing
from gpol.engine.facts import (
    CapacityChanged,
    Fact,
    OperatorAction,
    PolicyActivated,
    TimeAdvanced,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
)
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.units import parse_amount, parse_duration

MOST_WAKES = 2_000
"""How often time alone decides before a policy counts as one that never comes to rest."""


class Fate(NamedTuple):
    """What became of a workload: its state, the flavors it runs on, whether it borrows, why it waits, and the rule of its last decision."""

    state: str
    flavors: tuple[str, ...] = ()
    borrows: bool = False
    reason: str = ""
    rule: str = ""


@dataclass
class Stage:
    """A core with one policy, and the last decision about each workload."""

    graph: PolicyGraph
    core: Core = field(default_factory=new_core)
    last: dict[str, AnyDecision] = field(default_factory=dict)
    wakes: int = 0

    def __post_init__(self) -> None:
        self.core.step(PolicyActivated(time=0, file="p.gpol", text="", digest=self.graph.digest), self.graph)

    def step(self, fact: Fact) -> None:
        """Play a fact when its time has come: in cycles before those of its moment, else after what its moment decides by itself."""
        self.wake(fact.time - 1 if self.core.decides_in_cycles else fact.time)
        if isinstance(fact, WorkloadSubmitted):
            self.last.pop(fact.workload, None)  # of one that was called so before
        self._note(self.core.step(fact))

    def wake(self, until: int | None) -> None:
        """Let time decide up to a moment; without one as long as it does."""
        while (moment := self.core.next_wake()) is not None and (until is None or moment <= until):
            self.wakes += 1
            if self.wakes > MOST_WAKES:
                raise FactError("it never comes to rest")
            self._note(self.core.step(TimeAdvanced(time=moment)))

    def rest(self) -> None:
        """In cycles, let them run until none is due."""
        if self.core.decides_in_cycles:
            self.wake(None)

    def _note(self, decisions: list[AnyDecision]) -> None:
        lasting = (each for each in decisions if isinstance(each, WorkloadAdmitted | WorkloadEvicted | WorkloadRejected))
        self.last |= {decision.workload: decision for decision in lasting}

    def fate(self, workload: str) -> Fate:
        """What has become of a workload."""
        decision, told = self.last.get(workload), standing(self.core, workload)
        match decision:
            case WorkloadAdmitted() if told is not None:
                return Fate("admitted", tuple(sorted({charge.flavor for charge in decision.usage})), bool(decision.borrowed))
            case WorkloadEvicted() if told is not None:
                return Fate("evicted", rule=_name(decision.why.rule))
            case WorkloadRejected():
                return Fate("rejected", rule=_name(decision.why.rule))
            case _ if told is not None:
                return Fate("pending", reason=told.reason, rule=_name(told.rule))
            case _:
                return Fate("over")


def _name(rule: RuleRef | None) -> str:
    return "" if rule is None else rule.name


def fates(graph: PolicyGraph, steps: Iterable[tree.At]) -> dict[str, Fate] | None:
    """What becomes of each workload, in order of submission; None where a step cannot be played or the policy never comes to rest."""
    stage, names = Stage(graph), []
    try:
        for step in steps:
            time = parse_duration(step.time.text)
            if step.action is None:
                stage.wake(time)
            else:
                stage.step(_fact(step.action, time))
            if isinstance(step.action, tree.Submit):
                names.append(step.action.workload.text)
        stage.rest()
    except FactError:
        return None
    return {workload: stage.fate(workload) for workload in names}


def _fact(action: tree.Submit | tree.Act | tree.SetCapacity, time: int) -> Fact:
    match action:
        case tree.SetCapacity(flavor, amount):
            return CapacityChanged(time=time, flavor=flavor.text, capacity=_amounts((amount,)))
        case tree.Act("finish", workload):
            return WorkloadFinished(time=time, workload=workload.text)
        case tree.Act("cancel", workload):
            return WorkloadCancelled(time=time, workload=workload.text)
        case tree.Act(deed, workload):
            return OperatorAction.model_validate({"time": time, "by": "op", "action": deed, "workload": workload.text})
        case tree.Submit(workload, queue, pods, attributes):
            said: dict[str, Any] = {"labels": {}, "namespace_labels": {}}
            for attribute in attributes:
                if attribute.key is not None:
                    said[f"{attribute.attribute.replace(' ', '_')}s"][attribute.key.text] = attribute.value.text
                elif isinstance(attribute.value, tree.Number):
                    said["priority"] = int(attribute.value.text)
                else:
                    said[{"kind": "workload_kind"}.get(attribute.attribute, attribute.attribute)] = attribute.value.text
            sets = [_pod_set(number, each) for number, each in enumerate(pods)]
            named = queue.text if queue is not None else None
            return WorkloadSubmitted(time=time, workload=workload.text, queue=named, pod_sets=tuple(sets), **said)


def _pod_set(number: int, pods: tree.Pods) -> PodSet:
    count = int(pods.count.text) if pods.count is not None else 1
    return PodSet(name=f"p{number}", count=count, requests=_amounts(pods.amounts), flavors=tuple(each.text for each in pods.flavors))


def _amounts(amounts: tuple[tree.Amount, ...]) -> dict[str, int]:
    return {amount.resource.text: parse_amount(amount.number.text, amount.resource.text) for amount in amounts}


def shows(fate: Fate, expect: tree.Expect) -> bool:
    """Whether a fate is what a test expects, in everything that it names, and whether it borrows."""
    flavors = fate.flavors if expect.flavor is None else (expect.flavor.text,)
    reason = fate.reason if expect.reason is None else expect.reason.text
    rule = fate.rule if expect.rule is None else expect.rule.text
    return fate == Fate(expect.state, flavors, expect.borrowing, reason, rule)
