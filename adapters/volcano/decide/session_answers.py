"""What a session decided, in the form of the recorded answers: states of pods, phases of PodGroups, figures of queues.

The form is described in docs/volcano.md. Figures of queues are told as Volcano counts them: memory in hundredths of bytes, all else with
six digits behind the point, shares with nine.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ....engine.definition.session.pods import Pod, PodStatus
from ....engine.definition.volcano.model.queue_figures import QueueEntitlement
from ....engine.definition.volcano.model.volcano_cycle import VolcanoCycle
from ....engine.definition.volcano.shares.resource_rows import UNLIMITED
from ....engine.event_parts import POD_COUNT

SessionAnswer = dict[str, Any]
"""The answer of one session."""

_STATES = {PodStatus.PLACED: "bound", PodStatus.PROMISED: "pipelined", PodStatus.RESERVED: "reserved"}
_MEMORY_DIGITS, _AMOUNT_DIGITS, _SHARE_DIGITS = 2, 6, 9
_EXACT = 1 << 53
"""Whole numbers below are told as they are; above, by the shortest digits that give the same double, as Go does it."""


def session_answer(cycle: VolcanoCycle, stood_in: Mapping[str, str]) -> SessionAnswer:
    """The answer of a session whose passes have run. `stood_in`: the HyperNodes that PodGroups named before, by `namespace/name`."""
    session = cycle.session
    names = [node.name for node in session.nodes]
    answer: SessionAnswer = {"pods": {pod.name: _state(cycle, pod, names) for pod in _by_name(session.pods)}}
    evicted = {session.pods[each.victim].name: each.by for each in cycle.evictions}
    nominated = {pod.name: names[cycle.pods[pod.number].nominated] for pod in session.pods if _still_nominated(cycle, pod)}
    nominated |= {session.pods[pod].name: names[node] for pod, node in cycle.nominations()}
    # Volcano never changes the annotation that it once wrote (cache.go, `updateJobAnnotations`)
    stands_in = {workload.name: stood_in.get(workload.name) or cycle.allocated_in[workload.number] for workload in cycle.jobs}
    phases = {workload.name: str(cycle.phases[workload.number]) for workload in session.workloads}
    told: dict[str, dict[str, Any]] = {
        "evicted": evicted,
        "nominated": nominated,
        "podGroups": phases,
        "allocatedHyperNode": {name: where for name, where in stands_in.items() if where},
        "queues": _queues(cycle),
        "jobShare": _job_shares(cycle),
    }
    for name, values in told.items():
        if values or name == "podGroups":
            answer[name] = {key: values[key] for key in sorted(values)}
    return answer


def _by_name(pods: Sequence[Pod]) -> list[Pod]:
    return sorted(pods, key=lambda pod: pod.name)


def _still_nominated(cycle: VolcanoCycle, pod: Pod) -> bool:
    """Whether a pod that was promised a node before still waits: Volcano takes the name of the node away from no pod."""
    return cycle.pods[pod.number].nominated >= 0 and pod.status in (PodStatus.WAITING, PodStatus.PROMISED, PodStatus.RESERVED)


def _state(cycle: VolcanoCycle, pod: Pod, names: Sequence[str]) -> list[str]:
    came = cycle.came[pod.number]
    if pod.status is PodStatus.WAITING:
        return ["pending"]
    if pod.status is PodStatus.DONE:
        return ["succeeded" if cycle.pods[pod.number].succeeded else "failed"]
    if pod.status is PodStatus.STOPPING:
        return ["evicted", names[pod.node]]
    state = "running" if came is pod.status else _STATES[pod.status]
    return [state, names[pod.node]] if pod.node >= 0 else [state]


# --- figures ----------------------------------------------------------------------------------------------------------


def _queues(cycle: VolcanoCycle) -> dict[str, Any]:
    if cycle.queue_figures is None:
        return {}
    nodes = cycle.session.quota_nodes
    figures = cycle.queue_figures()
    return {nodes[queue].name: _figures(cycle, figures[queue]) for queue in sorted(figures)}


def _figures(cycle: VolcanoCycle, figures: QueueEntitlement) -> dict[str, Any]:
    resources = cycle.session.resources
    told: dict[str, Any] = {
        "allocated": _amounts(resources, figures.allocated),
        "deserved": _amounts(resources, figures.deserved),
        "realCapability": {} if figures.real is None else _amounts(resources, figures.real),
        "request": _amounts(resources, figures.request),
        "inqueue": _amounts(resources, figures.inqueue),
    }
    kept = {name: amounts for name, amounts in told.items() if amounts or name == "allocated"}
    return {**kept, "share": _number(figures.share, _SHARE_DIGITS)}


def _amounts(resources: Sequence[str], row: Sequence[int | Fraction]) -> dict[str, int | float]:
    """A row by resource, without zeros and the number of pods; -1 where there is no limit."""
    found: dict[str, int | float] = {}
    for resource, amount in zip(resources, row, strict=True):
        told = -1 if amount > UNLIMITED // 2 else _number(amount, _MEMORY_DIGITS if resource == "memory" else _AMOUNT_DIGITS)
        if told and resource != POD_COUNT:
            found[resource] = told
    return found


def _number(amount: int | Fraction, digits: int) -> int | float:
    rounded = round(Fraction(amount), digits)
    if rounded.denominator != 1:
        return float(rounded)
    return int(rounded) if rounded < _EXACT else int(Decimal(repr(float(rounded))))


def _job_shares(cycle: VolcanoCycle) -> dict[str, Any]:
    """The dominant shares of all PodGroups; they are told where no queue plugin decides."""
    if cycle.job_shares is None or cycle.queue_figures is not None:
        return {}
    shares = cycle.job_shares()
    return {cycle.session.workloads[job].name: _number(share, _SHARE_DIGITS) for job, share in sorted(shares.items())}
