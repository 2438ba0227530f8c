"""Keeps gpol at work: the journal is opened, the policy activated, the cluster followed, and all of it again after a failure.

What fails is told, waited for and tried again. Nothing in memory would be missed: the journal and the cluster are all there is. Guards of
quotas need no journal, so they go on while it cannot be used.
"""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Any

from ..adapters.kubernetes.api import Api, ApiError
from ..adapters.kubernetes.lease import LeaseHolder, LeasePlace, while_leading
from ..adapters.kueue.problems import ExportRefused, ImportRefused
from ..adapters.live.decider import LiveDecider, MakeCore, Numbered, TakeOverError
from ..adapters.live.journal_place import BY, cluster_identity, place_of, refuse_other_place
from ..adapters.live.settings.serve_settings import ServeSettings
from ..journal.errors import JournalError
from ..sim.drive.policy import Policy
from .health import Health
from .metrics import Metrics
from .policy_file import BadPolicyError, NotKnownYetError, PolicyFile
from .reading.reader import Reader
from .work.decided_policy import undecidable
from .work.guard_work import GuardWork, guarded_systems
from .work.kueue_work import kueue_decides, kueue_watches
from .work.volcano_work import ExtenderAnswers, volcano_decides
from .work.work import ServiceWork, tell_new_problems

LOG = logging.getLogger("gpol.service")

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds between two attempts to go on after a failure: they double up to the longest."""

WELL_SECONDS = 5.0
"""A journal that has failed is well again once something was committed, or so long nothing has failed."""


class ActivationError(Exception):
    """The policy cannot take over as things stand. The message says why."""


class Service:
    """gpol at work for one cluster. `policy` is None where the settings name none.

    `guards` keep quotas, `extender` is what Volcano's scheduler is answered from, and `reader` answers from the journal, in a process
    beside this one, while the service runs. What is done now is in `metrics.works`, and `health` tells what keeps any of it from its work.
    Raises ActivationError for a policy whose quotas cannot be kept, or by which the system cannot go.
    """

    def __init__(self, settings: ServeSettings, policy: Policy | None, api: Api, make_core: MakeCore) -> None:
        self.settings, self.api, self._make_core = settings, api, make_core
        self.health = Health()
        self.metrics = Metrics(self.health.problems)
        if settings.decides:
            self.health.say("journal", "it is not open yet")
        self._pause, self._has_failed, self._has_policy = FIRST_PAUSE, False, False
        self._policy_changed = asyncio.Event()
        self._cluster: str | None = None  # it was not asked yet
        self._holder = settings.lease.holder or f"{socket.gethostname()}_{os.getpid()}"
        self.extender = ExtenderAnswers()
        self.reader = Reader(settings.journal, settings.http.answer_seconds) if settings.journal is not None else None
        self.policy: PolicyFile | None = None
        if policy is not None and settings.policy is not None:
            self.policy = PolicyFile(settings.policy, policy, self.health, lambda changed: undecidable(settings, changed))
        if refused := undecidable(settings, policy):
            raise ActivationError(refused)
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
        async with self.reader if self.reader is not None else nullcontext():
            await self._work_while_leading()

    async def _work_while_leading(self) -> None:
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
        if self.policy is not None:
            await self.policy.look(self._check_quotas)  # it may have changed while another one held the Lease
        self.guards = self._made_guards()  # those of an earlier Lease know the cluster as it was then
        self.health.say("service", "")
        async with asyncio.TaskGroup() as tasks:
            for guard in self.guards:
                tasks.create_task(self._go_on_with(guard.work))
            if self.policy is not None and self.settings.policy_seconds:
                tasks.create_task(self._keep_policy(self.policy))
            if self.settings.decides:
                tasks.create_task(self._keep_deciding())
            tasks.create_task(asyncio.Event().wait())  # until cancelled

    async def _go_on_with(self, work: ServiceWork) -> None:
        """Do a work, as the health and the metrics of the service tell, until cancelled."""
        self.metrics.works.append(work)
        for part, problem in work.problems.items():
            self.health.ask(part, problem)
        try:
            await _until_first_ends(work.run(), tell_new_problems(work))
        finally:
            self.metrics.works.remove(work)
            for part in work.problems:
                self.health.ask(part, None)

    # --- deciding ---------------------------------------------------------------------------------------------------

    async def _keep_deciding(self) -> None:
        while True:
            pause = 0.0
            try:
                await self._decide()
            except* JournalError as group:
                error = _first(group)
                LOG.error("the journal cannot be used: %s", error)
                self.health.say("journal", str(error))
                pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE)
            except* TakeOverError as group:
                self._refuse_policy(str(_first(group)))
            await asyncio.sleep(pause)

    async def _decide(self) -> None:
        """Decide with one opening of the journal and one policy, until the one fails or the other changes."""
        await self._know_cluster()
        async with self._opened() as decider:
            self._policy_changed.clear()
            self._has_policy = decider.core.graph is not None
            if self.settings.activates_policy:
                self._activate(decider)
            if not self._has_failed:
                self._journal_is_well()
            work = self._deciding_work(decider)
            self._has_failed = True  # what cannot be written fails soon, and until then nobody knows
            well = asyncio.get_running_loop().call_later(WELL_SECONDS, self._journal_is_well)
            try:
                await _until_first_ends(self._go_on_with(work), self._policy_changed.wait())
                self._has_failed = False
            finally:
                well.cancel()

    def _journal_is_well(self) -> None:
        self._pause, self._has_failed = FIRST_PAUSE, False
        self.health.say("journal", "")

    def _deciding_work(self, decider: LiveDecider) -> ServiceWork:
        settings, api = self.settings, self.api
        if settings.volcano.way == "decide":
            return volcano_decides(settings, api, decider, self._holder, self, self.extender)
        if settings.kueue.way == "decide":
            return kueue_decides(settings, api, decider, self._holder, self, self.reader)
        try:
            return kueue_watches(settings, api, decider, self)
        except ImportRefused as error:
            raise ActivationError(f"`{settings.kueue.watch.configuration}` cannot be used: {error}") from None

    async def _know_cluster(self) -> None:
        """Ask the cluster which one it is, until it answers."""
        pause = FIRST_PAUSE
        while self._cluster is None:
            try:
                self._cluster = await cluster_identity(self.api)
                self.health.say("cluster", "")
            except ApiError as error:
                self.health.say("cluster", f"it does not say which one it is: {error}")
                await asyncio.sleep(max(pause, error.retry_after or 0))
                pause = min(pause * 2, LONGEST_PAUSE)

    def _open(self) -> LiveDecider:
        """Open the journal to append, unless it belongs elsewhere. Raises JournalError."""
        assert self.settings.journal is not None
        decider, place = LiveDecider.open(self.settings.journal, self._make_core), place_of(self.settings, self._cluster or "")
        try:
            refuse_other_place(decider.journal, place)
        except BaseException:
            decider.close()
            raise
        decider.by, decider.note = BY, place.note
        return decider

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[LiveDecider]:
        """The journal open to append, as the health and the metrics of the service tell."""
        # In a thread: a long journal takes a while, and the Lease is to be renewed meanwhile.
        opening = asyncio.ensure_future(asyncio.to_thread(self._open))
        try:
            opened = await asyncio.shield(opening)
        except asyncio.CancelledError:
            with suppress(JournalError):  # a thread cannot be stopped, and what it has opened is to be closed
                (await opening).close()
            raise
        with opened as decider:
            self.metrics.decider = decider
            self.health.ask("livelock", lambda: decider.livelock)
            try:
                yield decider
            finally:
                self.metrics.decider = None
                self.health.ask("livelock", None)

    def _activate(self, decider: LiveDecider) -> None:
        """Let the policy of the file decide, unless it was refused and an earlier one is there to go on."""
        assert self.policy is not None
        if not self.policy.is_refused or decider.core.graph is None:
            decider.activate(self.policy.current)

    def _refuse_policy(self, why: str) -> None:
        """Let the earlier policy go on, as the one of the file cannot take over. Raises ActivationError where the journal has none."""
        assert self.policy is not None
        if not self._has_policy:
            raise ActivationError(f"`{self.policy.path}` cannot take over: {why}")
        self.policy.refuse(why)

    # --- the policy -------------------------------------------------------------------------------------------------

    async def _keep_policy(self, policy: PolicyFile) -> None:
        """Follow the file of the policy until cancelled."""
        while True:
            await policy.changed(self.settings.policy_seconds, self._check)
            for guard in self.guards:
                guard.keep(policy.current.graph)
            if self.settings.activates_policy:
                self._policy_changed.set()

    def _check(self, policy: Policy) -> None:
        """Raise BadPolicyError for a policy that cannot take over as things stand.

        While the journal is not open, one that was not refused may be tried, and for the other NotKnownYetError is raised.
        """
        decider = self.metrics.decider
        if self.settings.activates_policy:
            if decider is None and self.policy is not None and self.policy.is_refused:
                raise NotKnownYetError
            try:
                if decider is not None:
                    decider.check(policy)
            except TakeOverError as error:
                raise BadPolicyError(str(error)) from None
        self._check_quotas(policy)

    def _check_quotas(self, policy: Policy) -> None:
        """Raise BadPolicyError for a policy whose quotas cannot be kept."""
        try:
            for guard in self.guards:
                guard.may_keep(policy.graph)
        except ExportRefused as error:
            raise BadPolicyError(str(error)) from None

    # --- observing --------------------------------------------------------------------------------------------------

    def decided(self, events: Sequence[Numbered]) -> None:
        """These events were committed."""
        self._journal_is_well()
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


async def _until_first_ends(*coroutines: Coroutine[Any, Any, object]) -> None:
    """Run all until one ends, and cancel the others. Raises what it raises."""
    running = [asyncio.ensure_future(each) for each in coroutines]
    try:
        done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            each.result()
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _first(error: BaseException) -> BaseException:
    """The first error of a group, or the error itself."""
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
