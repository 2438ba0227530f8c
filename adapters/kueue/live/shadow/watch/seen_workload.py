"""A Workload of a cluster where Kueue decides by itself: what it asks for, what it holds, and what Kueue says about it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ......engine.event_parts import CheckState, Placement
from ......engine.facts import WorkloadAdopted, WorkloadSubmitted
from ......engine.units import SECOND, UnitError, parse_time
from ......engine.workload import Workload
from .....kubernetes.api import Plain
from .....kubernetes.plain_parts import part_of, rows_of
from ....problems import Findings
from ....read.fields import Fields
from ....read.objects import KueueWorkload
from ....read.topology.refused_places import refuse_places
from ....read.workloads import workload as read_workload
from ...protocol import SLICE_REPLACED

MOST_AHEAD = 300 * SECOND
"""By how much the cluster's clock may be ahead of this program's. A time beyond that is a mistake, and counts for nothing."""

PREEMPTED = "Preempted"
"""Kueue's reason for an eviction that its scheduler has decided; all other reasons come from elsewhere."""

_WAITS_FOR_VICTIMS, _PREEMPTS = "WaitingForPreemptedWorkloads", "Pending the preemption of "
"""How Kueue says that a workload waits for those that it preempts: its reason and, in releases without that, its message."""

QuotaStanding = Literal["gone", "finished", "waits", "holds", "stopping"]
"""What a workload has of quota. `stopping`: Kueue has told it to stop, and it holds its quota until it has stopped."""

_PREEMPTOR = re.compile(r"\(UID: ([^,()\s]+)[,)]")
"""Where Kueue names the workload for which another one has to go."""


@dataclass(frozen=True, slots=True)
class KueueWords:
    """What Kueue says of a workload in its conditions: reasons, which are tokens, and messages, which are for people.

    `evicted` is why it was told to stop last, as long as it did not get quota again; `preempted` why it was preempted, for the
    workload with the uid `preemptor`; `waits` why it has no quota; `finished` how it ended. Each is empty where Kueue says nothing.
    """

    evicted: str = ""
    evicted_message: str = ""
    preempted: str = ""
    preemptor: str = ""
    waits: str = ""
    waits_message: str = ""
    reserved_message: str = ""
    finished: str = ""

    def name_another(self, uid: str, reason: str | None) -> bool:
        """Whether Kueue says that a workload was preempted for another one than that with this uid, or for another reason."""
        is_preempted = self.evicted == PREEMPTED
        return is_preempted and (bool(self.preemptor and self.preemptor != uid) or bool(self.preempted and self.preempted != reason))


@dataclass(frozen=True, slots=True)
class WatchedWorkload:
    """A Workload as it was read. `asked` is None where gpol cannot represent it, for the reason in `problem`.

    `written` is the latest time that its metadata and its conditions name, in microseconds.
    """

    asked: KueueWorkload | None
    problem: str
    words: KueueWords
    written: int | None


def read_watched(plain: Plain) -> WatchedWorkload:
    """Read a Workload."""
    found = Findings()
    metadata, status = part_of(plain, "metadata"), part_of(plain, "status")
    namespace, name = str(metadata.get("namespace", "")), str(metadata.get("name", ""))
    found.begin("Workload", f"{namespace}/{name}", "")
    asked = read_workload(namespace, name, "", Fields(plain, "", found))
    refuse_places(asked, found)
    problem = str(found.problems[0]) if found.problems else ""
    conditions = {str(each.get("type", "")): each for each in rows_of(status, "conditions")}
    times = [_moment(metadata.get("creationTimestamp")), *(_moment(each.get("lastTransitionTime")) for each in conditions.values())]
    known = [time for time in times if time is not None]
    return WatchedWorkload(None if problem else asked, problem, _words(conditions), max(known, default=None))


def _words(conditions: Mapping[str, Plain]) -> KueueWords:
    evicted, evicted_message = _said(conditions, "Evicted")
    preempted, preempted_message = _said(conditions, "Preempted")
    waits, waits_message = _said(conditions, "QuotaReserved", "False")
    preemptor = _PREEMPTOR.search(preempted_message) or _PREEMPTOR.search(evicted_message if evicted == PREEMPTED else "")
    return KueueWords(
        evicted=evicted,
        evicted_message=evicted_message,
        preempted=preempted,
        preemptor=preemptor[1] if preemptor is not None and preemptor[1] != "UNKNOWN" else "",
        waits=waits,
        waits_message=waits_message,
        reserved_message=_said(conditions, "QuotaReserved")[1],
        finished=_said(conditions, "Finished")[0],
    )


def _said(conditions: Mapping[str, Plain], kind: str, status: str = "True") -> tuple[str, str]:
    """The reason and the message of a condition that has a status; both empty where it does not."""
    found = conditions.get(kind)
    if found is None or found.get("status") != status:
        return "", ""
    return str(found.get("reason") or kind), str(found.get("message") or "")


def _moment(said: object) -> int | None:
    try:
        return parse_time(said) if isinstance(said, str) else None
    except UnitError:
        return None


# --- in terms of a policy -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeenWorkload:
    """A Workload at one moment, in terms of a policy.

    `submitted` is its submission; None where gpol cannot represent it or Kueue does not count it. `held` is why Kueue does not queue it,
    empty where it does. `placements` are what it holds in `queue`, reserved at `since`; none where it holds nothing.
    """

    key: str
    uid: str
    standing: QuotaStanding
    words: KueueWords = KueueWords()
    submitted: WorkloadSubmitted | None = None
    held: str = ""
    checks: Mapping[str, CheckState] | None = None
    reclaimable: Mapping[str, int] | None = None
    requeued: int | None = None
    queue: str = ""
    placements: tuple[Placement, ...] = ()
    since: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether it neither waits nor runs any more."""
        return self.standing in ("gone", "finished")

    @property
    def was_preempted(self) -> bool:
        """Whether Kueue's scheduler has told it to stop, and it did not get quota since."""
        return self.words.evicted == PREEMPTED

    @property
    def was_refused(self) -> bool:
        """Whether Kueue's scheduler has found no room for it, so that it waits until there may be some.

        One that waits for its victims was not refused, nor one that has just stopped: of that one Kueue says why it was evicted.
        """
        words = self.words
        has_stopped = bool(words.evicted_message) and words.waits_message == words.evicted_message
        preempts = words.waits == _WAITS_FOR_VICTIMS or _PREEMPTS in words.waits_message
        return self.standing == "waits" and bool(words.waits) and not has_stopped and not preempts

    @property
    def is_replaced(self) -> bool:
        """Whether it is over because a later slice of its job got quota in its place."""
        return self.standing == "finished" and self.words.finished == SLICE_REPLACED

    def adopted(self, time: int, evicting: bool) -> WorkloadAdopted:
        """The fact that it holds what Kueue gave it."""
        since = time if self.since is None else min(self.since, time)
        return WorkloadAdopted(time=time, workload=self.key, queue=self.queue, since=since, evicting=evicting, placements=self.placements)

    def in_namespace(self, labels: Mapping[str, str]) -> "SeenWorkload":
        """The same, once its namespace has these labels."""
        if self.submitted is None or self.submitted.namespace_labels == labels:
            return self
        return replace(self, submitted=self.submitted.model_copy(update={"namespace_labels": dict(sorted(labels.items()))}))


def gone(key: str, uid: str) -> SeenWorkload:
    """A Workload that was deleted."""
    return SeenWorkload(key, uid, "gone")


def standing_of(watched: WatchedWorkload) -> QuotaStanding:
    """What a Workload has of quota, as its object says."""
    if watched.words.finished:
        return "finished"
    admission = watched.asked.admission if watched.asked is not None else None
    if admission is None:
        return "waits"
    return "stopping" if admission.evicting else "holds"


def core_standing(known: Workload | None) -> QuotaStanding:
    """What a workload has of quota, as a core has it."""
    if known is None:
        return "gone"
    if known.admitted is None:
        return "waits"
    return "stopping" if known.evicting else "holds"


def holds_the_same(known: Workload, placements: tuple[Placement, ...]) -> bool:
    """Whether a workload that runs in a core holds what Kueue gave it: as many pods, on the same flavors.

    Resources of which it uses nothing count for nothing: Kueue may name a flavor for them or not.
    """
    given = {assignment.pod_set: assignment for assignment in known.assignments}
    left = {pod_set.name: rest for pod_set, rest in known.pod_sets()}
    for placement in placements:
        flavors = {resource: placement.flavors[resource] for resource, amount in placement.usage.items() if amount}
        assignment = given.get(placement.pod_set)
        if assignment is None and not flavors:
            continue
        if assignment is None or min(assignment.count, left.get(placement.pod_set, 0)) != placement.count:
            return False
        if any(assignment.flavors.get(resource) != flavor for resource, flavor in flavors.items()):
            return False
    return True
