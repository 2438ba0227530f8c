"""Pods and workloads as passes see them: each pod by itself, workloads as trees of groups with a minimum each."""

from dataclasses import dataclass
from enum import IntEnum

from ...event_parts import PodSet

NO_NODE = -1
"""The node of a pod that has none."""

PodAmounts = tuple[int, ...]
"""An amount of each resource of a session, in the order of `Session.resources`, in the smallest unit."""


class PodStatus(IntEnum):
    """Where a pod is between its submission and its end.

    Names elsewhere: KAI calls `PROMISED` Pipelined, `PLACED` Binding, `STOPPING` Releasing; Volcano calls `RESERVED` Allocated and `PLACED`
    Binding or Bound.
    """

    WAITING = 0
    """Has no node."""
    PROMISED = 1
    """Gets its node once pods that stop there are gone."""
    RESERVED = 2
    """Keeps room on its node, but its workload does not start yet."""
    PLACED = 3
    """Starts on its node with this cycle."""
    RUNNING = 4
    """Runs on its node."""
    STOPPING = 5
    """Was told to stop, and still takes its room."""
    DONE = 6
    """Is over: it takes no room."""
    STUCK = 7
    """Was told to stop and does not: it takes its room, and nobody counts on its end (KAI: StuckInReleasing)."""


HOLDING = frozenset({PodStatus.PROMISED, PodStatus.RESERVED, PodStatus.PLACED, PodStatus.RUNNING})
"""Statuses in which a pod counts as held by its workload: it is charged to its queue."""

ON_NODE = frozenset({PodStatus.RESERVED, PodStatus.PLACED, PodStatus.RUNNING, PodStatus.STOPPING, PodStatus.STUCK})
"""Statuses in which a pod takes room of its node now."""


@dataclass(frozen=True, slots=True)
class SessionGroup:
    """A group of a workload: a leaf has pods, and needs `minimum` of them; an inner group needs `minimum` of its `children`.

    `within` and `near` are levels of the session's topologies, as (topology, level): the pods stand in one domain of that level, or
    should; one below 0 is a topology or level that there is not. Group 0 of a workload is the whole of it; parents stand before children.
    """

    name: str
    parent: int
    children: tuple[int, ...]
    minimum: int
    within: tuple[int, int] | None = None
    near: tuple[int, int] | None = None


@dataclass(slots=True)
class Pod:
    """One pod: `number` is its index in the session, `workload` and `group` (a leaf) whose it is. `pod_set` says what nodes it may have.

    `leaving` are other nodes where it still takes room until it has stopped there: those of a pod that moves. `overpaid` is how many times
    too often its room was given back to its queue.
    """

    number: int
    name: str
    workload: int
    group: int
    requests: PodAmounts
    pod_set: PodSet
    status: PodStatus = PodStatus.WAITING
    node: int = NO_NODE
    priority: int = 0
    created: int = 0
    leaving: tuple[int, ...] = ()
    overpaid: int = 0


@dataclass(frozen=True, slots=True)
class SessionWorkload:
    """A workload: the index of its queue (-1: none), its groups and the numbers of its pods, in order.

    `created` and `started` are in microseconds (None: it never ran); `preemptible`: it may be evicted.
    """

    number: int
    name: str
    queue: int
    priority: int
    preemptible: bool
    created: int
    started: int | None
    groups: tuple[SessionGroup, ...]
    pods: tuple[int, ...]
