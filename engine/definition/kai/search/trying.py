"""Trying out a scenario: its victims stop, then the workload and they find places, in the order of their queues (KAI: by_pod_solver.go)."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...session.pods import NO_NODE, Pod
from ..kai_cycle import KaiCycle
from ..order.workload_line import Line
from ..place.gangs import place_workload
from .scenario import VictimBatch, VictimScenario

Accepts = Callable[[VictimScenario], bool]
"""Whether what a trial led to is allowed, asked while the session shows it."""


class Solution(NamedTuple):
    """What a trial that did led to: the victims that stop or move, the batches they came in, and how the trial was begun."""

    victims: tuple[Pod, ...]
    batches: tuple[VictimBatch, ...]
    scenario: VictimScenario


def try_out(cycle: KaiCycle, scenario: VictimScenario, nodes: Sequence[int], waiting: Sequence[int], accepts: Accepts) -> Solution | None:
    """Try a scenario on some nodes and those of the victims. Where it does the session stays as tried; else it is as before.

    `waiting` are the workloads with pods that wait.
    """
    victims = scenario.victims
    if not victims:
        return None
    mark, tentative = cycle.session.mark(), dict(cycle.tentative)
    there = set(nodes)
    usable = [*nodes, *sorted({pod.node for pod in victims if pod.node != NO_NODE} - there)]
    cycle.evict_tentatively(victims)
    if _place_all(cycle, scenario, usable, waiting) and accepts(scenario):
        return _solution(cycle, scenario)
    cycle.give_up(mark, tentative)
    return None


def _solution(cycle: KaiCycle, scenario: VictimScenario) -> Solution:
    """Which victims stop or move: all that do not stay where they were, and those named twice, of whom KAI loses sight."""
    victims = scenario.victims
    often = Counter(pod.number for pod in victims)
    touched = [pod for pod in victims if often[pod.number] > 1 or _moved(cycle, pod)]
    numbers = {pod.number for pod in touched}
    batches: list[VictimBatch] = []
    found: set[int] = set()
    for batch in scenario.batches:
        mine = {pod.number for pod in batch.pods}
        if mine & numbers - found:
            batches.append(batch)
        found |= mine
    return Solution(tuple(touched), tuple(batches), scenario)


def _moved(cycle: KaiCycle, pod: Pod) -> bool:
    return (pod.status, pod.node, pod.leaving) != cycle.tentative[pod.number]


def _place_all(cycle: KaiCycle, scenario: VictimScenario, nodes: Sequence[int], waiting: Sequence[int]) -> bool:
    """Place the workload, and of the victims those that find room; who comes first in line may take it from those behind.

    Whoever waits stands in line, as it decides whose turn it is, but of others only victims are placed.
    """
    claimant = scenario.claimant.workload.number
    hit = {batch.workload for batch in scenario.batches}
    placed = False
    in_line = sorted({*waiting, *hit, claimant})
    line = Line(cycle, (scenario.claimant if number == claimant else cycle.views[number] for number in in_line))
    while line:
        view = line.pop()
        number = view.workload.number
        if number == claimant:
            if not place_workload(cycle, view, nodes, now=False):
                return False
            placed = True
        elif number in hit:
            place_workload(cycle, view, nodes, now=False)
    return placed
