"""Keeps gpol at work: the journal is opened, the policy activated, the cluster followed, and all of it again after a failure.

What fails is told, waited for and tried again. Nothing in memory would be missed: the journal and the cluster are all there is. Guards of
quotas need no journal, so they go on while it cannot be used.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ..adapters.kubernetes.api import Api
from ..adapters.kubernetes.lease import LeaseHolder, LeasePlace, while_leading
from ..adapters.kueue.problems import ExportRefused, ImportRefused
from ..adapters.live.decider import LiveDecider, MakeCore, Numbered
from ..adapters.live.settings import ServeSettings
from ..engine.errors import FactError
from ..journal.errors import JournalError
from ..sim.drive.policy import Policy
from .health import Health
from .metrics import Metrics
from .policy_file import BadPolicyError, PolicyFile
from .work.guard_work import GuardWork, guarded_systems
from .work.kueue_work import kueue_decides, kueue_watches
from .work.volcano_work import ExtenderAnswers, volcano_decides
from .work.work import ServiceWork

LOG = logging.getLogger("gpol.service")

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds between two attempts to go on after a failure: they double up to the longest."""


class ActivationError(Exception):
    """The policy cannot take over as things stand. The message says why."""


class Service:
    """gpol at work for one cluster. `policy` is None where the settings name none.

    `guards` keep quotas, and `extender` is what Volcano's scheduler is answered from. What is done now is in `metrics.works`, and `health`
    tells what keeps any of it from its work. Raises ActivationError for a policy whose quotas cannot be kept.
    """

    def __init__(self, settings: ServeSettings, policy: Policy | None, api: Api, make_core: MakeCore) -> None:
        self.settings, self.api, self._make_core = settings, api, make_core
        self.health = Health()
        self.metrics = Metrics(self.health.problems)
        if settings.decides:
            self.health.say("journal", "it is not open yet")
        self._pause, self._is_failing = FIRST_PAUSE, False
        self._holder = settings.lease.holder or f"{socket.gethostname()}_{os.getpid()}"
        self.extender = ExtenderAnswers()
        self.policy: PolicyFile | None = None
        if policy is not None and settings.policy is not None:
            self.policy = PolicyFile(settings.policy, policy, self.health)
        try:
            self.guards = self._made_guards()
        except ExportRefused as error:
            raise ActivationError(f"the quotas of `{settings.policy}` cannot be kept: {error}") from None

    def _made_guards(self) -> list[GuardWork]:
        if self.policy is None:
            return []
        graph, gpu = self.policy.current.graph, self.settings.gpu
        return [GuardWork(guarding, system, self.api, graph, gpu, self._holder) for guarding, system in guarded_systems(self.settings)]

    async def run(self) -> None:
        """Work until cancelled, whenever this program holds the Lease. Raises ActivationError where the policy cannot take over."""
        lease = self.settings.lease
        refused = ""
        try:
            if lease.enabled:
                holder = LeaseHolder(self.api, LeasePlace(lease.namespace, lease.name, self._holder))
                await while_leading(holder, self._keep_working, self._tell_lease)
            else:
                await self._keep_working()
        except* ActivationError as group:
            refused = str(_first(group))
        if refused:
            raise ActivationError(refused)

    def _tell_lease(self, problem: str) -> None:
        if problem != self.health.problems().get("lease", ""):
            LOG.info("lease: %s", problem or "it is held")
        self.health.say("lease", problem)

    async def _keep_working(self) -> None:
        self.health.say("service", "")
        self.guards = self._made_guards()  # those of an earlier Lease know the cluster as it was then
        async with asyncio.TaskGroup() as tasks:
            for guard in self.guards:
                tasks.create_task(self._go_on_with(guard.work))
            tasks.create_task(self._keep_deciding() if self.settings.decides else self._keep_policy(None))

    async def _go_on_with(self, work: ServiceWork) -> None:
        """Do a work, as the health and the metrics of the service tell, until cancelled."""
        self.metrics.works.append(work)
        for part, problem in work.problems.items():
            self.health.ask(part, problem)
        try:
            await work.run()
        finally:
            self.metrics.works.remove(work)
            for part in work.problems:
                self.health.ask(part, None)

    # --- deciding ---------------------------------------------------------------------------------------------------

    async def _keep_deciding(self) -> None:
        while True:
            try:
                await self._decide()
                continue
            except* JournalError as group:
                error = _first(group)
                LOG.error("the journal cannot be used: %s", error)
                self.health.say("journal", str(error))
            await asyncio.sleep(self._pause)
            self._pause = min(self._pause * 2, LONGEST_PAUSE)

    async def _decide(self) -> None:
        """Decide with one opening of the journal and one policy, until the one fails or the other changes."""
        with self._opened() as decider:
            if self.settings.activates_policy:
                self._activate(decider)
            if not self._is_failing:
                self.health.say("journal", "")
            work = self._deciding_work(decider)
            try:
                await _until_first_ends(self._go_on_with(work), self._keep_policy(decider if self.settings.activates_policy else None))
            except* JournalError:
                self._is_failing = True  # it can be opened, and not be written: only a commit shows that it can be again
                raise

    def _deciding_work(self, decider: LiveDecider) -> ServiceWork:
        settings, api = self.settings, self.api
        if settings.volcano.way == "decide":
            return volcano_decides(settings, api, decider, self._holder, self, self.extender)
        if settings.kueue.way == "decide":
            return kueue_decides(settings, api, decider, self._holder, self)
        try:
            return kueue_watches(settings, api, decider, self)
        except ImportRefused as error:
            raise ActivationError(f"`{settings.kueue.watch.configuration}` cannot be used: {error}") from None

    @contextmanager
    def _opened(self) -> Iterator[LiveDecider]:
        """The journal open to append, as the health and the metrics of the service tell."""
        assert self.settings.journal is not None
        with LiveDecider.open(self.settings.journal, self._make_core) as decider:
            self.metrics.decider = decider
            self.health.ask("livelock", lambda: decider.livelock)
            try:
                yield decider
            finally:
                self.metrics.decider = None
                self.health.ask("livelock", None)

    def _activate(self, decider: LiveDecider) -> None:
        assert self.policy is not None
        decider.begin(lambda events: None)
        try:
            decider.activate(self.policy.current)
        except FactError as error:
            raise ActivationError(f"`{self.policy.path}` cannot take over: {error}") from None
        decider.commit(lambda events: None)

    # --- the policy -------------------------------------------------------------------------------------------------

    async def _keep_policy(self, decider: LiveDecider | None) -> None:
        """Follow the file of the policy, until another one is to decide. Where it decides nothing, until cancelled."""
        if self.policy is None or not self.settings.policy_seconds:
            await asyncio.Event().wait()
            return
        while True:
            await self.policy.changed(self.settings.policy_seconds, lambda policy: self._check(policy, decider))
            for guard in self.guards:
                guard.keep(self.policy.current.graph)
            if decider is not None:
                return

    def _check(self, policy: Policy, decider: LiveDecider | None) -> None:
        """Raise BadPolicyError for a policy that cannot take over as things stand."""
        try:
            if decider is not None:
                decider.check(policy)
            for guard in self.guards:
                guard.may_keep(policy.graph)
        except (FactError, ExportRefused) as error:
            raise BadPolicyError(str(error)) from None

    # --- observing --------------------------------------------------------------------------------------------------

    def decided(self, events: Sequence[Numbered]) -> None:
        """These events were committed."""
        self._pause, self._is_failing = FIRST_PAUSE, False
        self.health.say("journal", "")
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


async def _until_first_ends(*coroutines: Coroutine[Any, Any, None]) -> None:
    """Run all until one ends, and cancel the others. Raises what it raises."""
    running = [asyncio.ensure_future(each) for each in coroutines]
    try:
        done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            each.result()
    finally:
        for each in running:
            each.cancel()
            with suppress(asyncio.CancelledError):
                await each


def _first(error: BaseException) -> BaseException:
    """The first error of a group, or the error itself."""
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
