"""gpol decides for Kueue: Workloads are followed, what is learned of them is decided and committed, and then carried out.

    a look at a workload     facts --> decisions --> journal          in one step, without waiting for anything
    a write to a workload    what the journal wants, and the workload does not show yet

Both start from the workload as it is, whenever it or what is wanted of it has changed. So nothing depends on how often, in which order or
through which restart they come about. A name comes into the queue of writes after its decision was committed; one that stands there already
is not written to while anything is decided that the journal has not taken.
"""

import asyncio

from ....engine.events import WorkloadAdmitted, WorkloadEvicted
from ...kubernetes.api import Api
from ...kubernetes.nodes import follows_nodes
from ...kubernetes.object_events import EventWriter
from ...kubernetes.resource_names import names_in_cluster
from ...live.decider import LiveDecider
from ...live.deciding_changes import keep_looking
from ...live.observer import Observer, Unobserved
from .carrying_out import CarryingOut
from .check_status import CheckStatus
from .deciding import Deciding
from .followed import FollowedCluster
from .occupancy import Occupancy
from .protocol import CONTROLLER
from .telling import AskWhy, Telling

WRITERS = 8
"""How many writes are under way at once."""


class KueueDecisions:
    """Follows the Workloads of a cluster and decides about them.

    `check` is the name of gpol's AdmissionCheck, `gpu` what the policy's resource `gpu` is called in the cluster. `ask_why` says why
    workloads wait; without it their checks do not.
    """

    def __init__(
        self,
        api: Api,
        decider: LiveDecider,
        check: str,
        gpu: str = "nvidia.com/gpu",
        follow_pods: bool = True,
        events: EventWriter | None = None,
        observer: Observer | None = None,
        ask_why: AskWhy | None = None,
    ) -> None:
        observed = observer if observer is not None else Unobserved()
        self.decider = decider
        self.cluster = FollowedCluster(api, check)
        self.deciding = Deciding(self.cluster, decider, names_in_cluster(gpu), observed)
        self.occupancy = Occupancy(self.deciding, api, follow_pods)
        self.status = CheckStatus(api, check, decider.stamps)
        self.carrying_out = CarryingOut(self.deciding, self.occupancy, api, self.status, observed)
        self.events = events if events is not None else EventWriter(api, CONTROLLER, CONTROLLER)
        self.telling = Telling(self.cluster, decider, self.events, self.carrying_out, ask_why)

    @property
    def problems(self) -> dict[str, str]:
        """About which workloads gpol cannot decide, or to which it cannot write, and why, by name."""
        return {**self.carrying_out.problems, **self.deciding.problems}

    async def run(self) -> None:
        """Decide and write until cancelled. Raises JournalError as soon as the journal takes nothing any more."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.status.follow())
            await self.status.checks.synced()  # whose check it is has to be known before anything is written to it
            await self.cluster.run(tasks, with_nodes=follows_nodes(self.deciding.coming_graph))
            self.begin()
            for each in (
                keep_looking(self.cluster, self.decider, self.take_a_look),
                self.status.keep_active(),
                self.events.run(),
                self.telling.ask_why(),
            ):
                tasks.create_task(each)
            for _ in range(WRITERS):
                tasks.create_task(self.carrying_out.writes.work(self.carrying_out.carry_out))
                tasks.create_task(self.carrying_out.stops.work(self.carrying_out.see_stopped))

    def begin(self) -> None:
        """Take in what was there before this program started, once all was listed. Who is gone meanwhile is in no list."""
        for name in self.occupancy.begin():
            self.carrying_out.stops.add(name)
        self.cluster.look_at_all(self.decider.core.view.names())

    def take_a_look(self) -> None:
        """Take in all that has changed, decide, commit, and name what is to be written."""
        keys, nodes = self.cluster.take_changed()
        committed = self.deciding.look(keys, nodes)
        for name in self.occupancy.note(keys, committed):
            self.carrying_out.stops.add(name)
        for key in keys:
            if self.cluster.workload(key) is None:
                self.deciding.desired.forget(key)
            self.carrying_out.writes.add(key)
        for name in (event.workload for _, event in committed if isinstance(event, WorkloadAdmitted | WorkloadEvicted)):
            self.carrying_out.writes.add(name)
            self.carrying_out.writes.add(self.cluster.slices.last(name) or name)
        if committed:
            self.telling.tell(committed)
