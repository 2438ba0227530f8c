"""What passes did beside moving pods: who was evicted and for whom, and who was let in."""

from collections.abc import Mapping
from typing import NamedTuple

from ...event_parts import EvictionKind
from ...workload import Workload


class PassEviction(NamedTuple):
    """Why a pod was evicted, and for which workload of the session (-1: for none)."""

    kind: EvictionKind
    workload: int


class PassesDone(NamedTuple):
    """The evicted pods, by their numbers; and the workloads that wait and are let in, by their numbers: their pods may be created."""

    evictions: Mapping[int, PassEviction]
    let_in: frozenset[int] = frozenset()


def is_let_in(workload: Workload) -> bool:
    """Whether a waiting workload was let in by the last cycle that looked at it: it stays so."""
    return workload.deferred is not None and workload.deferred.outcome in ("let in", "preempting", "deferred")
