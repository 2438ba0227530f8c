"""Keeps gpol deciding: the journal is opened, the policy activated, the cluster followed, and all of it again after a failure.

What fails is told, waited for and tried again. Nothing in memory would be missed: the journal and the cluster are all there is.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Sequence
from contextlib import suppress

from ..adapters.kubernetes.api import Api
from ..adapters.kubernetes.lease import LeaseHolder, LeasePlace, while_leading
from ..adapters.kubernetes.object_events import EventWriter
from ..adapters.kueue.live.decides import KueueDecisions
from ..adapters.kueue.live.protocol import CONTROLLER
from ..adapters.live.decider import LiveDecider, MakeCore, Numbered
from ..adapters.live.settings import ServeSettings
from ..engine.errors import FactError
from ..journal.errors import JournalError
from ..sim.drive.policy import Policy
from .health import Health
from .metrics import LiveValues, Metrics
from .policy_file import PolicyFile

LOG = logging.getLogger("gpol.service")

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds between two attempts to go on after a failure: they double up to the longest."""


class ActivationError(Exception):
    """The policy cannot take over as things stand. The message says why."""


class Service:
    """gpol at work for one cluster. `decider` and `kueue` are those of now; None while there are none, as `health` tells."""

    def __init__(self, settings: ServeSettings, policy: Policy, api: Api, make_core: MakeCore) -> None:
        self.settings, self.api, self._make_core = settings, api, make_core
        self.health = Health()
        self.metrics = Metrics(self.health.problems)
        self.policy = PolicyFile(settings.policy, policy, self.health)
        self.decider: LiveDecider | None = None
        self.kueue: KueueDecisions | None = None
        self._pause = FIRST_PAUSE
        self._holder = settings.lease.holder or f"{socket.gethostname()}_{os.getpid()}"

    async def run(self) -> None:
        """Work until cancelled, whenever this program holds the Lease. Raises ActivationError where the policy cannot take over."""
        lease = self.settings.lease
        if not lease.enabled:
            await self._keep_working()
            return
        holder = LeaseHolder(self.api, LeasePlace(lease.namespace, lease.name, self._holder))
        await while_leading(holder, self._keep_working, self._tell_lease)

    def _tell_lease(self, problem: str) -> None:
        if problem != self.health.problems().get("lease", ""):
            LOG.info("lease: %s", problem or "it is held")
        self.health.say("lease", problem)

    async def _keep_working(self) -> None:
        while True:
            try:
                await self._work()
                continue
            except* JournalError as failed:
                error = failed.exceptions[0]
                LOG.error("the journal cannot be used: %s", error)
                self.health.say("journal", str(error))
            await asyncio.sleep(self._pause)
            self._pause = min(self._pause * 2, LONGEST_PAUSE)

    async def _work(self) -> None:
        """Work with one opening of the journal and one policy, until the one fails or the other changes."""
        with LiveDecider.open(self.settings.journal, self._make_core) as decider:
            self._activate(decider)
            self.health.say("journal", "")
            self.health.say("service", "")
            kueue = self._kueue(decider)
            self.decider, self.kueue = decider, kueue
            self.metrics.live = _live_values(kueue, decider)
            self.health.ask("admission check", lambda: kueue.status.problem)
            self.health.ask("workloads", lambda: kueue.cluster.workloads.problem)
            self.health.ask("livelock", lambda: decider.livelock)
            try:
                await self._until_policy_changes(kueue, decider)
            finally:
                self.decider = self.kueue = self.metrics.live = None
                for part in ("admission check", "workloads", "livelock"):
                    self.health.ask(part, None)

    async def _until_policy_changes(self, kueue: KueueDecisions, decider: LiveDecider) -> None:
        working = asyncio.ensure_future(kueue.run())
        waiting = [working]
        if self.settings.policy_seconds:
            waiting.append(asyncio.ensure_future(self.policy.changed(self.settings.policy_seconds, decider.check)))
        try:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
        finally:
            for each in waiting:
                each.cancel()
                with suppress(asyncio.CancelledError):
                    await each

    def _kueue(self, decider: LiveDecider) -> KueueDecisions:
        settings, events = self.settings.kueue, EventWriter(self.api, CONTROLLER, self._holder)
        return KueueDecisions(self.api, decider, settings.check, self.settings.gpu, settings.follow_pods, events, self)

    def _activate(self, decider: LiveDecider) -> None:
        decider.begin(lambda events: None)
        try:
            decider.activate(self.policy.current)
        except FactError as error:
            raise ActivationError(f"`{self.policy.path}` cannot take over: {error}") from None
        decider.commit(lambda events: None)

    # --- observing --------------------------------------------------------------------------------------------------

    def decided(self, events: Sequence[Numbered]) -> None:
        """These events were committed."""
        self._pause = FIRST_PAUSE
        self.metrics.decided(events)
        for seq, event in events:
            LOG.info("event %d: %s %s", seq, event.kind, getattr(event, "workload", ""))

    def fact_refused(self, kind: str) -> None:
        """A fact could not have happened."""
        self.metrics.fact_refused(kind)

    def observe_decide(self, seconds: float) -> None:
        """Deciding took so long."""
        self.metrics.observe_decide(seconds)

    def observe_commit(self, seconds: float) -> None:
        """A commit took so long."""
        self.metrics.observe_commit(seconds)

    def observe_effect(self, seconds: float) -> None:
        """A write took so long."""
        self.metrics.observe_effect(seconds)


def _live_values(kueue: KueueDecisions, decider: LiveDecider) -> LiveValues:
    """What metrics read when somebody asks."""
    return LiveValues(
        journal_head=lambda: decider.core.seq,
        clock_behind=decider.stamps.behind,
        effects_pending=lambda: len(kueue.carrying_out.writes),
        effects_postponed=lambda: len(kueue.carrying_out.postponed),
        workload_problems=lambda: len(kueue.problems),
        reflectors=lambda: (kueue.cluster.workloads, kueue.cluster.namespaces, kueue.cluster.nodes, kueue.status.checks),
    )
