"""gpol decides for Volcano: PodGroups are followed, what is learned of them is decided and committed, and the extender answers by that.

    a look at a PodGroup     facts --> decisions --> journal          in one step, without waiting for anything
    a question of Volcano    answered from what is in the journal, and from nothing else

Nothing is written to PodGroups: Volcano's scheduler asks, and carries out what it is told. Events tell people what was decided.
"""

import asyncio
from collections.abc import Iterable

from ...kubernetes.api import Api
from ...kubernetes.nodes import follows_nodes
from ...kubernetes.object_events import EventWriter
from ...kubernetes.resource_kinds import FIELD_MANAGER
from ...kubernetes.resource_names import names_in_cluster
from ...live.decider import LiveDecider, Numbered
from ...live.deciding_changes import keep_looking
from ...live.decision_event import ToldDecision, decision_event
from ...live.observer import Observer, Unobserved
from ..extender.committed_answers import CommittedAnswers
from .deciding_pod_groups import DecidingPodGroups
from .followed_pod_groups import FollowedPodGroups
from .volcano_resources import POD_GROUP


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
        self.deciding = DecidingPodGroups(self.cluster, decider, names_in_cluster(gpu), observer if observer is not None else Unobserved())
        self.answers = CommittedAnswers(decider.core, self.deciding.evicted.now())
        self.events = events if events is not None else EventWriter(api, FIELD_MANAGER, FIELD_MANAGER)

    @property
    def problems(self) -> dict[str, str]:
        """About which PodGroups gpol cannot decide, and why, by name."""
        return dict(self.deciding.problems)

    async def run(self) -> None:
        """Decide until cancelled. Raises JournalError as soon as the journal takes nothing any more; nothing is to be answered then."""
        async with asyncio.TaskGroup() as tasks:
            await self.cluster.run(tasks, with_nodes=follows_nodes(self.deciding.coming_graph))
            self.begin()
            for each in (keep_looking(self.cluster, self.decider, self.take_a_look), self.events.run()):
                tasks.create_task(each)

    def begin(self) -> None:
        """Take in what was there before this program started, once all was listed. Who is gone meanwhile is in no list."""
        self.cluster.look_at_all(self.decider.core.view.names())

    def take_a_look(self) -> None:
        """Take in all that has changed, decide and commit; only then are questions answered by it."""
        committed = self.deciding.look(*self.cluster.take_changed())
        self.answers.take(committed, self.deciding.evicted.now())
        self._tell(committed)

    def _tell(self, committed: Iterable[Numbered]) -> None:
        """Tell what was decided, by an Event on each PodGroup."""
        for seq, event in committed:
            seen = self.cluster.pod_group(event.workload) if isinstance(event, ToldDecision) else None
            if isinstance(event, ToldDecision) and seen is not None:
                self.events.add(decision_event(POD_GROUP, seen.uid, self.decider.identity, seq, event))
