"""Carries out what the journal wants: writes to each workload that does not show it yet, once those have stopped whom it waits for."""

from time import monotonic, perf_counter

from ....engine.events import WorkloadAdmitted, WorkloadEvicted
from ...kubernetes.api import Api, ApiError, Plain
from ...kubernetes.reflector import Seen
from ...live.desired import Desired
from ...live.observer import Observer
from ...live.work_queue import WorkQueue
from .check_status import CheckStatus
from .deciding import Deciding
from .learned import was_carried_out
from .observed import Observed
from .occupancy import Occupancy
from .place_selectors import can_be_said
from .protocol import CONTROLLER, WORKLOAD, Mark
from .writes import BY_NO_DECISION, WITHDRAWN, body, safe_message, undecided, write_of

POD_SECONDS = 1.0
"""After how many seconds it is looked again whether the pods of a stopped workload have ended."""

CHECK_SECONDS = 1.0
"""After how many seconds a write is tried again that waits for the AdmissionCheck to be gpol's."""

TOLD_SECONDS = 10.0
"""After how many seconds the check of a workload that waits for others to stop says so: most stop before that."""

_REFUSED_SECONDS = 30.0
"""After how many seconds a write is tried again that the server has refused, though nobody else had changed the workload."""


class CarryingOut:
    """Writes to the workloads of a cluster. `writes` are those that may need a write, `stops` those that may have stopped.

    `reasons` are why workloads wait, as their checks are to say; `postponed` is who is admitted and waits for others to stop, since when;
    `problems` what the server refuses. All by name.
    """

    def __init__(self, deciding: Deciding, occupancy: Occupancy, api: Api, check: CheckStatus, observer: Observer) -> None:
        self._observer = observer
        self._deciding, self._cluster, self._decider = deciding, deciding.cluster, deciding.decider
        self._occupancy, self._api, self._check = occupancy, api, check
        self.writes, self.stops = WorkQueue(), WorkQueue(longest_pause=POD_SECONDS)
        self.reasons: dict[str, str] = {}
        self.postponed: dict[str, float] = {}
        self.problems: dict[str, str] = {}

    async def carry_out(self, key: str) -> float | None:
        """Write to a workload what the journal wants of it, if it does not show that yet. Seconds to wait: look again later."""
        if self._check.unusable:
            return CHECK_SECONDS
        try:
            if key in self._cluster.unsure:
                self._cluster.answered(key, await self._api.get(_path(key)))
            seen, since = self._cluster.workload(key), self.postponed.pop(key, monotonic())
            if seen is None:
                self.reasons.pop(key, None)
            wanted = self._wanted(key, seen, since) if seen is not None else None
            if wanted is not None:
                self._cluster.unsure.add(key)
                begun = perf_counter()
                self._cluster.answered(key, await self._api.apply(_path(key, "status"), wanted, CONTROLLER))
                self._observer.observe_effect(perf_counter() - begun)
            self.problems.pop(key, None)
        except ApiError as error:
            return self._on_error(key, error)
        return TOLD_SECONDS if key in self.postponed else None

    async def see_stopped(self, key: str) -> float | None:
        """Look whether a workload has stopped; then those who are postponed may be let run. Seconds to wait: look again later."""
        try:
            if not await self._occupancy.has_stopped(key):
                return POD_SECONDS
            self.problems.pop(key, None)
        except ApiError as error:
            self.problems[key] = f"{key}: it is not known whether its pods have ended: {error}"
            return error.retry_after or POD_SECONDS
        for name in self.postponed:
            self.writes.add(name)
        return None

    def _wanted(self, key: str, seen: Seen[Observed], since: float) -> Plain | None:
        """The body to write; None if there is nothing to write, or not yet. Nothing is written of what the journal has not taken.

        If it has to wait until others have stopped, it does so since a moment.
        """
        if self._decider.is_ahead:
            return None
        if seen.value.has_stale_answer:
            return self._undecided(key, seen, WITHDRAWN)
        desired = self._eviction_of_earlier_slice(key, seen.value) or self._deciding.wanted(key, seen)
        if desired is None or not write_of(desired, key, seen.value, self._decider.identity):
            if self._runs_by_no_decision(key, seen.value):
                return self._undecided(key, seen, BY_NO_DECISION)
            reason = self.reasons.get(key, seen.value.message)
            return self._undecided(key, seen, reason) if seen.value.asks and reason != seen.value.message else None
        graph, nodes = self._deciding.graph, self._deciding.nodes
        if isinstance(desired.event, WorkloadAdmitted):
            if not can_be_said(desired.event.assignments, graph, nodes):
                self._cluster.look_at(key)  # it asks anew: its node is gone or cordoned meanwhile
                return None
            usage = self._occupancy.usage(desired.event)
            others = self._occupancy.places.waits_for(key, usage, self._occupancy.exists)
            if others:
                self.postponed[key] = since
                message = safe_message(f"event {desired.seq}: admitted, and waits for others to stop: {', '.join(others)}")
                is_long = monotonic() - since >= TOLD_SECONDS
                return self._undecided(key, seen, message) if is_long and message != seen.value.message else None
            self._occupancy.places.let_run(key, seen.uid, usage)
        return body(key, seen.version, seen.value, desired, self._check.name, self._decider.identity, graph, nodes)

    def _undecided(self, key: str, seen: Seen[Observed], message: str) -> Plain:
        return undecided(key, seen.version, seen.value, self._check.name, message, self._decider.stamps.now())

    def _runs_by_no_decision(self, key: str, observed: Observed) -> bool:
        """Whether somebody else has let a workload run that waits for a decision of gpol, or of which gpol does not know yet."""
        if not observed.is_answered or observed.asked is None:
            return False
        known = self._deciding.known(key)
        if known is None:
            return observed.mark is None and not observed.flavors
        return known.admitted is None and not known.held_by_owner

    def _eviction_of_earlier_slice(self, key: str, observed: Observed) -> Desired | None:
        """The eviction of an earlier slice of a job, which has to be told to this one, as the pods belong to it now."""
        for earlier in self._cluster.slices.earlier(key):
            seen = self._cluster.workload(earlier)
            desired = self._deciding.desired.of(earlier, seen.uid) if seen is not None and seen.value.is_replaced else None
            if desired is None or not isinstance(desired.event, WorkloadEvicted):
                continue
            if not was_carried_out(observed, Mark(self._decider.identity, desired.seq)):
                return desired
        return None

    def _on_error(self, key: str, error: ApiError) -> float | None:
        """What to do after a request that failed; what became of the workload is not known until it was read again."""
        if error.status == 404:
            self._cluster.unsure.discard(key)  # the watch tells that it is gone, or has told it
            if self._cluster.workload(key) is None:
                self._cluster.look_at(key)  # who waits for it to stop was not told, as it was not sure
            return None
        if error.status == 409:
            return 0.0
        self.problems[key] = f"{key}: what was decided is not written yet: {error}"
        if 400 <= error.status < 500 and error.status not in (401, 403, 429):
            return _REFUSED_SECONDS
        return error.retry_after or 0.0


def _path(key: str, part: str = "") -> str:
    namespace, _, name = key.partition("/")
    return WORKLOAD.path(namespace, name, part)
