"""What keeps a pod off a node, whatever is free there: a taint, its node selector, its affinity.

Kueue: pkg/cache/scheduler/scheduling_simulator_default.go; the first of the three that applies is the one that counts.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ..eligibility import Tolerance, all_hold, repelling
from ..event_parts import KeptOffCause, PodSet
from .inventory import Machine


class KeptOff(NamedTuple):
    """Why a node takes no pod: the cause, and the taint or the resource that it is about."""

    cause: KeptOffCause
    detail: str = ""


def kept_off(machine: Machine, pod_set: PodSet, tolerations: Sequence[Tolerance]) -> KeptOff | None:
    """What keeps pods of a pod set off a node; `tolerations` are those of the pod set and those that its flavor gives."""
    taint = repelling(machine.taints, tolerations)
    if taint is not None:
        value = f"={taint.value}" if taint.value else ""
        return KeptOff("taint", f"{taint.key}{value}:{taint.effect}")
    if any(machine.labels.get(key) != pod_set.node_selector[key] for key in sorted(pod_set.node_selector)):
        return KeptOff("selector")
    if pod_set.affinity and not any(term and all_hold(term, machine.labels) for term in pod_set.affinity):
        return KeptOff("affinity")
    return None
