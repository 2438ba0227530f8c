"""Tells users of a cluster what gpol has decided about their workloads, and why others still wait.

A decision is told by an Event on the Workload. Why a workload waits stands in the message of its admission check, from where Kueue brings
it to the job; it is written when it has become another one, for few workloads at a time, as each is a write that everybody follows.
"""

import asyncio
from collections.abc import Iterable, Iterator

from ....engine.explain.pending import standing
from ...kubernetes.object_events import EventWriter
from ...live.decider import LiveDecider, Numbered
from ...live.decision_event import ToldDecision, decision_event
from ...live.wording import why_it_waits
from .carrying_out import CarryingOut
from .followed import FollowedCluster
from .protocol import WORKLOAD
from .writes import safe_message

ROUND_SECONDS = 5.0
"""After how many seconds it is looked again why workloads wait."""

MOST_IN_A_ROUND = 25
"""About how many workloads it is asked in a round. The others have their turn in the next ones."""

MOST_LIVE = 1_000
"""With more live workloads it is not asked: an answer looks at all who wait, and nothing is decided meanwhile."""


class Telling:
    """Tells of one cluster: by `events`, and through the writes to its workloads."""

    def __init__(self, cluster: FollowedCluster, decider: LiveDecider, events: EventWriter, carrying_out: CarryingOut) -> None:
        self._cluster, self._decider, self._events, self._carrying_out = cluster, decider, events, carrying_out
        self._turn: Iterator[str] = iter(())

    def tell(self, committed: Iterable[Numbered]) -> None:
        """Tell what was decided, by an Event on each workload."""
        reasons = self._carrying_out.reasons
        for seq, event in committed:
            if not isinstance(event, ToldDecision):
                continue
            reasons.pop(event.workload, None)
            seen = self._cluster.workload(event.workload)
            if seen is not None:
                self._events.add(decision_event(WORKLOAD, seen.uid, self._decider.identity, seq, event))

    async def ask_why(self) -> None:
        """Ask, round after round, why workloads wait, until cancelled."""
        while True:
            await asyncio.sleep(ROUND_SECONDS)
            self.ask_some()

    def ask_some(self, most: int = MOST_IN_A_ROUND) -> None:
        """Ask of some workloads why they wait, and let it be written where that is news."""
        asked, reasons = 0, self._carrying_out.reasons
        names = self._decider.core.view.names()
        is_asked = len(names) <= MOST_LIVE
        for key in self._turn:
            seen = self._cluster.workload(key)
            if seen is None or not seen.value.asks:
                reasons.pop(key, None)
                continue
            found = standing(self._decider.core, key, briefly=True) if is_asked else None
            if is_asked and (found is None or found.state != "pending"):
                continue
            reasons[key] = safe_message(why_it_waits(found)) if found is not None else ""  # an earlier reason would not stay true
            if reasons[key] != seen.value.message:
                self._carrying_out.writes.add(key)
            asked += 1
            if asked >= most:
                return
        self._turn = iter(names)
