"""gpol decides for Volcano: PodGroups are followed, what is learned of them is decided and committed, and the extender answers by that.

    a look at a PodGroup     facts --> decisions --> journal          in one step, without waiting for anything
    a question of Volcano    answered from what is in the journal, and from nothing else

Nothing is written to PodGroups: Volcano's scheduler asks, and carries out what it is told. Events tell people what was decided.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Literal

from ....engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadRejected
from ...kubernetes.api import Api
from ...kubernetes.nodes import follows_nodes, names_in_cluster
from ...kubernetes.object_events import EventWriter, ObjectEvent
from ...kubernetes.resource_kinds import FIELD_MANAGER
from ...live.decider import LiveDecider, Numbered
from ...live.observer import Observer, Unobserved
from ...live.wording import told
from ..extender.committed_answers import CommittedAnswers
from .deciding_pod_groups import DecidingPodGroups
from .followed_pod_groups import FollowedPodGroups
from .volcano_resources import POD_GROUP

_ACTIONS = {WorkloadAdmitted: "Admit", WorkloadEvicted: "Evict", WorkloadRejected: "TurnAway"}
_REASONS = {WorkloadAdmitted: "GpolAdmitted", WorkloadEvicted: "GpolEvicted", WorkloadRejected: "GpolTurnedAway"}


class VolcanoDecisions:
    """Follows the PodGroups of a cluster and decides about them. `answers` is what the extender answers from.

    `gpu` is what the policy's resource `gpu` is called in the cluster.
    """

    def __init__(
        self,
        api: Api,
        decider: LiveDecider,
        gpu: str = "nvidia.com/gpu",
        events: EventWriter | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.decider = decider
        self.cluster = FollowedPodGroups(api)
        self.answers = CommittedAnswers(decider.core)
        self.deciding = DecidingPodGroups(self.cluster, decider, names_in_cluster(gpu), observer if observer is not None else Unobserved())
        self.events = events if events is not None else EventWriter(api, FIELD_MANAGER, FIELD_MANAGER)

    @property
    def problems(self) -> dict[str, str]:
        """About which PodGroups gpol cannot decide, and why, by name."""
        return dict(self.deciding.problems)

    async def run(self) -> None:
        """Decide until cancelled. Raises JournalError as soon as the journal takes nothing any more; nothing is to be answered then."""
        async with asyncio.TaskGroup() as tasks:
            await self.cluster.run(tasks, with_nodes=follows_nodes(self.deciding.graph))
            self.begin()
            for each in (self._decide(), self.events.run()):
                tasks.create_task(each)

    def begin(self) -> None:
        """Take in what was there before this program started, once all was listed. Who is gone meanwhile is in no list."""
        for name in self.decider.core.view.names():
            self.cluster.look_at(name)

    async def _decide(self) -> None:
        """Decide whenever something has changed, or time alone may change a decision."""
        while True:
            self.cluster.woken.clear()
            if not self.cluster.has_changed:
                wake = self.decider.next_wake()
                seconds = None if wake is None else max(0.0, (wake - self.decider.stamps.now()) / 1_000_000)
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await self.cluster.woken.wait()
            self.take_a_look()
            await asyncio.sleep(0)

    def take_a_look(self) -> None:
        """Take in all that has changed, decide and commit; only then are questions answered by it."""
        committed = self.deciding.look(*self.cluster.take_changed())
        self.answers.take(committed)
        self._tell(committed)

    def _tell(self, committed: Iterable[Numbered]) -> None:
        """Tell what was decided, by an Event on each PodGroup."""
        for seq, event in committed:
            if not isinstance(event, WorkloadAdmitted | WorkloadEvicted | WorkloadRejected):
                continue
            seen = self.cluster.pod_group(event.workload)
            if seen is not None:
                namespace, _, name = event.workload.partition("/")
                mark = f"{self.decider.identity[:12]}.{seq}"
                kind: Literal["Normal", "Warning"] = "Normal" if isinstance(event, WorkloadAdmitted) else "Warning"
                note, action, reason = f"event {seq}: {told(event)}", _ACTIONS[type(event)], _REASONS[type(event)]
                self.events.add(ObjectEvent(POD_GROUP, namespace, name, seen.uid, mark, event.time, action, reason, note, kind))
