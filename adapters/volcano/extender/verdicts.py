"""What the extender has to know of gpol's decisions, as a protocol, and the reasons of its answers.

Whoever answers knows nothing of HTTP, and whoever serves knows nothing of cores.
"""

from enum import StrEnum
from typing import NamedTuple, Protocol


class Reason(StrEnum):
    """Why an answer is as it is. Those in `ODD` are told in the log, since somebody may have to do something."""

    ADMITTED = "Admitted"
    WAITING = "Waiting"
    EVICTED = "Evicted"
    RUNS_ON = "RunsOn"
    SOMEBODY_ADMITTED = "SomebodyAdmitted"
    NOBODY_ADMITTED = "NobodyAdmitted"
    NOT_DECIDING = "NotDeciding"
    NOT_SAID = "NotSaid"
    UNKNOWN_POD_GROUP = "UnknownPodGroup"
    UNKNOWN_QUEUE = "UnknownQueue"
    ANOTHER_UID = "AnotherUid"
    EVICTOR_NOT_ADMITTED = "EvictorNotAdmitted"
    NEVER_ADMITTED = "NeverAdmitted"
    ANOTHER_QUEUE = "AnotherQueue"
    TOO_LONG = "TooLong"


ODD = {
    Reason.NOT_DECIDING: "gpol does not decide at the moment: nothing is enqueued, allocated or evicted until it does",
    Reason.NOT_SAID: "the request does not say what the answer depends on; compare the release of Volcano with docs/volcano.md",
    Reason.UNKNOWN_POD_GROUP: "gpol does not know this PodGroup; if that lasts, look why: it may have no minResources",
    Reason.UNKNOWN_QUEUE: "the policy has no such queue: nothing is allocated in it; name a queue of the policy in the PodGroup",
    Reason.ANOTHER_UID: "gpol knows an earlier PodGroup of this name, or the request has no uid; if that lasts, look at gpol's watch",
    Reason.EVICTOR_NOT_ADMITTED: "its pods ask for room, and gpol has not admitted it: it evicts nobody; it was enqueued without gpol",
    Reason.NEVER_ADMITTED: "it runs, and gpol has never admitted it: it is not evicted, and was enqueued without gpol",
    Reason.TOO_LONG: "the other victims do not fit into an answer: Volcano reads 10 MB; it asks for them again",
}
"""The reasons that are told, with what they mean and what to do."""


class ExtenderVerdict(NamedTuple):
    """Yes or no, and why."""

    yes: bool
    reason: Reason


class VolcanoAnswers(Protocol):
    """What gpol has decided, to be read. Every answer comes from decisions that are in the journal, never from those that are not yet.

    PodGroups are named `NAMESPACE/NAME`, queues as in Volcano.
    """

    def enqueueable(self, pod_group: str, uid: str) -> ExtenderVerdict:
        """Whether a PodGroup is admitted. `uid` is the one that Volcano knows, empty where it says none."""

    def overused(self, queue: str) -> ExtenderVerdict:
        """Whether nothing may be allocated in a queue."""

    def evictable(self, evictor: str, evictee: str, in_one_queue: bool) -> ExtenderVerdict:
        """Whether a pod of one PodGroup may evict a pod of another one; with `in_one_queue`, only if both are in the same queue."""


class NotDeciding:
    """The answers while gpol does not decide: nothing is enqueued, allocated or evicted."""

    def enqueueable(self, pod_group: str, uid: str) -> ExtenderVerdict:
        """No."""
        return ExtenderVerdict(False, Reason.NOT_DECIDING)

    def overused(self, queue: str) -> ExtenderVerdict:
        """Yes."""
        return ExtenderVerdict(True, Reason.NOT_DECIDING)

    def evictable(self, evictor: str, evictee: str, in_one_queue: bool) -> ExtenderVerdict:
        """No."""
        return ExtenderVerdict(False, Reason.NOT_DECIDING)
