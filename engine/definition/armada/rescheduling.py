"""A round of Armada: evict whoever may be evicted, let all have nodes in their order, and see what that changes.

Two parts. First all are evicted that are preemptible and whose queue has more than it is protected in; those evicted and those that wait
get nodes, in one order, and those evicted only the node that they had. Pods of a higher priority take no notice of lower ones, so nodes may
be oversubscribed then. So, second, whoever is at an oversubscribed level is evicted there, and returns in order where there is room.

As in Armada, that may leave a node with more than it has: a pod that started in the first part comes after those of its queue that ran,
also after lower ones, and takes no notice of them either. The next round then lets all stay there, and nobody come.

Armada: `PreemptingQueueScheduler.Schedule` in internal/scheduler/scheduling/preempting_queue_scheduler.go, eviction.go, gang_scheduler.go.
What it preempts is over there; here it stops, and whether it waits again is not decided here.
Left out: rates, which go by the clock, pools and away nodes, prices, floating resources, and the optimiser, which is off by default.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from ..session.pods import HOLDING, NO_NODE, Pod, PodStatus
from ..session.session import Session
from .armada_queues import ArmadaQueue, active_queues, add, cap_of, class_caps, class_of, cost_of, exceeds, together
from .armada_settings import ArmadaSettings
from .gang_line import ArmadaGang, GangLine, Likeness, gangs_of, likeness, next_line
from .level_room import UNDISTURBED, RoomByLevel
from .node_choice import ChosenNode, NodeChoice

ArmadaRefusal = Literal["no room", "above the cap of its priority class", "enough started in this round"]
"""Why a gang did not start."""


@dataclass(frozen=True, slots=True)
class ArmadaRound:
    """What a round went by: its queues with their shares; for evicted pods whose room was given away, the pod that got it; and workloads
    that had a turn, or were passed over, and did not start, with the reason. What was decided is what differs in the session. Nodes that it
    left with more than they have are `oversubscribed`.
    """

    queues: tuple[ArmadaQueue, ...]
    displaced_by: dict[int, int]
    refusals: dict[int, ArmadaRefusal]
    oversubscribed: tuple[int, ...]


def reschedule(session: Session, settings: ArmadaSettings) -> ArmadaRound:
    """Play a round: pods that start are `PLACED`, pods that are evicted `STOPPING` on the nodes where they run."""
    return _Rescheduling(session, settings).run()


class _Rescheduling:
    def __init__(self, session: Session, settings: ArmadaSettings) -> None:
        self.session = session
        self.settings = settings
        self.cost = cost_of(session, settings)
        self.queues = active_queues(session, settings, self.cost)
        self.caps = class_caps(session, settings, self.cost)
        self.round_cap = cap_of(session, self.cost, settings.round_cap)
        self.room = RoomByLevel(session)
        order = [(session.resources.index(resource), size) for resource, size in settings.packing if resource in session.resources]
        self.nodes = NodeChoice(session, self.room, order)
        self.came = tuple((pod.status, pod.node) for pod in session.pods)
        self.start = session.mark()
        self.displaced_by: dict[int, int] = {}
        self.refusals: dict[int, ArmadaRefusal] = {}

    def run(self) -> ArmadaRound:
        """Both parts of the round."""
        evicted = self._evict(self._unprotected())
        self._give_nodes(evicted, with_new=True)
        again = self._evict(self._oversubscribing())
        if again:
            self._give_nodes(again, with_new=False)
        oversubscribed = tuple(node.number for node in self.session.nodes if self.room.oversubscribed(node.number))
        self._end()
        return ArmadaRound(tuple(self.queues), self.displaced_by, self.refusals, oversubscribed)

    # --- who is evicted ---------------------------------------------------------------------------------------------

    def _unprotected(self) -> list[Pod]:
        """The pods that are evicted in the first part."""
        losing = [queue.number for queue in self.queues if not self._is_protected(queue)]
        going = [workload for workload in self.session.workloads if workload.preemptible and workload.queue in losing]
        return [pod for workload in going for pod in self.session.pods_of(workload, *HOLDING)]

    def _is_protected(self, queue: ArmadaQueue) -> bool:
        share = queue.share.uncapped if self.settings.protects_uncapped else max(queue.share.capped, queue.share.fair)
        return self.cost.of(self.session.held[queue.number]) <= self.settings.protected * share

    def _oversubscribing(self) -> list[Pod]:
        """The pods that are evicted in the second part: those at oversubscribed levels of their nodes."""
        found = []
        for node in self.session.nodes:
            levels = self.room.oversubscribed(node.number)
            for pod in self.session.pods_on(node.number):
                workload = self.session.workload_of(pod)
                if pod.status in HOLDING and workload.queue >= 0 and workload.preemptible and self.room.level_of(pod) in levels:
                    found.append(pod)
        return found

    def _evict(self, pods: Sequence[Pod]) -> list[Pod]:
        """Evict pods, and with each the others of its gang that are on nodes."""
        workloads = [self.session.workloads[number] for number in sorted({pod.workload for pod in pods})]
        gone = [pod for workload in workloads for pod in self.session.pods_of(workload, *HOLDING)]
        for pod in gone:
            self.room.move(pod, PodStatus.STOPPING, pod.node)
        return gone

    # --- who gets a node --------------------------------------------------------------------------------------------

    def _give_nodes(self, evicted: Sequence[Pod], with_new: bool) -> None:
        """Let gangs have nodes, each when it has its turn."""
        numbers = frozenset(pod.number for pod in evicted)
        offered = self._in_order_of_return(numbers) if with_new else []
        hopeless: set[Likeness] = set()
        lines = [GangLine(queue, gangs_of(self.session, queue.number, numbers, with_new), hopeless) for queue in self.queues]
        started = [0] * len(self.session.resources)
        while (line := next_line(lines, self.session.held, self.cost, self.settings.large_first)) is not None:
            gang = line.head()
            assert gang is not None
            line.take()
            if any(pod.status is PodStatus.DONE for pod in gang.pods):
                continue  # its room was given away
            refusal = self._refusal(gang, started) or self._place_gang(gang, numbers, offered)
            if refusal is None:
                for pod in gang.pods:
                    if pod.number not in numbers:
                        add(started, pod.requests)
                continue
            if not gang.returns:
                self.refusals[gang.workload.number] = refusal
            if refusal == "enough started in this round":
                for each in lines:
                    each.only_returning()
            alone = len(gang.pods) == 1 and gang.workload.groups[0].within is None
            if refusal == "no room" and alone and not gang.returns:
                hopeless.add(likeness(gang.workload, gang.pods[0]))
        for gang in [gang for line in lines for gang in line.passed]:
            self.refusals[gang.workload.number] = "no room"

    def _in_order_of_return(self, evicted: Collection[int]) -> list[Pod]:
        """The evicted pods of whole gangs, in the order in which they would return if nobody else came."""
        held = [list(amounts) for amounts in self.session.held]
        lines = [GangLine(queue, _returning(gangs_of(self.session, queue.number, evicted, True)), ()) for queue in self.queues]
        found: list[Pod] = []
        while (line := next_line(lines, held, self.cost, self.settings.large_first)) is not None:
            gang = line.head()
            assert gang is not None
            line.take()
            add(held[line.queue.number], gang.amounts)
            found += gang.pods
        return found

    def _refusal(self, gang: ArmadaGang, started: Sequence[int]) -> ArmadaRefusal | None:
        """Why a gang is not even tried; those that return are."""
        if gang.returns:
            return None
        if exceeds(started, self.round_cap):
            return "enough started in this round"
        cap = self.caps.get(class_of(gang.workload))
        if cap is not None and exceeds(together([self._held_in_class(gang), gang.amounts], len(cap)), cap):
            return "above the cap of its priority class"
        return None

    def _held_in_class(self, gang: ArmadaGang) -> tuple[int, ...]:
        """What the gang's queue holds in its priority class."""
        alike = [each for each in self.session.workloads if each.queue == gang.workload.queue and class_of(each) == class_of(gang.workload)]
        amounts = [pod.requests for each in alike for pod in self.session.pods_of(each, *HOLDING)]
        return together(amounts, len(self.session.resources))

    def _place_gang(self, gang: ArmadaGang, evicted: Collection[int], offered: Sequence[Pod]) -> ArmadaRefusal | None:
        """Give all pods of a gang nodes, or none; of the domains in which it may be, the one where the least priorities are disturbed."""
        best: tuple[int, frozenset[int] | None] | None = None
        mark = self.session.mark()
        for among in self._domains(gang):
            displaced = self._place_pods(gang, evicted, offered, among)
            if displaced is None:
                continue
            disturbed, displaced_by = displaced
            if among is None or disturbed == len(gang.pods) * self.room.priority_of(UNDISTURBED):
                self.displaced_by.update(displaced_by)
                return None
            if best is None or disturbed < best[0]:
                best = disturbed, among
            self.room.undo(mark)
        if best is None:
            return "no room"
        placed = self._place_pods(gang, evicted, offered, best[1])
        assert placed is not None
        self.displaced_by.update(placed[1])
        return None

    def _domains(self, gang: ArmadaGang) -> list[frozenset[int] | None]:
        """The sets of nodes among which a gang may be; None: any."""
        within = gang.workload.groups[0].within
        if within is None or gang.returns:
            return [None]
        tree, level = self.session.trees[within[0]], within[1]
        numbers = {node.name: node.number for node in self.session.nodes}
        found: dict[int, list[int]] = {domain: [] for domain in tree.levels[level]}
        for leaf in tree.lowest:
            domain = leaf
            while tree.level_of(domain) > level:
                domain = tree.domains[domain].parent
            found[domain] += [numbers[name] for name in tree.domains[leaf].machines if name in numbers]
        return [frozenset(found[domain]) for domain in tree.levels[level]]

    def _place_pods(
        self, gang: ArmadaGang, evicted: Collection[int], offered: Sequence[Pod], among: frozenset[int] | None
    ) -> tuple[int, dict[int, int]] | None:
        """Give the pods of a gang nodes one by one: the sum of the priorities that each disturbs, and who displaced whom. None, and nothing
        changed, where one has no room."""
        mark = self.session.mark()
        disturbed = 0
        displaced_by: dict[int, int] = {}
        for pod in gang.pods:
            chosen = self._old_node(pod) if pod.number in evicted else self.nodes.choose(pod, offered, among)
            if chosen is None:
                self.room.undo(mark)
                return None
            for victim in chosen.displaced:
                for each in self._siblings(victim, offered):
                    self.room.move(each, PodStatus.DONE, each.node)
                    displaced_by[each.number] = pod.number
            ran = self.came[pod.number][0] in HOLDING
            self.room.move(pod, self.came[pod.number][0] if ran else PodStatus.PLACED, chosen.node)
            disturbed += self.room.priority_of(chosen.level)
        return disturbed, displaced_by

    def _old_node(self, pod: Pod) -> ChosenNode | None:
        """The node of an evicted pod, if it has room there at its level, or if the node had too little from the start."""
        level = self.room.level_of(pod)
        return ChosenNode(pod.node, level=level) if self.room.overfull[pod.node] or self.room.fits(pod, pod.node, level) else None

    def _siblings(self, victim: Pod, offered: Sequence[Pod]) -> list[Pod]:
        """A pod that is displaced, and the others of its gang that have not returned: a gang goes as a whole."""
        return [pod for pod in offered if pod.workload == victim.workload and pod.status is PodStatus.STOPPING]

    # --- what was decided -------------------------------------------------------------------------------------------

    def _end(self) -> None:
        """Who ran and has not returned stops; who came new and was evicted again waits on."""
        for pod in self.session.changed(self.start):
            status, node = self.came[pod.number]
            if status in HOLDING and pod.status in (PodStatus.STOPPING, PodStatus.DONE):
                self.room.move(pod, PodStatus.STOPPING, node)
            elif pod.status in (PodStatus.STOPPING, PodStatus.DONE):
                self.room.move(pod, PodStatus.WAITING, NO_NODE)


def _returning(gangs: Sequence[ArmadaGang]) -> list[ArmadaGang]:
    return [gang for gang in gangs if gang.returns]
