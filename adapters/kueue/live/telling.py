"""Tells users of a cluster what gpol has decided about their workloads, and why others still wait.

A decision is told by an Event on the Workload. Why a workload waits stands in the message of its admission check, from where Kueue brings
it to the job; it is written when it has become another one, for few workloads at a time, as each is a write that everybody follows.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from time import monotonic

from ...kubernetes.object_events import EventWriter
from ...live.decider import LiveDecider, Numbered
from ...live.decision_event import ToldDecision, decision_event
from .carrying_out import CarryingOut
from .followed import FollowedCluster
from .protocol import WORKLOAD
from .writes import safe_message

AskWhy = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
"""Says why workloads wait, a line each by name; those of which it is not known are left out. Answers may take long."""

ASKED_A_SECOND = 5
"""About how many workloads it is asked in a second, on average. The others have their turn later."""

ROUND_SECONDS = 5.0
"""After how many seconds it is asked again at the earliest."""

MOST_ASKED = 200
"""Of so many workloads it is asked at once at most."""

REST = 4
"""So many times as long as an answer took, nothing is asked after it: where answers take long, they need much of a processor."""


class Telling:
    """Tells of one cluster: by `events`, and through the writes to its workloads. Without `ask` nobody learns why workloads wait."""

    def __init__(
        self, cluster: FollowedCluster, decider: LiveDecider, events: EventWriter, carrying_out: CarryingOut, ask: AskWhy | None
    ) -> None:
        self._cluster, self._decider, self._events, self._carrying_out, self._ask = cluster, decider, events, carrying_out, ask
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
        pause = ROUND_SECONDS
        while self._ask is not None:
            await asyncio.sleep(pause)
            begun = monotonic()
            await self._ask_some(self._ask, min(MOST_ASKED, int(ASKED_A_SECOND * pause)))
            pause = max(ROUND_SECONDS, REST * (monotonic() - begun))

    async def _ask_some(self, ask: AskWhy, most: int) -> None:
        """Ask why some workloads wait, and let it be written where that is news."""
        asked = list(islice(self._who_wait(), most))
        if not asked:
            self._turn = iter(self._decider.core.view.names())
            asked = list(islice(self._who_wait(), most))
        for key, reason in (await ask(asked)).items() if asked else ():
            seen = self._cluster.workload(key)
            if seen is None or not self._waits(key):
                continue
            message = self._carrying_out.reasons[key] = safe_message(reason)
            if message != seen.value.message:
                self._carrying_out.writes.add(key)

    def _who_wait(self) -> Iterator[str]:
        """Those of the turn who wait; of the others no reason is kept."""
        for key in self._turn:
            if self._waits(key):
                yield key
            else:
                self._carrying_out.reasons.pop(key, None)

    def _waits(self, key: str) -> bool:
        """Whether a workload waits for a decision, and its check can say why. Most that do not ask are told apart without the core."""
        seen = self._cluster.workload(key)
        if seen is None or not seen.value.asks:
            return False
        known = self._decider.core.view.workload(key)
        return known is not None and known.admitted is None
