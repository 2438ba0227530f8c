"""gpol keeps the quotas of a cluster as the policy says, as work of a service. It needs no journal, and goes on while there is none."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from functools import partial

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from ...adapters.kubernetes.api import Api
from ...adapters.kubernetes.object_events import EventWriter
from ...adapters.kubernetes.resource_kinds import FIELD_MANAGER
from ...adapters.kueue.live.guard.guarded_objects import KUEUE_GUARDED
from ...adapters.live.guard.drift import Drift
from ...adapters.live.guard.guarded_system import GuardedSystem
from ...adapters.live.guard.quota_guard import DriftStep, GuardMode, QuotaGuard
from ...adapters.live.settings.serve_settings import Guarding, ServeSettings
from ...adapters.volcano.live.guarded_queues import volcano_guarded
from ...engine.policy_graph import PolicyGraph
from .work import ServiceWork

LOG = logging.getLogger("gpol.guard")


def guarded_systems(settings: ServeSettings) -> list[tuple[Guarding, GuardedSystem]]:
    """The systems whose quotas the settings want to be kept."""
    systems = [(settings.kueue.guard, KUEUE_GUARDED), (settings.volcano.guard, volcano_guarded(settings.volcano.guard.sum_flavors))]
    return [(guarding, system) for guarding, system in systems if guarding.mode != "off"]


class GuardWork:
    """The guard of one system, with the writer of its Events.

    Raises ExportRefused for a policy that the objects of the system cannot say.
    """

    def __init__(self, settings: Guarding, system: GuardedSystem, api: Api, graph: PolicyGraph, gpu: str, holder: str) -> None:
        self._events = EventWriter(api, FIELD_MANAGER, holder)
        mode: GuardMode = "repair" if settings.mode == "repair" else "report"
        tell, add_event = partial(_tell, system.name), self._events.add
        self.guard = QuotaGuard(
            api, system, graph, gpu, settings.name, mode, settings.overrides, settings.deletes, tell=tell, add_event=add_event
        )
        self.work = ServiceWork(
            f"{system.name.lower()} guard",
            self._run,
            {f"{system.name.lower()} quotas": lambda: self.guard.problem},
            lambda: self.guard.failures,
            self.guard.followed.values,
            self._metrics,
        )

    def may_keep(self, graph: PolicyGraph) -> None:
        """Raise ExportRefused for a policy that the objects of the system cannot say."""
        self.guard.system.objects(graph, self.guard.gpu, self.guard.name)

    def keep(self, graph: PolicyGraph) -> None:
        """Let another policy count, for which `may_keep` has raised nothing."""
        self.guard.keep(graph)
        self._tell_notes()

    async def _run(self) -> None:
        self._tell_notes()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._events.run())
            tasks.create_task(self.guard.run())

    def _tell_notes(self) -> None:
        for note in self.guard.notes:
            LOG.info("%s: %s", self.guard.system.name, note)

    def _metrics(self) -> Iterator[Metric]:
        guard, system = self.guard, self.guard.system.name.lower()
        drift = GaugeMetricFamily("gpol_drift_objects", "Objects that are not as the policy wants them.", labels=("system", "kind"))
        for kind, number in sorted(Counter(kind for kind, _ in {(each.kind, each.name) for each in guard.drift}).items()):
            drift.add_metric((system, kind), number)
        yield drift
        failures = GaugeMetricFamily("gpol_guard_failures", "Objects that could not be written.", labels=("system",))
        failures.add_metric((system,), len(guard.failures))
        yield failures
        writes = CounterMetricFamily("gpol_guard_writes", "Objects that were written, by why.", labels=("system", "write"))
        for name, number in (("applied", guard.applied), ("repaired", guard.repaired), ("deleted", guard.deleted)):
            writes.add_metric((system, name), number)
        yield writes


def _tell(system: str, step: DriftStep, drift: Drift) -> None:
    LOG.log(logging.WARNING if step == "seen" else logging.INFO, "%s: drift %s: %s", system, step, drift)
