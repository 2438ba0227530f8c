"""Who may run in a cluster, and who of them is still to stop: what the workloads show, and what the journal says of the time before."""

from collections.abc import Iterable

from ....engine.events import WorkloadAdmitted, WorkloadEvicted
from ...kubernetes.api import Api
from ...kubernetes.reflector import Seen
from ...kubernetes.resource_kinds import POD
from ...live.decider import Numbered
from .deciding import Deciding
from .learned import was_carried_out
from .observed import Observed
from .place_selectors import nodes_in
from .protocol import WORKLOAD_UID, Mark
from .stopping import ChargedSlot, Places, usage_at_places, usage_of


class Occupancy:
    """Keeps `Places` in step with a cluster and the journal.

    With `follow_pods` a workload has stopped only once its pods have ended, and not as soon as Kueue counts none: Kueue does not count pods
    that are told to end, and these still hold their machines. After a restart nothing is known of the pods of a workload that was deleted,
    and taken in as such, before.
    """

    def __init__(self, deciding: Deciding, api: Api, follow_pods: bool) -> None:
        self._deciding, self._cluster, self._decider = deciding, deciding.cluster, deciding.decider
        self._api, self._follow_pods = api, follow_pods
        self.places = Places()

    def begin(self) -> list[str]:
        """Note who may run already, and whose pods may be left from before this program started. Return the names of the latter."""
        left = []
        for known in self._decider.core.view.workloads():
            seen = self._cluster.workload(known.name)
            is_there = seen is not None and seen.uid == known.fact.uid
            if seen is not None and is_there and self._may_run(known.name, seen):
                self._note_running(known.name, seen)
            elif seen is None or not is_there:
                left += self._note_past(known.name, known.fact.uid, self._decider.core.seq)
            elif not _is_over(seen):
                left += self._note_past(known.name, seen.uid, self._mark(seen))
        return left

    def note(self, keys: Iterable[str], events: Iterable[Numbered]) -> list[str]:
        """Note what has become of workloads that were looked at, and what was decided. Return those that may have stopped."""
        for _, event in events:
            if isinstance(event, WorkloadEvicted) and self.places.uid(event.workload) is not None:
                self.places.to_stop(event.workload, event.beneficiary)
        return [key for key in keys if self._note(key)]

    def _note(self, key: str) -> bool:
        seen = self._cluster.workload(key)
        if key in self._cluster.unsure:
            return False
        if seen is not None and self._may_run(key, seen):
            if self.places.uid(key) is None:
                self._note_running(key, seen)
            return False
        if self.places.uid(key) is None:
            return False
        if not _is_over(seen) and not self.places.is_stopping(key):
            self.places.to_stop(key, None)
        return True

    def _note_running(self, key: str, seen: Seen[Observed]) -> None:
        """Note what a workload holds that may run though this program has not let it: it did before, or another one has."""
        known = self._deciding.known(key)
        if known is not None and known.admitted is not None:
            graph = self._deciding.graph
            root = graph.nodes[graph.path(known.queue)[-1]].name
            usage: dict[ChargedSlot, int] = {(root, *graph.slot_name(slot)): amount for slot, amount in known.usage}
            self.places.let_run(key, seen.uid, usage | usage_at_places(known.assignments, known.fact.pod_sets))
        else:
            self._note_past(key, seen.uid, self._mark(seen))

    def _mark(self, seen: Seen[Observed]) -> int:
        """The event of this journal that was carried out last; 0 if none was."""
        mark = seen.value.mark
        return mark.seq if mark is not None and mark.journal == self._decider.identity else 0

    def _note_past(self, key: str, uid: str, mark: int) -> list[str]:
        """Note what a workload may still hold that was let run by event `mark` or before, and runs no more. Return its name then."""
        past = self._deciding.desired.past_run(key, mark)
        if past is None:
            return []
        self.places.let_run(key, uid, self.usage(past.admitted))
        self.places.to_stop(key, past.evicted.beneficiary if past.evicted is not None else None)
        return [key]

    def _may_run(self, key: str, seen: Seen[Observed]) -> bool:
        """Whether pods of a workload may run; those of a finished slice run on as long as the later slice is not told to stop them."""
        last = self._cluster.slices.last(key) if seen.value.is_replaced else None
        later = self._cluster.workload(last) if last is not None else None
        if later is None:
            return seen.value.may_run
        desired = self._deciding.desired.of(key, seen.uid, is_marked=seen.value.mark is not None)
        if desired is None or isinstance(desired.event, WorkloadAdmitted):
            return True
        is_told = was_carried_out(later.value, Mark(self._decider.identity, desired.seq))
        return isinstance(desired.event, WorkloadEvicted) and (later.value.may_run or not is_told)

    async def has_stopped(self, key: str) -> bool:
        """Whether nothing of a workload runs any more that Kueue no longer counts; it is noted. Raises ApiError."""
        uid, seen = self.places.uid(key), self._cluster.workload(key)
        if uid is None:
            return True
        if self._follow_pods and not _is_over(seen):
            pods = await self._api.labelled(POD, key.partition("/")[0], WORKLOAD_UID, uid)
            if any((pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed") for pod in pods):
                return False
        seen = self._cluster.workload(key)
        if key in self._cluster.unsure or (seen is not None and self._may_run(key, seen)):
            return True  # it was let run again meanwhile
        self.places.stopped(key)
        return True

    # --- what there is ----------------------------------------------------------------------------------------------

    def usage(self, decided: WorkloadAdmitted) -> dict[ChargedSlot, int]:
        """What an admission charges, by slot, and what it takes where its pods stand."""
        graph, known = self._deciding.graph, self._deciding.known(decided.workload)
        node = graph.doors.named.get(decided.queue)
        root = graph.path(node)[-1] if node is not None else 0
        charged = usage_of(decided.usage, graph.nodes[root].name)
        return charged | usage_at_places(decided.assignments, known.fact.pod_sets if known is not None else ())

    def exists(self, slot: ChargedSlot) -> int:
        """How much there is of a slot: what the cluster has or, in a forest, what its tree owns; or what a place has."""
        name, flavor, resource = slot
        graph = self._deciding.graph
        if isinstance(name, tuple):
            nodes = nodes_in(name, flavor, graph, self._deciding.nodes)
            return sum(node.capacity.get(resource, 0) for node in nodes)
        if (flavor, resource) not in graph.slot_names:
            return 0
        number = graph.slot_names.index((flavor, resource))
        view = self._decider.core.view
        if not graph.settings.forest:
            return view.capacity(number)
        return view.owned(next((place for place, node in enumerate(graph.nodes) if node.name == name), 0), number)


def _is_over(seen: Seen[Observed] | None) -> bool:
    """Whether a workload is there and has finished by itself, so that its pods have ended."""
    return seen is not None and seen.value.is_finished and not seen.value.is_replaced
